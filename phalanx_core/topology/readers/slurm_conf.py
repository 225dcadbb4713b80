"""Slurm: domains from ``topology.conf`` or ``topology.yaml``, GPUs and states of hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers import documents as files
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.host_gpus import fill
from phalanx_core.topology.readers.inventory import Inventory, Reader
from phalanx_core.topology.readers.slurm_block import compile_blocks
from phalanx_core.topology.readers.slurm_hosts import (
    SlurmHosts,
    is_scontrol,
    read_host_lines,
    read_scontrol,
    shown_apart,
)
from phalanx_core.topology.readers.slurm_lines import (
    TOPOLOGY_KEYS,
    Line,
    Text,
    configured,
    logical_lines,
    topology_line,
)
from phalanx_core.topology.readers.slurm_tree import compile_tree
from phalanx_core.topology.readers.slurm_yaml import default_lines, is_topology_yaml

_SLURM_KEYS = ("nodename", "downnodes", "clustername", "slurmctldhost")
_OTHER_KEYS = ("partitionname", "include")
_GPU_SOURCE = "a slurm.conf line NodeName= with Gres=gpu:.."
# Keys under which Slinky and topograph keep configurations in a ConfigMap.
_CONFIG_KEYS = ("topology.conf", "topology.yaml", "slurm.conf")


@dataclass
class _Slurm:
    """What the documents said; ``lines`` is the topology that counts."""

    conf: list[Line] = field(default_factory=list)
    yaml: list[Document] = field(default_factory=list)
    scontrol: list[Document] = field(default_factory=list)
    hosts: SlurmHosts = field(default_factory=SlurmHosts)
    file: str = ""
    names: list[str] = field(default_factory=list)

    def finish(self, inventory: Inventory) -> None:
        """Give each host its GPUs, or refuse by name the first that has no source."""
        gpus = self.hosts.gpus
        for name, found in gpus.items():
            host = inventory.host(name)
            host.gpus = host.gpus or found
        fill(inventory, self.names, self.file, _GPU_SOURCE, gpus)
        self.hosts.mark(inventory)
        known = dict.fromkeys(self.names)
        outside = [name for name in gpus if gpus[name] and name not in known]
        if known and outside:
            inventory.notes.append(
                f"{len(outside)} hosts of slurm.conf are in no switch or block of "
                "the topology"
            )


class SlurmConf(Reader):
    """Reader of Slurm's topology files, ``slurm.conf`` and ``scontrol show nodes``."""

    def claims(self, document: Document) -> bool:
        """Text of key=value, a list of topologies, hosts' states, or a ConfigMap of it."""
        return (
            document.is_conf
            or is_topology_yaml(document)
            or is_scontrol(document)
            or bool(_config_map(document))
        )

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts with their domains; GPUs follow when all sources are read."""
        slurm = _Slurm()
        for document in documents:
            for inner in _config_map(document) or shown_apart(document):
                _classify(inner, slurm, inventory)
        for document in slurm.scontrol:
            read_scontrol(document, slurm.hosts)
        lines = configured(slurm.conf)
        if slurm.yaml:
            lines = default_lines(slurm.yaml, inventory)
            if slurm.conf:
                inventory.notes.append(
                    f"{slurm.yaml[0].file} is used, {slurm.conf[0].file} is not: "
                    "topology.yaml wins over topology.conf"
                )
        if lines:
            slurm.file = lines[0].file
            slurm.names = _compile(lines, inventory)
        inventory.finishers.append(slurm.finish)


def _compile(lines: Sequence[Line], inventory: Inventory) -> list[str]:
    heads = [line.head for line in lines]
    if "ringname" in heads:
        where = lines[heads.index("ringname")].where
        raise TopologyError(f"{where}: ring topology is not read")
    if "switchname" in heads and {"blockname", "blocksizes"} & set(heads):
        where = lines[heads.index("switchname")].where
        other = next(line.where for line in lines if line.head.startswith("block"))
        rule = f"switches and blocks in one topology, {other} is the other kind"
        raise TopologyError(f"{where}: {rule}")
    if "switchname" in heads:
        return compile_tree(lines, inventory)
    return compile_blocks(lines, inventory)


def _config_map(document: Document) -> list[Document]:
    """Configurations inside a Kubernetes ConfigMap, each as a document of its own."""
    if document.kind != "ConfigMap":
        return []
    data: Any = document.body.get("data")
    texts = data if isinstance(data, dict) else {}
    found: list[Document] = []
    for key in _CONFIG_KEYS:
        text = texts.get(key)
        if isinstance(text, str) and text.strip():
            where = f"{document.where}: {key}"
            found += files.parse(where, iter([text]), lambda inner: None)
    return found


def _classify(document: Document, slurm: _Slurm, inventory: Inventory) -> None:
    if is_scontrol(document):
        slurm.scontrol.append(document)
        return
    if is_topology_yaml(document):
        slurm.yaml.append(document)
        return
    if not document.is_conf:
        # Only a ConfigMap's key can be neither: another program's file of this name.
        why = "it is neither a topology nor a configuration of Slurm"
        inventory.leave_out("key of a ConfigMap", why, document.file)
        return
    keyed = [(_key(line), line) for line in logical_lines(document)]
    keys = [key for key, _ in keyed]
    if any(key in TOPOLOGY_KEYS for key in keys):
        slurm.conf += [topology_line(document.file, line) for _, line in keyed]
        return
    if not any(key in (*_SLURM_KEYS, *_OTHER_KEYS) for key in keys):
        known = ", ".join(("SwitchName", "BlockName", "NodeName"))
        rule = f"no line of {known} in this file"
        if "switchguid" in keys or "caguid" in keys:
            rule += (
                ": output of ibnetdiscover is not read, what topograph makes of it is"
            )
        raise TopologyError(f"{document.file}: {rule}")
    for key, line in keyed:
        if key == "include":
            why = "included files are not read"
            inventory.leave_out("Include line", why, line.where)
    read_host_lines(keyed, slurm.hosts)


def _key(line: Text) -> str:
    words = line.text.split("=", 1)[0].split()[:1]
    return words[0].lower() if words else ""


READER = SlurmConf()

"""Slurm: domains from ``topology.conf``, GPUs from ``Gres=`` of ``slurm.conf``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Gpu, Inventory
from phalanx_core.topology.readers.slurm_block import compile_blocks
from phalanx_core.topology.readers.slurm_tree import compile_tree

_PAIR = re.compile(r'([A-Za-z]\w*)\s*=\s*("[^"]*"|[^\s"]+)')
_TOPOLOGY_KEYS = {
    "switchname": ("nodes", "switches", "linkspeed"),
    "blockname": ("nodes",),
    "blocksizes": (),
    "ringname": ("nodes",),
}
_SLURM_KEYS = ("nodename", "clustername", "slurmctldhost", "partitionname", "include")
_COUNT = re.compile(r"[0-9]{1,4}")
_NO_COUNT = "no_consume"


@dataclass(frozen=True)
class Line:
    """One logical line: its pairs with lower-case keys, and where it stands."""

    where: str
    head: str
    pairs: dict[str, str]


@dataclass
class _Slurm:
    lines: list[Line] = field(default_factory=list)
    topology_hosts: list[str] = field(default_factory=list)
    gpus: dict[str, list[Gpu]] = field(default_factory=dict)

    def finish(self, inventory: Inventory) -> None:
        """Give each host its GPUs, or refuse by name the first that has no source."""
        for name, gpus in self.gpus.items():
            host = inventory.host(name)
            host.gpus = host.gpus or gpus
        count = inventory.options.gpus_per_host
        for name in self.topology_hosts:
            host = inventory.host(name)
            if host.gpus or name in self.gpus:
                continue
            if count is None:
                file = self.lines[0].where.split(": line ")[0]
                raise TopologyError(
                    f"{file}: host {name}: GPUs are not known: a slurm.conf line "
                    "NodeName= with Gres=gpu:.. or gpus_per_host is needed"
                )
            host.gpus = [Gpu(f"gpu-{index}", "gpu") for index in range(count)]
        known = dict.fromkeys(self.topology_hosts)
        outside = [name for name in self.gpus if self.gpus[name] and name not in known]
        if known and outside:
            inventory.notes.append(
                f"{len(outside)} hosts of slurm.conf are in no switch or block of "
                "topology.conf"
            )


class SlurmConf:
    """Reader of ``topology.conf`` (tree and block) and ``slurm.conf``."""

    def claims(self, document: Document) -> bool:
        """Text whose first line is key=value."""
        return document.is_conf

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts with their domains; GPUs follow when all sources are read."""
        slurm = _Slurm()
        for document in documents:
            _classify(document, slurm, inventory)
        heads = [line.head for line in slurm.lines]
        if "ringname" in heads:
            where = slurm.lines[heads.index("ringname")].where
            raise TopologyError(f"{where}: ring topology is not read")
        if "switchname" in heads and {"blockname", "blocksizes"} & set(heads):
            where = slurm.lines[heads.index("switchname")].where
            raise TopologyError(f"{where}: switches and blocks in one topology")
        if "switchname" in heads:
            slurm.topology_hosts = compile_tree(slurm.lines, inventory)
        elif slurm.lines:
            slurm.topology_hosts = compile_blocks(slurm.lines, inventory)
        inventory.finishers.append(slurm.finish)


def _classify(document: Document, slurm: _Slurm, inventory: Inventory) -> None:
    lines = list(_lines(document))
    heads = [line.split("=", 1)[0].split()[:1] for _, line in lines]
    keys = [head[0].lower() if head else "" for head in heads]
    if any(key in _TOPOLOGY_KEYS for key in keys):
        for where, text in lines:
            slurm.lines.append(_topology_line(where, text))
        return
    if not any(key in _SLURM_KEYS for key in keys):
        known = ", ".join(("SwitchName", "BlockName", "NodeName"))
        raise TopologyError(f"{document.file}: no line of {known} in this file")
    default = ""
    for key, (where, text) in zip(keys, lines, strict=True):
        if key == "include":
            inventory.leave_out("Include line", "included files are not read", where)
        if key == "nodename":
            default = _host_line(where, text, default, slurm)


def _lines(document: Document) -> Iterator[tuple[str, str]]:
    """Logical lines without comments, continuations joined, with their number."""
    held = ""
    first = 0
    for number, raw in enumerate(document.body.splitlines(), start=1):
        text = raw.split("#", 1)[0].rstrip()
        first = first if held else number
        if text.endswith("\\"):
            held += text[:-1] + " "
            continue
        whole = (held + text).strip()
        held = ""
        if whole:
            yield f"{document.file}: line {first}", whole
    if held.strip():
        yield f"{document.file}: line {first}", held.strip()


def _pairs(where: str, text: str) -> dict[str, str]:
    rest = _PAIR.sub("", text).strip()
    if rest:
        raise TopologyError(f"{where}: {rest!r} is not key=value")
    pairs: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        if key.lower() in pairs:
            raise TopologyError(f"{where}: {key} occurs twice")
        pairs[key.lower()] = value.strip('"')
    return pairs


def _topology_line(where: str, text: str) -> Line:
    pairs = _pairs(where, text)
    head = next(iter(pairs))
    if head not in _TOPOLOGY_KEYS:
        known = "SwitchName, BlockName, BlockSizes, RingName"
        raise TopologyError(f"{where}: {head!r}: a line must begin with one of {known}")
    name = f"{where} {text.split()[0]}"
    for key in pairs:
        if key != head and key not in _TOPOLOGY_KEYS[head]:
            raise TopologyError(f"{name}: {key!r} is no key of such a line")
    return Line(name, head, pairs)


def _host_line(where: str, text: str, default: str, slurm: _Slurm) -> str:
    """Take one NodeName line; returns the Gres of NodeName=DEFAULT from here on."""
    pairs = _pairs(where, text)
    gres = pairs.get("gres", default)
    name = pairs["nodename"]
    if name.upper() == "DEFAULT":
        return gres
    gpus = _gres(f"{where} NodeName={name}: Gres", gres)
    for host in expand(name, f"{where}: NodeName"):
        if host in slurm.gpus:
            raise TopologyError(f"{where}: host {host} occurs in two NodeName lines")
        slurm.gpus[host] = [Gpu(gpu.name, gpu.type) for gpu in gpus]
    return default


def _gres(where: str, text: str) -> list[Gpu]:
    """GPUs of a generic-resource text such as ``gpu:h100:8(S:0-1),nic:2``."""
    gpus: list[Gpu] = []
    for entry in re.sub(r"\([^)]*\)", "", text).split(","):
        words = [word for word in entry.strip().split(":") if word != _NO_COUNT]
        if words[0].lower() != "gpu":
            continue
        count = words.pop() if len(words) > 1 and words[-1].isdecimal() else "1"
        if len(words) > 2 or not _COUNT.fullmatch(count) or int(count) > 1024:
            rule = f"{entry!r} must be gpu[:type][:count], at most 1024"
            raise TopologyError(f"{where}: {rule}")
        kind = words[1] if len(words) > 1 and words[1] else "gpu"
        gpus += [Gpu("", kind)] * int(count)
    return [Gpu(f"gpu-{index}", gpu.type) for index, gpu in enumerate(gpus)]


READER = SlurmConf()

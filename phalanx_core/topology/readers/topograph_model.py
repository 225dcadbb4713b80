"""topograph's model files: a map of switches, and blocks of hosts on its leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.accelerators import (
    Accelerator,
    accelerator_of,
    add_accelerators,
)
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.host_gpus import fill
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Inventory, Reader
from phalanx_core.topology.readers.slurm_lines import Line
from phalanx_core.topology.readers.slurm_tree import compile_tree


class TopographModel(Reader):
    """Reader of ``switches`` and ``blocks``; a switch's level is its height."""

    def claims(self, document: Document) -> bool:
        """A mapping with switches, and blocks or their older name."""
        body = document.body
        return (
            isinstance(body, dict)
            and "kind" not in body
            and "switches" in body
            and bool(body.keys() & {"blocks", "capacity_blocks"})
        )

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add the hosts of the blocks, their switches and accelerated domains.

        Raises
        ------
        TopologyError
            On a second model, an older shape, or switches that are no tree.
        """
        document = documents[0]
        if len(documents) > 1:
            both = f"{document.file} and {documents[1].file}"
            raise TopologyError(f"{both}: two topograph models describe one cluster")
        body = document.body
        if "capacity_blocks" in body or not isinstance(body["switches"], dict):
            rule = "the shape before blocks[] is not read: switches{} and blocks[]"
            raise document.refuse("switches", f"{rule} are needed")
        hosts, accelerators = _blocks(document)
        compile_tree(_lines(document, hosts, inventory), inventory)
        add_accelerators(inventory, accelerators)
        names, file = list(accelerators), document.file
        inventory.finishers.append(
            lambda known: fill(known, names, file, "its Node in the same read")
        )


def _blocks(
    document: Document,
) -> tuple[dict[str, list[str]], dict[str, Accelerator]]:
    """Hosts of each leaf switch, and the accelerated domain of each host."""
    rows = document.body["blocks"]
    if not isinstance(rows, list) or not rows:
        raise document.refuse("blocks", "must be a list of mappings")
    hosts: dict[str, list[str]] = {}
    accelerators: dict[str, Accelerator] = {}
    for index, row in enumerate(rows):
        path = f"blocks[{index}]"
        if not isinstance(row, dict):
            raise document.refuse(path, "must be a mapping")
        switch = row.get("switch")
        if not isinstance(switch, str) or not switch or not switch.isprintable():
            rule = f"must be a printable text, got {switch!a:.60}"
            raise document.refuse(f"{path}.switch", rule)
        labels: dict[str, Any] = {}
        for key in ("labels", "annotations"):
            found = row.get(key) or {}
            if not isinstance(found, dict):
                raise document.refuse(f"{path}.{key}", "must be a mapping")
            labels.update(found)
        domain = accelerator_of(labels)
        for name in _texts(document, f"{path}.nodes", row.get("nodes")):
            for host in expand(name, f"{document.where}: {path}.nodes"):
                if host in accelerators:
                    rule = f"host {host} is in two blocks"
                    raise document.refuse(f"{path}.nodes", rule)
                accelerators[host] = domain
                hosts.setdefault(switch, []).append(host)
    if not accelerators:
        raise document.refuse("blocks", "no block has a host")
    return hosts, accelerators


def _lines(
    document: Document, hosts: Mapping[str, list[str]], inventory: Inventory
) -> list[Line]:
    """The switches as lines of a Slurm tree, without those that no host is below."""
    children: dict[str, list[str]] = {}
    for name, row in document.body["switches"].items():
        path = f"switches.{name}"
        named = isinstance(name, str) and name.isprintable()
        if not named or not isinstance(row, dict | None):
            raise document.refuse(path, "must map a printable name to a mapping")
        below = (row or {}).get("switches") or []
        children[name] = _texts(document, f"{path}.switches", below)
        if row and "nodes" in row:
            raise document.refuse(f"{path}.nodes", "hosts are named by blocks[]")
        if row and row.get("labels"):
            why = "the place of a switch is its level"
            inventory.leave_out("labels of a switch", why, name)
    above: dict[str, list[str]] = {}
    for name, below in children.items():
        for child in below:
            above.setdefault(child, []).append(name)
    alive = dict.fromkeys(hosts)
    waiting = list(alive)
    for name in waiting:
        for parent in above.get(name, []):
            if parent not in alive:
                alive[parent] = None
                waiting.append(parent)
    for name in {**children, **dict.fromkeys(above)}:
        if name not in alive:
            inventory.leave_out("switch", "no host is below it", name)
    return [
        _line(document, name, children.get(name, []), hosts, alive) for name in alive
    ]


def _line(
    document: Document,
    name: str,
    children: Sequence[str],
    hosts: Mapping[str, list[str]],
    alive: Mapping[str, None],
) -> Line:
    pairs = {"switchname": name}
    if name in hosts:
        pairs["nodes"] = ",".join(hosts[name])
    below = [child for child in children if child in alive]
    if below:
        pairs["switches"] = ",".join(below)
    return Line(
        document.file, f"{document.where}: switches.{name}", "switchname", pairs
    )


def _texts(document: Document, path: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(
        isinstance(text, str) and text and text.isprintable() for text in value
    ):
        rule = f"must be a list of printable texts, got {value!a:.60}"
        raise document.refuse(path, rule)
    return value


READER = TopographModel()

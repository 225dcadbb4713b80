"""HiveD's physical cluster: cells of nested types; those above hosts become levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Gpu, Inventory, Reader, natural
from phalanx_core.topology.readers.products import type_name
from phalanx_core.topology.spec import LEVELS_MAX

GPUS_MAX = 1024
_CHILDREN_MAX = 1 << 20


@dataclass(frozen=True)
class _Type:
    """A cell type: the type and number of its children, and whether it is a host."""

    name: str
    child: str
    number: int
    is_host: bool


@dataclass(frozen=True)
class _Cell:
    """One cell: types from its own down to the last with children, levels above host."""

    path: str
    body: dict[str, Any]
    chain: tuple[_Type, ...]
    height: int
    address: str
    domains: dict[str, str]


class HivedConfig(Reader):
    """Reader of ``physicalCluster``; virtual clusters are quotas and no topology."""

    def claims(self, document: Document) -> bool:
        """A mapping with a physicalCluster."""
        body = document.body
        return isinstance(body, dict) and isinstance(body.get("physicalCluster"), dict)

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts with their GPUs, and the cells above them as domains.

        Raises
        ------
        TopologyError
            On an unknown or cyclic type, a host without an address, a GPU named twice.
        """
        document = documents[0]
        if len(documents) > 1:
            both = f"{document.file} and {documents[1].file}"
            raise TopologyError(f"{both}: two HiveD configurations")
        cluster = document.body["physicalCluster"]
        types = _types(document, cluster.get("cellTypes"))
        rows = cluster.get("physicalCells")
        if not isinstance(rows, list) or not rows:
            raise document.refuse("physicalCluster.physicalCells", "must be a list")
        top = 0
        seen: dict[str, None] = {}
        for index, row in enumerate(rows):
            cell = _top_cell(document, index, row, types)
            top = max(top, cell.height)
            for host in _hosts(document, cell, inventory):
                _add(document, host, inventory, seen)
        levels = [f"cell-{height}" for height in range(top, 0, -1)]
        inventory.set_levels(levels, document.file)
        for name in seen:
            inventory.host(name).gpus.sort(key=lambda gpu: natural(gpu.name))
        if document.body.get("virtualClusters"):
            why = "quotas are no topology"
            inventory.leave_out("virtualClusters", why, document.file)


def _types(document: Document, body: Any) -> dict[str, _Type]:
    if not isinstance(body, dict):
        raise document.refuse("physicalCluster.cellTypes", "must be a mapping")
    made: dict[str, _Type] = {}
    for name, row in body.items():
        path = f"physicalCluster.cellTypes.{name}"
        named = isinstance(name, str) and name.isprintable()
        if not named or not isinstance(row, dict):
            raise document.refuse(path, "must map a printable name to a mapping")
        child, number = row.get("childCellType"), row.get("childCellNumber")
        if not isinstance(child, str) or not child or not child.isprintable():
            rule = f"must be a printable text, got {child!a:.60}"
            raise document.refuse(f"{path}.childCellType", rule)
        if type(number) is not int or not 1 <= number <= _CHILDREN_MAX:
            rule = (
                f"must be a whole number from 1 to {_CHILDREN_MAX}, got {number!r:.60}"
            )
            raise document.refuse(f"{path}.childCellNumber", rule)
        is_host = row.get("isNodeLevel", False)
        if not isinstance(is_host, bool):
            rule = f"must be true or false, got {is_host!r:.60}"
            raise document.refuse(f"{path}.isNodeLevel", rule)
        made[name] = _Type(name, child, number, is_host)
    return made


def _chain(
    document: Document, path: str, name: str, types: Mapping[str, _Type]
) -> tuple[_Type, ...]:
    """Types from one down to the last that has children; one of them is a host's."""
    chain: list[_Type] = []
    while name in types:
        if any(row.name == name for row in chain) or len(chain) >= LEVELS_MAX:
            rule = f"cell type {name} is in a cycle or deeper than {LEVELS_MAX}"
            raise document.refuse(path, rule)
        chain.append(types[name])
        name = types[name].child
    hosts = [row.name for row in chain if row.is_host]
    if len(hosts) != 1:
        said = " and ".join(hosts) or "none"
        rule = (
            f"exactly one type with isNodeLevel is needed on its way down, got {said}"
        )
        raise document.refuse(path, rule)
    return tuple(chain)


def _top_cell(
    document: Document, index: int, row: Any, types: Mapping[str, _Type]
) -> _Cell:
    path = f"physicalCells[{index}]"
    if not isinstance(row, dict):
        raise document.refuse(path, "must be a mapping")
    name = row.get("cellType")
    if not isinstance(name, str) or name not in types:
        rule = f"must be one of cellTypes, got {name!r:.60}"
        raise document.refuse(f"{path}.cellType", rule)
    chain = _chain(document, f"{path}.cellType", name, types)
    height = next(at for at, kind in enumerate(chain) if kind.is_host)
    address = _address(document, path, row) or str(index)
    label = f"{name}/{address}"
    domains = {f"cell-{height}": label} if height else {}
    return _Cell(path, row, chain, height, address if not height else label, domains)


def _address(document: Document, path: str, row: dict[str, Any]) -> str:
    value = row.get("cellAddress")
    if value is None or type(value) is int:
        return "" if value is None else str(value)
    if isinstance(value, str) and value.isprintable():
        return value
    rule = f"must be a text or a whole number (in quotes?), got {value!a:.60}"
    raise document.refuse(f"{path}.cellAddress", rule)


def _children(document: Document, cell: _Cell, inventory: Inventory) -> list[Any]:
    """Bodies of a cell's children; fewer than its type has are said."""
    rows = cell.body.get("cellChildren") or []
    kind = cell.chain[0]
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise document.refuse(f"{cell.path}.cellChildren", "must be a list of mappings")
    if len(rows) > kind.number:
        rule = f"{len(rows)} children, but type {kind.name} has {kind.number}"
        raise document.refuse(f"{cell.path}.cellChildren", rule)
    if rows and len(rows) < kind.number:
        inventory.remark("cell with fewer children than its type", cell.path)
    return rows


def _hosts(document: Document, top: _Cell, inventory: Inventory) -> Iterator[_Cell]:
    """Cells of hosts below a cell, in file order."""
    waiting = [top]
    while waiting:
        cell = waiting.pop()
        if not cell.height:
            if not _address(document, cell.path, cell.body):
                rule = "the address of a host must be given"
                raise document.refuse(f"{cell.path}.cellAddress", rule)
            yield cell
            continue
        rows = _children(document, cell, inventory)
        if not rows:
            rule = "the hosts of a cell must be given"
            raise document.refuse(f"{cell.path}.cellChildren", rule)
        below = []
        for index, row in enumerate(rows):
            path = f"{cell.path}.cellChildren[{index}]"
            height, address = cell.height - 1, _address(document, path, row)
            domains = cell.domains
            if height:
                address = f"{cell.address}/{address or index}"
                domains = {**domains, f"cell-{height}": address}
            below.append(_Cell(path, row, cell.chain[1:], height, address, domains))
        waiting += reversed(below)


def _add(
    document: Document, cell: _Cell, inventory: Inventory, seen: dict[str, None]
) -> None:
    """Add a host's GPUs; a host may stand in two cells, with GPUs of two types."""
    host = inventory.host(cell.address)
    if host.name not in seen:
        # The configuration names every GPU, so it replaces a Node's bare count.
        seen[host.name] = None
        host.gpus = []
    for level, label in cell.domains.items():
        if host.domains.setdefault(level, label) != label:
            rule = f"host {host.name} is also in {host.domains[level]}"
            raise document.refuse(f"{cell.path}.cellAddress", rule)
    known = {gpu.name for gpu in host.gpus}
    kind = type_name(cell.chain[-1].child) or "gpu"
    for index in _gpus(document, cell, inventory):
        name = f"gpu-{index}"
        if name in known:
            raise document.refuse(cell.path, f"{name} of host {host.name} occurs twice")
        known.add(name)
        host.gpus.append(Gpu(name, kind))


def _gpus(document: Document, host: _Cell, inventory: Inventory) -> list[str]:
    """Addresses of a host's GPUs, by default counted through as HiveD counts."""
    rows = [(host.path, host.body, 0)]
    for depth, kind in enumerate(host.chain):
        below: list[tuple[str, dict[str, Any], int]] = []
        for path, body, default in rows:
            cell = _Cell(path, body, host.chain[depth:], 0, "", {})
            given = _children(document, cell, inventory) or [{}] * kind.number
            first = default * kind.number
            for index, row in enumerate(given):
                below.append((f"{path}.cellChildren[{index}]", row, first + index))
            if len(below) > GPUS_MAX:
                raise document.refuse(path, f"a host has at most {GPUS_MAX} GPUs")
        rows = below
    return [_address(document, path, row) or str(at) for path, row, at in rows]


READER = HivedConfig()

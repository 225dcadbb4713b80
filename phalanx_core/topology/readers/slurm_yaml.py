"""Slurm's ``topology.yaml``: the cluster's default topology as lines of a tree or blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document, shown
from phalanx_core.topology.readers.inventory import Inventory
from phalanx_core.topology.readers.slurm_lines import Line

KINDS = ("block", "tree", "flat", "ring", "torus3d")
_OWN = ("topology", "cluster_default", *KINDS)


def is_topology_yaml(document: Document) -> bool:
    """Whether a document is a list of topologies, or one."""
    body = document.body
    rows = body if isinstance(body, list) else [body]
    return any(
        isinstance(row, dict)
        and "topology" in row
        and any(key in row for key in _OWN[1:])
        for row in rows
    )


def default_lines(documents: Sequence[Document], inventory: Inventory) -> list[Line]:
    """Lines of the topology that the cluster uses by default; the others are left out.

    Raises
    ------
    TopologyError
        Naming file, topology, field and rule: on two files, a recurring name, not
        exactly one kind a topology, a kind that is no tree, a field of another type.
    """
    files = [document.file for document in documents]
    if len(files) > 1:
        raise TopologyError(f"{', '.join(files)}: two files of topologies")
    chosen = _choose(list(_topologies(documents[0])), files[0], inventory)
    _, where, row, kind = chosen
    if kind == "tree":
        return list(_tree(files[0], where, row["tree"], inventory))
    if kind == "block":
        return list(_block(files[0], where, row["block"], inventory))
    raise TopologyError(f"{where}: {kind}: topology of kind {kind} is not read")


_Topology = tuple[str, str, dict[str, Any], str]


def _topologies(document: Document) -> Iterator[_Topology]:
    """Name, place, mapping and kind of each topology."""
    body = document.body
    seen: set[str] = set()
    for index, row in enumerate(body if isinstance(body, list) else [body]):
        where = f"{document.file}: topologies[{index}]"
        if not isinstance(row, dict):
            raise TopologyError(f"{where}: must be a mapping, got {row!r:.60}")
        name = _text(where, "topology", row)
        where = f"{document.file}: topology {name}"
        if name in seen:
            raise TopologyError(f"{where}: topology: occurs twice")
        seen.add(name)
        if not isinstance(row.get("cluster_default", False), bool):
            value = row["cluster_default"]
            rule = f"must be true or false, got {value!r:.60}"
            raise TopologyError(f"{where}: cluster_default: {rule}")
        yield name, where, row, _kind(where, row)


def _kind(where: str, row: dict[str, Any]) -> str:
    # Slurm takes an absent, empty or false entry for none.
    kinds = [key for key in KINDS if row.get(key) not in (None, False, {})]
    if not kinds:
        raise TopologyError(f"{where}: exactly one of {', '.join(KINDS)} is needed")
    if len(kinds) > 1:
        rule = f"{kinds[0]} is there too: a topology is of exactly one kind"
        raise TopologyError(f"{where}: {kinds[1]}: {rule}")
    return kinds[0]


def _choose(
    rows: Sequence[_Topology], file: str, inventory: Inventory
) -> tuple[str, str, dict[str, Any], str]:
    marked = [row for row in rows if row[2].get("cluster_default")]
    if not marked and len(rows) > 1:
        inventory.notes.append(
            f"{file}: no topology has cluster_default: true: the first, "
            f"{rows[0][0]}, is used"
        )
    chosen = (marked or rows)[0]
    for row in rows:
        if row is not chosen:
            why = f"{chosen[0]} is the cluster's default"
            inventory.leave_out(f"topology of kind {row[3]}", why, row[0])
    return chosen


def _tree(file: str, where: str, body: Any, inventory: Inventory) -> Iterator[Line]:
    _mapping(f"{where}: tree", body, ("switches",), inventory)
    for index, row in enumerate(_rows(f"{where}: tree.switches", body.get("switches"))):
        place = f"{where}: tree.switches[{index}]"
        _mapping(place, row, ("switch", "children", "nodes"), inventory)
        pairs = {"switchname": _text(place, "switch", row)}
        for field, key in (("children", "switches"), ("nodes", "nodes")):
            if row.get(field) is not None:
                pairs[key] = _text(place, field, row)
        yield Line(file, place, "switchname", pairs)


def _block(file: str, where: str, body: Any, inventory: Inventory) -> Iterator[Line]:
    _mapping(f"{where}: block", body, ("block_sizes", "blocks"), inventory)
    for index, row in enumerate(_rows(f"{where}: block.blocks", body.get("blocks"))):
        place = f"{where}: block.blocks[{index}]"
        _mapping(place, row, ("block", "nodes"), inventory)
        pairs = {"blockname": _text(place, "block", row)}
        if row.get("nodes") is not None:
            pairs["nodes"] = _text(place, "nodes", row)
        yield Line(file, place, "blockname", pairs)
    sizes = body.get("block_sizes")
    if sizes is not None:
        place = f"{where}: block.block_sizes"
        listed = sizes if isinstance(sizes, list) else [sizes]
        if not all(type(size) in (int, str) for size in listed):
            rule = f"must be a list of whole numbers, got {sizes!r:.60}"
            raise TopologyError(f"{place}: {rule}")
        joined = ",".join(map(str, listed))
        yield Line(file, place, "blocksizes", {"blocksizes": joined})


def _mapping(where: str, body: Any, known: Sequence[str], inventory: Inventory) -> None:
    if not isinstance(body, dict):
        raise TopologyError(f"{where}: must be a mapping, got {body!r:.60}")
    for key in body:
        if key not in known:
            what = f"field {shown(str(key))}"
            inventory.leave_out(what, "this field is not read", where)


def _rows(where: str, body: Any) -> list[Any]:
    """The list, or the one mapping that stands for a list of it."""
    rows = [body] if isinstance(body, dict) else body
    if not isinstance(rows, list) or not rows:
        raise TopologyError(f"{where}: must be a list of mappings, got {body!r:.60}")
    return rows


def _text(where: str, key: str, row: dict[str, Any]) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value or not value.isprintable():
        rule = f"must be a printable text, got {value!a:.60}"
        raise TopologyError(f"{where}: {key}: {rule}")
    return value

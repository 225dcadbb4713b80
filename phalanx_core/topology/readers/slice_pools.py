"""Pools of ResourceSlices: only a complete newest generation is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Inventory


def complete_pools(
    documents: Sequence[Document], inventory: Inventory
) -> Iterator[list[Document]]:
    """Slices of each pool's highest generation, where all of them are here.

    Pools that are not complete are counted as left out, with the hosts they name.

    Raises
    ------
    TopologyError
        If two slices of one name and generation differ, or slices of a pool disagree
        on how many there are.
    """
    # Drivers name their pools after hosts, so pools of two may have one name.
    pools: dict[tuple[str, str], dict[str, Document]] = {}
    for document in documents:
        driver = document.body["spec"]["driver"]
        slices = pools.setdefault((driver, _field(document, "name", str)), {})
        before = slices.setdefault(document.object_name, document)
        if before.body != document.body:
            slices[document.object_name] = _newer(before, document)
    for (_, pool), slices in pools.items():
        complete = _complete(pool, list(slices.values()), inventory)
        if complete:
            yield complete


def _field(document: Document, key: str, kind: type) -> Any:
    pool = document.body["spec"].get("pool")
    if not isinstance(pool, dict):
        raise document.refuse("spec.pool", "must be a mapping")
    value = pool.get(key, 0 if key == "generation" else None)
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        rule = f"must be of type {kind.__name__}, got {value!r}"
        raise document.refuse(f"spec.pool.{key}", rule)
    if isinstance(value, str) and not value.isprintable():
        rule = f"must be printable, got {value!r}"
        raise document.refuse(f"spec.pool.{key}", rule)
    return value


def _newer(one: Document, other: Document) -> Document:
    """The higher generation of two states of one slice."""
    first = _field(one, "generation", int)
    second = _field(other, "generation", int)
    if first == second:
        rule = f"two different slices of generation {first} have this name"
        raise other.refuse("metadata.name", f"{rule}, one in {one.file}")
    return one if first > second else other


def _complete(
    pool: str, documents: list[Document], inventory: Inventory
) -> list[Document]:
    """Slices of the highest generation if all are here, else none."""
    newest = max(_field(document, "generation", int) for document in documents)
    current = []
    for document in documents:
        if _field(document, "generation", int) == newest:
            current.append(document)
        else:
            why = "its pool has a higher generation"
            inventory.leave_out("ResourceSlice", why, document.object_name)
    wanted = _field(current[0], "resourceSliceCount", int)
    for document in current:
        if _field(document, "resourceSliceCount", int) != wanted:
            rule = f"slices of pool {pool} disagree, {wanted} in another"
            raise document.refuse("spec.pool.resourceSliceCount", rule)
    if wanted == len(current):
        return current
    why = f"resourceSliceCount is {wanted}, seen {len(current)}"
    inventory.leave_out("pool", why, pool)
    for document in current:
        name = document.body["spec"].get("nodeName")
        host = inventory.hosts.get(name) if isinstance(name, str) else None
        if host is not None and host.gpus:
            what = "host of an incomplete pool: the count of its Node is used"
            inventory.remark(what, host.name)
    return []

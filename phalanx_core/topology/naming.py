"""Names of domains and leaves: the label where it is unique, else a path."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology.grouping import IntArray

if TYPE_CHECKING:
    from phalanx_core.topology.forest import Forest


def domain_paths(topology: Forest, level: int) -> list[list[str]]:
    """Labels from the level upward of each of its domains; "-" where one is missing.

    A root that all leaves share is left away, since it tells nothing apart.
    """
    heads = topology.domain_leaf(level)
    top = len(topology.levels) - 1
    if top > level and not topology.domain_of(top).any():
        top -= 1
    columns = []
    for above in range(level, top + 1):
        texts = [*map(str, topology.labels_of(above)), "-"]
        columns.append([texts[i] for i in topology.domain_of(above)[heads].tolist()])
    return [list(path) for path in zip(*columns, strict=True)]


def domain_names(topology: Forest, level: int) -> tuple[str, ...]:
    """Shortest tail of each domain's path that no other domain of its level has."""
    names = [str(label) for label in topology.labels_of(level)]
    counts = Counter(names)
    if len(counts) == len(names):
        return tuple(names)
    paths = domain_paths(topology, level)
    for length in range(2, len(paths[0]) + 1):
        again = [d for d, name in enumerate(names) if counts[name] > 1]
        for domain in again:
            names[domain] = "/".join(reversed(paths[domain][:length]))
        counts = Counter(names)
    return tuple(names)


def find_domain(topology: Forest, level: int, text: str) -> int:
    """Domain of a label, or of a path or its tail ("pod-1/rail-2").

    Raises
    ------
    InvalidRequest
        If no domain of the level has it, or several have.
    """
    found = [
        domain
        for domain, path in enumerate(domain_paths(topology, level))
        if ("/" + "/".join(reversed(path))).endswith("/" + text)
    ]
    exact = [d for d in found if str(topology.labels_of(level)[d]) == text]
    found = exact or found
    where = f"level {topology.levels[level]!r}"
    if not found:
        raise InvalidRequest(f"{where} has no domain {text!r}")
    if len(found) > 1:
        first = topology.domain_name(level, found[0])
        raise InvalidRequest(
            f"{where} has {len(found)} domains {text!r}: give a path such as {first!r}"
        )
    return found[0]


def leaf_names(topology: Forest) -> tuple[str, ...]:
    """Default leaf names: lowest domain's name, "/", leaf level's name, "-", number."""
    count = topology.leaf_count
    prefix: list[str] = [""] * count
    number: IntArray = np.arange(count, dtype=np.int32)
    position = np.empty(count, dtype=np.int32)
    position[topology.address_order] = number
    open_ = np.ones(count, dtype=bool)
    for level in range(1, len(topology.levels)):
        domain = topology.domain_of(level)
        rows = np.flatnonzero(open_ & (domain >= 0))
        if rows.size == 0:
            continue
        held_names = topology.domain_names(level)
        start = position[topology.domain_leaf(level)]
        number[rows] = position[rows] - start[domain[rows]]
        for row, held in zip(rows.tolist(), domain[rows].tolist(), strict=True):
            prefix[row] = held_names[held] + "/"
        open_[rows] = False
    word = topology.levels[0]
    names = [
        f"{before}{word}-{index}"
        for before, index in zip(prefix, number.tolist(), strict=True)
    ]
    # A host and a rack may have one name; then the leaf ids tell their leaves apart.
    while len(counts := Counter(names)) < count:
        for leaf, name in enumerate(names):
            if counts[name] > 1:
                names[leaf] = f"{name}@{leaf}"
    return tuple(names)

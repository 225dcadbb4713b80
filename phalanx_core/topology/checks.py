"""Checks of the arguments of ``Topology.from_labels``, one error each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from phalanx_core.errors import TopologyError
from phalanx_core.topology.grouping import IntArray
from phalanx_core.topology.spec import LEAVES_MAX, LEVELS_MAX


def checked_levels(levels: Sequence[str], leaf: str) -> tuple[str, ...]:
    """All level names, the leaf's first; distinct non-empty texts, at least two."""
    if isinstance(levels, str) or not hasattr(levels, "__len__") or not len(levels):
        raise TopologyError("levels must be a sequence of at least one level name")
    names = (leaf, *levels)
    for name in names:
        if not isinstance(name, str) or not name:
            raise TopologyError(f"level {name!r}: a level name must be a text")
        if names.count(name) > 1:
            raise TopologyError(f"level {name!r}: occurs twice")
    if len(names) > LEVELS_MAX:
        raise TopologyError(
            f"levels: {len(names)}, leaf included, are more than {LEVELS_MAX}"
        )
    return names


def checked_labels(
    levels: Sequence[str],
    labels: Sequence[Sequence[Hashable]] | Mapping[str, Sequence[Hashable]],
) -> list[Sequence[Hashable]]:
    """One label sequence a level, in level order; at least one leaf."""
    if isinstance(labels, Mapping):
        absent = [name for name in levels if name not in labels]
        if absent or len(labels) != len(levels):
            wrong = absent or [name for name in labels if name not in levels]
            raise TopologyError(f"labels: level {wrong[0]!r} is not in both")
        rows = [labels[name] for name in levels]
    elif hasattr(labels, "__iter__"):
        rows = list(labels)
    else:
        raise TopologyError(
            f"labels: one sequence a level is needed, got {type(labels).__name__}"
        )
    if len(rows) != len(levels):
        raise TopologyError(
            f"labels: one sequence a level is needed, "
            f"got {len(rows)} for {len(levels)} levels"
        )
    made: list[Sequence[Hashable]] = []
    row: Any
    for name, row in zip(levels, rows, strict=True):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise TopologyError(f"labels of level {name!r}: must be a sequence")
        made.append(row.tolist() if isinstance(row, np.ndarray) else row)
    if len(made[0]) == 0:
        raise TopologyError("labels: an empty cluster has no topology")
    if len(made[0]) > LEAVES_MAX:
        raise TopologyError(f"labels: {len(made[0])} leaves are more than {LEAVES_MAX}")
    return made


def checked_names(
    names: Sequence[str] | None, leaf_count: int
) -> tuple[str, ...] | None:
    """One distinct non-empty text a leaf."""
    if names is None:
        return None
    made = tuple(names)
    _count("names", made, leaf_count)
    if len(frozenset(made)) != leaf_count:
        seen: dict[str, int] = {}
        for row, name in enumerate(made):
            if seen.setdefault(name, row) != row:
                raise TopologyError(f"names: {name!r} occurs twice")
    for name in made:
        if not isinstance(name, str) or not name:
            raise TopologyError(f"names: {name!r} must be a non-empty text")
    return made


def checked_types(
    types: Sequence[str] | str | None, leaf: str, leaf_count: int
) -> tuple[tuple[str, ...], IntArray]:
    """Distinct type names by first appearance, and the index of each leaf's."""
    if types is None or isinstance(types, str):
        only = leaf if types is None else types
        return (only,), np.zeros(leaf_count, dtype=np.int32)
    _count("types", types, leaf_count)
    seen: dict[str, int] = {}
    for name in types:
        if not isinstance(name, str) or not name:
            raise TopologyError(f"types: {name!r} must be a non-empty text")
        seen.setdefault(name, len(seen))
    coded = np.fromiter((seen[name] for name in types), np.int32, leaf_count)
    return tuple(seen), coded


def checked_rails(rails: Any, leaf_count: int) -> IntArray | None:
    """One NIC index a leaf, integers from 0."""
    if rails is None:
        return None
    wide = np.asarray(rails)
    if wide.shape != (leaf_count,) or wide.dtype.kind not in "iu":
        raise TopologyError("nic_rails: one integer a leaf is needed")
    if wide.min() < 0 or wide.max() >= 1 << 31:
        raise TopologyError(f"nic_rails: {wide.min()} must be at least 0")
    return wide.astype(np.int32)


def checked_bandwidth(
    bandwidth: Mapping[str, float] | None, levels: tuple[str, ...]
) -> tuple[float | None, ...]:
    """Bytes/s a GPU for each level, None = unknown."""
    given = dict(bandwidth or {})
    for name, value in given.items():
        if name not in levels:
            raise TopologyError(f"bandwidth: no level {name!r} in {levels}")
        if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
            raise TopologyError(
                f"bandwidth of level {name!r}: {value!r} must be a number above 0"
            )
    return tuple(float(given[name]) if name in given else None for name in levels)


def _count(what: str, values: Sequence[Any], leaf_count: int) -> None:
    if len(values) != leaf_count:
        raise TopologyError(
            f"{what}: one a leaf is needed, got {len(values)} for {leaf_count} leaves"
        )


def checked_nvlink(nvlink: str | None, levels: tuple[str, ...]) -> int | None:
    """Index of the level that NVLink spans."""
    if nvlink is None:
        return None
    if nvlink not in levels[1:]:
        raise TopologyError(f"nvlink: no level {nvlink!r} in {levels[1:]}")
    return levels.index(nvlink)

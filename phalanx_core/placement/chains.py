"""Which constraint of a gang some leaves break, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.placement.parts import members

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang


def broken_chain(frame: Frame, gang: Gang, positions: NDArray[Any]) -> str:
    """The first rule that leaves in rank order break; "" where they keep all.

    Parameters
    ----------
    positions
        Of the gang's ranks, shape (ranks,).

    Notes
    -----
    O(ranks * levels).
    """
    levels = frame.topology.levels
    _, within, _ = frame.levels(gang)
    top = len(levels) - 1 if within is None else within
    whole = f"within {levels[top]}" if within is not None else "one tree"
    entries = [
        entry
        for at, part in enumerate(members(gang))
        for entry in _entries(frame, part, gang.part_ranks[at])
    ]
    entries.append(
        _Entry(range(gang.ranks), gang.ranks, top, whole, within is not None)
    )
    for part, ranks in zip(gang.parts, gang.part_ranks, strict=bool(gang.parts)):
        if part.within is not None:
            level = frame.topology.level_index(part.within)
            name = f"within {levels[level]}"
            entries.append(_Entry(ranks, len(ranks), level, name, True))
    return next(filter(None, (_broken(frame, one, positions) for one in entries)), "")


class _Entry(NamedTuple):
    """Every ``size`` of some ranks share a domain of a level."""

    ranks: range
    size: int
    level: int
    name: str
    named: bool  # it must be a real one


def _entries(frame: Frame, part: Gang, ranks: range) -> list[_Entry]:
    return [
        _Entry(ranks, size, level, _kind(part, at, size), True)
        for at, (size, level) in enumerate(frame.chain(part))
    ]


def _kind(part: Gang, at: int, size: int) -> str:
    return f"{'group' if at == 0 and part.group > 1 else 'slice'} of {size}"


def _broken(frame: Frame, entry: _Entry, positions: NDArray[Any]) -> str:
    name, level = entry.name, entry.level
    unit = frame.topology.levels[level]
    vertices = _vertices(frame, level, positions)
    for start in entry.ranks[:: entry.size]:
        run = vertices[start : start + entry.size]
        none = np.flatnonzero(frame.tree.real[level][run] < 0)
        if entry.named and none.size:
            return f"{name}: rank {start + none[0]} lies in no {unit}"
        other = np.flatnonzero(run != run[0])
        if other.size:
            here = frame.vertex_name(level, int(run[0]))
            there = frame.vertex_name(level, int(run[other[0]]))
            return (
                f"{name}: ranks {start}-{start + entry.size - 1} lie in {here} and "
                f"{there}, not in one {unit}"
            )
    return ""


def _vertices(frame: Frame, level: int, positions: NDArray[Any]) -> NDArray[np.int64]:
    vertices = positions.astype(np.int64)
    for first in frame.tree.first[:level]:
        vertices = np.searchsorted(first, vertices, side="right") - 1
    return vertices

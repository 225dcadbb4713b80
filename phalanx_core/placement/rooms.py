"""How many ranks each domain could take, counted in whole groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

Counts = NDArray[np.int64]


def rooms(
    frame: Frame,
    level: int,
    usable: NDArray[Any],
    group: int = 1,
    group_level: int = 0,
    vertices: tuple[int, int] | None = None,
) -> Counts:
    """Ranks that vertices of a level could take: int64, shape (vertices,).

    Parameters
    ----------
    level
        At or above ``group_level``.
    usable
        0 or 1 for each position below the vertices, shape (leaves,).
    group, group_level
        As of the gang; a group of 1 needs no domain.
    vertices
        First one and end; None for all of the level.

    Notes
    -----
    O(leaves + vertices).
    """
    first, end = vertices or (0, frame.tree.real[level].size)
    if group == 1:
        return _sums(below(frame, level, first, end), usable)
    bounds = below(frame, level, first, end, group_level)
    low, high = int(bounds[0]), int(bounds[-1])
    inside = _sums(below(frame, group_level, low, high), usable)
    inside -= inside % group
    inside[frame.tree.real[group_level][low:high] < 0] = 0
    return _sums(bounds, inside)


def below(frame: Frame, level: int, first: int, end: int, low: int = 0) -> Counts:
    """Where the vertices ``first`` to ``end`` begin among those of a lower level.

    Returns
    -------
    int64, shape (end - first + 1,): the last is the end.
    """
    bounds = np.arange(first, end + 1, dtype=np.int64)
    for row in reversed(frame.tree.first[low:level]):
        bounds = row[bounds].astype(np.int64)
    return bounds


def _sums(bounds: Counts, values: NDArray[Any]) -> Counts:
    seen = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    sums: Counts = np.diff(seen[bounds - bounds[0]])
    return sums

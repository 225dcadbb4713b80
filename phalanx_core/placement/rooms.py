"""How many ranks each domain could take, counted in whole groups and slices."""

from __future__ import annotations

from collections.abc import Sequence
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
    chain: Sequence[tuple[int, int]] = (),
    vertices: tuple[int, int] | None = None,
) -> Counts:
    """Ranks that vertices of a level could take: int64, shape (vertices,).

    Parameters
    ----------
    level
        At or above the levels of the chain.
    usable
        0 or 1 for each position below the vertices, shape (leaves,).
    chain
        Sizes that must be whole in a domain, with their level's index, innermost
        first: what :meth:`Frame.chain` gives.
    vertices
        First one and end; None for all of the level.

    Notes
    -----
    O(leaves + vertices).
    """
    first, end = vertices or (0, frame.tree.real[level].size)
    inside, inner = usable, 0
    for size, at in chain:
        bounds = below(frame, level, first, end, at)
        low, high = int(bounds[0]), int(bounds[-1])
        inside = _sums(below(frame, at, low, high, inner), inside)
        inside -= inside % size
        inside[frame.tree.real[at][low:high] < 0] = 0
        inner = at
    return _sums(below(frame, level, first, end, inner), inside)


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

"""Which constraint of a gang some leaves break, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    chain = [
        (size, level, f"{'group' if at == 0 and gang.group > 1 else 'slice'} of {size}")
        for at, (size, level) in enumerate(frame.chain(gang))
    ]
    for size, level, name in [*chain, (gang.ranks, top, whole)]:
        vertices = _vertices(frame, level, positions)
        named = level != top or within is not None
        for start in range(0, gang.ranks, size):
            part = vertices[start : start + size]
            none = np.flatnonzero(frame.tree.real[level][part] < 0)
            if named and none.size:
                return f"{name}: rank {start + none[0]} lies in no {levels[level]}"
            other = np.flatnonzero(part != part[0])
            if other.size:
                here = frame.vertex_name(level, int(part[0]))
                there = frame.vertex_name(level, int(part[other[0]]))
                return (
                    f"{name}: ranks {start}-{start + size - 1} lie in {here} and "
                    f"{there}, not in one {levels[level]}"
                )
    return ""


def _vertices(frame: Frame, level: int, positions: NDArray[Any]) -> NDArray[np.int64]:
    vertices = positions.astype(np.int64)
    for first in frame.tree.first[:level]:
        vertices = np.searchsorted(first, vertices, side="right") - 1
    return vertices

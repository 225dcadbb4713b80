"""Why a broken gang finds no replacement, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import lib
from phalanx_core.placement.misfit import plural
from phalanx_core.placement.results import spans

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import IntArray


def shortfall(
    frame: Frame,
    core: Any,
    gang: Gang,
    positions: IntArray,
    lost: NDArray[np.int64],
) -> str:
    """What the domain that confines the gang holds, beside what is missing.

    Parameters
    ----------
    positions
        Of the gang's ranks before the repair.
    lost
        Ranks without a leaf.

    Notes
    -----
    O(leaves of the domain).
    """
    topology = frame.topology
    level = len(topology.levels) - 1
    if gang.within is not None:
        level = topology.level_index(gang.within)
    alive = np.setdiff1d(np.arange(gang.ranks), lost)
    unit = topology.levels[0]
    what = f"rank{'s' if lost.size != 1 else ''} {spans(lost)}"
    if gang.group > 1:
        what += f" of groups of {gang.group}"
    if not alive.size:
        return f"no replacement for {what}: no {topology.levels[level]} has room for it"
    vertex = frame.vertex_at(level, int(positions[alive[0]]))
    name = frame.vertex_name(level, vertex) or topology.levels[level]
    states = native.leaf_states(core, *_leaves_of(frame, level, vertex))
    return (
        f"no replacement for {what}: {topology.levels[level]} {name} has "
        f"{plural(int(((states >> 5) & 1).sum()), unit)} available; {_losses(states)}"
    )


def _leaves_of(frame: Frame, level: int, vertex: int) -> tuple[int, int]:
    first, end = vertex, vertex + 1
    for row in reversed(frame.tree.first[:level]):
        first, end = int(row[first]), int(row[end])
    return first, end - first


def _losses(states: NDArray[np.uint32]) -> str:
    kind, health = states & 3, (states >> 2) & 3
    free = kind == lib.PHX_FREE
    down, suspect = health == lib.PHX_DOWN, health == lib.PHX_SUSPECT
    counts = {
        "held by jobs": kind == lib.PHX_JOB,
        "spare": kind == lib.PHX_SPARE,
        "quarantined": kind == lib.PHX_QUARANTINE,
        "down": free & down,
        "suspect": free & suspect,
        "cordoned": free & ~down & ~suspect & ((states >> 4) & 1 == 1),
    }
    told = [
        f"{int(which.sum())} {word}" for word, which in counts.items() if which.any()
    ]
    return ", ".join(told)

"""Why a broken gang finds no replacement, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import lib
from phalanx_core.placement.misfit import plural, whole
from phalanx_core.placement.results import spans
from phalanx_core.placement.rooms import below, rooms

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
    limited: tuple[str, ...] | None = None,
) -> str:
    """What the domain that confines the gang holds, beside what is missing.

    Parameters
    ----------
    positions
        Of the gang's ranks before the repair.
    lost
        Ranks without a leaf.
    limited
        Levels that the repair has limits for, None where that is unknown.

    Notes
    -----
    O(leaves of the domain), of all where no rank survives.
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
    if gang.slices:
        what += f" in slices of {gang.slices[0][0]}"
    if gang.parts:
        hit = [
            at for at, ranks in enumerate(gang.part_ranks) if np.isin(lost, ranks).any()
        ]
        what += f" of parts[{'], parts['.join(map(str, hit))}]"
    first, end = 0, frame.tree.real[level].size
    if alive.size:
        first = frame.vertex_at(level, int(positions[alive[0]]))
        end = first + 1
    bounds = below(frame, level, first, end)
    states = native.leaf_states(core, int(bounds[0]), int(bounds[-1] - bounds[0]))
    fits = _fits(frame, gang, states, positions, lost, (first, end))
    why = [_why(limited)] if fits and frame.alignment == "exact" else []
    told = f"no replacement for {what}: "
    if not alive.size:
        none = f"no {topology.levels[level]} has room for it"
        return told + "; ".join([none, *why])
    available = (states >> 5) & 1
    has = f"{plural(int(available.sum()), unit)} available"
    chain = frame.chain(gang)
    if chain and available.any():
        room = rooms(frame, level, available, chain, (first, end))
        has = f"{whole(gang)} for {room[0]} of its {has}"
    name = frame.vertex_name(level, first)
    place = f"{topology.levels[level]} {name}" if name else "its tree"
    losses = _losses(states)
    return told + "; ".join([f"{place} has {has}", *([losses] if losses else []), *why])


def _fits(
    frame: Frame,
    gang: Gang,
    states: NDArray[np.uint32],
    positions: IntArray,
    lost: NDArray[np.int64],
    vertices: tuple[int, int],
) -> bool:
    """Whether one of the domains had room, were there neither limits nor other moves.

    Parameters
    ----------
    states
        Of the leaves below the vertices.
    vertices
        Of the gang's ``within``, first one and end.
    """
    if gang.slices or gang.parts:
        return False  # which of them could stay is not recounted here
    group_level, level, _ = frame.levels(gang)
    if level is None:
        level = len(frame.topology.levels) - 1
    spare = (states & 3 == lib.PHX_SPARE) & ((states >> 2) & 7 == 0)
    usable = ((states >> 5) & 1 == 1) | spare
    if gang.group == 1 or vertices[1] - vertices[0] > 1:
        could = rooms(frame, level, usable, frame.chain(gang), vertices)
        if gang.within is not None:
            could[frame.tree.real[level][slice(*vertices)] < 0] = 0
        return bool(could.max() >= lost.size)
    groups, counts = np.unique(lost // gang.group, return_counts=True)
    low, high = below(frame, level, *vertices, group_level).tolist()
    room = rooms(frame, group_level, usable, vertices=(low, high))
    room[frame.tree.real[group_level][low:high] < 0] = 0
    homes = [
        frame.vertex_at(group_level, int(at)) - low
        for at in positions[groups * gang.group]
    ]
    fixed = 0
    # A group that stays needs its lost ranks alone; the cheapest ones stay first.
    for home, count in sorted(zip(homes, counts.tolist(), strict=True)):
        if room[home] >= count:
            room[home] -= count
            fixed += 1
    return fixed + int((room // gang.group).sum()) >= groups.size


def _why(limited: tuple[str, ...] | None) -> str:
    """What keeps a repair from room that exists."""
    if limited is None:
        return "limits or the repair's other moves leave no room"
    if limited:
        return f"limits of {' and '.join(limited)} leave no room"
    return "the repair's other moves leave no room"


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

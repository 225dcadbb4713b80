"""Health and cordon of every leaf of a new topology, from both parties' words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import lib
from phalanx_core.placement.outside import (
    DOWN,
    ELSEWHERE,
    GONE,
    SUSPECT,
    TAINTED,
    UP,
    Barred,
    Outside,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phalanx_core.placement.frame import Frame
    from phalanx_core.topology import Topology
    from phalanx_core.topology.keeping import KeptLeaf

Words = NDArray[np.uint32]


@dataclass(slots=True)
class Marks:
    """What each position of a frame should be; ``outside`` says why.

    Attributes
    ----------
    health, cordoned
        Of each position, uint32 and bool: the worse of both parties' words.
    outside
        The tables that go with it; handles and epoch are not filled.
    back
        Names of leaves that are back and have a mark they left with.
    """

    health: Words
    cordoned: NDArray[np.bool_]
    outside: Outside
    back: tuple[str, ...]

    def apply(self, core: Any) -> Words:
        """Make a core's leaves so; the slots that hold a leaf that went down."""
        states = native.leaf_states(core, 0, self.health.size)
        had, shut = (states >> 2) & 3, (states >> 4) & 1 == 1
        better = (had == DOWN) & (self.health == SUSPECT)
        fallen = np.empty(0, np.uint32)
        for change, which in (
            (lib.PHX_HEAL, ((had != UP) & (self.health == UP)) | better),
            (lib.PHX_DOUBT, (had != SUSPECT) & (self.health == SUSPECT)),
            (lib.PHX_FAIL, (had != DOWN) & (self.health == DOWN)),
            (lib.PHX_UNCORDON, shut & ~self.cordoned),
            (lib.PHX_CORDON, ~shut & self.cordoned),
        ):
            at = np.flatnonzero(which).astype(np.uint32)
            if at.size:
                owners = native.health_change(core, change, at, "sync")
                if change == lib.PHX_FAIL:
                    fallen = owners[owners != native.NONE]
        return fallen


class Before(NamedTuple):
    """A planner's frame, the state words of its positions, its tables."""

    frame: Frame
    states: Words
    outside: Outside


def marks(
    past: Before,
    frame: Frame,
    now: NDArray[np.int64],
    kept: tuple[KeptLeaf, ...],
    given: Topology,
) -> Marks:
    """Marks of a new frame.

    Parameters
    ----------
    past
        The planner as it was.
    frame, now
        The new frame, and the id there of each old leaf, -1 = not kept.
    kept, given
        What the frame's topology was made of.
    """
    old, states, before = past
    health, cordoned = (states >> 2) & 3, (states >> 4) & 1 == 1
    for at, barred in before.barred.items():
        health[at] = barred.word
    cordoned[list(before.shut)] = False
    leaf_at = old.tree.leaf_at
    new_ids = now[leaf_at]
    stay = np.flatnonzero(new_ids >= 0)
    new_at = np.full(leaf_at.size, -1, np.int64)
    new_at[stay] = frame.tree.position_of[new_ids[stay]]
    words = np.full(frame.leaf_count, UP, np.uint32)
    closed = np.zeros(frame.leaf_count, np.bool_)
    words[new_at[stay]], closed[new_at[stay]] = health[stay], cordoned[stay]
    base = given.fingerprint if kept else None
    outside = Outside(base, kept, past=before.past)
    outside.away = dict(before.away)
    left = (new_ids < 0) & ((health != UP) | cordoned)
    for at in np.flatnonzero(left).tolist():
        name = old.topology.names[int(leaf_at[at])]
        outside.away[name] = int(health[at]), bool(cordoned[at])
    place = _Place(frame)
    back = _come_back(outside, place, words, closed)
    _bar(outside, before, place, words, new_at, given)
    _shut(outside, before, place, closed, new_at, given)
    effective = words.copy()
    effective[list(outside.barred)] = DOWN
    closed[list(outside.shut)] = True
    return Marks(effective, closed, outside, back)


class _Place:
    """Positions of a frame by leaf name; leaves of other types have none."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        names = frame.topology.names
        ids = frame.tree.leaf_at.tolist()
        self.by_name = {names[leaf]: at for at, leaf in enumerate(ids)}

    def of(self, names: Iterable[str]) -> list[int]:
        found = (self.by_name.get(name, -1) for name in names)
        return [at for at in found if at >= 0]


def _come_back(
    outside: Outside, place: _Place, words: Words, closed: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Leaves that are here again get the marks they left with; their names."""
    back = tuple(name for name in outside.away if name in place.by_name)
    for name in back:
        at = place.by_name[name]
        words[at], closed[at] = outside.away.pop(name)
    # As many are remembered as there are leaves: the table must not grow for ever.
    for name in list(outside.away)[: max(0, len(outside.away) - words.size)]:
        del outside.away[name]
    return back


def _bar(
    outside: Outside,
    before: Outside,
    place: _Place,
    words: Words,
    new_at: NDArray[np.int64],
    given: Topology,
) -> None:
    why: dict[int, str] = {}
    if given.report is not None:
        why = dict.fromkeys(place.of(given.report.tainted), TAINTED)
    else:
        for at, barred in before.barred.items():
            if barred.why == TAINTED and new_at[at] >= 0:
                why[int(new_at[at])] = TAINTED
    code = given.type_index(place.frame.type)
    there = {
        name
        for name, kind in zip(given.names, given.type_of.tolist(), strict=True)
        if kind == code
    }
    for one in outside.kept:
        at = place.by_name[one.name]
        why[at] = ELSEWHERE if one.name in there else GONE
    for at in sorted(why):
        outside.barred[at] = Barred(why[at], int(words[at]))


def _shut(
    outside: Outside,
    before: Outside,
    place: _Place,
    closed: NDArray[np.bool_],
    new_at: NDArray[np.int64],
    given: Topology,
) -> None:
    if given.report is not None:
        told = place.of(given.report.cordoned)
    else:
        told = [int(new_at[at]) for at in before.shut if new_at[at] >= 0]
    outside.shut = {at: None for at in sorted(told) if not closed[at]}

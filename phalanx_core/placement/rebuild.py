"""A planner built anew on the next description of its cluster, beside the old one."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.errors import InvariantBroken
from phalanx_core.native import lib
from phalanx_core.placement.frame import Frame
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.marks import Before, Marks, marks
from phalanx_core.placement.moving import Passage
from phalanx_core.placement.outside import TAINTED
from phalanx_core.placement.results import SLOT, Moved
from phalanx_core.placement.spares import shortages
from phalanx_core.placement.state import Entry, State
from phalanx_core.topology.keeping import KeptLeaf, settled, with_kept

if TYPE_CHECKING:
    from phalanx_core.topology import Topology

BAD_CHAIN = -int(lib.PHX_BAD_CHAIN)
# Of a gang that cannot stand where its leaves are, first the absent ones are kept where
# the others are, then all of them where they were together.
ALL = 2


class Holder(NamedTuple):
    """A running gang: who it is, its entry, its leaf ids in rank order."""

    who: Job | Handle
    entry: Entry
    leaves: IntArray


class Rebuild:
    """What a planner becomes on another topology; changes nothing of it.

    Attributes
    ----------
    passage
        From the planner's topology to the given one.
    now
        int64, shape (old leaves,): id in the new planner's topology, -1 = not kept.
    result
        A state to take over, or None where the topology is the planner's own.
    marks
        Of the result, or to apply where there is none.
    """

    now: NDArray[np.int64]
    result: State | None
    marks: Marks

    def __init__(self, state: State, given: Topology) -> None:
        self.state, self.given = state, given
        self.before, self.warned = state._outside, tuple(state.warnings)
        self.frame = frame = state._frame
        self.type = given.type_names[given.type_index(frame.type)]
        leaf_at = frame.tree.leaf_at
        displaced = [
            int(leaf_at[at])
            for at, one in state._outside.barred.items()
            if one.why != TAINTED
        ]
        self.passage = Passage(frame, given, self.type, displaced)
        self.states = native.leaf_states(state._core, 0, frame.leaf_count)
        self.holders = self._holders()
        self._origins: dict[int, IntArray] = {}
        self._run()

    def _holders(self) -> list[Holder]:
        """Jobs in the order they came, then the gangs of handles by slot."""
        state = self.state
        found = list(state._jobs.items())
        slots = np.unique(self.states[self.states & 3 == lib.PHX_JOB] >> 8)
        others = [
            state._name(slot)
            for slot in slots.tolist()
            if state._named(slot) is None or isinstance(state._named(slot), Handle)
        ]
        entries = [*found, *((who, state._find(who)) for who in others)]
        return [Holder(who, one, state._layout(one).leaves) for who, one in entries]

    def _run(self) -> None:
        astray: dict[Job | Handle, int] = {}
        while True:
            kept = self._kept(astray)
            topology = with_kept(self.given, kept, self.type)
            kept = settled(topology, kept)
            self.now = self.passage.to.copy()
            for one in kept:
                self.now[self.frame.topology.leaf(one.name)] = topology.leaf(one.name)
            if topology == self.frame.topology:
                self.result = None
                self.marks = self._marks(self.frame, kept)
                return
            self._origins.clear()
            self.result = self._new_state(topology)
            self.marks = self._marks(self.result._frame, kept)
            refused = self._fill(self.result)
            if not refused:
                return
            for who in refused:
                astray[who] = astray.get(who, 0) + 1
                if astray[who] > ALL:
                    raise InvariantBroken(
                        "P4", f"sync: {who!r} cannot be kept together"
                    )

    def _kept(self, astray: dict[Job | Handle, int]) -> tuple[KeptLeaf, ...]:
        """Leaves that somebody holds and that are not, or no longer there, in order."""
        places: dict[int, KeptLeaf] = {}
        for holder in self.holders:
            step = astray.get(holder.who, 0)
            if step:
                together = self.passage.together(holder.leaves.tolist())
                places |= {
                    leaf: place
                    for leaf, place in together.items()
                    if step == ALL or self.passage.to[leaf] < 0
                }
        kind = self.states & 3
        held = np.flatnonzero((kind == lib.PHX_JOB) | (kind == lib.PHX_QUARANTINE))
        for leaf in self.frame.tree.leaf_at[held].tolist():
            if self.passage.to[leaf] < 0 and leaf not in places:
                places[leaf] = self.passage.gone(leaf)
        return tuple(places[leaf] for leaf in sorted(places))

    def _marks(self, frame: Frame, kept: tuple[KeptLeaf, ...]) -> Marks:
        past = Before(self.frame, self.states, self.before)
        return marks(past, frame, self.now, kept, self.given)

    def _new_state(self, topology: Topology) -> State:
        old = self.frame
        frame = Frame(topology, self.type, old.spares, old.alignment)
        other: State = object.__new__(type(self.state))
        other._start(frame, native.new_planner(frame.core_tree, frame.options))
        if frame.spares_levels is not None:
            other.warnings = shortages(topology, frame.tree, frame.spares_levels)
        return other

    def _fill(self, other: State) -> list[Job | Handle]:
        """Quarantine, health and gangs; who cannot stand where their leaves are."""
        self._quarantine(other)
        self.marks.apply(other._core)
        refused = [
            holder.who for holder in self.holders if not self._adopt(other, holder)
        ]
        states = native.leaf_states(other._core, 0, other._frame.leaf_count)
        down = (states & 3 == lib.PHX_JOB) & ((states >> 2) & 3 == lib.PHX_DOWN)
        other._hit = dict.fromkeys((states[down] >> 8).tolist())
        outside, before = self.marks.outside, self.before
        outside.epoch = before.next_epoch()
        outside.past = weakref.WeakSet(before.past)
        outside.past.add(self.frame.topology)
        other._outside = outside
        return refused

    def _quarantine(self, other: State) -> None:
        """The core quarantines the down leaves of a gang that is released."""
        _, request, _ = other._frame.compile(Gang(1), other._core)
        for at, owner in sorted(self.state._fenced_leaves().items()):
            spot = self._positions(other, self.frame.leaf_ids(np.array([at])))
            native.health_change(other._core, lib.PHX_FAIL, spot, "sync")
            packed = int(lib.phx_adopt(other._core, request, native.words(spot)))
            if packed < 0:
                raise native.failure(packed, f"sync: leaf taken from {owner!r}")
            native.check(lib.phx_release(other._core, packed & SLOT), "sync")
            other._fence[int(spot[0])] = owner

    def _positions(self, other: State, leaves: IntArray) -> NDArray[np.uint32]:
        ids = self.now[leaves]
        return np.ascontiguousarray(other._frame.tree.position_of[ids], np.uint32)

    def _adopt(self, other: State, holder: Holder) -> bool:
        frame = other._frame
        gang = self._carried(holder.entry.gang)
        _, request, bound = frame.compile(gang, other._core)
        spots = self._positions(other, holder.leaves)
        packed = int(lib.phx_adopt(other._core, request, native.words(spots)))
        if packed == BAD_CHAIN:
            return False
        if packed < 0:
            raise native.failure(packed, f"sync: {holder.who!r}")
        given = holder.entry._limits
        if given is not None and given.given:
            bound = VertexLimits(frame, self._rows(given.given))
        slot = packed & SLOT
        entry = Moved(slot, gang, bound)
        other._set_name(slot, holder.who)
        if isinstance(holder.who, Handle):
            self.marks.outside.handles[int(holder.who)] = entry
        else:
            other._jobs[holder.who] = entry
        return True

    def _carried(self, gang: Gang) -> Gang:
        """The gang, its limits by the domains of the new topology."""
        if all(one.limits is None for one in (gang, *gang.parts)):
            return gang
        fields: dict[str, Any] = gang.full.to_dict()
        fields["parts"] = [self._carried(part) for part in gang.parts]
        if gang.limits is not None:
            fields["limits"] = self._rows(gang.limits)
        return Gang(**fields).at(gang.ranks)

    def _rows(self, limits: Mapping[Any, IntArray]) -> dict[Any, IntArray]:
        """Rows by new domain; one with no leaf of old takes nothing of the gang."""
        rows = {}
        for level, row in limits.items():
            origin = self._origin(self.frame.topology.level_index(level))
            rows[level] = np.where(origin < 0, 0, row[origin]).astype(np.int32)
        return rows

    def _origin(self, level: int) -> IntArray:
        """Old domain that most leaves of each new domain are from, -1 = none."""
        if level not in self._origins:
            assert self.result is not None
            old, new = self.frame.topology, self.result._frame.topology
            ids = np.flatnonzero(self.now >= 0)
            before = old.domain_of(level)[ids].astype(np.int64)
            after = new.domain_of(level)[self.now[ids]].astype(np.int64)
            both = (before >= 0) & (after >= 0)
            pairs, counts = np.unique(
                np.stack([after[both], before[both]]), axis=1, return_counts=True
            )
            origin = np.full(new.domain_count(level), -1, np.int32)
            # The last to be written is the most common, the lowest of several.
            order = np.lexsort((-pairs[1], counts))
            origin[pairs[0][order]] = pairs[1][order]
            self._origins[level] = origin
        return self._origins[level]

"""What a planner holds beside the core: who is in which slot, and who was fenced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from phalanx_core import native
from phalanx_core.errors import (
    ConcurrentUse,
    InvariantBroken,
    OwnershipError,
    UnknownJob,
)
from phalanx_core.native import MISFIT, NONE, ffi, lib
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job, checked_job
from phalanx_core.placement.limits import limited_levels
from phalanx_core.placement.misfit import Misfit, MisfitCode
from phalanx_core.placement.outside import DOWN, Outside
from phalanx_core.placement.parts_misfit import refuse_parts
from phalanx_core.placement.repair import Repair, core_moves, expanded
from phalanx_core.placement.results import (
    LEVEL_SHIFT,
    MANY,
    Moved,
    Placement,
    placed,
)

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

# What stays where it is when a planner takes over the state of another.
_OWN = ("__weakref__", "_inside", "_turn")

# What a job's last change answered is mostly all that the table needs of it.
Entry: TypeAlias = Placement | Repair | Moved


class Inside:
    """Holds the turn of a planner, or whoever else one thread owns, for a call's length.

    The turn is a list of one entry: popping it is atomic, and a tenth of the price of
    a lock that is tried. Who finds it empty gets :class:`ConcurrentUse`.
    """

    __slots__ = ("turn", "who")

    def __init__(self, turn: list[None], who: str = "planner") -> None:
        self.turn = turn
        self.who = who

    def __enter__(self) -> None:
        try:
            self.turn.pop()
        except IndexError:
            raise in_use(self.who) from None
        except BaseException:  # a signal's handler, once the turn was taken
            self.turn.append(None)
            raise

    def __exit__(self, *_: object) -> None:
        self.turn.append(None)


def in_use(who: str = "planner") -> ConcurrentUse:
    """The error of a second caller."""
    return ConcurrentUse(
        f"{who}: another call is still inside; one thread owns a {who}"
    )


def unknown(job: object) -> UnknownJob:
    """The error of a job that is not there."""
    return UnknownJob(f"job {job!r}: the planner holds no such job")


class State:
    """The planner's tables. Methods with a leading underscore expect the turn.

    Invariants, checked by ``validate`` after the core's own:
      P1  every job's slot is held in the core by a gang of its ranks, one job a slot;
          so is that of every handle from before a sync
      P2  every held slot has a job or was filled by a batch, never both
      P3  the leaves in the table of quarantine are those in the core's
      P4  leaves that the topology's word keeps down are down in the core
    """

    __slots__ = (
        "__weakref__",
        "_calls",
        "_core",
        "_fence",
        "_frame",
        "_hit",
        "_inside",
        "_jobs",
        "_names",
        "_outside",
        "_taken",
        "_turn",
        "warnings",
    )

    _frame: Frame
    _core: Any
    warnings: list[str]

    def _start(self, frame: Frame, core: Any) -> None:
        self._frame = frame
        self._core = core
        self.warnings = []
        self._turn: list[None] = [None]
        self._inside = Inside(self._turn)
        self._jobs: dict[Job, Entry] = {}
        # By slot; slots are given out from 0, so the list is dense.
        self._names: list[Job | None] = []
        # Slots that may hold a down leaf; a dict, for its order.
        self._hit: dict[int, None] = {}
        # Leaves that entered quarantine, as a repair's moves or as positions.
        self._taken: list[Repair | tuple[Job | Handle, list[int]]] = []
        self._fence: dict[int, Job | Handle] = {}
        self._outside = Outside()
        self._calls = native.calls(core)

    def _find(self, job: object) -> Entry:
        """A job's entry, or one made for a handle.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        OwnershipError
            If it is a handle that was released.
        """
        if type(job) is Handle:
            return self._find_handle(job)
        entry = self._jobs.get(checked_job(job))
        if entry is None:
            raise unknown(job)
        return entry

    def _find_handle(self, handle: Handle) -> Entry:
        kept = self._outside.handles.get(int(handle))
        if kept is not None:
            return kept
        slot = int(handle) & 0xFFFFFFFF
        current = lib.phx_handle(self._core, slot) if handle >= 0 else -1
        salt = self._outside.salt
        if int(handle) ^ salt != current or self._named(slot) is not None:
            raise OwnershipError(f"{handle!r}: released before, or never placed")
        shape = ffi.new("phx_gang *")
        lib.phx_gang_shape(self._core, slot, shape)
        levels = self._frame.topology.levels
        within = None if shape.within == NONE else levels[shape.within]
        group_level = levels[shape.group_level]
        gang = Gang(shape.ranks, shape.group, group_level, within=within)
        return Moved(slot, gang)

    def _named(self, slot: int) -> Job | None:
        return self._names[slot] if slot < len(self._names) else None

    def _name(self, slot: int) -> Job | Handle:
        """Who holds a slot."""
        name = self._named(slot)
        if name is not None:
            return name
        return Handle(lib.phx_handle(self._core, slot) | self._outside.salt)

    def _set_name(self, slot: int, job: Job) -> None:
        missing = slot + 1 - len(self._names)
        if missing > 0:
            self._names.extend([None] * missing)
        self._names[slot] = job

    def _layout(self, entry: Entry) -> Placement:
        """Where a gang is now."""
        if isinstance(entry, Placement):
            return entry
        slot = entry._slot
        level = int(lib.phx_gang_level(self._core, slot))
        word = slot | level << LEVEL_SHIFT | MANY
        runs = native.gang_runs(self._core, slot)
        return placed(word, entry.gang, self._frame, runs, entry._limits)

    def _down_of(self, slot: int, ranks_only: bool = False) -> list[int]:
        """Positions that a slot holds and that are down, in rank order.

        With alignment "buddy" a gang holds more leaves than it has ranks.
        """
        runs = native.gang_runs(self._core, slot)
        held, states = native.run_states(self._core, runs)
        down = (states >> 2) & 3 == lib.PHX_DOWN
        if ranks_only:
            down[int(lib.phx_gang_ranks(self._core, slot)) :] = False
        return list(map(int, held[down]))

    def _fence_down(self, slot: int, owner: Job | Handle) -> None:
        """Note the leaves that a release is about to put into quarantine."""
        del self._hit[slot]
        down = self._down_of(slot)
        if down:
            self._taken.append((owner, down))

    def _fenced_leaves(self) -> dict[int, Job | Handle]:
        """Position of each quarantined leaf to whom it was taken from."""
        for taken in self._taken:
            if isinstance(taken, Repair):
                owner, left = taken.job, expanded(core_moves(taken._reply))[:, 1]
                self._fence.update(dict.fromkeys(left.tolist(), owner))
            else:
                self._fence.update(dict.fromkeys(taken[1], taken[0]))
        self._taken.clear()
        return self._fence

    def _refuse(
        self, gang: Gang, request: Any, limits: Any, status: int = MISFIT
    ) -> Misfit:
        if gang.parts:
            return refuse_parts(self._frame, self._core, gang, request, limits, status)
        code, records = native.explain(self._core, request, limits)
        limited = limited_levels(self._frame, limits)
        return Misfit(MisfitCode(code), gang, self._frame, records, limited=limited)

    def _copy_to(self, other: State) -> None:
        """Fill a new state with copies of this one's tables and core."""
        other._start(self._frame, native.clone(self._core))
        other.warnings = list(self.warnings)
        other._jobs = dict(self._jobs)
        other._names = list(self._names)
        other._hit = dict(self._hit)
        other._fence = dict(self._fenced_leaves())
        other._outside = self._outside.copy()

    def _take_over(self, other: State) -> None:
        """Hold what another holds, which must not be used any more."""
        for name in State.__slots__:
            if name not in _OWN:
                setattr(self, name, getattr(other, name))

    def _check_tables(self) -> None:
        states = native.leaf_states(self._core, 0, self._frame.leaf_count)
        kinds = states & 3
        slots = set((states[kinds == lib.PHX_JOB] >> 8).tolist())
        kept = ((Handle(one), entry) for one, entry in self._outside.handles.items())
        for job, entry in (*self._jobs.items(), *kept):
            slot, wanted = entry._slot, entry.gang.ranks
            ranks = int(lib.phx_gang_ranks(self._core, slot))
            if ranks != wanted or self._named(slot) != job:
                raise InvariantBroken(
                    "P1", f"job {job!r} of {wanted} ranks has slot {slot} of {ranks}"
                )
        unnamed = lib.phx_gang_is_unnamed
        marked = [slot for slot in slots if unnamed(self._core, slot)]
        named = [at for at, job in enumerate(self._names) if job is not None]
        names = len(self._jobs) + len(self._outside.handles)
        if sorted(slots) != sorted(named + marked) or len(named) != names:
            raise InvariantBroken("P2", "slots of the core and of the tables differ")
        quarantined = set(np.flatnonzero(kinds == lib.PHX_QUARANTINE).tolist())
        if quarantined != set(self._fenced_leaves()):
            raise InvariantBroken(
                "P3", "quarantine of the core and of the table differ"
            )
        for at in self._outside.barred:
            if (int(states[at]) >> 2) & 3 != DOWN:
                raise InvariantBroken("P4", f"position {at} is barred and not down")

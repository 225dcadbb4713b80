"""What a planner holds beside the core: who is in which slot, and who was fenced."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.errors import (
    ConcurrentUse,
    InvariantBroken,
    OwnershipError,
    UnknownJob,
)
from phalanx_core.native import ffi, lib
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job, checked_job
from phalanx_core.placement.misfit import Misfit, MisfitCode
from phalanx_core.placement.repair import HEAD_SIZE, core_moves, expanded
from phalanx_core.placement.results import LEVEL_SHIFT, MANY, SLOT, positions_of

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.limits import VertexLimits

# The word of phx_place, the gang, its limits, its runs where there are several.
Entry: TypeAlias = tuple[int, Gang, "VertexLimits | None", bytes | None]
# Set in an entry's word once a repair moved the gang: only the core knows its leaves.
MOVED = 1 << 48
# Moves that the one copy of the hot path takes along.
MOVES_COPIED = 8


class Turn:
    """Who is inside a planner: one call at a time, or :class:`ConcurrentUse`."""

    __slots__ = ("enter", "leave")

    def __init__(self) -> None:
        lock = threading.Lock()
        self.enter = lock.acquire
        self.leave = lock.release

    def __enter__(self) -> None:
        if not self.enter(False):
            raise in_use()

    def __exit__(self, *_: object) -> None:
        self.leave()


def in_use() -> ConcurrentUse:
    """The error of a second caller."""
    return ConcurrentUse(
        "planner: another call is still inside; one thread owns a planner"
    )


class State:
    """The planner's tables. Methods with a leading underscore expect the turn.

    Invariants, checked by ``validate`` after the core's own:
      P1  every job's slot is held in the core by a gang of its ranks, one job a slot
      P2  every held slot has a job or is marked anonymous, never both
      P3  the leaves in the table of quarantine are those in the core's
    """

    __slots__ = (
        "__weakref__",
        "_anonymous",
        "_core",
        "_enter",
        "_fence",
        "_frame",
        "_hit",
        "_jobs",
        "_leave",
        "_moves",
        "_names",
        "_repair",
        "_reply",
        "_room",
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
        self._turn = Turn()
        self._enter = self._turn.enter
        self._leave = self._turn.leave
        self._jobs: dict[Job, Entry] = {}
        self._names: dict[int, Job] = {}
        # Slots that may hold a down leaf; a dict, for its order.
        self._hit: dict[int, None] = {}
        # Leaves that entered quarantine, as an answer's moves or as positions.
        self._taken: list[tuple[Job | Handle, Any]] = []
        self._fence: dict[int, Job | Handle] = {}
        self._anonymous: NDArray[np.uint8] | None = None
        self._make_room(4 * MOVES_COPIED)

    def _make_room(self, moves: int) -> None:
        """Buffers of phx_replan: its answer and its moves side by side."""
        self._room = moves
        block = ffi.new("char[]", HEAD_SIZE + native.MOVE.itemsize * moves)
        self._repair = ffi.cast("phx_repair *", block)
        self._moves = ffi.cast("phx_move *", block + HEAD_SIZE)
        # The buffer keeps the block alive, the two pointers do not.
        self._reply = ffi.buffer(block)

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
            raise UnknownJob(f"job {job!r}: the planner holds no such job")
        return entry

    def _find_handle(self, handle: Handle) -> Entry:
        slot = int(handle) & 0xFFFFFFFF
        current = lib.phx_handle(self._core, slot) if handle >= 0 else -1
        if int(handle) != current or slot in self._names:
            raise OwnershipError(f"{handle!r}: released before, or never placed")
        gang = Gang(int(lib.phx_gang_ranks(self._core, slot)))
        return (slot | MOVED, gang, None, None)

    def _name(self, slot: int) -> Job | Handle:
        """Who holds a slot."""
        name = self._names.get(slot)
        return Handle(lib.phx_handle(self._core, slot)) if name is None else name

    def _layout(self, entry: Entry) -> tuple[int, bytes | None]:
        """Word and runs of a gang as it lies now."""
        packed = entry[0]
        if packed < MOVED:
            return packed, entry[3]
        slot = packed & SLOT
        level = int(lib.phx_gang_level(self._core, slot))
        return slot | level << LEVEL_SHIFT | MANY, native.gang_runs(self._core, slot)

    def _held(self, slot: int) -> NDArray[np.uint32]:
        """Positions that a slot holds, those beyond its ranks included."""
        runs = native.gang_runs(self._core, slot)
        count = int(np.frombuffer(runs, native.RUN)["count"].sum())
        return positions_of(0, count, runs).astype(np.uint32)

    def _down_of(self, slot: int) -> NDArray[np.uint32]:
        """Positions that a slot holds and that are down, in rank order."""
        held = self._held(slot)
        states = native.states_of(self._core, held)
        down: NDArray[np.uint32] = held[(states >> 2) & 3 == lib.PHX_DOWN]
        return down

    def _fence_down(self, slot: int, owner: Job | Handle) -> None:
        """Note the leaves that a release is about to put into quarantine."""
        del self._hit[slot]
        down = self._down_of(slot)
        if down.size:
            self._taken.append((owner, down))

    def _fenced_leaves(self) -> dict[int, Job | Handle]:
        """Position of each quarantined leaf to whom it was taken from."""
        for owner, what in self._taken:
            left = expanded(core_moves(what))[:, 1] if isinstance(what, bytes) else what
            self._fence.update(dict.fromkeys(left.tolist(), owner))
        self._taken.clear()
        return self._fence

    def _refuse(self, gang: Gang, request: Any, limits: Any) -> Misfit:
        code, records = native.explain(self._core, request, limits)
        return Misfit(MisfitCode(code), gang, self._frame, records)

    def _copy_to(self, other: State) -> None:
        """Fill a new state with copies of this one's tables and core."""
        other._start(self._frame, native.clone(self._core))
        other.warnings = list(self.warnings)
        other._jobs = dict(self._jobs)
        other._names = dict(self._names)
        other._hit = dict(self._hit)
        other._fence = dict(self._fenced_leaves())
        if self._anonymous is not None:
            other._anonymous = self._anonymous.copy()

    def _check_tables(self) -> None:
        states = native.leaf_states(self._core, 0, self._frame.leaf_count)
        kinds = states & 3
        slots = set((states[kinds == lib.PHX_JOB] >> 8).tolist())
        for job, (packed, gang, _, _) in self._jobs.items():
            slot = packed & SLOT
            ranks = int(lib.phx_gang_ranks(self._core, slot))
            if ranks != gang.ranks or self._names.get(slot) != job:
                raise InvariantBroken(
                    "P1",
                    f"job {job!r} of {gang.ranks} ranks has slot {slot} of {ranks}",
                )
        marked: list[int] = []
        if self._anonymous is not None:
            marked = np.flatnonzero(self._anonymous).tolist()
        named = list(self._names)
        if sorted(slots) != sorted(named + marked) or len(named) != len(self._jobs):
            raise InvariantBroken("P2", "slots of the core and of the tables differ")
        quarantined = set(np.flatnonzero(kinds == lib.PHX_QUARANTINE).tolist())
        if quarantined != set(self._fenced_leaves()):
            raise InvariantBroken(
                "P3", "quarantine of the core and of the table differ"
            )

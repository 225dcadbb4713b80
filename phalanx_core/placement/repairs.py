"""Replan, plans and drains: how a broken gang gets healthy leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core import native
from phalanx_core.errors import OwnershipError
from phalanx_core.native import MISFIT, ffi, lib
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import Limits, copied, limited_levels
from phalanx_core.placement.misfit import Misfit, MisfitCode
from phalanx_core.placement.parts import members
from phalanx_core.placement.repair import (
    CHAIN_MAX,
    HEAD_SIZE,
    Repair,
    Rest,
    core_moves,
    expanded,
)
from phalanx_core.placement.results import Moved, Placement
from phalanx_core.placement.shortfall import shortfall
from phalanx_core.placement.state import (
    Entry,
    State,
    in_use,
    unknown,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NULL = ffi.NULL
APPLY: int = lib.PHX_REPLAN_APPLY
PARTIAL: int = lib.PHX_REPLAN_PARTIAL
_WIDEN: int = lib.PHX_REPLAN_WIDEN
CORDONED: int = lib.PHX_REPLAN_CORDONED
_NO_LEAVES: tuple[int, ...] = ()


class Repairs(State):
    """The part of a planner that repairs; see :class:`Planner`."""

    __slots__ = ()

    def replan(
        self,
        job: Job,
        failed: object = _NO_LEAVES,
        partial: bool = False,
        widen: bool = False,
        limits: Limits | None = None,
        apply: bool = True,
    ) -> Repair | Misfit:
        """Give the ranks of a job that lost their leaf another one.

        Only the groups that lost a leaf move, and of those, where their own domain has
        room, only the dead ranks. While any rank survives, the gang stays in the
        ``within`` domain (else the tree) that it is in.

        Parameters
        ----------
        job
            A job of this planner; a whole one is repaired by no moves.
        failed
            Leaves of the job, ids or names, to count as dead beside those that are
            down; they are marked down with the repair, not when it is refused.
        partial
            Repair what can be repaired, and name the rest in ``unresolved``.
        widen
            Let a slice without a place take the slice around it along, survivors and
            all, where nothing less is found.
        limits
            As for :meth:`place`, in the stead of those the job was placed with, for
            this repair. They bind what it adds.
        apply
            False: a plan for :meth:`apply`; nothing changes.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        OwnershipError
            If the job does not hold a leaf of ``failed``.
        InvalidRequest
            If a leaf does not exist or the limits do not match.

        Notes
        -----
        O(levels) for a unit with room nearby, O(hosts) at worst.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> _ = planner.place("a", Gang(3))
        >>> plan = planner.replan("a", failed=[1], apply=False)
        >>> plan.moves.tolist(), planner.apply(plan), planner.placement("a").leaves
        ([[1, 1, 3]], None, array([0, 3, 2], dtype=int32))
        """
        try:
            self._turn.pop()
        except IndexError:
            raise in_use() from None
        except BaseException:  # a signal's handler, once the turn was taken
            self._turn.append(None)
            raise
        try:
            kind = type(job)
            if kind is not str and kind is not int:
                return self._replan_checked(job, failed, partial, widen, limits, apply)
            try:
                entry = self._jobs[job]
            except KeyError:
                raise unknown(job) from None
            if (
                entry._limits is not None
                or failed is not _NO_LEAVES
                or partial
                or widen
                or limits is not None
                or not apply
            ):
                return self._replan_checked(job, failed, partial, widen, limits, apply)
            depth = 0
            before: Placement | Repair
            if type(entry) is Placement:
                before = entry
            elif type(entry) is Repair and entry._depth < CHAIN_MAX:
                before = entry
                depth = entry._depth + 1
            else:
                before = self._layout(entry)
            slot = entry._slot
            reply = self._calls.replan(slot)
            if reply is None:
                return self._replan_checked(job, failed, partial, widen, limits, apply)
            repair = Repair()
            repair.job = job
            repair._slot = slot
            repair._before = before
            repair._depth = depth
            repair._limits = repair._rest = None
            repair._reply = reply
            if len(reply) > HEAD_SIZE:
                self._jobs[job] = repair
                self._taken.append(repair)
            return repair
        finally:
            self._turn.append(None)

    def _replan_checked(
        self,
        job: Job,
        failed: object,
        partial: bool,
        widen: bool,
        limits: Any,
        apply: bool,
    ) -> Repair | Misfit:
        entry = self._find(job)
        positions = self._lost_leaves(job, entry, failed)
        pointer = self._limits_for(entry, limits)
        flags = (PARTIAL if partial else 0) | (APPLY if apply else 0)
        flags |= _WIDEN if widen else 0
        return self._replan_slot(self._core, job, positions, pointer, flags)

    def _limits_for(self, entry: Entry, limits: Limits | None) -> Any:
        """What the core reads: the call's limits, else those of the job."""
        bound = entry._limits if limits is None else self._frame.limits(copied(limits))
        return _NULL if bound is None else bound.pointer

    def _lost_leaves(self, job: Job, entry: Entry, failed: object) -> Any:
        """Positions of ``failed``, every one of them held by the job."""
        subject = f"replan({job!r})"
        positions = self._frame.positions(failed, subject)
        if not positions.size:
            return positions
        slot = entry._slot
        for position in positions.tolist():
            state = int(lib.phx_leaf_state(self._core, position))
            if state & 3 != lib.PHX_JOB or state >> 8 != slot:
                leaf = int(self._frame.leaf_ids(np.array([position]))[0])
                raise OwnershipError(f"{subject}: leaf {leaf} is not held by the job")
        return positions

    def _replan_slot(
        self, core: Any, job: Job | Handle, failed: Any, limits: Any, flags: int
    ) -> Repair | Misfit:
        """Replan with every option, on this planner's core or a copy of it."""
        before = self._layout(self._find(job))
        slot = before._slot
        runs = as_runs(failed)
        _, request, _ = self._frame.compiled(before.gang, core)
        status, reply = native.replan(
            core, slot, request, runs, limits, flags=flags, ranks=before.gang.ranks
        )
        answer = np.frombuffer(reply, native.REPAIR, 1)[0]
        if status:
            if status != MISFIT:
                raise native.failure(status, f"replan({job!r})")
            lost = self._lost_ranks(core, before, failed, flags)
            proven = bool(answer["proven"])
            return self._unrepaired(core, job, before, lost, limits, proven)
        repair = Repair()
        repair.job, repair._before, repair._rest = job, before, None
        repair._depth = 0
        repair._token = int(lib.phx_handle(core, slot))
        repair._slot, repair._limits = slot, before._limits
        repair._reply = reply
        unresolved = np.empty(0, np.int32)
        if answer["unresolved"]:
            moved = expanded(core_moves(repair._reply))[:, 0]
            lost = self._lost_ranks(core, before, failed, flags)
            unresolved = np.setdiff1d(lost, moved).astype(np.int32)
        if runs or unresolved.size:
            repair._rest = Rest(runs, unresolved)
            if unresolved.size:
                repair._rest.reason = self._shortfall(
                    core, job, before, unresolved, None
                )
        if flags & APPLY and core is self._core:
            self._note_repair(repair, before)
        return repair

    def _lost_ranks(
        self, core: Any, before: Placement, failed: Any, flags: int
    ) -> NDArray[np.int64]:
        """Ranks whose leaf is lost; their leaves tell it after a repair as well."""
        positions = before._positions().astype(np.uint32)
        states = native.states_of(core, positions)
        lost = (states >> 2) & 3 == lib.PHX_DOWN
        if flags & CORDONED:
            lost |= (states >> 4) & 1 == 1
        return np.flatnonzero(lost | np.isin(positions, failed))

    def _note_repair(self, repair: Repair, entry: Entry) -> None:
        """Tables after moves were made: the job's entry, and leaves to fence."""
        job, slot = repair.job, entry._slot
        resized = repair._resized
        if core_moves(repair._reply):
            self._taken.append(repair)
        if resized is not None:
            ends = np.delete(repair._before._positions(), resized.kept)
            if ends.size:
                self._taken.append((job, ends.tolist()))
        changed = resized is not None or core_moves(repair._reply)
        if changed and not isinstance(job, Handle):
            self._jobs[job] = Moved(slot, repair.gang, entry._limits)
        if repair._rest is not None and repair._rest.failed:
            self._hit[slot] = None

    def _unrepaired(
        self,
        core: Any,
        job: Job | Handle,
        before: Placement,
        lost: NDArray[np.int64],
        limits: Any,
        proven: bool,
    ) -> Misfit:
        gang = before.gang
        hit = [at for at, ranks in enumerate(gang.part_ranks) if lost[0] in ranks]
        part = members(gang)[hit[0]]
        ranks = part.slices[0][0] if part.slices else part.group
        unit = Gang(
            ranks, part.group, part.group_level, part.slices[:1], within=part.within
        )
        _, request, _ = self._frame.compile(unit, core)
        _, records = native.explain(core, request, limits)
        return Misfit(
            MisfitCode.REPLACEMENT,
            gang,
            self._frame,
            records,
            reason=self._shortfall(core, job, before, lost, limits),
            proven=proven,
        )

    def _shortfall(
        self,
        core: Any,
        job: Job | Handle,
        before: Placement,
        lost: NDArray[Any],
        limits: Any,
    ) -> str:
        """A sentence; limits None where other moves may be what is in the way."""
        positions = before._positions()
        limited = None if limits is None else limited_levels(self._frame, limits)
        told = shortfall(self._frame, core, before.gang, positions, lost, limited)
        return f"job {job!r}: {told}"


def as_runs(positions: NDArray[np.uint32]) -> bytes:
    """Positions as runs of consecutive ones, ascending: :data:`RUN` records."""
    if not positions.size:
        return b""
    ascending = np.sort(positions)
    if int(ascending[-1]) - int(ascending[0]) == ascending.size - 1:
        return native.RUN_WORDS.pack(int(ascending[0]), ascending.size)
    starts = np.flatnonzero(np.append(True, np.diff(ascending) != 1))
    runs = np.empty(starts.size, native.RUN)
    runs["first"] = ascending[starts]
    runs["count"] = np.diff(np.append(starts, ascending.size))
    return runs.tobytes()

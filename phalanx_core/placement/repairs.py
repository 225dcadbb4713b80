"""Replan, plans and drains: how a broken gang gets healthy leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, OwnershipError, StalePlan, UnknownJob
from phalanx_core.native import MISFIT, ffi, lib
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import Limits, copied
from phalanx_core.placement.misfit import Misfit, MisfitCode
from phalanx_core.placement.repair import (
    HEAD_SIZE,
    DrainPlan,
    Repair,
    core_moves,
    expanded,
)
from phalanx_core.placement.results import SLOT, positions_of
from phalanx_core.placement.shortfall import shortfall
from phalanx_core.placement.state import MOVED, MOVES_COPIED, Entry, State, in_use

if TYPE_CHECKING:
    from numpy.typing import NDArray

_replan = lib.phx_replan
_NULL = ffi.NULL
_APPLY: int = lib.PHX_REPLAN_APPLY
_PARTIAL: int = lib.PHX_REPLAN_PARTIAL
_CORDONED: int = lib.PHX_REPLAN_CORDONED
_MOVE_SIZE = native.MOVE.itemsize
_COPIED = HEAD_SIZE + MOVES_COPIED * _MOVE_SIZE
_NO_LEAVES: tuple[int, ...] = ()


class Repairs(State):
    """The part of a planner that repairs; see :class:`Planner`."""

    __slots__ = ()

    def replan(
        self,
        job: Job,
        failed: object = _NO_LEAVES,
        *,
        partial: bool = False,
        limits: Limits | None = None,
        apply: bool = True,
    ) -> Repair | Misfit:
        """Give the ranks of a job that lost their leaf another one.

        Only the groups that lost a leaf move, and of those, where their own domain has
        room, only the dead ranks; survivors stay where they are.

        Parameters
        ----------
        job
            A job of this planner; a whole one is repaired by no moves.
        failed
            Leaves of the job, ids or names, to count as dead beside those that are
            down; they are marked down with the repair.
        partial
            Repair what can be repaired, and name the rest in ``unresolved``.
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
        if not self._enter(False):
            raise in_use()
        try:
            kind = type(job)
            entry = self._jobs.get(job) if kind is str or kind is int else None
            if (
                entry is None
                or entry[0] >= MOVED
                or entry[2] is not None
                or failed is not _NO_LEAVES
                or partial
                or limits is not None
                or not apply
                or entry[1].ranks > self._room
            ):
                return self._replan_checked(job, failed, partial, limits, apply)
            packed, gang, _, runs = entry
            slot = packed & SLOT
            status: int = _replan(
                self._core,
                slot,
                _NULL,
                0,
                _NULL,
                _APPLY,
                self._moves,
                self._room,
                self._repair,
            )
            if status:
                return self._unrepaired(status, job, entry, b"", _NULL, 0)
            reply = self._reply[:_COPIED]
            moves = self._repair.moves
            if moves:
                if moves > MOVES_COPIED:
                    reply = self._whole_reply()
                self._jobs[job] = (slot | MOVED, gang, None, None)
                self._taken.append((job, reply))
            return Repair(job, gang, self._frame, reply, (packed, runs))
        finally:
            self._leave()

    def _whole_reply(self) -> bytes:
        return bytes(self._reply[: HEAD_SIZE + _MOVE_SIZE * self._repair.moves])

    def _replan_checked(
        self, job: Job, failed: object, partial: bool, limits: Any, apply: bool
    ) -> Repair | Misfit:
        entry = self._find(job)
        positions = self._lost_leaves(job, entry, failed)
        bound = entry[2]
        if limits is not None:
            bound = self._frame.limits(copied(limits))
        pointer = _NULL if bound is None else bound.pointer
        flags = (_PARTIAL if partial else 0) | (_APPLY if apply else 0)
        return self._replan_slot(self._core, job, positions, pointer, flags)

    def _lost_leaves(self, job: Job, entry: Entry, failed: object) -> Any:
        """Positions of ``failed``, every one of them held by the job."""
        subject = f"replan({job!r})"
        positions = self._frame.positions(failed, subject)
        if not positions.size:
            return positions
        states = native.states_of(self._core, positions)
        slot = entry[0] & SLOT
        mine = ((states & 3) == lib.PHX_JOB) & (states >> 8 == slot)
        if not mine.all():
            leaf = int(self._frame.leaf_ids(positions[~mine])[0])
            raise OwnershipError(f"{subject}: leaf {leaf} is not held by the job")
        return positions

    def _replan_slot(
        self, core: Any, job: Job | Handle, failed: Any, limits: Any, flags: int
    ) -> Repair | Misfit:
        """Replan with every option, on this planner's core or a copy of it."""
        entry = self._find(job)
        before = self._layout(entry)
        gang = entry[1]
        if gang.ranks > self._room:
            self._make_room(gang.ranks)
        runs = as_runs(failed)
        slot = entry[0] & SLOT
        lost = self._lost_ranks(core, before, gang, failed, flags)
        status = _replan(
            core,
            slot,
            _NULL if not runs else ffi.from_buffer("phx_run[]", runs),
            len(runs) // native.RUN.itemsize,
            limits,
            flags,
            self._moves,
            self._room,
            self._repair,
        )
        if status:
            return self._unrepaired(status, job, entry, lost, limits, flags)
        repair = Repair(job, gang, self._frame, self._whole_reply(), before)
        repair._failed = runs
        self._tell_unresolved(repair, lost)
        if flags & _APPLY and core is self._core:
            self._note_repair(repair)
        return repair

    def _lost_ranks(
        self,
        core: Any,
        before: tuple[int, bytes | None],
        gang: Gang,
        failed: Any,
        flags: int,
    ) -> NDArray[np.int64]:
        """Ranks that need another leaf, before anything moves."""
        positions = positions_of(before[0], gang.ranks, before[1]).astype(np.uint32)
        states = native.states_of(core, positions)
        lost = (states >> 2) & 3 == lib.PHX_DOWN
        if flags & _CORDONED:
            lost |= (states >> 4) & 1 == 1
        return np.flatnonzero(lost | np.isin(positions, failed))

    def _tell_unresolved(self, repair: Repair, lost: NDArray[np.int64]) -> None:
        if self._repair.unresolved:
            moved = expanded(core_moves(repair._reply))[:, 0]
            left = np.setdiff1d(lost, moved)
            repair._unresolved = left.astype(np.int32)
            repair.reason = self._shortfall(
                repair.job, repair.gang, repair._before, left
            )

    def _note_repair(self, repair: Repair) -> None:
        """Tables after moves were made: the word is stale, leaves are fenced."""
        job = repair.job
        if core_moves(repair._reply):
            self._taken.append((job, repair._reply))
        if isinstance(job, Handle):
            return
        packed, gang, bound, _ = self._jobs[job]
        slot = packed & SLOT
        if core_moves(repair._reply):
            self._jobs[job] = (slot | MOVED, gang, bound, None)
        if repair._failed:
            self._hit[slot] = None

    def _unrepaired(
        self,
        status: int,
        job: Job | Handle,
        entry: Entry,
        lost: Any,
        limits: Any,
        flags: int,
    ) -> Misfit:
        if status != MISFIT:
            raise native.failure(status, f"replan({job!r})")
        proven = bool(self._repair.proven)
        before = self._layout(entry)
        gang = entry[1]
        if isinstance(lost, bytes):
            lost = self._lost_ranks(self._core, before, gang, (), flags)
        unit = Gang(gang.group, gang.group, gang.group_level, gang.within)
        _, request, _ = self._frame.compile(unit, self._core)
        _, records = native.explain(self._core, request, limits)
        reason = self._shortfall(job, gang, before, lost)
        return Misfit(
            MisfitCode.REPLACEMENT,
            gang,
            self._frame,
            records,
            reason=reason,
            proven=proven,
        )

    def _shortfall(
        self,
        job: Job | Handle,
        gang: Gang,
        before: tuple[int, bytes | None],
        lost: NDArray[np.int64],
    ) -> str:
        positions = positions_of(before[0], gang.ranks, before[1])
        told = shortfall(self._frame, self._core, gang, positions, lost)
        return f"job {job!r}: {told}"

    def apply(self, plan: Repair | DrainPlan) -> None:
        """Commit a plan that was made with ``apply=False``.

        Parameters
        ----------
        plan
            A repair, or a drain with all its repairs: all or nothing.

        Raises
        ------
        StalePlan
            If a leaf or the job changed since the plan was made.
        InvalidRequest
            If it is no plan, or a plan of another topology.
        """
        with self._turn:
            if isinstance(plan, DrainPlan):
                self._apply_drain(plan)
            elif isinstance(plan, Repair):
                self._commit(self._core, plan)
                self._note_repair(plan)
            else:
                raise InvalidRequest(f"plan {plan!r}: a Repair or a DrainPlan")

    def _commit(self, core: Any, plan: Repair) -> None:
        subject = f"plan for job {plan.job!r}"
        if plan._frame is not self._frame and (
            plan._frame.topology != self._frame.topology
            or plan._frame.type != self._frame.type
        ):
            raise InvalidRequest(f"{subject}: made on another topology or type")
        try:
            entry = self._find(plan.job)
        except (UnknownJob, OwnershipError):
            raise StalePlan(f"{subject}: the job is gone") from None
        if entry[1].ranks != plan.gang.ranks:
            raise StalePlan(f"{subject}: the job is another one by now")
        moves, failed = core_moves(plan._reply), plan._failed
        status = lib.phx_apply(
            core,
            entry[0] & SLOT,
            ffi.from_buffer("phx_move[]", moves) if moves else _NULL,
            len(moves) // _MOVE_SIZE,
            ffi.from_buffer("phx_run[]", failed) if failed else _NULL,
            len(failed) // native.RUN.itemsize,
        )
        native.check(status, subject)

    def drain(self, leaves: object, apply: bool = True) -> DrainPlan:
        """Cordon leaves and move the jobs off them.

        Parameters
        ----------
        leaves
            Ids or names.
        apply
            False: a plan for :meth:`apply`; nothing changes, the cordon included.

        Returns
        -------
        DrainPlan
            Job to Repair or Misfit, in order of the leaves. A job that cannot leave
            keeps its leaves.

        Raises
        ------
        InvalidRequest
            If a leaf does not exist or is listed twice.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> _ = planner.place("a", Gang(2))
        >>> {job: len(done.moves) for job, done in planner.drain([0, 1]).items()}
        {'a': 2}
        """
        with self._turn:
            positions = self._frame.positions(leaves, "drain")
            core = self._core if apply else native.clone(self._core)
            owners = native.health_change(core, lib.PHX_CORDON, positions, "drain")
            plan = DrainPlan(self._frame.leaf_ids(positions))
            none = np.empty(0, np.uint32)
            for slot in dict.fromkeys(owners[owners != native.NONE].tolist()):
                job = self._name(slot)
                bound = self._find(job)[2]
                pointer = _NULL if bound is None else bound.pointer
                flags = _CORDONED | _APPLY
                plan[job] = self._replan_slot(core, job, none, pointer, flags)
            return plan

    def _apply_drain(self, plan: DrainPlan) -> None:
        positions = self._frame.positions(plan.leaves, "drain")
        repairs = [repair for repair in plan.values() if isinstance(repair, Repair)]
        # Tried on a copy first, so that a stale part leaves everything as it is.
        for core in (native.clone(self._core), self._core):
            native.health_change(core, lib.PHX_CORDON, positions, "drain")
            for repair in repairs:
                self._commit(core, repair)
        for repair in repairs:
            self._note_repair(repair)


def as_runs(positions: NDArray[np.uint32]) -> bytes:
    """Positions as runs of consecutive ones, ascending: :data:`RUN` records."""
    if not positions.size:
        return b""
    ascending = np.sort(positions)
    starts = np.flatnonzero(np.append(True, np.diff(ascending) != 1))
    runs = np.empty(starts.size, native.RUN)
    runs["first"] = ascending[starts]
    runs["count"] = np.diff(np.append(starts, ascending.size))
    return runs.tobytes()

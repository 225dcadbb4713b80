"""Gangs that change their size: shrinking repairs, and ``Planner.resize``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import MISFIT, ffi, lib
from phalanx_core.placement.commits import Commits
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import Limits
from phalanx_core.placement.misfit import Misfit, MisfitCode, plural
from phalanx_core.placement.repair import Repair, Resized, Rest, core_moves, expanded
from phalanx_core.placement.repairs import PARTIAL, as_runs
from phalanx_core.placement.results import Placement
from phalanx_core.placement.rooms import rooms

_NULL = ffi.NULL


class Resizes(Commits):
    """The part of a planner that changes sizes; see :class:`Planner`."""

    __slots__ = ()

    def resize(
        self, job: Job, ranks: int, limits: Limits | None = None, apply: bool = True
    ) -> Repair | Misfit:
        """Give a job another of its gang's sizes.

        Where it shrinks, its slices (else groups) that lost a leaf end first, then the
        highest; the ranks that stay are numbered anew in order. Where it grows, the new
        ranks come behind the others, as near as there is room.

        Parameters
        ----------
        job
            A job of this planner.
        ranks
            ``gang.ranks`` or one of ``gang.templates``, as the job was asked for.
        limits
            As for :meth:`place`, in the stead of those it was placed with.
        apply
            False: a plan for :meth:`apply`; nothing changes.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        InvalidRequest
            If the gang has no such size, or the limits do not match.

        Notes
        -----
        Leaves of ranks that end are in quarantine until ``fenced``. O(hosts).

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:4 gpu:2"))
        >>> _ = planner.place("a", Gang(6, group=2, templates=(4, 2)))
        >>> planner.resize("a", 4).kept.tolist(), planner.fenced("a").tolist()
        ([0, 1, 2, 3], [4, 5])
        >>> planner.resize("a", 6).moves.tolist()
        [[4, -1, 4], [5, -1, 5]]
        """
        with self._inside:
            entry = self._find(job)
            before = self._layout(entry)
            target = before.gang.at(ranks)
            pointer = self._limits_for(entry, limits)
            if target.ranks > before.gang.ranks:
                plan = self._grown(job, before, target, pointer)
            elif target.ranks < before.gang.ranks:
                none = np.empty(0, np.uint32)
                lost = self._lost_ranks(self._core, before, none, 0)
                ends = _ending(before.gang, target, lost // before.gang.outermost)
                plan = self._plan(job, before, _stay(before.gang, target, ends, lost))
            else:
                plan = self._plan(job, before, None)
            if plan and apply:
                self._enact(plan, before)
            return plan

    def _replan_checked(
        self,
        job: Job,
        failed: object,
        partial: bool,
        widen: bool,
        limits: Any,
        apply: bool,
    ) -> Repair | Misfit:
        result = super()._replan_checked(job, failed, partial, widen, limits, apply)
        if result or partial:
            return result
        before = self._layout(self._find(job))
        if not before.gang.templates:
            return result
        positions = self._lost_leaves(job, before, failed)
        pointer = self._limits_for(before, limits)
        plan = self._shrunk(job, before, positions, pointer)
        if plan is None:
            return result
        if apply:
            self._enact(plan, before)
        return plan

    def _shrunk(
        self, job: Job, before: Placement, failed: Any, limits: Any
    ) -> Repair | None:
        """A plan that ends what cannot be repaired, at the largest template that does."""
        gang = before.gang
        part = self._replan_slot(self._core, job, failed, limits, PARTIAL)
        lost = self._lost_ranks(self._core, before, failed, 0)
        moves = np.empty((0, 3), np.int32)
        hit = lost // gang.outermost
        if part:
            moves = expanded(core_moves(part._reply))
            hit = part.unresolved.astype(np.int64) // gang.outermost
        for size in gang.templates:
            target = gang.at(size)
            ends = _ending(gang, target, hit)
            if np.isin(hit, ends).all():
                resized = _stay(gang, target, ends, lost)
                moves = moves[np.isin(moves[:, 0], resized.kept)]
                dead = int(np.isin(lost, moves[:, 0]).sum())
                return self._plan(job, before, resized, moves, dead, failed)
        return None

    def _grown(
        self, job: Job, before: Placement, target: Gang, limits: Any
    ) -> Repair | Misfit:
        gang = before.gang
        more = _alone(gang, target.ranks - gang.ranks)
        _, request, _ = self._frame.compiled(more, self._core)
        runs = ffi.new("phx_run[]", more.ranks)
        count = ffi.new("uint32_t *")
        status = lib.phx_grow_plan(
            self._core, before._slot, request, limits, runs, more.ranks, count
        )
        if status == MISFIT:
            return self._no_growth(job, before, more, request, limits)
        native.check(status, f"resize({job!r})")
        table = bytes(ffi.buffer(runs, native.RUN.itemsize * count[0]))
        kept = np.arange(gang.ranks, dtype=np.int32)
        return self._plan(job, before, Resized(target, kept, more, table))

    def _no_growth(
        self, job: Job, before: Placement, more: Gang, request: Any, limits: Any
    ) -> Misfit:
        frame = self._frame
        _, within, _ = frame.levels(before.gang)
        level = len(frame.topology.levels) - 1 if within is None else within
        vertex = frame.vertex_at(level, int(before._positions()[0]))
        states = native.leaf_states(self._core, 0, frame.leaf_count)
        room = rooms(frame, level, (states >> 5) & 1, frame.chain(more))
        name = frame.vertex_name(level, vertex) or f"a {frame.topology.levels[level]}"
        _, records = native.explain(self._core, request, limits)
        reason = (
            f"job {job!r}: no room for {plural(more.ranks, 'rank')} more: {name} has "
            f"room for {int(room[vertex])}"
        )
        if room[vertex] >= more.ranks:
            reason += ", which its limits forbid"
        return Misfit(MisfitCode.CAPACITY, more, frame, records, reason=reason)

    def _plan(
        self,
        job: Job | Handle,
        before: Placement,
        resized: Resized | None,
        moves: NDArray[np.int32] | None = None,
        dead: int = 0,
        failed: Any = None,
    ) -> Repair:
        """A repair that was put together here.

        Moves are rows of rank, position left, position taken; ``dead`` of their ranks
        had lost their leaf.
        """
        rows = np.empty((0, 3), np.int32) if moves is None else moves
        table = np.ones(len(rows), native.MOVE)
        for at, name in enumerate(("rank", "from", "to")):
            table[name] = rows[:, at]
        head = np.zeros(1, native.REPAIR)
        head["moves"] = head["moved"] = len(rows)
        head["dead"] = dead
        head["level_before"] = head["level_after"] = before.level
        head["proven"] = 1
        head["spares_used"] = self._spares_among(rows[:, 2])
        repair = Repair()
        repair.job, repair._before, repair._depth = job, before, 0
        repair._slot, repair._limits = before._slot, before._limits
        repair._token = int(lib.phx_handle(self._core, before._slot))
        repair._reply = head.tobytes() + table.tobytes()
        runs = b"" if failed is None else as_runs(failed)
        repair._rest = None
        if resized is not None or runs:
            repair._rest = Rest(runs, resized=resized)
        return repair

    def _spares_among(self, positions: NDArray[np.int32]) -> int:
        """How many spare domains these leaves are in."""
        levels = self._frame.spares_levels
        if levels is None or not positions.size:
            return 0
        states = native.states_of(self._core, positions.astype(np.uint32))
        size = self._frame.topology.level_index(levels[1])
        spare = positions[states & 3 == lib.PHX_SPARE].tolist()
        return len({self._frame.vertex_at(size, position) for position in spare})

    def _enact(self, plan: Repair, before: Placement) -> None:
        self._commit(self._core, plan)
        self._note_repair(plan, before)
        del plan._token


def _ending(gang: Gang, target: Gang, hit: NDArray[Any]) -> NDArray[np.int64]:
    """Units of the gang that end: those hit first, by number, then the highest."""
    units = gang.ranks // gang.outermost
    count = units - target.ranks // gang.outermost
    hit = np.unique(hit)[:count]
    whole = np.setdiff1d(np.arange(units), hit)
    return np.concatenate([hit, whole[whole.size - (count - hit.size) :]])


def _stay(
    gang: Gang, target: Gang, ends: NDArray[np.int64], lost: NDArray[np.int64]
) -> Resized:
    """The gang at a smaller size, without the units that end."""
    ranks = np.arange(gang.ranks, dtype=np.int32)
    kept = ranks[~np.isin(ranks // gang.outermost, ends)]
    return Resized(target, kept, lost=int(np.isin(lost // gang.outermost, ends).sum()))


def _alone(gang: Gang, ranks: int) -> Gang:
    """So many ranks with the gang's chain, as a gang of their own."""
    return Gang(
        ranks, gang.group, gang.group_level, gang.slices, gang.within, rule=gang.rule
    )

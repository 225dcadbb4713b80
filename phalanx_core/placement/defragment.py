"""``Planner.defragment``: the fewest ranks that move to make room for a gang."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, StalePlan
from phalanx_core.placement.clearing import Clearing
from phalanx_core.placement.defragment_plan import DefragmentPlan
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import Limits, copied
from phalanx_core.placement.misfit import Misfit, plural
from phalanx_core.placement.plans import Plans
from phalanx_core.placement.repair import DrainPlan, Repair
from phalanx_core.placement.units import Mover

if TYPE_CHECKING:
    from phalanx_core.placement.planner import Planner


class Defragmenting(Plans):
    """The part of a planner that makes room; see :class:`Planner`."""

    __slots__ = ()

    def defragment(
        self,
        wanted: Gang,
        limits: Limits | None = None,
        movable: Iterable[Job | Handle] | None = None,
        apply: bool = False,
    ) -> DefragmentPlan | Misfit:
        """Move as few ranks of running jobs as it takes for a gang to fit.

        Whole units move to free leaves, never to spares: groups, of a gang without
        groups its innermost slices, else single ranks. The other ranks stay, and every
        job keeps its groups, slices, ``within`` and limits. As after any repair, the
        leaves they leave are in quarantine: the gang fits only once the plan is applied
        *and* ``fenced`` was called for each job of ``plan.fence``.

        Parameters
        ----------
        wanted, limits
            As for :meth:`fits`, at the gang's own size: templates do not count.
        movable
            Jobs, or handles, that may be moved; None: every job with a key. Gangs of
            parts stay where they are.
        apply
            True: the moves are made at once. False: a plan for :meth:`apply`; nothing
            changes.

        Returns
        -------
        DefragmentPlan
            Job to its repair, none where the gang fits as it is; and where it would go.
            The plan was tried: on a copy it was applied, the jobs fenced, and the gang
            fitted. It is stale as soon as a leaf that it uses changed.
        Misfit
            Why the gang does not fit, ``proven`` where no moves make room.

        Raises
        ------
        UnknownJob, OwnershipError
            If a job or handle of ``movable`` is not there.
        InvalidRequest
            If the gang or limits do not go with the topology, ``movable`` is no list of
            jobs, or alignment is "buddy".

        Notes
        -----
        The cost is the number of ranks that move. A lower bound is what would have to
        leave if it could just vanish; a plan at that cost is proven. Otherwise sets of
        units are tried in order of cost, each with every place they could go: to the
        end on small clusters (a dozen units), up to a fixed amount of work on large
        ones, with ``proven`` False. Leaves that are in quarantine by now count as taken.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> _ = planner.adopt("a", Gang(1), [0]), planner.adopt("b", Gang(2), [4, 5])
        >>> plan = planner.defragment(Gang(4, within="host"))
        >>> plan.moved, plan["a"].moves.tolist(), plan.fence, plan.proven
        (1, [[0, 0, 6]], ('a',), True)
        >>> planner.apply(plan), bool(planner.fits(plan.gang))
        (None, False)
        >>> planner.fenced("a"), planner.place("c", plan.gang).level_name
        (array([0], dtype=int32), 'host')
        """
        with self._inside:
            if self._frame.alignment == "buddy":
                raise InvalidRequest("defragment: alignment 'buddy' has none")
            if not isinstance(wanted, Gang):
                raise InvalidRequest(f"gang {wanted!r}: a Gang")
            gang = wanted.at_this_size
            _, _, bound = self._frame.compiled(gang, self._core)
            given = None
            if limits is not None:
                given = copied(limits)
                bound = self._frame.limits(given)
            movers = self._movers(movable)
            copy = self._duplicate()
            placement = copy.fits(gang, given)
            repairs: list[Repair] = []
            proven = True
            if isinstance(placement, Misfit):
                clearing = Clearing(copy, gang, given, bound, movers)
                best, proven = clearing.cheapest()
                if best is None:
                    return _no_moves(placement, len(movers), proven)
                repairs, placement = best.repairs, best.placement
            plan = DefragmentPlan(gang, given, repairs, placement, proven)
            plan._states = native.states_of(self._core, plan._uses())
            if apply:
                self._apply_defragment(plan)
                plan._states = None
            return plan

    def _movers(self, movable: Any) -> list[Mover]:
        """Jobs that may move in order of ``jobs()``, then handles."""
        if movable is None:
            movable = [job for job, one in self._jobs.items() if not one.gang.parts]
        if isinstance(movable, (str, bytes)) or not isinstance(movable, Iterable):
            raise InvalidRequest(f"movable {movable!r}: an iterable of jobs")
        entries = {job: self._find(job) for job in movable}
        for job, entry in entries.items():
            if entry.gang.parts:
                raise InvalidRequest(f"movable: job {job!r} has parts, which stay")
        order: list[Job | Handle] = [job for job in self._jobs if job in entries]
        order += sorted((job for job in entries if isinstance(job, Handle)), key=int)
        return [
            Mover(self._frame, job, self._layout(entries[job]), entries[job]._limits)
            for job in order
        ]

    def _duplicate(self) -> Planner:
        other: Any = object.__new__(type(self))
        self._copy_to(other)
        return cast("Planner", other)

    def apply(self, plan: Repair | DrainPlan | DefragmentPlan) -> None:
        """Commit a plan that was made with ``apply=False``.

        Parameters
        ----------
        plan
            A repair; a drain or a defragmentation with all its repairs: all or nothing.

        Raises
        ------
        StalePlan
            If a leaf or the job changed since the plan was made.
        InvalidRequest
            If it is no plan, or a plan of another topology.
        """
        if not isinstance(plan, DefragmentPlan):
            super().apply(plan)
            return
        with self._inside:
            self._apply_defragment(plan)

    def _apply_defragment(self, plan: DefragmentPlan) -> None:
        subject = "defragment plan"
        self._check_frame(plan.placement._frame, subject)
        if plan._states is None:
            raise StalePlan(f"{subject}: it was applied when it was made")
        uses = plan._uses()
        changed = native.states_of(self._core, uses) != plan._states
        if changed.any():
            leaf = int(self._frame.leaf_ids(uses[changed])[0])
            raise StalePlan(f"{subject}: leaf {leaf} changed since it was made")
        # Tried on a copy first, so that a stale part leaves everything as it is.
        trial = self._duplicate()
        for repair in plan.values():
            trial.apply(repair)
        for job in plan.fence:
            trial.fenced(job)
        if not trial.fits(plan.gang, plan._limits):
            raise StalePlan(f"{subject}: spares moved since; it makes no room any more")
        for repair in plan.values():
            self._commit(self._core, repair)
            self._note_repair(repair, self._find(repair.job))


def _no_moves(refused: Misfit, jobs: int, proven: bool) -> Misfit:
    """The refusal, with what moving could not do."""
    told = "no moves of {} make room" if proven else "found no moves of {} to make room"
    return Misfit(
        refused.code,
        refused.gang,
        refused._frame,
        refused._records,
        reason=f"{refused.reason}; {told.format(plural(jobs, 'job'))}",
        proven=proven,
    )

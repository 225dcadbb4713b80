"""Plans that were made beforehand, and drains."""

from __future__ import annotations

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, StalePlan
from phalanx_core.native import ffi, lib
from phalanx_core.placement.repair import DrainPlan, Repair
from phalanx_core.placement.repairs import APPLY, CORDONED
from phalanx_core.placement.resizing import Resizes

_NULL = ffi.NULL


class Plans(Resizes):
    """The part of a planner that commits plans; see :class:`Planner`."""

    __slots__ = ()

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
        with self._inside:
            if isinstance(plan, DrainPlan):
                self._apply_drain(plan)
            elif isinstance(plan, Repair):
                self._commit(self._core, plan)
                self._note_repair(plan, self._find(plan.job))
            else:
                raise InvalidRequest(
                    f"plan {plan!r}: a Repair, a DrainPlan or a DefragmentPlan"
                )

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
        with self._inside:
            positions = self._frame.positions(leaves, "drain")
            core = self._core if apply else native.clone(self._core)
            owners = native.health_change(core, lib.PHX_CORDON, positions, "drain")
            plan = DrainPlan(self._frame.leaf_ids(positions), self._frame)
            none = np.empty(0, np.uint32)
            for slot in dict.fromkeys(owners[owners != native.NONE].tolist()):
                job = self._name(slot)
                plan._hit.append(job)
                entry = self._find(job)
                bound = entry._limits
                pointer = _NULL if bound is None else bound.pointer
                flags = CORDONED | APPLY
                plan[job] = self._replan_slot(core, job, none, pointer, flags)
            return plan

    def _apply_drain(self, plan: DrainPlan) -> None:
        self._check_frame(plan._frame, "drain plan")
        positions = self._frame.positions(plan.leaves, "drain")
        states = native.states_of(self._core, positions)
        slots = dict.fromkeys((states[states & 3 == lib.PHX_JOB] >> 8).tolist())
        holders = [self._name(slot) for slot in slots]
        if holders != plan._hit:
            raise StalePlan(
                f"drain plan for jobs {plan._hit}: by now its leaves are held by other "
                f"jobs: {holders}"
            )
        repairs = [repair for repair in plan.values() if isinstance(repair, Repair)]
        # Tried on a copy first, so that a stale part leaves everything as it is.
        for core in (native.clone(self._core), self._core):
            native.health_change(core, lib.PHX_CORDON, positions, "drain")
            for repair in repairs:
                self._commit(core, repair)
        for repair in repairs:
            self._note_repair(repair, self._find(repair.job))

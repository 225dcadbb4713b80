"""How a plan is committed to the core, checked against all that changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, OwnershipError, StalePlan, UnknownJob
from phalanx_core.native import ffi, lib
from phalanx_core.placement.repair import Repair, Resized, core_moves, expanded
from phalanx_core.placement.repairs import Repairs, as_runs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phalanx_core.placement.frame import Frame

_NULL = ffi.NULL
_RUN_SIZE = native.RUN.itemsize


class Commits(Repairs):
    """The part of a planner that changes the core by a plan; see :class:`Planner`."""

    __slots__ = ()

    def _check_frame(self, frame: Frame, subject: str) -> None:
        if frame is self._frame:
            return
        if frame.topology in self._outside.past:
            raise StalePlan(f"{subject}: the cluster was synced since it was made")
        if frame.topology != self._frame.topology or frame.type != self._frame.type:
            raise InvalidRequest(f"{subject}: made on another topology or type")

    def _check_lost(self, core: Any, plan: Repair, subject: str) -> None:
        """A leaf that came back is its job's again: the plan to leave it is stale."""
        left = expanded(core_moves(plan._reply))[:, 1]
        lost = self._lost_among(core, plan, left)
        short = lost < plan.dead - len(plan.unresolved)
        resized = plan._resized
        if resized is not None and resized.more is None:
            ends = np.delete(plan._before._positions(), resized.kept)
            held = self._layout(self._find(plan.job))._positions()
            if (np.delete(held, resized.kept) != ends).any():
                raise StalePlan(f"{subject}: ranks that it ends were moved since")
            short |= self._lost_among(core, plan, ends) < resized.lost
        if short:
            raise StalePlan(f"{subject}: a leaf that was lost is healthy again")

    def _lost_among(self, core: Any, plan: Repair, positions: NDArray[Any]) -> int:
        """How many of some leaves are lost, as the plan counts them."""
        left = positions.astype(np.uint32)
        states = native.states_of(core, left)
        lost = ((states >> 2) & 3 == lib.PHX_DOWN) | ((states >> 4) & 1 == 1)
        if plan._rest is not None and plan._rest.failed:
            runs = np.frombuffer(plan._rest.failed, native.RUN)
            for first, count in runs.tolist():
                lost |= (left >= first) & (left < first + count)
        return int(lost.sum())

    def _commit(self, core: Any, plan: Repair) -> None:
        subject = f"plan for job {plan.job!r}"
        self._check_frame(plan._frame, subject)
        try:
            entry = self._find(plan.job)
        except (UnknownJob, OwnershipError):
            raise StalePlan(f"{subject}: the job is gone") from None
        token = getattr(plan, "_token", None)
        if token is None:
            raise StalePlan(f"{subject}: it was applied when it was made")
        before = plan._before.gang
        if token != lib.phx_handle(core, entry._slot) or entry.gang != before:
            raise StalePlan(f"{subject}: the job was placed anew since")
        self._check_lost(core, plan, subject)
        moves = core_moves(plan._reply)
        failed = b"" if plan._rest is None else plan._rest.failed
        _, request, _ = self._frame.compiled(entry.gang, core)
        status = lib.phx_apply_sliced(
            core,
            entry._slot,
            request,
            ffi.from_buffer("phx_move[]", moves) if moves else _NULL,
            len(moves) // native.MOVE.itemsize,
            native.runs_of(failed),
            len(failed) // _RUN_SIZE,
        )
        native.check(status, subject)
        if plan._resized is not None:
            self._commit_size(core, entry._slot, plan._resized, subject)

    def _commit_size(
        self, core: Any, slot: int, resized: Resized, subject: str
    ) -> None:
        if resized.more is None:
            kept = as_runs(resized.kept.astype(np.uint32))
            status = lib.phx_shrink(
                core, slot, native.runs_of(kept), len(kept) // _RUN_SIZE
            )
        else:
            _, request, _ = self._frame.compiled(resized.more, core)
            runs = resized.runs
            count = len(runs) // _RUN_SIZE
            status = lib.phx_grow(core, slot, request, native.runs_of(runs), count)
        native.check(status, subject)

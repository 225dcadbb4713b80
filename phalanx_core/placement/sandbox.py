"""``Sandbox``: asks the core about a cluster in which given leaves alone are available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import MISFIT, NONE, ffi, lib
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.repair import HEAD_SIZE, core_moves, expanded
from phalanx_core.placement.repairs import MOVE_SIZE, as_runs
from phalanx_core.placement.results import SLOT, positions_of
from phalanx_core.placement.rooms import Counts

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.units import Mover

_NO_SPARES = (0, NONE, 0, 0)


class Sandbox:
    """A core of its own without jobs and spares, all of whose leaves are cordoned.

    Every question is put to a copy of it: O(leaves).
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._closed = native.new_planner(frame.core_tree, _NO_SPARES)
        everywhere = np.arange(frame.leaf_count, dtype=np.uint32)
        native.health_change(self._closed, lib.PHX_CORDON, everywhere, "sandbox")

    def _opened(self, available: NDArray[np.bool_]) -> Any:
        core = native.clone(self._closed)
        at = np.flatnonzero(available).astype(np.uint32)
        if at.size:
            native.health_change(core, lib.PHX_UNCORDON, at, "sandbox")
        return core

    def place(
        self, gang: Gang, limits: VertexLimits | None, available: NDArray[np.bool_]
    ) -> IntArray | None:
        """Positions that Place gives a gang, None where it does not fit."""
        core = self._opened(available)
        _, request, _ = self.frame.compiled(gang, core)
        pointer = ffi.NULL if limits is None else limits.pointer
        packed, runs = native.place_limited(core, request, pointer, False)
        if packed >= 0:
            return positions_of(0, gang.ranks, runs)
        if packed != -MISFIT:
            raise native.failure(packed, repr(gang))
        return None

    def move(
        self, mover: Mover, ranks: Counts, available: NDArray[np.bool_], flags: int = 0
    ) -> IntArray | None:
        """How Replan moves these ranks, and what must come along.

        Returns
        -------
        Rank, position left, position taken, by rank: int32, shape (n, 3); None where
        no place is found.
        """
        core = self._opened(available)
        gang = mover.before.gang
        _, request, _ = self.frame.compiled(gang, core)
        held = mover.positions.astype(np.uint32)
        subject = f"defragment: job {mover.job!r}"
        packed = int(lib.phx_adopt(core, request, native.words(held)))
        if packed < 0:
            raise native.failure(packed, subject)
        lost = as_runs(held[ranks])
        block = ffi.new("char[]", HEAD_SIZE + MOVE_SIZE * gang.ranks)
        answer = ffi.cast("phx_repair *", block)
        status = lib.phx_replan_sliced(
            core,
            packed & SLOT,
            request,
            ffi.from_buffer("phx_run[]", lost),
            len(lost) // native.RUN.itemsize,
            ffi.NULL if mover.limits is None else mover.limits.pointer,
            flags,
            ffi.cast("phx_move *", block + HEAD_SIZE),
            gang.ranks,
            answer,
        )
        if status == MISFIT:
            return None
        native.check(status, subject)
        reply = bytes(ffi.buffer(block, HEAD_SIZE + MOVE_SIZE * answer.moves))
        return expanded(core_moves(reply))

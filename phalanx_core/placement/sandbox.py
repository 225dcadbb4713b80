"""``Sandbox``: asks the core about a cluster in which given leaves alone are available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import GAVE_UP, MISFIT, NONE, ffi, lib
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.repair import core_moves, expanded
from phalanx_core.placement.repairs import as_runs
from phalanx_core.placement.results import SLOT, positions_of
from phalanx_core.placement.rooms import Counts

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.units import Mover

_NO_SPARES = (0, NONE, 0, 0)


class Sandbox:
    """A core of its own without jobs and spares.

    Parameters
    ----------
    frame
        Of the planner.
    available
        Leaves that are; all others are cordoned: bool, shape (leaves,).
    """

    def __init__(self, frame: Frame, available: NDArray[np.bool_]) -> None:
        self.frame = frame
        self._core = native.new_planner(frame.core_tree, _NO_SPARES)
        self._close(np.flatnonzero(~available))

    def _close(self, positions: NDArray[Any]) -> None:
        at = positions.astype(np.uint32)
        if at.size:
            native.health_change(self._core, lib.PHX_CORDON, at, "sandbox")

    def place(self, gang: Gang, limits: VertexLimits | None) -> IntArray | None:
        """Positions that Place gives a gang, None where it does not fit; takes none."""
        _, request, _ = self.frame.compiled(gang, self._core)
        pointer = ffi.NULL if limits is None else limits.pointer
        packed, runs = native.place_limited(self._core, request, pointer, False)
        if packed >= 0:
            return positions_of(0, gang.ranks, runs)
        if packed not in (-MISFIT, -GAVE_UP):
            raise native.failure(packed, repr(gang))
        return None

    def move(self, mover: Mover, ranks: Counts, flags: int = 0) -> IntArray | None:
        """How Replan moves these ranks, and what must come along.

        Where all ranks move the job is placed anew, as near as it can be. The leaves
        that they take are no longer available.

        Returns
        -------
        Rank, position left, position taken, by rank: int32, shape (n, 3); None where
        no place is found.
        """
        if ranks.size == mover.positions.size:
            placed = self.place(mover.before.gang, mover.limits)
            if placed is None:
                return None
            self._close(placed)
            return np.stack([ranks, mover.positions, placed], axis=1).astype(np.int32)
        _, request, _ = self.frame.compiled(mover.before.gang, self._core)
        held = mover.positions.astype(np.uint32)
        packed = int(lib.phx_adopt(self._core, request, native.words(held)))
        if packed < 0:
            raise native.failure(packed, f"defragment: job {mover.job!r}")
        rows = self._replanned(packed & SLOT, mover, request, held[ranks], flags)
        lib.phx_release(self._core, packed & SLOT)
        if rows is not None:
            self._close(rows[:, 2])
        return rows

    def _replanned(
        self, slot: int, mover: Mover, request: Any, left: NDArray[Any], flags: int
    ) -> IntArray | None:
        limits = ffi.NULL if mover.limits is None else mover.limits.pointer
        ranks = mover.positions.size
        status, reply = native.replan(
            self._core, slot, request, as_runs(left), limits, flags=flags, ranks=ranks
        )
        if status == MISFIT:
            return None
        native.check(status, f"defragment: job {mover.job!r}")
        return expanded(core_moves(reply))

"""``DefragmentPlan``: which ranks make room for a gang, and where it would go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import IntArray, Limits
from phalanx_core.placement.misfit import plural
from phalanx_core.placement.repair import Repair, core_moves, expanded
from phalanx_core.placement.results import Placement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phalanx_core.placement.gang import Gang


class DefragmentPlan(dict[Job | Handle, Repair]):
    """Job to the moves of its ranks; truthy, also where nothing has to move.

    The block exists once the plan is applied *and* every job of ``fence`` is fenced:
    until then the leaves that the ranks left are in quarantine.

    Attributes
    ----------
    gang
        That is to be placed.
    placement
        Where it would go once the jobs are fenced; its level is the block's.
    proven
        Whether no fewer ranks would do; False where the search was bounded.
    """

    def __init__(
        self,
        gang: Gang,
        limits: Limits | None,
        repairs: list[Repair],
        placement: Placement,
        proven: bool,
    ) -> None:
        super().__init__((repair.job, repair) for repair in repairs)
        self.gang = gang
        self._limits = limits
        self.placement = placement
        self.proven = proven
        # State of every leaf that the plan uses, as it was; None once it is applied.
        self._states: NDArray[np.uint32] | None = None

    def __bool__(self) -> bool:
        return True

    def _moves(self) -> IntArray:
        """Rank, position left, position taken, of all jobs: int32, shape (n, 3)."""
        rows = [expanded(core_moves(repair._reply)) for repair in self.values()]
        return np.concatenate([np.empty((0, 3), np.int32), *rows])

    def _uses(self) -> NDArray[np.uint32]:
        """Positions that are left, taken or part of the block, ascending."""
        moves = self._moves()
        block = self.placement._positions()
        used = np.unique(np.concatenate([moves[:, 1], moves[:, 2], block]))
        return used.astype(np.uint32)

    @property
    def moved(self) -> int:
        """Ranks that move: what the plan costs."""
        return len(self._moves())

    @property
    def leaves(self) -> IntArray:
        """Leaf ids that the ranks leave, by address: int32."""
        left = np.sort(self._moves()[:, 1])
        return self.placement._frame.leaf_ids(left)

    @property
    def fence(self) -> tuple[Job | Handle, ...]:
        """Jobs to call ``fenced`` for, once the processes that moved are gone."""
        return tuple(self)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "repairs": [repair.to_dict() for repair in self.values()],
            "moved": self.moved,
            "leaves": self.leaves.tolist(),
            "fence": [int(job) if isinstance(job, Handle) else job for job in self],
            "placement": self.placement.to_dict(),
            "proven": self.proven,
        }

    def __str__(self) -> str:
        if not len(self):
            return f"nothing moves: {self.placement}"
        sure = "" if self.proven else ", not proven to be the fewest"
        moves = "; ".join(map(str, self.values()))
        names = ", ".join(map(repr, self.fence))
        return (
            f"{plural(self.moved, 'rank')} to move{sure}: {moves}; once {names} "
            f"{'is' if len(self) == 1 else 'are'} fenced: {self.placement}"
        )

    def __repr__(self) -> str:
        return (
            f"DefragmentPlan(moved={self.moved}, fence={self.fence!r}, "
            f"level={self.placement.level_name!r}, proven={self.proven})"
        )

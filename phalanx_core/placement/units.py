"""A running job as the whole units that may move: its groups, else innermost slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phalanx_core.placement.capacity import NO_LIMIT
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.results import Placement
from phalanx_core.placement.rooms import Counts

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame


class Step(NamedTuple):
    """Every ``size`` consecutive ranks share a vertex of ``level``.

    Attributes
    ----------
    named
        Whether the vertex must be a domain, not one that stands in for a missing one.
    """

    size: int
    level: int
    named: bool


class Mover:
    """A job whose units may move.

    Attributes
    ----------
    job
        Its key or handle.
    before
        Where it is.
    limits
        It was placed with.
    positions
        Of its ranks: int32.
    unit
        What moves whole; of single ranks level 0.
    around
        What holds units together, outermost first.
    """

    def __init__(
        self,
        frame: Frame,
        job: Job | Handle,
        before: Placement,
        limits: VertexLimits | None,
    ) -> None:
        self.job, self.before, self.limits = job, before, limits
        self.positions: IntArray = before._positions()
        gang = before.gang
        chain = [Step(size, level, True) for size, level in frame.chain(gang)]
        _, within, _ = frame.levels(gang)
        if not within:  # a leaf is one rank's: any will do
            top = Step(gang.ranks, len(frame.topology.levels) - 1, False)
        else:
            top = Step(gang.ranks, within, True)
        self.unit = chain[0] if chain else Step(1, 0, True)
        self.around = [top, *reversed(chain[1:])]

    @property
    def units(self) -> int:
        """How many units it has."""
        return self.positions.size // self.unit.size

    def ranks_of(self, units: list[int]) -> Counts:
        """Ranks of some units, ascending: int64."""
        first = np.array(sorted(units), np.int64)[:, None] * self.unit.size
        return (first + np.arange(self.unit.size)).ravel()

    def most(self, frame: Frame) -> dict[int, Counts]:
        """Limited level to the limit of each vertex: int64."""
        found: dict[int, Counts] = {}
        for level, row in ({} if self.limits is None else self.limits.given).items():
            real = frame.tree.real[level]
            found[level] = np.full(real.size, NO_LIMIT, np.int64)
            found[level][real >= 0] = row[real[real >= 0]]
        return found

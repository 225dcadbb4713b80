"""Ranks that domains could take, as a function of how many leaves each part has free."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.placement.rooms import Counts, below

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import VertexLimits

NO_LIMIT = 2**31 - 1


class Stage(NamedTuple):
    """A level below ``within`` at which a gang's ranks are cut to whole units or limits.

    Attributes
    ----------
    unit
        Ranks are multiples of it from here upward.
    most
        Limit of each vertex, 0 where it stands for a missing domain and a group needs
        one: int64, shape (vertices,).
    starts
        First vertex of the stage below (of the leaves for the lowest) under each vertex,
        and the end: int64, shape (vertices + 1,).
    """

    unit: int
    most: Counts
    starts: Counts


class Capacity:
    """How a gang's constraints turn available leaves into ranks.

    Attributes
    ----------
    level
        That one domain of which must hold the gang.
    stages
        From the lowest; none where every available leaf is a rank.
    tops
        First vertex of the highest stage (leaf, where there is none) under each vertex
        of ``level``, and the end.
    open
        Whether each vertex of ``level`` may hold the gang at all: bool.
    unit
        Of the highest stage, 1 where there is none.
    """

    def __init__(self, frame: Frame, gang: Gang, limits: VertexLimits | None) -> None:
        _, within, _ = frame.levels(gang)
        real = frame.tree.real
        self.level = len(real) - 1 if within is None else within
        chain = frame.chain(gang)
        rows = {} if limits is None else limits.given
        cuts = sorted({at for _, at in chain} | set(rows))
        self.stages: list[Stage] = []
        low = 0
        for level in (at for at in cuts if at < self.level):
            unit = max((size for size, at in chain if at <= level), default=1)
            most = _limit(frame, rows, level)
            if any(at == level for _, at in chain):
                most = np.where(real[level] < 0, 0, most)
            starts = below(frame, level, 0, real[level].size, low)
            self.stages.append(Stage(unit, most, starts))
            low = level
        self.tops = below(frame, self.level, 0, real[self.level].size, low)
        self.unit = self.stages[-1].unit if self.stages else 1
        self.open = self._open(frame, gang, rows, within is not None)

    def _open(
        self, frame: Frame, gang: Gang, rows: dict[int, NDArray[np.int32]], named: bool
    ) -> NDArray[np.bool_]:
        real = frame.tree.real[self.level]
        named = named or any(at == self.level for _, at in frame.chain(gang))
        may = real >= 0 if named else np.ones(real.size, np.bool_)
        for level in (at for at in rows if at >= self.level):
            width = frame.tree.real[level].size
            bounds = below(frame, level, 0, width, self.level)
            above = np.repeat(np.arange(width), np.diff(bounds))
            may &= (_limit(frame, rows, level) >= gang.ranks)[above]
        return may

    def counts(self, usable: NDArray[np.bool_]) -> Counts:
        """Usable leaves under each vertex of the lowest stage; each leaf without one."""
        if not self.stages:
            return usable.astype(np.int64)
        return np.add.reduceat(usable.astype(np.int64), self.stages[0].starts[:-1])

    def ranks(self, counts: Counts) -> list[Counts]:
        """Ranks of the vertices of each stage; without one, the counts."""
        found = [] if self.stages else [counts]
        for number, stage in enumerate(self.stages):
            if number:
                counts = np.add.reduceat(counts, stage.starts[:-1])
            counts = np.minimum(counts, stage.most)
            counts = counts - counts % stage.unit
            found.append(counts)
        return found

    def part(self, tops: list[int], number: int) -> Part:
        """The same for some vertices of one stage, many cases at a time."""
        ids = np.array(tops, np.int64)
        layers: list[tuple[int, Counts, Counts]] = []
        for at in range(number, -1, -1):
            stage = self.stages[at]
            sizes = stage.starts[ids + 1] - stage.starts[ids]
            cuts = np.cumsum(sizes) - sizes
            layers.append((stage.unit, stage.most[ids], cuts))
            if at:
                inner = np.arange(sizes.sum()) - np.repeat(cuts, sizes)
                ids = np.repeat(stage.starts[ids], sizes) + inner
        layers.reverse()
        return Part(ids, layers)


class Part(NamedTuple):
    """Some vertices with all below them.

    Attributes
    ----------
    lowest
        Their vertices of the lowest stage.
    layers
        Of each stage: unit, limit of each vertex, where its vertices begin below.
    """

    lowest: Counts
    layers: list[tuple[int, Counts, Counts]]

    def ranks(self, counts: Counts) -> Counts:
        """Ranks in all of them: int64, shape (cases,) of counts (cases, lowest)."""
        for number, (unit, most, cuts) in enumerate(self.layers):
            if number:
                counts = np.add.reduceat(counts, cuts, axis=1)
            counts = np.minimum(counts, most)
            counts = counts - counts % unit
        total: Counts = counts.sum(axis=1)
        return total


def _limit(frame: Frame, rows: dict[int, NDArray[np.int32]], level: int) -> Counts:
    """Limit of each vertex of a level."""
    real = frame.tree.real[level]
    most = np.full(real.size, NO_LIMIT, np.int64)
    if level in rows:
        most[real >= 0] = rows[level][real[real >= 0]]
    return most

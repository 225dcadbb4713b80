"""Every way to move some whole units of jobs to free leaves: exhaustive.

Leaves of one *pool* (a vertex of level 1; a leaf where somebody's limits tell leaves
apart) are alike to every rule, so only how many a unit takes of each is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phalanx_core.placement.rooms import Counts, below
from phalanx_core.placement.units import Mover

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

Leaves = NDArray[np.bool_]
# A unit's vertex, and how many leaves it takes of each pool in it.
Choice = tuple[int, tuple[int, ...]]


class Part:
    """Units of one job that move, and what the others pin.

    Attributes
    ----------
    mover
        The job.
    units
        Ascending.
    ranks
        Of the units: int64.
    taken
        Positions that each unit takes, as far as it has been decided.
    """

    def __init__(self, frame: Frame, mover: Mover, units: list[int]) -> None:
        self.mover, self.units = mover, sorted(units)
        self.ranks = mover.ranks_of(units)
        self.taken: list[Counts] = []
        stays = np.ones(mover.positions.size, np.bool_)
        stays[self.ranks] = False
        kept = np.flatnonzero(stays)
        # (step, number of the element): the vertex that it must be in.
        self.home: dict[tuple[int, int], int] = {}
        for at, step in enumerate(mover.around):
            elements, firsts = np.unique(kept // step.size, return_index=True)
            for element, first in zip(elements.tolist(), firsts.tolist(), strict=True):
                position = int(mover.positions[kept[first]])
                self.home[at, element] = frame.vertex_at(step.level, position)
        self.most = mover.most(frame)
        self.load: dict[int, Counts] = {}
        for level, most in self.most.items():
            self.load[level] = np.zeros(most.size, np.int64)
            for position in mover.positions[kept].tolist():
                self.load[level][frame.vertex_at(level, position)] += 1

    @property
    def targets(self) -> Counts:
        """Positions that its units take, in order of units."""
        return np.concatenate(self.taken)


class Relocation:
    """Places for the units of some jobs, while a condition on what is left holds.

    Parameters
    ----------
    frame
        Of the planner.
    pool
        Level of the pools, 0 or 1.
    free
        Leaves that units may go to.
    left
        Leaves that they leave and that are then available.
    holds
        Condition on the available leaves afterwards; what fails it with fewer leaves
        taken fails with more.
    """

    def __init__(
        self,
        frame: Frame,
        pool: int,
        free: Leaves,
        left: Counts,
        holds: Callable[[Leaves], bool],
    ) -> None:
        self.frame, self.pool, self.holds = frame, pool, holds
        self.free, self.after = free.copy(), free.copy()
        self.after[left] = True

    def ways(self, parts: list[Part], at: int = 0) -> Iterator[None]:
        """Each way in turn, to be read from the parts."""
        if at == len(parts):
            yield
            return
        for _ in self._units(parts[at], 0, None):
            yield from self.ways(parts, at + 1)

    def _units(self, part: Part, at: int, last: Choice | None) -> Iterator[None]:
        if at == len(part.units):
            yield
            return
        # Units that nothing tells apart are put in ascending order.
        alike = at > 0 and self._around(part, at) == self._around(part, at - 1)
        for choice in self._choices(part, at):
            if alike and last is not None and choice < last:
                continue
            taken = self._positions(part, choice)
            if self._load(part, taken, 1):
                self.free[taken] = self.after[taken] = False
                part.taken.append(taken)
                if self.holds(self.after):
                    yield from self._units(part, at + 1, choice)
                part.taken.pop()
                self.free[taken] = self.after[taken] = True
            self._load(part, taken, -1)

    def _around(self, part: Part, at: int) -> list[int]:
        first = part.units[at] * part.mover.unit.size
        return [first // step.size for step in part.mover.around]

    def _choices(self, part: Part, at: int) -> Iterator[Choice]:
        unit = part.mover.unit
        low = max(unit.level, self.pool)
        for level, vertex in self._inside(part, self._around(part, at), 0, None):
            span = self._vertices(level, vertex, low)
            inside = free_under(self.frame, self.free, low, span)
            for one in np.flatnonzero(inside >= unit.size) + span.start:
                if unit.level and self.frame.tree.real[low][one] < 0:
                    continue
                free = self._free(low, int(one))
                for counts in _splits(free, unit.size):
                    yield int(one), counts

    def _inside(
        self, part: Part, around: list[int], at: int, parent: tuple[int, int] | None
    ) -> Iterator[tuple[int, int]]:
        """Vertices that may be the innermost around a unit, with their level."""
        step, key = part.mover.around[at], (at, around[at])
        real = self.frame.tree.real[step.level]
        known = part.home.get(key)
        options: range | list[int] = range(real.size)
        if known is not None:
            options = [known]
        elif parent is not None:
            options = self._vertices(*parent, step.level)
        for vertex in options:
            if step.named and real[vertex] < 0:
                continue
            part.home[key] = vertex
            if at + 1 == len(around):
                yield step.level, vertex
            else:
                yield from self._inside(part, around, at + 1, (step.level, vertex))
        if known is None:
            part.home.pop(key, None)

    def _vertices(self, level: int, vertex: int, low: int) -> range:
        bounds = below(self.frame, level, vertex, vertex + 1, low)
        return range(int(bounds[0]), int(bounds[1]))

    def _free(self, level: int, vertex: int) -> list[int]:
        """Free leaves in each pool of a vertex."""
        pools = self._vertices(level, vertex, self.pool)
        return [int(n) for n in free_under(self.frame, self.free, self.pool, pools)]

    def _positions(self, part: Part, choice: Choice) -> Counts:
        vertex, counts = choice
        level = max(part.mover.unit.level, self.pool)
        pools = self._vertices(level, vertex, self.pool)
        taken = []
        for pool, count in zip(pools, counts, strict=True):
            leaves = self._vertices(self.pool, pool, 0)
            free = np.flatnonzero(self.free[leaves.start : leaves.stop])[:count]
            taken.append(free + leaves.start)
        return np.concatenate(taken)

    def _load(self, part: Part, taken: Counts, sign: int) -> bool:
        """Count leaves that are taken; whether the job's limits allow them."""
        allowed = True
        for level, most in part.most.items():
            vertices = [self.frame.vertex_at(level, at) for at in taken.tolist()]
            np.add.at(part.load[level], vertices, sign)
            allowed &= bool((part.load[level][vertices] <= most[vertices]).all())
        return allowed


def free_under(frame: Frame, free: Leaves, level: int, vertices: range) -> Counts:
    """Free leaves under some vertices of a level: int64, shape (vertices,)."""
    bounds = below(frame, level, vertices.start, vertices.stop)
    seen = np.cumsum(free[bounds[0] : bounds[-1]], dtype=np.int64)
    return np.diff(np.append(0, seen[bounds[1:] - bounds[0] - 1]))


def _splits(free: list[int], size: int) -> Iterator[tuple[int, ...]]:
    """Ways to take so many leaves of some pools, ascending.

    Examples
    --------
    >>> list(_splits([2, 0, 1], 2))
    [(1, 0, 1), (2, 0, 0)]
    """
    if not free:
        if size == 0:
            yield ()
        return
    rest = sum(free[1:])
    for count in range(max(0, size - rest), min(free[0], size) + 1):
        for more in _splits(free[1:], size - count):
            yield count, *more

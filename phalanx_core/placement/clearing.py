"""The fewest ranks whose moving makes a gang fit: which units move, and where to.

A unit that moves is a victim that costs its ranks, so the cheapest victims bound the
cost from below. Their units are moved by the core away from where the gang would go;
what costs no more than the bound is the least. Else sets of units are tried by cost, and
for each set every way to move it, as long as the work allowed for lasts.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvariantBroken
from phalanx_core.native import lib
from phalanx_core.placement.capacity import Capacity
from phalanx_core.placement.limits import IntArray, Limits, VertexLimits
from phalanx_core.placement.relocation import Leaves, Part, Relocation, free_under
from phalanx_core.placement.repair import Repair
from phalanx_core.placement.results import Placement
from phalanx_core.placement.rooms import Counts
from phalanx_core.placement.sandbox import Sandbox
from phalanx_core.placement.units import Mover
from phalanx_core.placement.victims import Answer, Victims

if TYPE_CHECKING:
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.planner import Planner

# Leaves that an exhaustive search may look at, again and again.
WORK_MAX = 2_000_000
# What a step costs beside the leaves it looks at.
STEP = 200
# Choices of units that are tried beyond the cheapest, each without some units that had
# no other place.
TRIES = 16
_WIDEN: int = lib.PHX_REPLAN_WIDEN


class Spent(Exception):
    """The work that was allowed for is done."""


class Cleared(NamedTuple):
    """Moves that make room, the ranks that move, and where the gang goes then."""

    repairs: list[Repair]
    cost: int
    placement: Placement


class Clearing:
    """A gang that does not fit, and jobs whose units may move for it.

    Parameters
    ----------
    planner
        A copy, which is not changed.
    gang, limits, bound
        What is to fit; the limits as given, and as they bind.
    movers
        The jobs.
    """

    def __init__(
        self,
        planner: Planner,
        gang: Gang,
        limits: Limits | None,
        bound: VertexLimits | None,
        movers: list[Mover],
    ) -> None:
        self.planner, self.gang, self.limits, self.bound = planner, gang, limits, bound
        self.frame = frame = planner._frame
        self.capacity = Capacity(frame, gang, bound)
        states = native.leaf_states(planner._core, 0, frame.leaf_count)
        self.fit: Leaves = (states >> 2) & 7 == 0
        self.free: Leaves = (states >> 5) & 1 == 1
        self.movers = movers = self._able(movers)
        self.spares = frame.spares_levels is not None
        # Parts are counted by their ranks alone, so room for these may not do.
        self.loose = self.spares or bool(gang.parts)
        self.room = self.free | ((states & 3 == lib.PHX_SPARE) & self.fit)
        self.owner = np.repeat(
            np.arange(len(movers)), np.array([one.units for one in movers], np.int64)
        )
        self.first = np.searchsorted(self.owner, np.arange(len(movers)))
        self.costs = [float(movers[one].unit.size) for one in self.owner.tolist()]
        self.holder = np.full(states.size, -1, np.int64)
        for first, one in zip(self.first.tolist(), movers, strict=True):
            numbers = first + np.arange(one.positions.size) // one.unit.size
            self.holder[one.positions] = numbers
        self.holder[~self.fit] = -1
        limited = any(0 in one.most(frame) for one in movers)
        limited |= bound is not None and 0 in bound.given
        self.pool = 0 if limited else 1
        self.left = WORK_MAX
        self.sure = not gang.parts

    def cheapest(self) -> tuple[Cleared | None, bool]:
        """The least moves that were found, and whether that is the last word."""
        # Whoever moves takes a free leaf for each that becomes free.
        if not self.costs or int(self.room.sum()) < self.gang.ranks:
            return None, True
        bounds = self._victims(self.room, self.holder)
        least = bounds.cheapest()
        if least is None:
            return None, True
        floor = max(least.cost if least.proven else 0.0, min(self.costs))
        best = self._greedy(bounds, least)
        if best is not None and best.cost <= floor:
            return best, True
        most = int(self.free.sum()) if best is None else best.cost - 1
        try:
            found = self._exhaustive(bounds, floor, most)
        except Spent:
            return best, False
        best = found or best
        return best, self.sure or (best is not None and best.cost <= floor)

    def _able(self, movers: list[Mover]) -> list[Mover]:
        """Jobs of whose units one could go somewhere."""
        real = self.frame.tree.real
        most: dict[int, int] = {}
        for level in {one.unit.level for one in movers}:
            inside = free_under(self.frame, self.free, level, range(real[level].size))
            most[level] = int(inside[real[level] >= 0].max(initial=0))
        return [one for one in movers if one.unit.size <= most[one.unit.level]]

    def _spend(self, steps: int = 1) -> None:
        self.left -= steps * (self.frame.leaf_count + STEP)
        if self.left < 0:
            raise Spent

    def _by_mover(self, members: tuple[int, ...]) -> list[tuple[int, list[int]]]:
        """Jobs with a unit among some units, and theirs as the job counts them."""
        found: dict[int, list[int]] = {}
        for unit in members:
            one = int(self.owner[unit])
            found.setdefault(one, []).append(unit - int(self.first[one]))
        return sorted(found.items())

    def _positions(self, members: tuple[int, ...]) -> Counts:
        parts = [(self.movers[one], units) for one, units in self._by_mover(members)]
        left = [mover.positions[mover.ranks_of(units)] for mover, units in parts]
        return np.concatenate(left).astype(np.int64)

    def _holds(self, available: Leaves) -> bool:
        """Whether the gang would fit with these available."""
        ranks = self.capacity.ranks(self.capacity.counts(available))[-1]
        sums = np.add.reduceat(ranks, self.capacity.tops[:-1])
        return bool((sums[self.capacity.open] >= self.gang.ranks).any())

    def _greedy(self, bounds: Victims, least: Answer) -> Cleared | None:
        """The cheapest victims that the core finds places for."""
        victims, answer = bounds, None if self.spares else least
        stuck = np.zeros(len(self.costs), np.bool_)
        for _ in range(TRIES):
            if answer is None:
                holder = self.holder.copy()
                holder[(holder >= 0) & stuck[holder]] = -1
                victims = self._victims(self.free, holder)
                answer = victims.cheapest()
            if answer is None or not answer.members:
                return None
            members = answer.members
            if not answer.proven:
                members = self._trimmed(members, victims)
            moves, without = self._moved_away(members)
            cleared = None if without else self._settled(moves)
            if cleared is not None:
                return cleared
            stuck[list(without or members)] = True
            answer = None
        return None

    def _victims(self, free: Leaves, holder: Counts) -> Victims:
        return Victims(self.capacity, self.gang.ranks, free, holder, self.costs)

    def _trimmed(self, members: tuple[int, ...], victims: Victims) -> tuple[int, ...]:
        """Without units that need not leave, the largest first."""
        for one in sorted(members, key=lambda unit: (-self.costs[unit], unit)):
            rest = tuple(other for other in members if other != one)
            members = rest if victims.fits(rest) else members
        return members

    def _moved_away(
        self, members: tuple[int, ...]
    ) -> tuple[list[tuple[Mover, IntArray]], tuple[int, ...]]:
        """Moves that keep clear of where the gang goes, or units without a place."""
        available = self.free.copy()
        available[self._positions(members)] = True
        block = Sandbox(self.frame, available & self.fit).place(self.gang, self.bound)
        if block is None:
            return [], members
        free = self.free.copy()
        free[block] = False
        sandbox = Sandbox(self.frame, free)
        found: dict[int, IntArray] = {}
        parts = self._by_mover(members)
        # The largest first: small ones fit into what is left.
        for one, units in sorted(parts, key=lambda p: -self.movers[p[0]].unit.size):
            mover = self.movers[one]
            rows = sandbox.move(mover, mover.ranks_of(units), _WIDEN)
            if rows is None:
                # What stays pins it to its domain, so all of the job goes elsewhere.
                rows = sandbox.move(mover, np.arange(mover.positions.size))
            if rows is None:
                first = int(self.first[one])
                return [], tuple(first + unit for unit in units)
            found[one] = rows
        return [(self.movers[one], rows) for one, rows in sorted(found.items())], ()

    def _exhaustive(self, bounds: Victims, floor: float, most: int) -> Cleared | None:
        """The first set of units that can be moved, of those from ``floor`` up."""
        most = min(most, int(self.free.sum()))
        for cost, members in ascending(self.costs, most):
            self._spend()
            if cost >= floor and bounds.fits(members):
                cleared = self._relocated(members)
                if cleared is not None:
                    return cleared
        return None

    def _relocated(self, members: tuple[int, ...]) -> Cleared | None:
        def holds(available: Leaves) -> bool:
            self._spend()
            return self._holds(available | self.room & ~self.free)

        left = self._positions(members)
        left = left[self.fit[left]]
        relocation = Relocation(self.frame, self.pool, self.free, left, holds)
        parts = [
            Part(self.frame, self.movers[one], units)
            for one, units in self._by_mover(members)
        ]
        for _ in relocation.ways(parts):
            moves = []
            for part in parts:
                available = np.zeros(self.free.size, np.bool_)
                available[part.targets] = True
                rows = Sandbox(self.frame, available).move(part.mover, part.ranks)
                self.sure &= rows is not None
                if rows is not None:
                    moves.append((part.mover, rows))
            if len(moves) == len(parts):
                cleared = self._settled(moves)
                if cleared is not None:
                    return cleared
        return None

    def _settled(self, moves: list[tuple[Mover, IntArray]]) -> Cleared | None:
        """What comes of moves that are made on a copy, and their jobs fenced."""
        self.left -= 10 * self.frame.leaf_count
        repairs = [self._repair(mover, rows) for mover, rows in moves]
        trial = self.planner.clone()
        for repair in repairs:
            trial.apply(repair)
        for mover, _ in moves:
            trial.fenced(mover.job)
        placement = trial.fits(self.gang, self.limits)
        if isinstance(placement, Placement):
            return Cleared(repairs, sum(len(rows) for _, rows in moves), placement)
        # With spares, one may have moved to what became idle.
        if not self.loose:
            raise InvariantBroken("P6", f"defragment: no room after all: {placement}")
        return None

    def _repair(self, mover: Mover, rows: IntArray) -> Repair:
        """Moves as a plan of the planner."""
        before, frame = mover.before, self.frame
        after = mover.positions.copy()
        after[rows[:, 0]] = rows[:, 2]
        left = native.states_of(self.planner._core, rows[:, 1].astype(np.uint32))
        dead = int(((left >> 2) & 3 == lib.PHX_DOWN).sum())
        level = frame.level_of(int(after.min()), int(after.max()))
        head = [len(rows), len(rows), dead, 0, before.level, level, 0, 1]
        table = np.ones(len(rows), native.MOVE)
        for at, name in enumerate(("rank", "from", "to")):
            table[name] = rows[:, at]
        repair = Repair()
        repair.job, repair._before, repair._depth = mover.job, before, 0
        repair._slot, repair._limits = before._slot, mover.limits
        repair._token = int(lib.phx_handle(self.planner._core, before._slot))
        repair._reply = np.array(head, "<u4").tobytes() + table.tobytes()
        repair._rest = None
        return repair


def ascending(
    costs: list[float], most: float
) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Sets of numbered things by their cost, up to ``most``, each once.

    Examples
    --------
    >>> [members for _, members in ascending([2.0, 1.0, 2.0], 3)]
    [(1,), (0,), (2,), (0, 1), (1, 2)]
    """
    order = sorted(range(len(costs)), key=lambda one: (costs[one], one))
    heap: list[tuple[float, tuple[int, ...]]] = []
    if order and costs[order[0]] <= most:
        heappush(heap, (costs[order[0]], (0,)))
    while heap:
        cost, chosen = heappop(heap)
        yield cost, tuple(sorted(order[at] for at in chosen))
        last = chosen[-1]
        if last + 1 == len(order):
            continue
        more = costs[order[last + 1]]
        for grown, rest in (
            (cost + more, chosen),
            (cost - costs[order[last]] + more, chosen[:-1]),
        ):
            if grown <= most:
                heappush(heap, (grown, (*rest, last + 1)))

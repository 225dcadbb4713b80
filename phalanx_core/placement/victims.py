"""The cheapest jobs whose leaves make room: which domain, and who must leave it.

Only jobs inside a domain matter to it. In one, jobs that share a vertex at which the
gang's groups or limits cut stand or fall together: such a *cluster* is enumerated, jobs
that are alike in it by their number alone. Clusters do not touch each other, so what they
give adds up, and a knapsack over them is exact. A large cluster within one vertex falls
apart into clusters of the stage below in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import fsum, inf, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.placement.capacity import Capacity
from phalanx_core.placement.cover import Option, cover, lower_bound, undominated
from phalanx_core.placement.rooms import Counts

# Distinguishable choices in one cluster that are all looked at.
CHOICES_MAX = 4096
# Amounts that one vertex may give, each worth a knapsack of its own.
AMOUNTS_MAX = 256


class Answer(NamedTuple):
    """Who leaves, what that costs, and whether nobody could do it for less."""

    members: tuple[int, ...]
    cost: float
    proven: bool


class Cluster(NamedTuple):
    """Candidates that share vertices of a stage, those vertices, the rows of both."""

    members: list[int]
    tops: list[int]
    rows: list[int]


class Room(NamedTuple):
    """One domain that could hold the gang.

    Attributes
    ----------
    need
        Units that are missing.
    options
        Of each cluster.
    proven
        Whether every cluster's options are all there are.
    bound
        No choice costs less.
    """

    need: int
    options: list[list[Option]]
    proven: bool
    bound: float


class Victims:
    """A gang that does not fit, and the jobs that may leave for it.

    Parameters
    ----------
    capacity
        Of the gang.
    ranks
        That it has.
    usable
        Whether each leaf is available now: bool, shape (leaves,).
    holder
        Candidate whose release makes each leaf available, -1 = none: int64.
    costs
        Of each candidate, above 0.
    """

    def __init__(
        self,
        capacity: Capacity,
        ranks: int,
        usable: NDArray[np.bool_],
        holder: NDArray[np.int64],
        costs: list[float],
    ) -> None:
        self.capacity, self.ranks, self.costs = capacity, ranks, costs
        self.low = capacity.counts(usable)
        self.base = capacity.ranks(self.low)
        self.most = capacity.ranks(capacity.counts(usable | (holder >= 0)))
        self.last = len(self.base) - 1
        at = np.flatnonzero(holder >= 0)
        if capacity.stages:
            at = np.searchsorted(capacity.stages[0].starts, at, side="right") - 1
        pairs, counts = np.unique(
            np.stack([at, holder[holder >= 0]]), axis=1, return_counts=True
        )
        above = [pairs[0]]
        for stage in capacity.stages[1:]:
            above.append(np.searchsorted(stage.starts, above[-1], side="right") - 1)
        # Where nothing can be gained, nobody need leave.
        rows = self.most[-1][above[-1]] > self.base[-1][above[-1]]
        self.who, self.count = pairs[1][rows], counts[rows].astype(np.int64)
        # Vertex of each stage, from the lowest, of each pair of vertex and candidate.
        self.above: list[Counts] = [vertices[rows] for vertices in above]
        self.top = self.above[-1]

    def fits(self, members: tuple[int, ...]) -> bool:
        """Whether the gang has room once these have left."""
        low = self.low.copy()
        rows = np.isin(self.who, members)
        np.add.at(low, self.above[0][rows], self.count[rows])
        ranks = self.capacity.ranks(low)[-1]
        sums = np.add.reduceat(ranks, self.capacity.tops[:-1])
        return bool((sums[self.capacity.open] >= self.ranks).any())

    def cheapest(self) -> Answer | None:
        """The cheapest answer, of several the one in the first domain; None = no room."""
        if self.fits(()):
            return Answer((), 0.0, True)
        rooms = sorted(self._rooms(), key=lambda room: room.bound)
        best: Answer | None = None
        floor = inf
        for room in rooms:
            if best is not None and room.bound >= best.cost:
                break
            found = cover(room.options, room.need)
            if found is None:
                floor = min(floor, room.bound)
                continue
            cost = fsum(self.costs[one] for one in found[0])
            if not (room.proven and found[1]):
                floor = min(floor, room.bound)
            if best is None or cost < best.cost:
                best = Answer(found[0], cost, True)
        if best is None:
            return None
        return best._replace(proven=floor >= best.cost)

    def _rooms(self) -> Iterator[Room]:
        tops = self.capacity.tops
        base = np.add.reduceat(self.base[-1], tops[:-1])
        most = np.add.reduceat(self.most[-1], tops[:-1])
        unit = self.capacity.unit
        for at in np.flatnonzero(self.capacity.open & (most >= self.ranks)).tolist():
            low, high = np.searchsorted(self.top, tops[at : at + 2]).tolist()
            need = -(-(self.ranks - int(base[at])) // unit)
            options: list[list[Option]] = []
            proven, loose = True, list[list[Option]]()
            if not self.capacity.stages:
                options = loose = self._alone(low, high, need)
                low = high
            for cluster in self._clusters(list(range(low, high)), self.last):
                found, all_of_them = self._options(cluster, need, self.last)
                options.append(found)
                proven &= all_of_them
                loose += [found] if all_of_them else self._loose(cluster.rows, need)
            yield Room(need, options, proven, lower_bound(loose, need))

    def _alone(self, low: int, high: int, need: int) -> list[list[Option]]:
        """Every leaf is a rank, so a candidate gives its leaves, whoever else leaves."""
        who, gives = np.unique(self.who[low:high], return_counts=True)
        return [
            [Option(min(count, need), self.costs[one], (one,))]
            for one, count in zip(who.tolist(), gives.tolist(), strict=True)
        ]

    def _clusters(self, rows: list[int], stage: int) -> list[Cluster]:
        """Clusters among some rows, by their first candidates."""
        joined: dict[int, int] = {}

        def root(one: int) -> int:
            while joined.setdefault(one, one) != one:
                joined[one] = joined[joined[one]]
                one = joined[one]
            return one

        who, top = self.who[rows].tolist(), self.above[stage][rows].tolist()
        for one, vertex in zip(who, top, strict=True):
            # Vertices are below zero, so that the first candidate leads its cluster.
            a, b = sorted((root(one), root(-1 - vertex)))
            lead = b if a < 0 else a
            joined[a if lead == b else b] = lead
        found: dict[int, Cluster] = {}
        for row, one in zip(rows, who, strict=True):
            found.setdefault(root(one), Cluster([], [], [])).rows.append(row)
        for cluster in found.values():
            cluster.members.extend(sorted(set(self.who[cluster.rows].tolist())))
            tops = self.above[stage][cluster.rows]
            cluster.tops.extend(sorted(set(tops.tolist())))
        return [found[lead] for lead in sorted(found)]

    def _loose(self, rows: list[int], need: int) -> list[list[Option]]:
        """Each candidate with all that its vertices could gain: more than it gives."""
        unit = self.capacity.unit
        gain: dict[int, dict[int, int]] = {}
        for row in rows:
            top = int(self.top[row])
            gained = int(self.most[-1][top] - self.base[-1][top]) // unit
            gain.setdefault(int(self.who[row]), {})[top] = gained
        return [
            [Option(min(need, sum(gained.values())), self.costs[one], (one,))]
            for one, gained in gain.items()
        ]

    def _options(
        self, cluster: Cluster, need: int, stage: int
    ) -> tuple[list[Option], bool]:
        """What a cluster may give, and whether that is all it may."""
        part = self.capacity.part(cluster.tops, stage)
        column = {vertex: at for at, vertex in enumerate(part.lowest.tolist())}
        gives = np.zeros((len(cluster.members), len(column)), np.int64)
        row_of = {one: at for at, one in enumerate(cluster.members)}
        for row in cluster.rows:
            spot = column[int(self.above[0][row])]
            gives[row_of[int(self.who[row])], spot] = self.count[row]
        alike = self._alike(cluster.members, gives)
        full = prod(len(one) + 1 for one in alike) <= CHOICES_MAX
        if not full and stage and len(cluster.tops) == 1:
            return self._nested(cluster, need, stage)
        chosen = _all(alike) if full else self._some(cluster.members, gives, alike)
        taken = np.zeros((len(chosen), len(cluster.members)), np.int64)
        for number, members in enumerate(chosen):
            taken[number, [row_of[one] for one in members]] = 1
        start = self.low[part.lowest]
        ranks = part.ranks(start + taken @ gives) - part.ranks(start[None, :])[0]
        unit = self.capacity.stages[stage].unit
        options = [
            Option(int(gain) // unit, self._cost(members), members)
            for gain, members in zip(ranks.tolist(), chosen, strict=True)
            if gain >= unit
        ]
        return undominated(options, need), full

    def _nested(
        self, cluster: Cluster, need: int, stage: int
    ) -> tuple[list[Option], bool]:
        """The least cost of each amount that one vertex may give, by what is in it."""
        (top,) = cluster.tops
        unit, inner = (self.capacity.stages[at].unit for at in (stage, stage - 1))
        span = slice(*self.capacity.stages[stage].starts[top : top + 2].tolist())
        start = int(self.base[stage - 1][span].sum())
        base, most = int(self.base[stage][top]), int(self.most[stage][top])
        amounts = min(need, (most - base) // unit)
        proven = amounts <= AMOUNTS_MAX
        # The most is among them: without it a room might seem too small.
        asked = np.linspace(1, amounts, min(amounts, AMOUNTS_MAX)).astype(np.int64)
        needs = [-(-(base + n * unit - start) // inner) for n in asked.tolist()]
        groups = []
        vertices = self.above[stage - 1][cluster.rows]
        gains = self.most[stage - 1][vertices] > self.base[stage - 1][vertices]
        rows = [row for row, gain in zip(cluster.rows, gains, strict=True) if gain]
        for part in self._clusters(rows, stage - 1):
            found, all_of_them = self._options(part, needs[-1], stage - 1)
            groups.append(found)
            proven &= all_of_them
        options = []
        for amount, wanted in zip(asked.tolist(), needs, strict=True):
            answer = cover(groups, wanted)
            if answer is None:
                proven = False
                break
            proven &= answer[1]
            options.append(Option(amount, self._cost(answer[0]), answer[0]))
        return undominated(options, need), proven

    def _cost(self, members: tuple[int, ...]) -> float:
        return fsum(self.costs[one] for one in members)

    def _alike(self, members: list[int], gives: Counts) -> list[list[int]]:
        """Candidates that give the same, the cheapest first."""
        kinds: dict[bytes, list[int]] = {}
        for one, row in zip(members, gives, strict=True):
            kinds.setdefault(row.tobytes(), []).append(one)
        return [
            sorted(kind, key=lambda o: (self.costs[o], o)) for kind in kinds.values()
        ]

    def _some(
        self, members: list[int], gives: Counts, alike: list[list[int]]
    ) -> list[tuple[int, ...]]:
        """Growing sets of a cluster that is too large to look at all of them.

        By cost, by rate, vertex after vertex, and each kind of candidate on its own.
        """
        size = gives.sum(axis=1).tolist()
        rate = {one: self.costs[one] / n for one, n in zip(members, size, strict=True)}
        by_vertex: list[tuple[float, list[int]]] = []
        for column in gives.T:
            held = [one for one, n in zip(members, column, strict=True) if n]
            if held:
                cost = self._cost(tuple(held))
                by_vertex.append((cost / int(column.sum()), held))
        by_vertex.sort()
        orders = [
            sorted(members, key=lambda one: (self.costs[one], one)),
            sorted(members, key=lambda one: (rate[one], one)),
            list(dict.fromkeys(one for _, held in by_vertex for one in held)),
            *alike,
            *(held for _, held in by_vertex),
        ]
        chosen = {
            tuple(sorted(order[:count])): None
            for order in orders
            for count in range(1, len(order) + 1)
        }
        return list(chosen)


def _all(alike: list[list[int]]) -> list[tuple[int, ...]]:
    """Every choice of candidates, those that are alike by their number."""
    numbers = product(*(range(len(kind) + 1) for kind in alike))
    return [
        tuple(
            sorted(one for kind, n in zip(alike, row, strict=True) for one in kind[:n])
        )
        for row in numbers
        if any(row)
    ]

"""Which numbers of leaves can be added inside every vertex, by definition.

A *lot* is a number of leaves that obey one chain. What can be added inside a vertex is
a set of vectors, one count a lot: every sum of what its children can take, less what
its own rules forbid. Whole runs in each domain are all that a chain asks: dealt out in
address order, they keep it. There is no search and no rounding in it, so it shares no
fault with a planner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from phalanx_core.testing.needs import Chain
from phalanx_core.testing.slow_tree import SlowTree, Vertex


@dataclass(frozen=True, slots=True)
class Lots:
    """Leaves of one chain that are alike.

    Attributes
    ----------
    count
        How many where no home is named; else the most of any home.
    chain
        (size, level) entries that bind them, smallest first.
    part
        Index of the part they belong to, 0 for a gang without parts.
    level
        Level of their homes, None = they may go anywhere.
    due
        How many each home must take.
    """

    count: int
    chain: Chain = ()
    part: int = 0
    level: int | None = None
    due: Mapping[Vertex, int] = field(default_factory=dict)

    def allowed(self, vertex: Vertex) -> range | None:
        """Counts that the chain and the homes let into a vertex, None = any."""
        sizes = [size for size, level in self.chain if level == vertex.level]
        counts = range(0, self.count + 1, max(sizes)) if sizes else None
        if sizes and not vertex.real:
            counts = range(1)
        if vertex.level == self.level:
            due = self.due.get(vertex, 0)
            fits = counts is None or due in counts
            counts = range(due, due + 1) if fits else range(0)
        return counts


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Limits on the leaves of some parts, beside those of them that stay."""

    limits: Mapping[int, Sequence[int]]
    parts: frozenset[int]
    stays: Mapping[Vertex, int] = field(default_factory=dict)

    def most(self, vertex: Vertex) -> int | None:
        """Most leaves that may be added in a vertex, None = no limit."""
        row = self.limits.get(vertex.level)
        if row is None or not vertex.real:
            return None
        return max(row[vertex.domain] - self.stays.get(vertex, 0), 0)


class Adding:
    """Every way to add lots to the usable leaves of a tree, vertex by vertex.

    Parameters
    ----------
    tree
        Where to add.
    lots
        What to add. Lots with homes count inside their homes and are settled above.
    usable
        Leaf ids that may be taken.
    ceilings
        Limits.

    Notes
    -----
    A set of vectors is an int: bit sum(count of lot * its weight). O(vertices) sums of
    sets with as many bits as there are vectors.
    """

    def __init__(
        self,
        tree: SlowTree,
        lots: Sequence[Lots],
        usable: Collection[int],
        ceilings: Sequence[Ceiling] = (),
    ) -> None:
        self.tree, self.lots, self.ceilings = tree, lots, ceilings
        weights = [1]
        for lot in lots:
            # The sum of two vectors must not carry into the next lot's digits.
            weights.append(weights[-1] * (2 * lot.count + 1))
        self.weights = tuple(weights[:-1])
        self._free = tuple(range(lot.count + 1) for lot in lots)
        self._ruled = {level for lot in lots for _, level in lot.chain}
        self._ruled |= {lot.level for lot in lots if lot.level is not None}
        self._ruled |= {level for ceiling in ceilings for level in ceiling.limits}
        self._settled = self._due_below() if ceilings else {}
        self.sets = self._sets(usable)

    def holds_all(self, vertex: Vertex) -> bool:
        """Whether every lot fits, those without homes inside a vertex."""
        whole: Counter[int] = Counter()
        at = 0
        for lot, weight in zip(self.lots, self.weights, strict=True):
            if lot.level is None:
                at += lot.count * weight
                whole[lot.part] += lot.count
            else:
                whole[lot.part] += sum(lot.due.values())
        if not self.sets[vertex] >> at & 1:
            return False
        for ceiling in self.ceilings:
            total = sum(whole[part] for part in ceiling.parts)
            tops = (ceiling.most(above) for above in vertex.ancestors())
            if any(most is not None and total > most for most in tops):
                return False
        return True

    def _due_below(self) -> dict[tuple[Vertex, int], int]:
        """Leaves of each part due in the homes at and below every vertex."""
        found: Counter[tuple[Vertex, int]] = Counter()
        for lot in self.lots:
            for home, due in lot.due.items():
                for above in (home, *home.ancestors()):
                    found[above, lot.part] += due
        return found

    def _sets(self, usable: Collection[int]) -> dict[Vertex, int]:
        """Set of vectors of every vertex, leaves first."""
        found: dict[Vertex, int] = {}
        everywhere = _mask(self.weights, self._free, ())
        one = sum(1 << weight for weight in self.weights) | 1
        for vertex in self.tree.bottom_up:
            if vertex.level == 0:
                vectors = one if vertex.domain in usable else 1
            else:
                vectors = 1
                for child in vertex.children:
                    vectors = add_sets(vectors, found[child]) & everywhere
            if vertex.level in self._ruled:
                vectors = self._obeying(vertex, vectors)
            found[vertex] = vectors
        return found

    def _obeying(self, vertex: Vertex, vectors: int) -> int:
        """The vectors that a vertex's rules let in; lots at home are settled."""
        allowed = tuple(
            free if counts is None else counts
            for lot, free in zip(self.lots, self._free, strict=True)
            for counts in (lot.allowed(vertex),)
        )
        caps = []
        for ceiling in self.ceilings:
            most = ceiling.most(vertex)
            if most is not None:
                settled = sum(self._settled.get((vertex, p), 0) for p in ceiling.parts)
                # A lot that settles here is in the sum of what is due already.
                binds = tuple(
                    lot.part in ceiling.parts and lot.level != vertex.level
                    for lot in self.lots
                )
                caps.append((binds, most - settled))
        vectors &= _mask(self.weights, allowed, tuple(caps))
        for lot, weight in zip(self.lots, self.weights, strict=True):
            if lot.level == vertex.level:
                vectors >>= lot.due.get(vertex, 0) * weight
        return vectors


@lru_cache(maxsize=4096)
def _mask(
    weights: tuple[int, ...],
    allowed: tuple[range, ...],
    caps: tuple[tuple[tuple[bool, ...], int], ...],
) -> int:
    """Set of the vectors of allowed counts whose sums over lots keep the caps."""
    found = 0
    for vector in product(*allowed):
        kept = all(
            sum(n for n, bound in zip(vector, binds, strict=True) if bound) <= most
            for binds, most in caps
        )
        if kept:
            found |= 1 << sum(n * w for n, w in zip(vector, weights, strict=True))
    return found


def add_sets(first: int, second: int) -> int:
    """Every sum of one vector of each set.

    Examples
    --------
    >>> bin(add_sets(0b101, 0b11))  # {0, 2} + {0, 1}
    '0b1111'
    """
    total = 0
    while second:
        lowest = second & -second
        total |= first * lowest
        second ^= lowest
    return total

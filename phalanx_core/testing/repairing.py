"""Which repairs of a broken gang exist, by trying every fill, move and omission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from phalanx_core.testing.counting import Added, Needs
from phalanx_core.testing.slow_tree import SlowTree, Vertex


@dataclass(frozen=True, slots=True)
class Unit:
    """One group that lost a rank.

    Attributes
    ----------
    ranks, dead
        Its ranks, and those of them without a leaf.
    alive
        Leaf ids that its other ranks hold.
    home
        The vertex of the group's level it lives in.
    """

    ranks: tuple[int, ...]
    dead: tuple[int, ...]
    alive: tuple[int, ...]
    home: Vertex


@dataclass(slots=True)
class Wound:
    """A gang as it runs, with the ranks it lost and the leaves that may help.

    Parameters
    ----------
    tree, needs
        The cluster, and the gang resolved against it.
    leaves
        Leaf ids in rank order.
    dead
        Ranks that lost their leaf.
    usable
        Leaf ids a repair may take: available ones and spares.
    """

    tree: SlowTree
    needs: Needs
    leaves: Sequence[int]
    dead: frozenset[int]
    usable: Collection[int]

    def units(self) -> list[Unit]:
        """Broken groups in rank order."""
        group = self.needs.group
        found = []
        for start in range(0, self.needs.ranks, group):
            ranks = tuple(range(start, start + group))
            dead = tuple(rank for rank in ranks if rank in self.dead)
            if dead:
                alive = tuple(self.leaves[r] for r in ranks if r not in self.dead)
                home = self.tree.above(self.needs.group_level, self.leaves[start])
                found.append(Unit(ranks, dead, alive, home))
        return found

    def homes(self, whole: bool = True) -> list[Vertex]:
        """Vertices that may hold the repaired gang; the old one unless all moves."""
        if whole and len(self.dead) == self.needs.ranks:
            return self.needs.roots(self.tree)
        within = self.needs.within
        top = self.tree.depth if within is None else within
        return [self.tree.above(top, self.leaves[0])]

    def outcomes(self, omit: bool = False) -> Iterator[tuple[int, int]]:
        """(units moved whole, units left out) of every repair that exists.

        Parameters
        ----------
        omit
            Also repairs that leave units as they are.

        Notes
        -----
        O(3^units) where limits tell units apart; else alike units count once.
        """
        kinds = self._kinds()
        parts = 3 if omit else 2
        splits = [list(_splits(len(alike), parts)) for alike in kinds]
        for choice in product(*splits):
            filled: list[Unit] = []
            omitted: list[Unit] = []
            moved = 0
            for alike, split in zip(kinds, choice, strict=True):
                filled += alike[: split[0]]
                moved += split[1]
                omitted += alike[len(alike) - split[2] :] if omit and split[2] else []
            if self._exists(filled, moved, omitted):
                yield moved, len(omitted)

    def _kinds(self) -> list[list[Unit]]:
        """Units that no rule tells apart, together."""
        found: dict[tuple[object, ...], list[Unit]] = {}
        for unit in self.units():
            mark = unit.alive if self.needs.limits else ()
            found.setdefault((unit.home, len(unit.dead), mark), []).append(unit)
        return list(found.values())

    def _exists(
        self, filled: Sequence[Unit], moved: int, omitted: Sequence[Unit]
    ) -> bool:
        """Whether leaves for these fills and so many whole groups exist."""
        fills: Counter[Vertex] = Counter()
        for unit in filled:
            fills[unit.home] += len(unit.dead)
        total = fills.total() + moved * self.needs.group
        added = Added(self.needs, self.usable, self._stays(filled, omitted), fills)
        counts = added.counts(self.tree)
        return any(
            counts[home] >> total & 1 and added.allowed_above(home, total)
            for home in self.homes(whole=not omitted and not filled)
        )

    def _stays(
        self, filled: Sequence[Unit], omitted: Sequence[Unit]
    ) -> Counter[Vertex]:
        """Ranks that keep their leaf, counted in every vertex above it."""
        stays: Counter[Vertex] = Counter()
        if not self.needs.limits:
            return stays
        broken = {rank for unit in self.units() for rank in unit.ranks}
        kept = [leaf for r, leaf in enumerate(self.leaves) if r not in broken]
        kept += [leaf for unit in (*filled, *omitted) for leaf in unit.alive]
        for leaf in kept:
            for level in range(self.tree.depth + 1):
                stays[self.tree.above(level, leaf)] += 1
        return stays


def _splits(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Every way to write a count as an ordered sum of so many parts."""
    if parts == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in _splits(count - first, parts - 1):
            yield (first, *rest)

"""Which repairs of a broken gang exist, by trying every fill, move and omission."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product
from typing import NamedTuple, TypeAlias

from phalanx_core.testing.lots import Adding, Ceiling, Lots
from phalanx_core.testing.needs import Chain, Needs
from phalanx_core.testing.slow_tree import SlowTree, Vertex


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of ranks that lost one: an innermost slice, or a group.

    Attributes
    ----------
    ranks, dead
        Its ranks, and those of them without a leaf.
    alive
        Leaf ids that its other ranks hold.
    home
        The vertex of its level it lives in.
    groups
        Its groups that lost a rank; the unit's own ranks where it is a group.
    part
        Index of its part.
    """

    ranks: tuple[int, ...]
    dead: tuple[int, ...]
    alive: tuple[int, ...]
    home: Vertex
    groups: tuple[Unit, ...] = ()
    part: int = 0


class Fate(NamedTuple):
    """What becomes of a broken unit.

    Attributes
    ----------
    unit
        The unit.
    moves, omitted
        Whether it moves whole, whether it is left as it is; neither: it stays.
    moved
        Of a unit that stays: for each broken group whether it moves whole inside the
        unit's home. The others are filled in their own.
    """

    unit: Unit
    moves: bool = False
    omitted: bool = False
    moved: tuple[bool, ...] = ()

    def kept(self) -> list[int]:
        """Ranks that keep a living leaf."""
        if self.moves:
            return []
        gone = set(self.unit.dead)
        for group, moves in zip(self.unit.groups, self.moved, strict=False):
            gone |= set(group.ranks) if moves else set()
        return [rank for rank in self.unit.ranks if rank not in gone]


# Lots by part, chain and level of their homes.
Kind: TypeAlias = tuple[int, Chain, int | None]


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
    leaving
        Those of the dead ranks that live, and leave with the slice around them.
    """

    tree: SlowTree
    needs: Needs
    leaves: Sequence[int]
    dead: frozenset[int]
    usable: Collection[int]
    leaving: frozenset[int] = frozenset()
    _known: dict[object, bool] = field(default_factory=dict, init=False, repr=False)

    @property
    def lost_all(self) -> bool:
        """Whether no rank lives that holds the gang where it is."""
        return len(self.dead - self.leaving) == self.needs.ranks

    def around(self) -> list[range]:
        """Slices around the broken units, which a repair that widens may move whole."""
        runs = {
            run: None for unit in self.units() for run, _, _ in self.enclosing(unit)
        }
        return list(runs)

    def widened(self, runs: Collection[range]) -> Wound:
        """The same wound when some slices leave whole, what lives in them too."""
        leaving = frozenset(rank for run in runs for rank in run) - self.dead
        dead = self.dead | leaving
        return replace(self, dead=dead, leaving=leaving)

    def units(self) -> list[Unit]:
        """Broken units in rank order, part after part."""
        found = []
        for at, (first, part) in enumerate(self.needs.members()):
            size, level = part.unit
            for start in range(first, first + part.ranks, size):
                unit = self._run(range(start, start + size), level)
                if not unit.dead:
                    continue
                groups: tuple[Unit, ...] = (unit,)
                if part.slices:
                    # A group of one is at home wherever its unit is.
                    lower = part.group_level if part.group > 1 else level
                    starts = range(start, start + size, part.group)
                    runs = [self._run(range(s, s + part.group), lower) for s in starts]
                    groups = tuple(run for run in runs if run.dead)
                found.append(
                    Unit(unit.ranks, unit.dead, unit.alive, unit.home, groups, at)
                )
        return found

    def _run(self, ranks: range, level: int) -> Unit:
        dead = tuple(rank for rank in ranks if rank in self.dead)
        alive = tuple(self.leaves[rank] for rank in ranks if rank not in self.dead)
        home = self.tree.above(level, self.leaves[ranks.start])
        return Unit(tuple(ranks), dead, alive, home)

    def homes(self, whole: bool = True) -> list[Vertex]:
        """Vertices that may hold the repaired gang; the old one unless all moves."""
        if whole and self.lost_all:
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
        Exponential in broken units where limits tell them apart; else alike units
        count once.
        """
        kinds = [[self._fates(u, omit) for u in alike] for alike in self._kinds()]
        picks = [
            list(combinations_with_replacement(range(len(kind[0])), len(kind)))
            for kind in kinds
        ]
        for choice in product(*picks):
            fates = [
                ways[at]
                for kind, pick in zip(kinds, choice, strict=True)
                for ways, at in zip(kind, pick, strict=True)
            ]
            if self.exists(fates):
                moves = sum(fate.moves for fate in fates)
                yield moves, sum(fate.omitted for fate in fates)

    def _fates(self, unit: Unit, omit: bool) -> list[Fate]:
        """Everything that may become of a unit."""
        part = self._part(unit)
        ways = (False, True) if part.slices and part.group > 1 else (False,)
        fates = [
            Fate(unit, moved=way) for way in product(ways, repeat=len(unit.groups))
        ]
        fates.append(Fate(unit, moves=True))
        return [*fates, Fate(unit, omitted=True)] if omit else fates

    def _part(self, unit: Unit) -> Needs:
        return list(self.needs.members())[unit.part][1]

    def _kinds(self) -> list[list[Unit]]:
        """Units that no rule tells apart, together."""
        found: dict[object, list[Unit]] = {}
        for unit in self.units():
            mark: list[object] = [unit.part, unit.home]
            mark += [(group.home, len(group.dead)) for group in unit.groups]
            mark += [run.start for run, _, _ in self.enclosing(unit)]
            mark += unit.alive if self.needs.limited else ()
            found.setdefault(tuple(mark), []).append(unit)
        return list(found.values())

    def enclosing(self, unit: Unit) -> list[tuple[range, int, bool]]:
        """Runs above a unit, innermost first, below the whole gang.

        Returns
        -------
        Ranks, level, and whether the run must stay where it is because a rank of it
        lives. That is so for a part in its ``within``, as for a whole gang. A slice is
        held by ranks that stay alone: where all its units move it may go with them.
        """
        first, part = list(self.needs.members())[unit.part]
        entries = [(*entry, False) for entry in part.slices[1:]]
        if self.needs.parts and part.within is not None:
            entries.append((part.ranks, part.within, True))
        found = []
        for size, level, top in entries:
            start = first + (unit.ranks[0] - first) // size * size
            run = range(start, start + size)
            held = top and any(rank not in self.dead for rank in run)
            found.append((run, level, held))
        return found

    def exists(self, fates: Sequence[Fate]) -> bool:
        """Whether leaves exist that let every broken unit meet its fate."""
        due = self._due(fates)
        kept = self._kept(fates) if self.needs.limited else []
        whole = all(fate.moves for fate in fates)
        asked = frozenset((kind, frozenset(at.items())) for kind, at in due.items())
        key = (asked, tuple(kept), whole)
        if key not in self._known:
            self._known[key] = self._room(due, kept, whole)
        return self._known[key]

    def _room(
        self,
        due: dict[Kind, Counter[Vertex | None]],
        kept: Sequence[int],
        whole: bool,
    ) -> bool:
        """Whether all that is due can be added to a home of the gang."""
        lots = []
        for (part, chain, level), homes in due.items():
            most = max(homes.values())
            named = {home: n for home, n in homes.items() if home is not None}
            lots.append(Lots(most, chain, part, level, named))
        adding = Adding(self.tree, lots, self.usable, self._ceilings(kept))
        return any(map(adding.holds_all, self.homes(whole)))

    def _due(self, fates: Sequence[Fate]) -> dict[Kind, Counter[Vertex | None]]:
        """Leaves that fates ask for: by kind of lot and home, None = anywhere."""
        due: dict[Kind, Counter[Vertex | None]] = {}
        leaving = {rank for fate in fates if fate.moves for rank in fate.unit.ranks}
        for fate in fates:
            unit, part = fate.unit, self._part(fate.unit)
            for group, moves in zip(unit.groups, fate.moved, strict=False):
                chain = ((part.group, part.group_level),) if moves else ()
                home = unit.home if moves else group.home
                count = len(group.ranks if moves else group.dead)
                due.setdefault((unit.part, chain, home.level), Counter())[home] += count
            if fate.moves:
                bounds, top = self._bounds(unit, leaving)
                kind = (unit.part, bounds, None if top is None else top.level)
                due.setdefault(kind, Counter())[top] += len(unit.ranks)
        return due

    def _bounds(
        self, unit: Unit, leaving: Collection[int]
    ) -> tuple[Chain, Vertex | None]:
        """Chain of a unit that moves, and the domain of the lowest run that stays."""
        part = self._part(unit)
        chain = tuple(entry for entry in part.chain if entry[0] <= part.unit[0])
        for run, level, held in self.enclosing(unit):
            if held or any(rank not in leaving for rank in run):
                return chain, self.tree.above(level, self.leaves[run.start])
            chain += ((len(run), level),)
        return chain, None

    def _kept(self, fates: Sequence[Fate]) -> list[int]:
        """Ranks whose leaf counts against limits: living ones that stay."""
        broken = {rank for fate in fates for rank in fate.unit.ranks}
        kept = [rank for rank in range(self.needs.ranks) if rank not in broken]
        return sorted(kept + [rank for fate in fates for rank in fate.kept()])

    def _ceilings(self, kept: Sequence[int]) -> list[Ceiling]:
        """Limits of the gang and of its parts beside the ranks that stay."""
        needs = self.needs
        members = list(needs.members())
        spans = [(needs.limits, range(needs.ranks), range(len(members)))]
        for at, (first, part) in enumerate(members if needs.parts else ()):
            ranks = range(first, first + part.ranks)
            spans.append((part.limits, ranks, range(at, at + 1)))
        found = []
        for limits, ranks, parts in spans:
            stays: Counter[Vertex] = Counter()
            for rank in kept if limits else ():
                for level in range(self.tree.depth + 1 if rank in ranks else 0):
                    stays[self.tree.above(level, self.leaves[rank])] += 1
            found.append(Ceiling(limits, frozenset(parts), stays))
        return [ceiling for ceiling in found if ceiling.limits]

"""Gangs of several sizes: which one is placed, which ranks end, where new ones go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from phalanx_core.testing.lots import Adding, Ceiling, Lots
from phalanx_core.testing.needs import GangLike, Needs
from phalanx_core.testing.repair_rules import broken_homes
from phalanx_core.testing.repairing import Wound
from phalanx_core.testing.rules import broken_limits, broken_shape
from phalanx_core.testing.slow_tree import SlowTree, Vertex


@dataclass(frozen=True, slots=True)
class Sized:
    """A gang at one of its sizes; everything else is read from the gang itself."""

    gang: GangLike
    ranks: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gang, name)


def sizes_of(gang: GangLike) -> tuple[int, ...]:
    """All ranks a gang may have, the most first.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> gang = SimpleNamespace(ranks=8, templates=(4, 2))
    >>> sizes_of(gang), sizes_of(Sized(gang, 4))
    ((8, 4, 2), (8, 4, 2))
    """
    whole = gang.gang if isinstance(gang, Sized) else gang
    return (whole.ranks, *getattr(whole, "templates", ()))


def outermost(needs: Needs) -> int:
    """Ranks of a largest slice, else group: what a gang loses or gains whole."""
    return needs.slices[-1][0] if needs.slices else needs.group


def units_hit(needs: Needs, ranks: Collection[int]) -> set[int]:
    """Largest slices, else groups, that some ranks are in, by number."""
    return {rank // outermost(needs) for rank in ranks}


def ranks_left(needs: Needs, dead: Collection[int], size: int) -> list[int]:
    """Ranks that stay when a gang is made smaller: by their numbers before.

    Parameters
    ----------
    needs, dead
        The gang as it runs, and its ranks without a leaf.
    size
        Ranks afterwards.

    Examples
    --------
    >>> gang = Needs(8, 2, 1, None, None, True, {})
    >>> ranks_left(gang, [3], 6), ranks_left(gang, [3], 4)
    ([0, 1, 4, 5, 6, 7], [0, 1, 4, 5])
    """
    unit = outermost(needs)
    hit = units_hit(needs, dead)
    # The last of this order ends first: units hit by number, then the highest.
    order = [one for one in range(needs.ranks // unit) if one not in hit]
    order += sorted(hit, reverse=True)
    stay = order[: size // unit]
    return [rank for rank in range(needs.ranks) if rank // unit in stay]


def largest_without(
    needs: Needs, sizes: Sequence[int], hit: Collection[int]
) -> int | None:
    """The most ranks below the present ones when these units must end; None: no size.

    Examples
    --------
    >>> gang = Needs(8, 2, 1, None, None, True, {})
    >>> largest_without(gang, (8, 6, 2), {0}), largest_without(gang, (8, 6), {0, 1})
    (6, None)
    """
    most = needs.ranks - len(hit) * outermost(needs)
    return max(
        (size for size in sizes if size < needs.ranks and size <= most), default=None
    )


def broken_shrink(wound: Wound, repair: Any, spares: Sequence[Vertex]) -> list[str]:
    """Rules that a repair breaks which makes the gang smaller; empty = legal.

    Parameters
    ----------
    wound
        The gang before.
    repair
        The answer: ``moves`` and ``kept`` name ranks by their numbers before.
    spares
        Spare vertices before the repair.

    Returns
    -------
    One sentence a rule. That as few units end as can be is not looked at.
    """
    needs, tree = wound.needs, wound.tree
    moves = {rank: (old, new) for rank, old, new in repair.moves.tolist()}
    kept = [int(rank) for rank in repair.kept]
    broken = _bad_end(wound, kept)
    touched = {rank for unit in wound.units() for rank in unit.ranks}
    for rank, (old, new) in moves.items():
        if rank not in touched or rank not in kept:
            broken.append(f"rank {rank} moves though it ends or its unit is whole")
        elif wound.leaves[rank] != old or new not in wound.usable:
            broken.append(f"rank {rank} moves from leaf {old} to leaf {new}")
    if len({new for _, new in moves.values()}) != len(repair.moves):
        broken.append("a rank moves twice, or two move to one leaf")
    lost = [rank for rank in kept if rank in wound.dead and rank not in moves]
    if lost:
        broken.append(f"ranks {lost} stay without a leaf")
    if broken:
        return broken
    leaves = [moves[r][1] if r in moves else v for r, v in enumerate(wound.leaves)]
    stay = set(range(needs.ranks)) - set(moves) - wound.dead
    gone = wound.dead - set(moves)
    broken += broken_limits(tree, needs, leaves, stay, gone)
    broken += broken_homes(wound, leaves)
    after = [leaves[rank] for rank in kept]
    broken += broken_shape(tree, replace(needs, ranks=len(kept)), after)
    taken = {new for _, new in moves.values()}
    opened = sum(not taken.isdisjoint(vertex.leaves) for vertex in spares)
    told = (repair.level_before, repair.level_after, repair.spares_used)
    found = (tree.span_level(list(wound.leaves)), tree.span_level(after), opened)
    if told != found:
        broken.append(f"levels before, after and spares {told} should be {found}")
    return broken


def _bad_end(wound: Wound, kept: Sequence[int]) -> list[str]:
    """Whole units end; of those that lost nothing the highest."""
    needs = wound.needs
    unit = outermost(needs)
    ended = units_hit(needs, set(range(needs.ranks)) - set(kept))
    stay = [one for one in range(needs.ranks // unit) if one not in ended]
    if list(kept) != [rank for rank in range(needs.ranks) if rank // unit in stay]:
        return [f"ranks {list(kept)} are not whole units in order"]
    whole = ended - units_hit(needs, wound.dead)
    if whole and stay and min(whole) < max(stay):
        return [f"unit {min(whole)} ends, nothing ails it and {max(stay)} is higher"]
    return []


@dataclass(frozen=True, slots=True)
class Growth:
    """A gang that wants more ranks behind those it has.

    Attributes
    ----------
    tree, needs, leaves
        The cluster, and the gang as it runs; its limits bind all its ranks.
    more
        How many ranks more.
    usable
        Leaf ids that may be taken: available ones, no spares.
    """

    tree: SlowTree
    needs: Needs
    leaves: Sequence[int]
    more: int
    usable: Collection[int]

    def home(self, level: int) -> Vertex:
        """The vertex of a level that the gang lives in."""
        return self.tree.above(level, self.leaves[0])

    def lowest_level(self) -> int | None:
        """Lowest level of a vertex around the gang that has room; None: none has."""
        if self.more > len(self.usable):
            return None
        lots = [Lots(self.more, self.needs.chain)]
        adding = Adding(self.tree, lots, self.usable, self._ceilings())
        top = self.needs.within
        top = self.tree.depth if top is None else top
        for level in range(self.tree.span_level(list(self.leaves)), top + 1):
            if adding.holds_all(self.home(level)):
                return level
        return None

    def _ceilings(self) -> list[Ceiling]:
        stays: Counter[Vertex] = Counter()
        for leaf in self.leaves:
            for level in range(self.tree.depth + 1):
                stays[self.tree.above(level, leaf)] += 1
        limits: Mapping[int, Sequence[int]] = self.needs.limits
        return [Ceiling(limits, frozenset({0}), stays)] if limits else []

    def broken(self, repair: Any) -> list[str]:
        """Rules that an answer breaks, one sentence each; empty = legal and near."""
        size = self.needs.ranks + self.more
        kept = [*range(self.needs.ranks), *[-1] * self.more]
        if repair.kept.tolist() != kept:
            return [f"ranks kept are {repair.kept.tolist()}"]
        rows = repair.moves.tolist()
        new = [row[2] for row in rows]
        if [row[:2] for row in rows] != [
            [r, -1] for r in range(len(self.leaves), size)
        ]:
            return [f"moves {rows} are not those of the new ranks"]
        after = [*self.leaves, *new]
        broken = []
        if repair.leaves.tolist() != after:
            broken.append(f"leaves should be {after}")
        if not set(new) <= set(self.usable):
            broken.append(f"leaves {new} are not all available")
        places = [self.tree.position.get(leaf, -1) for leaf in new]
        if places != sorted(places):
            broken.append("new ranks are not in address order")
        needs = replace(self.needs, ranks=size)
        broken += broken_shape(self.tree, needs, after)
        broken += broken_limits(self.tree, needs, after, range(len(self.leaves)))
        if broken:
            return broken
        return self._bad_levels(repair, after)

    def _bad_levels(self, repair: Any, after: list[int]) -> list[str]:
        told = (repair.level_before, repair.level_after)
        found = (self.tree.span_level(list(self.leaves)), self.tree.span_level(after))
        if told != found:
            return [f"levels {told} should be {found}"]
        best = self.lowest_level()
        if best is None or found[1] > best:
            return [f"grows to level {found[1]} where {best} would do"]
        return []

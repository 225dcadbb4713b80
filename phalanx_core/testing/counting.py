"""Whether a gang fits, how low, and what each domain can take, by counting."""

from __future__ import annotations

from collections.abc import Collection

from phalanx_core.testing.lots import Adding, Ceiling, Lots
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.slow_tree import SlowTree, Vertex


def lowest_level(tree: SlowTree, needs: Needs, usable: Collection[int]) -> int | None:
    """Lowest level of a vertex that can hold the whole gang, None = no vertex can.

    Notes
    -----
    O(vertices) sums of sets of as many vectors as the parts' ranks multiply to.
    """
    adding = _adding(tree, needs, usable)
    top = tree.depth if needs.within is None else needs.within
    for row in tree.levels[: top + 1] if adding else ():
        for vertex in row:
            if needs.real_above(vertex) and adding and adding.holds_all(vertex):
                return vertex.level
    return None


def fits(tree: SlowTree, needs: Needs, usable: Collection[int]) -> bool:
    """Whether any legal placement exists on the usable leaves."""
    adding = _adding(tree, needs, usable)
    return adding is not None and any(map(adding.holds_all, needs.roots(tree)))


def capacities(
    tree: SlowTree, needs: Needs, usable: Collection[int], level: int
) -> dict[Vertex, int]:
    """Most ranks of a gang without parts that each vertex of a level can take.

    Every whole number of units up to it is achievable as well: a run of ranks that is
    left out breaks nothing.
    """
    lot = Lots(len(tree.leaves), needs.chain)
    sets = Adding(tree, [lot], usable, ceilings(needs)).sets
    return {vertex: sets[vertex].bit_length() - 1 for vertex in tree.levels[level]}


def ceilings(needs: Needs) -> list[Ceiling]:
    """The limits of a gang and of its parts, when nothing stays."""
    parts = [part for _, part in needs.members()] if needs.parts else []
    found = [Ceiling(needs.limits, frozenset(range(len(parts) or 1)))]
    found += [Ceiling(part.limits, frozenset({at})) for at, part in enumerate(parts)]
    return [ceiling for ceiling in found if ceiling.limits]


def _adding(tree: SlowTree, needs: Needs, usable: Collection[int]) -> Adding | None:
    """The gang's ranks as lots without homes; None if they are too many anyway."""
    if needs.ranks > len(usable):
        return None
    lots = [
        Lots(part.ranks, part.full_chain if needs.parts else part.chain, at)
        for at, (_, part) in enumerate(needs.members())
    ]
    return Adding(tree, lots, usable, ceilings(needs))

"""Every placement and every repair of a tiny tree, by trying them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, permutations

from phalanx_core.testing.counting import GangLike, LimitTable, Needs
from phalanx_core.testing.rules import broken_limits, broken_placement, broken_shape
from phalanx_core.testing.slow_tree import SlowTree
from phalanx_core.topology import Topology


def brute_force_placements(
    topology: Topology,
    available: Collection[int],
    gang: GangLike,
    limits: LimitTable | None = None,
    type: str | None = None,
) -> Iterator[tuple[int, ...]]:
    """Every legal placement of a gang, as leaf ids in rank order.

    Parameters
    ----------
    topology
        A tree of ten leaves or so.
    available
        Leaf ids that may be taken.
    gang, limits, type
        As for ``Planner.place``.

    Notes
    -----
    O(2^leaves): every subset of the right size is tried.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> pair = SimpleNamespace(ranks=2, group=2, group_level="host", within=None,
    ...                        prefer=None, aim="near", limits=None)
    >>> hosts = Topology.from_labels(["host"], [["a", "a", "b", "b"]])
    >>> list(brute_force_placements(hosts, {0, 1, 2, 3}, pair))
    [(0, 1), (2, 3)]
    """
    tree = SlowTree(topology, type)
    needs = Needs.of(topology, gang, limits)
    usable = [leaf for leaf in tree.leaves if leaf in available]
    for leaves in combinations(usable, needs.ranks):
        if not broken_placement(tree, needs, leaves, usable):
            yield leaves


def brute_force_repairs(
    tree: SlowTree,
    needs: Needs,
    leaves: Sequence[int],
    dead: Collection[int],
    usable: Sequence[int],
) -> Iterator[tuple[int, ...]]:
    """Every legal repair of a gang: new leaves in rank order.

    Parameters
    ----------
    tree, needs, leaves
        The gang as it runs, ``leaves`` in rank order.
    dead
        Ranks that lost their leaf.
    usable
        Leaf ids that a repair may take: available ones and spares.

    Notes
    -----
    Each broken group is filled (its dead ranks move inside their domain) or moves
    whole; every subset of ``usable`` is tried for every such choice.
    """
    groups = sorted({rank // needs.group for rank in dead})
    alive = [leaf for rank, leaf in enumerate(leaves) if rank not in dead]
    for choice in range(1 << len(groups)):
        moved = [group for at, group in enumerate(groups) if choice >> at & 1]
        ranks = [
            rank
            for rank in range(needs.ranks)
            if rank // needs.group in moved or rank in dead
        ]
        for chosen in permutations(usable, len(ranks)):
            new = list(leaves)
            for rank, leaf in zip(ranks, chosen, strict=True):
                new[rank] = leaf
            stay = [leaf for rank, leaf in enumerate(leaves) if rank not in ranks]
            if (
                list(chosen) == _ordered(tree, ranks, chosen, needs.group)
                and not broken_shape(tree, needs, new)
                and not broken_limits(tree, needs, new, stay)
                and _same_home(tree, needs, alive, new)
                and _filled_at_home(tree, needs, leaves, new, dead, moved)
            ):
                yield tuple(new)


def _ordered(
    tree: SlowTree, ranks: Sequence[int], chosen: Sequence[int], group: int
) -> list[int]:
    """The same leaves with each group's in address order."""
    keys = [
        (rank // group, tree.position[leaf])
        for rank, leaf in zip(ranks, chosen, strict=True)
    ]
    return [tree.leaves[at] for _, at in sorted(keys)]


def _same_home(
    tree: SlowTree, needs: Needs, alive: Sequence[int], new: Sequence[int]
) -> bool:
    """Whether the gang is still where its survivors lived."""
    top = tree.depth if needs.within is None else needs.within
    return not alive or tree.above(top, alive[0]) is tree.above(top, new[0])


def _filled_at_home(
    tree: SlowTree,
    needs: Needs,
    old: Sequence[int],
    new: Sequence[int],
    dead: Collection[int],
    moved: Sequence[int],
) -> bool:
    """Whether dead ranks of groups that do not move stay in their group's domain."""
    level = needs.group_level
    return all(
        tree.above(level, old[rank]) is tree.above(level, new[rank])
        for rank in dead
        if rank // needs.group not in moved
    )

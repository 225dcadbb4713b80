"""Every placement and every repair of a tiny tree, by trying them all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from phalanx_core.testing.needs import GangLike, LimitTable, Needs
from phalanx_core.testing.repair_rules import broken_homes
from phalanx_core.testing.repairing import Unit, Wound
from phalanx_core.testing.rules import (
    broken_limits,
    broken_placement,
    broken_runs,
    broken_shape,
)
from phalanx_core.testing.slow_tree import SlowTree, Vertex
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
    O(2^leaves) for each part: every subset of the right size is tried, for a gang of
    parts every disjoint choice of subsets. Ranks are in address order, part by part.

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
    parts = [part for _, part in needs.members()]
    for leaves in _dealt(tree, parts, usable):
        if not broken_placement(tree, needs, leaves, usable):
            yield leaves


def _dealt(
    tree: SlowTree, parts: Sequence[Needs], usable: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Disjoint leaves for every part, each part's legal by itself."""
    if not parts:
        yield ()
        return
    for leaves in combinations(usable, parts[0].ranks):
        if broken_shape(tree, parts[0], leaves):
            continue
        rest = [leaf for leaf in usable if leaf not in leaves]
        for others in _dealt(tree, parts[1:], rest):
            yield leaves + others


@dataclass(frozen=True, slots=True)
class Shift:
    """Ranks that get new leaves together: inside a vertex, not all in another."""

    ranks: tuple[int, ...]
    inside: Vertex | None = None
    outside: Vertex | None = None


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
    Each broken unit stays or moves whole; in one that stays each broken group is filled
    or moves whole inside the unit's domain. Every subset of ``usable`` is tried for
    every such choice, in address order in each run that moves.
    """
    wound = Wound(tree, needs, leaves, frozenset(dead), frozenset(usable))
    for choice in product(*(list(_shifts(unit)) for unit in wound.units())):
        shifts = [shift for one in choice for shift in one]
        moved = {rank for shift in shifts for rank in shift.ranks}
        stay = {rank: v for rank, v in enumerate(leaves) if rank not in moved}
        in_order = [leaf for leaf in tree.leaves if leaf in wound.usable]
        for ranked in _filled(wound, shifts, stay, in_order):
            new = [ranked[rank] for rank in range(needs.ranks)]
            if not (
                broken_shape(tree, needs, new)
                or broken_limits(tree, needs, new, stay)
                or broken_homes(wound, new)
            ):
                yield tuple(new)


def _shifts(unit: Unit) -> Iterator[tuple[Shift, ...]]:
    """What may move when a unit is mended: it whole, or something of each group."""
    yield (Shift(unit.ranks, None, unit.home),)
    ways = []
    for group in unit.groups:
        ways.append([Shift(group.dead, group.home)])
        if group.home is not unit.home:
            ways[-1].append(Shift(group.ranks, unit.home, group.home))
    yield from product(*ways)


def _filled(
    wound: Wound, shifts: Sequence[Shift], ranked: dict[int, int], usable: Sequence[int]
) -> Iterator[dict[int, int]]:
    """Leaves for every shift in turn, cut off where a run is broken already."""
    if not shifts:
        yield ranked
        return
    shift = shifts[0]
    above = wound.tree.above
    inside, outside = shift.inside, shift.outside
    able = [v for v in usable if inside is None or above(inside.level, v) is inside]
    for chosen in combinations(able, len(shift.ranks)):
        if outside and all(above(outside.level, v) is outside for v in chosen):
            continue
        now = {**ranked, **dict(zip(shift.ranks, chosen, strict=True))}
        if _runs_hold(wound, now):
            rest = [leaf for leaf in usable if leaf not in chosen]
            yield from _filled(wound, shifts[1:], now, rest)


def _runs_hold(wound: Wound, ranked: dict[int, int]) -> bool:
    """Whether no run of the ranks that have a leaf is broken."""
    return not any(
        broken_runs(wound.tree, part.chain, range(first, first + part.ranks), ranked)
        for first, part in wound.needs.members()
    )

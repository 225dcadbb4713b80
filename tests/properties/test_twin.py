"""The slow twin itself, against enumeration of every leaf subset."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

import pytest

from phalanx_core.testing import (
    SlowPlanner,
    SlowTree,
    SpareShape,
    brute_force_placements,
    brute_force_repairs,
    nested_topology,
    random_topology,
)
from phalanx_core.testing.counting import fits, lowest_level
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.repairing import Wound
from phalanx_core.topology import Topology


def _gang(rng: Random, depth: int, most: int) -> SimpleNamespace:
    group = rng.choice((1, 1, 2, 3))
    group_level = rng.randint(1, depth)
    return SimpleNamespace(
        ranks=group * rng.randint(1, most),
        group=group,
        group_level=group_level,
        within=rng.choice((None, rng.randint(group_level, depth))),
        prefer=None,
        aim="near",
        limits=None,
    )


def _limits(rng: Random, topology: Topology) -> dict[int, list[int]] | None:
    if rng.random() < 0.5:
        return None
    level = rng.randint(0, len(topology.levels) - 1)
    return {level: [rng.randint(0, 4) for _ in range(topology.domain_count(level))]}


def test_counts_equal_enumeration_of_placements(seed: int) -> None:
    """Achievable counts find a placement, and its level, exactly where one exists."""
    rng = Random(seed)
    found = 0
    for _ in range(2000):
        topology = random_topology(rng, 9)
        tree = SlowTree(topology)
        free = {leaf for leaf in tree.leaves if rng.random() < 0.75}
        gang = _gang(rng, tree.depth, 4)
        needs = Needs.of(topology, gang, _limits(rng, topology))
        legal = brute_force_placements(topology, free, gang, needs.limits)
        levels = [tree.span_level(list(leaves)) for leaves in legal]
        assert fits(tree, needs, free) == bool(levels)
        assert lowest_level(tree, needs, free) == min(levels, default=None)
        found += bool(levels)
    assert found > 500


def test_outcomes_equal_enumeration_of_repairs(seed: int) -> None:
    """Fill-or-move counting finds a repair, and the fewest moves, where one exists."""
    rng = Random(seed)
    fewest = {0: 0, 1: 0, 2: 0}
    while sum(fewest.values()) < 700:
        topology = random_topology(rng, 8)
        tree = SlowTree(topology)
        gang = _gang(rng, tree.depth, 2)
        placements = list(brute_force_placements(topology, tree.leaves, gang))
        if not placements:
            continue
        leaves = rng.choice(placements)
        needs = Needs.of(topology, gang, _limits(rng, topology))
        lost = rng.randint(1, min(3, gang.ranks))
        dead = frozenset(rng.sample(range(gang.ranks), lost))
        usable = [v for v in tree.leaves if v not in leaves and rng.random() < 0.85]
        outcomes = list(Wound(tree, needs, leaves, dead, set(usable)).outcomes())
        moved = [
            _groups_moved(tree, needs, leaves, new)
            for new in brute_force_repairs(tree, needs, leaves, dead, usable)
        ]
        assert bool(outcomes) == bool(moved)
        if moved:
            assert min(count for count, _ in outcomes) == min(moved)
            fewest[min(moved)] += 1
    assert min(fewest.values()) >= 8


def _groups_moved(
    tree: SlowTree, needs: Needs, old: tuple[int, ...], new: tuple[int, ...]
) -> int:
    level = needs.group_level
    return len(
        {
            rank // needs.group
            for rank in range(needs.ranks)
            if tree.above(level, old[rank]) is not tree.above(level, new[rank])
        }
    )


@pytest.mark.parametrize(
    ("shape", "count", "spares"),
    [
        ([[2, 2, 2]], 1, [4, 5]),  # ties go to the highest address
        ([[2, 3, 2]], 1, [2, 3, 4]),  # the largest host wins
        ([[2, 3, 2]], 2, [2, 3, 4, 5, 6]),
        ([[2, 2], [4]], 1, [2, 3]),  # a rack of one host holds none
    ],
)
def test_spares_by_definition(
    shape: list[list[int]], count: int, spares: list[int]
) -> None:
    """The largest idle hosts are held back, ties to the highest address."""
    topology = nested_topology(("host", "rack"), shape)
    twin = SlowPlanner(topology, spares=SpareShape("rack", "host", count))
    assert twin.spares() == spares


def test_release_and_repair_states_by_hand() -> None:
    """Down leaves of a released job are quarantined, its suspect ones are not."""
    twin = SlowPlanner(Topology.from_spec("host:2 gpu:2"))
    gang = SimpleNamespace(
        ranks=3,
        group=1,
        group_level=None,
        within=None,
        prefer=None,
        aim="near",
        limits=None,
    )
    twin.commit_place("a", gang, [0, 1, 2])
    twin.fail([1])
    twin.suspect([1, 2])
    twin.release("a")
    states = [twin.state(leaf) for leaf in range(4)]
    assert states == [
        ("free", "up", False),
        ("quarantine", "down", False),
        ("free", "suspect", False),
        ("free", "up", False),
    ]
    assert twin.fenced("a") == [1]

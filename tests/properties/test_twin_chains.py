"""The slow twin's slices, parts and balance, against enumeration of leaf subsets."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from phalanx_core.testing import (
    SlowPlanner,
    SlowTree,
    brute_force_placements,
    nested_topology,
    random_topology,
)
from phalanx_core.testing.balance import balanced_shares, broken_balance
from phalanx_core.testing.counting import fits, lowest_level
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.rules import broken_shape
from phalanx_core.topology import Topology
from tests.properties.drawing import chain_fields, random_limits, whole_fields

PLAIN: dict[str, Any] = {
    "group": 1,
    "group_level": None,
    "within": None,
    "prefer": None,
    "aim": "near",
    "limits": None,
}


def gang_of(**fields: Any) -> SimpleNamespace:
    """A gang of plain fields, its parts given as dicts."""
    parts = tuple(gang_of(**part) for part in fields.pop("parts", ()))
    if parts:
        fields |= {"parts": parts, "ranks": sum(part.ranks for part in parts)}
    return SimpleNamespace(**PLAIN | fields)


def _free(rng: Random, tree: SlowTree) -> list[int]:
    return [leaf for leaf in tree.leaves if rng.random() < 0.8]


def test_counts_equal_enumeration_of_placements_of_slices(seed: int) -> None:
    """A chain of up to three runs fits, and at this level, where some subset does."""
    rng = Random(seed)
    met: Counter[bool] = Counter()
    for _ in range(1200):
        topology = random_topology(rng, 12)
        tree = SlowTree(topology)
        gang = gang_of(**chain_fields(rng, topology, 8))
        limits = random_limits(rng, topology) if rng.random() < 0.4 else None
        needs = Needs.of(topology, gang, limits)
        free = _free(rng, tree)
        legal = brute_force_placements(topology, free, gang, limits)
        levels = [tree.span_level(list(one)) for one in legal]
        assert fits(tree, needs, free) == bool(levels), (gang, limits)
        assert lowest_level(tree, needs, free) == min(levels, default=None)
        met[bool(levels)] += bool(needs.slices)
    assert min(met.values()) >= 150


def test_address_order_loses_no_placement_of_slices(seed: int) -> None:
    """Whatever order of leaves keeps a chain, the order of their addresses keeps it."""
    rng = Random(seed)
    met: Counter[bool] = Counter()
    for _ in range(150):
        topology = random_topology(rng, 6)
        tree = SlowTree(topology)
        gang = gang_of(**chain_fields(rng, topology, 5))
        needs = Needs.of(topology, gang)
        for leaves in permutations(tree.leaves, min(gang.ranks, 5)):
            legal = not broken_shape(tree, needs, leaves)
            met[legal] += 1
            if legal:
                ordered = sorted(leaves, key=tree.position.__getitem__)
                assert broken_shape(tree, needs, ordered) == []
    assert met[True] >= 500


@pytest.mark.parametrize(
    ("leaves", "ranks", "cases", "floor"), [(9, 7, 500, 12), (13, 6, 80, 2)]
)
def test_counts_equal_enumeration_of_placements_of_parts(
    leaves: int, ranks: int, cases: int, floor: int, seed: int
) -> None:
    """Parts fit together, and at this level, where some disjoint subsets do."""
    rng = Random(seed)
    met: Counter[bool] = Counter()
    alone: Counter[bool] = Counter()
    while met.total() < cases:
        topology = random_topology(rng, leaves)
        tree = SlowTree(topology)
        fields = whole_fields(rng, topology, ranks)
        if "parts" not in fields:
            continue
        gang = gang_of(**fields)
        limits = random_limits(rng, topology, 6) if rng.random() < 0.3 else None
        needs = Needs.of(topology, gang, limits)
        free = _free(rng, tree)
        legal = brute_force_placements(topology, free, gang, limits)
        levels = [tree.span_level(list(one)) for one in legal]
        assert fits(tree, needs, free) == bool(levels), (gang, limits)
        assert lowest_level(tree, needs, free) == min(levels, default=None)
        met[bool(levels)] += 1
        alone[all(fits(tree, part, free) for part in needs.parts)] += not levels
    assert min(met.values()) >= 2 * floor
    assert alone[True] >= floor  # refused although every part fits by itself


def test_promised_shares_are_the_most_even_of_all_placements(seed: int) -> None:
    """Of all placements in the chosen vertex: fewest domains, then the most even."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    while met["promised"] < 250:
        topology = random_topology(rng, 11)
        tree = SlowTree(topology)
        gang = gang_of(**chain_fields(rng, topology, 9))
        if getattr(gang, "balanced", None) is None:
            continue
        limits = random_limits(rng, topology) if rng.random() < 0.3 else None
        needs = Needs.of(topology, gang, limits)
        free = _free(rng, tree)
        best = lowest_level(tree, needs, free)
        if best is None:
            continue
        level = max(best, needs.prefer or 0)
        for top in tree.levels[level]:
            inside = [leaf for leaf in top.leaves if leaf in free]
            legal = list(brute_force_placements(topology, inside, gang, limits))
            shares = balanced_shares(tree, needs, free, top)
            if not legal or shares is None:
                continue
            spread = [_spread(tree, needs, one) for one in legal]
            fewest = min(map(len, spread))
            assert shares == max(one for one in spread if len(one) == fewest)
            met["promised"] += 1
            met["several"] += fewest > 1
            met["uneven"] += shares[0] < shares[-1]
            for one, found in zip(legal, spread, strict=True):
                broken = broken_balance(tree, needs, one, free)
                assert bool(broken) == (found != shares)
                met["refused"] += bool(broken)
    assert min(met.values()) >= 20


def _spread(tree: SlowTree, needs: Needs, leaves: tuple[int, ...]) -> list[int]:
    """Sorted shares of the domains used."""
    level = needs.balanced or 0
    return sorted(Counter(tree.above(level, leaf) for leaf in leaves).values())


@pytest.mark.parametrize(
    ("racks", "ranks", "shares"),
    [
        ([18, 17, 18, 16, 18, 18, 17, 18], 128, [16] * 8),
        ([18, 18, 18], 24, [12, 12]),
        ([18, 18, 18], 32, [16, 16]),
        ([18, 18, 18], 48, [16, 16, 16]),
        ([18, 6], 24, [6, 18]),  # an even share does not fit: the largest is filled
        ([9, 3, 9, 9], 20, [6, 7, 7]),
    ],
)
def test_shares_by_hand(racks: list[int], ranks: int, shares: list[int]) -> None:
    """Hosts over racks: the fewest racks, evenly."""
    topology = nested_topology(["rack", "pod"], [racks])
    tree = SlowTree(topology)
    needs = Needs.of(topology, gang_of(ranks=ranks, balanced="rack"))
    top = tree.levels[2][0]
    assert balanced_shares(tree, needs, tree.leaves, top) == shares


def test_shares_are_whole_units() -> None:
    """Groups of 4 a rack: 20 ranks are 8 + 12, not 10 + 10."""
    topology = nested_topology(["host", "rack", "pod"], [[[4] * 4] * 3])
    tree = SlowTree(topology)
    fields = {"ranks": 20, "group": 4, "group_level": "host", "balanced": "rack"}
    needs = Needs.of(topology, gang_of(**fields))
    assert balanced_shares(tree, needs, tree.leaves, tree.levels[3][0]) == [8, 12]
    bound = Needs.of(topology, gang_of(**fields, limits={"rack": [8, 8, 8]}))
    assert balanced_shares(tree, bound, tree.leaves, tree.levels[3][0]) == [4, 8, 8]


def test_a_host_level_balance_promises_nothing_across_slices() -> None:
    """Slices of 8 a rack bind between host and pod: only legality is promised."""
    topology = nested_topology(["host", "rack", "pod"], [[[4] * 3] * 2])
    tree = SlowTree(topology)
    gang = gang_of(ranks=16, slices=((8, "rack"),), balanced="host")
    needs = Needs.of(topology, gang)
    assert balanced_shares(tree, needs, tree.leaves, tree.levels[3][0]) is None


def test_a_leader_and_its_workers_share_a_block() -> None:
    """Case C22: a leader of 5 on one host and 7 workers fit in one block only."""
    topology = nested_topology(["host", "rack", "block"], [[[3], [3], [8]], [[11]]])
    twin = SlowPlanner(topology)
    leader = {"ranks": 5, "group": 5, "group_level": "host"}
    gang = gang_of(parts=[leader, {"ranks": 7}], within="block")
    assert twin.feasible(gang)
    assert twin.best_level(gang) == 3
    assert twin.check_placement(gang, [*range(6, 11), 0, 1, 2, 3, 4, 5, 11]) == []
    assert twin.check_placement(gang, [*range(6, 11), *range(14, 21)]) == [
        "the gang spans two domains of level 3"
    ]
    twin.fail(list(range(11, 14)))
    assert not twin.feasible(gang)
    assert twin.misfit_code(gang) == "CAPACITY"


def test_parts_of_a_service_share_a_block() -> None:
    """Case C23: parts of 3 + 3 + 3 + 1 fit in the block of 18, not in that of 9."""
    topology = nested_topology(["block"], [9, 18])
    twin = SlowPlanner(topology)
    gang = gang_of(parts=[{"ranks": n} for n in (3, 3, 3, 1)], within="block")
    assert twin.check_placement(gang, list(range(9, 19))) == []
    assert twin.check_placement(gang, list(range(10))) != []
    twin.fail(list(range(9, 18)))
    assert not twin.feasible(gang)


def test_a_limit_binds_its_part_alone() -> None:
    """Part 0 may have 1 leaf a host; part 1 takes what it likes."""
    topology = nested_topology(["host", "rack"], [[4, 4]])
    twin = SlowPlanner(topology)
    part = {"ranks": 2, "limits": {"host": [1, 1]}}
    gang = gang_of(parts=[part, {"ranks": 4}])
    assert twin.check_placement(gang, [0, 4, 1, 2, 3, 5]) == []
    assert twin.check_placement(gang, [0, 1, 4, 5, 6, 7]) == [
        "level 1 domain 0: 2 leaves, limit 1, 0 stay"
    ]
    assert twin.best_level(gang) == 2
    assert twin.misfit_code(gang_of(parts=[part | {"ranks": 3}])) == "LIMITED"
    whole = gang_of(parts=[{"ranks": 2}, {"ranks": 2}])
    assert twin.feasible(whole, {"host": [2, 2]})
    assert not twin.feasible(whole, {"host": [2, 1]})


def test_a_thousand_workers_in_slices_count_at_once() -> None:
    """Case C11: 100 domains of 10, slices of 10: an exact fit, and one leaf too few."""
    topology = Topology.from_spec("pod:1 rack:100 host:10")
    twin = SlowPlanner(topology)
    gang = gang_of(ranks=1000, slices=((10, "rack"),), within="pod")
    assert twin.best_level(gang) == 2
    twin.fail([555])
    assert not twin.feasible(gang)
    assert twin.best_level(gang_of(ranks=990, slices=((10, "rack"),))) == 2


def test_segments_that_no_block_can_hold() -> None:
    """Case C16: 100 blocks of 18 with 10 free each hold no segment of 16."""
    topology = Topology.from_spec("pod:1 rack:100 host:18")
    twin = SlowPlanner(topology)
    twin.fail([leaf for leaf in range(1800) if leaf % 18 >= 10])
    gang = gang_of(ranks=144, slices=((16, "rack"),))
    assert not twin.feasible(gang)
    assert twin.misfit_code(gang) == "GROUPS"
    assert twin.feasible(gang_of(ranks=144, slices=((9, "rack"),)))


def test_a_default_group_level_stays_below_what_it_lies_in() -> None:
    """NVLink spans racks here, yet groups in slices of a host, or parts of one, fit."""
    labels = [["a", "a", "b", "b"], ["r", "r", "r", "r"]]
    topology = Topology.from_labels(["host", "nvlink"], labels)
    assert Needs.of(topology, gang_of(ranks=4, group=2)).group_level == 2
    sliced = gang_of(ranks=4, group=2, slices=((2, "host"),))
    assert Needs.of(topology, sliced).group_level == 1
    parts = gang_of(parts=[{"ranks": 2, "group": 2}], within="host")
    assert Needs.of(topology, parts).parts[0].group_level == 1

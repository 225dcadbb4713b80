"""The slow twin's repairs of slices and parts, against every repair there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from phalanx_core.testing import (
    SlowPlanner,
    SlowTree,
    brute_force_placements,
    brute_force_repairs,
    nested_topology,
    random_topology,
)
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.repair_rules import broken_repair
from phalanx_core.testing.repairing import Wound
from phalanx_core.topology import Topology
from tests.properties.drawing import chain_fields, random_limits, whole_fields
from tests.properties.test_twin_chains import gang_of


def _wound(rng: Random, leaves: int, parts: bool) -> Wound | None:
    """A gang of slices or of parts that lost up to three leaves; None = no luck."""
    topology = _cluster(rng, leaves)
    tree = SlowTree(topology)
    most = rng.choice((4, 6, 8))
    fields = (whole_fields if parts else chain_fields)(rng, topology, most)
    if not parts and rng.random() < 0.4:  # slices that nothing holds in place
        low = rng.randint(1, tree.depth)
        slices = ((2, low), (4, rng.randint(low, tree.depth)))
        fields = {"ranks": 4, "slices": slices[: rng.choice((1, 2))]}
    if ("parts" in fields) != parts:
        return None
    if not parts and "slices" not in fields:
        return None
    gang = gang_of(**fields)
    placed = _some(rng, topology, gang)
    if placed is None:
        return None
    limits = random_limits(rng, topology) if rng.random() < 0.4 else {}
    needs = Needs.of(topology, gang, limits)
    lost = rng.randint(1, min(3, needs.ranks))
    dead = frozenset(rng.sample(range(needs.ranks), lost))
    usable = {v for v in tree.leaves if v not in placed and rng.random() < 0.85}
    if rng.random() < 0.5:  # nothing is left at home
        homes = [unit.home for unit in Wound(tree, needs, placed, dead, usable).units()]
        usable -= {leaf for home in homes for leaf in home.leaves}
    return Wound(tree, needs, placed, dead, frozenset(usable))


def _cluster(rng: Random, leaves: int) -> Topology:
    """Any tree; or one of small equal domains, where slices find whole new homes."""
    if rng.random() < 0.4:
        return random_topology(rng, leaves)
    host = rng.choice((1, 2, 2))
    rack = rng.choice((1, 2))
    racks = leaves // (host * rack)
    return nested_topology(("host", "rack", "pod"), [[[host] * rack] * racks])


def _some(
    rng: Random, topology: Topology, gang: SimpleNamespace
) -> tuple[int, ...] | None:
    """One of the first placements of a gang on some of the leaves."""
    share = rng.choice((0.7, 1))
    able = [leaf for leaf in range(topology.leaf_count) if rng.random() < share]
    found = brute_force_placements(topology, able, gang)
    some = [one for one, _ in zip(found, range(20), strict=False)]
    return rng.choice(some) if some else None


def _all_repairs(wound: Wound) -> list[tuple[int, ...]]:
    usable = [leaf for leaf in wound.tree.leaves if leaf in wound.usable]
    return list(
        brute_force_repairs(wound.tree, wound.needs, wound.leaves, wound.dead, usable)
    )


def _moved(wound: Wound, new: Sequence[int]) -> int:
    """Units with a rank outside their old domain."""
    return sum(
        any(
            wound.tree.above(unit.home.level, new[r]) is not unit.home
            for r in unit.ranks
        )
        for unit in wound.units()
    )


@pytest.mark.parametrize(
    ("parts", "leaves", "cases", "floor"),
    [(False, 9, 700, 15), (False, 14, 200, 8), (True, 9, 500, 10), (True, 12, 120, 3)],
)
def test_outcomes_equal_enumeration_of_repairs(
    parts: bool, leaves: int, cases: int, floor: int, seed: int
) -> None:
    """A repair is found where one exists, and the fewest units that move whole."""
    rng = Random(seed)
    met: Counter[object] = Counter()
    while met.total() < cases:
        wound = _wound(rng, leaves, parts)
        if wound is None:
            continue
        moved = [_moved(wound, new) for new in _all_repairs(wound)]
        fewest = min((count for count, _ in wound.outcomes()), default=None)
        assert fewest == min(moved, default=None), wound
        met[fewest] += 1
    assert min(met[kind] for kind in (None, 0, 1, 2)) >= floor


def _repair(wound: Wound, new: Sequence[int]) -> SimpleNamespace:
    """A planner's answer that puts ranks on these leaves."""
    moves = [
        (rank, old, now)
        for rank, (old, now) in enumerate(zip(wound.leaves, new, strict=True))
        if old != now
    ]
    return SimpleNamespace(
        moves=np.array(moves).reshape(-1, 3),
        level_before=wound.tree.span_level(list(wound.leaves)),
        level_after=wound.tree.span_level(list(new)),
        spares_used=0,
    )


@pytest.mark.parametrize("parts", [False, True])
def test_the_checker_allows_a_best_repair_and_no_other(parts: bool, seed: int) -> None:
    """Of all repairs some are allowed, all with fewest moves; a spoilt one never is."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    while met["cases"] < 200:
        wound = _wound(rng, 9, parts)
        legal = _all_repairs(wound) if wound is not None else []
        if wound is None or not legal:
            continue
        met["cases"] += 1
        fewest = min(_moved(wound, new) for new in legal)
        allowed = [
            new
            for new in legal
            if broken_repair(wound, _repair(wound, new), [], False) == []
        ]
        assert allowed
        met["allowed"] += len(allowed)
        met["refused"] += len(legal) - len(allowed)
        several = len({unit.part for unit in wound.units()}) > 1
        if not (wound.needs.limited or several):
            assert {_moved(wound, new) for new in allowed} == {fewest}
        spoilt = list(rng.choice(legal))
        spoilt[rng.randrange(len(spoilt))] = rng.choice(wound.tree.leaves)
        if tuple(spoilt) not in legal:
            assert broken_repair(wound, _repair(wound, spoilt), [], False) != []
            met["spoilt"] += 1
    assert met["refused"] >= 5
    assert min(met["allowed"], met["spoilt"]) >= 100


def test_omitted_units_stay_and_hold_their_slices(seed: int) -> None:
    """Units left out count as ranks that stay; most that can be mended beside them."""
    rng = Random(seed)
    met: Counter[tuple[bool, bool]] = Counter()
    while met.total() < 200:
        wound = _wound(rng, 9, False)
        if wound is None or wound.needs.limited or len(wound.units()) < 2:
            continue
        units = wound.units()
        omitted = min(left for _, left in wound.outcomes(omit=True))
        most = max(n for n in range(len(units) + 1) if _mendable(wound, n))
        assert len(units) - omitted == most, wound
        met[most > 0, most == len(units)] += 1
    assert len(met) == 3  # none, some and all
    assert min(met.values()) >= 5


def _mendable(wound: Wound, count: int) -> bool:
    """Whether some so many units can be mended while the others stay as they are."""
    for some in combinations(wound.units(), count):
        dead = frozenset(rank for unit in some for rank in unit.dead)
        usable = wound.usable
        if _all_repairs(Wound(wound.tree, wound.needs, wound.leaves, dead, usable)):
            return True
    return False


def _twin(
    levels: list[str], shape: Any, gang: SimpleNamespace, leaves: list[int]
) -> SlowPlanner:
    """A twin on which one job "a" runs."""
    twin = SlowPlanner(nested_topology(levels, shape))
    assert twin.check_placement(gang, leaves) == []
    twin.commit_place("a", gang, leaves)
    return twin


def test_the_innermost_broken_level_decides() -> None:
    """Case C03: both ranks of x3 go to x4, not to another switch of the rack."""
    shape = [[[[4, 4], [4, 8]], [[4, 4], [4, 4]]]]
    gang = gang_of(
        ranks=16, group=2, group_level="host", slices=((4, "switch"), (8, "rack"))
    )
    starts = [0, 4, 8, 12, 20, 24, 28, 32]
    leaves = [leaf for start in starts for leaf in (start, start + 1)]
    twin = _twin(["host", "switch", "rack", "block"], shape, gang, leaves)
    lost = [8, 9, 10, 11]
    twin.fail(lost)
    wound = twin.wound("a")
    new = set(_all_repairs(wound))
    assert {one[4:6] for one in new if one[6:8] == (12, 13)} >= {(14, 15), (18, 19)}
    assert twin.repair_exists("a")
    assert twin.fewest_units_moved("a") == 0
    best = [*leaves[:4], 14, 15, *leaves[6:]]
    assert twin.check_repair("a", _repair(wound, best)) == []
    astray = [*leaves[:4], 2, 3, *leaves[6:]]
    assert twin.check_repair("a", _repair(wound, astray)) != []


def test_a_slice_moves_whole_or_not_at_all() -> None:
    """Case C04: nothing free in the rack: refused with one free leaf, moved with two."""
    gang = gang_of(ranks=2, slices=((2, "rack"),))
    twin = _twin(["rack", "pod"], [[2, 1]], gang, [0, 1])
    twin.fail([0])
    assert not twin.repair_exists("a")
    assert twin.max_repairable("a") == 0
    twin = _twin(["rack", "pod"], [[2, 2]], gang, [0, 1])
    twin.fail([0])
    assert twin.fewest_units_moved("a") == 1
    wound = twin.wound("a")
    assert _all_repairs(wound) == [(2, 3)]
    assert twin.check_repair("a", _repair(wound, [2, 3])) == []
    assert twin.check_repair("a", _repair(wound, [3, 2])) == [
        "ranks [0, 1] do not keep their order"
    ]
    held = _twin(["rack", "pod"], [[2, 2]], gang_of(ranks=2, within="rack"), [0, 1])
    held.fail([0])
    assert not held.repair_exists("a")  # a survivor holds the gang in its rack


def test_a_larger_slice_is_held_by_what_stays() -> None:
    """Slices of 4 a rack keep a moved slice of 2 in their rack while a rank stays."""
    gang = gang_of(ranks=4, slices=((2, "host"), (4, "rack")))
    twin = _twin(["host", "rack", "pod"], [[[2, 2], [2, 2]]], gang, [0, 1, 2, 3])
    twin.fail([0])
    assert not twin.repair_exists("a")
    assert _all_repairs(twin.wound("a")) == []
    for leaf in (2, 1, 3):  # both slices are broken: both may go
        twin.fail([leaf])
        assert twin.fewest_units_moved("a") == 2
        assert _all_repairs(twin.wound("a")) == [(4, 5, 6, 7), (6, 7, 4, 5)]


def test_slices_that_go_together_make_one_larger_slice() -> None:
    """Two slices of 2 a host go to one rack, not to two that have a host each."""
    gang = gang_of(ranks=4, slices=((2, "host"), (4, "rack")))
    shape = [[[2, 2], [2, 1], [2, 1], [2, 2]]]
    twin = _twin(["host", "rack", "pod"], shape, gang, [0, 1, 2, 3])
    twin.fail([0, 1, 3])
    assert _all_repairs(twin.wound("a")) == [(10, 11, 12, 13), (12, 13, 10, 11)]
    twin.fail([13])
    assert not twin.repair_exists("a")


def test_a_larger_slice_of_no_more_ranks_holds_nothing() -> None:
    """Nobody lives beside a slice of 2 in a slice of 2: it may leave the rack."""
    gang = gang_of(ranks=2, slices=((2, "host"), (2, "rack")))
    twin = _twin(["host", "rack", "pod"], [[[2], [2]]], gang, [0, 1])
    twin.fail([0])
    assert _all_repairs(twin.wound("a")) == [(2, 3)]
    assert twin.fewest_units_moved("a") == 1


def test_a_group_moves_inside_its_unit_only_if_it_must() -> None:
    """A pair whose host has room keeps its survivor; else it moves in the rack."""
    gang = gang_of(ranks=4, group=2, group_level="host", slices=((4, "rack"),))
    twin = _twin(["host", "rack"], [[3, 2, 2]], gang, [0, 1, 3, 4])
    twin.fail([0])
    wound = twin.wound("a")
    assert set(_all_repairs(wound)) == {(2, 1, 3, 4), (5, 6, 3, 4)}
    assert twin.check_repair("a", _repair(wound, [2, 1, 3, 4])) == []
    assert twin.check_repair("a", _repair(wound, [5, 6, 3, 4])) == [
        "ranks [0, 1] move though leaves [2] are at their side"
    ]
    twin.fail([2])
    wound = twin.wound("a")
    assert twin.check_repair("a", _repair(wound, [5, 6, 3, 4])) == []
    assert twin.fewest_units_moved("a") == 0


def test_two_losses_in_different_racks_move_two_ranks() -> None:
    """Case C02: 31 racks x 16 of a gang in slices; each loss is filled in its rack."""
    topology = Topology.from_spec("pod:1 rack:32 host:18")
    gang = gang_of(ranks=512, slices=((16, "rack"),), within="pod")
    leaves = [leaf for leaf in range(32 * 18) if leaf % 18 < 16]
    twin = SlowPlanner(topology)
    twin.commit_place("a", gang, leaves)
    twin.fail([3, 40])
    assert twin.fewest_units_moved("a") == 0
    wound = twin.wound("a")
    new = list(leaves)
    new[leaves.index(3)], new[leaves.index(40)] = 16, 52
    assert twin.check_repair("a", _repair(wound, new)) == []
    new[leaves.index(40)] = 17
    assert twin.check_repair("a", _repair(wound, new)) != []


def test_a_dead_part_may_leave_its_domain_and_not_the_whole_s() -> None:
    """A part within a rack stays there while a rank of it lives; dead, it may go."""
    parts = [{"ranks": 2, "within": "rack"}, {"ranks": 2, "within": "rack"}]
    gang = gang_of(parts=parts, within="pod")
    shape = [[[2], [2], [2]], [[4]]]
    twin = _twin(["host", "rack", "pod"], shape, gang, [0, 1, 2, 3])
    twin.fail([0])
    assert not twin.repair_exists("a")
    twin.fail([1])
    assert twin.fewest_units_moved("a") == 2
    assert (4, 5, 2, 3) in _all_repairs(twin.wound("a"))
    twin.fail([4])
    assert not twin.repair_exists("a")  # the other pod is closed while part 1 lives
    twin.fail([2, 3])
    assert _all_repairs(twin.wound("a"))[0] == (6, 7, 8, 9)


def test_a_slice_as_large_as_its_part_is_no_part() -> None:
    """A part's ``within`` holds it while a rank lives; a slice of its size does not."""
    shape = [[[2], [2], [2]]]
    for top, exists in (
        ({"slices": ((2, "host"), (2, "rack"))}, True),
        ({"slices": ((2, "host"),), "within": "rack"}, False),
    ):
        gang = gang_of(parts=[{"ranks": 2, **top}, {"ranks": 1}])
        twin = _twin(["host", "rack", "pod"], shape, gang, [0, 1, 2])
        twin.fail([0])
        assert twin.repair_exists("a") == exists
        assert bool(_all_repairs(twin.wound("a"))) == exists


def test_the_checker_holds_a_gang_where_a_rank_of_it_lives() -> None:
    """The only unit moves to another rack: legal, unless the gang is within one."""
    shape = [[2, 2]]
    for within, broken in (
        (None, []),
        ("rack", ["ranks 0+2 leave their level 1 domain"]),
    ):
        gang = gang_of(ranks=2, group=2, group_level="rack", within=within)
        twin = _twin(["rack", "pod"], shape, gang, [0, 1])
        twin.fail([0])
        assert twin.check_repair("a", _repair(twin.wound("a"), [2, 3])) == broken
        twin.fail([1])
        assert twin.check_repair("a", _repair(twin.wound("a"), [2, 3])) == []

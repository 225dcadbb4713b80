"""The slow twin's sizes and widened repairs, against enumeration and by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from phalanx_core import Gang, Planner, Topology
from phalanx_core.testing import (
    Difference,
    Pair,
    SlowPlanner,
    SlowTree,
    brute_force_placements,
    nested_topology,
    random_topology,
)
from phalanx_core.testing.judging import Judge, RepairCase, widened_exists
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.repairing import Wound
from phalanx_core.testing.rules import broken_limits, broken_shape
from phalanx_core.testing.sizes import Growth
from tests.properties.drawing import chain_fields, random_limits
from tests.properties.test_twin_chains import gang_of

RACKS = Topology.from_spec("rack:3 host:2 gpu:2")
REPLICAS = Gang(8, group=2, group_level="host", templates=(6, 4))


def test_growth_equals_enumeration_of_new_leaves(seed: int) -> None:
    """Room exists, and at this level, where some set of free leaves will do."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    while met["grows"] < 250:
        topology = random_topology(rng, 12)
        tree = SlowTree(topology)
        fields = chain_fields(rng, topology, 4) | {"prefer": None}
        gang = gang_of(**fields)
        able = [leaf for leaf in tree.leaves if rng.random() < 0.6]
        legal = list(brute_force_placements(topology, able, gang))
        if not legal:
            continue
        limits = random_limits(rng, topology) if rng.random() < 0.4 else {}
        needs = Needs.of(topology, gang, limits)
        held = list(rng.choice(legal))
        free = [v for v in tree.leaves if v not in held and rng.random() < 0.7]
        unit = needs.slices[-1][0] if needs.slices else needs.group
        growth = Growth(tree, needs, held, unit * rng.randint(1, 2), free)
        levels = [tree.span_level(after) for after in _grown(growth)]
        assert growth.lowest_level() == min(levels, default=None)
        met["grows"] += bool(levels)
        met["stuck"] += not levels
        met["limited"] += bool(levels and limits)
    assert min(met.values()) >= 30


def _grown(growth: Growth) -> Iterator[list[int]]:
    """Every legal set of leaves that a gang may grow to."""
    held = list(growth.leaves)
    needs = replace(growth.needs, ranks=len(held) + growth.more)
    for new in combinations(growth.usable, growth.more):
        after = [*held, *new]
        bad = broken_shape(growth.tree, needs, after)
        if not bad and not broken_limits(growth.tree, needs, after, range(len(held))):
            yield after


def test_widened_repairs_equal_enumeration(seed: int) -> None:
    """Slices move along where leaves for all of them exist, and only then."""
    rng = Random(seed)
    met: Counter[bool] = Counter()
    while min(met[True], met[False]) < 60:
        host, racks = rng.choice((1, 2)), rng.choice((2, 3))
        shape = [[[host] * (4 // host)] * racks]
        topology = nested_topology(("host", "rack", "pod"), shape)
        tree = SlowTree(topology)
        fields = {"ranks": 4, "slices": ((2, 1 if host == 2 else 2), (4, 2))}
        if rng.random() < 0.3:
            fields["within"] = 2
        gang = gang_of(**fields)
        needs = Needs.of(topology, gang, {})
        held = next(brute_force_placements(topology, tree.leaves, gang))
        dead = frozenset(rng.sample(range(4), rng.choice((1, 2, 3))))
        usable = [v for v in tree.leaves if v not in held and rng.random() < 0.8]
        wound = Wound(tree, needs, held, dead, frozenset(usable[:6]))
        found = any(True for _ in _widened(wound))
        assert widened_exists(wound) == found
        met[found] += 1


def _widened(wound: Wound) -> Iterator[list[int]]:
    """Repairs of a gang of one large slice of units without groups that move it all."""
    needs, tree = wound.needs, wound.tree
    whole = range(needs.ranks)
    top = tree.depth if needs.within is None else needs.within
    for new in permutations(sorted(wound.usable), len(whole)):
        at_home = tree.above(top, new[0]) is tree.above(top, wound.leaves[0])
        if at_home and not broken_shape(tree, needs, new):
            yield list(new)


def _answer(**fields: Any) -> SimpleNamespace:
    """An answer of a planner that is made up."""
    told = {"moves": [], "level_before": 3, "level_after": 3, "spares_used": 0}
    told |= {"proven": True, "unresolved": []} | fields
    arrays = {"moves": (-1, 3), "kept": (-1,), "unresolved": (-1,)}
    for name, shape in arrays.items():
        told[name] = np.array(told[name], np.int32).reshape(shape)
    return SimpleNamespace(**told, template=len(told["kept"]))


def _hurt() -> SlowPlanner:
    """Four groups on racks 0 and 1, rack 2 is down, and so is rank 2's leaf."""
    twin = SlowPlanner(RACKS)
    twin.commit_place("a", REPLICAS, range(8))
    twin.fail([2, *range(8, 12)])
    return twin


def _verdict(result: SimpleNamespace) -> str:
    part = _answer(kept=range(8), unresolved=[2])
    return Judge(_hurt(), RepairCase("a"), result, part).verdict()


def test_the_group_without_a_leaf_ends() -> None:
    """It alone, at the largest size."""
    assert _verdict(_answer(kept=[0, 1, 4, 5, 6, 7])) == "shrunk"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"kept": [0, 1, 2, 3, 4, 5]}, r"ranks \[2\] stay without a leaf"),
        ({"kept": [0, 1, 4, 5]}, "size 6 would do"),
        ({"kept": [4, 5, 6, 7]}, "unit 0 ends, nothing ails it and 3 is higher"),
        ({"kept": [0, 1, 4, 5, 7, 6]}, "are not whole units in order"),
        ({"kept": [0, 1, 3, 4, 5, 6]}, "are not whole units in order"),
        (
            {"kept": [0, 1, 4, 5, 6, 7], "moves": [[4, 4, 8]]},
            "rank 4 moves though it ends or its unit is whole",
        ),
        ({"kept": [0, 1, 4, 5, 6, 7], "level_after": 2}, "levels before, after"),
        ({"kept": [0, 1, 4, 5, 6, 7], "spares_used": 1}, "levels before, after"),
    ],
)
def test_shrinking_repairs_that_are_wrong(told: dict[str, Any], words: str) -> None:
    """One sentence each."""
    with pytest.raises(Difference, match=words):
        _verdict(_answer(**told))


def test_a_refusal_where_a_smaller_size_would_do() -> None:
    """A gang with templates is not refused while one of them would do."""
    refused = _Refusal(proven=True, code=SimpleNamespace(name="REPLACEMENT"))
    part = _answer(kept=range(8), unresolved=[2])
    with pytest.raises(Difference, match="size 6 would do"):
        Judge(_hurt(), RepairCase("a"), refused, part).verdict()
    judge = Judge(_hurt(), RepairCase("a", partial=True), refused, part)
    assert judge.verdict() == "REPLACEMENT"


class _Refusal(SimpleNamespace):
    """Falsy, as a planner's is."""

    def __bool__(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ([4, 5], None),
        ([8, 9], "grows to level 3 where 2 would do"),
        ([5, 6], "ranks 4\\+2 span two domains of level 1"),
        ([5, 4], "new ranks are not in address order"),
        ([2, 3], "are not all available"),
    ],
)
def test_growth_by_hand(new: list[int], words: str | None) -> None:
    """A gang on ranks 0-3 of hosts 0 and 1 wants two leaves of one host more."""
    topology = Topology.from_spec("rack:2 host:4 gpu:2")
    tree = SlowTree(topology)
    needs = Needs.of(topology, gang_of(ranks=4, group=2, group_level="host"))
    growth = Growth(tree, needs, [0, 1, 2, 3], 2, range(4, 16))
    rows = [[4, -1, new[0]], [5, -1, new[1]]]
    answer = _answer(moves=rows, kept=[0, 1, 2, 3, -1, -1])
    answer.leaves = np.array([0, 1, 2, 3, *new])
    after = tree.span_level([0, 1, 2, 3, *new])
    answer.level_before, answer.level_after = 2, after
    broken = growth.broken(answer)
    assert broken == [] if words is None else words.replace("\\", "") in broken[0]


def test_pair_tells_every_outcome_of_sizes() -> None:
    """Placed at a template, larger, smaller, the same, and no room."""
    pair = Pair(Planner(RACKS), SlowPlanner(RACKS))
    assert pair.place("b", Gang(6)) == "placed"
    assert pair.place("a", REPLICAS) == "reduced"
    assert pair.resize("a", 4) == "smaller"
    assert pair.resize("a", 4, later=True) == "same"
    assert pair.resize("a", 6) == "CAPACITY"
    pair.fenced("a")
    assert pair.resize("a", 6, limits={"rack": [0, 0, 0]}) == "CAPACITY"
    assert pair.resize("a", 6, later=True) == "grown"
    pair.fail([int(pair.planner.placement("a").leaves[0])])
    assert pair.replan("a") == "shrunk"
    pair.check()
    assert pair.twin.jobs["a"].gang.ranks == 4
    assert len(pair.twin.quarantine) == 2

"""Bottleneck and communication cost, against sums over every pair."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core import (
    Gang,
    InvalidRequest,
    Parallelism,
    Planner,
    Spares,
    Topology,
    communication,
)
from phalanx_core.placement.communication import PAIRS_MAX
from phalanx_core.placement.parallelism import ORDERS
from phalanx_core.testing import random_topology

PODS = Topology.from_spec("pod:2 rail:2 host:2 gpu:4")
# The bandwidths of the Phalanx paper's testbed, section 8, in bytes/s a GPU.
TESTBED = Topology.from_labels(
    ["host", "rail", "pod", "cluster"],
    [
        np.repeat(np.arange(8), 4).tolist(),
        np.repeat(np.arange(4), 8).tolist(),
        np.repeat(np.arange(2), 16).tolist(),
        [0] * 32,
    ],
    bandwidth={"host": 900e9, "rail": 50e9, "pod": 12.5e9, "cluster": 6.25e9},
)


def brute_force(
    topology: Topology,
    leaves: list[int],
    sent: dict[tuple[int, int], float],
    costs: Any,
) -> tuple[int, float]:
    """B and C by the paper's two equations, a pair at a time."""
    bottleneck, total = 0, 0.0
    for (sender, receiver), count in sent.items():
        level = topology.distance(leaves[sender], leaves[receiver])
        if count > 0 and sender != receiver:
            bottleneck = max(bottleneck, level)
        total += count * costs[level]
    return bottleneck, total


def template_twin(shape: Parallelism) -> dict[tuple[int, int], float]:
    """Traffic of a template, built rank by rank from its three coordinates."""
    sizes = {"tp": shape.tp, "pp": shape.pp, "dp": shape.dp}
    words = shape.order.split("-")

    def rank(at: dict[str, int]) -> int:
        number = 0
        for word in reversed(words):
            number = number * sizes[word] + at[word]
        return number

    sent: dict[tuple[int, int], float] = {}

    def send(one: int, other: int, count: float) -> None:
        sent[one, other] = sent.get((one, other), 0.0) + count

    for tp in range(shape.tp):
        for pp in range(shape.pp):
            for dp in range(shape.dp):
                at = {"tp": tp, "pp": pp, "dp": dp}
                here = rank(at)
                if shape.tp > 1:
                    peer = rank({**at, "tp": (tp + 1) % shape.tp})
                    send(here, peer, shape.tp_bytes)
                if pp + 1 < shape.pp:
                    peer = rank({**at, "pp": pp + 1})
                    send(here, peer, shape.pp_bytes)
                    send(peer, here, shape.pp_bytes)
                if shape.dp > 1:
                    peer = rank({**at, "dp": (dp + 1) % shape.dp})
                    ring = shape.dp_bytes * 2 * (shape.dp - 1) / shape.dp
                    send(here, peer, ring)
    return sent


def test_matrix_equals_the_sum_over_pairs(seed: int) -> None:
    """On any tree, with missing domains, for sparse and zero traffic."""
    rng = Random(seed)
    drawn = np.random.default_rng(seed)
    talked = 0
    for _ in range(300):
        topology = random_topology(rng, 12)
        ids = list(range(topology.leaf_count))
        rng.shuffle(ids)
        leaves = ids[: rng.randint(1, len(ids))]
        shape = (len(leaves), len(leaves))
        matrix = drawn.integers(0, 9, shape) * (drawn.random(shape) < rng.random())
        costs = np.arange(len(topology.levels) + 1) ** 2
        told = communication(leaves, matrix, costs.tolist(), topology=topology)
        sent = {(r, s): float(matrix[r, s]) for r, s in np.ndindex(shape)}
        bottleneck, total = brute_force(topology, leaves, sent, costs)
        assert (told.bottleneck, told.cost) == (bottleneck, total)
        assert told.bytes_by_level.sum() == matrix.sum()
        talked += bottleneck > 0
    assert talked > 150


def test_template_equals_the_sum_over_pairs(seed: int) -> None:
    """Every order of the three axes, with and without traffic on each."""
    rng = Random(seed)
    for _ in range(200):
        sizes = [rng.choice((1, 2, 3, 4)) for _ in range(3)]
        counts = [rng.choice((0.0, 1.0, 5.0, 12.0)) for _ in range(3)]
        shape = Parallelism(*sizes, *counts, order=rng.choice(ORDERS))
        if shape.ranks > PODS.leaf_count:
            continue
        leaves = rng.sample(range(PODS.leaf_count), shape.ranks)
        told = communication(leaves, shape, topology=PODS)
        expected = brute_force(PODS, leaves, template_twin(shape), range(6))
        assert told.bottleneck == expected[0]
        assert told.cost == pytest.approx(expected[1], rel=1e-12)


def test_template_and_its_matrix_agree() -> None:
    """A template is a matrix with few entries."""
    shape = Parallelism(2, 2, 4, 8.0, 3.0, 4.0)
    matrix = np.zeros((16, 16))
    senders, receivers, counts = shape.edges()
    np.add.at(matrix, (senders, receivers), counts)
    leaves = np.arange(16)[::-1]
    one = communication(leaves, shape, topology=PODS)
    other = communication(leaves, matrix, topology=PODS)
    assert one.bottleneck == other.bottleneck == 3
    assert one.bytes_by_level.tolist() == other.bytes_by_level.tolist()


def test_a_matrix_of_several_row_blocks() -> None:
    """Rows are taken in blocks; the last one is not full."""
    ranks = 1500
    topology = Topology.from_spec("host:190 gpu:8")
    height = PAIRS_MAX // ranks
    assert 1 < ranks / height < 2
    matrix = np.ones((ranks, ranks), np.float32)
    told = communication(np.arange(ranks), matrix, topology=topology)
    # 187 whole hosts and one of 4: pairs of a rank with itself, with others of its
    # host, with the rest.
    near = 187 * 8 * 7 + 4 * 3
    assert told.bytes_by_level.tolist() == [1500, near, 1500 * 1499 - near, 0]
    assert told.bottleneck_name == "cluster"


def test_paper_tiers() -> None:
    """Section 8's tiers: a step's time by inverse bandwidth, worked by hand."""
    placed = Planner(TESTBED).place("a", Gang(8, group=4))
    told = communication(placed, Parallelism(tp=4, dp=2, tp_bytes=4e9, dp_bytes=17.5e9))
    # 8 ranks send 4 GB inside hosts and 17.5 GB (2 * 1/2 of it) inside the rail.
    assert told.cost == pytest.approx(8 * 4e9 / 900e9 + 8 * 17.5e9 / 50e9, rel=1e-12)
    assert (told.bottleneck, told.bottleneck_name) == (2, "rail")
    assert str(told) == "bottleneck rail, cost 2.83556"


def test_blind_repair_drops_the_tensor_parallel_group_to_the_top() -> None:
    """Ranks scattered over the cluster pay 900 / 6.25 for what was in a host."""
    shape = Parallelism(tp=4, tp_bytes=9.0)
    near = communication([0, 1, 2, 3], shape, topology=TESTBED)
    blind = communication([0, 16, 3, 20], shape, topology=TESTBED)
    assert (near.bottleneck, blind.bottleneck) == (1, 4)
    assert blind.cost / near.cost == pytest.approx(900 / 6.25, rel=1e-12)


def test_a_repair_counts_as_applied() -> None:
    """Before and after of one job; the plan is worth what its application is."""
    planner = Planner(PODS, spares=Spares(per="pod", size="host", count=1))
    before = planner.place("a", Gang(8, group=4, within="pod"))
    planner.fail(PODS.leaves("host", "host-1"))
    plan = planner.replan("a", apply=False)
    shape = Parallelism(tp=4, dp=2, tp_bytes=1, dp_bytes=1)
    costs = {"host": 0.1, "rail": 1.0, "pod": 10.0, "cluster": 100.0}
    assert communication(before, shape, costs).cost == pytest.approx(0.8 + 8.0)
    assert communication(plan, shape, costs).cost == pytest.approx(0.8 + 80.0)
    planner.apply(plan)
    after = communication(planner.placement("a"), shape, costs)
    assert after.cost == pytest.approx(80.8)
    assert after.bottleneck_name == "pod"


def test_defaults_have_a_source() -> None:
    """Bytes of the paper's testbed, and Megatron's ratio of one boundary to a layer."""
    shape = Parallelism(8, 1, 2)
    assert (shape.tp_bytes, shape.dp_bytes) == (4e9, 17.5e9)
    assert shape.pp_bytes == pytest.approx(7_142_857.142857)
    told = communication(range_of(16), (8, 1, 2), topology=PODS)
    same = communication(range_of(16), shape, topology=PODS)
    assert told.cost == same.cost > 0


def range_of(ranks: int) -> np.ndarray[Any, Any]:
    """Leaves 0 to ranks - 1."""
    return np.arange(ranks)


def test_bandwidth_counts_only_where_every_level_has_one() -> None:
    """Seconds and level indexes are never added."""
    labels = {"host": [0, 0, 1, 1], "rack": [0, 0, 0, 0]}
    part = Topology.from_labels(["host", "rack"], labels, bandwidth={"host": 900e9})
    whole = Topology.from_labels(
        ["host", "rack"], labels, bandwidth={"host": 4.0, "rack": 2.0}
    )
    matrix = np.ones((4, 4)) - np.eye(4)
    assert communication(range_of(4), matrix, topology=part).cost == 4 + 8 * 2
    assert communication(range_of(4), matrix, topology=whole).cost == 1 + 8 / 2


def test_ranks_apart_need_a_cost_of_their_own() -> None:
    """Two trees: the level index serves, inverse bandwidth does not reach."""
    forest = Topology.from_labels(["host"], [["a", "a", "b"]], bandwidth={"host": 8.0})
    matrix = np.zeros((2, 2))
    assert communication([0, 2], matrix, topology=forest).bottleneck == 0
    matrix[0, 1] = 3
    with pytest.raises(InvalidRequest, match="one more entry is needed, 3 in all"):
        communication([0, 2], matrix, topology=forest)
    told = communication([0, 2], matrix, [0, 1, 7], topology=forest)
    assert (told.bottleneck, told.bottleneck_name, told.cost) == (2, None, 21.0)
    assert str(told) == "bottleneck no common domain, cost 21"
    assert told.to_dict() == {
        "bottleneck": 2,
        "bottleneck_name": None,
        "cost": 21.0,
        "bytes_by_level": [0.0, 0.0, 3.0],
        "costs": [0.0, 1.0, 7.0],
    }


def test_traffic_with_oneself_goes_nowhere() -> None:
    """The diagonal has distance 0: no bottleneck, and by default no cost."""
    told = communication([0, 9], np.diag([5.0, 5.0]), topology=PODS)
    assert (told.bottleneck, told.cost) == (0, 0.0)
    assert told.bytes_by_level[0] == 10.0


NAN = float("nan")
BAD = [
    # Traffic: shape, kind, sign, value.
    (([0, 1], np.ones((3, 3))), r"traffic of shape \(3, 3\)"),
    (([0, 1], [["a", "b"], ["c", "d"]]), "dtype <U1: numbers of shape"),
    (([0, 1], [[0, 1], [2]]), "traffic of shape"),
    (([0, 1], [[0, -1], [0, 0]]), r"traffic\[0, 1\] is -1.0"),
    (([0, 1], [[0, 0], [NAN, 0]]), r"traffic\[1, 0\] is nan"),
    (([0, 1], (2, 2, 2)), "8 ranks for a placement of 2"),
    (([0, 1], (2, 0, 1)), "Parallelism.pp 0: a whole number"),
    (([0, 1], (2, 1, 1.5)), "Parallelism.dp 1.5: a whole number"),
    # Costs: level, length, order, value.
    (([0, 1], (2, 1, 1), {"host": 1}), "one for each of host, rail, pod, cluster"),
    (([0, 1], (2, 1, 1), [0, 1]), r"costs of shape \(2,\): 5 entries, gpu to cluster"),
    (([0, 1], (2, 1, 1), [0, 3, 2, 4, 5]), "costs: 2.0 after 3.0; a level costs"),
    (([0, 1], (2, 1, 1), [0, 1, 2, 3, NAN]), "finite numbers of at least 0"),
    (([0, 1], (2, 1, 1), "cheap"), "costs 'cheap': numbers"),
    # Leaves: existence, once, kind.
    (([0, 32], (2, 1, 1)), "leaf 32 does not exist; ids are 0 to 31"),
    (([0, -1], (2, 1, 1)), "leaf -1 does not exist"),
    (([3, 3], (2, 1, 1)), "leaf 3 is listed twice"),
    ((["a", "b"], (2, 1, 1)), "a row of leaf ids"),
    (([], (1, 1, 1)), "a row of leaf ids"),
]


@pytest.mark.parametrize(("arguments", "rule"), BAD)
def test_wrong_arguments_are_named(arguments: Any, rule: str) -> None:
    """One error that says which number breaks which rule."""
    with pytest.raises(InvalidRequest, match=rule):
        communication(*arguments, topology=PODS)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"tp": True}, "Parallelism.tp True"),
        ({"tp_bytes": -1}, "Parallelism.tp_bytes -1: a finite number"),
        ({"dp_bytes": NAN}, "Parallelism.dp_bytes nan"),
        ({"pp_bytes": "8"}, "Parallelism.pp_bytes '8'"),
        ({"order": "dp-tp"}, "Parallelism.order 'dp-tp': one of tp-pp-dp"),
    ],
)
def test_wrong_templates_are_named(fields: dict[str, Any], rule: str) -> None:
    """A template checks itself."""
    with pytest.raises(InvalidRequest, match=rule):
        Parallelism(**fields)


def test_a_placement_brings_its_topology() -> None:
    """Leaf ids need one; a placement's own cannot be replaced."""
    placed = Planner(PODS).place("a", Gang(2))
    with pytest.raises(InvalidRequest, match="leaf ids together with topology="):
        communication([0, 1], (2, 1, 1))
    with pytest.raises(InvalidRequest, match="the placement is on another one"):
        communication(placed, (2, 1, 1), topology=TESTBED)
    assert communication(placed, (2, 1, 1), topology=PODS).bottleneck == 1

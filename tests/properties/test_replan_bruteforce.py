"""Replan against every repair there is, and Propositions 1 and 2."""

from __future__ import annotations

from random import Random

import pytest

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.testing import (
    GEOMETRIES,
    Geometry,
    Pair,
    SlowPlanner,
    SpareShape,
    brute_force_repairs,
    random_topology,
)
from tests.properties.drawing import planner_of, random_gang, random_limits, twin_of

EXACT = [geometry for geometry in GEOMETRIES if geometry.alignment == "exact"]


def test_replan_equals_enumeration_of_all_repairs(seed: int) -> None:
    """Up to three failures: refused only where no repair exists, fewest groups moved."""
    rng = Random(seed)
    met = {True: 0, False: 0}
    while sum(met.values()) < 500:
        topology = random_topology(rng, 8)
        planner, twin = Planner(topology), SlowPlanner(topology)
        gang = random_gang(rng, topology, 4)
        if not planner.place("a", gang) or gang.ranks > 4:
            continue
        leaves = planner.placement("a").leaves.tolist()
        twin.commit_place("a", gang, leaves)
        for leaf in twin.free_leaves():
            if rng.random() < 0.2:
                planner.fail([leaf])
                twin.fail([leaf])
        failed = rng.sample(leaves, rng.randint(1, min(3, gang.ranks)))
        limits = random_limits(rng, topology) if rng.random() < 0.4 else {}
        wound = twin.wound("a", failed, limits)
        legal = set(
            brute_force_repairs(
                twin.tree, wound.needs, leaves, wound.dead, twin.free_leaves()
            )
        )
        repair = planner.replan("a", failed=failed, limits=limits, apply=False)
        assert bool(repair) == bool(legal), (gang, limits, leaves, failed)
        met[bool(repair)] += 1
        if repair:
            assert tuple(repair.leaves.tolist()) in legal
            assert twin.check_repair("a", repair, failed, limits) == []
    assert min(met.values()) >= 50


@pytest.mark.parametrize("partial", [False, True])
def test_replan_equals_counting_on_random_trees(partial: bool, seed: int) -> None:
    """With and without limits and spares, up to 16 leaves, three failures a call."""
    rng = Random(seed)
    met: dict[str, int] = {}
    for _ in range(350):
        topology = random_topology(rng, 16)
        shape = random_spares(rng, topology)
        geometry = Geometry("random", topology, shape)
        pair = Pair(planner_of(geometry), twin_of(geometry))
        pair.check()
        _repair_some(rng, pair, partial, met)
    assert met["REPLACEMENT"] >= 15
    assert met["repaired"] >= 50
    assert met.get("partial", 0) >= (15 if partial else 0)


@pytest.mark.parametrize("geometry", EXACT, ids=lambda geometry: geometry.name)
def test_replan_equals_counting_with_spares(geometry: Geometry, seed: int) -> None:
    """On every named geometry, its spares included."""
    rng = Random(seed)
    met: dict[str, int] = {}
    for _ in range(60):
        pair = Pair(planner_of(geometry), twin_of(geometry))
        _repair_some(rng, pair, rng.random() < 0.5, met)
    assert met["repaired"] >= 20


def random_spares(rng: Random, topology: Topology) -> SpareShape | None:
    """Spares of any two levels, or none."""
    if rng.random() < 0.5 or len(topology.levels) < 3:
        return None
    size, per = sorted(rng.sample(range(len(topology.levels)), 2))
    count = rng.choice((1, 1, 2))
    return SpareShape(topology.levels[per], topology.levels[size], count)


def _repair_some(rng: Random, pair: Pair, partial: bool, met: dict[str, int]) -> None:
    """Fill a cluster, then break and repair a few of its jobs."""
    topology = pair.twin.topology
    for job in range(rng.randint(1, 6)):
        pair.place(job, random_gang(rng, topology, 8))
    for job in list(pair.twin.jobs):
        leaves = pair.twin.jobs[job].leaves
        failed = rng.sample(leaves, min(len(leaves), rng.randint(1, 3)))
        if rng.random() < 0.5:
            pair.fail(failed)
            failed = []
        limits = random_limits(rng, topology) if rng.random() < 0.3 else None
        outcome = pair.replan(job, failed, limits, partial, rng.random() < 0.3)
        met[outcome] = met.get(outcome, 0) + 1
        pair.check()


def test_proposition_1_admits_iff_an_aligned_block_is_free(seed: int) -> None:
    """The free set is a union of aligned blocks; a size fits iff one is large enough."""
    rng = Random(seed)
    topology = Topology.from_spec("pod:2 rack:2 host:2 gpu:4")
    planner = Planner(topology, alignment="buddy")
    jobs: list[int] = []
    for job in range(400):
        if planner.place(job, Gang(rng.choice((1, 2, 3, 4, 7, 8, 16)))):
            jobs.append(job)
        if jobs and rng.random() < 0.5:
            planner.release(jobs.pop(rng.randrange(len(jobs))))
        free = {v for v in range(32) if planner.owner(v).kind.value == "free"}
        blocks = _maximal_blocks(free, 32)
        assert sorted(leaf for block in blocks for leaf in block) == sorted(free)
        largest = max((len(block) for block in blocks), default=0)
        for ranks in range(1, 33):
            held = 1 << (ranks - 1).bit_length()
            assert bool(planner.fits(Gang(ranks))) == (held <= largest)


def _maximal_blocks(free: set[int], size: int, first: int = 0) -> list[range]:
    """Aligned blocks of a power of two that are wholly free and in no larger one."""
    block = range(first, first + size)
    if free.issuperset(block):
        return [block]
    if size == 1:
        return []
    half = size // 2
    return [
        *_maximal_blocks(free, half, first),
        *_maximal_blocks(free, half, first + half),
    ]


@pytest.mark.parametrize("spec", ["rack:2 host:4 gpu:2", "rack:3 host:3 gpu:3"])
def test_proposition_2_blast_radius(spec: str, seed: int) -> None:
    """A spare host a rack: one lost leaf moves its host's ranks, at the same level."""
    rng = Random(seed)
    topology = Topology.from_spec(spec)
    host = topology.leaves("host", 0).size
    repaired = 0
    for _ in range(30):
        planner = Planner(topology, spares=Spares("rack", "host"))
        twin = SlowPlanner(topology, spares=SpareShape("rack", "host"))
        for job in range(5):
            gang = Gang(host * rng.randint(1, 5), group=host, group_level="host")
            placed = planner.place(job, gang)
            if placed:
                twin.commit_place(job, gang, placed.leaves)
        assert len(twin.spare_vertices()) == topology.domain_count("rack")
        for leaf in range(topology.leaf_count):
            job = twin.owner(leaf)
            if job is None:
                continue
            repair = planner.replan(job, failed=[leaf], apply=False)
            unit = set(topology.leaves("host", leaf // host).tolist())
            assert repair, job
            assert {int(old) for old in repair.moves[:, 1]} == unit
            assert len(repair.moves) == host
            rack = topology.level_index("rack")
            assert repair.level_after <= max(repair.level_before, 1)
            assert repair.level_before >= 1
            if repair.level_before >= rack:
                assert repair.level_after == repair.level_before
            repaired += 1
    assert repaired >= 100

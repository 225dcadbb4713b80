"""The planner with nested slices and balanced gangs, against the slow twin."""

from __future__ import annotations

from collections import Counter
from random import Random

from phalanx_core.testing import (
    GEOMETRIES,
    Geometry,
    Pair,
    SpareShape,
    nested_topology,
    random_topology,
)
from phalanx_core.topology import Topology
from tests.properties.drawing import chain_gang, planner_of, random_limits, twin_of
from tests.properties.walk import Walk

EXACT = [geometry for geometry in GEOMETRIES if geometry.alignment == "exact"]


def _cluster(rng: Random) -> Topology:
    """Any small tree; or one of alike racks, where slices find whole new homes."""
    if rng.random() < 0.6:
        return random_topology(rng, rng.choice((9, 12, 16)))
    pods = []
    for _ in range(rng.choice((1, 2))):
        host, hosts, racks = (
            rng.choice((2, 3)),
            rng.choice((1, 2, 3)),
            rng.choice((2, 3)),
        )
        pods.append([[host] * hosts] * racks)
    return nested_topology(("host", "rack", "pod"), pods)


def random_pair(rng: Random) -> Pair:
    """A planner and its twin on a small tree, now and then with spares."""
    topology = _cluster(rng)
    shape = None
    if rng.random() < 0.2 and len(topology.levels) > 2:
        shape = SpareShape(topology.levels[2], topology.levels[rng.choice((0, 1))])
    geometry = Geometry("random", topology, shape)
    return Pair(planner_of(geometry), twin_of(geometry))


def test_slices_and_balance_are_placed_as_counting_says(seed: int) -> None:
    """Feasibility, level, legality, Misfit code, and the fewest domains evenly."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    for _ in range(700):
        pair = random_pair(rng)
        topology = pair.twin.topology
        for job in range(rng.randint(1, 4)):
            gang = chain_gang(rng, topology, rng.choice((4, 8, 12)))
            limits = random_limits(rng, topology) if rng.random() < 0.3 else None
            outcome = pair.place(job, gang, limits)
            met[outcome] += 1
            if outcome == "placed":
                met["sliced"] += bool(gang.slices)
                met["balanced"] += gang.balanced is not None
        pair.check()
    assert min(met[code] for code in ("LIMITED", "CAPACITY", "TOO_LARGE")) >= 50
    assert met["GROUPS"] >= 5
    assert min(met["sliced"], met["balanced"]) >= 150


def test_slices_are_repaired_wherever_a_repair_exists(seed: int) -> None:
    """Up to three failures a call: refused only without a repair, fewest units moved."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    for _ in range(900):
        pair = random_pair(rng)
        topology = pair.twin.topology
        for job in range(rng.randint(1, 3)):
            pair.place(job, chain_gang(rng, topology, rng.choice((4, 8, 12))))
        for job in list(pair.twin.jobs):
            leaves = pair.twin.jobs[job].leaves
            failed = rng.sample(leaves, min(len(leaves), rng.randint(1, 3)))
            if rng.random() < 0.5:
                pair.fail(failed)
                failed = []
            limits = random_limits(rng, topology) if rng.random() < 0.2 else None
            moved = pair.twin.fewest_units_moved(job, failed, limits)
            later = rng.random() < 0.3
            met[pair.replan(job, failed, limits, later=later)] += 1
            met[f"{moved} moved"] += 1
            pair.check()
    assert met["UNPROVEN"] <= met["repaired"] // 100
    assert min(met["REPLACEMENT"], met["repaired"], met["0 moved"]) >= 100
    assert met["1 moved"] >= 30
    assert met["2 moved"] >= 3


def test_a_walk_with_slices_finds_no_difference(seed: int) -> None:
    """Every operation on every named geometry, states equal all along."""
    met: Counter[str] = Counter()
    for geometry in EXACT:
        walk = Walk(geometry, Random(f"{seed}/{geometry.name}"), chain_gang)
        for outcome, count in walk.run(500, check_every=16).items():
            met[outcome.rpartition(" ")[2]] += count
    assert min(met["placed"], met["repaired"], met["REPLACEMENT"]) >= 50
    assert min(met["LIMITED"], met["CAPACITY"], met["GROUPS"], met["TOO_LARGE"]) >= 10

"""Parts placed jointly and repaired, against the slow twin."""

from __future__ import annotations

from collections import Counter
from random import Random

from tests.properties.drawing import parts_gang, random_limits
from tests.properties.test_chains_bruteforce import EXACT, random_pair
from tests.properties.walk import Walk


def test_parts_are_placed_as_counting_says(seed: int) -> None:
    """Feasibility, lowest level, legality and Misfit code, whatever the sizes are."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    for _ in range(1200):
        pair = random_pair(rng)
        topology = pair.twin.topology
        for job in range(rng.randint(1, 3)):
            gang = parts_gang(rng, topology, rng.choice((4, 8, 12)))
            limits = random_limits(rng, topology) if rng.random() < 0.2 else None
            outcome = pair.place(job, gang, limits, apply=rng.random() < 0.8)
            met[outcome] += 1
            met["sizes that do not divide"] += pair.twin.needs(gang).bounded
            met["limited part"] += any(part.limits for part in gang.parts)
        pair.check()
        pair.planner.validate()
    # On small trees no search gives up, even where sizes do not divide each other.
    assert met["UNPROVEN"] == 0
    assert min(met["sizes that do not divide"], met["limited part"]) >= 300
    assert min(met[code] for code in ("LIMITED", "CAPACITY", "TOO_LARGE")) >= 100
    assert met["placed"] >= 500
    assert met["GROUPS"] >= 5


def test_parts_are_repaired_or_a_search_says_that_it_gave_up(seed: int) -> None:
    """One part that broke is repaired wherever that can be; several almost always."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    for _ in range(1500):
        pair = random_pair(rng)
        topology = pair.twin.topology
        for job in range(rng.randint(1, 3)):
            pair.place(job, parts_gang(rng, topology, rng.choice((4, 8, 12))))
        for job in list(pair.twin.jobs):
            leaves = pair.twin.jobs[job].leaves
            failed = rng.sample(leaves, min(len(leaves), rng.choice((1, 1, 2, 3, 12))))
            if rng.random() < 0.5:
                pair.fail(failed)
                failed = []
            partial, widen = rng.random() < 0.2, rng.random() < 0.2
            wound = pair.twin.wound(job, failed)
            several = len({unit.part for unit in wound.units()}) > 1
            later = rng.random() < 0.3
            outcome = pair.replan(job, failed, None, partial, later, widen)
            met[outcome] += 1
            if outcome == "UNPROVEN":
                assert several or widen or wound.needs.limited
            met["several parts"] += several
            pair.check()
            pair.planner.validate()
    assert met["UNPROVEN"] <= met["repaired"] // 50
    assert min(met["REPLACEMENT"], met["repaired"], met["several parts"]) >= 100
    assert met["partial"] >= 10


def test_a_walk_with_parts_finds_no_difference(seed: int) -> None:
    """Every operation on every named geometry, states equal all along."""
    met: Counter[str] = Counter()
    for geometry in EXACT:
        walk = Walk(geometry, Random(f"{seed}/{geometry.name}"), parts_gang)
        for outcome, count in walk.run(300, check_every=16).items():
            met[outcome.rpartition(" ")[2]] += count
    assert min(met["joint"], met["rejoined"], met["REPLACEMENT"]) >= 20
    assert min(met["LIMITED"], met["CAPACITY"], met["TOO_LARGE"]) >= 10

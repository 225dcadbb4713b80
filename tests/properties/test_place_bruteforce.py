"""Place against every placement there is, on small irregular trees."""

from __future__ import annotations

from random import Random

import pytest

from phalanx_core import Gang, Planner, Topology
from phalanx_core.testing import (
    GEOMETRIES,
    Geometry,
    Pair,
    SlowPlanner,
    brute_force_placements,
    random_topology,
    shuffled,
)
from tests.properties.drawing import planner_of, random_gang, random_limits

EXACT = [geometry for geometry in GEOMETRIES if geometry.alignment == "exact"]


def _occupied(rng: Random, leaves: int) -> Pair:
    """A random tree where some leaves are held, down, suspect or cordoned."""
    topology = random_topology(rng, leaves)
    pair = Pair(Planner(topology), SlowPlanner(topology))
    ids = list(range(topology.leaf_count))
    rng.shuffle(ids)
    ill = rng.randint(0, max(1, topology.leaf_count // 2))
    for at, leaf in enumerate(ids[:ill]):
        kind = rng.choice(("hold", "hold", "fail", "suspect", "cordon"))
        if kind == "hold":
            pair.adopt(at, Gang(1), [leaf])
        else:
            getattr(pair, kind)([leaf])
    return pair


def test_place_equals_enumeration_of_all_placements(seed: int) -> None:
    """It fits, and at this level, exactly when some subset of leaves does."""
    rng = Random(seed)
    met = {True: 0, False: 0}
    for _ in range(1000):
        pair = _occupied(rng, 9)
        topology = pair.twin.topology
        gang = random_gang(rng, topology, 5)
        limits = random_limits(rng, topology) if rng.random() < 0.4 else None
        free = pair.twin.free_leaves()
        legal = set(brute_force_placements(topology, free, gang, limits))
        placed = pair.planner.fits(gang, limits)
        assert bool(placed) == bool(legal), (gang, limits, free)
        met[bool(placed)] += 1
        if placed:
            assert tuple(placed.leaves.tolist()) in legal
            best = min(pair.twin.tree.span_level(list(one)) for one in legal)
            if gang.aim == "near":
                assert placed.level <= max(best, gang.prefer or 0)
            assert placed.level >= best
    assert min(met.values()) >= 150


def test_place_equals_counting_on_larger_trees(seed: int) -> None:
    """Feasibility, level, legality and Misfit code agree on trees of up to 24 leaves."""
    rng = Random(seed)
    met: dict[str, int] = {}
    for _ in range(700):
        pair = _occupied(rng, rng.choice((12, 16, 24)))
        topology = pair.twin.topology
        for job in ("a", "b"):
            gang = random_gang(rng, topology, rng.choice((4, 8, None)))
            limits = random_limits(rng, topology) if rng.random() < 0.4 else None
            outcome = pair.place(job, gang, limits)
            met[outcome] = met.get(outcome, 0) + 1
        pair.check()
    assert set(met) == {"placed", "TOO_LARGE", "LIMITED", "CAPACITY", "GROUPS"}
    assert min(met.values()) >= 5


def test_one_type_of_several_is_planned_alone(seed: int) -> None:
    """Leaves of another GPU type are never touched, whatever lies between."""
    rng = Random(seed)
    placed = 0
    for _ in range(150):
        plain = random_topology(rng, 16)
        rows = [plain.domain_of(level).tolist() for level in plain.levels[1:]]
        labels = [[None if domain < 0 else domain for domain in row] for row in rows]
        kinds = [rng.choice(("H100", "A100")) for _ in range(plain.leaf_count)]
        topology = Topology.from_labels(plain.levels[1:], labels, types=kinds)
        kind = rng.choice(topology.type_names)
        pair = Pair(Planner(topology, type=kind), SlowPlanner(topology, type=kind))
        for job in range(4):
            limits = random_limits(rng, topology) if rng.random() < 0.3 else None
            gang = random_gang(rng, topology, 6)
            placed += pair.place(job, gang, limits) == "placed"
        pair.fail(pair.twin.tree.leaves[:2])
        for job in pair.twin.broken():
            pair.replan(job, partial=True)
        pair.check()
    assert placed >= 50


def test_choice_rule_never_changes_feasibility(seed: int) -> None:
    """Every rule and both aims refuse the same gangs."""
    rng = Random(seed)
    for _ in range(500):
        pair = _occupied(rng, 16)
        topology = pair.twin.topology
        gang = random_gang(rng, topology, 8)
        limits = random_limits(rng, topology) if rng.random() < 0.4 else None
        names = ("ranks", "group", "group_level", "within")
        chain = {name: getattr(gang, name) for name in names}
        answers = {
            bool(pair.planner.fits(Gang(**chain, aim=aim, rule=rule), limits))
            for aim in ("near", "fill")
            for rule in ("smallest", "fullest", "lowest")
        }
        assert len(answers) == 1, (gang, limits)


def test_shuffled_rows_give_the_same_answers(seed: int) -> None:
    """The order in which a cluster lists its GPUs never changes a decision."""
    rng = Random(seed)
    for _ in range(200):
        topology = random_topology(rng, 16)
        other, _ = shuffled(rng, topology)
        planners = (Planner(topology), Planner(other))
        for job in range(6):
            gang = random_gang(rng, topology, 6)
            first, second = (planner.place(job, gang) for planner in planners)
            assert bool(first) == bool(second), (topology.describe(), gang)
            if first and second:
                assert first.level == second.level
                assert _positions(topology, first) == _positions(other, second)
            elif not first and not second:
                assert first.code == second.code


def _positions(topology: object, placed: object) -> list[int]:
    order = topology.address_order.tolist()  # type: ignore[attr-defined]
    return [order.index(leaf) for leaf in placed.leaves.tolist()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("geometry", EXACT, ids=lambda geometry: geometry.name)
def test_releasing_never_makes_a_fitting_gang_unfit(
    geometry: Geometry, seed: int
) -> None:
    """What fits before a release fits after it (without spares, which refill first)."""
    rng = Random(seed)
    planner = planner_of(Geometry(geometry.name, geometry.topology))
    jobs: list[int] = []
    checked = 0
    for job in range(400):
        gang = random_gang(rng, geometry.topology, 5)
        if planner.place(job, gang):
            jobs.append(job)
        asked = random_gang(rng, geometry.topology, 6)
        fits = bool(planner.fits(asked))
        if jobs and rng.random() < 0.6:
            planner.release(jobs.pop(rng.randrange(len(jobs))))
            assert bool(planner.fits(asked)) >= fits, asked
            checked += fits
    assert checked >= 20

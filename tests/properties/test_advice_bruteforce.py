"""Advice against every subset of the candidates, on small clusters of any shape."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

import pytest

from phalanx_core import Advice, Gang, Misfit, Planner, Spares, Topology
from phalanx_core.placement import advice, cover, victims
from tests.properties.drawing import random_gang, random_limits

SEEDS = 700
CANDIDATES_MAX = 7


def random_topology(rng: Random) -> Topology:
    """Two to four levels, uneven, some leaves without a domain."""
    leaves = rng.randint(6, 26)
    columns: list[list[str | None]] = []
    label, sizes = 0, (rng.randint(2, 5), rng.randint(5, 9), rng.randint(9, 14))
    for size in sizes[: rng.randint(1, 3)]:
        column: list[str | None] = []
        while len(column) < leaves:
            label += 1
            column += [f"d{label}"] * rng.randint(1, size)
        columns.append(column[:leaves])
    for _ in range(rng.choice((0, 0, 0, 2))):
        rng.choice(columns)[rng.randrange(leaves)] = None
    for _ in range(rng.choice((0, 0, 1, 2))):  # whole hosts that lie in no rack or pod
        host, column = rng.choice(columns[0]), rng.choice(columns)
        for leaf in range(leaves):
            column[leaf] = None if columns[0][leaf] == host else column[leaf]
    names = ["host", "rack", "pod"][: len(columns)]
    return Topology.from_labels(names, columns)


def random_case(seed: int) -> tuple[Planner, Gang, Any, dict[str, int]]:
    """A loaded planner with ill leaves, a gang, limits, and costs of some jobs."""
    rng = Random(f"advice {seed}")
    topology = random_topology(rng)
    spares = Spares(1, 0, 1) if rng.random() < 0.25 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some domains can never hold a spare
        planner = Planner(topology, spares=spares)
    for number in range(rng.randint(6, 16)):
        gang = random_gang(rng, topology, rng.choice((2, 4, 6)))
        planner.place(f"j{number}", gang)
    leaves = rng.sample(range(topology.leaf_count), rng.choice((0, 0, 1, 3)))
    for leaf in leaves:
        rng.choice((planner.fail, planner.cordon, planner.suspect))([leaf])
    jobs = [str(job) for job in planner.jobs()]
    listed = rng.sample(jobs, min(len(jobs), rng.randint(3, CANDIDATES_MAX)))
    costs = {job: rng.randint(1, 9) for job in listed}
    limits = random_limits(rng, topology) if rng.random() < 0.25 else None
    wanted = random_gang(rng, topology, rng.choice((4, 8, 12)))
    return planner, wanted, limits, costs


def without(planner: Planner, jobs: Any) -> Planner:
    """A copy whose jobs have left."""
    trial = planner.clone()
    for job in jobs:
        trial.release(job)
    return trial


@cache
def least(seed: int) -> int | None:
    """The least cost of any subset that works, by releasing it."""
    planner, gang, limits, costs = random_case(seed)
    best = None
    for count in range(len(costs) + 1):
        for some in combinations(costs, count):
            cost = sum(costs[job] for job in some)
            cheaper = best is None or cost < best
            if cheaper and without(planner, some).fits(gang, limits):
                best = cost
    return best


def outcome(seed: int) -> str:
    """What a case came to, all claims checked."""
    planner, gang, limits, costs = random_case(seed)
    saved = planner.save()
    answer = planner.preempt_advice(gang, costs, limits)
    assert planner.save() == saved
    cost = least(seed)
    if not answer:
        assert isinstance(answer, Misfit)
        assert not answer.proven or cost is None
        return "misfit" if cost is None else "misfit, and yet"
    assert isinstance(answer, Advice)
    assert cost is not None
    assert set(answer.victims) <= set(costs)
    assert answer.cost == sum(costs[str(job)] for job in answer.victims) >= cost
    placed = without(planner, answer.victims).fits(gang, limits)
    assert placed
    assert placed.leaves.tolist() == answer.placement.leaves.tolist()
    for one in answer.victims:
        rest = [job for job in answer.victims if job != one]
        assert not without(planner, rest).fits(gang, limits)
    if answer.proven:
        assert answer.cost == cost
        return f"{min(len(answer.victims), 3)} leave"
    return "unproven" if answer.cost == cost else "dearer"


@cache
def unbounded(seed: int) -> str:
    """The same, once."""
    return outcome(seed)


@pytest.mark.parametrize("block", range(8))
def test_no_subset_is_cheaper(block: int) -> None:
    """Victims and cost are those of an exhaustive search, and always proven."""
    for seed in range(block, SEEDS, 8):
        assert unbounded(seed) not in ("unproven", "dearer", "misfit, and yet")


FLOORS = {"misfit": 60, "0 leave": 40, "1 leave": 60, "2 leave": 20, "3 leave": 3}


@pytest.mark.parametrize("what", FLOORS)
def test_enough_of_every_outcome(what: str) -> None:
    """The cases are not all of one kind."""
    assert Counter(map(unbounded, range(SEEDS)))[what] >= FLOORS[what]


BOUNDED_FLOORS = {"1 leave": 40, "2 leave": 10, "unproven": 10, "dearer": 1}


def test_a_bounded_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hardly any choices looked at, what is proven is true, and the rest works."""
    monkeypatch.setattr(victims, "CHOICES_MAX", 2)
    monkeypatch.setattr(victims, "AMOUNTS_MAX", 2)
    monkeypatch.setattr(cover, "CELLS_MAX", 3)
    monkeypatch.setattr(advice, "TRIED_MAX", 0)
    counts = Counter(map(outcome, range(SEEDS)))
    short = {
        what: counts[what] for what, n in BOUNDED_FLOORS.items() if counts[what] < n
    }
    assert short == {}

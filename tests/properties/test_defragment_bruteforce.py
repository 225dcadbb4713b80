"""Defragmentation against every set of moves of whole units, on small clusters."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from phalanx_core import (
    DefragmentPlan,
    Gang,
    Misfit,
    MisfitCode,
    Planner,
    Spares,
    Topology,
)
from phalanx_core.placement import clearing
from tests.properties.drawing import chain_fields, random_gang, random_limits

SEEDS = 400
FREE_MAX = 6


class Case(NamedTuple):
    """A planner, what is wanted and the jobs that may move."""

    planner: Planner
    wanted: Gang
    limits: Any
    movable: list[str]


def random_topology(rng: Random) -> Topology:
    """One to three levels above few leaves, uneven, now and then odd or a forest."""
    leaves = rng.randint(6, 12)
    columns: list[list[str | None]] = []
    label, sizes = 0, (rng.randint(2, 4), rng.randint(4, 6), rng.randint(8, 11))
    for size in sizes[: rng.randint(1, 3)]:
        column: list[str | None] = []
        while len(column) < leaves:
            label += 1
            column += [f"d{label}"] * rng.randint(2, size)
        columns.append(column[:leaves])
    if rng.random() < 0.1:
        rng.choice(columns)[rng.randrange(leaves)] = None
    return Topology.from_labels(["host", "rack", "pod"][: len(columns)], columns)


def running_gang(rng: Random, topology: Topology) -> Gang:
    """Of at most four ranks; with slices or limits now and then."""
    if rng.random() < 0.4:
        return random_gang(rng, topology, rng.choice((1, 2, 4)))
    fields = chain_fields(rng, topology, 4)
    if rng.random() < 0.25:
        fields["limits"] = random_limits(rng, topology, 2)
    return Gang(**fields)


def random_case(seed: int) -> Case:
    """A cluster that was filled, and that some jobs have left."""
    rng = Random(f"defragment {seed}")
    topology = random_topology(rng)
    top = len(topology.levels) - 1
    spares = Spares(top, rng.randrange(top), 1) if rng.random() < 0.2 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some domains can never hold a spare
        planner = Planner(topology, spares=spares)
    if rng.random() < 0.3:
        ill = rng.sample(range(topology.leaf_count), rng.choice((1, 2)))
        rng.choice((planner.fail, planner.cordon, planner.suspect))(ill)
    for number in range(40):
        planner.place(f"j{number}", running_gang(rng, topology))
    jobs = [str(job) for job in planner.jobs()]
    rng.shuffle(jobs)
    target = rng.randint(3, FREE_MAX)
    for job in jobs:
        size = planner.gang(job).ranks
        if planner.free_leaves() + size <= target and len(planner) > 1:
            planner.release(job)
    if rng.random() < 0.2:
        planner.fail([rng.randrange(topology.leaf_count)])
    jobs = [str(job) for job in planner.jobs()]
    kept = rng.randint(max(0, len(jobs) - 2), len(jobs))
    movable = jobs if rng.random() < 0.7 else rng.sample(jobs, kept)
    limits = random_limits(rng, topology) if rng.random() < 0.1 else None
    return Case(planner, wanted_gang(rng, planner), limits, movable)


def wanted_gang(rng: Random, planner: Planner) -> Gang:
    """What does not fit, if one is drawn soon."""
    topology = planner.topology
    depth = len(topology.levels) - 1
    for _ in range(12):
        most = rng.randint(2, max(2, int(planner.free_leaves())))
        if rng.random() < 0.4:
            gang = Gang(**chain_fields(rng, topology, most))
        else:
            gang = Gang(most, within=rng.randint(1, depth))
        refused = planner.fits(gang)
        if isinstance(refused, Misfit) and refused.code is not MisfitCode.TOO_LARGE:
            break
    return gang


def unit_of(planner: Planner, gang: Gang) -> int:
    """Ranks that move together."""
    if gang.group > 1:
        return gang.group
    return gang.slices[0][0] if gang.slices else 1


def is_legal(planner: Planner, job: str, leaves: list[int], added: set[int]) -> bool:
    """Whether a job may be on these leaves, of which some are new to it."""
    gang, topology = planner.gang(job), planner.topology
    for size, level in planner._frame.chain(gang):
        row = topology.domain_of(level)
        for first in range(0, gang.ranks, size):
            domains = {int(row[leaf]) for leaf in leaves[first : first + size]}
            if len(domains) > 1 or -1 in domains:
                return False
    if gang.within is None:
        high = len(topology.levels)
        if any(topology.distance(leaves[0], leaf) >= high for leaf in leaves[1:]):
            return False
    elif topology.level_index(gang.within):
        row = topology.domain_of(gang.within)[leaves]
        if row.min() < 0 or row.min() != row.max():
            return False
    for level, most in (gang.limits or {}).items():
        row = topology.domain_of(level)
        for domain in {int(row[leaf]) for leaf in added} - {-1}:
            if int((row[leaves] == domain).sum()) > most[domain]:
                return False
    return True


class Search:
    """Every set of whole units, every set of leaves for each."""

    def __init__(self, case: Case) -> None:
        self.case = case
        planner = case.planner
        self.all = range(planner.topology.leaf_count)
        self.free = {at for at in self.all if planner.owner(at).available}
        self.empty = planner.clone()
        self.busy: set[int] = set()
        for job in planner.jobs():
            self.busy.update(planner.placement(job).leaves.tolist())
        quarantined = {
            leaf for row in planner.quarantined().values() for leaf in row.tolist()
        }
        for job in planner.jobs():
            self.empty.release(job)
        for job in list(self.empty.quarantined()):
            taken = self.empty.quarantined()[job].tolist()
            self.empty.release_quarantine([at for at in taken if at not in quarantined])
        self.known: dict[frozenset[int], bool] = {}

    def fits(self, busy: set[int]) -> bool:
        """Whether the gang fits where these leaves are taken."""
        key = frozenset(busy)
        if key not in self.known:
            planner = self.empty.clone()
            for leaf in sorted(busy):
                planner.adopt(f"on {leaf}", Gang(1), [leaf])
            self.known[key] = bool(planner.fits(self.case.wanted, self.case.limits))
        return self.known[key]

    def least(self) -> int | None:
        """The fewest ranks that may move."""
        for cost in range(len(self.free) + 1):
            if self.works(0, cost, set(self.busy), set(self.free)):
                return cost
        return None

    def works(self, at: int, cost: int, busy: set[int], free: set[int]) -> bool:
        """Whether the jobs from ``at`` on can move just so many ranks."""
        if at == len(self.case.movable):
            return cost == 0 and self.fits(busy)
        job = self.case.movable[at]
        leaves = self.case.planner.placement(job).leaves.tolist()
        unit = unit_of(self.case.planner, self.case.planner.gang(job))
        for count in range(cost // unit + 1):
            for units in combinations(range(len(leaves) // unit), count):
                for moved in self.layouts(leaves, unit, units, free):
                    added = set(moved) - set(leaves)
                    if count and not is_legal(self.case.planner, job, moved, added):
                        continue
                    after = busy - (set(leaves) - set(moved)) | added
                    if self.works(at + 1, cost - count * unit, after, free - added):
                        return True
        return False

    def layouts(
        self, leaves: list[int], unit: int, units: tuple[int, ...], free: set[int]
    ) -> Iterator[list[int]]:
        """The job's leaves with these units anywhere."""
        if not units:
            yield leaves
            return
        first = units[0] * unit
        for some in combinations(sorted(free), unit):
            moved = [*leaves[:first], *some, *leaves[first + unit :]]
            yield from self.layouts(moved, unit, units[1:], free - set(some))


@cache
def least(seed: int) -> int | None:
    """The fewest ranks that may move in a case."""
    return Search(random_case(seed)).least()


def check_moves(case: Case, plan: DefragmentPlan) -> None:
    """Whole units of movable jobs go to free leaves; their rules hold."""
    planner = case.planner
    taken: list[int] = []
    for job, repair in plan.items():
        assert job in case.movable
        moves = repair.moves
        unit = unit_of(planner, planner.gang(job))
        held = planner.placement(job).leaves
        assert (held[moves[:, 0]] == moves[:, 1]).all()
        counts = Counter((moves[:, 0] // unit).tolist())
        assert set(counts.values()) == {unit}
        taken += moves[:, 2].tolist()
        assert is_legal(planner, str(job), repair.leaves.tolist(), set(taken))
    assert len(set(taken)) == len(taken) == plan.moved
    assert all(planner.owner(leaf).available for leaf in taken)


def outcome(seed: int) -> str:
    """What a case came to, all claims checked."""
    case = random_case(seed)
    planner, wanted, limits, movable = case
    saved = planner.save()
    plan = planner.defragment(wanted, limits, movable)
    assert planner.save() == saved
    cost = least(seed)
    if isinstance(plan, Misfit):
        assert not plan.proven or cost is None
        if plan.proven:
            return "misfit"
        return "unsure" if cost is None else "gave up"
    check_moves(case, plan)
    before = {job: planner.placement(job).leaves for job in planner.jobs()}
    planner.apply(plan)
    planner.validate()
    for job, leaves in before.items():
        expected = plan[job].leaves if job in plan else leaves
        assert planner.placement(job).leaves.tolist() == expected.tolist()
    freed = [planner.fenced(job) for job in plan.fence]
    assert set(plan.leaves.tolist()) <= set(np.concatenate([[], *freed]).tolist())
    placed = planner.place("wanted", wanted, limits)
    assert placed
    assert placed.level == plan.placement.level
    assert placed.leaves.tolist() == plan.placement.leaves.tolist()
    planner.validate()
    assert cost is not None
    assert plan.moved >= cost
    if plan.proven:
        assert plan.moved == cost
        return f"{min(plan.moved, 4)} move"
    return "unproven" if plan.moved == cost else "dearer"


@cache
def unbounded(seed: int) -> str:
    """The same, once."""
    return outcome(seed)


FLOORS = {
    "misfit": 200,
    "0 move": 90,
    "1 move": 40,
    "2 move": 25,
    "3 move": 8,
    "4 move": 4,
}


@pytest.mark.parametrize("block", range(8))
def test_no_moves_are_fewer(block: int) -> None:
    """Whether there are any and how many is as an exhaustive search says, proven."""
    for seed in range(block, SEEDS, 8):
        assert unbounded(seed) in FLOORS, seed


@pytest.mark.parametrize("what", FLOORS)
def test_enough_of_every_outcome(what: str) -> None:
    """The cases are not all of one kind."""
    assert Counter(map(unbounded, range(SEEDS)))[what] >= FLOORS[what]


def test_the_exhaustive_search_alone_finds_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the quick way every answer is as good, and proven."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    for seed in range(SEEDS):
        assert outcome(seed) == unbounded(seed), seed


BOUNDED_FLOORS = {"1 move": 40, "2 move": 20, "unproven": 1, "gave up": 1, "unsure": 40}


def test_a_bounded_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no work allowed for, what is proven is true, and the rest works."""
    monkeypatch.setattr(clearing, "WORK_MAX", 0)
    counts = Counter(map(outcome, range(SEEDS)))
    short = {
        what: counts[what] for what, n in BOUNDED_FLOORS.items() if counts[what] < n
    }
    assert short == {}

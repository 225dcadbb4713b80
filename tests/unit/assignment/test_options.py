"""Options of ``solve``, each against its meaning worked out by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import solve

NAN = np.nan
ROUTES = ("auto", "core", "cp-sat")


def _every(jobs: int, configurations: int) -> Any:
    return product(range(-1, configurations), repeat=jobs)


def _worth(worth: Any, choice: Any, idle: float = 0.0) -> float:
    return sum(idle if one < 0 else worth[job][one] for job, one in enumerate(choice))


def test_forbidden_pairs_are_as_nan(seed: int) -> None:
    """The same answer to the last field, and arguments are only read."""
    rng = np.random.default_rng(seed)
    for solver in ("dp", *ROUTES):
        worth = rng.random((12, 4)) * 5
        worth[rng.random(worth.shape) < 0.1] = NAN
        never = rng.random(worth.shape) < 0.3
        holes = np.where(never, NAN, worth)
        for array in (worth, never, holes):
            array.setflags(write=False)
        before = worth.copy()
        forbidden = solve(worth, [1, 2, 3, 4], 11, forbidden=never, solver=solver)
        assert forbidden == solve(holes, [1, 2, 3, 4], 11, solver=solver)
        np.testing.assert_array_equal(worth, before)


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("solver", ROUTES)
def test_quotas_are_the_best_within_every_tenant_s_limits(
    solver: str, types: int, seed: int
) -> None:
    """Of 1,024 answers, limits of tenants added up by a dictionary."""
    rng = np.random.default_rng(seed)
    binding = 0
    for _ in range(12):
        worth = rng.integers(1, 9, (5, 3)).astype(float)
        shared = rng.random() < 0.5
        wanted = rng.integers(0, 4, (5, 3, types))
        wanted[:] = wanted[:1] if shared else wanted
        tenant = rng.integers(0, 3, 5)
        quota = rng.integers(-1, 4, (3, types))
        capacity = rng.integers(2, 9, types)
        best = loose = 0.0
        for choice in _every(5, 3):
            used: dict[Any, int] = {}
            for job, one in enumerate(choice):
                for kind in range(types) if one >= 0 else ():
                    for key in (kind, (int(tenant[job]), kind)):
                        want = int(wanted[job, one, kind])
                        used[key] = used.get(key, 0) + want
            limits = {kind: int(capacity[kind]) for kind in range(types)}
            if any(used.get(key, 0) > most for key, most in limits.items()):
                continue
            loose = max(loose, _worth(worth, choice))
            limits = {key: int(quota[key]) for key in used if isinstance(key, tuple)}
            if all(most < 0 or used[key] <= most for key, most in limits.items()):
                best = max(best, _worth(worth, choice))
        demand = wanted[0] if shared else wanted
        more = {"tenant": tenant, "quota": quota, "solver": solver}
        answer = solve(worth, demand, capacity, **more)
        assert (answer.objective, answer.bound) == (best, best)
        binding += best < loose
        _check_rows(answer, wanted, tenant, quota, capacity)
    assert binding >= 4


def _check_rows(
    answer: Any, wanted: Any, tenant: Any, quota: Any, capacity: Any
) -> None:
    """Types first, then each limit, tenant by tenant: in all three fields."""
    pairs = [(who, kind) for who, kind in np.ndindex(quota.shape)]
    limited = [pair for pair in pairs if quota[pair] >= 0]
    caps = [*capacity.tolist(), *(int(quota[pair]) for pair in limited)]
    assert answer.capacity.tolist() == caps
    taken = [
        (int(tenant[job]), wanted[job, one])
        for job, one in enumerate(answer.choice.tolist())
        if one >= 0
    ]
    used = [sum(int(want[kind]) for _, want in taken) for kind in range(capacity.size)]
    used += [
        sum(int(want[kind]) for owner, want in taken if owner == who)
        for who, kind in limited
    ]
    assert answer.used.tolist() == used
    assert answer.prices is None or answer.prices.shape == (len(caps),)


@pytest.mark.parametrize("solver", ["auto", "dp", "core", "cp-sat"])
def test_what_is_held_wins_ties_and_nothing_else(solver: str, seed: int) -> None:
    """Of the best answers one that keeps as many configurations as any of them."""
    rng = np.random.default_rng(seed)
    chosen = 0
    for at in range(40 if solver != "cp-sat" else 15):
        rows = 1 if solver == "dp" else 1 + at % 2
        worth = rng.integers(0, 3, (5, 3)).astype(float)
        worth[rng.random(worth.shape) < 0.15] = NAN
        wanted = rng.integers(0, 3, (5, 3, rows))
        held = rng.integers(-1, 3, 5)
        capacity = rng.integers(2, 6, rows)
        found = []
        for choice in _every(5, 3):
            jobs = [job for job in range(5) if choice[job] >= 0]
            used = sum((wanted[job, choice[job]] for job in jobs), np.zeros(rows, int))
            value = _worth(worth, choice)
            if (used <= capacity).all() and not np.isnan(value):
                kept = sum(choice[job] == held[job] for job in jobs)
                found.append((value, kept))
        answer = solve(worth, wanted, capacity, current=held, solver=solver)
        kept = int(((answer.choice == held) & (held >= 0)).sum())
        assert (answer.objective, kept) == max(found)
        chosen += len({kept for value, kept in found if value == max(found)[0]}) > 1
    assert chosen >= 5


@pytest.mark.parametrize("solver", ["auto", "dp", "core", "cp-sat"])
@pytest.mark.parametrize("more", [1e-9, 1e-12])
def test_what_is_held_is_left_for_the_least_utility(solver: str, more: float) -> None:
    """Down to the bits that 300 jobs leave: here a thousandth of a millionth, or less."""
    worth = np.ones((300, 2))
    worth[:, 1] += more
    held = np.zeros(300, int)
    answer = solve(worth, [1, 1], 200, current=held, solver=solver)
    assert (answer.choice >= 0).sum() == 200
    assert set(answer.choice.tolist()) == {-1, 1}


@pytest.mark.parametrize(
    ("solver", "jobs"),
    [
        ("auto", 9),
        ("dp", 9),
        ("dp", 100),
        ("core", 9),
        ("core", 100),
        ("cp-sat", 9),
    ],
)
def test_of_alike_jobs_those_with_the_lowest_keys_come_first(
    solver: str, jobs: int, seed: int
) -> None:
    """A third of jobs that are alike has room; without keys the first have it."""
    rng = np.random.default_rng(seed)
    room = jobs // 3
    for keys in (None, rng.permutation(jobs) - 4, np.arange(jobs)[::-1]):
        answer = solve(np.ones((jobs, 1)), [2], 2 * room + 1, keys=keys, solver=solver)
        order = np.arange(jobs) if keys is None else np.argsort(keys)
        taken = np.flatnonzero(answer.choice == 0)
        assert sorted(taken.tolist()) == sorted(order[:room].tolist())


def test_of_equal_answers_the_dense_one_is_the_first_by_keys(seed: int) -> None:
    """By job from the lowest key on: the lowest configuration, none last."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        worth = rng.integers(0, 3, (5, 3)).astype(float)
        sizes, keys = rng.integers(0, 3, 3), rng.permutation(20)[:5]
        order = np.argsort(keys)
        best = []
        for choice in _every(5, 3):
            if sum(int(sizes[one]) for one in choice if one >= 0) <= 3:
                turn = [choice[job] if choice[job] >= 0 else 3 for job in order]
                best.append((-_worth(worth, choice), turn, list(choice)))
        answer = solve(worth, sizes, 3, keys=keys, solver="dp")
        if answer.solver == "dp":
            assert answer.choice.tolist() == min(best)[2]


@pytest.mark.parametrize("idle", [0.0, -0.0])
def test_minus_zero_is_zero(idle: float) -> None:
    """As utility and as idle value: a tie, in which the job runs; told as 0.0."""
    worth = [[-0.0, 0.0], [0.0, -0.0], [-0.0, NAN]]
    for solver in ("auto", "dp", *ROUTES):
        answer = solve(worth, [1, 1], 3, idle=idle, solver=solver)
        assert answer.choice.tolist() == [0, 0, 0]
        assert (str(answer.objective), str(answer.bound)) == ("0.0", "0.0")
    same = solve([[-0.0, 1.0]] * 3, [1, 2], 3)
    assert same == solve([[0.0, 1.0]] * 3, [1, 2], 3)


def test_numbers_of_every_kind_are_the_same_round(seed: int) -> None:
    """One capacity as a number, demands as whole floats, narrow or strided arrays."""
    rng = np.random.default_rng(seed)
    worth = rng.integers(1, 9, (8, 3)).astype(float)
    sizes = rng.integers(1, 5, (8, 3))
    first = solve(worth, sizes, [9])
    for demand in (sizes.astype(float), sizes[..., None], sizes.astype(np.uint8)):
        for capacity in (9, 9.0, np.int8(9), np.array(9), np.array([9.0])):
            assert solve(worth, demand, capacity) == first
    for utility in (worth.tolist(), worth.astype(np.float32), worth.astype(np.int16)):
        assert solve(utility, sizes.tolist(), 9) == first
    wide = np.repeat(worth, 2, axis=1)
    assert solve(wide[:, ::2], np.asfortranarray(sizes), 9) == first
    assert solve(worth.astype(">f8"), sizes.astype(">i4"), 9) == first
    assert solve(worth.astype(object), sizes, 9) == first


def test_prices_of_any_kind_are_only_a_start(seed: int) -> None:
    """Warm, cold, far too high or turned round: the same worth, proven."""
    rng = np.random.default_rng(seed)
    for _ in range(8):
        worth = rng.random((60, 4)) * 5
        sizes = rng.integers(1, 9, (4, 3))
        cold = solve(worth, sizes, [60, 50, 70], solver="core")
        assert cold.prices is not None
        for prices in (cold.prices, cold.prices[::-1], cold.prices * 50, [0, 0, 0]):
            warm = solve(worth, sizes, [60, 50, 70], solver="core", prices=prices)
            assert warm.objective == pytest.approx(cold.objective, rel=1e-12)
            assert (warm.status, cold.status) == ("optimal", "optimal")

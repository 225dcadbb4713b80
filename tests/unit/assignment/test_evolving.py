"""``evolve``: promises, repeatability, edges, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import (
    AssignmentProblem,
    Evolved,
    evolution,
    evolve,
    evolving,
    held_places,
)
from phalanx_core.errors import InvalidRequest

Drawn = tuple[AssignmentProblem, Any]
SIZES = np.array([1, 2, 4, 8])


def drawn(rng: np.random.Generator, jobs: int, rows: int = 1) -> Drawn:
    """A crowded round, and what its jobs hold: some nothing, some what is no choice."""
    worth = rng.random((jobs, 4 * rows)) * np.tile(np.sqrt(SIZES), rows)
    worth[rng.random(worth.shape) < 0.1] = np.nan
    demand = np.kron(np.eye(rows, dtype=np.int64), SIZES[:, None])
    problem = AssignmentProblem.of(worth, demand, rng.integers(jobs, 2 * jobs, rows))
    return problem, held_places(problem, rng.integers(-1, 4 * rows, jobs))


def same(first: Evolved, second: Evolved) -> bool:
    """Bit for bit."""
    return all(map(np.array_equal, first, second))


def checked(problem: AssignmentProblem, held: Any, found: Evolved) -> None:
    """Each of the front fits and has the objectives it says; nobody dominates another."""
    for chosen, total, changes in zip(
        found.front, found.totals, found.changes, strict=True
    ):
        used, worth = [0] * problem.capacity.size, 0
        for job, place in enumerate(chosen.tolist()):
            if place >= 0:
                choice = int(problem.first[job]) + place
                assert choice < problem.first[job + 1]
                worth += int(problem.value[choice])
                used = [
                    a + b
                    for a, b in zip(used, problem.wants(choice).tolist(), strict=True)
                ]
        assert all(a <= b for a, b in zip(used, problem.capacity.tolist(), strict=True))
        assert worth == total
        pairs = zip(chosen.tolist(), held.tolist(), strict=True)
        assert sum(a != b for a, b in pairs) == changes
    assert (np.diff(found.totals) < 0).all()
    assert (np.diff(found.changes) < 0).all()
    assert np.array_equal(found.chosen, found.front[0])


def test_a_front_is_what_it_says(seed: int) -> None:
    """On rounds of one to three rows, with and without seeds."""
    rng = np.random.default_rng(seed)
    longest = 0
    for turn in range(40):
        problem, held = drawn(rng, int(rng.integers(1, 30)), 1 + turn % 3)
        seeds = [np.full(problem.jobs, -1, np.int32)] if turn % 2 else []
        found = evolve(problem, seeds, held, population=16, seed=turn)
        checked(problem, held, found)
        longest = max(longest, len(found.front))
    assert longest >= 5


@pytest.mark.parametrize("population", [1, 2, 3, 20])
def test_no_seed_is_better_than_the_answer(population: int, seed: int) -> None:
    """However small the population; and who keeps all that is held stays on the front."""
    rng = np.random.default_rng(seed)
    risen = 0
    for turn in range(25):
        problem, held = drawn(rng, 12, 2)
        known = evolve(problem, [], held, seed=1, generations=5)
        seeds = list(known.front[: 1 + turn % 3])
        found = evolve(problem, seeds, held, population=population, seed=2)
        checked(problem, held, found)
        assert found.totals[0] >= known.totals[0]
        if found.totals[0] == known.totals[0]:
            assert found.changes[0] <= known.changes[0]
        risen += found.totals[0] > known.totals[0]
    assert risen


def test_who_changes_nobody_stays(seed: int) -> None:
    """The end of the front that keeps all is kept, however many stand before it."""
    rng = np.random.default_rng(seed)
    longest = 0
    for turn in range(25):
        problem, _ = drawn(rng, 15, 2)
        held = evolve(problem, [], np.full(15, -1, np.int32), generations=0).chosen
        found = evolve(problem, [held], held, population=4, seed=turn)
        assert found.changes[-1] == 0
        assert np.array_equal(found.front[-1], held)
        longest = max(longest, len(found.front))
    assert longest >= 3


def test_the_stream_decides_and_nothing_else(seed: int) -> None:
    """The same for a seed whatever NumPy's global state; others find other things."""
    rng = np.random.default_rng(seed)
    differ = 0
    for turn in range(12):
        problem, held = drawn(rng, 20, 2)
        np.random.seed(turn)  # noqa: NPY002 - what must not matter
        first = evolve(problem, [], held, seed=turn)
        np.random.seed(turn + 1)  # noqa: NPY002
        assert same(first, evolve(problem, [], held, seed=turn))
        differ += not same(first, evolve(problem, [], held, seed=turn + 1))
    assert differ >= 6


def test_the_stream_is_pinned() -> None:
    """A front that no version, platform or compiler may change."""
    values = np.arange(1, 41).reshape(10, 4) * 7 % 41
    wanted = np.array([[1, 0], [0, 2], [3, 1], [0, 4]])
    problem = AssignmentProblem.of(values, wanted, [8, 9], keys=range(10))
    held = np.array([0, 1, 2, 3, -1, -2, 0, 1, 2, 3], np.int32)
    found = evolve(problem, [], held, population=8, generations=6, seed=42)
    totals = np.ldexp(found.totals.astype(float), -problem.shift)
    assert totals.tolist() == [265.0, 235.0, 133.0]
    assert found.changes.tolist() == [7, 5, 4]
    assert found.chosen.tolist() == [-1, 0, 2, 0, 0, 1, 0, 0, 1, 3]


def test_the_kernel_is_its_plain_form(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Bit for bit, on rounds of one to three rows."""
    rng = np.random.default_rng(seed)
    rounds = [drawn(rng, int(rng.integers(1, 9)), 1 + turn % 3) for turn in range(9)]
    sizes = {"population": 9, "generations": 6}
    compiled = [evolve(*_given(one), seed=3, **sizes) for one in rounds]
    monkeypatch.setattr(evolving, "breed", evolution.breed.plain)  # type: ignore[attr-defined]
    plain = [evolve(*_given(one), seed=3, **sizes) for one in rounds]
    assert all(map(same, compiled, plain))


def _given(round_: Drawn) -> tuple[AssignmentProblem, list[Any], Any]:
    return round_[0], [], round_[1]


def test_effort_counts_individuals_and_time_ends_between_generations() -> None:
    """A run that is cut short is the beginning of the whole one."""
    problem, held = drawn(np.random.default_rng(0), 20)
    whole = evolve(problem, [], held, population=6, generations=4)
    assert (whole.evaluations, whole.limited) == (5 + 6 * 4, False)
    assert same(
        whole, evolve(problem, [], held, population=6, generations=4, effort=99)
    )
    three = evolve(problem, [], held, population=6, generations=3)
    cut = evolve(problem, [], held, population=6, generations=4, effort=23)
    assert same(three, cut)
    for effort in range(29):
        found = evolve(problem, [], held, population=6, generations=4, effort=effort)
        assert (found.evaluations, found.limited) == (effort, False)
        checked(problem, held, found)
    none = evolve(problem, [], held, seconds=0.0)
    assert (none.evaluations, none.limited) == (0, True)
    assert none.chosen.tolist() == [-1] * 20


def test_a_clock_that_does_not_strike_changes_nothing(seed: int) -> None:
    """Generations one by one are the same as all at once, however many seeds there are."""
    rng = np.random.default_rng(seed)
    for turn in range(10):
        problem, held = drawn(rng, 25, 2)
        seeds = list(evolve(problem, [], held, seed=9).front[: turn % 5])
        sizes = {"population": 7, "generations": 9}
        whole = evolve(problem, seeds, held, **sizes)
        assert same(whole, evolve(problem, seeds, held, seconds=1e9, **sizes))


@pytest.mark.parametrize("population", [1, 2, 5])
@pytest.mark.parametrize("generations", [0, 1, 3])
@pytest.mark.parametrize(
    ("jobs", "capacity", "hole"),
    [
        (0, [4], False),
        (3, [4], True),  # no job has a choice
        (3, [0, 0], False),
        (3, [], False),
        (1, [4], False),
        (5, [9], False),
    ],
)
def test_little_is_enough(
    population: int, generations: int, jobs: int, capacity: list[int], hole: bool
) -> None:
    """Rounds of nothing, populations of one, no generation."""
    worth = np.full((jobs, 2), np.nan) if hole else np.ones((jobs, 2)) * [1, 2]
    demand = np.ones((2, len(capacity)), np.int64) * [[1], [2]]
    problem = AssignmentProblem.of(worth, demand, np.array(capacity, np.int64))
    held = np.full(jobs, -1, np.int32)
    sizes = {"population": population, "generations": generations}
    found = evolve(problem, [], held, **sizes)
    checked(problem, held, found)
    assert found.evaluations == population - 1 + population * generations
    if jobs and capacity == [] and generations == 3:
        assert found.totals[0] > 0


def test_held_configurations_become_places() -> None:
    """By the caller's numbers; fixed jobs have no part, and what is gone is elsewhere."""
    worth = np.array([[1.0, 9.0, 5.0], [2.0, np.nan, 3.0], [4.0, 4.0, 4.0]])
    fixed = np.array([-1, -1, 2], np.int32)
    problem = AssignmentProblem.of(worth, [1, 2, 9], 12, 1.5, keys=[2, 1, 0])
    assert held_places(problem, [2, 2, 0]).tolist() == [0, 1, 1]
    assert held_places(problem, [0, 1, -1]).tolist() == [-1, -2, -2]
    assert held_places(problem, None).tolist() == [-1, -1, -1]
    problem = AssignmentProblem.of(worth, [1, 2, 9], 12, keys=[2, 1, 0], fixed=fixed)
    assert held_places(problem, [2, 2, 2]).tolist() == [-1, -2, -2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"population": 0}, "population 0: a whole number from 1 to 65536"),
        ({"population": 2.0}, "population 2.0: a whole number from 1 to 65536"),
        ({"population": 65537}, "population 65537: a whole number from 1 to 65536"),
        ({"generations": -1}, "generations -1: a whole number from 0 to 2147483647"),
        (
            {"generations": True},
            "generations True: a whole number from 0 to 2147483647",
        ),
        ({"generations": 2**31}, "generations 2147483648: a whole number from 0 to"),
        ({"seed": -1}, "seed -1: a whole number from 0 to"),
        ({"effort": -1}, "effort -1: a whole number from 0, or None"),
    ],
)
def test_wrong_options_are_named(fields: dict[str, Any], message: str) -> None:
    """Argument, value and rule."""
    problem = AssignmentProblem.of([[1.0, 2.0]], [1, 2], 2)
    with pytest.raises(InvalidRequest) as caught:
        evolve(problem, [], np.array([-1], np.int32), **fields)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("seeds", "held", "message"),
    [
        ([], [0], "held of shape (1,) and dtype int64: an integer a job"),
        ([], [0.0, 0.0], "held of shape (2,) and dtype float64: an integer a job"),
        ([], [0, 2], "held[1] is 2: a place, 0 to 1, or -1 or -2"),
        ([], [-3, 0], "held[0] is -3: a place, 0 to 1, or -1 or -2"),
        ([[0]], [0, 0], "seeds[0] of shape (1,) and dtype int64: an integer a job"),
        ([[0, 0], [0, -2]], [0, 0], "seeds[1][1] is -2: a place, 0 to 1, or -1"),
        ([[1, 1]], [0, 0], "seeds[0] wants 4 of row 0, which has 3"),
    ],
)
def test_wrong_places_are_named(seeds: Any, held: Any, message: str) -> None:
    """A seed that does not fit is no seed."""
    problem = AssignmentProblem.of([[1.0, 2.0], [3.0, 4.0]], [1, 2], 3, keys=[0, 1])
    with pytest.raises(InvalidRequest) as caught:
        evolve(problem, seeds, held)
    assert str(caught.value).startswith(message)

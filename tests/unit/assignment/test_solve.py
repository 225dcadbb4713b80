"""``solve`` against every assignment there is, and its promises at any limit."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import Assignment, solve
from phalanx_core.errors import InvalidRequest

Drawn = tuple[Any, Any, Any, float]


def drawn(rng: Random, rows: int) -> Drawn:
    """A small round: holes, ties, zeros, demands too large, capacities of nothing."""
    jobs, configurations = rng.randint(0, 5), rng.randint(1, 4)
    whole = rng.random() < 0.5
    worth = np.array(
        [
            [
                float(rng.randint(0, 6)) if whole else rng.uniform(0, 10)
                for _ in range(configurations)
            ]
            for _ in range(jobs)
        ]
    ).reshape(jobs, configurations)
    holes = np.array([rng.random() < 0.15 for _ in range(worth.size)], np.bool_)
    worth[holes.reshape(worth.shape)] = np.nan
    wanted = np.array(
        [rng.randint(0, 4) for _ in range(jobs * configurations * rows)]
    ).reshape(jobs, configurations, rows)
    capacity = [rng.randint(0, 7) for _ in range(rows)]
    return worth, wanted, capacity, rng.choice((0.0, 0.0, 1.1, 3.0, -1.0))


def brute(worth: Any, wanted: Any, capacity: Any, idle: float) -> float:
    """The best objective, by looking at every assignment."""
    best = -np.inf
    for choice in product(range(-1, worth.shape[1]), repeat=worth.shape[0]):
        objective = checked(worth, wanted, capacity, idle, choice)
        best = max(best, objective)
    return float(best)


def checked(worth: Any, wanted: Any, capacity: Any, idle: float, choice: Any) -> float:
    """The objective of an assignment, -inf where it breaks a rule."""
    used = np.zeros(len(capacity), np.int64)
    total = 0.0
    for job, configuration in enumerate(choice):
        if configuration < 0:
            total += idle
            continue
        total += worth[job, configuration]
        used += wanted[job, configuration]
    legal = not np.isnan(total) and (used <= np.array(capacity)).all()
    return total if legal else -np.inf


@pytest.mark.parametrize("solver", ["auto", "dp", "core", "cp-sat"])
def test_answers_are_the_best_there_are(solver: str, seed: int) -> None:
    """On rounds of one to three rows, whatever the idle value."""
    rng = Random(seed)
    met: Counter[str] = Counter()
    for _ in range(400 if solver != "cp-sat" else 150):
        round_ = drawn(rng, 1 if solver == "dp" else rng.randint(1, 3))
        worth, wanted, capacity, idle = round_
        answer = solve(worth, wanted, capacity, idle=idle, solver=solver)
        best = brute(*round_)
        assert checked(*round_, answer.choice) == pytest.approx(answer.objective)
        assert answer.objective == pytest.approx(best)
        assert answer.bound == pytest.approx(best)
        assert (answer.status, answer.gap) == ("optimal", 0.0)
        used = [wanted[job, one] for job, one in enumerate(answer.choice) if one >= 0]
        assert (
            answer.used.tolist() == np.sum(used, axis=0, initial=0).reshape(-1).tolist()
            or not used
        )
        met[answer.solver] += 1
    assert met["trivial"] >= 10
    assert met.total() - met["trivial"] >= 30


def test_every_solver_finds_the_same_worth(seed: int) -> None:
    """Rounds too large to enumerate: three solvers, one objective, one bound."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        jobs, sizes = 30, np.array([1, 2, 4, 8])
        worth = rng.random((jobs, 4)) * np.sqrt(sizes)
        answers = [
            solve(worth, sizes, 24, solver=solver, idle=0.2)
            for solver in ("dp", "core", "cp-sat")
        ]
        assert [one.solver for one in answers] == ["dp", "core", "cp-sat"]
        assert len({round(one.objective, 9) for one in answers}) == 1
        assert {one.status for one in answers} == {"optimal"}


@pytest.mark.parametrize("solver", ["core", "cp-sat"])
@pytest.mark.parametrize(
    "limit", [{"effort": 0}, {"effort": 200}, {"time_limit_s": 0.0}]
)
def test_a_limit_leaves_a_feasible_answer_with_a_proven_bound(
    solver: str, limit: dict[str, Any], seed: int
) -> None:
    """Nothing is spent on proofs, and the bound is that of the prices."""
    rng = np.random.default_rng(seed)
    wanted = rng.integers(1, 9, (40, 5, 3))
    worth = rng.random((40, 5)) * wanted.sum(axis=2)
    capacity = [40, 30, 50]
    answer = solve(worth, wanted, capacity, solver=solver, **limit)
    full = solve(worth, wanted, capacity, solver="cp-sat")
    assert checked(worth, wanted, capacity, 0.0, answer.choice) == pytest.approx(
        answer.objective
    )
    assert answer.objective <= full.objective + 1e-9 <= answer.bound + 2e-9
    assert answer.gap < 0.2
    assert answer.limited == ("time_limit_s" in limit)


def test_a_gap_ends_the_search_early() -> None:
    """The answer may be worse by so much, and says by how much at most."""
    rng = np.random.default_rng(3)
    sizes = np.array([[1, 0], [2, 0], [4, 0], [0, 1], [0, 2], [0, 4]])
    worth = rng.random((200, 6)) * np.sqrt(sizes.sum(axis=1))
    exact = solve(worth, sizes, [60, 50])
    near = solve(worth, sizes, [60, 50], gap=0.01)
    assert exact.status == "optimal"
    assert near.gap <= 0.01
    assert near.effort < exact.effort
    assert near.objective <= exact.objective <= near.bound * (1 + 1e-12)


def test_the_order_of_jobs_does_not_matter(seed: int) -> None:
    """Shuffled jobs get what they got before, ties or not."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        worth = rng.integers(1, 5, (12, 3)).astype(float)
        wanted = rng.integers(1, 4, (12, 3, 2))
        keys = rng.permutation(100)[:12]
        shuffle = rng.permutation(12)
        for given in (None, keys):
            first = solve(worth, wanted, [9, 8], keys=given)
            moved = None if given is None else given[shuffle]
            second = solve(worth[shuffle], wanted[shuffle], [9, 8], keys=moved)
            assert first.objective == second.objective
            rows = {
                (*worth[job].tolist(), *wanted[job].ravel().tolist())
                for job in range(12)
            }
            if given is not None or len(rows) == 12:
                assert second.choice.tolist() == first.choice[shuffle].tolist()


def test_the_same_answer_on_every_run() -> None:
    """All but the time it took."""
    rng = np.random.default_rng(1)
    worth, wanted = rng.random((60, 6)), rng.integers(1, 9, (60, 6, 2))
    answers = [solve(worth, wanted, [70, 60]) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert len({one.effort for one in answers}) == 1


def test_idle_above_zero_is_a_threshold() -> None:
    """A fresh job with G = r = K = 1 is refused on an empty cluster at 1.1."""
    refused = solve([[1.0]], [1], 8, idle=1.1)
    assert (refused.choice.tolist(), refused.objective) == ([-1], 1.1)
    assert solve([[1.0]], [1], 8).choice.tolist() == [0]
    # What is worth as much as idling runs: the capacity is free.
    assert solve([[1.1]], [1], 8, idle=1.1).choice.tolist() == [0]


def test_the_paper_s_three_jobs_by_capacity() -> None:
    """The printed outcome holds for two slots only: one is J3's, three take all."""
    worth, four = [[1.499], [1.112], [64.60]], [4]
    taken = {
        capacity: solve(worth, four, capacity, idle=1.1).choice.tolist()
        for capacity in (4, 8, 12)
    }
    assert taken == {4: [-1, -1, 0], 8: [0, -1, 0], 12: [0, 0, 0]}


@pytest.mark.parametrize("worst", [1e-300, 1e-9, 1e12, 1e300])
def test_values_of_any_size_are_scaled(worst: float) -> None:
    """One huge value beside small ones: what is above the resolution still counts."""
    worth = np.array([[worst, 0.5 * worst], [0.75 * worst, 0.3 * worst]])
    answer = solve(worth, [3, 1], 4)
    assert answer.choice.tolist() == [0, 1]
    assert answer.objective == pytest.approx(1.3 * worst)


EMPTY: list[tuple[Any, Any, Any]] = [
    (np.empty((0, 2)), [1, 1], 4),
    (np.empty((2, 0)), np.empty((0,), int), 4),
    ([[np.nan, np.nan]], [1, 1], 4),
    ([[1.0]], [1], 0),
    ([[1.0]], [[2, 0]], [1, 5]),
]


@pytest.mark.parametrize(("worth", "wanted", "capacity"), EMPTY)
def test_nothing_to_do_is_an_answer(worth: Any, wanted: Any, capacity: Any) -> None:
    """Everybody is left out, which is optimal, and worth plus nothing."""
    answer = solve(worth, wanted, capacity)
    assert (answer.choice == -1).all()
    assert (answer.objective, answer.bound, answer.status) == (0.0, 0.0, "optimal")
    assert str(answer.objective) == "0.0"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"utility": [1.0]}, "utility of shape (1,): a row of configurations"),
        ({"utility": [[np.inf]]}, "utility[0, 0] is inf: finite, or NaN"),
        ({"utility": [["a"]]}, "utility: numbers, NaN where a job cannot run so"),
        ({"demand": [1.5]}, "demand[0] is 1.5: a whole number"),
        ({"demand": [-1]}, "demand[0] is -1: from 0 to 2147483647"),
        ({"demand": [1, 2]}, "demand of shape (2,): (1, 1, 1) or (1, 1), or without"),
        ({"capacity": -1}, "capacity is -1: from 0 to"),
        ({"capacity": [[1]]}, "capacity of shape (1, 1): one number a row"),
        ({"idle": np.nan}, "idle nan: a finite number"),
        ({"solver": "glpk"}, "solver 'glpk': one of auto, dp, core, cp-sat"),
        ({"keys": [1.0]}, "keys of shape (1,) and dtype float64: an integer a job"),
        ({"effort": -1}, "effort -1: a whole number from 0, or None"),
        ({"time_limit_s": -1.0}, "time_limit_s -1.0: from 0, or None"),
        ({"gap": 1.0}, "gap 1.0: in [0, 1)"),
        ({"gap": "a"}, "gap 'a': in [0, 1)"),
        ({"time_limit_s": "a"}, "time_limit_s 'a': from 0, or None"),
        ({"seed": -1}, "seed -1: a whole number from 0 to 2147483647"),
        ({"seed": 2**31}, "seed 2147483648: a whole number from 0 to 2147483647"),
        ({"seed": "a"}, "seed 'a': a whole number from 0 to 2147483647"),
    ],
)
def test_what_is_refused_is_named(fields: dict[str, Any], message: str) -> None:
    """One exception with argument, value and rule."""
    given: dict[str, Any] = {"utility": [[1.0]], "demand": [1], "capacity": 4}
    with pytest.raises(InvalidRequest) as caught:
        solve(**given | fields)
    assert str(caught.value).startswith(message)


def test_answers_tell_themselves() -> None:
    """In words, as JSON values, and in equality without the time."""
    answer = solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3)
    assert str(answer) == "2 of 2 jobs, 3 of 3 used, objective 9 (optimal, dp)"
    assert answer.to_dict() == {
        "choice": [1, 0],
        "objective": 9.0,
        "bound": 9.0,
        "gap": 0.0,
        "status": "optimal",
        "solver": "dp",
        "effort": 0,
        "used": [3],
        "capacity": [3],
        "prices": None,
        "limited": False,
        "resolution": 2.0**-46,
        "certified": False,
    }
    assert isinstance(answer, Assignment)
    assert answer != 3


def test_a_core_may_end_with_nothing_left_open() -> None:
    """Where what jobs want together leaves 32 bits, and no option is part of the best."""
    rng = np.random.default_rng(238)
    jobs = int(rng.integers(4, 9))
    wanted = rng.integers(2**28, 2**31 - 1, (jobs, 3, 2))
    worth = rng.integers(1, 100, (jobs, 3)).astype(float)
    answer = solve(worth, wanted, [2**31 - 1, 2**31 - 2], solver="core")
    assert answer.status == "optimal"
    assert answer.objective == brute(worth, wanted, [2**31 - 1, 2**31 - 2], 0.0)


def test_an_answer_does_not_change_with_its_round() -> None:
    """The capacities are the caller's to change for the next one."""
    for solver in ("auto", "core"):
        capacity = np.array([3])
        answer = solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], capacity, solver=solver)
        capacity[0] = 7
        assert answer.capacity.tolist() == [3]


def test_a_certificate_is_told_and_bound_by_limits() -> None:
    """Who proved it, where it was proven."""
    round_: Any = (np.random.default_rng(5).random((30, 4)), [1, 2, 4, 8], 24)
    assert solve(*round_, certify=True).certified
    assert not solve(*round_).certified
    hurried = solve(*round_, certify=True, time_limit_s=0.0)
    assert (hurried.certified, hurried.status) == (False, "optimal")
    with pytest.raises(InvalidRequest, match="certify 'no': True or False"):
        solve(*round_, certify="no")  # type: ignore[arg-type]


def test_what_is_masked_cannot_run() -> None:
    """As NaN; a demand has no such thing."""
    masked = np.ma.array([[9.0, 1.0], [1.0, 2.0]], mask=[[True, False], [False, False]])
    assert solve(masked, [1, 2], 3).choice.tolist() == [1, 0]
    with pytest.raises(InvalidRequest, match="demand: a value is masked"):
        solve([[1.0, 2.0]], np.ma.array([1, 2], mask=[True, False]), 3)


def test_the_resolution_says_what_large_numbers_hide() -> None:
    """Beside an idle value of a million billions a difference of two is lost."""
    answer = solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3, idle=-1e15)
    assert answer.resolution >= 2.0
    assert answer.bound + answer.resolution >= 9.0
    assert solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3).resolution < 1e-12


# A round that takes CP-SAT far longer than a test; what it is sent is Ctrl-C.
HARD = """
import signal
import numpy as np
from phalanx_core import solve

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(2)
wanted = rng.integers(1, 40, (400, 6, 3))
worth = wanted.sum(axis=2) + rng.uniform(0, 0.01, (400, 6))
solve([[3.0], [2.0]], [[1, 1]], [1, 1], solver="cp-sat")
print("begun", flush=True)
solve(worth, wanted, [3001, 2003, 2503], solver="cp-sat", time_limit_s=300)
print("answered")
"""


def test_an_interrupt_ends_a_proof() -> None:
    """It reaches the caller, and no answer is told."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HARD], **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate(timeout=60)
    assert (told, errors.strip().splitlines()[-1]) == ("", "KeyboardInterrupt")

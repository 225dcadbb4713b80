"""``certificate``: right answers pass, every lie is caught, and brute force agrees."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import Assignment, certificate, exact, refuting, solve
from phalanx_core.errors import InvalidRequest
from tests.unit.assignment.round_drawing import best_of_all, drawn

ROUND: Any = ([[3.0, 5.0], [4.0, 4.5], [np.nan, 1.0]], [[1, 0], [2, 1]], [3, 1])
LIMITS: list[dict[str, Any]] = [{}, {}, {"effort": 0}, {"effort": 50}, {"gap": 0.05}]


@pytest.mark.parametrize("solver", ["auto", "dp", "core", "cp-sat", "nsga2"])
def test_right_answers_pass(solver: str, seed: int) -> None:
    """Of every solver on rounds of one to three rows, with all options and limits."""
    draw = Random(seed)
    met: Counter[Any] = Counter()
    for turn in range(150):
        given = drawn(draw, draw.randint(0, 9 + turn % 9), draw.randint(1, 3))
        try:
            answer = given.solved(solver=solver, **draw.choice(LIMITS))
        except InvalidRequest:  # fixed jobs want too much, or "dp" has several rows
            continue
        told = given.checked(answer)
        assert (told.broken, told.verified) == ((), True)
        assert told.objective == pytest.approx(answer.objective, rel=1e-15)
        met[answer.solver] += 1
        met[answer.status] += 1
        met["without prices"] += answer.prices is None
    assert min(met.total() / 2 - met["trivial"], met["optimal"]) >= 20
    assert solver in met or solver == "auto"


def test_brute_force_agrees(seed: int) -> None:
    """A bound is verified where no answer of all is above it, and refuted where one is."""
    draw = Random(seed)
    met: Counter[bool] = Counter()
    while min(met[True], met[False]) < 60:
        given = drawn(draw, draw.randint(1, 5), draw.randint(1, 3))
        best = best_of_all(given)
        if best is None:
            continue
        answer = given.solved(solver=draw.choice(("auto", "core", "cp-sat")))
        told = given.checked(answer)
        assert (told.broken, told.verified) == ((), True)
        # What an answer of the highest score adds to this one's objective.
        kept = best[0] - Fraction(answer.objective) - _bonus(given, answer)
        assert float(kept) == pytest.approx(0, abs=1e-9 * max(1.0, answer.bound))
        for share in (0.0, 1e-12, 1e-6, 0.3):
            moved = answer.bound - share * (1.0 + abs(answer.bound))
            lie = replace(answer, bound=moved)
            told = given.checked(lie)
            assert told.verified is (share == 0.0), (share, told)
            assert any("exists, above" in one for one in told.broken) == (share > 0)
            met[told.verified] += 1


def _bonus(given: Any, answer: Assignment) -> Fraction:
    held = given.named.get("current", np.full(answer.choice.size, -1))
    kept = int(((answer.choice >= 0) & (answer.choice == held)).sum())
    return kept * Fraction(given.named.get("keep_bonus", 0.0))


LIES: list[tuple[dict[str, Any], str]] = [
    ({"choice": np.int32([0, 0])}, "choice of shape (2,): one for each of 3 jobs"),
    ({"choice": np.int32([1, 0, 0])}, "job 2 cannot run with configuration 0"),
    ({"choice": np.int32([1, 0, 2])}, "job 2 cannot run with configuration 2"),
    ({"choice": np.int32([1, 0, -2])}, "job 2 cannot run with configuration -2"),
    ({"choice": np.int32([1, 0, 1])}, "row 0: 5 of 3"),
    ({"choice": np.int32([0, 1, -1])}, "the objective is 7.5, not 9.0"),
    ({"objective": 9.5}, "the objective is 9.0, not 9.5"),
    ({"objective": 9.0 - 1e-14}, "the objective is 9.0, not 8.99999999999999"),
    ({"objective": np.nan}, "the objective is 9.0, not nan"),
    ({"bound": 8.5}, "the bound 8.5 is below the objective 9.0"),
    ({"bound": 8.5}, "an answer worth 9.0 exists, above its bound 8.5"),
    ({"bound": 9.0 - 1e-14}, "an answer worth 9.0 exists, above its bound 8.9999999"),
    ({"bound": np.inf}, "the bound is inf: a finite number"),
    ({"bound": np.nan}, "the bound is nan: a finite number"),
    ({"bound": 10.0}, "the status is 'optimal', but the bound is not met"),
    ({"status": "feasible"}, "the status is 'feasible', but the bound is met"),
    ({"status": "best"}, "the status is 'best': optimal or feasible"),
    ({"used": np.int64([3, 0])}, "used is [3, 1], not [3, 0]"),
    ({"used": np.int64([3])}, "used is [3, 1], not [3]"),
    ({"capacity": np.int64([4, 1])}, "capacity is [3, 1], not [4, 1]"),
    ({"prices": np.array([1.0, -0.5])}, "the price of row 1 is -0.5: from 0"),
    ({"prices": np.array([np.nan, 0.5])}, "the price of row 0 is nan: from 0"),
    ({"prices": np.array([1.0])}, "prices of shape (1,): one for each of 2 rows"),
]


@pytest.mark.parametrize(("lie", "sentence"), LIES)
@pytest.mark.parametrize("solver", ["core", "cp-sat", "nsga2"])
def test_every_lie_is_caught(solver: str, lie: dict[str, Any], sentence: str) -> None:
    """One thing that an answer says, changed."""
    answer = solve(*ROUND, solver=solver)
    assert certificate(answer, *ROUND).broken == ()
    told = certificate(replace(answer, **lie), *ROUND)
    assert [one for one in told.broken if one.startswith(sentence)]
    refuted = "a finite number" in sentence or lie.get("bound", 9.0) < 9.0
    unread = "choice of shape" in sentence
    assert told.verified is (None if unread else not refuted)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"current": [0, -1], "fixed": [True, False]},
            "job 0 is fixed to configuration 0, not 1",
        ),
        (
            {"forbidden": [[False, True], [False, False]]},
            "job 0 cannot run with configuration 1",
        ),
        ({"tenant": [0, 1], "quota": [[1], [-1]]}, "row 1: 2 of 1"),
        ({"tenant": [0, 1], "quota": [[2], [-1]]}, "capacity is [3, 2], not [3]"),
        (
            {"current": [0, 1], "keep_bonus": 2.25},
            "an answer worth 10.0 exists, above its bound 9.0",
        ),
        ({"idle": 6.0}, "an answer worth 12.0 exists, above its bound 9.0"),
    ],
)
def test_lies_about_options_are_caught(options: dict[str, Any], sentence: str) -> None:
    """The answer of a round without them, told as one of a round with them."""
    worth, sizes = [[1.0, 5.0], [4.0, 4.5]], [1, 2]
    answer = solve(worth, sizes, 3)
    assert (answer.choice.tolist(), answer.objective) == ([1, 0], 9.0)
    told = certificate(answer, worth, sizes, 3, **options)
    assert [one for one in told.broken if one.startswith(sentence)], told.broken


def test_a_bonus_that_is_kept_is_set_off() -> None:
    """The answer keeps one, so that of another is compared with both."""
    given: Any = ([[3.0], [2.5]], [1], 1)
    rules: Any = {"current": [-1, 0], "keep_bonus": 1.0}
    answer = solve(*given, **rules)
    assert (answer.choice.tolist(), answer.objective) == ([-1, 0], 2.5)
    assert certificate(answer, *given, **rules).broken == ()
    lie = replace(answer, bound=2.0)
    assert certificate(lie, *given, **rules).broken[-1] == (
        "an answer worth 2.5 exists, above its bound 2.0, where the bonus 1.0 of what it "
        "keeps is set off"
    )


def test_whole_values_are_told_exactly() -> None:
    """One unit of 2 ** 49; with values between the steps, as many as there are jobs."""
    top = 2.0**48
    answer = solve([[top + 1], [top]], [1], 1)
    wrong = replace(answer, choice=np.int32([-1, 0]), objective=top, bound=top)
    told = certificate(wrong, [[top + 1], [top]], [1], 1)
    assert told.broken == (f"an answer worth {top + 1} exists, above its bound {top}",)
    worth = [[1 + 2.0**-51, 0.7], [1.0, 0.7]]
    near = replace(wrong, objective=1.0, bound=1.0)
    assert certificate(near, worth, [1, 1], 1).broken == ()


def test_states_may_run_out(seed: int) -> None:
    """Then nothing is claimed; prices may still tell all."""
    rng = np.random.default_rng(seed)
    given: Any = (rng.random((20, 4)), rng.integers(1, 9, (20, 4, 2)), [25, 25])
    answer = solve(*given)
    assert answer.status == "optimal"
    told = certificate(answer, *given, states=0)
    assert (told.broken, told.verified) == ((), None)
    assert told.bound > answer.bound
    told = certificate(answer, *given)
    assert (told.verified, told.bound) == (True, answer.bound)
    # A bound that the prices have needs no states.
    far = replace(answer, bound=answer.bound * 1.5, status="feasible")
    told = certificate(far, *given, states=0)
    assert (told.broken, told.verified) == ((), True)
    assert answer.bound < told.bound < far.bound
    with pytest.raises(InvalidRequest, match="states -1: a whole number from 0"):
        certificate(answer, *given, states=-1)


@pytest.mark.parametrize(
    ("worth", "wanted", "capacity"),
    [
        (np.empty((0, 2)), [1, 1], 4),
        (np.empty((2, 0)), np.empty((0,), int), 4),
        ([[np.nan, np.nan]], [1, 1], 4),
        ([[1.0]], [1], 0),
        ([[1.0, 2.0]], np.empty((2, 0), int), np.empty(0, int)),
        ([[1e300], [1e-300]], [1], 1),
    ],
)
def test_little_and_much(worth: Any, wanted: Any, capacity: Any) -> None:
    """Rounds of nothing, and of all that floats hold."""
    answer = solve(worth, wanted, capacity)
    told = certificate(answer, worth, wanted, capacity)
    assert (told.broken, told.verified) == ((), True)


def test_it_needs_nothing_that_solves() -> None:
    """Neither the core nor the modules that call it are imported by its own."""
    for module in (certificate, exact, refuting):
        source = Path(
            module.__code__.co_filename if callable(module) else module.__file__
        )
        imported = {
            vertex.module
            for vertex in ast.walk(ast.parse(source.read_text("utf-8")))
            if isinstance(vertex, ast.ImportFrom)
        }
        ours = {one for one in imported if one.startswith("phalanx_core")}
        assert ours <= {
            "phalanx_core.assignment.exact",
            "phalanx_core.assignment.refuting",
            "phalanx_core.assignment.result",
            "phalanx_core.checks",
            "phalanx_core.errors",
        }

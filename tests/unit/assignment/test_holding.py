"""What jobs hold already, and warm prices."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import certificate, solve
from phalanx_core.errors import InvalidRequest


def _round(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    wanted = rng.integers(1, 5, (6, 3, 2))
    return rng.random((6, 3)) * 5, wanted, [9, 8]


def test_fixed_jobs_keep_what_they_hold(seed: int) -> None:
    """The others get the most of what is left: compared with every assignment."""
    rng, draw = np.random.default_rng(seed), Random(seed)
    met = 0
    for _ in range(60):
        worth, wanted, capacity = _round(rng)
        held = np.array([draw.choice((-1, 0, 1, 2)) for _ in range(6)])
        stay = (held >= 0) & (rng.random(6) < 0.5)
        used = sum(
            (wanted[at, held[at]] for at in np.flatnonzero(stay)), np.zeros(2, int)
        )
        if (used > np.array(capacity)).any():
            with pytest.raises(InvalidRequest, match="fixed: these jobs want"):
                solve(worth, wanted, capacity, current=held, fixed=stay)
            continue
        best = -1.0
        for choice in product(range(-1, 3), repeat=6):
            if any(stay[at] and choice[at] != held[at] for at in range(6)):
                continue
            taken = [at for at in range(6) if choice[at] >= 0]
            want = sum((wanted[at, choice[at]] for at in taken), np.zeros(2, int))
            if (want <= np.array(capacity)).all():
                best = max(best, float(sum(worth[at, choice[at]] for at in taken)))
        answer = solve(worth, wanted, capacity, current=held, fixed=stay)
        assert answer.objective == pytest.approx(best)
        assert (answer.choice[stay] == held[stay]).all()
        assert answer.capacity.tolist() == capacity
        rules: Any = {"current": held, "fixed": stay}
        assert certificate(answer, worth, wanted, capacity, **rules).broken == ()
        met += bool(stay.any())
    assert met >= 20


def test_a_bonus_breaks_ties_for_what_is_held() -> None:
    """Equal jobs: the one that runs goes on, and the objective has no bonus."""
    worth, wanted = [[1.0], [1.0], [1.0]], [4]
    for holder in range(3):
        held = [-1, -1, -1]
        held[holder] = 0
        answer = solve(worth, wanted, 4, current=held, keep_bonus=0.01)
        assert answer.choice.tolist() == held
        assert answer.objective == 1.0


def test_warm_prices_change_the_effort_and_not_the_answer(seed: int) -> None:
    """The next round starts where this one ended."""
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 2, 4, 8])
    worth = rng.random((400, 4)) * np.sqrt(sizes)
    first = solve(worth, sizes, 300, solver="core")
    moved = worth * (1 + 0.01 * rng.standard_normal(worth.shape))
    cold = solve(moved, sizes, 300, solver="core", gap=1e-4)
    warm = solve(moved, sizes, 300, solver="core", gap=1e-4, prices=first.prices)
    assert first.prices is not None
    assert warm.effort < cold.effort
    exact = solve(moved, sizes, 300, solver="core")
    for answer in (cold, warm):
        assert answer.gap <= 1e-4
        assert answer.objective <= exact.objective <= answer.bound * (1 + 1e-12)


def test_a_quota_of_any_size_is_a_row() -> None:
    """-1 alone is no limit; and a round of no jobs has quotas as well."""
    most = 2**31 - 1
    answer = solve([[1.0]], [[2]], 4, tenant=[0], quota=[[most]])
    assert (answer.used.tolist(), answer.capacity.tolist()) == ([2, 2], [4, most])
    none = solve(
        np.empty((0, 2)), np.empty((0, 2), int), 4, tenant=np.empty(0, int), quota=[3]
    )
    assert (none.used.tolist(), none.capacity.tolist()) == ([0, 0], [4, 3])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"keep_bonus": 1.0}, "current None: keep_bonus and fixed are about it"),
        ({"keep_bonus": -1.0}, "keep_bonus -1.0: finite and at least 0"),
        ({"current": [0]}, "current of shape (1,) and dtype int64: an integer a job"),
        ({"current": [0, 2]}, "current[1] is 2: a configuration, 0 to 1, or -1"),
        ({"current": [0, 0], "fixed": [1, 0]}, "fixed of shape (2,) and dtype int64"),
        (
            {"current": [0, -1], "fixed": [True, True]},
            "fixed[1]: the job holds no configuration that it can run",
        ),
        (
            {"current": [0, 1], "fixed": [True, True]},
            "fixed[1]: the job holds no configuration that it can run",
        ),
        ({"prices": [1.0, 2.0]}, "prices [1.0, 2.0]: 1 numbers from 0 upward"),
        ({"prices": [-1.0]}, "prices [-1.0]: 1 numbers from 0 upward"),
    ],
)
def test_what_is_refused_is_named(fields: dict[str, Any], message: str) -> None:
    """One exception with argument, job, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        solve([[1.0, 2.0], [1.0, np.nan]], [1, 2], 2, **fields)
    assert str(caught.value).startswith(message)

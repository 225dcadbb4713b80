"""Jobs that are alike, counted instead of searched."""

from __future__ import annotations

import numpy as np
import pytest

from phalanx_core.assignment import certificate, solve

NAN = np.nan


def test_alike_jobs_may_have_their_options_at_other_places() -> None:
    """Two jobs with the same two options, each under numbers of its own: both run."""
    worth = [[NAN, NAN, 3.0, 2.0], [2.0, 3.0, NAN, NAN]]
    answer = solve(worth, [2, 3, 3, 2], 4, solver="cp-sat")
    assert answer.choice.tolist() == [3, 0]
    assert (answer.objective, answer.bound, answer.status) == (4.0, 4.0, "optimal")


@pytest.mark.parametrize("solver", ["core", "cp-sat"])
def test_many_alike_jobs_at_other_places(solver: str, seed: int) -> None:
    """Rounds of 70 to 120 such jobs: as the dense recurrence has them."""
    rng = np.random.default_rng(seed)
    for _ in range(15):
        jobs, half = int(rng.integers(70, 121)), int(rng.integers(2, 5))
        row, sizes = rng.integers(1, 9, half) / 1.0, rng.integers(1, 6, half)
        worth = np.full((jobs, 2 * half), NAN)
        left = rng.random(jobs) < 0.5
        worth[left, :half], worth[~left, half:] = row, row[::-1]
        wanted = [*sizes.tolist(), *sizes[::-1].tolist()]
        capacity = int(rng.integers(jobs // 2, 2 * jobs))
        answer = solve(worth, wanted, capacity, solver=solver)
        exact = solve(worth, wanted, capacity, solver="dp")
        assert (answer.objective, answer.bound) == (exact.objective, exact.objective)
        assert certificate(answer, worth, wanted, capacity).broken == ()

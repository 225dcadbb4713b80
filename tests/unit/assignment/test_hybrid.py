"""``solve(solver="nsga2")``: between the prices and the best, limits, what is held."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from phalanx_core import solve
from phalanx_core.assignment import AssignmentProblem
from phalanx_core.assignment.evolving import Hybrid
from phalanx_core.errors import InvalidRequest

SIZES = np.array([1, 2, 4, 8])


@pytest.mark.parametrize("rows", [1, 3])
def test_solve_never_loses_to_the_prices(rows: int, seed: int) -> None:
    """Between the mended answer and the best; the bound is proven and the status true."""
    rng = np.random.default_rng(seed)
    seen = set()
    for turn in range(15):
        worth = rng.random((16, 5)) * 3
        wanted = rng.integers(1, 6, (16, 5, rows))
        current = rng.integers(-1, 5, 16)
        given: Any = (worth, wanted, [20] * rows)
        mended = solve(*given, solver="core", effort=0)
        best = solve(*given, solver="cp-sat")
        answer = solve(*given, solver="nsga2", current=current, seed=turn)
        assert answer.solver == "nsga2"
        assert mended.objective <= answer.objective + 1e-12
        assert answer.objective <= best.objective + 1e-9 <= answer.bound + 2e-9
        assert (answer.used <= answer.capacity).all()
        assert (answer.status == "optimal") == (answer.gap == 0)
        assert answer.prices is not None
        assert answer == solve(*given, solver="nsga2", current=current, seed=turn)
        seen.add((answer.status, answer.objective > mended.objective + 1e-9))
    # One capacity is priced so well that there may be nothing to win.
    assert rows == 1 or {risen for _, risen in seen} == {True, False}


def test_solve_changes_no_more_than_worth_asks_for() -> None:
    """Every full cluster is worth the same: who holds GPUs keeps them."""
    sizes = [1, 2, 3]
    worth = np.tile(np.array(sizes, float), (8, 1))
    current = np.array([-1, 2, -1, 2, -1, 2, -1, -1])
    answer = solve(worth, sizes, 9, solver="nsga2", current=current)
    assert (answer.objective, answer.status) == (9.0, "optimal")
    assert answer.choice.tolist() == current.tolist()


def test_the_order_of_jobs_does_not_matter(seed: int) -> None:
    """Shuffled jobs get what they got before."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        worth, wanted = rng.random((15, 4)), rng.integers(1, 6, (15, 4, 2))
        current, shuffle = rng.integers(-1, 4, 15), rng.permutation(15)
        first = solve(worth, wanted, [15, 12], solver="nsga2", current=current)
        second = solve(
            worth[shuffle],
            wanted[shuffle],
            [15, 12],
            solver="nsga2",
            current=current[shuffle],
        )
        assert first.choice[shuffle].tolist() == second.choice.tolist()


def test_solve_keeps_its_limits(seed: int) -> None:
    """Effort is passes for prices and individuals; no time leaves the mended answer."""
    rng = np.random.default_rng(seed)
    given: Any = (rng.random((30, 4)), rng.integers(1, 6, (30, 4, 2)), [25, 25])
    mended = solve(*given, solver="core", effort=0)
    for spare in (0, 1, 30, 1000):
        effort = mended.effort + spare
        answer = solve(*given, solver="nsga2", effort=effort)
        assert answer.effort == min(effort, mended.effort + 18 + 20 * 20)
        assert not answer.limited
    zero = solve(*given, solver="nsga2", effort=0)
    late = solve(*given, solver="nsga2", time_limit_s=0.0)
    assert zero.effort == late.effort == mended.effort
    assert zero.choice.tolist() == late.choice.tolist() == mended.choice.tolist()
    assert (zero.limited, late.limited) == (False, True)


def test_what_is_held_may_not_fit() -> None:
    """Hosts have gone: the most valuable stays, and the rest competes."""
    worth, current = [[2.0, 3.0], [3.0, 4.0], [1.0, 3.5]], [1, 1, 1]
    problem = AssignmentProblem.of(worth, [1, 3], 5, keys=[0, 1, 2])
    nothing = np.full(3, -1, np.int32)
    kept = Hybrid.of(20, 20, current).evolved(problem, nothing, 0, 0, None)
    assert kept.chosen.tolist() == [-1, 1, -1]
    answer = solve(worth, [1, 3], 3, solver="nsga2", current=current)
    assert answer.objective == 6.0


def test_fixed_jobs_stay(seed: int) -> None:
    """They are no part of what evolves."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        worth, current = rng.random((9, 4)) + SIZES, rng.integers(0, 4, 9)
        stay = np.arange(9) < 3
        given: Any = (worth, SIZES, 30)
        answer = solve(*given, solver="nsga2", current=current, fixed=stay)
        assert (answer.choice[stay] == current[stay]).all()
        assert answer.used[0] <= 30


def test_only_evolving_loads_numba() -> None:
    """Neither the import nor another solver does."""
    program = (
        "import sys\nfrom phalanx_core import solve\n"
        "given = [[3.0, 5.0], [4.0, 4.5]], [1, 2], 3\n"
        "for solver in ('auto', 'core', 'nsga2'):\n"
        "    solve(*given, solver=solver)\n"
        "    print('numba' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "False", "True"]


@pytest.mark.parametrize("solver", ["auto", "nsga2"])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"population": 0}, "population 0: a whole number from 1 to 65536"),
        ({"generations": -1}, "generations -1: a whole number from 0 to 2147483647"),
    ],
)
def test_wrong_sizes_are_named(
    solver: str, fields: dict[str, Any], message: str
) -> None:
    """Whichever solver is asked for, even where there is nothing to solve."""
    with pytest.raises(InvalidRequest) as caught:
        solve([[1.0, 2.0]], [1, 2], 2, solver=solver, **fields)
    assert str(caught.value) == message

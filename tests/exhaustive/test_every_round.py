"""Every round of three jobs and three configurations, over a few utilities and demands.

Jobs may change places, so their rows are told apart as multisets; and so may configurations,
which every order of utilities stands for. The quick form takes every n-th round of the
grid; ``--full-grid`` takes all of it, but for solvers that are slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from phalanx_core.assignment import solve

# Exact in binary, so that every sum is; 0 and 1 are worth what idling is.
UTILITIES = (np.nan, 0.0, 1.0, 2.5)
IDLE = (0.0, 1.0, -0.5)
JOB_ROWS = tuple(product(UTILITIES, repeat=3))
WORTH = np.array(tuple(combinations_with_replacement(JOB_ROWS, 3)))
CHOICES = np.array(tuple(product((-1, 0, 1, 2), repeat=3)))
JOBS = np.arange(3)


class Grid(NamedTuple):
    """Demands of one configuration, and capacities: of so many rows."""

    demands: tuple[tuple[int, ...], ...]
    capacities: tuple[tuple[int, ...], ...]


GRIDS = {
    1: Grid(((0,), (1,), (2,), (3,)), tuple((most,) for most in range(7))),
    2: Grid(
        ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1)), tuple(product((0, 1, 3), repeat=2))
    ),
}
# Solver and rows; every how many-th round of the grid, quick and full.
STRIDES = {
    ("auto", 1): (47, 1),
    ("dp", 1): (1009, 101),
    ("core", 1): (503, 101),
    ("cp-sat", 1): (20011, 10007),
    ("auto", 2): (2003, 211),
    ("cp-sat", 2): (60013, 20011),
}


def _every(grid: Grid, stride: int) -> Iterator[tuple[Any, Any, float, Any]]:
    """Demand, capacity, idle, and the utilities that are their turn."""
    at = 0
    triples = combinations_with_replacement(grid.demands, 3)
    for demand, capacity, idle in product(triples, grid.capacities, IDLE):
        yield np.array(demand), np.array(capacity), idle, WORTH[at::stride]
        at = (at - WORTH.shape[0]) % stride


def _best(
    worth: NDArray[np.float64], demand: Any, capacity: Any, idle: float
) -> NDArray[np.float64]:
    """Of each round, the most that any of the 64 answers is worth."""
    used = np.where(CHOICES[..., None] >= 0, demand[CHOICES], 0).sum(axis=1)
    allowed = CHOICES[(used <= capacity).all(axis=1)]
    taken = np.where(allowed >= 0, worth[:, JOBS, allowed], idle)
    values = np.where(np.isnan(taken), -np.inf, taken).sum(axis=2)
    return np.asarray(values.max(axis=1))


@pytest.mark.parametrize(("solver", "rows"), STRIDES)
def test_every_round_is_solved_to_the_best(
    solver: str, rows: int, request: pytest.FixtureRequest
) -> None:
    """Feasible, worth the most of all 64 answers to the last bit, and known to be."""
    stride = STRIDES[solver, rows][request.config.getoption("--full-grid")]
    done = 0
    for demand, capacity, idle, worths in _every(GRIDS[rows], stride):
        bests = _best(worths, demand, capacity, idle).tolist()
        for worth, best in zip(worths, bests, strict=True):
            answer = solve(worth, demand, capacity, idle=idle, solver=solver)
            choice = answer.choice.tolist()
            value = sum(
                idle if one < 0 else worth[job, one] for job, one in enumerate(choice)
            )
            used = sum(demand[one] for one in choice if one >= 0) + 0 * capacity
            told = (answer.objective, answer.bound, answer.status, value)
            assert told == (best, best, "optimal", best), (
                worth,
                demand,
                capacity,
                idle,
            )
            assert answer.used.tolist() == used.tolist()
            assert (used <= capacity).all(), (worth, demand, capacity, idle)
            done += 1
    assert done >= 300

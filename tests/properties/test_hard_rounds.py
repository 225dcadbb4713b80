"""Rounds whose shape is hard for a solver, with HiGHS on the whole model as the judge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from phalanx_core import solve

Utility = NDArray[np.float64]
SIZES = np.array([1, 2, 3, 5, 8, 13])


def _families(rng: np.random.Generator, jobs: int, columns: int) -> Utility:
    """Three kinds of jobs in two ages: many are alike."""
    kinds = rng.uniform(1, 9, (3, columns))
    age = rng.choice([1.0, 2.0], jobs)
    return np.asarray(kinds[rng.integers(0, 3, jobs)] * age[:, None])


def _sums(_rng: np.random.Generator, jobs: int, columns: int) -> Utility:
    """Each GPU is worth one: every full cluster is as good as another."""
    return np.tile(np.resize(SIZES, columns).astype(float), (jobs, 1))


def _correlated(rng: np.random.Generator, jobs: int, columns: int) -> Utility:
    """Ten more than the GPUs, or nearly so."""
    near = rng.integers(0, 3, (jobs, columns))
    return np.asarray(_sums(rng, jobs, columns) + 10 + near)


def _uniform(rng: np.random.Generator, jobs: int, columns: int) -> Utility:
    """Worth has nothing to do with size."""
    return np.asarray(rng.uniform(0, 10, (jobs, columns)))


def _fresh(rng: np.random.Generator, jobs: int, columns: int) -> Utility:
    """All that tells jobs apart is noise of three percent."""
    curve = np.sqrt(np.resize(SIZES, columns))
    return np.asarray(curve * (1 + 0.03 * rng.standard_normal((jobs, columns))))


SHAPES = {
    "families": _families,
    "subset sum": _sums,
    "correlated": _correlated,
    "uniform": _uniform,
    "fresh": _fresh,
}


def _best(
    utility: Utility,
    demand: NDArray[np.int64],
    capacity: NDArray[np.int64],
    idle: float,
) -> float:
    """Worth of the best answer, by branch and bound on every pair."""
    job, pick = np.nonzero(~np.isnan(utility))
    ones = np.ones(job.size)
    once = sparse.csr_array(
        (ones, (job, np.arange(job.size))), shape=(utility.shape[0], job.size)
    )
    answer = milp(
        idle - utility[job, pick],
        integrality=ones,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(once, ub=1),
            LinearConstraint(sparse.csr_array(demand[pick].T), ub=capacity),
        ],
        options={"mip_rel_gap": 0},
    )
    assert answer.status == 0
    return float(idle * utility.shape[0] - answer.fun)


@pytest.mark.parametrize("share", [0.3, 4.0], ids=["scarce", "abundant"])
@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_hard_rounds_are_solved_to_the_best(
    shape: Callable[[np.random.Generator, int, int], Utility],
    types: int,
    share: float,
    seed: int,
) -> None:
    """The same worth as the judge's, and what is taken fits."""
    rng = np.random.default_rng(seed)
    demand = np.kron(np.eye(types, dtype=np.int64), SIZES[:, None])
    for _ in range(4):
        jobs = int(rng.integers(5, 25))
        utility = shape(rng, jobs, demand.shape[0])
        utility[rng.random(utility.shape) < 0.1] = np.nan
        capacity = np.array(
            [max(3, round(share * 5 * jobs / types)) + kind for kind in range(types)]
        )
        idle = float(rng.choice([0.0, 1.1]))
        answer = solve(utility, demand, capacity, idle=idle)
        taken = answer.choice[answer.choice >= 0]
        worth = utility[np.flatnonzero(answer.choice >= 0), taken].sum()
        worth += idle * (jobs - taken.size)
        assert answer.status == "optimal"
        assert (demand[taken].sum(axis=0) <= capacity).all()
        assert answer.objective == pytest.approx(worth, rel=1e-12)
        best = _best(utility, demand, capacity, idle)
        assert answer.objective == pytest.approx(best, rel=1e-9)

"""pymoo's NSGA-II on rounds: the search of Pollux and of the paper's Hybrid OAK.

A candidate is a configuration for each job; the first objective is utility, the second
how many jobs change what they hold. Operators are those that pymoo's manual has for
whole numbers; others (uniform crossover) were slower here and no better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from pymoo.optimize import minimize

from bench.drawn import IDLE, IntArray, Round
from bench.round_peers import Clock, PeerResult


class _Round(Problem):  # type: ignore[misc]
    """Variable j is 1 + configuration of job j; 0 = left out."""

    def __init__(self, given: Round, held: IntArray) -> None:
        jobs, configurations = given.utility.shape
        super().__init__(n_var=jobs, n_obj=2, xl=0, xu=configurations, vtype=int)
        left_out = np.full((jobs, 1), IDLE)
        self.worth = np.concatenate([left_out, given.utility], axis=1)
        nothing = np.zeros((1, given.capacity.size), np.int64)
        self.demand = np.concatenate([nothing, given.demand])
        self.capacity, self.held, self.jobs = given.capacity, held + 1, np.arange(jobs)

    def _evaluate(self, x: NDArray[Any], out: Any, *_: Any, **__: Any) -> None:
        utility = self.worth[self.jobs, x].sum(axis=1)
        out["F"] = np.column_stack([-utility, (x != self.held).sum(axis=1)])


class _Capacity(Repair):  # type: ignore[misc]
    """Leave out jobs that do not fit, met in random order; all candidates at once."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()
        self.rng = rng

    def _do(self, problem: _Round, x: NDArray[Any], **_: Any) -> NDArray[Any]:
        x = np.rint(x).astype(np.int64)
        x[np.isnan(problem.worth[problem.jobs, x])] = 0
        order = self.rng.permuted(np.tile(problem.jobs, (len(x), 1)), axis=1)
        rows = np.arange(len(x))
        used = np.zeros((len(x), problem.capacity.size), np.int64)
        for job in order.T:
            wanted = used + problem.demand[x[rows, job]]
            fits = (wanted <= problem.capacity).all(axis=1)
            x[rows[~fits], job[~fits]] = 0
            used[fits] = wanted[fits]
        return x


def by_pymoo(given: Round, held: IntArray, size: int, seed: int) -> PeerResult:
    """The most useful candidate after as many generations as there are candidates."""
    clock = Clock()
    problem = _Round(given, held)
    whole = {"prob": 1.0, "eta": 3.0, "vtype": float, "repair": RoundingRepair()}
    algorithm = NSGA2(
        pop_size=size,
        sampling=IntegerRandomSampling(),
        crossover=SBX(**whole),
        mutation=PM(**whole),
        repair=_Capacity(np.random.default_rng(seed)),
        eliminate_duplicates=True,
    )
    clock.built()
    answer = minimize(problem, algorithm, ("n_gen", size), seed=seed, verbose=False)
    best = answer.X[answer.F[:, 0].argmin()] - 1
    jobs = np.flatnonzero(best >= 0)
    return clock.result(given, (jobs, best[jobs]), proven=False)

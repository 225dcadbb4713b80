"""Solvers that rounds are measured beside, each called as one would call it alone.

Building the model and solving it are timed apart, since for small rounds the modelling
layer takes most of the time. Imports are of the function that needs them: no peer but
OR-Tools is a dependency, and ``pip install -e '.[bench]'`` brings the others.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import frexp
from time import perf_counter
from typing import Any

import numpy as np

from bench.drawn import IDLE, SHAPES, IntArray, Round, drawn_rounds
from phalanx_core import Assignment

INSTALL = "pip install -e '.[bench]'"
# As many bits as solve() has, so that the tuned CP-SAT answers the same question.
JOB_BITS = 50
TOTAL_BITS = 58


@dataclass(frozen=True)
class PeerResult:
    """What a peer answered, and the seconds it took.

    Attributes
    ----------
    choice
        Configuration of each job, -1 = left out; None where it has no answer.
    objective
        Of that answer in the round's own numbers, whatever the peer calls it.
    proven
        Whether the peer says that no answer is better.
    """

    build_s: float
    solve_s: float
    choice: IntArray | None
    objective: float | None
    proven: bool

    @property
    def total_s(self) -> float:
        """Seconds of both."""
        return self.build_s + self.solve_s


class Clock:
    """Seconds of building until ``built``, of solving from then to ``result``."""

    def __init__(self) -> None:
        self.before = self.between = perf_counter()

    def built(self) -> None:
        """End of the model, begin of the search."""
        self.between = perf_counter()

    def result(
        self, given: Round, taken: tuple[Any, Any] | None, proven: bool
    ) -> PeerResult:
        """Stop, and tell jobs and configurations that were taken."""
        after = perf_counter()
        choice = None if taken is None else np.full(given.utility.shape[0], -1)
        if choice is not None and taken is not None:
            choice[taken[0]] = taken[1]
        value = None if choice is None else given.value(choice)
        spans = (self.between - self.before, after - self.between)
        return PeerResult(*spans, choice, value, proven)


@contextmanager
def silent() -> Iterator[None]:
    """Nothing on stdout meanwhile, whatever a C library prints, as HiGHS its licence."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def by_cvxpy(given: Round, seconds: float) -> PeerResult:
    """CVXPY with GLPK_MI, as the OAK paper has it: the formula over a boolean matrix."""
    cp = import_module("cvxpy")
    clock = Clock()
    utility = np.nan_to_num(given.utility)  # less than idle: never taken
    taken = cp.Variable(utility.shape, boolean=True)
    left_out = 1 - cp.sum(taken, axis=1)
    problem = cp.Problem(
        cp.Maximize(cp.sum(cp.multiply(utility, taken)) + IDLE * cp.sum(left_out)),
        [
            cp.sum(taken, axis=1) <= 1,
            cp.sum(taken @ given.demand, axis=0) <= given.capacity,
        ],
    )
    # The two halves of problem.solve(solver=cp.GLPK_MI).
    form, chain, inverse = problem.get_problem_data(cp.GLPK_MI)
    clock.built()
    limit = {"tm_lim": int(seconds * 1e3)}
    answer = chain.solve_via_data(problem, form, solver_opts=limit)
    try:
        problem.unpack_results(answer, chain, inverse)
    except cp.SolverError:  # what it says at a limit, whatever GLPK has found
        return clock.result(given, None, False)
    hits = np.nonzero(taken.value > 0.5)
    return clock.result(given, hits, problem.status == "optimal")


def by_glpk(given: Round, seconds: float) -> PeerResult:
    """GLPK's integer optimizer called directly, on the pairs that can gain."""
    cvxopt = import_module("cvxopt")
    glpk = import_module("cvxopt.glpk")
    clock = Clock()
    job, pick = given.gainful()
    jobs, columns = given.utility.shape[0], np.arange(job.size)
    wanted = given.demand[pick]
    at, row = np.nonzero(wanted)
    rows = cvxopt.spmatrix(
        np.concatenate([np.ones(job.size), wanted[at, row].astype(float)]),
        np.concatenate([job, jobs + row]),
        np.concatenate([columns, at]),
        (jobs + given.capacity.size, job.size),
    )
    most = np.concatenate([np.ones(jobs), given.capacity.astype(float)])
    cost = cvxopt.matrix(IDLE - given.utility[job, pick])
    limits, none = cvxopt.matrix(most), cvxopt.matrix(0.0, (0, 1))
    equal = cvxopt.spmatrix([], [], [], (0, job.size))
    clock.built()
    status, found = glpk.ilp(
        cost,
        rows,
        limits,
        equal,
        none,
        set(),
        set(range(job.size)),
        options={"msg_lev": "GLP_MSG_OFF", "tm_lim": int(seconds * 1e3)},
    )
    some = None
    if found is not None and status in ("optimal", "feasible"):
        hits = np.array(found).ravel() > 0.5
        some = (job[hits], pick[hits])
    return clock.result(given, some, status == "optimal")


def by_highs(given: Round, seconds: float) -> PeerResult:
    """HiGHS through its own binding, on the pairs that can gain, without a gap."""
    highspy = import_module("highspy")
    clock = Clock()
    job, pick = given.gainful()
    jobs, types = given.utility.shape[0], given.capacity.size
    wanted = given.demand[pick]
    at, row = np.nonzero(wanted)
    column = np.concatenate([np.arange(job.size), at])
    order = np.argsort(column, kind="stable")
    index = np.concatenate([job, jobs + row])[order].astype(np.int32)
    value = np.concatenate([np.ones(job.size), wanted[at, row].astype(float)])[order]
    start = np.searchsorted(column[order], np.arange(job.size + 1)).astype(np.int32)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("time_limit", float(seconds))
    solver.passModel(
        job.size,
        jobs + types,
        value.size,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        given.utility[job, pick] - IDLE,
        np.zeros(job.size),
        np.ones(job.size),
        np.full(jobs + types, -np.inf),
        np.concatenate([np.ones(jobs), given.capacity.astype(float)]),
        start,
        index,
        value,
        np.full(job.size, int(highspy.HighsVarType.kInteger), np.int32),
    )
    clock.built()
    solver.run()
    some = None
    if solver.getInfo().primal_solution_status == 2:  # feasible
        hits = np.array(solver.getSolution().col_value) > 0.5
        some = (job[hits], pick[hits])
    proven = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return clock.result(given, some, proven)


def by_scipy(given: Round, seconds: float) -> PeerResult:
    """HiGHS through ``scipy.optimize.milp``, for where its own binding is missing."""
    optimize, sparse = import_module("scipy.optimize"), import_module("scipy.sparse")
    clock = Clock()
    job, pick = given.gainful()
    jobs, ones = given.utility.shape[0], np.ones(job.size)
    once = sparse.csr_array((ones, (job, np.arange(job.size))), (jobs, job.size))
    used = sparse.csr_array(given.demand[pick].T)
    rules = [
        optimize.LinearConstraint(once, ub=1),
        optimize.LinearConstraint(used, ub=given.capacity),
    ]
    clock.built()
    answer = optimize.milp(
        IDLE - given.utility[job, pick],
        integrality=ones,
        bounds=optimize.Bounds(0, 1),
        constraints=rules,
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    hits = None if answer.x is None else answer.x > 0.5
    some = None if hits is None else (job[hits], pick[hits])
    return clock.result(given, some, answer.status == 0)


def by_cp_sat(given: Round, seconds: float) -> PeerResult:
    """CP-SAT as one writes it first: names, ``sum``, a float objective, all workers."""
    cp_model = import_module("ortools.sat.python.cp_model")
    clock = Clock()
    model = cp_model.CpModel()
    jobs, configurations = given.utility.shape
    taken = {
        (i, j): model.new_bool_var(f"x_{i}_{j}")
        for i in range(jobs)
        for j in range(configurations)
        if not np.isnan(given.utility[i, j])
    }
    of_job: list[list[Any]] = [[] for _ in range(jobs)]
    for (i, _), variable in taken.items():
        of_job[i].append(variable)
    for variables in of_job:
        model.add(sum(variables) <= 1)
    for kind, most in enumerate(given.capacity.tolist()):
        wanted = given.demand[:, kind].tolist()
        model.add(
            sum(wanted[j] * x for (_, j), x in taken.items() if wanted[j]) <= most
        )
    worth = sum(float(given.utility[pair]) * x for pair, x in taken.items())
    model.maximize(worth + IDLE * sum(1 - sum(variables) for variables in of_job))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    clock.built()
    status = solver.solve(model)
    some = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        hits = [pair for pair, x in taken.items() if solver.value(x)]
        some = tuple(np.array(hits, np.int64).reshape(-1, 2).T)
    return clock.result(given, some, status == cp_model.OPTIMAL)


def by_tuned_cp_sat(given: Round, seconds: float) -> PeerResult:
    """CP-SAT on the whole model with the parameters that suit rounds best.

    The model is written without the modelling layer; whole numbers; one worker, one pass
    of presolve without probing or symmetry, all of the linear relaxation.
    """
    helper = import_module("ortools.sat.python.cp_model_helper")
    clock = Clock()
    job, pick = given.gainful()
    gain = given.utility[job, pick] - IDLE
    most = np.zeros(given.utility.shape[0])
    np.maximum.at(most, job, gain)
    shift = min(JOB_BITS - frexp(most.sum())[1], TOTAL_BITS - frexp(gain.sum())[1])
    model = helper.CpModelProto()
    for _ in range(job.size):
        model.variables.add().domain.extend([0, 1])
    cuts = np.flatnonzero(np.diff(job)) + 1
    for held in np.split(np.arange(job.size), cuts):
        model.constraints.add().at_most_one.literals.extend(held.tolist())
    for kind, capacity in enumerate(given.capacity.tolist()):
        wanted = given.demand[pick, kind]
        some = np.flatnonzero(wanted)
        linear = model.constraints.add().linear
        linear.vars.extend(some.tolist())
        linear.coeffs.extend(wanted[some].tolist())
        linear.domain.extend([0, capacity])
    model.objective.vars.extend(range(job.size))
    whole = np.rint(np.ldexp(gain, shift)).astype(np.int64)
    model.objective.coeffs.extend((-whole).tolist())
    model.objective.scaling_factor = -1
    solver = helper.SolveWrapper()
    solver.set_parameters(_tuned(helper, seconds))
    clock.built()
    answer = solver.solve(model)
    taken = None
    if answer.status in (helper.OPTIMAL, helper.FEASIBLE):
        hits = np.array(answer.solution, np.int64) > 0
        taken = (job[hits], pick[hits])
    return clock.result(given, taken, answer.status == helper.OPTIMAL)


def _tuned(helper: Any, seconds: float) -> Any:
    parameters = helper.SatParameters()
    parameters.num_workers = 1
    parameters.max_presolve_iterations = 1
    parameters.cp_model_probing_level = 0
    parameters.symmetry_level = 0
    parameters.linearization_level = 2
    parameters.max_time_in_seconds = seconds
    return parameters


@dataclass(frozen=True)
class Peer:
    """A peer, what it needs, and how exact its proofs are.

    Attributes
    ----------
    tolerance
        Share by which an answer that it calls optimal may differ from another's.
    """

    label: str
    modules: tuple[str, ...]
    ask: Callable[[Round, float], PeerResult]
    tolerance: float

    @property
    def missing(self) -> bool:
        """Whether something that it needs is not installed."""
        return any(find_spec(name) is None for name in self.modules)

    @cache  # noqa: B019 - a handful of peers, all of them constants
    def warm(self) -> None:
        """Load it and have it solve small rounds, once a process."""
        with silent():
            for given in drawn_rounds(SHAPES["A14"], 0, 5):
                self.ask(given, 10.0)


# GLPK and HiGHS work to tolerances of 1e-7 and 1e-6; CP-SAT scales float objectives.
PEERS = {
    "cvxpy": Peer("CVXPY+GLPK_MI", ("cvxpy", "cvxopt"), by_cvxpy, 1e-6),
    "glpk": Peer("GLPK", ("cvxopt",), by_glpk, 1e-6),
    "highs": Peer("HiGHS", ("highspy",), by_highs, 1e-6)
    if find_spec("highspy")
    else Peer("HiGHS (SciPy)", ("scipy",), by_scipy, 1e-6),
    "cp-sat-naive": Peer("CP-SAT naive", ("ortools",), by_cp_sat, 1e-5),
    "cp-sat-tuned": Peer("CP-SAT tuned", ("ortools",), by_tuned_cp_sat, 1e-9),
}


class PeersDisagree(Exception):
    """A peer's answer that is not one, or not the same: the times mean nothing."""


def check(
    given: Round, ours: Assignment, theirs: PeerResult, label: str, tolerance: float
) -> None:
    """Refuse to compare unless both solved the same round.

    Raises
    ------
    PeersDisagree
        If an answer does not fit, is above our bound, or both are optimal and differ.
    """
    if not given.fits(ours.choice):
        raise PeersDisagree("ours does not fit")
    if theirs.choice is None or theirs.objective is None:
        return
    if not given.fits(theirs.choice):
        raise PeersDisagree(f"{label}: its answer does not fit")
    room = tolerance * abs(ours.bound)
    told = f"{label}: {theirs.objective!r}, ours {ours.objective!r}"
    if theirs.objective > ours.bound + room:
        raise PeersDisagree(f"{told}: above the proven bound {ours.bound!r}")
    if theirs.proven and theirs.objective < ours.objective - room:
        raise PeersDisagree(f"{told}: not the optimum that it claims")

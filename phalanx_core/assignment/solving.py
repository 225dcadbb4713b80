"""``solve``: the round's assignment, by the solver that suits it."""

from __future__ import annotations

import time
from math import inf, ldexp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment.demands import Demands
from phalanx_core.assignment.evolving import Hybrid
from phalanx_core.assignment.holding import Held
from phalanx_core.assignment.problem import AssignmentProblem
from phalanx_core.assignment.result import Assignment
from phalanx_core.assignment.searching import Search, check_size, is_dense
from phalanx_core.assignment.table import Table, allowed, utilities
from phalanx_core.checks import is_number, is_whole, numbers_of
from phalanx_core.errors import InvalidRequest

SEED_MAX = 2**31 - 1  # what CP-SAT takes
SOLVERS = ("auto", "dp", "core", "cp-sat", "nsga2")


def solve(
    utility: ArrayLike,
    demand: ArrayLike,
    capacity: ArrayLike,
    *,
    idle: float = 0.0,
    solver: str = "auto",
    keys: ArrayLike | None = None,
    current: ArrayLike | None = None,
    keep_bonus: float = 0.0,
    fixed: ArrayLike | None = None,
    forbidden: ArrayLike | None = None,
    tenant: ArrayLike | None = None,
    quota: ArrayLike | None = None,
    prices: ArrayLike | None = None,
    effort: int | None = None,
    time_limit_s: float | None = None,
    gap: float = 0.0,
    certify: bool = False,
    seed: int = 0,
    population: int = 20,
    generations: int = 20,
) -> Assignment:
    r"""Which job gets which configuration: the most utility that the capacities hold.

    Parameters
    ----------
    utility
        Of each configuration of each job, NaN where the job cannot run so: shape (jobs,
        configurations); what :func:`~phalanx_core.scoring.score` gives.
    demand
        Whole numbers from 0: shape (jobs, configurations) for one GPU type, (jobs,
        configurations, types) for several; without the first axis where all jobs' are
        alike.
    capacity
        GPUs of each type: shape (types,), or one number.
    idle
        What a job that is left out is worth: above 0 an admission threshold, since no
        configuration worth less is taken, whatever is free.
    solver
        "auto"; "dp": every amount of one type's capacity; "core": prices, then a proof
        on what they leave open; "cp-sat": the whole model by OR-Tools; "nsga2": prices,
        then :func:`~phalanx_core.assignment.evolve` from their answer and what is held.
    keys
        One distinct integer a job; where answers are equal, those with lower keys come
        first. Without them jobs with equal rows stand as they came.
    current
        Configuration that each job holds now, -1 = none: integers, shape (jobs,). Of
        answers that are worth the same, to the bits that utilities are rounded to, the
        one that keeps most of them is taken.
    keep_bonus
        What keeping it is worth beyond its utility, at least 0 and no larger than it
        must be, since all values are rounded together (``fixed`` keeps in any case); not part of the answer's
        objective. The bound is that of utilities and bonuses together, less the bonuses
        that the answer has.
    fixed
        Jobs that keep it whatever it is worth: bool, shape (jobs,).
    forbidden
        Pairs that are not to be, as NaN in ``utility``: bool, shape of ``utility``.
    tenant, quota
        Tenant of each job, a row of ``quota``: integers, shape (jobs,); and the most GPUs
        of each type that all jobs of a tenant may have, -1 = no limit: integers, shape
        (tenants, types). Each limit is a row after those of the types in the answer's
        ``used``, ``capacity`` and ``prices``, tenant by tenant.
    prices
        Of the last round's answer, to start from: shape (rows,).
    effort
        Most steps of proving, or individuals of "nsga2"; None: as many as it takes.
    time_limit_s
        Most wall seconds. The one option that can make two runs differ; the answer says
        where it may have. What is begun is ended: prices, and "dp".
    gap
        Stop once no answer can be better by this share.
    certify
        Have CP-SAT prove as well that no answer is better, where that is proven: see
        ``certified`` of the answer. ``effort`` and ``time_limit_s`` bound it.
    seed
        Of CP-SAT and "nsga2".
    population, generations
        Of "nsga2": at least 1, and from 0.

    Returns
    -------
    Assignment
        Always feasible, with a proven bound.

    Raises
    ------
    InvalidRequest
        If a shape, dtype or value is not as said above, or the solver does not suit it.
    ImportError
        If OR-Tools is needed for a proof and not installed.
    InvariantBroken
        If a certificate is refuted: a bug.

    Notes
    -----
    .. math::

        \max \sum_{ij} x_{ij} U_{ij} + μ |\{i : \sum_j x_{ij} = 0\}| \quad
        \sum_j x_{ij} \le 1, \quad \sum_{ij} x_{ij} d_{ijg} \le R_g

    solved as max Σ x (U - μ) in whole numbers of 50 bits (section IV-C of the OAK paper
    is this with μ = 1.1). O(choices) a pass for prices, about 50 passes; proofs are
    exponential at worst.

    Examples
    --------
    >>> answer = solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3)
    >>> answer.choice.tolist(), answer.objective, answer.status
    ([1, 0], 9.0, 'optimal')
    """
    started = time.perf_counter()
    if not (isinstance(solver, str) and solver in SOLVERS):
        raise InvalidRequest(f"solver {solver!r}: one of {', '.join(SOLVERS)}")
    _check_limits(effort, time_limit_s, gap)
    if not isinstance(certify, (bool, np.bool_)):
        raise InvalidRequest(f"certify {certify!r}: True or False")
    if not (is_whole(seed) and seed <= SEED_MAX):
        raise InvalidRequest(f"seed {seed!r}: a whole number from 0 to {SEED_MAX}")
    worth = allowed(utilities(utility), forbidden)
    wants = Demands.of(demand, worth.shape, capacity, tenant, quota)
    hybrid = Hybrid.of(population, generations, current)
    held = Held.of(worth, current, keep_bonus, fixed)
    counted = None if held.utility is worth else worth
    table = Table(held.utility, wants, idle, held.fixed, held.held, counted)
    check_size(table, solver)
    start = _start(prices, wants.capacity.size)
    if not certify and solver in ("auto", "dp") and is_dense(table):
        return _small(table, keys, started)
    problem = AssignmentProblem.of_table(table, keys)
    if start is not None:
        start = problem.scaled(start)
    search = Search(problem, effort, gap, seed, time_limit_s, started, start, hybrid)
    search.run(solver)
    if certify:
        search.certify()
    return _told(search, table, started)


def _small(table: Table, keys: ArrayLike | None, started: float) -> Assignment:
    """The route of small rounds of one type: one call, or the call is what takes time."""
    answer = table.small_answer(keys)
    return Assignment(
        choice=answer.choice,
        objective=answer.objective,
        bound=answer.objective,
        status="optimal",
        solver="trivial" if answer.trivial else "dp",
        effort=0,
        used=answer.used,
        capacity=table.wants.capacity,
        resolution=_resolution(table.jobs, answer.shift),
        time_s=time.perf_counter() - started,
    )


def _check_limits(effort: Any, time_limit_s: Any, gap: Any) -> None:
    if effort is not None and not is_whole(effort):
        raise InvalidRequest(f"effort {effort!r}: a whole number from 0, or None")
    if time_limit_s is not None and not (is_number(time_limit_s) and time_limit_s >= 0):
        raise InvalidRequest(f"time_limit_s {time_limit_s!r}: from 0, or None")
    if not (is_number(gap) and 0 <= gap < 1):
        raise InvalidRequest(f"gap {gap!r}: in [0, 1)")


def _start(prices: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    if prices is None:
        return None
    rule = f"{rows} numbers from 0 upward"
    given = np.atleast_1d(numbers_of(f"prices {prices!r}", prices, rule))
    bad = given.shape != (rows,) or not np.isfinite(given).all()
    if bad or (given < 0).any():
        raise InvalidRequest(f"prices {prices!r}: {rule}")
    return given


def _told(search: Search, table: Table, started: float) -> Assignment:
    problem = search.problem
    choice = problem.told(search.chosen)
    objective = table.objective(problem.order, choice)
    open_ = search.bound - search.total
    return Assignment(
        choice=choice,
        objective=objective,
        bound=objective + float(np.ldexp(float(open_), -problem.shift)),
        status="optimal" if open_ == 0 else "feasible",
        solver=search.solver,
        effort=search.spent,
        used=table.wants.capacity - table.capacity + search.used,
        capacity=table.wants.capacity,
        prices=None if search.prices is None else problem.unscaled(search.prices),
        limited=search.limited,
        resolution=_resolution(table.jobs, problem.shift - table.bits),
        certified=search.certified,
        time_s=time.perf_counter() - started,
    )


def _resolution(jobs: int, shift: int) -> float:
    """Half a step for each job."""
    try:
        return ldexp(jobs, -shift - 1)
    except OverflowError:
        return inf

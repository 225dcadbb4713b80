"""``solve``: the round's assignment, by the solver that suits it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment.classes import Classes
from phalanx_core.assignment.evolving import Hybrid
from phalanx_core.assignment.holding import Held
from phalanx_core.assignment.problem import (
    AssignmentProblem,
    ChosenArray,
    IntArray,
    utilities,
)
from phalanx_core.assignment.proving import prove
from phalanx_core.assignment.result import Assignment
from phalanx_core.assignment.rounds import ROWS_MAX, Round, losses
from phalanx_core.checks import is_number, is_whole, numbers_of
from phalanx_core.errors import InvalidRequest, InvariantBroken

SEED_MAX = 2**31 - 1  # what CP-SAT takes
SOLVERS = ("auto", "dp", "core", "cp-sat", "nsga2")
# Entries of the dense recurrence, jobs times capacity, up to which it is the fastest.
DENSE_ENTRIES = 1 << 20
# The core widens by so much when it holds no answer.
WIDER = 4


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
        Configuration that each job holds now, -1 = none: integers, shape (jobs,).
    keep_bonus
        What keeping it is worth beyond its utility, at least 0; not part of the answer's
        objective.
    fixed
        Jobs that keep it whatever it is worth: bool, shape (jobs,).
    prices
        Of the last round's answer, to start from: shape (types,).
    effort
        Most steps of proving, or individuals of "nsga2"; None: as many as it takes.
    time_limit_s
        Most wall seconds. The one option that can make two runs differ; the answer says
        where it may have.
    gap
        Stop once no answer can be better by this share.
    certify
        Have CP-SAT prove that no answer is better, whichever solver found it.
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
    if solver not in SOLVERS:
        raise InvalidRequest(f"solver {solver!r}: one of {', '.join(SOLVERS)}")
    _check_limits(effort, time_limit_s, gap)
    if not (is_whole(seed) and seed <= SEED_MAX):
        raise InvalidRequest(f"seed {seed!r}: a whole number from 0 to {SEED_MAX}")
    worth = utilities(utility)
    hybrid = Hybrid.of(population, generations, current)
    held = Held.of(worth, current, keep_bonus, fixed)
    problem = AssignmentProblem.of(
        held.utility, demand, capacity, idle, keys=keys, fixed=held.fixed
    )
    start = _start(prices, problem)
    search = _Search(problem, effort, gap, seed, time_limit_s, started, start, hybrid)
    search.run(solver)
    if certify:
        search.certify()
    return _told(search, worth, idle, started)


def _check_limits(effort: Any, time_limit_s: Any, gap: Any) -> None:
    if effort is not None and not is_whole(effort):
        raise InvalidRequest(f"effort {effort!r}: a whole number from 0, or None")
    if time_limit_s is not None and not (is_number(time_limit_s) and time_limit_s >= 0):
        raise InvalidRequest(f"time_limit_s {time_limit_s!r}: from 0, or None")
    if not (is_number(gap) and 0 <= gap < 1):
        raise InvalidRequest(f"gap {gap!r}: in [0, 1)")


@dataclass(slots=True)
class _Search:
    """The best answer so far, the lowest bound, and what may still be spent."""

    problem: AssignmentProblem
    effort: int | None
    gap: float
    seed: int
    time_limit_s: float | None
    started: float
    start: NDArray[np.float64] | None
    hybrid: Hybrid
    chosen: ChosenArray = field(init=False)
    bound: int = field(init=False)
    prices: IntArray | None = field(init=False, default=None)
    priced: int = field(init=False, default=0)
    classes: Classes | None = None
    native: Round | None = None
    spent: int = 0
    solver: str = "trivial"
    limited: bool = False

    def run(self, solver: str) -> None:
        problem = self.problem
        self.chosen = _best_alone(problem)
        self.bound = problem.total(self.chosen)
        if (problem.used(self.chosen) <= problem.capacity).all():
            return
        one = problem.capacity.size == 1
        if solver == "dp" and not one:
            raise InvalidRequest("solver 'dp': for one capacity alone")
        small = one and problem.jobs * (int(problem.capacity[0]) + 1) <= DENSE_ENTRIES
        if solver == "dp" or (solver == "auto" and small):
            self.chosen = self._native_round().dense()
            self.bound, self.solver = problem.total(self.chosen), "dp"
            return
        if problem.capacity.size > ROWS_MAX:
            raise InvalidRequest(
                f"capacity of {problem.capacity.size} rows: at most {ROWS_MAX}"
            )
        if self.gap > 0:
            self._price(self.gap / 8)
        if self.gap == 0 or not self.closed():
            self._price(1e-10)
        if solver == "cp-sat":
            self._whole_model()
        elif solver == "nsga2":
            self._evolve()
        else:
            self._core()

    def closed(self) -> bool:
        """Whether the answer is as good as was asked for."""
        return self.bound - self.problem.total(self.chosen) <= self.gap * self.bound

    def _price(self, tolerance: float) -> None:
        round_ = self._native_round()
        priced = round_.priced(self.start, tolerance)
        self.prices, self.priced = priced.prices, priced.bound
        self.start = priced.prices.astype(np.float64)
        self.bound = min(self.bound, priced.bound)
        mended = round_.mended(priced)
        fits = (self.problem.used(self.chosen) <= self.problem.capacity).all()
        if not fits or self.problem.total(mended) > self.problem.total(self.chosen):
            self.chosen = mended
        self.spent += priced.passes
        self.solver = "core"

    def certify(self) -> None:
        """Have CP-SAT look for anything better among what the prices leave open."""
        if self.problem.capacity.size == 0 or self.bound > self.problem.total(
            self.chosen
        ):
            return
        if self.prices is None:
            priced = self._native_round().priced(self.start)
            self.prices, self.priced = priced.prices, priced.bound
        total = self.problem.total(self.chosen)
        loss = losses(self.problem, self.prices)
        proof = prove(
            self.problem,
            self._alike(),
            loss <= self.priced - total,
            total + 1,
            seed=self.seed,
        )
        self.spent += proof.steps
        if proof.chosen is not None or not proof.finished:
            raise InvariantBroken(
                "A1", f"solve: {self.solver} says {total} is the most, CP-SAT does not"
            )

    def _native_round(self) -> Round:
        if self.native is None:
            self.native = Round(self.problem)
        return self.native

    def _alike(self) -> Classes:
        if self.classes is None:
            self.classes = Classes.alike(self.problem)
        return self.classes

    def _left(self) -> tuple[int | None, float | None]:
        """Steps and seconds that may still be spent."""
        seconds = None
        if self.time_limit_s is not None:
            seconds = self.time_limit_s - (time.perf_counter() - self.started)
        return None if self.effort is None else self.effort - self.spent, seconds

    def _whole_model(self) -> None:
        self.solver = "cp-sat"
        everything = np.ones(self.problem.value.size, np.bool_)
        self._prove(everything, self.problem.total(self.chosen))

    def _evolve(self) -> None:
        found = self.hybrid.evolved(self.problem, self.chosen, self.seed, *self._left())
        self.chosen, self.solver = found.chosen, "nsga2"
        self.spent += found.evaluations
        self.limited |= found.limited

    def _core(self) -> None:
        """Widens what counts until it holds a proven best answer.

        An answer worth ``bound - loss`` takes no choice that loses more, so that much of
        the problem decides whether there is one.
        """
        assert self.prices is not None
        ceiling = self.priced
        loss = losses(self.problem, self.prices)
        width = max(1, (ceiling - self.problem.total(self.chosen)) >> 6)
        while not self.closed():
            least = self.problem.total(self.chosen)
            width = min(width, ceiling - least)
            if not self._prove(loss <= width, ceiling - width):
                return
            width = width * WIDER + 1

    def _prove(self, kept: NDArray[np.bool_], least: int) -> bool:
        """Ask for an answer worth at least so much; whether asking on makes sense."""
        steps, seconds = self._left()
        if (steps is not None and steps <= 0) or (seconds is not None and seconds <= 0):
            self.limited |= seconds is not None and seconds <= 0
            return False
        proof = prove(
            self.problem,
            self._alike(),
            kept,
            least,
            steps=steps,
            seconds=seconds,
            seed=self.seed,
        )
        self.spent += proof.steps
        found = proof.chosen
        if found is not None and self.problem.total(found) > self.problem.total(
            self.chosen
        ):
            self.chosen = found
        if not proof.finished:
            self.limited |= seconds is not None
            return False
        # Nothing among these is worth so much, or the best of these is the best of all.
        proven = least - 1 if found is None else self.problem.total(found)
        self.bound = min(self.bound, max(proven, self.problem.total(self.chosen)))
        return found is None


def _start(
    prices: ArrayLike | None, problem: AssignmentProblem
) -> NDArray[np.float64] | None:
    if prices is None:
        return None
    rule = f"{problem.capacity.size} numbers from 0 upward"
    given = np.atleast_1d(numbers_of(f"prices {prices!r}", prices, rule))
    bad = given.shape != problem.capacity.shape or not np.isfinite(given).all()
    if bad or (given < 0).any():
        raise InvalidRequest(f"prices {prices!r}: {rule}")
    return np.ldexp(given, problem.shift)


def _best_alone(problem: AssignmentProblem) -> ChosenArray:
    """What each job would take if it were alone."""
    chosen = np.full(problem.jobs, -1, np.int32)
    some = np.flatnonzero(np.diff(problem.first))
    if some.size:
        most = np.maximum.reduceat(problem.value, problem.first[some])
        counts = np.diff(problem.first)[some]
        hits = np.flatnonzero(problem.value == np.repeat(most, counts))
        # The lowest of equal ones: the first hit of each job.
        places = np.searchsorted(hits, problem.first[some])
        chosen[some] = hits[places] - problem.first[some]
    return chosen


def _told(
    search: _Search, worth: NDArray[np.float64], idle: float, started: float
) -> Assignment:
    problem = search.problem
    choice = problem.told(search.chosen)
    rows = np.flatnonzero(choice >= 0)
    taken = worth[rows, choice[rows]]
    objective = fsum([*taken.tolist(), *[idle] * (choice.size - rows.size)])
    open_ = search.bound - problem.total(search.chosen)
    return Assignment(
        choice=choice,
        objective=objective + 0.0,
        bound=objective + float(np.ldexp(float(open_), -problem.shift)),
        status="optimal" if open_ == 0 else "feasible",
        solver=search.solver,
        effort=search.spent,
        used=problem.used(search.chosen) + problem.taken_before,
        capacity=problem.capacity + problem.taken_before,
        prices=None
        if search.prices is None
        else np.ldexp(search.prices.astype(np.float64), -problem.shift),
        limited=search.limited,
        time_s=time.perf_counter() - started,
    )

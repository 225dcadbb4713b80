"""``explain``: why each job that a round left out was left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment.demands import Demands
from phalanx_core.assignment.holding import Held
from phalanx_core.assignment.problem import AssignmentProblem, IntArray
from phalanx_core.assignment.result import Assignment
from phalanx_core.assignment.rounds import Round
from phalanx_core.assignment.searching import check_size
from phalanx_core.assignment.table import Table, allowed, utilities
from phalanx_core.errors import InvalidRequest

# A reduced cost below this share of its terms is rounding, not worth.
ROUNDING = 1e-9


class LeftOutCode(StrEnum):
    """Why a job was left out; the first that holds, in this order.

    Attributes
    ----------
    INFEASIBLE
        It can run with no configuration.
    BELOW_IDLE
        No configuration is worth more than leaving the job out.
    TOO_LARGE
        Each that is worth more wants more than there is, used or not.
    OVERLOOKED
        One fits in what is left: the search ended before it was tried, or it is worth
        too little to count.
    PRICED_OUT
        None is worth the price of what it wants: others make more of it.
    INTEGRALITY
        One is worth its price, but what is left is too little for it, and making room
        costs more than it brings.
    """

    INFEASIBLE = "infeasible"
    BELOW_IDLE = "below_idle"
    TOO_LARGE = "too_large"
    OVERLOOKED = "overlooked"
    PRICED_OUT = "priced_out"
    INTEGRALITY = "integrality"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One job that was left out, and the reason in numbers.

    Attributes
    ----------
    job
        Its number.
    code
        The kind of reason.
    idle
        What leaving it out is worth.
    configuration
        The one that the reason is about, the best of those in question; None where the
        job can run with none. The fields below are its own, and None without it.
    utility
        What it is worth.
    reduced_cost
        What is left of that beyond ``idle`` and the price of all it wants: above 0 it is
        worth its price. None where the capacity does not decide.
    row
        The row of the capacity that is in its way, None where none is: of those with too
        little left, the one for which it would pay most.
    wanted, left, capacity
        GPUs of that row that it wants, that nobody has, and that there are.
    price
        What one GPU of that row is worth; None as ``reduced_cost``.
    """

    job: int
    code: LeftOutCode
    idle: float
    configuration: int | None = None
    utility: float | None = None
    reduced_cost: float | None = None
    row: int | None = None
    wanted: int | None = None
    left: int | None = None
    capacity: int | None = None
    price: float | None = None

    @property
    def lacking(self) -> int:
        """GPUs of the row that it lacks beside what nobody has."""
        if self.wanted is None or self.left is None:
            return 0
        return max(self.wanted - self.left, 0)

    @property
    def paid(self) -> float | None:
        """The price of all it wants; None as ``reduced_cost``."""
        if self.utility is None or self.reduced_cost is None:
            return None
        return self.utility - self.idle - self.reduced_cost

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "code": self.code.value, "lacking": self.lacking}

    def __str__(self) -> str:
        return self.sentence(
            f"job {self.job}", f"configuration {self.configuration}", f"row {self.row}"
        )

    def sentence(self, job: str, configuration: str, row: str) -> str:
        """The reason in one sentence, with names for the three numbers."""
        code, idle = self.code, f"idle {self.idle:.6g}"
        worth = "" if self.utility is None else f"{self.utility:.6g}"
        if code is LeftOutCode.INFEASIBLE:
            return f"{job}: it can run with no configuration"
        if code is LeftOutCode.BELOW_IDLE:
            return (
                f"{job}: none is worth more than {idle}: the best, {configuration}, is "
                f"worth {worth}"
            )
        if code is LeftOutCode.TOO_LARGE:
            return (
                f"{job}: whatever is worth more than {idle} wants more than there is: "
                f"{configuration} wants {self.wanted} of {row}, which has {self.capacity}"
            )
        if code is LeftOutCode.OVERLOOKED:
            return (
                f"{job}: {configuration}, worth {worth}, fits in what is left: the "
                "answer is not the best, or only to within rounding"
            )
        why = "priced out"
        if code is LeftOutCode.INTEGRALITY:
            why = "worth its price, but no room"
        return (
            f"{job}: {why}: {configuration} is worth {worth} - {self.idle:.6g} (idle) - "
            f"{self.paid:.6g} (its price) = {self.reduced_cost:.6g}; it wants "
            f"{self.wanted} of {row} at {self.price:.6g} each, and lacks "
            f"{self.lacking}: {self.left} of {self.capacity} are left"
        )


class _Facts(NamedTuple):
    """A round and its answer, as each job's reason needs them."""

    worth: NDArray[np.float64]
    wanted: IntArray
    capacity: IntArray
    left: IntArray
    idle: float


def explain(
    answer: Assignment,
    utility: ArrayLike,
    demand: ArrayLike,
    capacity: ArrayLike,
    idle: float = 0.0,
    *,
    current: ArrayLike | None = None,
    keep_bonus: float = 0.0,
    fixed: ArrayLike | None = None,
    forbidden: ArrayLike | None = None,
    tenant: ArrayLike | None = None,
    quota: ArrayLike | None = None,
) -> tuple[LeftOut, ...]:
    """Why each job that an answer of :func:`solve` leaves out was left out.

    Parameters
    ----------
    answer
        Of the round that the others are, as they were given.
    current, keep_bonus, fixed, forbidden, tenant, quota
        As :func:`solve` was given them; a bonus counts in what a job holds.

    Returns
    -------
    One reason for each job left out, in the order of jobs.

    Raises
    ------
    InvalidRequest
        If a shape, dtype or value is not as :func:`solve` takes it, or the answer is of
        another round.

    Notes
    -----
    Prices are the answer's, else found anew: those of the lowest bound, at which a job
    that is part of the best answer for divisible jobs has a reduced cost of at least 0.
    They explain why a job loses to others; what no price explains is that GPUs come in
    whole jobs, and has a code of its own. O(jobs * configurations * rows) beside the
    search for prices.

    Examples
    --------
    >>> from phalanx_core.assignment import solve
    >>> round_ = ([[8.0], [3.0], [0.5]], [4], 5, 1.0)
    >>> for one in explain(solve(*round_[:3], idle=1.0), *round_):
    ...     print(one)
    job 1: priced out: configuration 0 is worth 3 - 1 (idle) - 2 (its price) = 0; it wants
    4 of row 0 at 0.5 each, and lacks 3: 1 of 5 are left
    job 2: none is worth more than idle 1: the best, configuration 0, is worth 0.5
    """
    worth = allowed(utilities(utility), forbidden)
    wants = Demands.of(demand, worth.shape, capacity, tenant, quota)
    held = Held.of(worth, current, keep_bonus, fixed)
    table = Table(held.utility, wants, idle, held.fixed)
    _check_round(answer, worth, wants, float(idle))
    problem = AssignmentProblem.of_table(table, None)
    left = wants.capacity - answer.used
    by_job = wants.by_job(worth.shape)
    facts = _Facts(held.utility, by_job, wants.capacity, left, float(idle))
    jobs = np.flatnonzero(answer.choice < 0).tolist()
    found = [_alone(facts, job) for job in jobs]
    if any(one is None for one in found):
        prices = _prices(answer, problem)
        found = [
            one or _among(facts, job, prices)
            for job, one in zip(jobs, found, strict=True)
        ]
    return tuple(one for one in found if one is not None)


def _check_round(
    answer: Assignment, worth: NDArray[np.float64], wants: Demands, idle: float
) -> None:
    """Refuse an answer that these utilities and demands do not add up to."""
    same = answer.choice.shape == worth.shape[:1] and np.array_equal(
        answer.capacity, wants.capacity
    )
    if same:
        jobs = np.flatnonzero(answer.choice >= 0)
        choice = answer.choice[jobs]
        same = bool((choice < worth.shape[1]).all())
    if same:
        rest = (worth.shape[0] - jobs.size) * idle
        objective = float(worth[jobs, choice].sum()) + rest
        near = abs(objective - answer.objective) <= ROUNDING * max(1.0, abs(objective))
        used = wants.taken(answer.choice)
        same = np.array_equal(used, answer.used) and (
            near or not np.isfinite(answer.objective)
        )
    if not same:
        raise InvalidRequest(
            f"answer for {answer.choice.size} jobs, capacity {answer.capacity.tolist()}, "
            f"objective {answer.objective:g}: it is of another round, or the options are "
            "not those of its solve"
        )


def _prices(answer: Assignment, problem: AssignmentProblem) -> NDArray[np.float64]:
    if answer.prices is not None:
        return answer.prices
    if problem.capacity.size == 0:
        return np.zeros(0)
    check_size(problem, "core")
    return problem.unscaled(Round.of(problem).priced().prices)


def _alone(facts: _Facts, job: int) -> LeftOut | None:
    """The reason that would hold without any other job, if there is one."""
    worth = facts.worth[job]
    able = ~np.isnan(worth)
    if not able.any():
        return LeftOut(job, LeftOutCode.INFEASIBLE, facts.idle)
    better = able & (np.where(able, worth, 0.0) > facts.idle)
    best = _best(worth, better if better.any() else able)
    code, row = LeftOutCode.BELOW_IDLE, None
    if better.any():
        if (facts.wanted[job, better] <= facts.capacity).all(axis=1).any():
            return None
        code = LeftOutCode.TOO_LARGE
        row = int(np.argmax(facts.wanted[job, best] - facts.capacity))
    return _reason(facts, job, code, best, row)


def _among(facts: _Facts, job: int, prices: NDArray[np.float64]) -> LeftOut:
    """Why the others keep it out."""
    worth, wanted = facts.worth[job], facts.wanted[job]
    fits = (wanted <= facts.capacity).all(axis=1)
    counts = fits & (np.where(np.isnan(worth), -np.inf, worth) > facts.idle)
    reduced = worth - facts.idle - wanted @ prices
    room = counts & (wanted <= facts.left).all(axis=1)
    if room.any():
        return _reason(facts, job, LeftOutCode.OVERLOOKED, _best(worth, room))
    best = _best(reduced, counts)
    cost = float(reduced[best])
    if abs(cost) <= ROUNDING * float(np.abs(worth[best]) + abs(facts.idle)):
        cost = 0.0
    code = LeftOutCode.INTEGRALITY if cost > 0 else LeftOutCode.PRICED_OUT
    short = np.flatnonzero(wanted[best] > facts.left)
    paid, lacking = (wanted[best] * prices)[short], (wanted[best] - facts.left)[short]
    row = int(short[np.lexsort((-lacking, -paid))[0]])
    return _reason(facts, job, code, best, row, (cost, float(prices[row])))


def _best(values: NDArray[np.float64], among: NDArray[np.bool_]) -> int:
    return int(np.argmax(np.where(among, values, -np.inf)))


def _reason(
    facts: _Facts,
    job: int,
    code: LeftOutCode,
    best: int,
    row: int | None = None,
    paid: tuple[float | None, float | None] = (None, None),
) -> LeftOut:
    found = LeftOut(
        job,
        code,
        facts.idle,
        configuration=best,
        utility=float(facts.worth[job, best]),
        reduced_cost=paid[0],
        price=paid[1],
    )
    if row is None:
        return found
    return replace(
        found,
        row=row,
        wanted=int(facts.wanted[job, best, row]),
        left=int(facts.left[row]),
        capacity=int(facts.capacity[row]),
    )

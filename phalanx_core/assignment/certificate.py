"""Recomputes what an answer says of itself, from the round alone."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.assignment.exact import Option, Rules, Sheet, units
from phalanx_core.assignment.refuting import judged
from phalanx_core.assignment.result import Assignment
from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest

STATES = 100_000


class Certificate(NamedTuple):
    """What was found when an answer was worked out anew.

    Attributes
    ----------
    broken
        Rules that the answer breaks, one sentence each; empty = it is what it says, as
        far as ``verified`` goes.
    objective
        Recomputed; NaN where there is not a choice for each job.
    bound
        The lowest that was verified here: no answer is worth more.
    verified
        Whether no answer is worth more than the answer's own bound: False where one was
        found that is, or the bound is no number, None where the states ran out.
    """

    broken: tuple[str, ...]
    objective: float
    bound: float
    verified: bool | None

    @property
    def ok(self) -> bool:
        """Whether nothing is broken and the bound was verified."""
        return not self.broken and self.verified is True


def certificate(
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
    states: int = STATES,
) -> Certificate:
    """Check an answer of :func:`solve` by nothing that solved it.

    Parameters
    ----------
    answer
        Of the round that the others are, as they were given to ``solve``, which refuses
        what is no round. Its ``solver``, ``effort``, ``limited`` and ``time_s`` are about
        how it was found, and not looked at; nor is which of equal answers it is.
    states
        Most that a recurrence over jobs meets, once prices alone do not tell.

    Raises
    ------
    InvalidRequest
        If ``states`` is no whole number.

    Notes
    -----
    In Python's whole numbers, of which every float is one times a power of two, so nothing
    is rounded. Checked are the choice, beside capacities and every option of ``solve``,
    ``used``, ``capacity``, prices, ``objective``, and that ``status`` says whether
    ``bound`` is met. A bound is first compared with that of the answer's prices: the sum
    over jobs of the most that any choice is worth beyond its price, and the price of all
    capacity; then with that of better ones. Where these are above it, an exact recurrence
    over jobs, from what is left of each row to the most worth, finds whatever answer is
    above the bound, or that there is none.

    With ``keep_bonus`` the bound is about scores, worth and bonus: no answer's score is
    above that of this one by more than ``bound`` is above ``objective``.

    Tolerance: ``solve`` rounds each value to a step, a power of two, as fine as leaves the
    jobs' best values together below 2 ** 50 steps, and all values below 2 ** 58 (fewer by
    the bits of the number of jobs, where something is held). So a bound counts as kept up
    to jobs + 1 steps, about (jobs + 1) * 2 ** -50 of the total, or exactly where every
    value is whole steps; one more where something is held, whose ties it breaks, and the
    bound is not met. To this comes a unit in the last place of each float that is
    compared, and 2 ** -70 of all that was added up.

    O(jobs * configurations * rows) a pass, about 60 passes; the recurrence O(states *
    configurations).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from phalanx_core.assignment import solve
    >>> round_ = ([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3)
    >>> answer = solve(*round_)
    >>> certificate(answer, *round_)
    Certificate(broken=(), objective=9.0, bound=9.0, verified=True)
    >>> wrong = replace(answer, choice=np.int32([0, 1]), objective=7.5, bound=7.5)
    >>> certificate(wrong, *round_).broken
    ('an answer worth 9.0 exists, above its bound 7.5',)
    """
    if not is_whole(states):
        raise InvalidRequest(f"states {states!r}: a whole number from 0")
    rules = Rules(current, keep_bonus, fixed, forbidden, tenant, quota)
    sheet = Sheet.of(utility, demand, capacity, idle, rules, _numbers(answer))
    wrong = [*_statements(sheet, answer)]
    if answer.choice.shape != (len(sheet.options),):
        jobs = f"{len(sheet.options)} jobs"
        wrong.append(f"choice of shape {answer.choice.shape}: one for each of {jobs}")
        return Certificate(tuple(wrong), nan, inf, None)
    wrong = [*_choices(sheet, answer), *wrong]
    taken = _taken(sheet, answer)
    objective = sum(option.worth for option in taken)
    size = sum(abs(option.worth) for option in taken)
    if not _is_near(sheet, answer.objective, objective, size):
        told = sheet.number(objective)
        wrong.append(f"the objective is {told}, not {answer.objective}")
    bonus = sum(option.score for option in taken) - objective
    bound, verified, found = _bound(sheet, answer, bonus, size, states)
    return Certificate((*wrong, *found), sheet.number(objective) + 0.0, bound, verified)


def _numbers(answer: Assignment) -> list[float]:
    """What the answer says that must be whole as well."""
    prices = [] if answer.prices is None else np.ravel(answer.prices).tolist()
    return [one for one in (answer.objective, answer.bound, *prices) if isfinite(one)]


def _statements(sheet: Sheet, answer: Assignment) -> Iterator[str]:
    """Rules that an answer breaks whatever it chose."""
    if answer.capacity.tolist() != list(sheet.capacity):
        yield f"capacity is {list(sheet.capacity)}, not {answer.capacity.tolist()}"
    yield from _wrong_prices(sheet, answer)
    if not isfinite(answer.bound):
        yield f"the bound is {answer.bound}: a finite number"
    elif answer.bound < answer.objective:
        yield f"the bound {answer.bound} is below the objective {answer.objective}"
    elif answer.status not in ("optimal", "feasible"):
        yield f"the status is {answer.status!r}: optimal or feasible"
    elif answer.status == "optimal" and answer.bound > answer.objective:
        yield "the status is 'optimal', but the bound is not met"
    elif (
        answer.status == "feasible"
        and answer.bound == answer.objective
        # Else so little may be between the two that floats do not tell.
        and np.spacing(abs(answer.bound)) <= sheet.finest()
    ):
        yield "the status is 'feasible', but the bound is met"


def _wrong_prices(sheet: Sheet, answer: Assignment) -> Iterator[str]:
    if answer.prices is None:
        return
    rows = len(sheet.capacity)
    if answer.prices.shape != (rows,):
        yield f"prices of shape {answer.prices.shape}: one for each of {rows} rows"
        return
    for row, price in enumerate(answer.prices.tolist()):
        if not (isfinite(price) and price >= 0):
            yield f"the price of row {row} is {price}: from 0"


def _choices(sheet: Sheet, answer: Assignment) -> Iterator[str]:
    """Rules that its choices break, and what it says they use."""
    for job, (at, must) in enumerate(
        zip(answer.choice.tolist(), sheet.fixed, strict=True)
    ):
        if must is not None and at != must:
            yield f"job {job} is fixed to configuration {must}, not {at}"
        elif at not in sheet.options[job]:
            yield f"job {job} cannot run with configuration {at}"
    wants = [option.wants for option in _taken(sheet, answer)]
    used = [sum(one) for one in zip(*wants, strict=True)] or [0] * len(sheet.capacity)
    for row, has in enumerate(sheet.capacity):
        if used[row] > has:
            yield f"row {row}: {used[row]} of {has}"
    if answer.used.tolist() != used:
        yield f"used is {used}, not {answer.used.tolist()}"


def _taken(sheet: Sheet, answer: Assignment) -> list[Option]:
    """Options that it chose, of those that there are."""
    chosen = zip(sheet.options, answer.choice.tolist(), strict=True)
    return [options[at] for options, at in chosen if at in options]


def _is_near(sheet: Sheet, told: float, objective: int, size: int) -> bool:
    if not isfinite(told):
        return False
    off = abs(units(told, sheet.scale) - objective)
    return off <= units(float(np.spacing(abs(told))), sheet.scale) + (size >> 70)


def _bound(
    sheet: Sheet, answer: Assignment, bonus: int, size: int, states: int
) -> tuple[float, bool | None, list[str]]:
    """The lowest bound that is verified, whether the answer's is, and what refutes it."""
    told = answer.bound if isfinite(answer.bound) else 0.0
    sums = [one for one in (answer.objective, told) if isfinite(one)]
    slack = sheet.slack(sums, size, told > answer.objective)
    limit = units(told, sheet.scale) + bonus + slack
    prices = [0] * len(sheet.capacity)
    if answer.prices is not None and not [*_wrong_prices(sheet, answer)]:
        prices = [units(one, sheet.scale) for one in answer.prices.tolist()]
    verdict = judged(sheet, limit, prices, states)
    bound = sheet.number(verdict.bound - bonus)
    if not isfinite(answer.bound):
        return bound, False, []
    if verdict.better is None:
        verified = True if verdict.finished else None
        return (min(bound, told) if verified else bound), verified, []
    best = sheet.number(verdict.better - bonus)
    found = f"an answer worth {best} exists, above its bound {answer.bound}"
    if bonus:
        found += f", where the bonus {sheet.number(bonus)} of what it keeps is set off"
    return bound, False, [found]

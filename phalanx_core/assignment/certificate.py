"""Recomputes what an answer says of itself, from the round alone."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.assignment.result import Assignment


class Certificate(NamedTuple):
    """What was found when an answer was worked out anew.

    Attributes
    ----------
    broken
        Rules that the choice breaks, one sentence each; empty = it is feasible.
    objective
        Recomputed.
    bound
        Recomputed from the answer's prices: no answer is worth more. None without prices.
        Where a search proved more than the prices tell, it is above the answer's bound.
    """

    broken: tuple[str, ...]
    objective: float
    bound: float | None


def certificate(
    answer: Assignment,
    utility: ArrayLike,
    demand: ArrayLike,
    capacity: ArrayLike,
    idle: float = 0.0,
) -> Certificate:
    """Check an answer of :func:`solve` by nothing that solved it.

    Parameters
    ----------
    answer
        Of the round that the others are, as they were given.

    Notes
    -----
    In fractions, so that nothing is rounded until the end: the bound is the sum over jobs
    of the most that any choice is worth beyond its price, and the price of all capacity.
    O(jobs * configurations * rows), slowly.

    Examples
    --------
    >>> from phalanx_core.assignment import solve
    >>> round_ = ([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3)
    >>> certificate(solve(*round_, solver="core"), *round_)
    Certificate(broken=(), objective=9.0, bound=9.0)
    """
    worth = np.asarray(utility, np.float64)
    rows = [int(one) for one in np.atleast_1d(np.asarray(capacity)).tolist()]
    jobs, configurations = worth.shape
    full = (jobs, configurations, len(rows))
    wanted = np.asarray(demand).reshape((-1, *full[1:]) if jobs else full)
    wanted = np.broadcast_to(wanted, full).astype(int)
    broken: list[str] = []
    used = [0] * len(rows)
    objective = Fraction(0)
    for job, configuration in enumerate(answer.choice.tolist()):
        if configuration < 0:
            objective += Fraction(idle)
        elif np.isnan(worth[job, configuration]):
            broken.append(f"job {job} cannot run with configuration {configuration}")
        else:
            objective += Fraction(worth[job, configuration])
            for row in range(len(rows)):
                used[row] += int(wanted[job, configuration, row])
    broken += [
        f"row {row}: {used[row]} of {has}"
        for row, has in enumerate(rows)
        if used[row] > has
    ]
    bound = None
    if answer.prices is not None:
        prices = [Fraction(one) for one in answer.prices.tolist()]
        bound = float(_bound(worth, wanted, rows, Fraction(idle), prices))
    return Certificate(tuple(broken), float(objective), bound)


def _bound(
    worth: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    wanted: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    rows: list[int],
    idle: Fraction,
    prices: list[Fraction],
) -> Fraction:
    total = sum(
        (price * has for price, has in zip(prices, rows, strict=True)), Fraction()
    )
    for job in range(worth.shape[0]):
        best = idle
        for configuration in range(worth.shape[1]):
            value = worth[job, configuration]
            demand = wanted[job, configuration].tolist()
            # What can never be taken counts for nothing.
            if np.isnan(value) or any(
                want > has for want, has in zip(demand, rows, strict=True)
            ):
                continue
            paid = sum(
                (price * want for price, want in zip(prices, demand, strict=True)),
                Fraction(),
            )
            best = max(best, Fraction(value) - paid)
        total += best
    return total

"""``Sheet``: a round in Python's own whole numbers, read by nothing that solves it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Bits behind the last that is given, for prices that are found here.
BITS_BEHIND = 32
# Bits that solve puts the jobs' best values into, and all values.
JOB_BITS, ALL_BITS = 50, 58


class Rules(NamedTuple):
    """What else :func:`~phalanx_core.assignment.solve` was told of the round."""

    current: ArrayLike | None = None
    keep_bonus: float = 0.0
    fixed: ArrayLike | None = None
    forbidden: ArrayLike | None = None
    tenant: ArrayLike | None = None
    quota: ArrayLike | None = None


class Option(NamedTuple):
    """One that a job has.

    Attributes
    ----------
    worth
        Its utility.
    score
        With the bonus, if it is what the job holds.
    wants
        Of each row.
    """

    worth: int
    score: int
    wants: tuple[int, ...]


class Sheet(NamedTuple):
    """A round whose numbers are all whole.

    Attributes
    ----------
    scale
        Worth is counted in units of 2 ** -scale.
    capacity
        Of each row; limits of tenants follow the types.
    options
        Of each job, by configuration, -1 = left out; who is fixed has one.
    fixed
        Configuration that each job must have, None = it is free.
    held
        Whether any job holds one.
    """

    scale: int
    capacity: tuple[int, ...]
    options: list[dict[int, Option]]
    fixed: list[int | None]
    held: bool

    @classmethod
    def of(
        cls,
        utility: ArrayLike,
        demand: ArrayLike,
        capacity: ArrayLike,
        idle: float,
        rules: Rules,
        claims: Iterable[float],
    ) -> Self:
        """Read a round that :func:`~phalanx_core.assignment.solve` took.

        Parameters
        ----------
        claims
            Finite numbers that shall be whole as well.

        Notes
        -----
        O(jobs * configurations * rows).
        """
        worth = np.asarray(utility, np.float64)
        if rules.forbidden is not None:
            worth = np.where(np.asarray(rules.forbidden), np.nan, worth)
        jobs = worth.shape[0]
        held = np.full(jobs, -1) if rules.current is None else np.asarray(rules.current)
        stay = np.zeros(jobs, np.bool_) if rules.fixed is None else rules.fixed
        fixed = [
            at if stays else None
            for at, stays in zip(held.tolist(), np.asarray(stay).tolist(), strict=True)
        ]
        kept = worth.copy()
        some = np.flatnonzero(held >= 0)
        kept[some, held[some]] += rules.keep_bonus
        numbers = np.concatenate([worth.ravel(), kept[some, held[some]]])
        scale = _scale([idle, *claims, *numbers[~np.isnan(numbers)].tolist()])
        limits, wants = _rows(np.asarray(demand), worth.shape, capacity, rules)
        none = Option(units(idle, scale), units(idle, scale), (0,) * len(limits))
        options = []
        for job, must in enumerate(fixed):
            mine = {-1: none} if must is None else {}
            for at in range(worth.shape[1]):
                if not np.isnan(worth[job, at]) and must in (None, at):
                    mine[at] = Option(
                        units(float(worth[job, at]), scale),
                        units(float(kept[job, at]), scale),
                        tuple(int(one) for one in wants[job, at].tolist()),
                    )
            options.append(mine)
        return cls(scale, limits, options, fixed, bool(some.size))

    def left(self) -> tuple[int, ...]:
        """What jobs that are fixed leave, below 0 where they want too much."""
        taken = [
            self.options[job][must].wants
            for job, must in enumerate(self.fixed)
            if must is not None and must in self.options[job]
        ]
        columns = zip(self.capacity, *taken, strict=True)
        return tuple(has - sum(wants) for has, *wants in columns)

    def open(self) -> list[list[Option]]:
        """Options of free jobs that some answer may take, none first."""
        left = self.left()
        found = []
        for must, options in zip(self.fixed, self.options, strict=True):
            if must is None:
                none = options[-1]
                found.append([none])
                for option in options.values():
                    fits = all(a <= b for a, b in zip(option.wants, left, strict=True))
                    if fits and option is not none and option.score >= none.score:
                        found[-1].append(option)
        return found

    def step(self) -> int:
        """Exponent of the step, in units, that solve rounds values to."""
        every = sum(map(sum, self._gains()))
        bits = self._bits()
        return max(
            sum(map(max, self._gains())).bit_length() - min(JOB_BITS, ALL_BITS - bits),
            # A float sum of all of them may have been rounded up.
            (every + (every >> 40)).bit_length() - (ALL_BITS - bits),
        )

    def finest(self) -> float:
        """What two answers that solve tells apart differ by at least."""
        return float(np.ldexp(0.5, self.step() - self._bits() - self.scale))

    def slack(self, numbers: Iterable[float], size: int, is_open: bool) -> int:
        """By how much what solve says may be off, in units: the rule of ``certificate``.

        Parameters
        ----------
        numbers
            Sums that were rounded to floats.
        size
            Of all that was added up.
        is_open
            Whether a better answer may exist: the distance counts ties as well.
        """
        exponent = max(self.step(), 0)
        mask = (1 << exponent) - 1
        exact = all(gain & mask == 0 for gains in self._gains() for gain in gains)
        steps = (0 if exact else len(self.options) + 1) + (
            1 if self.held and is_open else 0
        )
        sums = sum(units(float(np.spacing(abs(one))), self.scale) for one in numbers)
        return (steps << exponent) + sums + (size >> 70)

    def _bits(self) -> int:
        """Of a step, those that tell ties."""
        return len(self.options).bit_length() if self.held else 0

    def _gains(self) -> list[list[int]]:
        """What options add to leaving their job out."""
        return [[one.score - mine[0].score for one in mine] for mine in self.open()]

    def number(self, worth: int) -> float:
        """As a float, infinite where there is none so large."""
        try:
            return worth / (1 << self.scale)
        except OverflowError:
            return float("inf") if worth > 0 else float("-inf")


def units(number: float, scale: int) -> int:
    """A float in units of 2 ** -scale, rounded up where they are too coarse."""
    top, bottom = float(number).as_integer_ratio()
    return -(-(top << scale) // bottom)


def _scale(numbers: Iterable[float]) -> int:
    exponents = (
        one.as_integer_ratio()[1].bit_length() - 1 for one in map(float, numbers)
    )
    return max(exponents, default=0) + BITS_BEHIND


def _rows(
    demand: NDArray[Any], shape: tuple[int, ...], capacity: ArrayLike, rules: Rules
) -> tuple[tuple[int, ...], NDArray[Any]]:
    """Every row's limit, and what each pair wants of it."""
    has = np.atleast_1d(np.asarray(capacity))
    if has.size == 1 and demand.shape in (shape, shape[1:]):
        demand = demand[..., None]
    wants = np.broadcast_to(demand, (*shape, has.size))
    limits = [int(one) for one in has.tolist()]
    if rules.quota is None:
        return tuple(limits), wants
    quota = np.asarray(rules.quota).reshape(-1, has.size)
    who, kind = np.nonzero(quota != -1)
    mine = np.asarray(rules.tenant)[:, None, None] == who
    limits += [int(one) for one in quota[who, kind].tolist()]
    return tuple(limits), np.concatenate([wants, wants[:, :, kind] * mine], axis=2)

"""What jobs hold already: a bonus for keeping it, or the duty to."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment.problem import ChosenArray, IntArray
from phalanx_core.checks import array_of, held_configurations, is_number
from phalanx_core.errors import InvalidRequest


class Held(NamedTuple):
    """Utilities with the bonus for keeping, and the jobs that keep in any case.

    Attributes
    ----------
    utility
        float64, shape (jobs, configurations).
    held
        Configuration that each job holds, -1 = none: int32, shape (jobs,); None where
        nobody holds any.
    fixed
        Configuration that a job keeps, -1 = it is free; None where all are: likewise.
    """

    utility: NDArray[np.float64]
    held: ChosenArray | None = None
    fixed: ChosenArray | None = None

    @classmethod
    def of(
        cls,
        worth: NDArray[np.float64],
        current: ArrayLike | None,
        keep_bonus: float,
        fixed: ArrayLike | None,
    ) -> Self:
        """Check what is held, beside utilities that are checked.

        Raises
        ------
        InvalidRequest
            If a shape or value is wrong, or a job is fixed that holds nothing.
        """
        if not (is_number(keep_bonus) and keep_bonus >= 0):
            raise InvalidRequest(f"keep_bonus {keep_bonus!r}: finite and at least 0")
        if current is None:
            if keep_bonus or fixed is not None:
                raise InvalidRequest("current None: keep_bonus and fixed are about it")
            return cls(worth)
        held = held_configurations(current, worth.shape).astype(np.int32)
        rows = np.flatnonzero(held >= 0)
        stay = None if fixed is None else _stay(worth, held, fixed)
        if keep_bonus:
            worth = _with_bonus(worth, rows, held[rows], keep_bonus)
        return cls(worth, held if rows.size else None, stay)


def _with_bonus(
    worth: NDArray[np.float64], jobs: IntArray, held: ChosenArray, bonus: float
) -> NDArray[np.float64]:
    """Utilities with the bonus on what is held."""
    more = worth.copy()
    with np.errstate(over="ignore"):
        more[jobs, held] += bonus
    lost = np.isinf(more[jobs, held]) & np.isfinite(worth[jobs, held])
    if lost.any():
        at = int(np.argmax(lost))
        value = worth[jobs[at], held[at]]
        raise InvalidRequest(
            f"keep_bonus {bonus!r}: utility[{jobs[at]}, {held[at]}] is {value}, and both "
            "together no finite number"
        )
    return more


def _stay(
    worth: NDArray[np.float64], held: ChosenArray, fixed: ArrayLike
) -> ChosenArray:
    stay = array_of("fixed", fixed)
    if not stay.size:
        stay = stay.astype(np.bool_)
    if stay.shape != held.shape or stay.dtype != np.bool_:
        raise InvalidRequest(
            f"fixed of shape {stay.shape} and dtype {stay.dtype}: a bool for each job"
        )
    empty = stay & ((held < 0) | np.isnan(worth[np.arange(stay.size), held]))
    if empty.any():
        job = int(np.argmax(empty))
        raise InvalidRequest(
            f"fixed[{job}]: the job holds no configuration that it can run"
        )
    return np.where(stay, held, -1).astype(np.int32)

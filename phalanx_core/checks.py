"""Checks of arguments that scoring, assignment and scheduling share."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.errors import InvalidRequest


def is_number(value: Any) -> bool:
    """Whether it is one finite number, of Python or of NumPy."""
    try:
        # The first test spares the common case a walk through abstract classes.
        return (type(value) is float or isinstance(value, Real)) and isfinite(value)
    except OverflowError:  # a Python integer that no double holds
        return False


def is_whole(value: Any) -> bool:
    """Whether it is one whole number from 0."""
    # The first test spares the common case a look at the types of NumPy.
    if type(value) is int:
        return value >= 0
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return bool(whole and value >= 0)


def shown(value: object) -> str:
    """A value for a message; Python refuses to write out a number of 4300 digits."""
    if isinstance(value, int) and value.bit_length() > 512:
        return f"of {value.bit_length()} bits"
    return repr(value)


def array_of(name: str, given: ArrayLike) -> NDArray[Any]:
    """As an array of whatever it holds, or InvalidRequest where its rows are uneven."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InvalidRequest(f"{name}: a value is masked, and it needs all of them")
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidRequest(f"{name}: rows of different lengths") from None


def integers_of(name: str, given: ArrayLike) -> NDArray[Any]:
    """As :func:`array_of`; an empty list, which NumPy takes for floats, has integers."""
    found = array_of(name, given)
    return found if found.size else found.astype(np.int64)


def numbers_of(name: str, given: ArrayLike, rule: str) -> NDArray[np.float64]:
    """As float64, or InvalidRequest with that rule; what is masked is NaN."""
    if isinstance(given, np.ma.MaskedArray):
        given = np.ma.filled(given.astype(np.float64), np.nan)
    found = array_of(name, given)
    if found.dtype == np.float64:
        return found
    try:
        if found.dtype.kind in "fiubO":
            with np.errstate(over="ignore"):  # of a wider float: infinite
                return found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidRequest(f"{name}: {rule}")


def held_configurations(
    current: ArrayLike, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Configuration that each job holds, -1 = none, checked.

    Parameters
    ----------
    current
        One integer a job.
    shape
        Jobs and configurations.

    Raises
    ------
    InvalidRequest
        If there is not one integer a job, or one is no configuration.

    Examples
    --------
    >>> held_configurations([1, -1], (2, 3)).tolist()
    [1, -1]
    """
    held = integers_of("current", current)
    if held.shape != shape[:1] or held.dtype.kind not in "iu":
        raise InvalidRequest(
            f"current of shape {held.shape} and dtype {held.dtype}: an integer a job"
        )
    bad = (held < -1) | (held >= shape[1])
    if bad.any():
        job = int(np.argmax(bad))
        raise InvalidRequest(
            f"current[{job}] is {held[job]}: a configuration, 0 to {shape[1] - 1}, or -1"
        )
    return held.astype(np.int64)

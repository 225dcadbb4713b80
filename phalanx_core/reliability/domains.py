"""Checks of what the models take: one error naming argument, value and rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import is_number, is_whole, numbers_of
from phalanx_core.errors import InvalidRequest

FloatArray = NDArray[np.float64]


def above_zero(name: str, given: Any) -> float:
    """One finite number above 0.

    Raises
    ------
    InvalidRequest
        If it is none.

    Examples
    --------
    >>> above_zero("mtbf_s", 60)
    60.0
    """
    if not (is_number(given) and given > 0):
        raise InvalidRequest(f"{name} {given!r}: finite and above 0")
    return float(given)


def from_zero(name: str, given: Any) -> float:
    """One finite number that is not negative.

    Raises
    ------
    InvalidRequest
        If it is none.
    """
    if not (is_number(given) and given >= 0):
        raise InvalidRequest(f"{name} {given!r}: finite and at least 0")
    return float(given)


def whole(name: str, given: Any, least: int = 0, most: int | None = None) -> int:
    """One whole number between two.

    Raises
    ------
    InvalidRequest
        If it is none.

    Examples
    --------
    >>> whole("runs", 0, least=1)
    Traceback (most recent call last):
    ...
    phalanx_core.errors.InvalidRequest: runs 0: a whole number from 1
    """
    if not (is_whole(given) and least <= given and (most is None or given <= most)):
        end = "" if most is None else f" to {most}"
        raise InvalidRequest(f"{name} {given!r}: a whole number from {least}{end}")
    return int(given)


def numbers(
    name: str, given: ArrayLike, least: float = 0.0, *, above: bool = False
) -> FloatArray:
    """Finite numbers of any shape, at least so much, or above it.

    Raises
    ------
    InvalidRequest
        If they are none; of an array it names the first that breaks the rule.

    Examples
    --------
    >>> numbers("recovery_s", [75, -1])
    Traceback (most recent call last):
    ...
    phalanx_core.errors.InvalidRequest: recovery_s[1] is -1: finite and at least 0
    """
    rule = f"finite and {'above' if above else 'at least'} {least:g}"
    found = numbers_of(f"{name} {given!r}", given, rule)
    bad = ~np.isfinite(found) | (found < least) | (above & (found == least))
    _refuse(name, given, found, bad, rule)
    return found


def shares(name: str, given: ArrayLike) -> FloatArray:
    """Numbers in [0, 1).

    Raises
    ------
    InvalidRequest
        If one is outside.
    """
    found = numbers_of(f"{name} {given!r}", given, "in [0, 1)")
    _refuse(name, given, found, ~((found >= 0) & (found < 1)), "in [0, 1)")
    return found


def targets(name: str, given: ArrayLike) -> FloatArray:
    """Numbers in (0, 1].

    Raises
    ------
    InvalidRequest
        If one is outside.
    """
    found = numbers_of(f"{name} {given!r}", given, "in (0, 1]")
    _refuse(name, given, found, ~((found > 0) & (found <= 1)), "in (0, 1]")
    return found


def together(**given: FloatArray) -> None:
    """Whether arguments have a shape together, as NumPy broadcasts them.

    Raises
    ------
    InvalidRequest
        If they have none.

    Examples
    --------
    >>> together(mtbf_s=np.ones(2), recovery_s=np.ones(3))
    Traceback (most recent call last):
    ...
    phalanx_core.errors.InvalidRequest: mtbf_s of shape (2,), recovery_s of shape (3,):
    no shape together
    """
    try:
        np.broadcast_shapes(*(one.shape for one in given.values()))
    except ValueError:
        shapes = [f"{name} of shape {one.shape}" for name, one in given.items()]
        raise InvalidRequest(f"{', '.join(shapes)}: no shape together") from None


def _refuse(
    name: str, given: ArrayLike, found: FloatArray, bad: NDArray[np.bool_], rule: str
) -> None:
    if not bad.any():
        return
    if not bad.ndim:
        raise InvalidRequest(f"{name} {given!r}: {rule}")
    at = np.unravel_index(int(np.argmax(bad)), bad.shape)
    where = ", ".join(str(one) for one in at)
    raise InvalidRequest(f"{name}[{where}] is {found[at]:g}: {rule}")

"""Columns of a table as arrays, each value checked; errors name row, column and rule."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.cli.tables import Table, shown
from phalanx_core.errors import InvalidRequest

WHOLE_MAX = 2**31 - 1
# Python itself reads more as a number: underscores, other digits, "infinity".
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FLAGS = {"true": True, "false": False, "1": True, "0": False, "": False}


def numbers(
    table: Table, name: str, least: float = -math.inf, empty: bool = False
) -> NDArray[np.float64]:
    """A column of finite numbers, at least so much; NaN where one is empty and may be.

    Raises
    ------
    InvalidRequest
        If the column is missing, or a value breaks the rule.

    Examples
    --------
    >>> numbers(Table("-", {"goodput": ["1.5", "", 2]}), "goodput", empty=True).tolist()
    [1.5, nan, 2.0]
    """
    rule = "a finite number" + ("" if math.isinf(least) else f" from {least:g}")
    if empty:
        rule += ", or empty"
    found = np.empty(table.rows)
    for row, value in enumerate(table.column(name)):
        number = _number(value)
        missing = number is not None and math.isnan(number)
        if number is None or (missing and not empty) or math.isinf(number):
            raise _wrong(table, row, name, rule, value)
        if number < least:
            raise _wrong(table, row, name, rule, value)
        found[row] = number
    return found


def wholes(table: Table, name: str, empty: bool = False) -> NDArray[np.int64]:
    """A column of whole numbers from 0; -1 where one is empty and may be.

    Raises
    ------
    InvalidRequest
        If the column is missing, or a value breaks the rule.
    """
    rule = f"a whole number from 0 to {WHOLE_MAX}" + (", or empty" if empty else "")
    found = np.empty(table.rows, np.int64)
    for row, value in enumerate(table.column(name)):
        number = _number(value)
        if empty and number is not None and math.isnan(number):
            number = -1.0
        elif number is None or not (0 <= number <= WHOLE_MAX and number % 1 == 0):
            raise _wrong(table, row, name, rule, value)
        found[row] = int(number)
    return found


def texts(table: Table, name: str) -> list[str]:
    """A column of names; a whole number is a name too.

    Raises
    ------
    InvalidRequest
        If the column is missing, or a value is empty, no text, or not printable.
    """
    found = []
    for row, value in enumerate(table.column(name)):
        whole = isinstance(value, int) and not isinstance(value, bool)
        text = str(value) if whole or isinstance(value, str) else ""
        if not text or not text.isprintable():
            raise _wrong(table, row, name, "a printable name", value)
        found.append(text)
    return found


def flags(table: Table, name: str) -> NDArray[np.bool_]:
    """A column of true and false, in any case, or 1 and 0; empty is false.

    Raises
    ------
    InvalidRequest
        If the column is missing, or a value is neither.
    """
    found = np.empty(table.rows, np.bool_)
    for row, value in enumerate(table.column(name)):
        word = "" if value is None else str(value).strip().lower()
        if word not in _FLAGS:
            raise _wrong(table, row, name, "true or false", value)
        found[row] = _FLAGS[word]
    return found


def typed(table: Table, counts: Callable[[str], bool], marks: Sequence[str]) -> Table:
    """The table with text as numbers or flags, where all of a column is such text.

    Parameters
    ----------
    counts
        Whether a column of that name holds numbers.
    marks
        Names of columns that hold true and false.
    """
    for name, values in table.columns.items():
        if not all(isinstance(value, str) for value in values):
            continue
        words = [value.strip().lower() for value in values]
        if counts(name) and all(_number(word) is not None for word in words):
            whole = all(_is_whole(word) for word in words)
            read = [_kept(_number(word), whole) for word in words]
            table = table.with_column(name, read)
        elif name in marks and all(word in _FLAGS for word in words):
            told = [_FLAGS[word] if word else None for word in words]
            table = table.with_column(name, told)
    return table


@contextmanager
def named_as(names: dict[str, str]) -> Iterator[None]:
    """Let errors about arguments of the library name the options they came from.

    Raises
    ------
    InvalidRequest
        The error that came, with its first word replaced where that is a key.

    Examples
    --------
    >>> with named_as({"age_cap": "--age-cap"}):
    ...     raise InvalidRequest("age_cap 0.5: at least 1")
    Traceback (most recent call last):
    ...
    phalanx_core.errors.InvalidRequest: --age-cap 0.5: at least 1
    """
    try:
        yield
    except InvalidRequest as error:
        word, space, rest = str(error).partition(" ")
        if word not in names:
            raise
        raise InvalidRequest(f"{names[word]}{space}{rest}") from None


def _number(value: Any) -> float | None:
    """The value as a number, NaN where it is empty, None where it is no number."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in ("", "nan"):
            return math.nan
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _is_whole(text: str) -> bool:
    # Longer ones are no 64-bit numbers, as which Parquet would keep them.
    return text.isascii() and text.isdigit() and len(text) <= 18


def _kept(number: float | None, whole: bool) -> float | int | None:
    if number is None or math.isnan(number):
        return None
    return int(number) if whole else number


def _wrong(table: Table, row: int, name: str, rule: str, value: Any) -> InvalidRequest:
    return table.wrong(row, name, f"must be {rule}, got {shown(value)}")

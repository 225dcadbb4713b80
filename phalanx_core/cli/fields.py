"""Values of one entry of a jobs file, each checked against its rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import inf
from typing import Any

from phalanx_core.checks import is_number
from phalanx_core.cli.near import did_you_mean
from phalanx_core.errors import InvalidRequest

NUMBER_MAX = (1 << 31) - 1
# A number with an exponent, as other languages than YAML 1.1 take it as well.
_EXPONENT = re.compile(
    r"([-+]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?[eE]([-+]?)([0-9]+)", re.ASCII
)
# Far beyond what anybody means, and so near that no sum or product of them overflows.
SECONDS = (0.0, 1e12)
GOODPUT = (1e-30, 1e30)
MEMORY_GIB = (0.0, 1e9)


def checked_list(path: str, rows: Any) -> list[Any]:
    """A list of jobs that holds one at least.

    Raises
    ------
    InvalidRequest
        If it is something else.
    """
    if not isinstance(rows, list):
        raise InvalidRequest(
            f"{path}: a jobs file is a list of jobs, each '- name: ...', "
            f"got {kind(rows)}"
        )
    if not rows:
        raise InvalidRequest(f"{path}: the list holds no job")
    return rows


def job_name(path: str, number: int, row: Any) -> str:
    """The name of the job that is the entry of this number.

    Raises
    ------
    InvalidRequest
        If the entry is no mapping or has no name that can be printed.
    """
    where = f"{path}: job {number}"
    if not isinstance(row, dict):
        raise InvalidRequest(f"{where}: must be a mapping, got {kind(row)}")
    name = row.get("name")
    if not isinstance(name, str):
        raise InvalidRequest(
            f"{where}: name: must be a text (quote a number), got {kind(name)}"
        )
    if not name or not name.isprintable():
        rule = "must be printable" if name else "must not be empty"
        raise InvalidRequest(f"{where}: name: {rule}, got {kind(name)}")
    return name


def check_keys(where: str, row: Mapping[Any, Any], keys: Collection[str]) -> None:
    """Refuse a key that is none of some, with those that are near it."""
    for key in row:
        if key not in keys:
            near = did_you_mean(str(key), keys)
            known = ", ".join(keys)
            raise InvalidRequest(f"{where}: {key}: no such key; keys are {known}{near}")


def mapping(where: str, key: str, value: Any, rule: str) -> dict[Any, Any]:
    """A mapping; ``rule`` says of what."""
    if not isinstance(value, dict):
        raise InvalidRequest(f"{where}: {key}: {rule}, got {kind(value)}")
    return value


def whole(where: str, key: str, value: Any, least: int) -> int:
    """A whole number from ``least`` to the most that a size may be."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(
            f"{where}: {key}: must be a whole number, got {kind(value)}"
            f"{whole_meant(value)}"
        )
    if not least <= value <= NUMBER_MAX:
        raise InvalidRequest(
            f"{where}: {key}: must be from {least} to {NUMBER_MAX}, got {value}"
        )
    return value


def number(
    where: str,
    key: str,
    value: Any,
    *,
    above: bool = False,
    bounds: tuple[float, float] = (0.0, inf),
) -> float:
    """A finite number from 0, or above it, that ``bounds`` hold.

    Examples
    --------
    >>> number("job 'a'", "weight", 2, above=True)
    2.0
    >>> number("job 'a'", "arrive_s", 1e300, bounds=SECONDS)
    Traceback (most recent call last):
    phalanx_core.errors.InvalidRequest: job 'a': arrive_s: must be at most 1e+12, got 1e+300
    """
    if not is_number(value) or value < 0 or (above and value == 0):
        rule = "above 0" if above else "at least 0"
        raise InvalidRequest(
            f"{where}: {key}: must be a finite number {rule}, got {kind(value)}"
            f"{number_meant(value)}"
        )
    check_bounds(f"{where}: {key}", value, bounds)
    return float(value)


def check_bounds(where: str, value: float, bounds: tuple[float, float]) -> None:
    """Refuse a number that would leave the range of doubles in later sums and products."""
    least, most = bounds
    if not least <= value <= most:
        rule = f"from {least:g} to {most:g}" if least else f"at most {most:g}"
        raise InvalidRequest(f"{where}: must be {rule}, got {float(value):g}")


def number_meant(value: Any) -> str:
    """Advice on a text such as 1e6, which is no number in YAML without point and sign.

    Examples
    --------
    >>> number_meant("1e6"), number_meant("2.5E-3"), number_meant("x")
    ('; write 1.0e+6', '; write 2.5e-3', '')
    """
    found = _EXPONENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return ""
    sign, whole_part, fraction, power_sign, power = found.groups()
    point = f"{whole_part or 0}.{fraction or 0}"
    return f"; write {sign}{point}e{power_sign or '+'}{power}"


def whole_meant(value: Any) -> str:
    """As :func:`number_meant`, of what must be whole.

    Examples
    --------
    >>> whole_meant("1e3"), whole_meant("1e-3"), whole_meant("1e400")
    ('; write 1000', '', '')
    """
    # The text is a number by its pattern, so it reads as one, if perhaps as infinite.
    meant = float(value) if number_meant(value) else inf
    return f"; write {int(meant)}" if meant % 1 == 0 and meant <= NUMBER_MAX else ""


def flag(where: str, key: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidRequest(
            f"{where}: {key}: must be true or false, got {kind(value)}"
        )
    return value


def word(where: str, key: str, value: Any) -> str | None:
    """A name that is not empty, or nothing."""
    if value is None or (isinstance(value, str) and value):
        return value
    raise InvalidRequest(f"{where}: {key}: must be a name, got {kind(value)}")


def choice(where: str, key: str, value: Any, known: tuple[str, ...]) -> str:
    """One of some words."""
    if value in known:
        return str(value)
    near = did_you_mean(value, known) if isinstance(value, str) else ""
    raise InvalidRequest(
        f"{where}: {key}: must be {' or '.join(known)}, got {value!r}{near}"
    )


def kind(value: Any) -> str:
    """A value as a message shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."

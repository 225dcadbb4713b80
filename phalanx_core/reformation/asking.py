"""Checks of what clients of the protocol are asked: each names value and rule."""

from __future__ import annotations

from typing import Any

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest

STEP_MAX = 10**20 - 1
"""Of a training's steps: keys have twenty digits, and their order is that of the steps."""


def check_text(what: str, value: Any) -> None:
    """A text that can be written, or InvalidRequest.

    Examples
    --------
    >>> check_text("content", b"shards")
    Traceback (most recent call last):
    phalanx_core.errors.InvalidRequest: content is b'shards': it must be a text
    """
    if not isinstance(value, str):
        raise InvalidRequest(f"{what} is {value!r:.200}: it must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        rule = "it has half a character, which no store keeps"
        raise InvalidRequest(f"{what} is {value!r:.200}: {rule}") from None


def check_name(what: str, value: Any) -> None:
    """A text with a character, or InvalidRequest."""
    check_text(what, value)
    if not value:
        raise InvalidRequest(f"{what} is '': a name has a character")


def check_step(what: str, value: Any) -> None:
    """A step of a training, or InvalidRequest."""
    if not is_whole(value) or value > STEP_MAX:
        raise InvalidRequest(
            f"{what} is {shown(value)}: a whole number from 0, of twenty digits at most"
        )


def check_pair(what: str, value: Any) -> tuple[int, int]:
    """Two whole numbers, as JSON may bring them too, or InvalidRequest.

    Examples
    --------
    >>> check_pair("token", [1, 2])
    (1, 2)
    """
    pair = isinstance(value, (list, tuple)) and len(value) == 2
    if not pair or not all(map(is_whole, value)):
        raise InvalidRequest(f"{what} is {shown(value)}: two whole numbers from 0")
    return int(value[0]), int(value[1])


def shown(value: Any) -> str:
    """A value as messages have it; one too long to be written by its type."""
    try:
        return f"{value!r:.200}"
    except ValueError:  # an integer of thousands of digits
        return f"a {type(value).__name__} of many digits"

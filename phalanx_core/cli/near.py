"""Suggestions for names that a person mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Tail of an error message with up to three near names, or nothing.

    Examples
    --------
    >>> did_you_mean("h100-17", ["h100-017", "h100-018", "dgx01"])
    '; did you mean h100-017 or h100-018?'
    >>> did_you_mean("zebra", ["host", "pod"])
    ''
    """
    near = get_close_matches(wrong, list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""

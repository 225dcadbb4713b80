"""Slices of Kueue's v1beta2 assignment: prefixes and suffixes written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

SLICES_MAX = 1_000
DOMAINS_MAX = 100_000  # of one slice: its roots and its podCounts


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of an assignment.

    Attributes
    ----------
    values
        Its label at each level, broadest first.
    count
        Its Pods.
    """

    values: tuple[str, ...]
    count: int


def slices_of(domains: Sequence[Domain]) -> list[dict[str, Any]]:
    """Domains in order as slices, of a few divisions the shortest.

    Tried are: no division, a slice for each run of domains that differ in the number
    at the end of their name alone, and one for each run under one domain above. None
    gives more than ``SLICES_MAX`` slices; undivided they are one in ``DOMAINS_MAX``.

    Examples
    --------
    >>> slices_of([Domain(("n1",), 4), Domain(("n2",), 4)])[0]["valuesPerLevel"]
    [{'individual': {'prefix': 'n', 'roots': ['1', '2']}}]
    """
    keys: tuple[Callable[[Domain], object], ...] = (
        lambda domain: None,
        lambda domain: domain.values[-1].rstrip("0123456789"),
        lambda domain: domain.values[:-1],
    )
    found = []
    for key in keys:
        runs = list(_runs(domains, key))
        if len(runs) <= SLICES_MAX:
            found.append([_slice(run) for run in runs])
    return min(found, key=lambda slices: len(json.dumps(slices)))


def _runs(
    domains: Sequence[Domain], key: Callable[[Domain], object]
) -> Iterator[list[Domain]]:
    for _, group in groupby(domains, key):
        run = list(group)
        for first in range(0, len(run), DOMAINS_MAX):
            yield run[first : first + DOMAINS_MAX]


def _slice(run: Sequence[Domain]) -> dict[str, Any]:
    levels = zip(*(domain.values for domain in run), strict=True)
    counts = [domain.count for domain in run]
    same = len(set(counts)) == 1
    return {
        "domainCount": len(run),
        "valuesPerLevel": [_values(column) for column in levels],
        "podCounts": {"universal": counts[0]} if same else {"individual": counts},
    }


def _values(column: Sequence[str]) -> dict[str, Any]:
    if len(set(column)) == 1:
        return {"universal": column[0]}
    # A sign of each value is left to its root, as a root is not to be empty.
    room = min(map(len, column)) - 1
    prefix = _common(column)[:room]
    turned = _common([value[::-1] for value in column])
    suffix = turned[: room - len(prefix)][::-1]
    told: dict[str, Any] = {}
    if prefix:
        told["prefix"] = prefix
    if suffix:
        told["suffix"] = suffix
    end = -len(suffix) or None
    told["roots"] = [value[len(prefix) : end] for value in column]
    return {"individual": told}


def _common(texts: Sequence[str]) -> str:
    """The longest text that all begin with: what the first and last in order share."""
    low, high = min(texts), max(texts)
    for at, sign in enumerate(low):
        if sign != high[at]:
            return low[:at]
    return low

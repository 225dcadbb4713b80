"""``LEVEL=NAME@SECONDS``: what befalls the cluster, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

from phalanx_core.cli.targets import Target, find_target
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.changes import TIME_MAX
from phalanx_core.topology import Topology

ROUNDS_MAX = 100_000


@dataclass(frozen=True)
class Happening:
    """One --fail, --drain or --heal.

    Attributes
    ----------
    kind
        "fail", "drain" or "heal".
    at_s
        When.
    """

    kind: str
    target: Target
    at_s: float


def happenings_of(
    topology: Topology,
    given: Sequence[tuple[str, str]],
    first_s: float,
    round_s: float,
    since_s: float,
) -> list[Happening]:
    """Options in order of time, and of the command line where they have the same.

    Parameters
    ----------
    given
        Pairs of kind and value, such as ("fail", "host=h1@300").
    first_s
        When the run's first round is; what has no time comes before the one after it.
    since_s
        Time before which nothing can happen any more.

    Raises
    ------
    InvalidRequest
        If a form or a name is wrong, or a time has passed.

    Examples
    --------
    >>> topology = Topology.from_spec("host:4 gpu:2")
    >>> found = happenings_of(topology, [("fail", "host=host-1@90"),
    ...                                  ("heal", "host=host-0")], 0.0, 60.0, 0.0)
    >>> [(one.kind, one.at_s) for one in found]
    [('heal', 60.0), ('fail', 90.0)]
    """
    found = []
    for kind, text in given:
        name, at = _split(kind, text)
        at_s = first_s + round_s if at is None else at
        if at_s < since_s:
            raise InvalidRequest(
                f"--{kind} {text}: must be at {since_s:g} s or later, when this run begins"
            )
        target = find_target(topology, f"--{kind}", name)
        found.append(Happening(kind, target, at_s))
    return sorted(found, key=lambda one: one.at_s)


def _split(kind: str, text: str) -> tuple[str, float | None]:
    """Name and time; a name may have an @ of its own."""
    name, sign, tail = text.rpartition("@")
    try:
        at = float(tail) if sign else inf
    except ValueError:
        return text, None
    if not sign:
        return text, None
    if not (isfinite(at) and at >= 0):
        raise InvalidRequest(
            f"--{kind} {text}: its time must be finite seconds, at least 0"
        )
    return name, at


def round_times(
    happened: Sequence[Happening], first_s: float, round_s: float, count: int | None
) -> list[float]:
    """When the rounds of a run are: as many as answer every happening, or ``count``.

    Raises
    ------
    InvalidRequest
        If they are too many, or too late, or too few to answer all.

    Examples
    --------
    >>> round_times([], 0.0, 60.0, None), round_times([], 30.0, 60.0, 3)
    ([0.0], [30.0, 90.0, 150.0])
    """
    if count is not None and not 1 <= count <= ROUNDS_MAX:
        raise InvalidRequest(f"--rounds {count}: must be from 1 to {ROUNDS_MAX}")
    last = happened[-1] if happened else None
    times = [first_s]
    while last is not None and times[-1] < last.at_s and len(times) <= ROUNDS_MAX:
        times.append(times[-1] + round_s)
    needed = len(times)
    most = ROUNDS_MAX if count is None else count
    if last is not None and needed > most:
        needs = f"{needed}" if needed <= ROUNDS_MAX else f"more than {ROUNDS_MAX}"
        raise InvalidRequest(
            f"--{last.kind} {last.target.text}@{last.at_s:g}: needs {needs} rounds, the "
            f"last of them to answer it, and there are at most {most}"
        )
    while count is not None and len(times) < count:
        times.append(times[-1] + round_s)
    if times[-1] > TIME_MAX:
        raise InvalidRequest(
            f"--round {round_s:g}: round {len(times)} would be at {times[-1]:g} s, and "
            f"the last second is {TIME_MAX:g}"
        )
    return times

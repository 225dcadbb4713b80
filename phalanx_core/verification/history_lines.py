"""Lines of histories, read into records and events, or refused with kind and reason."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from phalanx_core.checks import is_whole
from phalanx_core.reformation import (
    FIXED,
    HARDENED,
    PRINTED,
    Action,
    Cause,
    Event,
    Job,
    Phase,
    Records,
    Rules,
)

FORMAT = 1
EPOCH_MAX = 1_000_000
"""Epochs are positions of bits; this many take 125 kB a job."""
LEAVES_MAX = 1 << 24
RULES: dict[str, Rules] = {"PRINTED": PRINTED, "FIXED": FIXED, "HARDENED": HARDENED}
MASKS = ("live", "suspect", "lost")
JOB_FIELDS = Job._fields
DIGITS = frozenset("0123456789abcdefABCDEF")


class BadLine(Exception):
    """A line that is no legal line of a history.

    Parameters
    ----------
    kind
        As in :class:`~phalanx_core.verification.history.HistoryFault`.
    reason
        One sentence.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def parsed(line: str | bytes) -> dict[str, Any]:
    """The JSON object of a line.

    Raises
    ------
    BadLine
        If it is no JSON object, or one that names a key twice.
    """
    try:
        found = DECODER.decode(line if isinstance(line, str) else line.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise BadLine("json", f"not JSON: {error.msg} (column {error.colno})") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadLine("json", f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadLine("json", "not a JSON object")
    return found


def header_of(told: dict[str, Any]) -> tuple[str, Rules, int, Records]:
    """Rules by name, leaves and records of a first line.

    Raises
    ------
    BadLine
        If a field is missing or breaks its rule.
    """
    if "phalanx_history" not in told:
        raise BadLine("header", "the first line has no phalanx_history: not a history")
    if told["phalanx_history"] != FORMAT or told["phalanx_history"] is True:
        raise BadLine(
            "header", f"phalanx_history is {told['phalanx_history']!r}: only 1 is known"
        )
    name = told.get("rules")
    if not isinstance(name, str) or name not in RULES:
        raise BadLine("header", f"rules is {name!r}: one of {', '.join(RULES)}")
    leaves = whole_of(told, "leaves", "header", LEAVES_MAX)
    records = told.get("records")
    if not isinstance(records, dict):
        raise BadLine("header", "records is not an object")
    live, suspect, lost = (mask_of(records, key, "header", leaves) for key in MASKS)
    failures = whole_of(records, "failures", "header")
    jobs = records.get("jobs")
    if not isinstance(jobs, list):
        raise BadLine("header", "records.jobs is not a list")
    held = tuple(
        job_of(job, f"records.jobs[{index}]", "header", leaves)
        for index, job in enumerate(jobs)
    )
    return name, RULES[name], leaves, Records(live, held, failures, suspect, lost)


def event_of(told: dict[str, Any], leaves: int, jobs: int) -> Event:
    """The event of a line.

    Raises
    ------
    BadLine
        If the action is unknown, there is no such job, or a field breaks its rule.
    """
    name = told.get("action")
    if not isinstance(name, str) or name not in Action.__members__:
        raise BadLine("action", f"action is {name!r}: no action of the protocol")
    action = Action[name]
    numbers = {
        key: whole_of(told, key, "event", EPOCH_MAX) if key in told else 0
        for key in ("job", "epoch", "uid", "manifest")
    }
    mask = mask_of(told, "leaves", "event", leaves) if "leaves" in told else 0
    job = numbers["job"]
    known = jobs + (action is Action.ADMIT)
    if job >= known and (action > Action.TRUST or job):
        raise BadLine("event", f"job is {job}: there are {jobs}")
    return Event(
        action, job, mask, numbers["epoch"], numbers["uid"], numbers["manifest"]
    )


def job_of(told: Any, where: str, kind: str, leaves: int) -> Job:
    """A job's records out of the list of its fields.

    Raises
    ------
    BadLine
        If one is missing or breaks its rule.
    """
    if not isinstance(told, list) or len(told) != len(JOB_FIELDS):
        raise BadLine(
            kind, f"{where} is not a list of {len(JOB_FIELDS)}: {', '.join(JOB_FIELDS)}"
        )
    fields = dict(zip(JOB_FIELDS, told, strict=True))
    for name, numbers in (("phase", Phase), ("cause", Cause)):
        if not is_whole(fields[name]) or fields[name] >= len(numbers):
            raise BadLine(
                kind, f"{where}.{name} is {fields[name]!r}: 0 to {len(numbers) - 1}"
            )
    base = fields["base"]
    if base != -1 or isinstance(base, float):
        base = _whole(base, f"{where}.base", kind, EPOCH_MAX)
    return Job(
        Phase(fields["phase"]),
        _whole(fields["epoch"], f"{where}.epoch", kind, EPOCH_MAX),
        _mask(fields["alloc"], f"{where}.alloc", kind, leaves),
        _mask(fields["plan"], f"{where}.plan", kind, leaves),
        _mask(fields["sealed"], f"{where}.sealed", kind, EPOCH_MAX + 1),
        _mask(fields["fenced"], f"{where}.fenced", kind, leaves),
        Cause(fields["cause"]),
        base,
        _whole(fields["uid"], f"{where}.uid", kind, None),
    )


def whole_of(told: dict[str, Any], key: str, kind: str, most: int | None = None) -> int:
    """A field that is a whole number.

    Raises
    ------
    BadLine
        If it is missing, no whole number from 0, or above ``most``.
    """
    if key not in told:
        raise BadLine(kind, f"{key} is missing")
    return _whole(told[key], key, kind, most)


def mask_of(told: dict[str, Any], key: str, kind: str, bits: int) -> int:
    """A field that is a mask.

    Raises
    ------
    BadLine
        If it is missing, no string of hexadecimal digits, or has a bit beyond ``bits``.

    Examples
    --------
    >>> mask_of({"live": "0x1f"}, "live", "header", 5)
    31
    """
    if key not in told:
        raise BadLine(kind, f"{key} is missing")
    return _mask(told[key], key, kind, bits)


def _whole(value: Any, where: str, kind: str, most: int | None) -> int:
    if not is_whole(value):
        raise BadLine(kind, f"{where} is {value!r}: a whole number from 0")
    if most is not None and value > most:
        raise BadLine(kind, f"{where} is {value}: {most} at most")
    return int(value)


def _mask(value: Any, where: str, kind: str, bits: int) -> int:
    if (
        not isinstance(value, str)
        or not value.startswith("0x")
        or len(value) < 3
        or not DIGITS.issuperset(value[2:])
    ):
        raise BadLine(kind, f"{where} is {value!r}: a mask such as '0x1f'")
    mask = int(value, 16)
    if mask >> bits:
        raise BadLine(
            kind, f"{where} has bit {mask.bit_length() - 1}: {bits} bits at most"
        )
    return mask


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)

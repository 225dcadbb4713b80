"""``validate``: replays a history against the transitions; the first bad line and why.

A history is NDJSON, one JSON object a line (Phalanx, Section 8.5). The first line holds
the records at the start::

    {"phalanx_history": 1, "rules": "HARDENED", "leaves": 3, "records": {
        "live": "0x7", "suspect": "0x0", "lost": "0x0", "failures": 0,
        "jobs": [[phase, epoch, alloc, plan, sealed, fenced, cause, base, uid], ...]}}

Masks are strings of hexadecimal digits, phase and cause are numbers of their enums.
Every further line is a transition that was taken, with what it changed::

    {"n": 1, "at": 12.5, "action": "FAIL", "leaves": "0x1",
     "after": {"live": "0x6", "lost": "0x1", "failures": 1}}

``job``, ``epoch``, ``uid`` and ``manifest`` are those of the event, 0 where they are left
out, and ``leaves`` is its mask; ``after`` may name jobs, ``{"jobs": {"0": [...]}}``. Other
keys of a line are the writer's own. What an action does not read is not judged either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from phalanx_core.errors import InvariantBroken
from phalanx_core.reformation import (
    Action,
    Event,
    Job,
    Records,
    Refused,
    Rules,
    check,
    transition,
)
from phalanx_core.reformation.guards import commit_refusal
from phalanx_core.verification.history_lines import (
    JOB_FIELDS,
    MASKS,
    BadLine,
    event_of,
    header_of,
    job_of,
    mask_of,
    parsed,
    whole_of,
)
from phalanx_core.verification.history_report import (
    HistoryFault,
    HistoryReport,
    Step,
)

LINE_BYTES_MAX = 1 << 26
"""Octets of a line; 64 MiB hold the records of 250 jobs on a million leaves each."""


@dataclass
class Replay:
    """A history that is followed line by line; holds the records and nothing older.

    Attributes
    ----------
    name, rules, leaves, records
        Rules by name, leaves, and the records after the last legal line.
    transitions
        Legal steps so far.

    Examples
    --------
    >>> replay = Replay.of(
    ...     '{"phalanx_history": 1, "rules": "PRINTED", "leaves": 2, "records":'
    ...     ' {"live": "0x3", "suspect": "0x0", "lost": "0x0", "failures": 0,'
    ...     ' "jobs": [[1, 0, "0x3", "0x0", "0x1", "0x0", 0, -1, 0]]}}'
    ... )
    >>> replay.follow('{"n": 1, "action": "DETECT", "job": 0, "after": {}}')
    Traceback (most recent call last):
    phalanx_core.verification.history_lines.BadLine: DETECT of job 0: guard broken does not hold
    """

    name: str
    rules: Rules
    leaves: int
    records: Records
    transitions: int = 0
    by_action: Counter[Action] = field(default_factory=Counter)
    aborts: Counter[str] = field(default_factory=Counter)
    dead_plans: int = 0
    epoch_max: int = 0

    @classmethod
    def of(cls, line: str | bytes) -> Replay:
        """Replay of the history that begins with this line.

        Raises
        ------
        BadLine
            If the line is no first line.
        """
        name, rules, leaves, records = header_of(parsed(line))
        try:
            check(records)
        except InvariantBroken as error:
            raise BadLine("header", f"records break {error}") from None
        epoch = max((job.epoch for job in records.jobs), default=0)
        return cls(name, rules, leaves, records, epoch_max=epoch)

    def follow(self, line: str | bytes) -> Step:
        """Take the step of a line.

        Raises
        ------
        BadLine
            If the line is no legal step from here; then nothing was changed.

        Notes
        -----
        O(length of the line + jobs).
        """
        told = parsed(line)
        number = whole_of(told, "n", "order")
        if number != self.transitions + 1:
            raise BadLine(
                "order", f"n is {number}, and {self.transitions + 1} comes next"
            )
        event = event_of(told, self.leaves, len(self.records.jobs))
        records = self._stepped(event)
        compare(self.records, records, told.get("after"), event, self.leaves)
        try:
            check(records)
        except InvariantBroken as error:
            raise BadLine("invariant", f"{event.action.name} breaks {error}") from None
        self._counted(event)
        step = Step(number, told.get("at"), self.records, event, records)
        self.records = records
        self.transitions = number
        return step

    def _stepped(self, event: Event) -> Records:
        answer = transition(self.records, event, self.rules)
        if isinstance(answer, Refused):
            who = f" of job {event.job}" if event.action > Action.TRUST else ""
            raise BadLine(
                "guard",
                f"{event.action.name}{who}: guard {answer.guard} does not hold",
            )
        return answer[0]

    def _counted(self, event: Event) -> None:
        action, records = event.action, self.records
        self.by_action[action] += 1
        if action not in (Action.COMMIT, Action.ABORT):
            return
        job = records.jobs[event.job]
        if action is Action.ABORT:
            self.aborts[commit_refusal(records, event.job, self.rules)] += 1
        else:
            self.epoch_max = max(self.epoch_max, job.epoch + 1)
        self.dead_plans += job.plan & ~records.live != 0


def compare(
    before: Records, expected: Records, told: Any, event: Event, leaves: int
) -> None:
    """Check what a line says that its transition changed.

    Raises
    ------
    BadLine
        If a field that changed is not told, or one is told otherwise than it is.
    """
    if not isinstance(told, dict):
        raise BadLine("after", "after is not an object of the fields that changed")
    name = event.action.name
    for key in told:
        if key not in MASKS and key not in ("failures", "jobs"):
            raise BadLine("after", f"after.{key} is no field of the records")
    for key in ("live", "failures", "suspect", "lost"):
        is_mask = key != "failures"
        was, now = getattr(before, key), getattr(expected, key)
        read: Callable[..., int] = mask_of if is_mask else whole_of
        given = (
            read(told, key, "after", leaves if is_mask else None)
            if key in told
            else was
        )
        _same(f"after.{key}", given, now, name, told=key in told, mask=is_mask)
    jobs = told.get("jobs", {})
    if not isinstance(jobs, dict):
        raise BadLine("after", "after.jobs is not an object of jobs by index")
    known = {str(index): index for index in range(len(expected.jobs))}
    for key in jobs:
        if key not in known:
            raise BadLine("after", f"after.jobs.{key}: there are {len(known)} jobs")
    for key, index in known.items():
        given_job = before.jobs[index] if index < len(before.jobs) else None
        if key in jobs:
            given_job = job_of(jobs[key], f"after.jobs.{key}", "after", leaves)
        _same_job(
            given_job, expected.jobs[index], f"after.jobs.{key}", name, key in jobs
        )


def _same(
    where: str, given: int, now: int, action: str, *, told: bool, mask: bool
) -> None:
    if given == now:
        return
    shown = (hex(given), hex(now)) if mask else (str(given), str(now))
    how = "is" if told else "is left out, so it stays"
    raise BadLine(
        "after", f"{where} {how} {shown[0]}, and {action} makes it {shown[1]}"
    )


def _same_job(given: Job | None, now: Job, where: str, action: str, told: bool) -> None:
    if given == now:
        return
    if given is None:
        raise BadLine("after", f"{where} is left out, and {action} adds it")
    for name, one, other in zip(JOB_FIELDS, given, now, strict=True):
        mask = name in ("alloc", "plan", "sealed", "fenced")
        _same(f"{where}.{name}", one, other, action, told=told, mask=mask)


def validate(
    lines: Iterable[str | bytes], taken: Callable[[Step], object] | None = None
) -> HistoryReport:
    """Replay a history up to its end or its first bad line.

    Parameters
    ----------
    lines
        As a file opened to read yields them, each with the newline at its end; the last
        may lack it. :func:`lines_of` bounds their length.
    taken
        Called with each legal step, in order.

    Returns
    -------
    See :class:`HistoryReport`; its ``fault`` says what is wrong.

    Notes
    -----
    One pass in O(one line + records) memory.

    Examples
    --------
    >>> from phalanx_core.verification.random_history import random_history
    >>> report = validate(random_history(seed=1, transitions=200))
    >>> report.transitions, report.fault
    (200, None)
    >>> lines = list(random_history(seed=1, transitions=2))
    >>> str(validate([lines[0], lines[2]]).fault)
    'line 2: n is 2, and 1 comes next'
    """
    replay: Replay | None = None
    fault, number = None, 0
    for number, line in enumerate(lines, 1):
        try:
            if replay is None:
                replay = Replay.of(line)
            else:
                step = replay.follow(line)
                if taken:
                    taken(step)
        except BadLine as error:
            fault = HistoryFault(number, *_told(error, line))
            break
    if not number:
        fault = HistoryFault(1, "header", "the history is empty")
    return _reported(replay, fault)


def _told(error: BadLine, line: str | bytes) -> tuple[str, str]:
    """Kind and reason; what has no newline and is no JSON was cut while it was written."""
    newline = line.endswith("\n") if isinstance(line, str) else line.endswith(b"\n")
    if error.kind == "json" and not newline:
        return "cut", f"it has no newline at its end and was cut: {error.reason}"
    return error.kind, error.reason


def _reported(replay: Replay | None, fault: HistoryFault | None) -> HistoryReport:
    if replay is None:
        return HistoryReport("", 0, 0, 0, dict.fromkeys(Action, 0), {}, 0, 0, fault)
    return HistoryReport(
        replay.name,
        replay.leaves,
        len(replay.records.jobs),
        replay.transitions,
        {action: replay.by_action[action] for action in Action},
        dict(replay.aborts),
        replay.dead_plans,
        replay.epoch_max,
        fault,
    )


def lines_of(
    file: BinaryIO,
    size_max: int = LINE_BYTES_MAX,
    seen: Callable[[int], None] | None = None,
) -> Iterator[bytes]:
    """Lines of a file, none longer than is held; a longer one is cut, and so no JSON.

    Parameters
    ----------
    file
        Opened to read octets.
    size_max
        Octets of a line.
    seen
        Called with the octets read, after each line.
    """
    read = 0
    while line := file.readline(size_max):
        read += len(line)
        if seen is not None:
            seen(read)
        yield line

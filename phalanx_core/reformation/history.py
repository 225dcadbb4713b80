"""Histories: every transition that a store took, one JSON object a line.

The first line has the records that the history begins with::

    {"phalanx_history":1,"rules":"HARDENED","leaves":3,"records":{"live":"0x7",...}}

and each later line one transition, with what it changed::

    {"n":1,"at":12.5,"action":"FAIL","job":0,"leaves":"0x1",...,"after":{"live":"0x6"}}

Masks are hexadecimal texts. A job is the list [phase, epoch, alloc, plan, sealed, fenced,
cause, base, uid] with its masks so written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TextIO

from phalanx_core.errors import InvariantBroken, SaveError
from phalanx_core.reformation import codec
from phalanx_core.reformation.events import Action, Event, Refused
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import observe
from phalanx_core.reformation.records import Cause, Job, Phase, Records
from phalanx_core.reformation.stores import Store, Unavailable
from phalanx_core.reformation.transition import transition

ENCODER = json.JSONEncoder(separators=(",", ":"))
MASKS = ("live", "suspect", "lost")
OF_NO_JOB = {Action.FAIL, Action.HEAL, Action.SUSPECT, Action.TRUST}


def job_to_list(job: Job) -> list[Any]:
    """A job's records as JSON takes them.

    Examples
    --------
    >>> job_to_list(Job(Phase.RUN, 2, 0b11, 0b11, 0b101))
    [1, 2, '0x3', '0x3', '0x5', '0x0', 0, -1, 0]
    """
    phase, epoch, alloc, plan, sealed, fenced, cause, base, uid = job
    masks = map(hex, (alloc, plan, sealed, fenced))
    return [int(phase), epoch, *masks, int(cause), base, uid]


def job_from_list(given: list[Any]) -> Job:
    """The job of :func:`job_to_list`.

    Raises
    ------
    SaveError
        If it is none.
    """
    try:
        phase, epoch, alloc, plan, sealed, fenced, cause, base, uid = given
        alloc, plan, sealed, fenced = (
            int(mask, 16) for mask in (alloc, plan, sealed, fenced)
        )
        cause = Cause(cause)
        return Job(Phase(phase), epoch, alloc, plan, sealed, fenced, cause, base, uid)
    except (TypeError, ValueError) as error:
        raise SaveError(f"job {given!r}: {error}") from error


def records_to_dict(records: Records) -> dict[str, Any]:
    """Records as the first line has them."""
    found: dict[str, Any] = {name: hex(getattr(records, name)) for name in MASKS}
    found["failures"] = records.failures
    found["jobs"] = [job_to_list(job) for job in records.jobs]
    return found


def records_from_dict(given: dict[str, Any]) -> Records:
    """The records of :func:`records_to_dict`.

    Raises
    ------
    SaveError
        If they are none.
    """
    try:
        live, suspect, lost = (int(given[name], 16) for name in MASKS)
        jobs = tuple(job_from_list(job) for job in given["jobs"])
        return Records(live, jobs, given["failures"], suspect, lost)
    except (KeyError, TypeError, ValueError) as error:
        raise SaveError(f"records: {error!r}") from error


def changes_of(before: Records, after: Records) -> dict[str, Any]:
    """What a transition changed: the fields of ``after`` that differ."""
    names = [*MASKS, "failures"]
    changed: dict[str, Any] = {}
    for name in names:
        value = getattr(after, name)
        if value != getattr(before, name):
            changed[name] = value if name == "failures" else hex(value)
    old = before.jobs
    jobs = {
        str(at): job_to_list(job)
        for at, job in enumerate(after.jobs)
        if at >= len(old) or old[at] != job
    }
    return {**changed, "jobs": jobs} if jobs else changed


class History:
    """A history that grows by transitions, each asked of the pure core.

    Parameters
    ----------
    records
        Where it begins.
    leaves
        How many there are.
    names
        Of the jobs, by index.

    Attributes
    ----------
    records
        Where it stands.
    count
        Transitions so far.

    Examples
    --------
    >>> from phalanx_core.reformation import started
    >>> history = History(started([1], 2), 2, ["a"])
    >>> print(history.line(Event(Action.FAIL, leaves=1), 2.5)[:58])
    {"n":1,"at":2.5,"action":"FAIL","job":0,"leaves":"0x1","ep
    >>> history.records.lost
    1
    """

    def __init__(self, records: Records, leaves: int, names: list[str]) -> None:
        self.records = records
        self.leaves = leaves
        self.names = list(names)
        self.count = 0

    def header(self) -> str:
        """The first line."""
        head = {"phalanx_history": 1, "rules": "HARDENED", "leaves": self.leaves}
        records = records_to_dict(self.records)
        return _line({**head, "records": records, "names": self.names})

    def line(self, event: Event, at: float) -> str:
        """The line of the next transition.

        Raises
        ------
        InvariantBroken
            H1 if the protocol does not take it: whoever wrote it did not ask.
        """
        taken = transition(self.records, event)
        if isinstance(taken, Refused):
            raise InvariantBroken(
                "H1", f"transition {self.count + 1}, {event}, breaks {taken.guard}"
            )
        before, (self.records, _) = self.records, taken
        self.count += 1
        line: dict[str, Any] = {
            "n": self.count,
            "at": at,
            "action": event.action.name,
            "job": event.job,
            "leaves": hex(event.leaves),
            "epoch": event.epoch,
            "uid": event.uid,
            "manifest": event.manifest,
            "after": changes_of(before, self.records),
        }
        if event.action not in OF_NO_JOB:
            line["name"] = self.names[event.job]
        return _line(line)

    def lines(self, log: bytes) -> Iterator[str]:
        """The lines of one transaction, from what it wrote to the store's log.

        Raises
        ------
        SaveError
            If the log is damaged.
        InvariantBroken
            As :meth:`line`.
        """
        told = codec.unpacked(log, "the log")
        name = told["name"]
        for one in told["events"]:
            event = Event(
                Action[one["action"]],
                self._index(name) if name else 0,
                int(one["leaves"], 16),
                one["epoch"],
                one["uid"],
                one["manifest"],
            )
            yield self.line(event, told["at"])

    def _index(self, name: str) -> int:
        """Index of a job; a new name comes last."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


class Historian:
    """Writes what a store takes from now on, whoever sends it.

    Parameters
    ----------
    store, layout
        What is watched.
    file
        Lines are written there; the first one at once. A new one: a history has one start.

    Raises
    ------
    Unavailable
        If the store cannot be read.

    Notes
    -----
    A commit is written as its proposal and itself. Proposals that came to nothing are no
    part of a store, so a history of it has neither aborts nor crashes. A change that the
    watch tells again is written once.
    """

    def __init__(self, store: Store, layout: Layout, file: TextIO) -> None:
        view = observe(store, layout)
        self._store = store
        self._file = file
        self._watch = store.watch(codec.LOG, view.revision + 1)
        self._told = view.revision
        names = [job.name for job in view.jobs]
        self.history = History(view.records, layout.leaves, names)
        self._unwritten = [self.history.header()]
        self._write()

    def poll(self) -> int:
        """Write what happened since; how many transitions, 0 if the store did not answer.

        Raises
        ------
        Compacted
            If the store forgot some of it; begin another history.
        OSError
            If the file takes no more; what it did not take is written by the next call.
        InvariantBroken
            H1 if the protocol does not take a transition.
        """
        self._write()
        before = self.history.count
        try:
            changes = self._watch.poll()
        except Unavailable:
            with suppress(Unavailable):
                self._watch = self._store.watch(codec.LOG, self._watch.revision)
            return 0
        for change in changes:
            # A revision has one change of the log: what is told again of it was written.
            if change.revision <= self._told:
                continue
            self._unwritten += self.history.lines(change.item.value)
            self._told = change.revision
        self._write()
        return self.history.count - before

    def _write(self) -> None:
        """Write what is not written yet; where the file takes no more, it stays so."""
        while self._unwritten:
            self._file.write(self._unwritten[0])
            del self._unwritten[0]


def _line(value: dict[str, Any]) -> str:
    return ENCODER.encode(value) + "\n"

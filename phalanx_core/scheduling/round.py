"""``Round``: the working state of one round, and the moves that its stages share."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import StalePlan
from phalanx_core.fairness import Ledger, TenantAccounts
from phalanx_core.placement import Misfit, Placement, Repair
from phalanx_core.placement.keys import Job
from phalanx_core.scheduling.decision import Cut, Why
from phalanx_core.scheduling.options import SchedulerOptions
from phalanx_core.scheduling.records import JobRecord, JobState
from phalanx_core.scheduling.table import ChoiceTable
from phalanx_core.scheduling.whatif import WhatIf


class Started(NamedTuple):
    """A job that gets leaves: its configuration, where, and why."""

    configuration: int
    placement: Placement
    why: Why


class Kept(NamedTuple):
    """A job that keeps its leaves: until when if that is not a whole lease, and why."""

    why: Why
    until_s: float | None = None
    detail: Misfit | str = ""


class Moved(NamedTuple):
    """A job whose ranks move, and why."""

    record: JobRecord
    repair: Repair
    why: Why


class Stopped(NamedTuple):
    """A job that is to leave, and why."""

    why: Why
    detail: str | Misfit = ""


class Bid(NamedTuple):
    """What a job that was left out would have made of its best choice.

    Attributes
    ----------
    gpus
        That it would take.
    worth
        Its utility; NaN where all its choices were cut.
    price
        What the same GPUs are worth to others, None where that was not needed.
    idle
        The threshold of admission.
    """

    gpus: int
    worth: float
    price: float | None
    idle: float

    def __str__(self) -> str:
        if self.worth != self.worth:
            return "the topology can hold none of its choices"
        told = f"{self.gpus} GPUs would be worth {self.worth:.4g} to it"
        if self.worth < self.idle:
            return f"{told}, below the threshold of {self.idle:g}"
        if self.price is None:
            return f"{told}, and are worth as much or more to others"
        return f"{told}, and are worth {self.price:.4g} to others"


class Refused(NamedTuple):
    """Why a job waits."""

    why: Why
    detail: Misfit | Bid | str = ""


class Clock:
    """Wall time by stage; a stage that comes again adds up."""

    def __init__(self) -> None:
        self.times_s: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """The time since the last lap was for this stage."""
        now = time.perf_counter()
        self.times_s[stage] = self.times_s.get(stage, 0.0) + now - self._last
        self._last = now


class Round:
    """One round while it is decided.

    Attributes
    ----------
    columns, tenants
        GPU type to its column in arrays, and tenant to its row in the ledger's.
    fixed
        Jobs that run on within their lease.
    ending
        Jobs whose lease is over, in order of submission: a choice is to be made.
    pending
        Jobs without leaves, in order of submission.
    lame
        Jobs whose lease is over and that lost leaves, to the repair that is made if they
        are kept.
    leaving
        Jobs that are stopping, or must: their leaves are free on the copies.
    unfit
        Shapes that found no place after all who leave had left, to why: what is free
        only shrinks then, so they find none later in the round.
    room
        GPU type to leaves about which a choice is made.
    worth
        Utility of each configuration of each job about which a choice was made.
    reserved, closed
        GPU type to leaves that are held for jobs that waited too long, and to the free
        ones of them, which are cordoned on the copies.
    moved, kept, stopped, started, refused
        What is decided so far; all but moves by job.
    """

    def __init__(
        self,
        now: float,
        options: SchedulerOptions,
        whatif: WhatIf,
        table: ChoiceTable,
        types: Sequence[str],
        ledger: Ledger,
    ) -> None:
        self.now = now
        self.options = options
        self.whatif = whatif
        self.table = table
        self.types = tuple(types)
        self.columns = {type: at for at, type in enumerate(types)}
        self.ledger = ledger
        self.tenants = {name: at for at, name in enumerate(ledger.tenants())}
        self.clock = Clock()
        self.fixed: list[JobRecord] = []
        self.ending: list[JobRecord] = []
        self.pending: list[JobRecord] = []
        self.lame: dict[Job, Repair] = {}
        self.leaving: dict[Job, JobRecord] = {}
        self.moved: list[Moved] = []
        self.kept: dict[Job, Kept] = {}
        self.stopped: dict[Job, Stopped] = {}
        self.started: dict[Job, Started] = {}
        self.refused: dict[Job, Refused] = {}
        self.bids: dict[Job, Bid] = {}
        self.worth: dict[Job, NDArray[np.float64]] = {}
        self.cuts: list[Cut] = []
        self.unfit: dict[int, Misfit] = {}
        self.room: dict[str, int] = {}
        self.reserved: dict[str, list[int]] = {}
        self.closed: dict[str, list[int]] = {}
        self.budgets: NDArray[np.int64] | None = None
        self.objective: float | None = None
        self.bound: float | None = None
        self._accounts: TenantAccounts | None = None

    @property
    def accounts(self) -> TenantAccounts:
        """Of the tenants, as the ledger has them now."""
        if self._accounts is None:
            table = self.ledger.tenant_table()
            self._accounts = TenantAccounts(table.service, table.entitled, table.quota)
        return self._accounts

    def undecided(self) -> list[JobRecord]:
        """Ending and pending jobs of which nothing is decided, in order of submission."""
        decided = (self.kept, self.started, self.refused)
        return in_turn(
            one
            for one in (*self.ending, *self.pending)
            if not any(one.job in jobs for jobs in decided)
        )

    def keep(self, record: JobRecord, kept: Kept) -> bool:
        """Let a job keep its leaves, repaired if need be; whether it can."""
        if record.job in self.whatif.given:
            if not self.whatif.take_back(record.job):
                return False
        elif record.job in self.lame and not self._mend(record):
            self.whatif.give(record)
            self.stopped[record.job] = Stopped(Why.BROKEN, "others took what it needs")
            return False
        self.kept[record.job] = kept
        return True

    def may_keep(self, record: JobRecord) -> bool:
        """Whether :meth:`keep` would let it."""
        given = record.job in self.whatif.given
        return not given or self.whatif.is_intact(record.job)

    def _mend(self, record: JobRecord) -> bool:
        """Carry out the repair that was found before anybody gave leaves up."""
        repair = self.lame[record.job]
        try:
            self.whatif.of(record.type).apply(repair)
        except StalePlan:
            return False
        self.moved.append(Moved(record, repair, Why.FAILED))
        return True

    def start(
        self, record: JobRecord, configuration: int, why: Why
    ) -> Placement | Misfit:
        """Place a job that holds nothing on the copies."""
        type = record.types[configuration]
        gang = record.request.ways[configuration].gang
        placed = self.whatif.place(record.job, type, gang)
        if isinstance(placed, Placement):
            self.started[record.job] = Started(configuration, placed, why)
        return placed

    def start_with_room(
        self,
        record: JobRecord,
        configuration: int,
        yielding: Iterable[JobRecord],
        room: int,
        why: Why,
    ) -> Placement | Misfit:
        """Place a job, on leaves of others where no free ones will do.

        Parameters
        ----------
        yielding
            Who may give leaves up, first who should first. Twice as many are asked each
            time; who need not have yielded is back afterwards, the last asked first.
        room
            Leaves of the configuration's type that they have in all, at least.
        """
        type = record.types[configuration]
        short = record.request.ways[configuration].gpus - self.whatif.free(type)
        placed: Placement | Misfit | None = None
        if short <= 0 or short > room:
            placed = self.start(record, configuration, why)
            if placed or short > room:
                return placed
        given = self.whatif.given
        able = (one for one in yielding if one.type == type and one.job not in given)
        asked: list[JobRecord] = []
        while not placed:
            more = []
            for one in able:
                self.whatif.give(one)
                more.append(one)
                short -= one.gpus
                if short <= 0 and len(more) >= len(asked):
                    break
            if not more:
                break
            asked += more
            placed = self.start(record, configuration, why)
        self._take_back(asked, placed)
        return self.start(record, configuration, why) if placed is None else placed

    def _take_back(
        self, asked: list[JobRecord], placed: Placement | Misfit | None
    ) -> None:
        """Those whose leaves were not needed have them again, the last asked first."""
        taken: set[int] = set()
        if isinstance(placed, Placement):
            taken.update(placed.leaves.tolist())
        for one in reversed(asked):
            leaves = self.whatif.given[one.job].leaves
            if taken.isdisjoint(leaves.tolist()):
                self.whatif.take_back(one.job)
            else:
                self.whatif.lose(one.job)

    def cut(self, record: JobRecord, configuration: int, misfit: Misfit) -> None:
        """Note a choice that the topology cannot hold."""
        self.cuts.append(Cut(record.job, configuration, misfit))


def _sequence(record: JobRecord) -> int:
    return record.sequence


def in_turn(records: Iterable[JobRecord]) -> list[JobRecord]:
    """In order of submission."""
    return sorted(records, key=_sequence)


def is_running(record: JobRecord) -> bool:
    """Whether it starts or runs."""
    return record.state in (JobState.STARTING, JobState.RUNNING)


def room_of(records: Iterable[JobRecord], type: str) -> int:
    """Leaves of a type that jobs hold."""
    return sum(one.gpus for one in records if one.type == type)


def array(values: Iterable[Any], dtype: Any) -> NDArray[Any]:
    """One value a job as an array."""
    return np.array(list(values), dtype)

"""Order by what is owed: the most-owed tenant's most-owed job, again and again."""

from __future__ import annotations

from itertools import islice

import numpy as np

from phalanx_core.fairness import Candidates, allocate_round
from phalanx_core.placement import Misfit, Placement
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import (
    Kept,
    Refused,
    Round,
    array,
    room_of,
)


def choose(round: Round) -> None:
    """Give leases by the ledger, each placed by the planner before the next is chosen."""
    jobs = round.undecided()
    if not jobs:
        return
    _Turns(round, jobs).run()


class _Turns:
    """The candidates of a round, and who may still have to leave for them."""

    def __init__(self, round: Round, jobs: list[JobRecord]) -> None:
        self.round = round
        self.jobs = jobs
        ratio = round.ledger.job_ratios([one.job for one in jobs])
        rows = array((one.row for one in jobs), np.intp)
        self.candidates = Candidates(
            tenant=array((round.tenants[one.request.tenant] for one in jobs), np.int64),
            ratio=ratio,
            gpus=round.table.demand[rows].max(axis=(1, 2)),
            submitted=array((one.sequence for one in jobs), np.int64),
            never_ran=array((one.leases == 0 for one in jobs), np.bool_),
            urgent=array((one.request.urgent for one in jobs), np.bool_),
            leases=array((one.leases for one in jobs), np.int64),
        )
        tenant_ratio = round.accounts.ratio[self.candidates.tenant]
        order = np.lexsort((self.candidates.submitted, ratio, tenant_ratio))
        # Who holds leaves and has not had its turn, the least owed first.
        self.waiting = {jobs[at].job: jobs[at] for at in order[::-1] if jobs[at].holds}
        self.room = {type: room_of(self.waiting.values(), type) for type in round.types}

    def run(self) -> None:
        """Every candidate has its turn."""
        round, options = self.round, self.round.options
        round.clock.lap("fairness")
        allocate_round(
            self.candidates,
            round.accounts,
            options.lease_s,
            self.place,
            reward=options.reward,
            pass_over=options.pass_over,
        )
        for record in self.jobs:
            if record.job in round.kept or record.job in round.started:
                continue
            if record.holds:
                # Out of the round with its tenant, and nobody took its leaves.
                round.keep(record, Kept(Why.RENEWED))
            else:
                told = "its tenant was passed over before its turn"
                round.refused.setdefault(record.job, Refused(Why.OUTBID, told))
        round.clock.lap("place")

    def place(self, at: int) -> int:
        """GPUs that a job gets now, 0 where it cannot be placed."""
        round, record = self.round, self.jobs[at]
        if self.waiting.pop(record.job, None) is not None:
            self.room[record.type] -= record.gpus
        if record.holds and round.keep(record, Kept(Why.RENEWED)):
            return record.gpus
        misfit: Misfit | None = None
        for choice in record.choices:
            placed = self._start(record, choice)
            if not isinstance(placed, Misfit):
                return record.request.ways[choice].gpus
            misfit = placed if misfit is None else misfit
        if misfit is not None and not record.holds:
            round.refused[record.job] = Refused(Why.MISFIT, misfit)
        return 0

    def _start(self, record: JobRecord, choice: int) -> Placement | Misfit:
        """Place it, if need be on leaves of jobs that are owed less."""
        type, shape = record.types[choice], record.shapes[choice]
        known = self.round.unfit.get(shape)
        if known is not None:
            return known
        given = self.round.whatif.given
        before = len(given)
        placed = self.round.start_with_room(
            record, choice, self.waiting.values(), self.room[type], Why.CHOSEN
        )
        if isinstance(placed, Misfit):
            self.round.unfit[shape] = placed
        for job in list(islice(reversed(given), len(given) - before)):
            self.room[type] -= self.waiting.pop(job).gpus
        return placed

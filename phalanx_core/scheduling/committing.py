"""The last stage: what was tried becomes so, in planners, ledger and records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from phalanx_core.placement import Placement
from phalanx_core.placement.keys import Job
from phalanx_core.placement.limits import IntArray
from phalanx_core.scheduling.decision import Action, ActionKind, Decision, Why
from phalanx_core.scheduling.lease import Lease
from phalanx_core.scheduling.records import JobRecord, JobState
from phalanx_core.scheduling.round import Refused, Round, Started, Stopped, in_turn


class Freed(NamedTuple):
    """Leaves of a stopped job that became free since the last round."""

    job: Job
    type: str
    leaves: IntArray


class Commit:
    """Turns a round into actions.

    Parameters
    ----------
    round
        With everything decided.
    records
        All jobs, in order of submission.
    freed
        What was released since the last round.
    vacate
        Called with a job whose leaves are free, to end its lease in the tables.
    """

    def __init__(
        self,
        round: Round,
        records: Iterable[JobRecord],
        freed: Sequence[Freed],
        vacate: Callable[[JobRecord, float], None],
    ) -> None:
        self.round = round
        self.records = {one.job: one for one in records}
        self.freed = list(freed)
        self.vacate = vacate
        self.at_once = round.options.releases == "immediate"
        self.stops = self._stops()
        self.given: dict[Job, IntArray] = {}

    def _stops(self) -> dict[Job, Stopped]:
        """Who is told to leave in this round."""
        round = self.round
        stops = dict(round.stopped)
        for record in round.ending:
            job = record.job
            if job in round.kept or job in stops:
                continue
            started = round.started.get(job)
            changed = started is not None and (
                started.configuration != record.configuration
            )
            stops[job] = Stopped(Why.RECONFIGURED if changed else Why.LEASE_ENDED)
        return stops

    def prepare(self) -> None:
        """All that can still fail, on the copies."""
        round = self.round
        for job in self.stops:
            record = self.records[job]
            if job not in round.whatif.given:
                round.whatif.give(record)
        self.given = {job: one.leaves for job, one in round.whatif.given.items()}
        if not self.at_once:
            self._wait_for_leaves()
        for type, leaves in round.closed.items():
            round.whatif.of(type).uncordon(leaves)

    def take_over(self) -> Decision:
        """Make it so; the decision. To be run to its end."""
        round = self.round
        round.whatif.accept()
        actions = [*self._stopped(), *self._released(), *self._started()]
        actions += [*self._moved(), *self._kept(), *self._waiting()]
        round.clock.lap("commit")
        return Decision(
            now_s=round.now,
            actions=tuple(actions),
            cuts=tuple(round.cuts),
            budgets=round.budgets,
            objective=round.objective,
            bound=round.bound,
            times_s=round.clock.times_s,
        )

    def _wait_for_leaves(self) -> None:
        """Starts on leaves that are not released yet wait, and stopping jobs keep them."""
        round = self.round
        stopping: dict[str, list[IntArray]] = {}
        for one in round.whatif.given.values():
            stopping.setdefault(one.type, []).append(one.leaves)
        held = {type: np.concatenate(rows) for type, rows in stopping.items()}
        late: list[tuple[JobRecord, Started]] = []
        for job in list(round.started):
            started = round.started[job]
            configuration, placement, _ = started
            record = self.records[job]
            type = record.types[configuration]
            ends = job in self.stops
            if not ends and type not in held:
                continue
            if ends or np.isin(placement.leaves, held[type]).any():
                round.whatif.withdraw(job, type)
                del round.started[job]
                text = "" if ends else self._whose(type, placement.leaves)
                round.refused[job] = Refused(Why.HELD, text)
                if not ends:
                    late.append((record, started))
        for job in list(round.whatif.given):
            round.whatif.restore(job)
        self._elsewhere(late)

    def _elsewhere(self, late: Sequence[tuple[JobRecord, Started]]) -> None:
        """Who would have to wait starts on free leaves that hold it as near together.

        What is free among the leaves of those that wait on is not given away.
        """
        whatif = self.round.whatif
        kept: list[tuple[str, list[int]]] = []
        for record, (configuration, planned, _) in late:
            type = record.types[configuration]
            planner = whatif.of(type)
            free = planned.leaves[planner.unheld(planned.leaves)].tolist()
            planner.cordon(free)
            kept.append((type, free))
        for (record, started), (type, free) in zip(late, kept, strict=True):
            configuration, planned, why = started
            planner = whatif.of(type)
            planner.uncordon(free)
            found = self.round.start(record, configuration, why)
            if isinstance(found, Placement) and found.level <= planned.level:
                del self.round.refused[record.job]
                free.clear()
            else:
                if isinstance(found, Placement):
                    whatif.withdraw(record.job, type)
                    del self.round.started[record.job]
                planner.cordon(free)
        for type, free in kept:
            whatif.of(type).uncordon(free)

    def _whose(self, type: str, leaves: IntArray) -> str:
        given = self.round.whatif.given.items()
        of = [
            repr(job)
            for job, one in given
            if one.type == type and np.isin(leaves, one.leaves).any()
        ]
        return f"{placed(leaves)} of {', '.join(of)}"

    def _stopped(self) -> list[Action]:
        actions = []
        for record in in_turn(self.records[job] for job in self.stops):
            job, now = record.job, self.round.now
            why, detail = self.stops[job]
            actions.append(
                Action(
                    ActionKind.STOP,
                    job,
                    why,
                    detail,
                    self.given[job],
                    configuration=record.configuration,
                    type=record.type,
                    checkpoint=why is not Why.BROKEN,
                )
            )
            record.state, record.stop, record.stop_s = JobState.STOPPING, why, now
            record.lease = None
            if self.at_once:
                if why is not Why.BROKEN:  # whoever carries this out waits for it
                    record.save(record.request.checkpoint_s)
                self.freed.append(Freed(job, record.type, self.given[job]))
        return actions

    def _released(self) -> list[Action]:
        actions = [
            Action(
                ActionKind.RELEASE, one.job, Why.RELEASED, "", one.leaves, type=one.type
            )
            for one in self.freed
        ]
        if self.at_once:
            for job in self.stops:
                self.vacate(self.records[job], self.round.now)
        return actions

    def _started(self) -> list[Action]:
        round, now = self.round, self.round.now
        started = in_turn(self.records[job] for job in round.started)
        return [self._start(one, round.started[one.job], now) for one in started]

    def _start(self, record: JobRecord, started: Started, now: float) -> Action:
        configuration, placement, why = started
        record.waited_s += record.waiting_s(now)
        record.take(configuration)
        record.state = JobState.STARTING
        record.lease = Lease.granted(now, self.round.options.lease_s)
        record.leases += 1
        self.round.ledger.start(record.job, now, gpus=record.gpus)
        return Action(
            ActionKind.START,
            record.job,
            why,
            "",
            placement,
            configuration=configuration,
            type=record.type,
            lease_end_s=record.lease.end_s,
            worth=self._worth(record),
        )

    def _worth(self, record: JobRecord) -> float | None:
        row = self.round.worth.get(record.job)
        return None if row is None else float(row[record.configuration])

    def _moved(self) -> list[Action]:
        actions = []
        for record, repair, why in self.round.moved:
            if record.job in self.stops:
                continue
            failed = why is Why.FAILED
            if failed:
                record.lose()
            record.begin(record.request.cold_start_s)
            actions.append(
                Action(
                    ActionKind.MOVE,
                    record.job,
                    why,
                    "",
                    repair,
                    checkpoint=not failed,
                    configuration=record.configuration,
                    type=record.type,
                    lease_end_s=record.lease_end_s,
                )
            )
        return actions

    def _kept(self) -> list[Action]:
        round = self.round
        moved = {one.record.job for one in round.moved}
        where: dict[Job, Placement] = {}
        for type in round.types:
            where |= round.whatif.read(type).placements()
        actions = []
        for record in in_turn([*round.fixed, *round.ending]):
            job, kept = record.job, round.kept.get(record.job)
            if job in self.stops or (kept is None and job in moved):
                continue
            why, until, detail = kept or (Why.LEASED, None, "")
            renewed = why is not Why.LEASED or until is not None
            if renewed and record.lease is not None:
                length = round.options.lease_s if until is None else until - round.now
                record.lease = record.lease.renewed(round.now, length)
                record.leases += 1
            actions.append(
                Action(
                    ActionKind.KEEP,
                    job,
                    why,
                    detail,
                    where[job],
                    configuration=record.configuration,
                    type=record.type,
                    lease_end_s=record.lease_end_s,
                    checkpoint=renewed,
                    worth=self._worth(record),
                )
            )
        return actions

    def _waiting(self) -> list[Action]:
        round = self.round
        actions = []
        for job, record in self.records.items():
            if job in self.stops and (record.closed or not self.at_once):
                continue  # its stop is its outcome, or its release
            if record.state is JobState.STOPPING:
                why, detail = Why.STOPPING, f"since {record.stop_s:g} s"
                actions.append(
                    Action(
                        ActionKind.WAIT,
                        job,
                        why,
                        detail,
                        self.given.get(job),
                        configuration=record.configuration,
                        type=record.type,
                    )
                )
            elif record.state is JobState.PENDING:
                refused = round.refused.get(job) or Refused(Why.OUTBID)
                actions.append(
                    Action(ActionKind.WAIT, job, refused.why, refused.detail)
                )
        return actions


def placed(leaves: IntArray) -> str:
    """A count of leaves in words."""
    return f"{leaves.size} leaves" if leaves.size != 1 else "a leaf"

"""Early ends of leases, for jobs that just came or are urgent; only where configured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from phalanx_core.placement.keys import Job
from phalanx_core.placement.limits import IntArray
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.options import EarlyEviction
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Round, Stopped, in_turn, room_of


def evict(round: Round) -> None:
    """Try jobs that nobody chose on leaves of their tenant's that may be taken.

    Notes
    -----
    Urgent ones first, then in order of submission. The last that got its lease leaves
    first; what those evicted did since their last checkpoint is lost if their agent
    cannot save it. Jobs that move in this round stay, so that nobody has to stop on leaves
    that it has yet to reach, as do those whose leaves are held for who waited too long.
    """
    rule = round.options.early_eviction
    if rule is None:
        return
    able = [one for one in round.pending if _may_evict(round, rule, one)]
    able = sorted(in_turn(able), key=lambda one: not one.request.urgent)
    barred = _barred(round) if able else set()
    for record in able:
        yielding = [
            one
            for one in _last_first(round)
            if one.request.tenant == record.request.tenant
            and not one.request.urgent
            and one.job not in round.stopped
            and one.job not in barred
            and _may_leave(rule, one, round.now)
        ]
        for choice in _wanted(round, record):
            room = room_of(yielding, record.types[choice])
            if round.start_with_room(record, choice, yielding, room, Why.CHOSEN):
                round.refused.pop(record.job, None)
                break
        for one in yielding:
            if one.job in round.whatif.given:
                round.stopped[one.job] = Stopped(Why.EVICTED, f"for {record.job!r}")


def _may_evict(round: Round, rule: EarlyEviction, record: JobRecord) -> bool:
    if record.job in round.started:
        return False
    urgent = rule.for_urgent and record.request.urgent
    return urgent or (rule.for_new and record.leases == 0)


def _wanted(round: Round, record: JobRecord) -> Sequence[int]:
    """Configurations that are worth the threshold of admission, the best first."""
    ways, row = record.choices, round.worth.get(record.job)
    if row is None:
        return ways
    return [at for at in ways if row[at] >= round.options.idle]


def _barred(round: Round) -> set[Job]:
    """Jobs that just moved or could not, and those whose leaves are held for others."""
    moved = {one.record.job for one in round.moved}
    held = {type: np.array(own, np.int32) for type, own in round.reserved.items()}
    none = np.empty(0, np.int32)
    return moved.union(round.kept).union(
        one.job
        for one in round.fixed
        if np.isin(_leaves(round, one), held.get(one.type, none)).any()
    )


def _leaves(round: Round, record: JobRecord) -> IntArray:
    return round.whatif.read(record.type).placement(record.job).leaves


def _last_first(round: Round) -> Iterator[JobRecord]:
    held = [one for one in round.fixed if one.lease is not None]
    return iter(sorted(held, key=lambda one: (-_start(one), -one.sequence)))


def _start(record: JobRecord) -> float:
    assert record.lease is not None
    return record.lease.start_s


def _may_leave(rule: EarlyEviction, record: JobRecord, now: float) -> bool:
    lease = record.lease
    if lease is None:
        return False
    age = now - lease.start_s
    if lease.renewals:
        return age < rule.renewed_s
    return rule.first_s[0] <= age < rule.first_s[1]

"""Jobs that waited longer than the bound: first in line, and leaves held for them."""

from __future__ import annotations

import numpy as np

from phalanx_core.placement import Misfit, Placement
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Kept, Refused, Round, room_of
from phalanx_core.scheduling.whatif import WhatIf


def serve_overdue(round: Round) -> None:
    """Start whoever waited too long, or hold leaves until the leases on them end.

    Notes
    -----
    Who waited longest comes first. A job that fits on no free leaves, and on none whose
    lease is over, gets those that are free the soonest: free ones among them are closed
    to others in this round, and leases on them are not renewed beyond that time. All of
    it is found anew each round, and never later: what was held is still to be had. So
    where nothing fails, the k-th of the overdue starts within k leases and as many rounds
    of the first round that found it so; where stops are reported, each before the next
    round, within as many rounds more.
    """
    bound = round.options.waiting_bound_s
    late = [
        one
        for one in round.pending
        if one.waiting_s(round.now) > bound and one.job not in round.refused
    ]
    late.sort(key=lambda one: (one.waiting_since_s, one.sequence))
    left = round.options.reservations
    for record in late:
        if not _started(round, record) and left and _reserve(round, record):
            left -= 1


def _started(round: Round, record: JobRecord) -> bool:
    ways = record.choices
    yielding = [one for one in least_owed(round) if one.job not in round.kept]
    for others in ([], yielding):
        for at in ways:
            room = room_of(others, record.types[at])
            if round.start_with_room(record, at, others, room, Why.OVERDUE):
                return True
    return False


def least_owed(round: Round) -> list[JobRecord]:
    """Jobs whose lease is over, those first that may best leave.

    By priority, then by what their tenant is owed, then who came last.
    """
    if not round.ending:
        return []
    ratio = round.accounts.ratio
    place = {name: at for at, name in enumerate(round.ledger.tenants())}

    def key(record: JobRecord) -> tuple[float, ...]:
        owed = float(ratio[place[record.request.tenant]])
        return record.request.priority, -owed, -record.sequence

    return sorted(round.ending, key=key)


def _reserve(round: Round, record: JobRecord) -> bool:
    """Hold the leaves that are free the soonest for the best configuration, if any."""
    misfit: Misfit | None = None
    for at in record.choices:
        found = _soonest(round, record, at)
        if isinstance(found, Misfit):
            misfit = found if misfit is None else misfit
            continue
        placement, until = found
        _hold(round, record, at, placement, until)
        return True
    if misfit is not None:
        round.refused[record.job] = Refused(Why.MISFIT, misfit)
    return False


def _soonest(
    round: Round, record: JobRecord, at: int
) -> tuple[Placement, float] | Misfit:
    """Where a configuration would go first, and when the last lease on it ends."""
    type, gang = record.types[at], record.request.ways[at].gang
    running = [one for one in round.fixed if one.type == type and one.lease is not None]
    running.sort(key=lambda one: (_end(one), one.sequence))
    whatif = WhatIf({type: round.whatif.read(type)})
    # What is held for who waited longer is nobody else's.
    whatif.of(type).cordon(round.reserved.get(type, []))
    for one in round.ending:
        decided = one.job in round.kept or one.job in round.whatif.given
        if one.type == type and not decided:
            whatif.give(one)
    enough: Placement | None = None
    low, high = 0, len(running)
    given = 0
    misfit: Misfit | None = None
    tried = False
    # Releasing more never makes a gang unfit, so the least number is found by halving.
    while low <= high:
        middle = (low + high) // 2 if tried else high
        for one in running[given:middle]:
            whatif.give(one)
        for one in running[middle:given]:
            whatif.restore(one.job)
        given = middle
        answer = whatif.of(type).fits(gang)
        tried = True
        if isinstance(answer, Misfit):
            misfit = answer
            low = middle + 1
        else:
            enough, high = answer, middle - 1
    if enough is None:
        assert misfit is not None
        return misfit
    until = _end(running[high]) if high >= 0 else round.now
    return enough, until


def _end(record: JobRecord) -> float:
    assert record.lease is not None
    return record.lease.end_s


def _hold(
    round: Round, record: JobRecord, at: int, placement: Placement, until: float
) -> None:
    type = record.types[at]
    leaves = placement.leaves
    planner = round.whatif.of(type)
    free = leaves[planner.unheld(leaves)]
    planner.cordon(free)
    round.closed.setdefault(type, []).extend(free.tolist())
    round.reserved.setdefault(type, []).extend(leaves.tolist())
    wanted = set(leaves.tolist())
    for one in round.ending:
        if one.type != type or one.job in round.kept or one.job in round.whatif.given:
            continue
        if not wanted.isdisjoint(planner.placement(one.job).leaves.tolist()):
            text = f"until {until:g} s, then for {record.job!r}"
            round.keep(one, Kept(Why.RESERVED, until, text))
    waited = record.waiting_s(round.now)
    text = (
        f"{np.size(leaves)} leaves in {placement.domain_name} by {until:g} s; "
        f"it has waited {waited:g} s"
    )
    round.refused[record.job] = Refused(Why.RESERVED, text)

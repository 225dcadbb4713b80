"""Jobs that waited longer than the bound: first in line, and leaves held for them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from phalanx_core.placement import Misfit, Placement
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Kept, Refused, Round, room_of
from phalanx_core.scheduling.soonest import Soonest


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
    if late:
        _Line(round).serve(late)


class _Line:
    """Who waited too long, one after the other, and what is known to fit nowhere."""

    def __init__(self, round: Round) -> None:
        self.round = round
        self.by_debt = least_owed(round)
        # Shapes that fit on no free leaves, and on none of those whose lease is over.
        self.unfit: set[tuple[int, bool]] = set()
        # Shapes that do not fit however many leases end; leaves are only taken meanwhile.
        self.never: dict[int, Misfit] = {}

    def serve(self, late: Iterable[JobRecord]) -> None:
        """Start them or hold leaves for them, as far as there may be reservations."""
        left = self.round.options.reservations
        for record in late:
            if not self._starts(record) and left and self._reserves(record):
                left -= 1

    def _starts(self, record: JobRecord) -> bool:
        for gives_way in (False, True):
            for at in record.choices:
                key = record.shapes[at], gives_way
                if key in self.unfit:
                    continue
                others = self._yielding() if gives_way else []
                room = room_of(others, record.types[at])
                if self.round.start_with_room(record, at, others, room, Why.OVERDUE):
                    # Those who gave way may have left more than it took.
                    self.unfit.clear()
                    return True
                self.unfit.add(key)
        return False

    def _yielding(self) -> list[JobRecord]:
        return [one for one in self.by_debt if one.job not in self.round.kept]

    def _reserves(self, record: JobRecord) -> bool:
        """Hold the leaves that are free the soonest for the best configuration, if any."""
        misfit: Misfit | None = None
        for at in record.choices:
            shape = record.shapes[at]
            found = self.never.get(shape)
            if found is None:
                soonest = Soonest(self.round, record, at).found()
                if not isinstance(soonest, Misfit):
                    _hold(self.round, record, at, *soonest)
                    return True
                found = self.never[shape] = soonest
            misfit = found if misfit is None else misfit
        if misfit is not None:
            self.round.refused[record.job] = Refused(Why.MISFIT, misfit)
        return False


def least_owed(round: Round) -> list[JobRecord]:
    """Jobs whose lease is over, those first that may best leave.

    By priority, then by what their tenant is owed, then who came last.
    """
    if not round.ending:
        return []
    ratio = round.accounts.ratio

    def key(record: JobRecord) -> tuple[float, ...]:
        owed = float(ratio[round.tenants[record.request.tenant]])
        return record.request.priority, -owed, -record.sequence

    return sorted(round.ending, key=key)


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

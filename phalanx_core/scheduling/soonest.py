"""``Soonest``: the leaves that are free the soonest for a gang, as leases end."""

from __future__ import annotations

from phalanx_core.placement import Misfit, Placement
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Round
from phalanx_core.scheduling.whatif import WhatIf


class Soonest:
    """Leases of one GPU type, ended one after the other on a copy of its planner.

    Parameters
    ----------
    round
        With what is decided so far; it is not changed.
    record, at
        Who waits, and the configuration that is to fit.

    Notes
    -----
    Releasing more never makes a gang unfit, so the least number of leases is found by
    doubling and then halving: O(log) placements, and as many releases as leases end.
    """

    def __init__(self, round: Round, record: JobRecord, at: int) -> None:
        type = record.types[at]
        self._gang = record.request.ways[at].gang
        self._now = round.now
        self._running = [one for one in round.fixed if one.type == type and one.lease]
        self._running.sort(key=lambda one: (_end(one), one.sequence))
        self._whatif = WhatIf({type: round.whatif.read(type)})
        self._planner = self._whatif.of(type)
        # What is held for who waited longer is nobody else's.
        self._planner.cordon(round.reserved.get(type, []))
        for one in round.ending:
            decided = one.job in round.kept or one.job in round.whatif.given
            if one.type == type and not decided:
                self._whatif.give(one)
        self._ended = 0

    def found(self) -> tuple[Placement, float] | Misfit:
        """Where the gang goes first and when the last lease on it ends, or why never."""
        too_few, answer = -1, self._with(0)
        while isinstance(answer, Misfit):
            if self._ended == len(self._running):
                return answer
            too_few = self._ended
            answer = self._with(min(len(self._running), max(1, 2 * too_few)))
        enough = self._ended
        while enough - too_few > 1:
            tried = self._with((enough + too_few) // 2)
            if isinstance(tried, Misfit):
                too_few = self._ended
            else:
                enough, answer = self._ended, tried
        return answer, _end(self._running[enough - 1]) if enough else self._now

    def _with(self, ended: int) -> Placement | Misfit:
        """Where the gang goes once so many leases have ended."""
        for one in self._running[self._ended : ended]:
            self._whatif.give(one)
        for one in self._running[ended : self._ended]:
            self._whatif.restore(one.job)
        self._ended = ended
        return self._planner.fits(self._gang)


def _end(record: JobRecord) -> float:
    assert record.lease is not None
    return record.lease.end_s

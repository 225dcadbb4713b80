"""The first stage: broken and draining jobs get other leaves, or must leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from phalanx_core.placement import Repair
from phalanx_core.placement.keys import Job
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Kept, Moved, Round, Stopped, is_running


def repair(
    round: Round,
    records: Mapping[Job, JobRecord],
    draining: Mapping[str, Iterable[int]],
) -> None:
    """Move ranks off leaves that are down or closed, before anybody new gets leaves.

    Parameters
    ----------
    records
        All jobs.
    draining
        GPU type to leaves that are to become empty, none twice.

    Notes
    -----
    Jobs of a higher priority first, then in order of submission. A broken job that no
    moves repair must stop whole: half a gang helps nobody. One whose lease is over is
    repaired only once it is known that it stays.
    """
    broken = [
        records[job]
        for type in round.types
        for job in round.whatif.read(type).broken()
        if is_running(records[job]) and job not in round.stopped
    ]
    broken.sort(key=lambda one: (-one.request.priority, one.sequence))
    for record in broken:
        over = record.lease is not None and record.lease.is_over(round.now)
        answer = round.whatif.of(record.type).replan(record.job, apply=not over)
        if isinstance(answer, Repair) and over:
            round.lame[record.job] = answer
        elif isinstance(answer, Repair):
            round.moved.append(Moved(record, answer, Why.FAILED))
        else:
            round.stopped[record.job] = Stopped(Why.BROKEN, answer)
    for type, leaves in draining.items():
        _drain(round, records, type, list(leaves))


def _drain(
    round: Round, records: Mapping[Job, JobRecord], type: str, leaves: list[int]
) -> None:
    leaves = _of_movable(round, type, leaves)
    if not leaves:
        return
    now = round.now
    for job, answer in round.whatif.of(type).drain(leaves).items():
        record = records[job]
        over = record.lease is not None and record.lease.is_over(now)
        if isinstance(answer, Repair):
            if len(answer.moves):
                round.moved.append(Moved(record, answer, Why.DRAINING))
                # It has just moved, so who comes next is decided in the next round.
                if over:
                    round.lame.pop(record.job, None)
                    until = now + round.options.round_s
                    round.kept[record.job] = Kept(Why.LEASED, until)
        elif over:
            round.stopped[record.job] = Stopped(Why.DRAINED, answer)
        else:
            round.kept[record.job] = Kept(Why.LEASED, None, answer)


def _of_movable(round: Round, type: str, leaves: list[int]) -> list[int]:
    """Those that no leaving job holds: it gives them up as and where they are."""
    planner = round.whatif.read(type)
    staying: set[int] = set()
    for job in dict.fromkeys([*round.leaving, *round.stopped]):
        if job in planner:
            staying.update(planner.placement(job).leaves.tolist())
    return [leaf for leaf in leaves if leaf not in staying]

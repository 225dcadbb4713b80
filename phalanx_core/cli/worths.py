"""What configurations are worth in a round: the scores that the scheduler works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from phalanx_core.scheduling import JobStatus, SchedulerOptions
from phalanx_core.scheduling.feasible import Feasible
from phalanx_core.scoring import score


def worths(
    jobs: Sequence[JobStatus],
    now: float,
    feasible: Feasible,
    options: SchedulerOptions,
) -> Mapping[str, NDArray[np.float64]]:
    """Utility of each configuration of each job: float64, NaN where it cannot run.

    Parameters
    ----------
    jobs, now
        As they stand when a round begins, and when it does.
    feasible
        Made with the planners, memory and options of the scheduler.

    Notes
    -----
    What the scheduler calls ``score`` with: the sum over those that a round chose is the
    objective of its decision.
    """
    found = [feasible.of(one.request).goodput for one in jobs]
    most = max(map(len, found), default=0)
    if not most:
        return {}
    table = np.full((len(jobs), most), np.nan)
    for at, row in enumerate(found):
        table[at, : len(row)] = row
    total = options.age == "total"
    worth = score(
        table,
        [one.progress_s for one in jobs],
        [one.lost_s + one.checkpoint_cost_s for one in jobs],
        [one.request.restart_s for one in jobs],
        [one.waited_s if total else _waiting_s(one, now) for one in jobs],
        fairness=options.fairness,
        age_rate_per_s=options.age_rate_per_s,
        age_cap=options.age_cap,
        restart_floor=options.restart_floor,
        current=np.array([one.configuration for one in jobs], np.int64),
    )
    rows = np.asarray(worth, np.float64)
    return {
        str(one.job): rows[at, : len(found[at])].copy() for at, one in enumerate(jobs)
    }


def _waiting_s(job: JobStatus, now: float) -> float:
    """Seconds since it last had leaves; 0 while it has some."""
    return 0.0 if job.waiting_since_s is None else now - job.waiting_since_s

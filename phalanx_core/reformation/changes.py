"""Records with one thing changed, for the handlers of the transitions."""

from __future__ import annotations

from phalanx_core.reformation.guards import COMMIT, DRAIN, PLAN, REPAIR, RUN
from phalanx_core.reformation.records import Cause, Job, Phase, Records
from phalanx_core.reformation.rules import Rules


def with_job(records: Records, index: int, job: Job) -> Records:
    """The records with one job's replaced."""
    live, jobs, failures, suspect, lost = records
    jobs = (*jobs[:index], job, *jobs[index + 1 :])
    return Records(live, jobs, failures, suspect, lost)


def in_phase(job: Job, phase: Phase, cause: Cause = REPAIR) -> Job:
    """The job's records in another phase."""
    _, epoch, alloc, plan, sealed, fenced, _, base, uid = job
    return Job(phase, epoch, alloc, plan, sealed, fenced, cause, base, uid)


def proposed(job: Job, plan: int, cause: Cause) -> Job:
    """The job's records in Commit with a plan."""
    _, epoch, alloc, _, sealed, fenced, _, base, uid = job
    return Job(COMMIT, epoch, alloc, plan, sealed, fenced, cause, base, uid)


def sealing(job: Job, epoch: int) -> Job:
    """The job's records with a manifest of an epoch."""
    phase, current, alloc, plan, sealed, fenced, cause, base, uid = job
    sealed |= 1 << epoch
    return Job(phase, current, alloc, plan, sealed, fenced, cause, base, uid)


def returned(job: Job, rules: Rules) -> Job:
    """The job's records after its plan is dropped: it waits again, or just runs on."""
    if not rules.lifecycle:
        return in_phase(job, PLAN)
    _, epoch, alloc, _, sealed, fenced, cause, base, uid = job
    if job.cause >= DRAIN and rules.drain_returns:
        return Job(RUN, epoch, alloc, alloc, sealed, fenced, REPAIR, base, uid)
    if job.cause >= DRAIN:
        cause = REPAIR
    return Job(PLAN, epoch, alloc, 0, sealed, fenced, cause, base, uid)

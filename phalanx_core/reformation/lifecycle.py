"""Transitions of a job's life: admit, drain, resize, release; and a manifest's loss."""

from __future__ import annotations

from phalanx_core.reformation import guards
from phalanx_core.reformation.changes import proposed, with_job
from phalanx_core.reformation.events import Event, Refused
from phalanx_core.reformation.guards import (
    ADMIT,
    DRAIN,
    GONE,
    PLAN,
    REPAIR,
    RESIZE,
    RUN,
)
from phalanx_core.reformation.records import Job, Records
from phalanx_core.reformation.rules import Rules


def admit(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A job comes: it owns nothing, can restore from epoch 0, and waits (F14, F15)."""
    live, jobs, failures, suspect, lost = records
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if event.job == len(jobs):
        jobs = (*jobs, Job(GONE, 0, 0, 0, 0))
    old = jobs[event.job]
    if old.phase != GONE:
        return Refused(event.action, "job_gone")
    if event.uid != old.uid + 1:
        return Refused(event.action, "uid_fresh")
    job = Job(PLAN, 0, 0, 0, 1, old.fenced, ADMIT, -1, event.uid)
    return with_job(Records(live, jobs, failures, suspect, lost), event.job, job)


def drain(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A running job is offered as many leaves, none suspect; it does not stop (F13)."""
    index, plan = event.job, event.leaves
    job = records.jobs[index]
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if job.phase != RUN or guards.broken(records, job):
        return Refused(event.action, "running_whole")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not job.alloc & records.suspect:
        return Refused(event.action, "suspect_owned")
    if not guards.within(plan, guards.drain_bounds(records, index)):
        return Refused(event.action, "drain_bounds")
    if not guards.same_size(job, plan):
        return Refused(event.action, "same_size")
    job = proposed(job, plan, DRAIN)
    if not guards.first_served(records, index, job, rules):
        return Refused(event.action, "first_served")
    return with_job(records, index, job)


def resize(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A running job is offered more or fewer leaves; it does not stop (F14)."""
    index, plan = event.job, event.leaves
    job = records.jobs[index]
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if job.phase != RUN or guards.broken(records, job):
        return Refused(event.action, "running_whole")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if plan == job.alloc or not plan:
        return Refused(event.action, "size_changes")
    if guards.growing(job, plan) and not guards.within(
        plan, guards.resize_bounds(records, index)
    ):
        return Refused(event.action, "resize_bounds")
    job = proposed(job, plan, RESIZE)
    if not guards.first_served(records, index, job, rules):
        return Refused(event.action, "first_served")
    return with_job(records, index, job)


def release(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A job ends in any phase; a commit under way finds it gone (F14)."""
    live, jobs, failures, suspect, lost = records
    index = event.job
    job = jobs[index]
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if job.phase == GONE:
        return Refused(event.action, "job_there")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    fenced = job.fenced | job.alloc if rules.fence_freed else job.fenced
    gone = Job(GONE, 0, 0, 0, 0, fenced, REPAIR, -1, job.uid)
    jobs = (*jobs[:index], gone, *jobs[index + 1 :])
    return Records(live, jobs, failures, suspect, lost & ~job.alloc)


def lose(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A manifest can no longer be read; that of epoch 0 holds no state to lose (F5)."""
    phase, epoch, alloc, plan, sealed, fenced, cause, base, uid = records.jobs[
        event.job
    ]
    if not rules.losses:
        return Refused(event.action, "losses")
    if event.manifest < 1 or not sealed >> event.manifest & 1:
        return Refused(event.action, "losable")
    sealed &= ~(1 << event.manifest)
    job = Job(phase, epoch, alloc, plan, sealed, fenced, cause, base, uid)
    return with_job(records, event.job, job)

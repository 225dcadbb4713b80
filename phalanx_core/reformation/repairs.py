"""Transitions of a repair: detect, plan, commit or abort, restore, run; and seal."""

from __future__ import annotations

from phalanx_core.reformation import guards
from phalanx_core.reformation.changes import (
    in_phase,
    proposed,
    returned,
    sealing,
    with_job,
)
from phalanx_core.reformation.events import Event, Refused
from phalanx_core.reformation.guards import COMMIT, PLAN, REPAIR, RESTORE, RUN
from phalanx_core.reformation.records import Job, Records
from phalanx_core.reformation.rules import Rules


def detect(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A job that lost leaves stops and waits for a plan (F3)."""
    job = records.jobs[event.job]
    if not guards.may_detect(job, rules):
        return Refused(event.action, "may_detect")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not guards.broken(records, job):
        return Refused(event.action, "broken")
    if rules.lifecycle:  # nothing reads these until they are set again
        _, epoch, alloc, _, sealed, fenced, _, _, uid = job
        job = Job(PLAN, epoch, alloc, 0, sealed, fenced, REPAIR, -1, uid)
        return with_job(records, event.job, job)
    return with_job(records, event.job, in_phase(job, PLAN))


def plan(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A waiting job is offered leaves."""
    index, plan = event.job, event.leaves
    job = records.jobs[index]
    if job.phase != PLAN:
        return Refused(event.action, "in_plan")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not guards.within(plan, guards.plan_bounds(records, index, rules)):
        return Refused(event.action, "plan_bounds")
    if rules.fixed_gang and not guards.same_size(job, plan):
        return Refused(event.action, "same_size")
    if rules.lifecycle and not guards.first_served(records, index, job, rules):
        return Refused(event.action, "first_served")
    return with_job(records, index, proposed(job, plan, job.cause))


def commit(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A plan is taken: claims, gives up, and begins the next epoch, all at once (F2)."""
    index = event.job
    job = records.jobs[index]
    if job.phase != COMMIT:
        return Refused(event.action, "in_commit")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    refusal = guards.commit_refusal(records, index, rules)
    if refusal:
        return Refused(event.action, refusal)
    _, epoch, alloc, plan, sealed, fenced, _, _, uid = job
    live, jobs, failures, suspect, lost = records
    if rules.fence_freed:
        fenced |= alloc & ~plan
    job = Job(RESTORE, epoch + 1, plan, plan, sealed, fenced, REPAIR, -1, uid)
    jobs = (*jobs[:index], job, *jobs[index + 1 :])
    return Records(live, jobs, failures, suspect, lost & ~(alloc | plan))


def abort(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A plan that cannot be taken is dropped; complement of :func:`commit`."""
    job = records.jobs[event.job]
    if not rules.abort:
        return Refused(event.action, "abort")
    if job.phase != COMMIT:
        return Refused(event.action, "in_commit")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not guards.commit_refusal(records, event.job, rules):
        return Refused(event.action, "commit_refusal")
    return with_job(records, event.job, returned(job, rules))


def crash(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A restarted engine has forgotten what it proposed (F9)."""
    job = records.jobs[event.job]
    if not rules.crashes:
        return Refused(event.action, "crashes")
    if job.phase != COMMIT:
        return Refused(event.action, "in_commit")
    return with_job(records, event.job, returned(job, rules))


def seal(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A manifest of the current epoch is complete (Lemma 1, F6)."""
    job = records.jobs[event.job]
    if not guards.running(job):
        return Refused(event.action, "running")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    return with_job(records, event.job, sealing(job, event.epoch))


def restore(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A manifest of an earlier epoch is chosen; printed, the job runs as well (F3, F7)."""
    job = records.jobs[event.job]
    if job.phase != RESTORE:
        return Refused(event.action, "in_restore")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not guards.readable(job, event.manifest):
        return Refused(event.action, "readable")
    if rules.newest_manifest and not guards.newest(job, event.manifest):
        return Refused(event.action, "newest")
    if rules.restore_live and guards.broken(records, job):
        return Refused(event.action, "workers_live")
    if not rules.load_then_run:
        return with_job(records, event.job, in_phase(job, RUN))
    if event.manifest == job.base:
        return Refused(event.action, "base_changes")
    _, epoch, alloc, plan, sealed, fenced, cause, _, uid = job
    job = Job(RESTORE, epoch, alloc, plan, sealed, fenced, cause, event.manifest, uid)
    return with_job(records, event.job, job)


def run(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """All workers of the epoch have loaded the manifest (F3)."""
    job = records.jobs[event.job]
    if not rules.load_then_run:
        return Refused(event.action, "load_then_run")
    if job.phase != RESTORE or job.base < 0:
        return Refused(event.action, "loading")
    if not guards.token_current(job, event, rules):
        return Refused(event.action, "token_current")
    if not guards.readable(job, job.base):
        return Refused(event.action, "readable")
    if rules.restore_live and guards.broken(records, job):
        return Refused(event.action, "workers_live")
    return with_job(records, event.job, in_phase(job, RUN))

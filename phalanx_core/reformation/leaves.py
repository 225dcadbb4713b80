"""Transitions of leaves: they die, heal, come under a verdict, and are fenced."""

from __future__ import annotations

from phalanx_core.reformation.changes import with_job
from phalanx_core.reformation.events import Event, Refused
from phalanx_core.reformation.records import Job, Records
from phalanx_core.reformation.rules import Rules


def fail(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Leaves die; those that a job owns are lost to it (F12)."""
    live, jobs, failures, suspect, lost = records
    leaves = event.leaves
    if not leaves or leaves & ~live:
        return Refused(event.action, "leaves_live")
    if rules.incarnations:
        owned = 0
        for job in jobs:
            owned |= job.alloc
        lost |= leaves & owned
    return Records(live & ~leaves, jobs, failures + leaves.bit_count(), suspect, lost)


def heal(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Dead leaves come back, or new ones join; a verdict does not outlive a repair."""
    live, jobs, failures, suspect, lost = records
    leaves = event.leaves
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if not leaves or leaves & live:
        return Refused(event.action, "leaves_dead")
    return Records(live | leaves, jobs, failures, suspect & ~leaves, lost)


def suspect(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """A verdict is passed on leaves that still live (F13)."""
    live, jobs, failures, suspect, lost = records
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if not event.leaves or event.leaves & ~live:
        return Refused(event.action, "leaves_live")
    if event.leaves & suspect:
        return Refused(event.action, "leaves_trusted")
    return Records(live, jobs, failures, suspect | event.leaves, lost)


def trust(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """The verdict on leaves is withdrawn (F13)."""
    live, jobs, failures, suspect, lost = records
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if not event.leaves or event.leaves & ~suspect:
        return Refused(event.action, "leaves_suspect")
    return Records(live, jobs, failures, suspect & ~event.leaves, lost)


def fence(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """The agent of leaves confirms that nothing of their last owner runs there (F11)."""
    phase, epoch, alloc, plan, sealed, fenced, cause, base, uid = records.jobs[
        event.job
    ]
    leaves = event.leaves
    if not rules.lifecycle:
        return Refused(event.action, "lifecycle")
    if not leaves or leaves & ~fenced:
        return Refused(event.action, "leaves_fenced")
    if leaves & ~records.live:
        return Refused(event.action, "leaves_live")
    fenced &= ~leaves
    job = Job(phase, epoch, alloc, plan, sealed, fenced, cause, base, uid)
    return with_job(records, event.job, job)

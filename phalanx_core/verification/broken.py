"""Handlers of protocols that are wrong on purpose, for :mod:`.mutants`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from phalanx_core.reformation import (
    HANDLERS,
    Action,
    Cause,
    Event,
    Phase,
    Records,
    Refused,
    Rules,
    step,
)
from phalanx_core.reformation.changes import in_phase, proposed, sealing, with_job
from phalanx_core.reformation.enabling import Choices, candidates
from phalanx_core.reformation.guards import free_or_mine
from phalanx_core.reformation.transition import Handler

RUN, PLAN, COMMIT, RESTORE = Phase.RUN, Phase.PLAN, Phase.COMMIT, Phase.RESTORE


def replaced(action: Action, handler: Handler) -> tuple[Handler, ...]:
    """The protocol's handlers with one of them replaced."""
    return (*HANDLERS[:action], handler, *HANDLERS[action + 1 :])


def generous(
    records: Records, rules: Rules, choices: Choices
) -> Iterator[tuple[Event, int]]:
    """Every event that any printed mutant might accept, each once."""
    for index, job in enumerate(records.jobs):
        if job.phase == PLAN:
            for plan, count in choices.subsets(0, choices.everything):
                yield Event(Action.PLAN, index, plan, job.epoch), count
        if job.phase == RUN:
            yield Event(Action.DETECT, index, 0, job.epoch), 1
        for epoch in range(job.epoch + 1):
            yield Event(Action.SEAL, index, 0, epoch), 1
        if job.phase == COMMIT:
            yield Event(Action.COMMIT, index, 0, job.epoch), 1
            yield Event(Action.ABORT, index, 0, job.epoch), 1
        if job.phase == RESTORE:
            for manifest in range(job.epoch):
                yield Event(Action.RESTORE, index, 0, job.epoch, 0, manifest), 1
    for event, count in candidates(records, rules, choices):
        if event.action in (Action.FAIL, Action.LOSE):
            yield event, count


def plan_where(*, live: bool, owners: bool, empty: bool) -> Handler:
    """Plan that tests only what is asked for."""

    def plan(records: Records, event: Event, rules: Rules) -> Records | Refused:
        job, leaves = records.jobs[event.job], event.leaves
        if (
            job.phase != PLAN
            or (not leaves and not empty)
            or (live and leaves & ~records.live)
            or (owners and not free_or_mine(records, event.job, leaves))
        ):
            return Refused(event.action, "broken_plan")
        return with_job(records, event.job, proposed(job, leaves, Cause.REPAIR))

    return plan


def commit_stealing(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Commit without a guard: leaves are taken from whoever owns them."""
    job = records.jobs[event.job]
    if job.phase != COMMIT:
        return Refused(event.action, "in_commit")
    jobs = [one._replace(alloc=one.alloc & ~job.plan) for one in records.jobs]
    jobs[event.job] = job._replace(phase=RESTORE, epoch=job.epoch + 1, alloc=job.plan)
    return records._replace(jobs=tuple(jobs))


def commit_then(**changes: str) -> Handler:
    """Commit after which fields of the job are set by rules of the names given."""

    def commit(records: Records, event: Event, rules: Rules) -> Records | Refused:
        old = records.jobs[event.job]
        after = step(records, event, rules)
        if isinstance(after, Refused):
            return after
        new = after.jobs[event.job]
        values = {
            "same epoch": old.epoch,
            "epoch by two": old.epoch + 2,
            "old and new leaves": old.alloc | old.plan,
            "old planned leaves": old.alloc & old.plan,
            "run": RUN,
        }
        given: dict[str, Any] = {field: values[rule] for field, rule in changes.items()}
        return with_job(after, event.job, new._replace(**given))

    return commit


def commit_freeing(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Commit that frees every leaf outside the plan, those of others too."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    jobs = [one._replace(alloc=0) for one in after.jobs]
    jobs[event.job] = after.jobs[event.job]
    return after._replace(jobs=tuple(jobs))


def seal_where(*, phase: bool, token: bool) -> Handler:
    """Seal that tests only what is asked for: that the job runs, that it is current."""

    def seal(records: Records, event: Event, rules: Rules) -> Records | Refused:
        job = records.jobs[event.job]
        if (phase and job.phase != RUN) or (token and event.epoch != job.epoch):
            return Refused(event.action, "broken_seal")
        return with_job(records, event.job, sealing(job, event.epoch))

    return seal


def seal_next(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Seal of the epoch to come."""
    job = records.jobs[event.job]
    if job.phase != RUN or event.epoch != job.epoch:
        return Refused(event.action, "broken_seal")
    return with_job(records, event.job, sealing(job, job.epoch + 1))


def seal_only(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Seal after which older manifests are dropped."""
    job = records.jobs[event.job]
    if job.phase != RUN or event.epoch != job.epoch:
        return Refused(event.action, "broken_seal")
    return with_job(records, event.job, job._replace(sealed=1 << job.epoch))


def never(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """An action that does not exist."""
    return Refused(event.action, "never")


def detect_any(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Detect without a dead leaf."""
    job = records.jobs[event.job]
    if job.phase != RUN:
        return Refused(event.action, "may_detect")
    return with_job(records, event.job, in_phase(job, PLAN))


def abort_to_run(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Abort after which the broken job runs."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    return with_job(after, event.job, in_phase(after.jobs[event.job], RUN))


def restore_any(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Restore of a manifest whether or not it can be read."""
    job = records.jobs[event.job]
    if job.phase != RESTORE:
        return Refused(event.action, "in_restore")
    return with_job(records, event.job, in_phase(job, RUN))


def fence_unanswered(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Fence of a dead leaf, whose agent confirmed nothing."""
    job = records.jobs[event.job]
    if not event.leaves or event.leaves & ~job.fenced:
        return Refused(event.action, "leaves_fenced")
    fenced = job.fenced & ~event.leaves
    return with_job(records, event.job, job._replace(fenced=fenced))


def heal_forgetting(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Heal after which a job counts on a worker that is gone."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    return after._replace(lost=after.lost & ~event.leaves)


def admit_again(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Admit under the uid of the job that had the name before."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    uid = records.jobs[event.job].uid
    return with_job(after, event.job, after.jobs[event.job]._replace(uid=uid))


def release_at_once(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Release whose leaves are free before its workers have ended."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    fenced = records.jobs[event.job].fenced
    return with_job(after, event.job, after.jobs[event.job]._replace(fenced=fenced))


def lose_any(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Lose after which no manifest is left."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    return with_job(after, event.job, after.jobs[event.job]._replace(sealed=0))


def drain_stopping(records: Records, event: Event, rules: Rules) -> Records | Refused:
    """Drain that stops the job before it has its new leaves."""
    after = step(records, event, rules)
    if isinstance(after, Refused):
        return after
    return with_job(after, event.job, in_phase(after.jobs[event.job], PLAN))

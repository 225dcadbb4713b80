"""Properties of the protocol as printed: the paper's six, and a set that is strong enough.

Each is written from its definition on the records, not by the guards that should make it
hold. Names are those of the specifications.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phalanx_core.reformation import Action, Event, Job, Phase, Records
from phalanx_core.verification.model import Model, State

StateTest = Callable[[Model, Records], bool]
StepTest = Callable[[Model, Records, Event, Records], bool]

RUN, PLAN, COMMIT, RESTORE = Phase.RUN, Phase.PLAN, Phase.COMMIT, Phase.RESTORE


@dataclass(frozen=True)
class Invariant:
    """What holds in every state: its name, and the test of a model's state."""

    name: str
    holds: Callable[[Model, State], bool]


@dataclass(frozen=True)
class StepProperty:
    """What holds of every transition: its name, and the test of state, event, state."""

    name: str
    holds: Callable[[Model, State, Event, State], bool]


@dataclass(frozen=True)
class Recurs:
    """What is true again and again: ``not goal ~> goal``, one test for each job."""

    name: str
    goal: Callable[[Model, State, int], bool]


@dataclass(frozen=True)
class Settles:
    """What is true for ever from some time on: ``<>[]goal``."""

    name: str
    goal: Callable[[Model, State], bool]


def of_records(name: str, test: StateTest) -> Invariant:
    """An invariant whose test needs the records alone."""
    return Invariant(name, lambda model, state: test(model, state.records))


def of_steps(name: str, test: StepTest) -> StepProperty:
    """A property of transitions whose test needs the records alone."""
    return StepProperty(
        name,
        lambda model, before, event, after: (
            before.records is after.records
            or test(model, before.records, event, after.records)
        ),
    )


def type_ok(model: Model, records: Records) -> bool:
    """Sets hold leaves there are, phases are phases, and failures are within bounds."""
    leaves = model.scope.leaves
    return (
        not records.live >> leaves
        and 0 <= records.failures <= model.scope.failures
        and len(records.jobs) == model.scope.jobs
        and all(
            not (job.alloc | job.plan | job.fenced) >> leaves
            and job.phase in Phase
            and job.epoch >= 0
            for job in records.jobs
        )
    )


def seal_bound(model: Model, records: Records) -> bool:
    """A job has a manifest, and none of an epoch to come (Invariant 1)."""
    return all(
        job.sealed != 0 and not job.sealed >> (job.epoch + 1)
        for job in records.jobs
        if job.phase != Phase.GONE
    )


def _witnessed(job: Job) -> bool:
    return job.sealed & ((1 << job.epoch) - 1) != 0


def run_witness(model: Model, records: Records) -> bool:
    """A job that runs after a reformation has a manifest of an earlier epoch."""
    return all(
        _witnessed(job) for job in records.jobs if job.phase == RUN and job.epoch > 0
    )


def restore_ready(model: Model, records: Records) -> bool:
    """A job that restores has a manifest of an earlier epoch."""
    return all(_witnessed(job) for job in records.jobs if job.phase == RESTORE)


def epoch_monotone(model: Model, before: Records, event: Event, after: Records) -> bool:
    """No epoch falls (Invariant 3)."""
    return all(
        new.epoch >= old.epoch for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def footprint(model: Model, records: Records) -> bool:
    """A job that restores or runs owns what it planned, no more and no less."""
    return all(
        job.alloc == job.plan
        for job in records.jobs
        if job.epoch > 0 and job.phase in (RESTORE, RUN)
    )


def non_empty(model: Model, records: Records) -> bool:
    """Every job owns a leaf."""
    return all(job.alloc for job in records.jobs)


def epoch_bound(model: Model, records: Records) -> bool:
    """A job reforms at most once a failure."""
    return all(job.epoch <= model.scope.failures for job in records.jobs)


def no_theft(model: Model, before: Records, event: Event, after: Records) -> bool:
    """Nobody loses a leaf but by its own commit, and no leaf has two owners."""
    owned = 0
    for job in after.jobs:
        if owned & job.alloc:
            return False
        owned |= job.alloc
    return all(
        not old.alloc & ~new.alloc or (old.phase == COMMIT and new.phase == RESTORE)
        for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def seal_fence(model: Model, before: Records, event: Event, after: Records) -> bool:
    """Manifests come of the current epoch, while its job runs; one goes if it is lost."""
    if event.action == Action.LOSE:
        gone = 1 << event.manifest
        return after.jobs[event.job].sealed == before.jobs[event.job].sealed & ~gone
    return all(
        new.sealed == old.sealed
        or (
            old.phase == RUN
            and not old.sealed & ~new.sealed
            and new.sealed & ~old.sealed == 1 << old.epoch
        )
        for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def epoch_step(model: Model, before: Records, event: Event, after: Records) -> bool:
    """An epoch ends by a commit, which leads to Restore, and by one."""
    return all(
        new.epoch == old.epoch
        or (new.epoch == old.epoch + 1 and old.phase == COMMIT and new.phase == RESTORE)
        for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def commit_planned(model: Model, before: Records, event: Event, after: Records) -> bool:
    """After a commit its job owns exactly what was planned."""
    return all(
        new.alloc == old.plan
        for old, new in zip(before.jobs, after.jobs, strict=True)
        if old.phase == COMMIT and new.phase == RESTORE
    )


def plan_feasible(model: Model, before: Records, event: Event, after: Records) -> bool:
    """A plan has leaves, all of them live, and none of another job."""
    for index, (old, new) in enumerate(zip(before.jobs, after.jobs, strict=True)):
        if old.phase == PLAN and new.phase == COMMIT:
            others = 0
            for other, job in enumerate(before.jobs):
                others |= job.alloc if other != index else 0
            if not new.plan or new.plan & ~before.live or new.plan & others:
                return False
    return True


PHASE_STEPS = (
    (RUN, PLAN),
    (PLAN, COMMIT),
    (COMMIT, RESTORE),
    (COMMIT, PLAN),
    (RESTORE, RUN),
)


def phase_step(model: Model, before: Records, event: Event, after: Records) -> bool:
    """Phases follow each other as drawn; from Restore back to Plan where that is fixed."""
    allowed: tuple[tuple[Phase, Phase], ...] = PHASE_STEPS
    if model.rules.detect_in_restore:
        allowed = (*PHASE_STEPS, (RESTORE, PLAN))
    return all(
        new.phase == old.phase or (old.phase, new.phase) in allowed
        for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def detect_real(model: Model, before: Records, event: Event, after: Records) -> bool:
    """A job stops running only when a leaf of it is dead."""
    return all(
        old.alloc & ~before.live != 0
        for old, new in zip(before.jobs, after.jobs, strict=True)
        if old.phase == RUN and new.phase == PLAN
    )


def restore_read(model: Model, before: Records, event: Event, after: Records) -> bool:
    """What is restored is a manifest of an earlier epoch that can be read."""
    if event.action != Action.RESTORE:
        return True
    job = before.jobs[event.job]
    return event.manifest < job.epoch and job.sealed >> event.manifest & 1 == 1


def _runs(model: Model, state: State, job: int) -> bool:
    return state.records.jobs[job].phase == RUN


def _sealed(model: Model, state: State, job: int) -> bool:
    """The current epoch has a manifest, or the job does not run."""
    one = state.records.jobs[job]
    return one.phase != RUN or one.sealed >> one.epoch & 1 == 1


def healthy(model: Model, state: State) -> bool:
    """Every job runs on leaves of its own that all live."""
    live = state.records.live
    return all(
        job.phase == RUN and job.alloc != 0 and not job.alloc & ~live
        for job in state.records.jobs
    )


PAPER_INVARIANTS = (
    of_records("TypeOK", type_ok),
    of_records("SealBound", seal_bound),
    of_records("RunWitness", run_witness),
    of_records("RestoreReady", restore_ready),
)
PAPER_STEPS = (of_steps("EpochMonotone", epoch_monotone),)
REFORM_LIVE = Recurs("ReformLive", _runs)
ESR = Settles("ESR", healthy)
SEAL_LIVE = Recurs("SealLive", _sealed)
"""A manifest of a running epoch comes, and comes again when it is lost; it needs weak
fairness of SEAL, which the printed protocol does not have."""

STRONG_INVARIANTS = (
    *PAPER_INVARIANTS,
    of_records("Footprint", footprint),
    of_records("NonEmpty", non_empty),
    of_records("EpochBound", epoch_bound),
)
STRONG_STEPS = (
    *PAPER_STEPS,
    of_steps("NoTheft", no_theft),
    of_steps("SealFence", seal_fence),
    of_steps("EpochStep", epoch_step),
    of_steps("CommitPlanned", commit_planned),
    of_steps("PlanFeasible", plan_feasible),
    of_steps("PhaseStep", phase_step),
    of_steps("DetectReal", detect_real),
)
RESTORE_READ = of_steps("RestoreRead", restore_read)
"""Printed, Restore's witness always exists; where manifests are lost, this says which."""

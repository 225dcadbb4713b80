"""Properties of the hardened protocol, and the scopes in which they are checked.

They see the world as it is: which workers are gone, and where old ones still run.
"""

from __future__ import annotations

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Cause,
    Event,
    Job,
    Phase,
    Records,
)
from phalanx_core.verification.model import Model, Scope, State
from phalanx_core.verification.properties import (
    Invariant,
    Settles,
    StepProperty,
    footprint,
    of_records,
    of_steps,
    restore_read,
    restore_ready,
    seal_bound,
    type_ok,
)

GONE, RUN, PLAN = Phase.GONE, Phase.RUN, Phase.PLAN
COMMIT, RESTORE = Phase.COMMIT, Phase.RESTORE
OFFERED = (Cause.DRAIN, Cause.RESIZE)


def _works(job: Job) -> bool:
    """Its workers run, offered other leaves or not."""
    return job.phase == RUN or (job.phase == COMMIT and job.cause in OFFERED)


def exclusive(model: Model, state: State) -> bool:
    """A leaf has one owner, and no worker of another token runs on it."""
    assert state.world is not None
    taken = 0
    for mask in state.world.zombies:
        taken |= mask
    for job in state.records.jobs:
        if taken & job.alloc:
            return False
        taken |= job.alloc
    return True


def run_witness(model: Model, records: Records) -> bool:
    """A job that runs after a commit has loaded a manifest of an earlier epoch."""
    return all(
        0 <= job.base < job.epoch
        for job in records.jobs
        if _works(job) and job.epoch > 0
    )


def non_empty(model: Model, records: Records) -> bool:
    """A job that restores or works owns a leaf, and one that is gone none."""
    return all(
        bool(job.alloc) == (job.phase != GONE)
        for job in records.jobs
        if job.phase in (GONE, RUN, RESTORE) or _works(job)
    )


def lost_known(model: Model, state: State) -> bool:
    """The records know of every owned leaf whose worker is gone."""
    assert state.world is not None
    return state.records.lost == state.world.gone


def epoch_step(model: Model, before: Records, event: Event, after: Records) -> bool:
    """An epoch ends by a commit, and by one; with a release the job ends, too."""
    return all(
        new.epoch == old.epoch
        or (new.epoch == old.epoch + 1 and old.phase == COMMIT and new.phase == RESTORE)
        or (new.epoch == 0 and event.action == Action.RELEASE and new.phase == GONE)
        for old, new in zip(before.jobs, after.jobs, strict=True)
    )


def no_theft(model: Model, before: Records, event: Event, after: Records) -> bool:
    """Nobody loses or gets a leaf but by its own commit or release."""
    return all(
        old.alloc == new.alloc
        or (index == event.job and event.action in (Action.COMMIT, Action.RELEASE))
        for index, (old, new) in enumerate(zip(before.jobs, after.jobs, strict=True))
    )


def seal_fence(model: Model, before: Records, event: Event, after: Records) -> bool:
    """A manifest comes of the current epoch and job alone, while it works (F6, F15)."""
    if event.action != Action.SEAL:
        return True
    old, new = before.jobs[event.job], after.jobs[event.job]
    return (
        _works(old)
        and (event.epoch, event.uid) == (old.epoch, old.uid)
        and new.sealed == old.sealed | 1 << old.epoch
    )


def run_step(model: Model, before: State, event: Event, after: State) -> bool:
    """A job begins to run with the current token and every worker there (F3)."""
    old = before.records.jobs[event.job]
    if old.phase != RESTORE or after.records.jobs[event.job].phase != RUN:
        return True
    assert before.world is not None
    missing = old.alloc & (~before.records.live | before.world.gone)
    return not missing and (event.epoch, event.uid) == (old.epoch, old.uid)


def no_dead_claim(model: Model, before: Records, event: Event, after: Records) -> bool:
    """After a commit its job owns live leaves only (F2)."""
    return (
        event.action != Action.COMMIT or not after.jobs[event.job].alloc & ~before.live
    )


def no_suspect_claim(
    model: Model, before: Records, event: Event, after: Records
) -> bool:
    """No commit claims a leaf that is suspect (F13)."""
    old, new = before.jobs[event.job], after.jobs[event.job]
    return event.action != Action.COMMIT or not new.alloc & ~old.alloc & before.suspect


def commit_planned(model: Model, before: Records, event: Event, after: Records) -> bool:
    """After a commit its job owns exactly what was planned."""
    return (
        event.action != Action.COMMIT
        or after.jobs[event.job].alloc == before.jobs[event.job].plan
    )


def stop_real(model: Model, before: State, event: Event, after: State) -> bool:
    """A job stops working or loading when it broke, ends, or has its new leaves (F13)."""
    old, new = before.records.jobs[event.job], after.records.jobs[event.job]
    if event.action <= Action.TRUST or _works(new):
        return True
    if not _works(old) and (old.phase != RESTORE or new.phase == RESTORE):
        return True
    assert before.world is not None
    broke = old.alloc & (~before.records.live | before.world.gone)
    committed = event.action == Action.COMMIT and new.phase == RESTORE
    return bool(broke) or committed or event.action == Action.RELEASE


def repairs_first(model: Model, before: Records, event: Event, after: Records) -> bool:
    """Who claims leaves while another job waits for repair is under repair (F14)."""
    old, new = before.jobs[event.job], after.jobs[event.job]
    if event.action != Action.COMMIT or not new.alloc & ~old.alloc:
        return True
    if old.cause == Cause.REPAIR:
        return True
    ill = ~before.live | before.lost
    return not any(
        other.alloc & ill
        or (other.phase in (PLAN, COMMIT) and other.cause == Cause.REPAIR)
        for index, other in enumerate(before.jobs)
        if index != event.job
    )


def restore_newest(model: Model, before: Records, event: Event, after: Records) -> bool:
    """What is restored is the newest manifest that can be read (F7)."""
    if event.action != Action.RESTORE:
        return True
    job = before.jobs[event.job]
    readable = job.sealed & ((1 << job.epoch) - 1)
    return readable.bit_length() - 1 == event.manifest


def healthy(model: Model, state: State) -> bool:
    """Every job runs with all workers there, is gone, or waits where no leaf is left.

    The last is assumption A4: a job that nothing can be given is not the protocol's fault.
    """
    records, world = state
    assert world is not None
    taken = 0
    for job in records.jobs:
        taken |= job.alloc | job.fenced
    room = records.live & ~taken & ~records.suspect
    for job in records.jobs:
        if job.phase == RUN:
            if not job.alloc or job.alloc & (~records.live | world.gone):
                return False
        elif job.phase != GONE and (
            job.phase != PLAN or room or job.alloc & records.live
        ):
            return False
    return True


def all_run(model: Model, state: State) -> bool:
    """Every job runs with all workers there, whatever leaves there are."""
    assert state.world is not None
    ill = ~state.records.live | state.world.gone
    return all(
        job.phase == RUN and job.alloc and not job.alloc & ill
        for job in state.records.jobs
    )


def uid_fresh(model: Model, before: Records, event: Event, after: Records) -> bool:
    """A job that comes has a uid that no job of its name had (F15)."""
    old, new = before.jobs[event.job], after.jobs[event.job]
    return event.action != Action.ADMIT or new.uid > old.uid


INVARIANTS = (
    of_records("TypeOK", type_ok),
    of_records("SealBound", seal_bound),
    of_records("RunWitness", run_witness),
    of_records("RestoreReady", restore_ready),
    of_records("Footprint", footprint),
    of_records("NonEmpty", non_empty),
    Invariant("Exclusive", exclusive),
    Invariant("LostKnown", lost_known),
)
STEPS = (
    of_steps("EpochStep", epoch_step),
    of_steps("NoTheft", no_theft),
    of_steps("SealFence", seal_fence),
    StepProperty("RunStep", run_step),
    of_steps("NoDeadClaim", no_dead_claim),
    of_steps("NoSuspectClaim", no_suspect_claim),
    of_steps("CommitPlanned", commit_planned),
    StepProperty("StopReal", stop_real),
    of_steps("RepairsFirst", repairs_first),
    of_steps("RestoreRead", restore_read),
    of_steps("RestoreNewest", restore_newest),
    of_steps("UidFresh", uid_fresh),
)
ESR_ALL = Settles("ESR", all_run)
"""Every job runs in the end: where there are leaves for all."""
ESR_ROOM = Settles("ESR", healthy)
"""Every job runs in the end for which there is a leaf: where jobs come and go."""

SCOPES: dict[str, Scope] = {
    "repair": Scope(2, 7, 2),
    "heal": Scope(2, 5, 2, sizes=(2, 2), allowed=((Action.HEAL, 2),)),
    "drain": Scope(
        2, 5, 1, sizes=(2, 2), allowed=((Action.SUSPECT, 2), (Action.TRUST, 1))
    ),
    "drain and heal": Scope(
        2, 5, 1, sizes=(2, 2), allowed=((Action.SUSPECT, 1), (Action.HEAL, 1))
    ),
    "admit": Scope(
        2, 5, 1, sizes=(2, 2), allowed=((Action.RELEASE, 1), (Action.ADMIT, 2))
    ),
    "resize": Scope(2, 5, 1, sizes=(2, 2), allowed=((Action.RESIZE, 2),)),
    "lose": Scope(2, 5, 2, sizes=(2, 2), allowed=((Action.LOSE, 2),)),
    "crash": Scope(2, 5, 2, sizes=(2, 2), allowed=((Action.CRASH, 2),)),
}
"""Scopes that together use every action, each small enough for every test run."""


def hardened_model(name: str) -> Model:
    """The hardened protocol in a scope of :data:`SCOPES`.

    Examples
    --------
    >>> hardened_model("heal").scope.failures
    2
    """
    return Model(SCOPES[name], HARDENED)

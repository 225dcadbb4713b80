"""Guards of the transitions: each a question with one answer, and the fault it prevents.

F-numbers are those of the faults of the printed protocol, listed in ARCHITECTURE.md.
"""

from __future__ import annotations

from phalanx_core.reformation.events import Event
from phalanx_core.reformation.records import Cause, Job, Phase, Records, held_by
from phalanx_core.reformation.rules import Rules

GONE, RUN, PLAN = Phase.GONE, Phase.RUN, Phase.PLAN
COMMIT, RESTORE = Phase.COMMIT, Phase.RESTORE
REPAIR, ADMIT, DRAIN, RESIZE = Cause.REPAIR, Cause.ADMIT, Cause.DRAIN, Cause.RESIZE


def token_current(job: Job, event: Event, rules: Rules) -> bool:
    """The sender speaks for this job and epoch, not for an earlier one (Lemma 1, F15)."""
    return not (
        (rules.tokens and event.epoch != job.epoch)
        or (rules.uids and event.uid != job.uid)
    )


def running(job: Job) -> bool:
    """Its workers run: in Run, or while a drain or resize is only proposed (F6, F13)."""
    phase = job.phase
    return phase == RUN or (phase == COMMIT and job.cause >= DRAIN)


def broken(records: Records, job: Job) -> bool:
    """A leaf it owns is dead, or died and healed since its commit (F3, F12)."""
    return job.alloc & (~records.live | records.lost) != 0


def may_detect(job: Job, rules: Rules) -> bool:
    """Deaths are detected in Run, and in Restore, where nothing else would (F3)."""
    phase = job.phase
    return phase == RUN or (phase == RESTORE and rules.detect_in_restore)


def repair_waits(records: Records, job: int) -> bool:
    """Another job is broken or plans a repair, so it goes first (F14)."""
    ill = ~records.live | records.lost
    for index, one in enumerate(records.jobs):
        if index != job and (
            one.alloc & ill or (one.phase in (PLAN, COMMIT) and one.cause == REPAIR)
        ):
            return True
    return False


def growing(job: Job, plan: int) -> bool:
    """A resize asks for leaves that the job does not own."""
    return plan & ~job.alloc != 0


def first_served(records: Records, index: int, job: Job, rules: Rules) -> bool:
    """A claim that is no repair, nor a shrink, waits until no repair does (F14)."""
    return not (
        rules.repairs_first
        and job.cause != REPAIR
        and (job.cause != RESIZE or growing(job, job.plan))
        and repair_waits(records, index)
    )


def plan_bounds(records: Records, index: int, rules: Rules) -> tuple[int, int]:
    """Leaves that a plan of a waiting job must have, and those that it may have besides.

    Survivors are pinned, so that no job gives up what it may not get back (F1); suspect
    leaves are not claimed, and those it owns need not be kept (F13).

    Returns
    -------
    Two disjoint masks.
    """
    job = records.jobs[index]
    may = records.live & ~held_by(records, index)
    must = 0
    if rules.avoid_suspects:
        may &= ~records.suspect | job.alloc
    if rules.pin_survivors:
        must = job.alloc & records.live & ~records.lost
        if rules.avoid_suspects:
            must &= ~records.suspect
    return must, may & ~must


def drain_bounds(records: Records, index: int) -> tuple[int, int]:
    """As :func:`plan_bounds` for a drain: what is trusted stays, what is free may come."""
    job = records.jobs[index]
    must = job.alloc & ~records.suspect
    may = records.live & ~records.suspect & ~held_by(records, index)
    return must, may & ~must


def resize_bounds(records: Records, index: int) -> tuple[int, int]:
    """As :func:`plan_bounds` for a growth: all that is owned, and what is free."""
    job = records.jobs[index]
    may = records.live & ~records.suspect & ~held_by(records, index)
    return job.alloc, may & ~job.alloc


def within(plan: int, bounds: tuple[int, int]) -> bool:
    """A plan has a leaf, all that it must have, and nothing that it may not have."""
    must, may = bounds
    return plan != 0 and not must & ~plan and not plan & ~(must | may)


def same_size(job: Job, plan: int) -> bool:
    """A plan has as many leaves as the job owns."""
    return plan.bit_count() == job.alloc.bit_count()


def free_or_mine(records: Records, index: int, plan: int) -> bool:
    """No planned leaf is another's or fenced: the paper's CommitGuard, with F11."""
    return not plan & held_by(records, index)


def claims_trusted(records: Records, job: Job, rules: Rules) -> bool:
    """No leaf that is claimed came under a verdict after the plan was made (F13)."""
    return not (rules.avoid_suspects and job.plan & ~job.alloc & records.suspect)


def drain_wanted(records: Records, job: Job) -> bool:
    """A leaf that a drain leaves behind is still suspect, dead or lost (F13)."""
    ill = records.suspect | ~records.live | records.lost
    return job.cause != DRAIN or job.alloc & ~job.plan & ill != 0


def commit_refusal(records: Records, index: int, rules: Rules) -> str:
    """Name of the guard that keeps a job's plan from being committed; "" if none does.

    Commit needs "", Abort needs a name: of the two exactly one is possible.
    """
    job = records.jobs[index]
    if not free_or_mine(records, index, job.plan):
        return "free_or_mine"
    if rules.commit_live and job.plan & ~records.live:
        return "claims_live"
    if rules.lifecycle:
        if not claims_trusted(records, job, rules):
            return "claims_trusted"
        if not drain_wanted(records, job):
            return "drain_wanted"
        if not first_served(records, index, job, rules):
            return "first_served"
    return ""


def readable(job: Job, manifest: int) -> bool:
    """A manifest of an earlier epoch can be read: Restore's witness."""
    return manifest < job.epoch and job.sealed >> manifest & 1 == 1


def newest(job: Job, manifest: int) -> bool:
    """No manifest between this and the current epoch can be read (F7)."""
    return not job.sealed & ((1 << job.epoch) - 1) >> (manifest + 1) << (manifest + 1)

"""Transitions of the hardened protocol by cases, their effects and their refusals."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest, InvariantBroken, UnknownJob
from phalanx_core.reformation import (
    FIXED,
    HARDENED,
    PRINTED,
    Action,
    Cause,
    Effect,
    Event,
    Job,
    Phase,
    Records,
    Refused,
    Rules,
    check,
    free,
    started,
    transition,
)

FAIL, HEAL, SUSPECT, TRUST = Action.FAIL, Action.HEAL, Action.SUSPECT, Action.TRUST


def ran(records: Records, *events: Event, rules: Rules = HARDENED) -> Records:
    """Records after events that must all be taken."""
    for event in events:
        answer = transition(records, event, rules)
        assert not isinstance(answer, Refused), (event, answer)
        records = answer[0]
        check(records)
    return records


def refused(records: Records, event: Event, rules: Rules = HARDENED) -> str:
    """Guard that refuses an event."""
    answer = transition(records, event, rules)
    assert isinstance(answer, Refused)
    assert answer.action is event.action
    return answer.guard


PAIR = started([0b00011, 0b01100], 5)
"""Two jobs of two leaves, and leaf 4 free."""

REPAIR = (
    Event(FAIL, leaves=0b00001),
    Event(Action.DETECT, 0),
    Event(Action.PLAN, 0, 0b10010),
    Event(Action.COMMIT, 0),
    Event(Action.RESTORE, 0, epoch=1, manifest=0),
    Event(Action.RUN, 0, epoch=1),
)


def test_a_repair() -> None:
    """A dead leaf is replaced by the free one, and is fenced before it is free."""
    after = ran(PAIR, *REPAIR)
    job = Job(Phase.RUN, 1, 0b10010, 0b10010, 0b1, 0b00001, Cause.REPAIR, base=0, uid=0)
    assert after == Records(0b11110, (job, PAIR.jobs[1]), failures=1)
    assert free(after) == 0
    assert refused(after, Event(Action.FENCE, 0, 0b1)) == "leaves_live"
    healed = ran(after, Event(HEAL, leaves=0b1))
    assert free(healed) == 0
    assert free(ran(healed, Event(Action.FENCE, 0, 0b1))) == 0b1


def test_effects_in_order() -> None:
    """A commit writes owners and epoch, stops, fences and starts; a plan does nothing."""
    effects, records = {}, PAIR
    for event in REPAIR:
        records, effects[event.action] = transition(records, event)
    assert effects == {
        FAIL: (),
        Action.DETECT: (Effect.WRITE_EPOCH, Effect.STOP),
        Action.PLAN: (),
        Action.COMMIT: (
            Effect.WRITE_ALLOC,
            Effect.WRITE_EPOCH,
            Effect.STOP,
            Effect.FENCE_FREED,
            Effect.START,
        ),
        Action.RESTORE: (Effect.WRITE_EPOCH, Effect.LOAD),
        Action.RUN: (Effect.WRITE_EPOCH,),
    }


def test_survivors_are_pinned() -> None:
    """A repair that gives up a healthy leaf is refused (F1)."""
    planning = ran(PAIR, *REPAIR[:2])
    shrink = Event(Action.PLAN, 0, 0b10000)
    assert refused(planning, shrink) == "plan_bounds"
    assert refused(planning, shrink, FIXED) == "plan_bounds"
    assert ran(planning, shrink, rules=PRINTED).jobs[0].plan == 0b10000


def test_a_leaf_that_dies_after_the_plan() -> None:
    """A commit of a dead leaf is refused, and no epoch is spent (F2)."""
    offered = ran(PAIR, *REPAIR[:3], Event(FAIL, leaves=0b10000))
    assert refused(offered, REPAIR[3]) == "claims_live"
    after = ran(offered, Event(Action.ABORT, 0))
    assert (after.jobs[0].phase, after.jobs[0].epoch) == (Phase.PLAN, 0)
    assert ran(offered, REPAIR[3], rules=PRINTED).jobs[0].epoch == 1


def test_a_leaf_that_dies_in_restore() -> None:
    """A job that restores with a dead worker does not run, and is repaired again (F3)."""
    restoring = ran(PAIR, *REPAIR[:5], Event(FAIL, leaves=0b10000))
    assert refused(restoring, REPAIR[5]) == "workers_live"
    again = ran(restoring, Event(Action.DETECT, 0, epoch=1))
    assert again.jobs[0].phase is Phase.PLAN
    assert refused(restoring, Event(Action.DETECT, 0, epoch=1), PRINTED) == "may_detect"


def test_a_leaf_that_comes_back_before_it_is_missed() -> None:
    """A healed leaf stays lost to its job, which restarts its worker by a commit (F12)."""
    back = ran(PAIR, REPAIR[0], Event(HEAL, leaves=0b1))
    assert back.lost == 0b1
    after = ran(
        back,
        Event(Action.DETECT, 0),
        Event(Action.PLAN, 0, 0b11),
        Event(Action.COMMIT, 0),
    )
    assert (after.lost, after.jobs[0].alloc, after.jobs[0].fenced) == (0, 0b11, 0)


def test_two_repairs_race_for_one_spare() -> None:
    """The later commit is refused by what the earlier took, and aborts to Plan."""
    both = ran(
        PAIR,
        Event(FAIL, leaves=0b00101),
        Event(Action.DETECT, 0),
        Event(Action.DETECT, 1),
        Event(Action.PLAN, 0, 0b10010),
        Event(Action.PLAN, 1, 0b11000),
    )
    assert refused(both, Event(Action.ABORT, 1)) == "commit_refusal"
    won = ran(both, Event(Action.COMMIT, 0))
    assert refused(won, Event(Action.COMMIT, 1)) == "free_or_mine"
    after = ran(won, Event(Action.ABORT, 1), Event(Action.PLAN, 1, 0b01000))
    assert ran(after, Event(Action.COMMIT, 1)).jobs[1].alloc == 0b01000


def test_a_drain() -> None:
    """A suspect leaf is replaced while its job runs, and seals until the commit (F13)."""
    offered = ran(PAIR, Event(SUSPECT, leaves=0b1), Event(Action.DRAIN, 0, 0b10010))
    assert (offered.jobs[0].phase, offered.jobs[0].cause) == (Phase.COMMIT, Cause.DRAIN)
    assert ran(offered, Event(Action.SEAL, 0)).jobs[0].sealed == 1
    after = ran(offered, Event(Action.COMMIT, 0))
    assert (after.jobs[0].alloc, after.jobs[0].fenced) == (0b10010, 0b1)
    withdrawn = ran(offered, Event(TRUST, leaves=0b1))
    assert refused(withdrawn, Event(Action.COMMIT, 0)) == "drain_wanted"
    assert ran(withdrawn, Event(Action.ABORT, 0)).jobs[0].phase is Phase.RUN


def test_a_drain_in_vain() -> None:
    """A drain that cannot be taken leaves its job running; a smaller one is refused."""
    suspect = ran(PAIR, Event(SUSPECT, leaves=0b1))
    assert refused(suspect, Event(Action.DRAIN, 0, 0b10)) == "same_size"
    assert refused(PAIR, Event(Action.DRAIN, 0, 0b10010)) == "suspect_owned"
    offered = ran(
        suspect, Event(Action.DRAIN, 0, 0b10010), Event(SUSPECT, leaves=1 << 4)
    )
    assert refused(offered, Event(Action.COMMIT, 0)) == "claims_trusted"
    assert ran(offered, Event(Action.ABORT, 0)).jobs[0].phase is Phase.RUN
    assert ran(offered, Event(Action.CRASH, 0)).jobs[0].phase is Phase.RUN


def test_repairs_go_first() -> None:
    """Growth, drains and admissions wait while another job is broken (F14)."""
    broken = ran(PAIR, Event(FAIL, leaves=0b100))
    assert refused(broken, Event(Action.RESIZE, 0, 0b10011)) == "first_served"
    assert ran(broken, Event(Action.RESIZE, 0, 0b1)).jobs[0].plan == 0b1  # gives only
    suspect = ran(broken, Event(SUSPECT, leaves=0b1))
    assert refused(suspect, Event(Action.DRAIN, 0, 0b10010)) == "first_served"
    new = ran(broken, Event(Action.ADMIT, 2, uid=1))
    assert refused(new, Event(Action.PLAN, 2, 0b10000, uid=1)) == "first_served"


def test_the_life_of_a_job() -> None:
    """A job comes, restores from epoch 0, grows, ends; the next has another uid (F15)."""
    after = ran(
        started([0], 3),
        Event(Action.ADMIT, 0, uid=1),
        Event(Action.PLAN, 0, 0b001, uid=1),
        Event(Action.COMMIT, 0, uid=1),
        Event(Action.RESTORE, 0, epoch=1, uid=1, manifest=0),
        Event(Action.RUN, 0, epoch=1, uid=1),
        Event(Action.SEAL, 0, epoch=1, uid=1),
        Event(Action.RESIZE, 0, 0b011, epoch=1, uid=1),
        Event(Action.COMMIT, 0, epoch=1, uid=1),
    )
    assert after.jobs[0][:5] == (Phase.RESTORE, 2, 0b011, 0b011, 0b11)
    ended = ran(after, Event(Action.RELEASE, 0, epoch=2, uid=1))
    assert ended.jobs[0] == Job(Phase.GONE, 0, 0, 0, 0, 0b011, uid=1)
    assert refused(ended, Event(Action.ADMIT, 0, uid=1)) == "uid_fresh"
    again = ran(ended, Event(Action.ADMIT, 0, uid=2))
    assert refused(again, Event(Action.PLAN, 0, 0b001, uid=2)) == "plan_bounds"
    assert refused(again, Event(Action.PLAN, 0, 0b100, uid=1)) == "token_current"


def test_manifests_that_are_lost() -> None:
    """Restore takes the newest that can be read, and in the end that of epoch 0 (F5)."""
    records = Records(
        0b1, (Job(Phase.RESTORE, 3, 0b1, 0b1, 0b0111),)
    )  # manifests of 0, 1, 2
    older = Event(Action.RESTORE, 0, epoch=3, manifest=1)
    assert refused(records, older) == "newest"
    assert refused(records, older._replace(manifest=3)) == "readable"
    chosen = ran(records, older._replace(manifest=2))
    lost = ran(chosen, Event(Action.LOSE, 0, manifest=2))
    assert refused(lost, Event(Action.RUN, 0, epoch=3)) == "readable"
    assert ran(lost, older).jobs[0].base == 1
    last = ran(lost, Event(Action.LOSE, 0, manifest=1), older._replace(manifest=0))
    assert refused(last, Event(Action.LOSE, 0, manifest=0)) == "losable"
    assert ran(last, Event(Action.RUN, 0, epoch=3)).jobs[0].phase is Phase.RUN


@pytest.mark.parametrize(
    ("event", "guard"),
    [
        (Event(FAIL), "leaves_live"),  # no leaf
        (Event(FAIL, leaves=1 << 5), "leaves_live"),  # no such leaf
        (Event(HEAL, leaves=1), "leaves_dead"),
        (Event(SUSPECT, leaves=1 << 5), "leaves_live"),
        (Event(TRUST, leaves=1), "leaves_suspect"),
        (Event(Action.ADMIT, 0, uid=1), "job_gone"),
        (Event(Action.DETECT, 0), "broken"),
        (Event(Action.DETECT, 0, epoch=1), "token_current"),
        (Event(Action.PLAN, 0, 1), "in_plan"),
        (Event(Action.COMMIT, 0), "in_commit"),
        (Event(Action.ABORT, 0), "in_commit"),
        (Event(Action.CRASH, 0), "in_commit"),
        (Event(Action.SEAL, 0, uid=1), "token_current"),
        (Event(Action.RESTORE, 0), "in_restore"),
        (Event(Action.RUN, 0), "loading"),
        (Event(Action.RESIZE, 0, 0b11), "size_changes"),
        (Event(Action.RESIZE, 0, 0b10010), "resize_bounds"),  # gives and takes
        (Event(Action.RELEASE, 0, uid=1), "token_current"),
        (Event(Action.FENCE, 0, 1), "leaves_fenced"),
        (Event(Action.LOSE, 0, manifest=1), "losable"),
    ],
)
def test_refusals_at_the_start(event: Event, guard: str) -> None:
    """An event that has no place at the start is refused by the guard that says why."""
    assert refused(PAIR, event) == guard


@pytest.mark.parametrize(
    "action",
    [HEAL, SUSPECT, TRUST, Action.ADMIT, Action.DRAIN, Action.RESIZE, Action.RELEASE],
)
def test_the_printed_protocol_has_no_lifecycle(action: Action) -> None:
    """What Figure 2 does not have is refused under its rules."""
    assert refused(PAIR, Event(action, leaves=1), PRINTED) == "lifecycle"


@pytest.mark.parametrize(
    "event",
    [
        Event(Action.DETECT, 2),
        Event(Action.DETECT, -1),
        Event(Action.ADMIT, 3, uid=1),
        Event(FAIL, -1, 1),
    ],
)
def test_unknown_jobs(event: Event) -> None:
    """An index without a job is no refusal but a mistake."""
    with pytest.raises(UnknownJob, match=f"job {event.job}: there are 2"):
        transition(PAIR, event)


@pytest.mark.parametrize("field", ["leaves", "epoch", "uid", "manifest"])
def test_negative_fields(field: str) -> None:
    """A negative field is a mistake, named with the rule."""
    with pytest.raises(InvalidRequest, match="are from 0"):
        transition(PAIR, Event(Action.SEAL)._replace(**{field: -1}))


@pytest.mark.parametrize(
    ("records", "tag"),
    [
        (started([0b11, 0b10], 2), "R1"),
        (Records(1, (Job(Phase.RUN, 0, 1, 0, 1, fenced=1),)), "R2"),
        (Records(1, (Job(Phase.GONE, 0, 1, 0, 0),)), "R3"),
        (Records(1, (Job(Phase.RUN, 0, 1, 0, 0b11),)), "R4"),
        (Records(1, (), lost=1), "R5"),
    ],
)
def test_check_finds_broken_records(records: Records, tag: str) -> None:
    """Each numbered invariant of the records is checked."""
    with pytest.raises(InvariantBroken, match=tag):
        check(records)

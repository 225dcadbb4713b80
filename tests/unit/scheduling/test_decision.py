"""Decisions: order, equality without times, outcomes, and the way to JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import (
    Action,
    ActionKind,
    Decision,
    Scheduler,
    SchedulerOptions,
    Why,
)

LEAVES = np.array([0, 1], np.int32)


def started(job: str = "a", **given: object) -> Action:
    """A start on leaves 0 and 1."""
    fields = {"configuration": 0, "type": "gpu", "lease_end_s": 900.0} | given
    return Action(ActionKind.START, job, Why.CHOSEN, "", LEAVES, **fields)  # type: ignore[arg-type]


def test_times_and_worths_are_no_part_of_equality() -> None:
    """Two decisions that do the same are equal, whenever and however fast."""
    one = Decision(0.0, (started(),), times_s={"solve": 1.0})
    other = Decision(60.0, (started(lease_end_s=960.0, worth=3.0),))
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize(
    "other",
    [
        started("b"),
        started(configuration=1),
        started(type="H100"),
        started(checkpoint=True),
        Action(
            ActionKind.START, "a", Why.OVERDUE, "", LEAVES, configuration=0, type="gpu"
        ),
        Action(
            ActionKind.START,
            "a",
            Why.CHOSEN,
            "",
            LEAVES[::-1],
            configuration=0,
            type="gpu",
        ),
        Action(
            ActionKind.KEEP, "a", Why.CHOSEN, "", LEAVES, configuration=0, type="gpu"
        ),
    ],
)
def test_all_else_is(other: Action) -> None:
    """Job, kind, reason, configuration, type, checkpoint, leaves in order of ranks."""
    assert started() != other
    assert Decision(0.0, (started(),)) != Decision(0.0, (other,))
    assert started() != "start"


def test_the_last_action_of_a_job_is_its_outcome() -> None:
    """A decision that keeps all is falsy; one where a lease ends is not."""
    keep = Action(ActionKind.KEEP, "a", Why.LEASED, "", LEAVES)
    due = Action(ActionKind.KEEP, "a", Why.RENEWED, "", LEAVES, checkpoint=True)
    stop = Action(ActionKind.STOP, "a", Why.RECONFIGURED, "", LEAVES, checkpoint=True)
    decision = Decision(0.0, (stop, started()))
    assert decision.outcome("a") == started()
    assert decision.of("stop") == (stop,)
    assert (len(decision), list(decision)) == (2, [stop, started()])
    with pytest.raises(KeyError):
        decision.outcome("b")
    assert not Decision(0.0, (keep,))
    assert Decision(0.0, (due,))
    assert decision


def test_actions_are_listed_by_kind_then_by_submission() -> None:
    """Stops, releases, starts, moves, keeps, waits."""
    options = SchedulerOptions(lease_s=60.0, releases="immediate", order="owed")
    scheduler = Scheduler(Topology.from_spec("host:5 gpu:2"), options=options)
    for job in ("s", "k", "m"):
        scheduler.submit(job, Gang(2), 0.0)
    scheduler.round(0.0)
    scheduler.submit("w", Gang(20), 1.0)
    scheduler.submit("n", Gang(2), 1.0)
    scheduler.cancel("s", 1.0)
    scheduler.fail(scheduler.placement("m").leaves[:1])  # type: ignore[union-attr]
    decision = scheduler.round(30.0)
    assert [(one.kind.value, one.job) for one in decision] == [
        ("stop", "s"),
        ("release", "s"),
        ("start", "n"),
        ("move", "m"),
        ("keep", "k"),
        ("wait", "w"),
    ]
    assert str(decision) == (
        "round at 30 s: 1 stop, 1 release, 1 start, 1 move, 1 keep, 1 wait"
    )
    told = json.loads(json.dumps(decision.to_dict()))
    assert [one["action"] for one in told["actions"]] == [
        one.kind.value for one in decision
    ]
    assert told["actions"][3]["moves"] == decision.outcome("m").repair.moves.tolist()  # type: ignore[union-attr]

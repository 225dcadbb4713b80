"""What a scheduler is told between rounds, and what it refuses to hear."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.scheduling import Configuration, JobRequest, JobState, Scheduler


def test_a_job_that_is_refused_brings_no_tenant() -> None:
    """The ledger has the tenants that it had, and the same key may come again."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    with pytest.raises(InvalidRequest, match=r"^demand 1000000000000000000000"):
        scheduler.submit("a", JobRequest(Gang(4), tenant="t", demand=10**21), 0.0)
    assert scheduler.ledger.tenants() == ()
    assert scheduler.jobs() == ()
    scheduler.submit("a", JobRequest(Gang(4), tenant="t"), 0.0)
    assert scheduler.ledger.tenants() == ("t",)


def test_numbers_of_numpy_are_kept_as_plain_ones() -> None:
    """What is kept of a job is JSON, whatever numbers it was told with."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    way = Configuration(Gang(4), goodput=np.float32(2), memory_bytes=np.int64(7))  # type: ignore[arg-type]
    request = JobRequest(way, weight=np.int64(2), demand=np.int64(8))  # type: ignore[arg-type]
    scheduler.submit("a", request, np.int64(3))  # type: ignore[arg-type]
    scheduler.round(np.int64(4))  # type: ignore[arg-type]
    scheduler.started("a", np.int64(5), np.int64(6))  # type: ignore[arg-type]
    scheduler.progress("a", np.float32(1.5))  # type: ignore[arg-type]
    (kept,) = (record.to_dict() for record in scheduler._records.values())
    told = json.loads(json.dumps(kept))
    assert told["request"]["configurations"][0]["memory_bytes"] == 7.0
    assert told["request"]["demand"] == 8
    assert (told["submitted_s"], told["lease"]) == (3.0, [4.0, 904.0, 0])
    assert (told["cold_start_cost_s"], told["progress_s"]) == (6.0, 1.5)


def lived() -> Scheduler:
    """Jobs named for what they do: run, stop, start and wait; told of time 60 last."""
    scheduler = Scheduler(Topology.from_spec("host:3 gpu:4"), {"t": 1.0})
    for job in ("run", "stop"):
        scheduler.submit(job, JobRequest(Gang(4), tenant="t"), 0.0)
    scheduler.round(0.0)
    scheduler.started("run", 1.0)
    scheduler.started("stop", 1.0)
    scheduler.cancel("stop", 2.0)
    scheduler.submit("new", JobRequest(Gang(4), tenant="t"), 3.0)
    scheduler.submit("wait", JobRequest(Gang(12), tenant="t"), 3.0)
    scheduler.round(60.0)
    return scheduler


BAD: list[tuple[Callable[[Scheduler], object], type[Exception], str]] = [
    # A key must be one, and new.
    (
        lambda s: s.submit("run", Gang(1), 60.0),
        InvalidRequest,
        "job 'run': the scheduler knows it already",
    ),
    (
        lambda s: s.submit(1.5, Gang(1), 60.0),
        InvalidRequest,
        "job 1.5: a job's key is a str or an int",
    ),  # type: ignore[arg-type]
    (
        lambda s: s.submit(True, Gang(1), 60.0),
        InvalidRequest,
        "job True: a job's key is a str or an int",
    ),
    (lambda s: s.submit("x", 4, 60.0), InvalidRequest, "request 4: a JobRequest"),  # type: ignore[arg-type]
    (
        lambda s: s.submit("x", Gang(1), 60.0),
        InvalidRequest,
        "job 'x': tenant 'default': one of t",
    ),
    # A level that the cluster has not.
    (
        lambda s: s.submit("x", JobRequest(Gang(2, within="pod"), tenant="t"), 60.0),
        InvalidRequest,
        "level 'pod' does not exist; levels are gpu, host, cluster",
    ),
    # Time goes forward only.
    (
        lambda s: s.submit("x", JobRequest(Gang(1), tenant="t"), 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.cancel("run", 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.finish("run", 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.released("stop", 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.started("new", 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.start_failed("new", 59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (
        lambda s: s.round(59.0),
        InvalidRequest,
        "now 59.0: not before the last event, at 60.0",
    ),
    (lambda s: s.round("soon"), InvalidRequest, "now 'soon': finite seconds"),  # type: ignore[arg-type]
    # Jobs in other states.
    (lambda s: s.released("run"), InvalidRequest, "job 'run' is running, not stopping"),
    (
        lambda s: s.released("wait"),
        InvalidRequest,
        "job 'wait' is pending, not stopping",
    ),
    (lambda s: s.started("run"), InvalidRequest, "job 'run' is running, not starting"),
    (
        lambda s: s.start_failed("stop"),
        InvalidRequest,
        "job 'stop' is stopping, not starting",
    ),
    # Jobs that are not there.
    (
        lambda s: s.cancel("x", 60.0),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    (
        lambda s: s.finish("x", 60.0),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    (lambda s: s.released("x"), UnknownJob, "job 'x': the scheduler does not know it"),
    (lambda s: s.started("x"), UnknownJob, "job 'x': the scheduler does not know it"),
    (
        lambda s: s.start_failed("x"),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    (
        lambda s: s.progress("x", 1.0),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    (
        lambda s: s.checkpointed("x"),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    (
        lambda s: s.reweight("x", 1.0, 60.0),
        UnknownJob,
        "job 'x': the scheduler does not know it",
    ),
    # Seconds and weights.
    (
        lambda s: s.progress("run", -1.0),
        InvalidRequest,
        "progress -1.0: seconds, from 0 to 1e+12",
    ),
    (
        lambda s: s.checkpointed("run", float("nan")),
        InvalidRequest,
        "checkpoint nan: seconds, from 0 to 1e+12",
    ),
    (
        lambda s: s.started("new", 60.0, -5.0),
        InvalidRequest,
        "cold_start_s -5.0: seconds, from 0 to 1e+12",
    ),
    (lambda s: s.reweight("run", 0.0, 60.0), InvalidRequest, "weight 0.0: from"),
    (lambda s: s.set_tenant("t", -1.0, 60.0), InvalidRequest, "weight -1.0: from"),
    # Leaves.
    (lambda s: s.fail([0, 12]), InvalidRequest, "fail: leaf 12"),
    (lambda s: s.fail([3, 3]), InvalidRequest, "fail: leaf 3"),
    (lambda s: s.heal(["nobody"]), InvalidRequest, "heal: leaf 'nobody'"),
    (lambda s: s.drain([-1]), InvalidRequest, "drain: leaf -1"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_what_is_refused_changes_nothing(
    call: Callable[[Scheduler], object], kind: type[Exception], message: str
) -> None:
    """One error that names object, value and rule; the bytes are what they were."""
    scheduler = lived()
    before = scheduler.save()
    with pytest.raises(kind) as caught:
        call(scheduler)
    assert str(caught.value).startswith(message)
    assert scheduler.save() == before
    scheduler.validate()


def test_progress_since_the_last_snapshot_is_lost_at_the_release() -> None:
    """The last complete one wins: what came after is done again."""
    scheduler = lived()
    scheduler.progress("run", 100.0)
    scheduler.checkpointed("run", 2.5)
    scheduler.progress("run", 40.0)
    scheduler.submit("big", JobRequest(Gang(12), tenant="t", weight=1.0), 61.0)
    scheduler.start_failed("new", 62.0)
    scheduler.cancel("new", 62.0)
    scheduler.released("stop", 63.0)
    decision = scheduler.round(20_000.0)
    assert decision.outcome("run").why.name == "LEASE_ENDED"
    assert scheduler.status("run").progress_s == 140.0
    scheduler.released("run", 20_001.0)
    status = scheduler.status("run")
    assert (status.progress_s, status.lost_s) == (100.0, 40.0)
    assert (status.checkpoints, status.checkpoint_cost_s) == (1, 2.5)
    assert status.waiting_since_s == 20_001.0


def test_a_snapshot_after_the_stop_saves_all() -> None:
    """On demand: told to stop, the agent saves, and nothing is lost."""
    scheduler = lived()
    scheduler.progress("stop", 77.0)
    scheduler.checkpointed("stop")
    assert scheduler.status("stop").progress_s == 77.0
    scheduler.released("stop", 61.0)
    assert "stop" not in scheduler


def test_a_job_that_could_not_start_waits_as_before() -> None:
    """It has waited since its submission, and the lease that it never used is none."""
    scheduler = lived()
    scheduler.start_failed("new", 65.0)
    status = scheduler.status("new")
    assert status.state is JobState.PENDING
    assert (status.waiting_since_s, status.leases, status.cold_starts) == (3.0, 0, 0)
    assert status.waited_s == 62.0
    assert scheduler.round(70.0).outcome("new").kind.value == "start"


def test_cancelling() -> None:
    """A job without leaves is gone at once; one with leaves when they are released."""
    scheduler = lived()
    scheduler.cancel("wait", 61.0)
    assert "wait" not in scheduler
    scheduler.cancel("run", 61.0)
    assert "run" in scheduler
    scheduler.cancel("run", 62.0)
    assert scheduler.round(63.0).outcome("run").why.name == "CANCELLED"
    scheduler.released("run", 64.0)
    assert "run" not in scheduler
    scheduler.submit("run", JobRequest(Gang(4), tenant="t"), 64.0)


def test_finishing_frees_leaves_at_once() -> None:
    """The account of a job comes back with its end."""
    scheduler = lived()
    account = scheduler.finish("run", 100.0)
    assert (account.service, account.state.value) == (400.0, "finished")
    assert scheduler.planners["gpu"].free_leaves() == 4
    account = scheduler.finish("wait", 100.0, failed=True)
    assert (account.service, account.state.value) == (0.0, "failed")
    account = scheduler.finish("stop", 100.0)
    assert account.service == 400.0


def test_leaves_fail_drain_and_heal() -> None:
    """Each tells the jobs hit, in order of submission; healing takes back both."""
    scheduler = lived()
    assert scheduler.fail([4, 0]) == ["run", "stop"]
    assert scheduler.drain([8, 1]) == ["run", "new"]
    owner = scheduler.planners["gpu"].owner
    assert (owner(0).health.value, owner(1).cordoned) == ("down", True)
    assert scheduler.heal([0, 1, 4, 8]) == ["run", "stop", "new"]
    assert (owner(0).health.value, owner(1).cordoned) == ("up", False)
    assert [one.kind.value for one in scheduler.round(61.0).of("move")] == []


def test_taken_leaves_stay_out_until_they_are_fenced() -> None:
    """However healthy they are again."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:2"))
    scheduler.submit("a", Gang(2), 0.0)
    scheduler.round(0.0)
    scheduler.fail([1])
    assert scheduler.round(1.0).outcome("a").leaves.tolist() == [0, 3]
    scheduler.heal([1])
    assert scheduler.planners["gpu"].free_leaves() == 1
    assert scheduler.fenced("a").tolist() == [1]
    assert scheduler.planners["gpu"].free_leaves() == 2
    assert scheduler.fenced("a").tolist() == []

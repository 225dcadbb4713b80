"""Leases that end early: whose, for whom, and within which time."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import (
    Configuration,
    EarlyEviction,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)
from tests.unit.scheduling.reading import told


def full(spec: str = "host:2 gpu:4", **options: object) -> Scheduler:
    """Two hosts of 4 with a job each since 0, of tenants "t" and "u"."""
    rule = EarlyEviction()
    chosen = SchedulerOptions(
        **{"early_eviction": rule, "releases": "immediate"} | options  # type: ignore[arg-type]
    )
    scheduler = Scheduler(Topology.from_spec(spec), options=chosen)
    scheduler.submit("a", JobRequest(Gang(4), tenant="t"), 0.0)
    scheduler.submit("b", JobRequest(Gang(4), tenant="u"), 0.0)
    scheduler.round(0.0)
    return scheduler


@pytest.mark.parametrize(
    ("now", "gone"), [(119.0, False), (120.0, True), (299.0, True), (300.0, False)]
)
def test_a_first_lease_may_end_within_its_window(now: float, gone: bool) -> None:
    """From 120 seconds on, and no more at 300."""
    scheduler = full()
    scheduler.submit("new", JobRequest(Gang(2), tenant="t"), 1.0)
    stopped = [("stop", "a", "EVICTED", [0, 1, 2, 3])] if gone else []
    assert [one for one in told(scheduler.round(now)) if one[0] == "stop"] == stopped


@pytest.mark.parametrize(
    ("now", "gone"), [(950.0, True), (1199.0, True), (1200.0, False)]
)
def test_a_renewed_lease_may_end_at_first(now: float, gone: bool) -> None:
    """For 300 seconds after its renewal."""
    scheduler = full()
    scheduler.round(900.0)
    scheduler.submit("new", JobRequest(Gang(2), tenant="t"), 901.0)
    stopped = [("stop", "a", "EVICTED", [0, 1, 2, 3])] if gone else []
    assert [one for one in told(scheduler.round(now)) if one[0] == "stop"] == stopped


def test_the_evicted_waits_and_the_new_job_starts() -> None:
    """All within one decision, by the eviction's order of actions."""
    scheduler = full()
    scheduler.submit("new", JobRequest(Gang(2), tenant="t"), 1.0)
    decision = scheduler.round(200.0)
    assert told(decision) == [
        ("stop", "a", "EVICTED", [0, 1, 2, 3]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("start", "new", "CHOSEN", [0, 1]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "a", "OUTBID", []),
    ]
    assert decision.of("stop")[0].reason == "evicted: for 'new'"
    assert decision.of("stop")[0].checkpoint


def test_no_job_of_another_tenant_is_evicted() -> None:
    """A third tenant's new job waits, whoever's window is open."""
    scheduler = full()
    scheduler.submit("new", JobRequest(Gang(2), tenant="v"), 1.0)
    assert told(scheduler.round(200.0)) == [
        ("keep", "a", "LEASED", [0, 1, 2, 3]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "new", "MISFIT", []),
    ]


def test_nobody_is_evicted_unless_told_so() -> None:
    """Without a rule every lease goes on to its end."""
    scheduler = full(early_eviction=None)
    scheduler.submit("new", JobRequest(Gang(2), tenant="t"), 1.0)
    assert told(scheduler.round(200.0))[-1] == ("wait", "new", "MISFIT", [])


def test_urgent_jobs_evict_and_are_not_evicted() -> None:
    """One that ran before may still evict where it is urgent, and is safe itself."""
    scheduler = full(early_eviction=EarlyEviction(for_new=False))
    scheduler.submit("new", JobRequest(Gang(2), tenant="t"), 1.0)
    scheduler.submit("now", JobRequest(Gang(2), tenant="t", urgent=True), 2.0)
    assert told(scheduler.round(200.0)) == [
        ("stop", "a", "EVICTED", [0, 1, 2, 3]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("start", "now", "CHOSEN", [0, 1]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "a", "OUTBID", []),
        ("wait", "new", "MISFIT", []),
    ]
    for job in ("a", "b", "new"):
        scheduler.finish(job, 201.0)
    scheduler.submit("too", JobRequest(Gang(8), tenant="t", urgent=True), 202.0)
    kinds = [(one[0], one[1]) for one in told(scheduler.round(400.0))]
    assert ("stop", "now") not in kinds


def test_a_job_that_moves_is_not_evicted_in_the_same_round() -> None:
    """It would have to stop on a leaf that it has yet to reach."""
    scheduler = full("host:3 gpu:4")
    scheduler.fail([1])
    scheduler.submit("new", JobRequest(Gang(4), tenant="t"), 1.0)
    assert told(scheduler.round(200.0)) == [
        ("move", "a", "FAILED", [0, 9, 2, 3]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "new", "MISFIT", []),
    ]


def test_leaves_held_for_another_are_not_taken_by_eviction() -> None:
    """The job that waited too long gets them when the lease on them ends, not later."""
    scheduler = full(waiting_bound_s=100.0)
    scheduler.submit("big", JobRequest(Gang(8), tenant="u"), 1.0)
    scheduler.round(1.0)
    scheduler.submit("new", JobRequest(Gang(4), tenant="t"), 150.0)
    assert told(scheduler.round(200.0)) == [
        ("keep", "a", "LEASED", [0, 1, 2, 3]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "big", "RESERVED", []),
        ("wait", "new", "MISFIT", []),
    ]


def test_urgent_jobs_evict_first() -> None:
    """Of two that could, the urgent one gets the leaves, though it came later."""
    scheduler = full()
    scheduler.submit("new", JobRequest(Gang(4), tenant="t"), 1.0)
    scheduler.submit("now", JobRequest(Gang(4), tenant="t", urgent=True), 2.0)
    decision = scheduler.round(200.0)
    assert decision.outcome("now").leaves.tolist() == [0, 1, 2, 3]
    assert decision.outcome("new").kind.value == "wait"


def test_nobody_is_evicted_for_what_is_worth_too_little() -> None:
    """Below the threshold of admission no leaves are taken, free ones neither."""
    scheduler = full("host:3 gpu:4", idle=0.5, normalized=False)
    way = Configuration(Gang(4), goodput=0.01)
    scheduler.submit("poor", JobRequest(way, tenant="t"), 199.0)
    decision = scheduler.round(200.0)
    assert [one for one in told(decision) if one[0] == "stop"] == []
    assert decision.outcome("poor").kind.value == "wait"

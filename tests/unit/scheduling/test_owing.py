"""Order by what is owed: the paper's round on a real planner."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.fairness import Reward, owed, urgent_first
from phalanx_core.scheduling import JobRequest, Scheduler, SchedulerOptions
from tests.unit.scheduling.reading import told


def made(spec: str, tenants: dict[str, float], **options: Any) -> Scheduler:
    """A scheduler that carries its decisions out at once."""
    chosen = SchedulerOptions(**{"order": "owed", "releases": "immediate"} | options)
    return Scheduler(Topology.from_spec(spec), tenants, options=chosen)


def test_a_lease_is_charged_before_the_next_is_given() -> None:
    """Of two new tenants of one weight neither gets all: the first grant counts."""
    scheduler = made("host:2 gpu:4", {"A": 1.0, "B": 1.0})
    for job in ("A1", "A2", "B1"):
        scheduler.submit(job, JobRequest(Gang(4), tenant=job[0]), 0.0)
    assert told(scheduler.round(60.0)) == [
        ("start", "A1", "CHOSEN", [0, 1, 2, 3]),
        ("start", "B1", "CHOSEN", [4, 5, 6, 7]),
        ("wait", "A2", "MISFIT", []),
    ]


def test_the_most_owed_tenant_comes_first() -> None:
    """B had nothing while A ran alone; A's lease is over and both want all."""
    scheduler = made("host:2 gpu:4", {"A": 1.0, "B": 1.0})
    scheduler.submit("A1", JobRequest(Gang(8), tenant="A"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("B1", JobRequest(Gang(8), tenant="B"), 10.0)
    assert told(scheduler.round(899.0))[-1] == ("wait", "B1", "MISFIT", [])
    assert told(scheduler.round(900.0)) == [
        ("stop", "A1", "LEASE_ENDED", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("release", "A1", "RELEASED", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("start", "B1", "CHOSEN", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("wait", "A1", "OUTBID", []),
    ]


def test_within_a_tenant_the_most_owed_job_comes_first() -> None:
    """A2 waited all the time in which A1 ran."""
    scheduler = made("host:1 gpu:4", {"A": 1.0})
    scheduler.submit("A1", JobRequest(Gang(4), tenant="A"), 0.0)
    scheduler.submit("A2", JobRequest(Gang(4), tenant="A"), 0.0)
    assert scheduler.round(60.0).outcome("A1").why.name == "CHOSEN"
    assert scheduler.round(960.0).outcome("A2").why.name == "CHOSEN"
    assert scheduler.round(1860.0).outcome("A1").why.name == "CHOSEN"


def test_the_least_owed_gives_way_first() -> None:
    """Both leases are over and one host is needed: A had more of its due than B."""
    scheduler = made("host:2 gpu:4", {"B": 4.0, "A": 1.0, "C": 4.0})
    scheduler.submit("B1", JobRequest(Gang(4), tenant="B"), 0.0)
    scheduler.submit("A1", JobRequest(Gang(4), tenant="A"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("C1", JobRequest(Gang(4), tenant="C"), 10.0)
    assert told(scheduler.round(900.0)) == [
        ("stop", "A1", "LEASE_ENDED", [4, 5, 6, 7]),
        ("release", "A1", "RELEASED", [4, 5, 6, 7]),
        ("start", "C1", "CHOSEN", [4, 5, 6, 7]),
        ("keep", "B1", "RENEWED", [0, 1, 2, 3]),
        ("wait", "A1", "OUTBID", []),
    ]


def test_a_renewal_in_place_is_no_cold_start() -> None:
    """Who is chosen again stays where it is, whatever else moves."""
    scheduler = made("host:2 gpu:4", {"A": 1.0, "B": 1.0})
    scheduler.submit("A1", JobRequest(Gang(4), tenant="A"), 0.0)
    scheduler.submit("B1", JobRequest(Gang(4), tenant="B"), 0.0)
    scheduler.round(0.0)
    scheduler.started("A1", 5.0, 17.0)
    scheduler.started("B1", 5.0)
    scheduler.finish("B1", 100.0)
    scheduler.submit("B2", JobRequest(Gang(4), tenant="B"), 101.0)
    scheduler.round(101.0)
    decision = scheduler.round(900.0)
    assert told(decision) == [
        ("keep", "A1", "RENEWED", [0, 1, 2, 3]),
        ("keep", "B2", "LEASED", [4, 5, 6, 7]),
    ]
    assert [one.checkpoint for one in decision] == [True, False]
    status = scheduler.status("A1")
    assert (status.cold_starts, status.cold_start_cost_s) == (1, 17.0)
    assert status.lease is not None
    assert (status.lease.renewals, status.leases) == (1, 2)


@pytest.mark.parametrize(
    ("pass_over", "second"), [("job", "CHOSEN"), ("tenant", "OUTBID")]
)
def test_what_is_passed_over(pass_over: str, second: str) -> None:
    """A's first job fits nowhere; its second goes on, or waits with its tenant."""
    scheduler = made("host:2 gpu:4", {"A": 1.0, "B": 1.0}, pass_over=pass_over)
    scheduler.submit("B0", JobRequest(Gang(4), tenant="B"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("A1", JobRequest(Gang(8), tenant="A"), 1.0)
    scheduler.submit("A2", JobRequest(Gang(4), tenant="A"), 1.0)
    decision = scheduler.round(60.0)
    assert decision.outcome("A1").why.name == "MISFIT"
    assert decision.outcome("A2").why.name == second


@pytest.mark.parametrize(
    ("reward", "chosen"), [(owed, "later"), (urgent_first, "urgent")]
)
def test_the_reward_orders_a_tenants_jobs(reward: Reward, chosen: str) -> None:
    """One that waited goes before one that ran, unless urgent jobs come first."""
    scheduler = made("host:1 gpu:4", {"A": 1.0}, lease_s=60.0, reward=reward)
    scheduler.submit("urgent", JobRequest(Gang(4), tenant="A", urgent=True), 0.0)
    scheduler.submit("later", JobRequest(Gang(4), tenant="A"), 0.0)
    assert scheduler.round(0.0).outcome("urgent").kind.value == "start"
    running = [
        one.job for one in scheduler.round(60.0) if one.kind.value in ("start", "keep")
    ]
    assert running == [chosen]


def test_counts_fit_and_the_topology_does_not() -> None:
    """The most owed job waits with the topology's reason, and the next one starts."""
    scheduler = made("host:2 gpu:4", {"A": 1.0, "B": 1.0})
    for job in ("B1", "B2"):
        scheduler.submit(job, JobRequest(Gang(3, within="host"), tenant="B"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("A1", JobRequest(Gang(2, within="host"), tenant="A"), 1.0)
    scheduler.submit("B3", JobRequest(Gang(1), tenant="B"), 1.0)
    decision = scheduler.round(60.0)
    assert decision.outcome("A1").reason == (
        "misfit: no host has 2 available gpus: best host-0 has 1; 3 held by jobs"
    )
    assert told(decision)[0] == ("start", "B3", "CHOSEN", [3])

"""Order by utility, alone and within tenants' budgets: what is chosen, cut and told."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import (
    Configuration,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)
from tests.unit.scheduling.reading import told


def made(
    spec: str, tenants: dict[str, float] | None = None, **options: Any
) -> Scheduler:
    """A scheduler that carries its decisions out at once."""
    chosen = SchedulerOptions(**{"releases": "immediate"} | options)
    return Scheduler(Topology.from_spec(spec), tenants, options=chosen)


def test_within_budgets_then_beyond() -> None:
    """Equal tenants share 8 GPUs; what "u" leaves of its 4 is borrowed by "t"."""
    scheduler = made("host:2 gpu:4", {"t": 1.0, "u": 1.0}, order="owed-then-utility")
    for job in ("t1", "t2", "t3"):
        scheduler.submit(job, JobRequest(Gang(2), tenant="t"), 0.0)
    scheduler.submit("u1", JobRequest(Gang(2), tenant="u"), 0.0)
    decision = scheduler.round(0.0)
    assert decision.budgets is not None
    assert decision.budgets.tolist() == [[6], [2]]
    scheduler.submit("u2", JobRequest(Gang(2), tenant="u"), 1.0)
    decision = scheduler.round(900.0)
    assert decision.budgets is not None
    # "t" had 6 of 8 for a lease, so "u" is owed 6 of the next; it claims but 4.
    assert decision.budgets.tolist() == [[4], [4]]


def test_what_no_budget_covers_is_borrowed() -> None:
    """A gang larger than its tenant's budget runs on leaves that nobody else can use."""
    scheduler = made("host:2 gpu:4", {"t": 1.0, "u": 1.0}, order="owed-then-utility")
    scheduler.submit("t1", JobRequest(Gang(6), tenant="t"), 0.0)
    scheduler.submit("u1", JobRequest(Gang(6), tenant="u"), 0.0)
    decision = scheduler.round(0.0)
    assert decision.budgets is not None
    assert decision.budgets.tolist() == [[4], [4]]
    assert told(decision) == [
        ("start", "t1", "BORROWED", [0, 1, 2, 3, 4, 5]),
        ("wait", "u1", "OUTBID", []),
    ]


def test_who_waited_too_long_is_in_the_budgets_once() -> None:
    """A start out of turn is a claim of its tenant, and is charged to what it may have."""
    scheduler = made(
        "host:2 gpu:4",
        {"t": 1.0, "u": 1.0},
        order="owed-then-utility",
        waiting_bound_s=60.0,
        lease_s=100.0,
    )
    scheduler.submit("u0", JobRequest(Gang(8), tenant="u"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("t0", JobRequest(Gang(2), tenant="t"), 1.0)
    for job, tenant in (("t1", "t"), ("t2", "t"), ("u1", "u"), ("u2", "u")):
        scheduler.submit(job, JobRequest(Gang(2), tenant=tenant), 70.0)
    decision = scheduler.round(100.0)
    whys = [decision.outcome(job).why.name for job in ("t0", "t1", "t2")]
    assert whys == ["OVERDUE", "CHOSEN", "CHOSEN"]
    assert decision.budgets is not None
    assert decision.budgets.tolist() == [[6], [2]]


def test_a_smaller_size_may_be_worth_more() -> None:
    """Where a host is free, 4 ranks of goodput 3 beat 8 of goodput 3.2 for two jobs."""
    scheduler = made("host:2 gpu:4")
    ways = Configuration.sizes(Gang(8, group=4, templates=(4,)), {8: 3.2, 4: 3.0})
    scheduler.submit("a", JobRequest(ways), 0.0)
    scheduler.submit("b", JobRequest(ways), 0.0)
    decision = scheduler.round(0.0)
    assert told(decision) == [
        ("start", "a", "CHOSEN", [0, 1, 2, 3]),
        ("start", "b", "CHOSEN", [4, 5, 6, 7]),
    ]
    assert decision.outcome("a").configuration == 1
    assert scheduler.round(1.0).outcome("a").configuration == 1
    scheduler.finish("b", 2.0)
    decision = scheduler.round(900.0)
    assert told(decision) == [
        ("stop", "a", "RECONFIGURED", [0, 1, 2, 3]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("start", "a", "CHOSEN", [0, 1, 2, 3, 4, 5, 6, 7]),
    ]
    assert decision.outcome("a").configuration == 0


def fragmented(**options: Any) -> Scheduler:
    """Two hosts of 4 with 2 free leaves each: 4 are free, and no host has them."""
    scheduler = made("host:2 gpu:4", **options)
    for job in ("a", "b", "c"):
        scheduler.submit(job, Gang(2, within="host"), 0.0)
    scheduler.submit("d", Gang(2, within="host"), 0.0)
    scheduler.round(0.0)
    assert scheduler.placement("a").leaves.tolist() == [0, 1]  # type: ignore[union-attr]
    assert scheduler.placement("c").leaves.tolist() == [4, 5]  # type: ignore[union-attr]
    scheduler.finish("b", 1.0)
    scheduler.finish("d", 1.0)
    return scheduler


def test_what_the_topology_cannot_hold_is_cut_and_solved_again() -> None:
    """Counts allow a host of 4, the topology only pairs, and the smaller size is taken."""
    scheduler = fragmented()
    ways = (
        Configuration(Gang(4, within="host"), goodput=5.0),
        Configuration(Gang(2, within="host"), goodput=2.0),
    )
    scheduler.submit("e", JobRequest(ways), 2.0)
    decision = scheduler.round(2.0)
    assert [(cut.job, cut.configuration) for cut in decision.cuts] == [("e", 0)]
    assert told(decision)[0] == ("start", "e", "CHOSEN", [2, 3])
    assert decision.outcome("e").configuration == 1


@pytest.mark.parametrize(
    ("repairs", "cuts", "why"),
    [(0, 1, "OUTBID"), (1, 2, "OUTBID"), (2, 3, "MISFIT"), (3, 3, "MISFIT")],
)
def test_cuts_are_bounded(repairs: int, cuts: int, why: str) -> None:
    """One more choice is made than there may be repairs; all cut, nothing fits."""
    scheduler = fragmented(repairs=repairs)
    ways = [
        Configuration(Gang(4, within="host"), goodput=5.0),
        Configuration(Gang(4, group=4), goodput=4.0),
        Configuration(Gang(3, within="host"), goodput=3.0),
    ]
    scheduler.submit("e", JobRequest(ways), 2.0)
    decision = scheduler.round(2.0)
    assert [(cut.job, cut.configuration) for cut in decision.cuts] == [
        ("e", at) for at in range(cuts)
    ]
    assert told(decision)[-1] == ("wait", "e", why, [])


def test_a_renewed_job_stays_where_it_is() -> None:
    """A lease that ends without anybody better is renewed, with no start."""
    scheduler = made("host:2 gpu:4")
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.started("a", 10.0)
    assert told(scheduler.round(899.0)) == [("keep", "a", "LEASED", [0, 1, 2, 3])]
    decision = scheduler.round(900.0)
    assert told(decision) == [("keep", "a", "RENEWED", [0, 1, 2, 3])]
    assert decision.outcome("a").checkpoint
    assert decision.outcome("a").lease_end_s == 1800.0
    status = scheduler.status("a")
    assert (status.cold_starts, status.cold_start_cost_s, status.leases) == (1, 20.0, 2)


def test_jobs_below_the_threshold_wait_whatever_is_free() -> None:
    """Worth 1 under a threshold of 2, on an empty cluster."""
    scheduler = made("host:2 gpu:4", idle=2.0)
    scheduler.submit("a", Gang(4), 0.0)
    decision = scheduler.round(0.0)
    assert decision.outcome("a").reason == (
        "outbid: 4 GPUs would be worth 1 to it, below the threshold of 2"
    )

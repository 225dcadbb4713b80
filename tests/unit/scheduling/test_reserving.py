"""Jobs that waited too long: first in line, and leaves held until they start."""

from __future__ import annotations

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import JobRequest, Scheduler, SchedulerOptions
from tests.unit.scheduling.reading import told


def crowded(**options: object) -> Scheduler:
    """Two hosts of 4 with a job each whose leases end at 300 and 400 seconds."""
    chosen = SchedulerOptions(
        lease_s=300.0, waiting_bound_s=60.0, releases="immediate", **options
    )
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"), options=chosen)
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.submit("b", Gang(4), 100.0)
    scheduler.round(100.0)
    return scheduler


def test_a_job_that_waited_too_long_gets_leaves_held() -> None:
    """The lease that ends first goes on only until the other one ends too."""
    scheduler = crowded()
    scheduler.submit("big", Gang(8), 100.0)
    assert told(scheduler.round(160.0))[-1] == ("wait", "big", "MISFIT", [])
    decision = scheduler.round(161.0)
    assert told(decision)[-1] == ("wait", "big", "RESERVED", [])
    assert decision.outcome("big").reason == (
        "reserved: 8 leaves in cluster by 400 s; it has waited 61 s"
    )
    decision = scheduler.round(300.0)
    assert told(decision)[0] == ("keep", "a", "RESERVED", [0, 1, 2, 3])
    assert decision.outcome("a").lease_end_s == 400.0
    assert told(scheduler.round(400.0)) == [
        ("stop", "a", "LEASE_ENDED", [0, 1, 2, 3]),
        ("stop", "b", "LEASE_ENDED", [4, 5, 6, 7]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("release", "b", "RELEASED", [4, 5, 6, 7]),
        ("start", "big", "OVERDUE", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("wait", "a", "OUTBID", []),
        ("wait", "b", "OUTBID", []),
    ]


def test_the_fewest_leases_that_must_end_decide_when() -> None:
    """Of five hosts three are wanted, and the third lease ends at 320 seconds."""
    options = SchedulerOptions(
        lease_s=300.0, round_s=10.0, waiting_bound_s=60.0, releases="immediate"
    )
    scheduler = Scheduler(Topology.from_spec("host:5 gpu:4"), options=options)
    for at in range(5):
        scheduler.submit(at, Gang(4), 10.0 * at)
        scheduler.round(10.0 * at)
    scheduler.submit("big", Gang(12), 50.0)
    assert scheduler.round(120.0).outcome("big").reason == (
        "reserved: 12 leaves in cluster by 320 s; it has waited 70 s"
    )
    assert scheduler.round(320.0).outcome("big").kind == "start"


def test_free_leaves_are_held_too() -> None:
    """What "b" leaves behind goes to nobody but the job for which it is held."""
    scheduler = crowded()
    scheduler.submit("big", Gang(8), 100.0)
    scheduler.round(170.0)
    scheduler.finish("b", 180.0)
    scheduler.submit("small", Gang(1), 180.0)
    assert told(scheduler.round(190.0)) == [
        ("keep", "a", "LEASED", [0, 1, 2, 3]),
        ("wait", "big", "RESERVED", []),
        ("wait", "small", "MISFIT", []),
    ]
    assert told(scheduler.round(300.0))[2] == (
        *("start", "big", "OVERDUE"),
        [0, 1, 2, 3, 4, 5, 6, 7],
    )


def test_a_job_that_can_never_run_holds_no_reservation() -> None:
    """It waited longest, and the only reservation goes to the next."""
    scheduler = crowded(reservations=1)
    scheduler.submit("never", Gang(9), 100.0)
    scheduler.submit("big", Gang(8), 100.0)
    decision = scheduler.round(170.0)
    assert told(decision)[-2:] == [
        ("wait", "never", "INFEASIBLE", []),
        ("wait", "big", "RESERVED", []),
    ]


def test_a_job_that_cannot_run_now_holds_no_reservation() -> None:
    """A host is down, so the one that wants all three has nothing to wait for."""
    options = SchedulerOptions(waiting_bound_s=60.0, reservations=1)
    scheduler = Scheduler(Topology.from_spec("host:3 gpu:4"), options=options)
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.fail([8, 9, 10, 11])
    scheduler.submit("huge", Gang(12), 1.0)
    scheduler.submit("big", Gang(8), 1.0)
    assert told(scheduler.round(70.0))[1:] == [
        ("wait", "huge", "MISFIT", []),
        ("wait", "big", "RESERVED", []),
    ]


def test_who_yields_to_the_overdue_is_of_the_lowest_priority() -> None:
    """Both leases are over and one host is wanted: that of the less important job."""
    options = SchedulerOptions(
        lease_s=60.0, waiting_bound_s=30.0, releases="immediate", order="owed"
    )
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"), options=options)
    scheduler.submit("low", JobRequest(Gang(4), priority=1), 0.0)
    scheduler.submit("high", JobRequest(Gang(4), priority=2), 0.0)
    scheduler.round(0.0)
    scheduler.submit("late", JobRequest(Gang(4), priority=0), 1.0)
    decision = scheduler.round(60.0)
    assert decision.outcome("late").why.name == "OVERDUE"
    assert decision.outcome("late").leaves.tolist() == [0, 1, 2, 3]

"""What is tried becomes so: actions, states, leases and accounts of a decision."""

from __future__ import annotations

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import Scheduler, SchedulerOptions
from tests.unit.scheduling.reading import told


def test_the_last_word_on_a_cancelled_job_is_its_release() -> None:
    """In mode "immediate" it is gone within the round, and waits for nothing."""
    options = SchedulerOptions(releases="immediate")
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"), options=options)
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.cancel("a", 1.0)
    assert told(scheduler.round(60.0)) == [
        ("stop", "a", "CANCELLED", [0, 1, 2, 3]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
    ]
    assert scheduler.jobs() == ()


def reported(lease_s: float = 60.0) -> Scheduler:
    """Two hosts of 4 with "a" and "b", started; stops are reported."""
    options = SchedulerOptions(lease_s=lease_s)
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"), options=options)
    for job in ("a", "b"):
        scheduler.submit(job, Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.started("a", 1.0)
    scheduler.started("b", 1.0)
    return scheduler


def test_leaves_of_a_stopped_job_are_nobodys_before_its_release() -> None:
    """Who is to have them is told so, and starts in the round after."""
    scheduler = reported()
    scheduler.cancel("a", 10.0)
    scheduler.submit("c", Gang(4), 10.0)
    decision = scheduler.round(20.0)
    assert told(decision) == [
        ("stop", "a", "CANCELLED", [0, 1, 2, 3]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "c", "HELD", []),
    ]
    assert decision.outcome("c").reason == "held: 4 leaves of 'a'"
    assert scheduler.planners["gpu"].free_leaves() == 0
    decision = scheduler.round(30.0)
    assert told(decision) == [
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
        ("wait", "a", "STOPPING", [0, 1, 2, 3]),
        ("wait", "c", "HELD", []),
    ]
    assert decision.outcome("a").reason == "stopping: since 20 s"
    scheduler.released("a", 35.0)
    assert "a" not in scheduler
    assert told(scheduler.round(40.0)) == [
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("start", "c", "CHOSEN", [0, 1, 2, 3]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
    ]


def test_a_release_is_told_once() -> None:
    """The round after has nothing of it."""
    scheduler = reported()
    scheduler.cancel("a", 10.0)
    scheduler.round(20.0)
    scheduler.released("a", 30.0)
    assert [one.kind.value for one in scheduler.round(31.0)] == ["release", "keep"]
    assert [one.kind.value for one in scheduler.round(32.0)] == ["keep"]


def test_a_lease_ends_exactly_at_its_end() -> None:
    """At 59 seconds it goes on; at 60 it is renewed, and a checkpoint is due."""
    scheduler = reported()
    assert [one.why.name for one in scheduler.round(59.0)] == ["LEASED", "LEASED"]
    decision = scheduler.round(60.0)
    assert [one.why.name for one in decision] == ["RENEWED", "RENEWED"]
    assert [one.checkpoint for one in decision] == [True, True]
    assert [one.lease_end_s for one in decision] == [120.0, 120.0]


def test_the_ledger_pays_from_the_start_to_the_release() -> None:
    """While a job stops its leaves are still on its account."""
    scheduler = reported(lease_s=900.0)
    scheduler.cancel("a", 100.0)
    scheduler.round(120.0)
    scheduler.ledger.advance(150.0)
    assert scheduler.ledger.job("a").service == 600.0
    scheduler.released("a", 170.0)
    scheduler.ledger.advance(1000.0)
    assert scheduler.ledger.leased_s == 4 * 170.0 + 4 * 1000.0


def test_waiting_is_counted_from_release_to_start() -> None:
    """And from submission to the first start."""
    scheduler = reported()
    scheduler.submit("c", Gang(8), 10.0)
    scheduler.submit("d", Gang(8), 10.0)
    scheduler.cancel("b", 10.0)
    scheduler.finish("a", 15.0)
    scheduler.round(20.0)
    scheduler.released("b", 25.0)
    decision = scheduler.round(40.0)
    assert decision.outcome("c").kind.value == "start"
    assert scheduler.status("c").waited_s == 30.0
    assert scheduler.status("d").waited_s == 30.0
    scheduler.ledger.advance(50.0)
    assert scheduler.status("c").waited_s == 30.0
    assert scheduler.status("d").waited_s == 40.0


def test_a_move_loses_what_no_checkpoint_has_and_is_a_cold_start() -> None:
    """All ranks of a repaired job begin again from its last snapshot."""
    scheduler = reported(lease_s=900.0)
    scheduler.finish("b", 2.0)
    scheduler.progress("a", 100.0)
    scheduler.checkpointed("a", 4.0)
    scheduler.progress("a", 30.0)
    scheduler.fail([2])
    assert scheduler.round(60.0).outcome("a").why.name == "FAILED"
    status = scheduler.status("a")
    assert (status.progress_s, status.lost_s) == (100.0, 30.0)
    assert (status.cold_starts, status.cold_start_cost_s) == (2, 40.0)
    assert (status.checkpoints, status.checkpoint_cost_s) == (1, 4.0)


def test_checkpoints_are_asked_for_after_the_round() -> None:
    """In order of actions: of what stops and of what is renewed, not of what goes on."""
    asked: list[tuple[object, list[int]]] = []
    scheduler = Scheduler(
        Topology.from_spec("host:3 gpu:4"),
        options=SchedulerOptions(lease_s=60.0),
        on_checkpoint=lambda job, leaves: asked.append((job, leaves.tolist())),
    )
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.submit("b", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.submit("c", Gang(4), 1.0)
    scheduler.round(30.0)
    assert asked == []
    scheduler.cancel("b", 40.0)
    scheduler.round(60.0)
    assert asked == [("b", [4, 5, 6, 7]), ("a", [0, 1, 2, 3])]


def test_who_would_wait_starts_on_free_leaves_that_are_as_near() -> None:
    """The best leaves are those of a job that is to stop; a free host will do."""
    options = SchedulerOptions(lease_s=900.0)
    scheduler = Scheduler(Topology.from_spec("host:3 gpu:4"), options=options)
    for job in ("a", "b"):
        scheduler.submit(job, Gang(4, within="host"), 0.0)
    scheduler.round(0.0)
    scheduler.cancel("a", 1.0)
    scheduler.submit("c", Gang(4, within="host"), 2.0)
    assert told(scheduler.round(3.0)) == [
        ("stop", "a", "CANCELLED", [0, 1, 2, 3]),
        ("start", "c", "CHOSEN", [8, 9, 10, 11]),
        ("keep", "b", "LEASED", [4, 5, 6, 7]),
    ]


def test_who_would_be_farther_apart_waits() -> None:
    """Four leaves of two hosts are free, and those of one host soon."""
    scheduler = Scheduler(Topology.from_spec("host:3 gpu:4"))
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.submit("b", Gang(2, within="host"), 0.0)
    scheduler.submit("c", Gang(2, within="host"), 0.0)
    scheduler.submit("d", Gang(2, within="host"), 0.0)
    scheduler.round(0.0)
    assert scheduler.placement("c").leaves.tolist() == [6, 7]  # type: ignore[union-attr]
    scheduler.finish("c", 1.0)
    scheduler.cancel("a", 1.0)
    scheduler.submit("e", Gang(4), 2.0)
    decision = scheduler.round(3.0)
    assert decision.outcome("e").reason == "held: 4 leaves of 'a'"
    assert scheduler.planners["gpu"].free_leaves() == 4


def test_leaves_held_for_another_do_not_serve_who_waits() -> None:
    """A free host is reserved, so the new job waits for the one that is to stop."""
    options = SchedulerOptions(waiting_bound_s=10.0)
    scheduler = Scheduler(Topology.from_spec("rack:2 host:2 gpu:4"), options=options)
    for job in ("b", "f", "a", "c"):
        scheduler.submit(job, Gang(4, within="host"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("big", Gang(8, within="rack"), 1.0)
    scheduler.finish("f", 2.0)
    scheduler.cancel("a", 2.0)
    scheduler.submit("new", Gang(4, within="host"), 15.0)
    decision = scheduler.round(16.0)
    assert told(decision) == [
        ("stop", "a", "CANCELLED", [8, 9, 10, 11]),
        ("keep", "b", "LEASED", [0, 1, 2, 3]),
        ("keep", "c", "LEASED", [12, 13, 14, 15]),
        ("wait", "big", "RESERVED", []),
        ("wait", "new", "HELD", []),
    ]
    assert scheduler.planners["gpu"].free_leaves() == 4

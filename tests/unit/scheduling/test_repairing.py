"""Broken and draining jobs: who moves, who must leave, and who is left alone."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import Scheduler, SchedulerOptions
from tests.unit.scheduling.reading import told


@pytest.fixture
def pair() -> Scheduler:
    """Two hosts of 4, job "a" runs on the first; its leases are long."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.started("a")
    return scheduler


def test_a_broken_job_moves_off_what_is_down(pair: Scheduler) -> None:
    """Only the dead rank changes its leaf, to one of the same rail."""
    pair.fail([2])
    decision = pair.round(60.0)
    assert told(decision) == [("move", "a", "FAILED", [0, 1, 6, 3])]
    repair = decision.outcome("a").repair
    assert repair is not None
    assert repair.moves.tolist() == [[2, 2, 6]]


def test_a_cancelled_job_is_not_repaired_first(pair: Scheduler) -> None:
    """It gives up the leaves that it has, the dead one among them."""
    pair.fail([0])
    pair.cancel("a", 1.0)
    assert told(pair.round(60.0)) == [("stop", "a", "CANCELLED", [0, 1, 2, 3])]


def test_a_stopping_job_is_not_drained(pair: Scheduler) -> None:
    """Its leaves become empty where they are, since it goes anyway."""
    pair.cancel("a", 1.0)
    pair.round(60.0)
    pair.drain([0, 1])
    assert told(pair.round(120.0)) == [("wait", "a", "STOPPING", [0, 1, 2, 3])]
    pair.released("a", 130.0)
    assert told(pair.round(180.0)) == [("release", "a", "RELEASED", [0, 1, 2, 3])]
    assert pair.planners["gpu"].free_leaves() == 6


def test_a_drained_job_moves_and_its_lease_goes_on(pair: Scheduler) -> None:
    """A move within the lease is no end of it."""
    pair.drain([0, 1])
    decision = pair.round(60.0)
    assert told(decision) == [("move", "a", "DRAINING", [4, 5, 2, 3])]
    assert decision.outcome("a").lease_end_s == 900.0


def lame(releases: str) -> Scheduler:
    """Two hosts of 4: "a" is to stop, and "b" lost a leaf when its lease was over."""
    options = SchedulerOptions(lease_s=60.0, releases=releases)
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"), options=options)
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.submit("b", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.started("a")
    scheduler.started("b")
    scheduler.cancel("a", 1.0)
    if releases == "reported":
        scheduler.round(10.0)
    scheduler.fail([5])
    return scheduler


def test_a_repair_takes_no_leaves_that_are_not_released() -> None:
    """Where only those would do, a broken job whose lease is over must stop."""
    scheduler = lame("reported")
    assert told(scheduler.round(120.0)) == [
        ("stop", "b", "BROKEN", [4, 5, 6, 7]),
        ("wait", "a", "STOPPING", [0, 1, 2, 3]),
    ]
    scheduler.validate()


def test_a_broken_job_may_start_anew_on_what_is_released_in_the_same_round() -> None:
    """In mode "immediate" it stops, since no free leaves repair it, and starts again."""
    scheduler = lame("immediate")
    assert told(scheduler.round(120.0)) == [
        ("stop", "a", "CANCELLED", [0, 1, 2, 3]),
        ("stop", "b", "BROKEN", [4, 5, 6, 7]),
        ("release", "a", "RELEASED", [0, 1, 2, 3]),
        ("release", "b", "RELEASED", [4, 5, 6, 7]),
        ("start", "b", "CHOSEN", [0, 1, 2, 3]),
    ]
    scheduler.validate()

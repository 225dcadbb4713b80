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

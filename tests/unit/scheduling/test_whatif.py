"""Copies of planners: what is tried on them, taken back, and made so."""

from __future__ import annotations

from phalanx_core import Gang, Planner, Topology
from phalanx_core.scheduling import JobRequest
from phalanx_core.scheduling.records import JobRecord, JobState
from phalanx_core.scheduling.whatif import WhatIf


def held() -> tuple[Planner, WhatIf, JobRecord]:
    """Two hosts of 4; job "a" has the first."""
    planner = Planner(Topology.from_spec("host:2 gpu:4"))
    gang = Gang(4)
    planner.place("a", gang)
    record = JobRecord("a", JobRequest(gang), 0)
    record.types = ("gpu",)
    record.take(0)
    record.state = JobState.RUNNING
    return planner, WhatIf({"gpu": planner}), record


def test_nothing_happens_before_it_is_accepted() -> None:
    """The planner keeps its bytes, whatever is tried."""
    planner, whatif, record = held()
    before = planner.save()
    whatif.give(record)
    assert whatif.free("gpu") == 8
    assert whatif.place("b", "gpu", Gang(8))
    assert planner.save() == before
    whatif.accept()
    assert planner.jobs() == ["b"]


def test_reading_makes_no_copy() -> None:
    """Until something changes the planner itself is asked."""
    planner, whatif, record = held()
    assert whatif.read("gpu") is planner
    whatif.give(record)
    assert whatif.read("gpu") is not planner


def test_what_nobody_took_is_taken_back_as_it_was() -> None:
    """The same leaves in the same order of ranks."""
    planner, whatif, record = held()
    whatif.give(record)
    assert whatif.place("b", "gpu", Gang(4, within="host"))
    assert whatif.of("gpu").placement("b").leaves.tolist() == [0, 1, 2, 3]
    assert not whatif.is_intact("a")
    assert not whatif.take_back("a")
    whatif = WhatIf({"gpu": planner})
    whatif.give(record)
    assert whatif.take_back("a")
    assert whatif.given == {}
    whatif.accept()
    assert planner.placement("a").leaves.tolist() == [0, 1, 2, 3]


def test_lost_leaves_are_not_taken_back_but_restored() -> None:
    """A stopping job keeps what it has, the leaf that is down among it."""
    planner, whatif, record = held()
    planner.fail([1])
    whatif.give(record)
    assert not whatif.take_back("a")
    whatif.restore("a")
    whatif.accept()
    assert planner.placement("a").leaves.tolist() == [0, 1, 2, 3]
    assert planner.broken() == ["a"]
    assert planner.owner(1).kind.value == "job"
    planner.release("a")
    assert planner.owner(1).kind.value == "quarantine"


def test_restoring_leaves_the_quarantine_of_others_alone() -> None:
    """Only leaves of the job's own come back to it."""
    planner, whatif, record = held()
    planner.place("c", Gang(2))
    planner.fail([4])
    planner.release("c")
    planner.fail([1])
    whatif.give(record)
    whatif.restore("a")
    whatif.accept()
    assert planner.owner(4).kind.value == "quarantine"
    assert planner.fenced("c").tolist() == [4]

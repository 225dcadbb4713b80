"""Questions to a scheduler: they change nothing, and name what is wrong."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import InvalidRequest, InvariantBroken, UnknownJob
from phalanx_core.scheduling import JobRequest, JobState, Lease, Scheduler


@pytest.fixture
def filled() -> Scheduler:
    """Three hosts of 2: "low" and "mid" and "top" by priority, all running."""
    scheduler = Scheduler(Topology.from_spec("host:3 gpu:2"))
    for job, priority in (("low", 0), ("mid", 1), ("top", 5)):
        request = JobRequest(Gang(2, within="host"), priority=priority, restart_s=10.0)
        scheduler.submit(job, request, 0.0)
    scheduler.round(0.0)
    for job in scheduler:
        scheduler.started(job)
    return scheduler


def test_advice_costs_what_a_leaving_would_lose(filled: Scheduler) -> None:
    """GPUs times the seconds since the last checkpoint and those of a restart."""
    filled.progress("low", 100.0)
    filled.progress("mid", 500.0)
    filled.checkpointed("mid", 3.0)
    filled.progress("mid", 40.0)
    advice = filled.preempt_advice(Gang(2, within="host"), 2)
    assert advice
    assert (advice.victims, advice.cost) == (("mid",), 100.0)
    advice = filled.preempt_advice(Gang(2, within="host"), 1)
    assert advice
    assert (advice.victims, advice.cost) == (("low",), 220.0)
    assert not filled.preempt_advice(Gang(2, within="host"), 0)


def test_advice_needs_a_type_that_exists(filled: Scheduler) -> None:
    """The error names the types."""
    with pytest.raises(InvalidRequest, match=r"^type 'H100': one of gpu$"):
        filled.preempt_advice(Gang(2), 1, "H100")


def test_jobs_are_known_in_order_of_submission(filled: Scheduler) -> None:
    """As a collection of keys."""
    assert filled.jobs() == tuple(filled) == ("low", "mid", "top")
    assert len(filled) == 3
    assert "low" in filled
    assert "none" not in filled


def test_a_status_is_of_its_moment(filled: Scheduler) -> None:
    """All that a job was told, by literal values."""
    status = filled.status("low")
    assert status.state is JobState.RUNNING
    assert status.lease == Lease(0.0, 900.0)
    assert (status.configuration, status.leases) == (0, 1)
    assert (status.submitted_s, status.waiting_since_s, status.waited_s) == (
        *(0.0, None, 0.0),
    )
    assert (status.cold_starts, status.cold_start_cost_s) == (1, 20.0)
    with pytest.raises(
        UnknownJob, match=r"^job 'none': the scheduler does not know it$"
    ):
        filled.status("none")
    with pytest.raises(UnknownJob):
        filled.placement("none")


def test_validate_finds_what_is_broken(filled: Scheduler) -> None:
    """Each invariant of the records, by its tag."""
    filled.validate()
    record = filled._records["low"]
    record.lease = None
    with pytest.raises(InvariantBroken, match="R3"):
        filled.validate()
    record.lease = Lease(0.0, 900.0)
    record.state = JobState.PENDING
    with pytest.raises(InvariantBroken, match="R1"):
        filled.validate()
    record.state = JobState.RUNNING
    filled.planners["gpu"].release("low")
    with pytest.raises(InvariantBroken, match="R1"):
        filled.validate()
    filled.planners["gpu"].place("low", Gang(1))
    with pytest.raises(InvariantBroken, match="R2"):
        filled.validate()

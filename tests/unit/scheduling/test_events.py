"""What a scheduler is told between rounds, and what it refuses to hear."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import Configuration, JobRequest, Scheduler


def test_a_job_that_is_refused_brings_no_tenant() -> None:
    """The ledger has the tenants that it had, and the same key may come again."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    with pytest.raises(
        InvalidRequest, match=r"^weight 10000000000000.0: from 1e-6 to 1e6$"
    ):
        scheduler.submit("a", JobRequest(Gang(4), tenant="t", weight=1e13), 0.0)
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

"""What a scheduler is told between rounds, and what it refuses to hear."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import JobRequest, Scheduler


def test_a_job_that_is_refused_brings_no_tenant() -> None:
    """The ledger has the tenants that it had, and the same key may come again."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    with pytest.raises(
        InvalidRequest, match=r"^weight 10000000000000.0: from 1e-12 to 1e12$"
    ):
        scheduler.submit("a", JobRequest(Gang(4), tenant="t", weight=1e13), 0.0)
    assert scheduler.ledger.tenants() == ()
    assert scheduler.jobs() == ()
    scheduler.submit("a", JobRequest(Gang(4), tenant="t"), 0.0)
    assert scheduler.ledger.tenants() == ("t",)

"""Leases: when they end, and what a renewal is."""

from __future__ import annotations

from phalanx_core.scheduling import Lease


def test_a_lease_is_over_exactly_at_its_end() -> None:
    """Not a second before."""
    lease = Lease.granted(100.0, 900.0)
    assert (lease.start_s, lease.end_s, lease.renewals) == (100.0, 1000.0, 0)
    assert [lease.is_over(now) for now in (999.5, 1000.0, 1000.5)] == [
        *(False, True, True)
    ]


def test_a_renewal_begins_now_and_counts() -> None:
    """However late it comes."""
    lease = Lease.granted(0.0, 60.0).renewed(75.0, 60.0)
    assert lease == Lease(75.0, 135.0, 1)
    assert lease.renewed(135.0, 30.0) == Lease(135.0, 165.0, 2)

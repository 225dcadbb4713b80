"""``Lease``: a grant of GPU time; what begins, goes on, ends and ends early."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """A grant of leaves for some time.

    Attributes
    ----------
    start_s, end_s
        When it began, and when its holder may be made to leave.
    renewals
        How many leases without a break the job had before this one.

    Examples
    --------
    >>> lease = Lease.granted(100.0, 900.0)
    >>> lease.is_over(999.0), lease.is_over(1000.0)
    (False, True)
    >>> lease.renewed(1010.0, 900.0)
    Lease(start_s=1010.0, end_s=1910.0, renewals=1)
    """

    start_s: float
    end_s: float
    renewals: int = 0

    @classmethod
    def granted(cls, now: float, lease_s: float) -> Lease:
        """A first lease from now on."""
        return cls(now, now + lease_s)

    def renewed(self, now: float, lease_s: float) -> Lease:
        """The next one in place: its holder goes on without a start."""
        return Lease(now, now + lease_s, self.renewals + 1)

    def is_over(self, now: float) -> bool:
        """Whether it has ended."""
        return now >= self.end_s

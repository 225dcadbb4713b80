"""Rows of the ledger: integrals of steps, jobs, and tenants with the log of their shares.

All sums are kept as two doubles, high and low, so that neither the length of a history
nor the size of what came before takes digits from what comes next.
"""

from __future__ import annotations

from collections import deque

from phalanx_core.fairness.accounts import Job, JobState

PENDING, RUNNING = JobState.PENDING, JobState.RUNNING


def added(high: float, low: float, more: float) -> tuple[float, float]:
    """A sum of two doubles and a third: what rounding takes from one is in the other.

    Examples
    --------
    >>> high, low = added(*added(1e16, 0.0, 1.0), -1e16)
    >>> high + low
    1.0
    """
    total = high + more
    back = total - high
    return total, low + ((high - (total - back)) + (more - back))


class Integral:
    """The integral over time of a rate that changes by steps.

    Parameters
    ----------
    since
        Time of the last step, seconds; the rate is 0 until the first.
    """

    __slots__ = ("high", "low", "rate", "since")

    def __init__(self, since: float) -> None:
        self.rate: float = 0.0
        self.since = since
        self.high = 0.0
        self.low = 0.0

    def step(self, now: float, rate: float) -> None:
        """From now on this rate. Written out, not by :func:`added`: every event is here."""
        old = self.rate
        if old:
            more = old * (now - self.since)
            high = self.high
            self.high = total = high + more
            back = total - high
            self.low += (high - (total - back)) + (more - back)
        self.since = now
        self.rate = rate

    def at(self, now: float) -> float:
        """Its value, without a step."""
        more = self.rate * (now - self.since)
        high, low = added(self.high, self.low, more)
        return high + low

    def emptied(self) -> tuple[float, float]:
        """What it has come to, high and low; it goes on from 0."""
        found = self.high, self.low
        self.high = self.low = 0.0
        return found


class JobRow:
    """One job: its service, and its entitlement up to piece ``join`` of the tenant's log."""

    __slots__ = (
        "demand",
        "high",
        "join",
        "key",
        "low",
        "service",
        "state",
        "tenant",
        "weight",
    )

    def __init__(
        self, key: Job, tenant: TenantRow, demand: int, weight: float, now: float
    ) -> None:
        self.key = key
        self.tenant = tenant
        self.demand = demand
        self.weight = weight
        self.state = PENDING
        self.service = Integral(now)
        self.high = 0.0
        self.low = 0.0
        self.join = 0


# A job's stay among the active ones with one demand and one weight: pieces of its tenant's
# log from the first number up to the second.
Segment = tuple[JobRow, int, int, int, float]


class TenantRow:
    """One tenant: its sums, its integrals, and pieces of its log that no job has read.

    A piece is a time over which the share of a unit of weight does not change; it holds
    for all jobs that are active then. ``closed`` has service and due of each whole bucket
    of the window, the oldest first, and is None without a window.
    """

    __slots__ = (
        "by_demand",
        "closed",
        "demand",
        "due",
        "heavy",
        "jobs",
        "level",
        "levels",
        "light",
        "name",
        "past_due",
        "past_service",
        "quota",
        "segments",
        "service",
        "spans",
        "weight",
    )

    def __init__(
        self, name: str, weight: float, now: float, by_demand: bool, buckets: int
    ) -> None:
        self.name = name
        self.weight = weight
        self.by_demand = by_demand
        self.quota = 0.0
        self.jobs: dict[Job, JobRow] = {}
        self.demand = 0
        self.heavy = 0.0
        self.light = 0.0
        self.level = 0.0
        self.due = Integral(now)
        self.service = Integral(now)
        self.closed: deque[tuple[float, float]] | None = (
            deque(maxlen=buckets) if buckets else None
        )
        self.past_due = (0.0, 0.0)
        self.past_service = (0.0, 0.0)
        self.spans: list[float] = []
        self.levels: list[float] = []
        self.segments: list[Segment] = []

    def log(self, now: float) -> int:
        """End the piece that runs, before its level changes; how many there are."""
        spans = self.spans
        span = now - self.due.since
        if span > 0.0 and self.jobs:
            spans.append(span)
            self.levels.append(self.level)
            # The time is told once: what is due goes on from the end of the piece.
            self.due.step(now, self.due.rate)
        return len(spans)

    def share(self, now: float) -> None:
        """The fair share from now on, and that of a unit of weight (after a change)."""
        quota = self.quota
        rate = quota
        if self.by_demand and self.demand < quota:
            rate = float(self.demand)
        due = self.due
        if due.since == now:
            due.rate = rate
        else:
            due.step(now, rate)
        if self.jobs:
            self.level = rate / (self.heavy + self.light)
        else:
            self.level = self.heavy = self.light = 0.0

    def weigh(self, change: float) -> None:
        """Add to the sum of active weights."""
        high = self.heavy
        self.heavy = total = high + change
        back = total - high
        self.light += (high - (total - back)) + (change - back)

    def roll(self, end: float, begin: float, whole: int, bucket_s: float) -> None:
        """Close the bucket that ends at ``end``, and ``whole`` more up to ``begin``."""
        closed = self.closed
        assert closed is not None
        self.log(end)
        self._close(end, closed)
        if whole:
            self.log(begin)
            # What these buckets hold is one rate each; no more of them than are kept.
            each = self.service.rate * bucket_s, self.due.rate * bucket_s
            closed.extend([each] * min(whole, closed.maxlen or 0))
            for integral in (self.service, self.due):
                integral.step(begin, integral.rate)
            self._keep()

    def _close(self, end: float, closed: deque[tuple[float, float]]) -> None:
        for integral in (self.service, self.due):
            integral.step(end, integral.rate)
        sums = (self.service.high + self.service.low, self.due.high + self.due.low)
        closed.append(sums)
        self._keep()

    def _keep(self) -> None:
        """Move what the integrals have to the totals of all buckets before."""
        high, low = self.service.emptied()
        self.past_service = added(*added(*self.past_service, high), low)
        high, low = self.due.emptied()
        self.past_due = added(*added(*self.past_due, high), low)

    def windowed(self, now: float) -> tuple[float, float]:
        """Service and due over the window, GPU-seconds; all there is without one."""
        service, due = self.service.at(now), self.due.at(now)
        for one in self.closed or ():
            service += one[0]
            due += one[1]
        return service, due

    def lifetime_service(self, now: float) -> float:
        """GPU-seconds leased since the tenant was added."""
        return self.service.at(now) + sum(self.past_service)

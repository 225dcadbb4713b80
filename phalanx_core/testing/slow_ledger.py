"""A slow twin of the ledger: every event adds one piece of time to every account."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

Job: TypeAlias = str | int
# Fraction for exact sums, float for long ones.
Number: TypeAlias = Any


class SlowJob:
    """One job and what it has come to."""

    def __init__(self, tenant: str, demand: int, weight: Number, zero: Number) -> None:
        self.tenant = tenant
        self.demand = demand
        self.weight = weight
        self.gpus = 0
        self.state = "pending"
        self.service = zero
        self.entitled = zero

    @property
    def active(self) -> bool:
        """Pending or running."""
        return self.state in ("pending", "running")


class SlowLedger:
    """The accounts of ASTRAEA as they are defined, without checks of what it is told.

    Parameters
    ----------
    capacity, tenants, entitlement, window, bucket_s, start_s
        As :class:`phalanx_core.fairness.Ledger` has them.
    number
        What it counts in: ``Fraction`` is exact, ``float`` faster.

    Attributes
    ----------
    jobs
        Every job ever submitted.
    service, entitled
        Of each tenant and bucket, GPU-seconds; all is one bucket without a window.
    leased
        GPU-seconds of all jobs.

    Notes
    -----
    O(jobs ever submitted) an event.

    Examples
    --------
    >>> slow = SlowLedger(16, {"A": 1, "B": 1})
    >>> slow.submit("a1", "A", 8, 0)
    >>> slow.start("a1", 900)
    >>> slow.advance(3600)
    >>> slow.jobs["a1"].service / slow.jobs["a1"].entitled
    Fraction(3, 4)
    """

    def __init__(
        self,
        capacity: float,
        tenants: Mapping[str, float],
        entitlement: str = "quota",
        window: float | None = None,
        *,
        bucket_s: float = 3600.0,
        start_s: float = 0.0,
        number: Callable[[Any], Number] = Fraction,
    ) -> None:
        self.number = number
        self.capacity = number(capacity)
        self.weights = {name: number(weight) for name, weight in tenants.items()}
        self.entitlement = entitlement
        self.bucket_s = None if window is None else number(bucket_s)
        self.buckets = 0 if window is None else round(window / bucket_s)
        self.start_s = self.now = number(start_s)
        self.jobs: dict[Job, SlowJob] = {}
        self.service: dict[tuple[str, int], Number] = {}
        self.entitled: dict[tuple[str, int], Number] = {}
        self.leased = number(0)

    def bucket(self, now: Number) -> int:
        """Number of the bucket that a time lies in."""
        if self.bucket_s is None:
            return 0
        return int((now - self.start_s) // self.bucket_s)

    def quota(self, tenant: str) -> Number:
        """GPUs that a tenant's weight is worth."""
        return self.capacity * self.weights[tenant] / sum(self.weights.values())

    def active(self, tenant: str) -> list[SlowJob]:
        """Active jobs of a tenant."""
        return [j for j in self.jobs.values() if j.tenant == tenant and j.active]

    def share(self, tenant: str) -> Number:
        """GPUs that a tenant is due now."""
        if self.entitlement == "quota":
            return self.quota(tenant)
        demand = sum(job.demand for job in self.active(tenant))
        return min(self.number(demand), self.quota(tenant))

    def advance(self, now: float) -> None:
        """Go on to a time, bucket after bucket."""
        end = self.number(now)
        while self.bucket_s is not None and self.bucket(self.now) < self.bucket(end):
            self._piece(self.start_s + (self.bucket(self.now) + 1) * self.bucket_s)
        self._piece(end)

    def _piece(self, end: Number) -> None:
        """Add a time in which nothing changes."""
        span, bucket = end - self.now, self.bucket(self.now)
        for tenant in self.weights:
            jobs, share = self.active(tenant), self.share(tenant)
            weights = sum(job.weight for job in jobs)
            gpus = 0
            for job in jobs:
                job.service += job.gpus * span
                job.entitled += min(job.demand, share * job.weight / weights) * span
                gpus += job.gpus
            key = (tenant, bucket)
            zero = self.number(0)
            self.service[key] = self.service.get(key, zero) + gpus * span
            self.entitled[key] = self.entitled.get(key, zero) + share * span
            self.leased += gpus * span
        self.now = end

    def windowed(self, tenant: str) -> tuple[Number, Number]:
        """Service and entitlement of a tenant over the window, up to now."""
        last = self.bucket(self.now)
        wanted = [(tenant, at) for at in range(last - self.buckets, last + 1)]
        zero = self.number(0)
        return (
            sum((self.service[key] for key in wanted if key in self.service), zero),
            sum((self.entitled[key] for key in wanted if key in self.entitled), zero),
        )

    def submit(
        self, job: Job, tenant: str, demand: int, now: float, weight: float = 1.0
    ) -> None:
        """A new job."""
        self.advance(now)
        zero = self.number(0)
        self.jobs[job] = SlowJob(tenant, demand, self.number(weight), zero)

    def start(self, job: Job, now: float, gpus: int | None = None) -> None:
        """A lease begins."""
        self.advance(now)
        one = self.jobs[job]
        one.state, one.gpus = "running", one.demand if gpus is None else gpus

    def stop(self, job: Job, now: float) -> None:
        """A lease ends."""
        self.advance(now)
        self.jobs[job].state, self.jobs[job].gpus = "pending", 0

    def finish(self, job: Job, now: float) -> None:
        """A job ends well."""
        self.advance(now)
        self.jobs[job].state, self.jobs[job].gpus = "finished", 0

    def fail(self, job: Job, now: float) -> None:
        """A job ends badly."""
        self.advance(now)
        self.jobs[job].state, self.jobs[job].gpus = "failed", 0

    def resize(
        self, job: Job, demand: int, now: float, gpus: int | None = None
    ) -> None:
        """A job asks for another number, and holds it if it runs."""
        self.advance(now)
        one = self.jobs[job]
        one.demand = demand
        if one.state == "running":
            one.gpus = demand if gpus is None else gpus

    def reweight(self, job: Job, weight: float, now: float) -> None:
        """A job has another weight."""
        self.advance(now)
        self.jobs[job].weight = self.number(weight)

    def set_tenant(self, tenant: str, weight: float, now: float) -> None:
        """A tenant is added, or has another weight."""
        self.advance(now)
        self.weights[tenant] = self.number(weight)

    def remove_tenant(self, tenant: str, now: float) -> None:
        """A tenant is gone, and its sums."""
        self.advance(now)
        del self.weights[tenant]
        for sums in (self.service, self.entitled):
            for key in [key for key in sums if key[0] == tenant]:
                del sums[key]

    def set_capacity(self, capacity: float, now: float) -> None:
        """The cluster has another number of GPUs."""
        self.advance(now)
        self.capacity = self.number(capacity)


def slow_entitlements(
    tenant: Sequence[int],
    demand: Sequence[int],
    submit_s: Sequence[float],
    end_s: Sequence[float],
    quotas: Sequence[float] | Sequence[Sequence[float]],
    *,
    weight: Sequence[float] | None = None,
    entitlement: str = "quota",
    since_s: Sequence[float] | None = None,
    number: Callable[[Any], Number] = Fraction,
) -> list[Number]:
    """As :func:`phalanx_core.fairness.entitlements`: every piece to every active job.

    Notes
    -----
    O(pieces * jobs).

    Examples
    --------
    >>> slow_entitlements([0, 0], [1, 8], [0, 0], [10, 10], [8])
    [Fraction(10, 1), Fraction(40, 1)]
    """
    jobs = range(len(tenant))
    weights = [number(1 if weight is None else weight[job]) for job in jobs]
    since: list[Any] = [None] if since_s is None else list(since_s)
    rows: Any = [quotas] if since_s is None else quotas
    changes = [one for one in since if one is not None]
    times = sorted({number(one) for one in (*submit_s, *end_s, *changes)})
    found = [number(0) for _ in jobs]
    for begin, end in pairwise(times):
        held = len([one for one in since if one is None or number(one) <= begin]) - 1
        active = [job for job in jobs if submit_s[job] <= begin < end_s[job]]
        for home in sorted({tenant[job] for job in active}):
            own = [job for job in active if tenant[job] == home]
            share = number(rows[held][home])
            if entitlement == "demand":
                share = min(share, number(sum(int(demand[job]) for job in own)))
            total = sum(weights[job] for job in own)
            for job in own:
                due = min(number(int(demand[job])), share * weights[job] / total)
                found[job] += due * (end - begin)
    return found

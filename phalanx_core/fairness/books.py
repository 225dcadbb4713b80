"""The state of a ledger and what can be asked of it; its events stand in ``ledger``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, fsum, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.checks import is_number, shown
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.accounts import (
    ENTITLEMENTS,
    Entitlement,
    Job,
    JobAccount,
    TenantAccount,
    TenantTable,
    ratio,
)
from phalanx_core.fairness.changes import (
    TIME_MAX,
    capacity_of,
    row_of,
    tenant_name,
    tenant_of,
    time_of,
    weight_of,
)
from phalanx_core.fairness.rows import Integral, JobRow, TenantRow
from phalanx_core.fairness.settling import settle

BUCKETS_MAX = 10_000
# Entries of a tenant's log at which it is read, so that nobody need ask for the sake of
# memory.
LOG_MAX = 2**16


class Books:
    """Rows of jobs and tenants up to the last event, and the accounts made of them.

    What must hold of them, F1 to F8, stands in :mod:`phalanx_core.fairness.invariants`.
    """

    def __init__(
        self,
        capacity: float,
        tenants: Mapping[str, float],
        entitlement: Entitlement = "quota",
        window: float | None = None,
        *,
        bucket_s: float = 3600.0,
        start_s: float = 0.0,
    ) -> None:
        if entitlement not in ENTITLEMENTS:
            raise InvalidRequest(f"entitlement {entitlement!r}: 'quota' or 'demand'")
        if not isinstance(tenants, Mapping):
            raise InvalidRequest(f"tenants {shown(tenants)}: a weight for each name")
        self._capacity = capacity_of(capacity)
        self._entitlement: Entitlement = entitlement
        self._start = self._now = time_of(start_s, -TIME_MAX)
        self._bucket_s = _bucket(bucket_s)
        self._buckets = _buckets(window, self._bucket_s)
        self._bucket = 0
        self._bucket_end = self._start + self._bucket_s if self._buckets else inf
        self._leased = Integral(self._now)
        self._jobs: dict[Job, JobRow] = {}
        self._tenants: dict[str, TenantRow] = {}
        # What rows that are gone were given: of tenants removed, and of jobs forgotten.
        self._removed = self._forgotten = (0.0, 0.0)
        weights = {
            tenant_name(name): weight_of(f"weight of tenant {name!r}", weight)
            for name, weight in tenants.items()
        }
        for name, weight in weights.items():
            self._tenants[name] = self._new_tenant(name, weight)
        self._requote()

    @property
    def now(self) -> float:
        """Time of the last event, seconds; all answers are as of then."""
        return self._now

    @property
    def capacity(self) -> float:
        """GPUs that quotas are shares of."""
        return self._capacity

    @property
    def entitlement(self) -> Entitlement:
        """What a tenant is due: "quota" or "demand"."""
        return self._entitlement

    @property
    def window(self) -> float | None:
        """Seconds that tenants' sums reach back beyond the current bucket; None: all."""
        return self._buckets * self._bucket_s if self._buckets else None

    @property
    def leased_s(self) -> float:
        """GPU-seconds leased to all jobs since the start, integrated on its own."""
        return self._leased.at(self._now)

    def tenants(self) -> tuple[str, ...]:
        """Names in the order in which they were added."""
        return tuple(self._tenants)

    def jobs(self, *, active: bool = True) -> tuple[Job, ...]:
        """Keys in order of submission: of active jobs, or of all not forgotten."""
        return tuple(
            row.key
            for row in self._jobs.values()
            if not active or row.key in row.tenant.jobs
        )

    def job(self, job: Job) -> JobAccount:
        """The account of one job, active or ended.

        Raises
        ------
        UnknownJob
            If it was never submitted, or was forgotten.

        Notes
        -----
        Reads the log of its tenant, as :meth:`job_ratios` does.
        """
        row = row_of(self._jobs, job)
        settle(row.tenant, self._now)
        return self._account(row)

    def job_ratios(self, jobs: Sequence[Job]) -> NDArray[np.float64]:
        """Service over entitlement of jobs: float64, shape (jobs,).

        Raises
        ------
        UnknownJob
            If the ledger does not know one.

        Notes
        -----
        Reads the log of their tenants: O((active jobs + events since the last time)
        log jobs). A ratio's rounding, not its first 12 digits, depends on how often one
        asks.
        """
        rows = [row_of(self._jobs, job) for job in jobs]
        now = self._now
        for tenant in dict.fromkeys([row.tenant for row in rows]):
            settle(tenant, now)
        found = [ratio(row.service.at(now), row.high + row.low) for row in rows]
        return np.array(found, np.float64)

    def tenant(self, name: str) -> TenantAccount:
        """The account of one tenant.

        Raises
        ------
        InvalidRequest
            If the ledger has no such tenant.
        """
        row = tenant_of(self._tenants, name)
        service, due = row.windowed(self._now)
        return TenantAccount(
            tenant=row.name,
            weight=row.weight,
            quota=row.quota,
            demand=row.demand,
            gpus=int(row.service.rate),
            service=service,
            entitled=due,
            entitlement=self._entitlement,
        )

    def tenant_table(self) -> TenantTable:
        """Service, entitlement and quota of all tenants as arrays, in order of addition."""
        sums = [row.windowed(self._now) for row in self._tenants.values()]
        both = np.array(sums, np.float64).reshape(len(sums), 2)
        quotas = [row.quota for row in self._tenants.values()]
        return TenantTable(
            tuple(self._tenants),
            both[:, 0].copy(),
            both[:, 1].copy(),
            np.array(quotas, np.float64),
        )

    def _account(self, row: JobRow) -> JobAccount:
        return JobAccount(
            job=row.key,
            tenant=row.tenant.name,
            demand=row.demand,
            gpus=int(row.service.rate),
            weight=row.weight,
            state=row.state,
            service=row.service.at(self._now),
            entitled=row.high + row.low,
            entitlement=self._entitlement,
        )

    def _new_tenant(self, name: str, weight: float) -> TenantRow:
        by_demand = self._entitlement == "demand"
        return TenantRow(name, weight, self._now, by_demand, self._buckets)

    def _requote(self) -> None:
        """Quotas of all tenants from now on."""
        rows = self._tenants.values()
        total = fsum(row.weight for row in rows)
        for row in rows:
            if row.log(self._now) >= LOG_MAX:
                settle(row, self._now)
            row.quota = self._capacity * row.weight / total
            row.share(self._now)

    def _roll(self, now: float) -> None:
        """Go on to the bucket that a time lies in."""
        start, size, old = self._start, self._bucket_s, self._bucket
        bucket = floor((now - start) / size)
        # Bounds are products and never sums of steps; the quotient may miss one by 1.
        while start + bucket * size > now:
            bucket -= 1
        while start + (bucket + 1) * size <= now:
            bucket += 1
        end, begin = self._bucket_end, start + bucket * size
        for tenant in self._tenants.values():
            tenant.roll(end, begin, bucket - old - 1, size)
            if len(tenant.spans) >= LOG_MAX:
                settle(tenant, begin)
        self._bucket = bucket
        self._bucket_end = start + (bucket + 1) * size


def _bucket(given: Any) -> float:
    if not (is_number(given) and 1 <= given <= TIME_MAX):
        raise InvalidRequest(f"bucket_s {shown(given)}: finite and at least 1 second")
    return float(given)


def _buckets(window: Any, bucket_s: float) -> int:
    """Whole buckets of a window; 0 without one."""
    if window is None:
        return 0
    if is_number(window):
        count = round(float(window) / bucket_s)
        if 1 <= count <= BUCKETS_MAX and count * bucket_s == window:
            return count
    raise InvalidRequest(
        f"window {shown(window)}: 1 to {BUCKETS_MAX} times bucket_s {bucket_s!r}, or None"
    )

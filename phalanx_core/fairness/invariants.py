"""What must always hold of a ledger's rows, worked out anew.

F1  a tenant's sum of weights is that of its active jobs
F2  a tenant's demand is the sum of its active jobs'
F3  GPUs that running jobs hold add up to their tenant's, and these to the cluster's
F4  service of tenants, those removed included, adds up to what was leased
F5  service of jobs, those forgotten included, adds up to what was leased
F6  quotas, shares and levels are what capacity, weights and demands make them
F7  a job is in its tenant's rows exactly while it is active, and holds GPUs if it runs
F8  the present lies in the current bucket, and no log or integral beyond the present
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum, inf, isclose
from typing import Protocol

from phalanx_core.errors import InvariantBroken
from phalanx_core.fairness.accounts import Job, JobState
from phalanx_core.fairness.rows import Integral, JobRow, TenantRow

SUMS_TOLERANCE = 1e-9
WEIGHTS_TOLERANCE = 1e-12


class Rows(Protocol):
    """What of a ledger the invariants speak of."""

    _now: float
    _start: float
    _capacity: float
    _buckets: int
    _bucket: int
    _bucket_s: float
    _bucket_end: float
    _leased: Integral
    _jobs: dict[Job, JobRow]
    _tenants: dict[str, TenantRow]
    _removed: tuple[float, float]
    _forgotten: tuple[float, float]


def validate(books: Rows) -> None:
    """Check all of them, in order of their tags where one does not depend on another.

    Raises
    ------
    InvariantBroken
        With the tag of the first that does not hold.

    Notes
    -----
    O(jobs + tenants + logs).
    """
    for tenant in books._tenants.values():
        _validate_sums(tenant)
    _hold("F3", "GPUs of tenants", _rates(books._tenants), books._leased.rate)
    _validate_service(books)
    _validate_shares(books._tenants, books._capacity)
    for key, job in books._jobs.items():
        _validate_job(key, job)
    _validate_times(books)


def _broken(tag: str, what: str, found: object, wanted: object) -> InvariantBroken:
    return InvariantBroken(tag, f"{what}: {found!r}, and it should be {wanted!r}")


def _hold(
    tag: str, what: str, found: float, wanted: float, tolerance: float = 0.0
) -> None:
    if not isclose(found, wanted, rel_tol=tolerance, abs_tol=tolerance):
        raise _broken(tag, what, found, wanted)


def _rates(tenants: Mapping[str, TenantRow]) -> float:
    return sum(tenant.service.rate for tenant in tenants.values())


def _validate_sums(tenant: TenantRow) -> None:
    jobs = tenant.jobs.values()
    name = f"tenant {tenant.name!r}"
    weights = fsum(job.weight for job in jobs)
    sums = tenant.heavy + tenant.light
    if not isclose(sums, weights, rel_tol=WEIGHTS_TOLERANCE):
        raise _broken("F1", f"weights of {name}", sums, weights)
    _hold("F2", f"demand of {name}", tenant.demand, sum(job.demand for job in jobs))
    held = sum(job.service.rate for job in jobs)
    _hold("F3", f"GPUs of {name}", tenant.service.rate, held)


def _validate_service(books: Rows) -> None:
    now = books._now
    leased = books._leased.at(now)
    of_tenants = [row.lifetime_service(now) for row in books._tenants.values()]
    of_jobs = [row.service.at(now) for row in books._jobs.values()]
    for tag, what, found in (
        ("F4", "service of tenants", fsum((*of_tenants, *books._removed))),
        ("F5", "service of jobs", fsum((*of_jobs, *books._forgotten))),
    ):
        _hold(tag, what, found, leased, SUMS_TOLERANCE)


def _validate_shares(tenants: Mapping[str, TenantRow], capacity: float) -> None:
    total = fsum(row.weight for row in tenants.values())
    for row in tenants.values():
        name = f"tenant {row.name!r}"
        quota = capacity * row.weight / total
        _hold("F6", f"quota of {name}", row.quota, quota)
        share = min(float(row.demand), quota) if row.by_demand else quota
        _hold("F6", f"share of {name}", row.due.rate, share)
        level = share / (row.heavy + row.light) if row.jobs else 0.0
        _hold("F6", f"level of {name}", row.level, level)


def _validate_job(key: Job, job: JobRow) -> None:
    active = job.state in (JobState.PENDING, JobState.RUNNING)
    if (job.tenant.jobs.get(key) is job) is not active or job.key != key:
        raise InvariantBroken("F7", f"job {key!r}: {job.state}, against its tenant")
    if (job.service.rate > 0) is not (job.state is JobState.RUNNING):
        raise _broken("F7", f"GPUs of {job.state} job {key!r}", job.service.rate, 0)
    if not 0 <= job.join <= len(job.tenant.spans):
        raise InvariantBroken("F8", f"job {key!r}: joined at piece {job.join}")


def _integrals(books: Rows) -> Iterable[Integral]:
    yield books._leased
    for tenant in books._tenants.values():
        yield tenant.due
        yield tenant.service
    for job in books._jobs.values():
        yield job.service


def _validate_times(books: Rows) -> None:
    now, start = books._now, books._start
    if books._buckets:
        begin = start + books._bucket * books._bucket_s
        end = start + (books._bucket + 1) * books._bucket_s
        if not begin <= now < end or end != books._bucket_end:
            raise _broken("F8", "the current bucket", (begin, end), now)
    elif books._bucket_end != inf:
        raise _broken("F8", "the only bucket's end", books._bucket_end, inf)
    for one in _integrals(books):
        if not start <= one.since <= now or not one.rate >= 0 or not one.high >= 0:
            raise InvariantBroken("F8", f"an integral since {one.since} at {now}")
    for tenant in books._tenants.values():
        spans, levels, known = tenant.spans, tenant.levels, tenant.jobs
        kept = tenant.closed is not None and tenant.closed.maxlen == books._buckets
        if len(spans) != len(levels) or not all(span > 0 for span in spans):
            raise InvariantBroken("F8", f"tenant {tenant.name!r}: its log is uneven")
        if kept is not bool(books._buckets):
            raise InvariantBroken("F8", f"tenant {tenant.name!r}: buckets of another")
        if any(books._jobs.get(key) is not job for key, job in known.items()):
            raise InvariantBroken("F7", f"tenant {tenant.name!r}: a job of nobody")

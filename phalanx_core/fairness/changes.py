"""Checks of what a ledger is told: one error naming object, value and rule."""

from __future__ import annotations

from typing import Any

from phalanx_core.checks import is_number, is_whole, shown
from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.fairness.accounts import Job, JobState
from phalanx_core.fairness.rows import JobRow, TenantRow

# Seconds on either side of 0 that a time may be: every one of them has its half second.
TIME_MAX = 2.0**52
COUNT_MAX = 2**31 - 1
# So far apart, a sum of two doubles keeps the least beside a million of the greatest.
WEIGHT_MIN, WEIGHT_MAX = 1e-6, 1e6


def time_of(now: Any, last: float) -> float:
    """A time that does not lie before the last event.

    Examples
    --------
    >>> time_of(3, 5.0)
    Traceback (most recent call last):
    ...
    phalanx_core.errors.InvalidRequest: now 3: not before the last event, at 5.0
    """
    if not (is_number(now) and abs(now) <= TIME_MAX):
        raise InvalidRequest(f"now {shown(now)}: finite seconds, at most 2**52")
    if now < last:
        raise InvalidRequest(
            f"now {shown(now)}: not before the last event, at {last!r}"
        )
    return float(now)


def count_of(name: str, given: Any) -> int:
    """A whole number of GPUs from 1."""
    if type(given) is int and 1 <= given <= COUNT_MAX:
        return given
    if not (is_whole(given) and 1 <= given <= COUNT_MAX):
        raise InvalidRequest(f"{name} {shown(given)}: a whole number of GPUs from 1")
    return int(given)


def weight_of(name: str, given: Any) -> float:
    """A weight, of a job or a tenant."""
    if type(given) is float and WEIGHT_MIN <= given <= WEIGHT_MAX:
        return given
    if not (is_number(given) and WEIGHT_MIN <= given <= WEIGHT_MAX):
        raise InvalidRequest(f"{name} {shown(given)}: from 1e-6 to 1e6")
    return float(given)


def capacity_of(given: Any) -> float:
    """GPUs of the cluster; 0 while all of it is down."""
    if not (is_number(given) and 0 <= given <= COUNT_MAX):
        raise InvalidRequest(f"capacity {shown(given)}: GPUs, finite and at least 0")
    return float(given)


def row_of(jobs: dict[Job, JobRow], job: Any) -> JobRow:
    """The row of a job that the ledger knows."""
    # 1, 1.0 and True are one key of a dictionary, and but the first a job's.
    kind = type(job)
    row = jobs.get(job) if kind is str or kind is int else None
    if row is None:
        raise UnknownJob(f"job {shown(job)}: the ledger does not know it")
    return row


def pending_row(jobs: dict[Job, JobRow], job: Any) -> JobRow:
    """The row of a pending job."""
    row = row_of(jobs, job)
    if row.state is not JobState.PENDING:
        raise InvalidRequest(f"job {shown(job)}: it is {row.state}, not pending")
    return row


def running_row(jobs: dict[Job, JobRow], job: Any) -> JobRow:
    """The row of a running job."""
    row = row_of(jobs, job)
    if row.state is not JobState.RUNNING:
        raise InvalidRequest(f"job {shown(job)}: it is {row.state}, not running")
    return row


def active_row(jobs: dict[Job, JobRow], job: Any) -> JobRow:
    """The row of a pending or running job."""
    row = row_of(jobs, job)
    if row.state is JobState.FINISHED or row.state is JobState.FAILED:
        raise InvalidRequest(f"job {shown(job)}: it is {row.state}, not active")
    return row


def tenant_of(tenants: dict[str, TenantRow], tenant: Any) -> TenantRow:
    """The row of a tenant that the ledger has."""
    row = tenants.get(tenant) if isinstance(tenant, str) else None
    if row is None:
        raise InvalidRequest(f"tenant {shown(tenant)}: the ledger has no such tenant")
    return row


def new_job(jobs: dict[Job, JobRow], job: Any) -> Job:
    """The key of a job that the ledger does not know yet."""
    kind = type(job)
    if not (kind is str or kind is int):
        raise InvalidRequest(f"job {shown(job)}: a job's key is a str or an int")
    key: Job = job
    if kind is int and key.bit_length() > 512:  # type: ignore[union-attr]
        raise InvalidRequest(f"job {shown(job)}: a number of at most 512 bits")
    known = jobs.get(key)
    if known is not None:
        raise InvalidRequest(f"job {job!r}: the ledger knows it, as {known.state}")
    return key


def tenant_name(given: Any) -> str:
    """A tenant's name."""
    if not isinstance(given, str):
        raise InvalidRequest(f"tenant {shown(given)}: its name is a str")
    return given

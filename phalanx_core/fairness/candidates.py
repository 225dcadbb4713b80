"""What a round is decided from: the jobs that want a lease, and the tenants' accounts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import integers_of, numbers_of
from phalanx_core.errors import InvalidRequest

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
INT64_MAX = 2**63 - 1
# What a caller leaves out is made when the rest is checked.
LEFT_OUT: Any = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidates:
    """The jobs that want a lease: those that run and those that wait.

    Parameters
    ----------
    tenant
        Whose job it is, an index from 0: int, shape (jobs,).
    ratio
        GPU-time had over GPU-time owed, at least 0, may be infinite: float64, (jobs,).
    gpus
        Declared demand, at least 1: int, (jobs,).
    submitted
        Any integers that grow with the time of submission, (jobs,). Left out: the jobs
        stand in that order.
    never_ran, urgent
        bool, (jobs,). Left out: none is.
    leases
        Leases had so far, at least 0: int, (jobs,). Left out: none.

    Raises
    ------
    InvalidRequest
        If a shape, dtype or value is not as said above; names the array and the job.

    Notes
    -----
    Arrays are copied and cannot be written. O(jobs).

    Examples
    --------
    >>> jobs = Candidates(tenant=[0, 0, 1], ratio=[0.5, 0.8, 0.4], gpus=[8, 4, 8])
    >>> jobs.submitted.tolist()
    [0, 1, 2]
    """

    tenant: IntArray
    ratio: FloatArray
    gpus: IntArray
    submitted: IntArray = LEFT_OUT
    never_ran: NDArray[np.bool_] = LEFT_OUT
    urgent: NDArray[np.bool_] = LEFT_OUT
    leases: IntArray = LEFT_OUT

    def __post_init__(self) -> None:
        tenant = integers_row("tenant", self.tenant, None)
        jobs = tenant.size
        rows: dict[str, NDArray[Any]] = {
            "tenant": tenant,
            "ratio": _numbers_row("ratio", self.ratio, jobs, most=inf),
            "gpus": integers_row("gpus", self.gpus, jobs, least=1),
        }
        for name in ("submitted", "leases"):
            given = getattr(self, name)
            if given is None:
                given = np.arange(jobs) if name == "submitted" else np.zeros(jobs, int)
            least = -INT64_MAX - 1 if name == "submitted" else 0
            rows[name] = integers_row(name, given, jobs, least)
        for name in ("never_ran", "urgent"):
            rows[name] = _flags_row(name, getattr(self, name), jobs)
        _keep(self, rows)


@dataclass(frozen=True, slots=True, eq=False)
class TenantAccounts:
    """What tenants had, what they were owed, and what is theirs at any time.

    Parameters
    ----------
    service
        GPU-seconds had, finite and at least 0: float64, shape (tenants,).
    entitled
        GPU-seconds owed so far, finite and at least 0: float64, (tenants,).
    quota
        GPUs, finite and at least 0: float64, (tenants,).

    Raises
    ------
    InvalidRequest
        If a shape or value is not as said above; names the array and the tenant.

    Notes
    -----
    Arrays are copied and cannot be written. O(tenants).

    Examples
    --------
    >>> TenantAccounts([54_000, 72_000], [72_000, 72_000], [8, 8]).ratio.tolist()
    [0.75, 1.0]
    """

    service: FloatArray
    entitled: FloatArray
    quota: FloatArray

    def __post_init__(self) -> None:
        service = _numbers_row("service", self.service, None)
        rows = {
            "service": service,
            "entitled": _numbers_row("entitled", self.entitled, service.size),
            "quota": _numbers_row("quota", self.quota, service.size),
        }
        _keep(self, rows)

    @property
    def ratio(self) -> FloatArray:
        """Service over entitlement: float64, (tenants,); 0/0 is 0, else x/0 is inf."""
        pairs = zip(self.service.tolist(), self.entitled.tolist(), strict=True)
        return np.array([ratio_of(had, due) for had, due in pairs], np.float64)


def ratio_of(had: float, due: float) -> float:
    """What was had over what was due; 0/0 is 0, else x/0 is infinite."""
    if due > 0:
        return had / due
    return inf if had > 0 else 0.0


def integers_row(
    name: str, given: ArrayLike, size: int | None, least: int = 0
) -> IntArray:
    """A copy as int64, shape (size,) or any, or InvalidRequest naming what is wrong."""
    found = integers_of(name, given)
    if (
        found.ndim != 1
        or found.dtype.kind not in "iu"
        or size not in (None, found.size)
    ):
        count = "a row" if size is None else f"one for each of {size}"
        raise InvalidRequest(
            f"{name} of shape {found.shape} and dtype {found.dtype}: integers, {count}"
        )
    bad = (found < least) | (found > INT64_MAX)
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidRequest(f"{name}[{at}] is {found[at]}: from {least} to 2**63 - 1")
    return found.astype(np.int64)


def _numbers_row(
    name: str, given: ArrayLike, size: int | None, most: float = np.finfo(float).max
) -> FloatArray:
    found = numbers_of(name, given, "numbers")
    if found.ndim != 1 or size not in (None, found.size):
        count = "a row of numbers" if size is None else f"a number for each of {size}"
        raise InvalidRequest(f"{name} of shape {found.shape}: {count}")
    bad = ~((found >= 0) & (found <= most))
    if bad.any():
        at = int(np.argmax(bad))
        rule = "at least 0" if most == inf else "finite and at least 0"
        raise InvalidRequest(f"{name}[{at}] is {found[at]}: {rule}")
    return found.copy()


def _flags_row(name: str, given: ArrayLike | None, jobs: int) -> NDArray[np.bool_]:
    found = np.zeros(jobs, np.bool_) if given is None else np.array(given)
    if found.shape != (jobs,) or (jobs and found.dtype != np.bool_):
        raise InvalidRequest(
            f"{name} of shape {found.shape} and dtype {found.dtype}: a bool for each of "
            f"{jobs} jobs"
        )
    return found.astype(np.bool_)


def _keep(owner: object, rows: dict[str, NDArray[Any]]) -> None:
    for name, row in rows.items():
        row.setflags(write=False)
        object.__setattr__(owner, name, row)

"""What a ledger answers: the account of a job, of a tenant, and of all tenants."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Job: TypeAlias = str | int
Entitlement: TypeAlias = Literal["quota", "demand"]
ENTITLEMENTS = ("quota", "demand")


class JobState(StrEnum):
    """Where a job stands; pending and running ones are active."""

    PENDING = "pending"
    """Submitted, or its lease ended: it holds no GPU."""
    RUNNING = "running"
    """It holds a lease."""
    FINISHED = "finished"
    """Ended well; it takes no part in shares any more."""
    FAILED = "failed"
    """Ended badly; the same for the ledger."""


def ratio(service: float, entitled: float) -> float:
    """Service over what was due (ρ of the ASTRAEA paper).

    Parameters
    ----------
    service, entitled
        GPU-seconds, at least 0.

    Returns
    -------
    float
        0.0 where nothing was due and nothing given, infinite where something was given
        that was not due.

    Examples
    --------
    >>> ratio(54_000.0, 72_000.0), ratio(0.0, 0.0), ratio(1.0, 0.0)
    (0.75, 0.0, inf)
    """
    if entitled > 0.0:
        return service / entitled
    return inf if service > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class JobAccount:
    """One job, from its submission to its end or to the last event.

    Attributes
    ----------
    job, tenant
        Its key, and whose it is.
    demand
        GPUs that it asks for.
    gpus
        GPUs that it holds now; 0 unless it runs.
    weight
        Of its share among the active jobs of its tenant.
    state
        See :class:`JobState`.
    service
        GPU-seconds leased.
    entitled
        GPU-seconds due: min(demand, fair share) over the time that it was active.
    entitlement
        Which fair share of the tenant that was, "quota" or "demand".
    """

    job: Job
    tenant: str
    demand: int
    gpus: int
    weight: float
    state: JobState
    service: float
    entitled: float
    entitlement: Entitlement

    @property
    def ratio(self) -> float:
        """Service over entitled; see :func:`ratio`."""
        return ratio(self.service, self.entitled)


@dataclass(frozen=True, slots=True)
class TenantAccount:
    """One tenant, over the ledger's window or since it was added.

    Attributes
    ----------
    tenant
        Its name.
    weight
        Of its share of the capacity.
    quota
        GPUs: capacity times weight over the weights of all tenants.
    demand, gpus
        GPUs that its active jobs ask for now, and that its running jobs hold now.
    service
        GPU-seconds leased.
    entitled
        GPU-seconds due.
    entitlement
        What was due: "quota", the quota at all times (eq. 16 of the paper, its
        experiments); "demand", min(demand, quota) (eq. 8).
    """

    tenant: str
    weight: float
    quota: float
    demand: int
    gpus: int
    service: float
    entitled: float
    entitlement: Entitlement

    @property
    def ratio(self) -> float:
        """Service over entitled; see :func:`ratio`."""
        return ratio(self.service, self.entitled)


class TenantTable(NamedTuple):
    """All tenants in the order in which they were added.

    Attributes
    ----------
    names
        Of each tenant.
    service, entitled
        GPU-seconds over the window: float64, shape (tenants,).
    quota
        GPUs now: float64, shape (tenants,).
    """

    names: tuple[str, ...]
    service: NDArray[np.float64]
    entitled: NDArray[np.float64]
    quota: NDArray[np.float64]

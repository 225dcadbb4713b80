"""``allocate_round``: who gets the next lease, tenants before jobs (ASTRAEA)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from math import inf

import numpy as np

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.candidates import (
    Candidates,
    FloatArray,
    IntArray,
    TenantAccounts,
    ratio_of,
)
from phalanx_core.fairness.rewards import Reward, owed, reward_keys

__all__ = ["Allocation", "Candidates", "TenantAccounts", "allocate_round"]

PASS_OVER = ("job", "tenant")


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """Who gets a lease this round.

    Attributes
    ----------
    granted
        Jobs with a lease, in the order of their grants: int64, shape (grants,).
    gpus
        GPUs of each grant: int64, (grants,).
    ratios
        Ratio of the grant's tenant after its pre-charge: float64, (grants,).
    passed_over
        Jobs that could not be placed, in the order tried: int64.
    untried
        Jobs of tenants that were out of the round before their turn, in the order of
        the candidates: int64; none where one job is passed over at a time.
    ratio_before, ratio_after
        Of every tenant, before the round and with all pre-charges: float64, (tenants,).
    """

    granted: IntArray
    gpus: IntArray
    ratios: FloatArray
    passed_over: IntArray
    untried: IntArray
    ratio_before: FloatArray
    ratio_after: FloatArray

    def __str__(self) -> str:
        text = (
            f"granted {self.granted.size} ({int(self.gpus.sum())} GPUs), "
            f"passed over {self.passed_over.size}"
        )
        return text + (f", untried {self.untried.size}" if self.untried.size else "")


def allocate_round(
    candidates: Candidates,
    tenants: TenantAccounts,
    lease_s: float,
    place: Callable[[int], int],
    *,
    reward: Reward = owed,
    pass_over: str = "job",
) -> Allocation:
    """Leases for the most owed tenant's most owed job, again and again.

    Parameters
    ----------
    candidates
        Jobs that run or wait; all of them are decided anew.
    tenants
        Their accounts up to now.
    lease_s
        Seconds of a lease, finite and at least 0: each grant charges its tenant for all
        of them at once.
    place
        Called with a job's index; takes GPUs for it and says how many, from 0 (it cannot
        be placed now) to its demand. Each job is asked for once at most.
    reward
        Which of a tenant's jobs goes first; see :mod:`phalanx_core.fairness.rewards`.
    pass_over
        What is left aside when a job cannot be placed. "job": that job, so nothing that
        fits is left. "tenant": all of the tenant's jobs, as the paper prints it.

    Returns
    -------
    Allocation

    Raises
    ------
    InvalidRequest
        If an argument is not as said above, a job's tenant has no account, the reward
        has a NaN: nothing was asked for yet. If ``place`` answers something else; what
        it took stays taken, as where it raises, and its exceptions pass.

    Notes
    -----
    ASTRAEA, algorithms 1 and 2: phase 1 takes the tenant with the least ratio of service
    and entitlement, the pre-charges of this round in its service; phase 2 its job with
    the highest reward. Equal ratios go by service over quota, without a quota last, then
    by the tenants' order; equal rewards by submission, then by the jobs' order. O((jobs
    + tenants) log) beside ``place``.

    Examples
    --------
    Two tenants with 8 GPUs each; B1 does not fit into the 4 that A leaves:

    >>> jobs = Candidates(tenant=[0, 0, 1], ratio=[0.5, 0.8, 0.4], gpus=[8, 4, 8])
    >>> accounts = TenantAccounts([54_000, 72_000], [72_000, 72_000], [8, 8])
    >>> free = [16]
    >>> def place(job):
    ...     gpus = int(jobs.gpus[job]) if jobs.gpus[job] <= free[0] else 0
    ...     free[0] -= gpus
    ...     return gpus
    >>> found = allocate_round(jobs, accounts, 900, place)
    >>> print(found)
    granted 2 (12 GPUs), passed over 1
    >>> found.granted.tolist(), found.ratios.round(2).tolist()
    ([0, 1], [0.85, 0.9])
    """
    _check(candidates, tenants, lease_s, pass_over)
    lease = float(lease_s)
    service, entitled = tenants.service.tolist(), tenants.entitled.tolist()
    quota, demands = tenants.quota.tolist(), candidates.gpus.tolist()
    queues = _queues(candidates, reward, len(service))

    def standing(tenant: int) -> tuple[float, float, int]:
        had = service[tenant]
        by_quota = had / quota[tenant] if quota[tenant] > 0 else inf
        return ratio_of(had, entitled[tenant]), by_quota, tenant

    heap = [standing(tenant) for tenant, queue in enumerate(queues) if queue]
    heapify(heap)
    granted: list[int] = []
    gpus: list[int] = []
    ratios: list[float] = []
    passed: list[int] = []
    while heap:
        tenant = heap[0][2]
        job = queues[tenant].pop()
        given = _placed(place, job, demands[job])
        if given:
            service[tenant] += given * lease
            granted.append(job)
            gpus.append(given)
            ratios.append(ratio_of(service[tenant], entitled[tenant]))
        else:
            passed.append(job)
        if not queues[tenant] or (not given and pass_over == "tenant"):
            heappop(heap)
        elif given:
            heapreplace(heap, standing(tenant))
    return Allocation(
        np.array(granted, np.int64),
        np.array(gpus, np.int64),
        np.array(ratios, np.float64),
        np.array(passed, np.int64),
        np.array(sorted(job for queue in queues for job in queue), np.int64),
        tenants.ratio,
        np.array(list(map(ratio_of, service, entitled)), np.float64),
    )


def _check(
    candidates: Candidates, tenants: TenantAccounts, lease_s: float, pass_over: str
) -> None:
    if not isinstance(candidates, Candidates):
        raise InvalidRequest(f"candidates {type(candidates).__name__}: Candidates")
    if not isinstance(tenants, TenantAccounts):
        raise InvalidRequest(f"tenants {type(tenants).__name__}: TenantAccounts")
    if not (is_number(lease_s) and lease_s >= 0):
        raise InvalidRequest(f"lease_s {lease_s!r}: seconds, finite and at least 0")
    if pass_over not in PASS_OVER:
        raise InvalidRequest(f"pass_over {pass_over!r}: one of {', '.join(PASS_OVER)}")
    beyond = candidates.tenant >= tenants.service.size
    if beyond.any():
        job = int(np.argmax(beyond))
        raise InvalidRequest(
            f"tenant[{job}] is {candidates.tenant[job]}: one of "
            f"{tenants.service.size} tenants, from 0"
        )


def _queues(candidates: Candidates, reward: Reward, tenants: int) -> list[list[int]]:
    """Jobs of each tenant, who is served first at the end."""
    keys = reward_keys(reward, candidates)
    # The last key of lexsort weighs most, and its order is stable.
    by = (candidates.submitted, *(-keys.T[::-1]), candidates.tenant)
    order = np.lexsort(by)
    ends = np.searchsorted(candidates.tenant[order], np.arange(tenants), side="right")
    return [part[::-1].tolist() for part in np.split(order, ends)[:tenants]]


def _placed(place: Callable[[int], int], job: int, demand: int) -> int:
    given = place(job)
    if not (is_whole(given) and given <= demand):
        raise InvalidRequest(
            f"place({job}) answers {given!r}: GPUs granted, from 0 to {demand}"
        )
    return int(given)

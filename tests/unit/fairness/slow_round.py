"""A round as the paper prints it: every ratio recomputed after every grant, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from hypothesis import strategies as st

from phalanx_core.fairness.allocation import Allocation
from phalanx_core.fairness.candidates import Candidates, TenantAccounts

Exact = Fraction | float


@dataclass
class Hosts:
    """Free GPUs of hosts; a gang of up to one host stays in one, larger ones span."""

    free: list[int]
    asked: list[int] = field(default_factory=list)
    size: int = 8

    def fits(self, gpus: int) -> bool:
        """Whether a gang of so many GPUs has room."""
        return max(self.free, default=0) >= gpus or self.size < gpus <= sum(self.free)

    def place(self, job: int, gpus: int) -> int:
        """All GPUs of a gang or none, from the fewest hosts with most free GPUs."""
        self.asked.append(job)
        if not self.fits(gpus):
            return 0
        left = gpus
        for host in sorted(range(len(self.free)), key=lambda at: -self.free[at]):
            taken = min(left, self.free[host])
            self.free[host] -= taken
            left -= taken
        return gpus

    def placing(self, jobs: Candidates) -> Callable[[int], int]:
        """The callback of a round over these jobs."""
        return lambda job: self.place(job, int(jobs.gpus[job]))


def exact_ratio(had: float | Fraction, due: float) -> Exact:
    """As a fraction, 0/0 = 0, else x/0 infinite."""
    if due > 0:
        return Fraction(had) / Fraction(due)
    return inf if had > 0 else Fraction(0)


def slow_round(
    jobs: Candidates,
    tenants: TenantAccounts,
    lease: float,
    place: Callable[[int], int],
    rewards: list[tuple[Any, ...]],
    tenant_wise: bool,
) -> tuple[list[tuple[int, int]], list[int]]:
    """Grants with their GPUs, and jobs passed over: quadratic, nothing kept sorted."""
    service = [Fraction(had) for had in tenants.service.tolist()]
    due, quota = tenants.entitled.tolist(), tenants.quota.tolist()
    pending = set(range(jobs.tenant.size))
    remaining = set(range(len(service)))
    grants: list[tuple[int, int]] = []
    passed: list[int] = []
    while True:
        waiting = {jobs.tenant[job] for job in pending} & remaining
        if not waiting:
            return grants, passed
        _, _, tenant = min(
            (exact_ratio(service[at], due[at]), by_quota(service[at], quota[at]), at)
            for at in waiting
        )
        own = [job for job in pending if jobs.tenant[job] == tenant]
        best = max(rewards[job] for job in own)
        equal = [job for job in own if rewards[job] == best]
        job = min(equal, key=lambda at: (jobs.submitted[at], at))
        given = place(job)
        if given:
            grants.append((job, given))
            service[tenant] += given * Fraction(lease)
            pending.remove(job)
        else:
            passed.append(job)
            if tenant_wise:
                remaining.remove(tenant)
            else:
                pending.remove(job)


def by_quota(had: Fraction, quota: float) -> Exact:
    """Service over quota; no quota is last."""
    return had / Fraction(quota) if quota > 0 else inf


def told(found: Allocation) -> tuple[list[tuple[int, int]], list[int]]:
    """An answer in the twin's form."""
    pairs = zip(found.granted.tolist(), found.gpus.tolist(), strict=True)
    return list(pairs), found.passed_over.tolist()


@st.composite
def rounds(draw: st.DrawFn) -> tuple[Candidates, TenantAccounts, list[int]]:
    """Jobs, accounts with many ties and zeros, and free GPUs of hosts of 8."""
    tenants = draw(st.integers(1, 4))
    jobs = draw(st.integers(0, 12))

    def row(values: Any, count: int) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    candidates = Candidates(
        tenant=row(st.integers(0, tenants - 1), jobs),
        ratio=row(st.sampled_from([0.0, 0.25, 0.5, 1.0, inf]), jobs),
        gpus=row(st.sampled_from([1, 2, 4, 8, 16]), jobs),
        submitted=row(st.integers(-2, 3), jobs),
        never_ran=np.array(row(st.booleans(), jobs), bool),
        urgent=np.array(row(st.booleans(), jobs), bool),
        leases=row(st.integers(0, 3), jobs),
    )
    accounts = TenantAccounts(
        row(st.sampled_from([0, 900, 1800, 3600, 7200]), tenants),
        row(st.sampled_from([0, 1800, 3600, 7200]), tenants),
        row(st.sampled_from([0, 4, 8, 12]), tenants),
    )
    hosts = draw(st.lists(st.integers(0, 8), min_size=0, max_size=4))
    return candidates, accounts, hosts

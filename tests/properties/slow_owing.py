"""Who should get leases by what is owed, from the definitions, in exact fractions.

One host, gangs without rules and nothing that fails, so that whatever is free will do; the
leases, the accounts and the choice are then a page of arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

ZERO = Fraction(0)


@dataclass
class OwedJob:
    """A job of a tenant, what it had and what it was due."""

    tenant: str
    demand: int
    weight: int
    turn: int
    service: Fraction = ZERO
    due: Fraction = ZERO
    lease_end: int | None = None


class Tie(Exception):
    """A choice that hangs on the rounding of a double."""


class OwedTwin:
    """Accounts by eq. 16 or eq. 8, and rounds by algorithms 1 and 2.

    Parameters
    ----------
    capacity
        GPUs.
    weights
        Of the tenants, in their order.
    by_demand
        Whether a tenant is due no more than its jobs ask for (eq. 8).
    lease
        Seconds.
    """

    def __init__(
        self, capacity: int, weights: dict[str, int], by_demand: bool, lease: int
    ) -> None:
        self.capacity = capacity
        self.weights = dict(weights)
        self.by_demand = by_demand
        self.lease = lease
        self.now = 0
        self.jobs: dict[int, OwedJob] = {}
        self.service = dict.fromkeys(weights, ZERO)
        self.due = dict.fromkeys(weights, ZERO)

    def quota(self, tenant: str) -> Fraction:
        """Its share of all GPUs."""
        total = sum(self.weights.values())
        return Fraction(self.capacity * self.weights[tenant], total)

    def advance(self, now: int) -> None:
        """All sums, over seconds in which nothing changed."""
        seconds = now - self.now
        for tenant in self.weights:
            mine = [job for job in self.jobs.values() if job.tenant == tenant]
            share = self.quota(tenant)
            if self.by_demand:
                share = min(share, Fraction(sum(job.demand for job in mine)))
            self.due[tenant] += seconds * share
            weights = sum(job.weight for job in mine)
            for job in mine:
                part = share * job.weight / weights
                job.due += seconds * min(Fraction(job.demand), part)
                if job.lease_end is not None:
                    job.service += seconds * job.demand
                    self.service[tenant] += seconds * job.demand
        self.now = now

    def round(self) -> set[int]:
        """Jobs that get a lease now."""
        over = [
            name
            for name, job in self.jobs.items()
            if job.lease_end is None or job.lease_end <= self.now
        ]
        free = self.capacity - sum(
            job.demand for name, job in self.jobs.items() if name not in over
        )
        charged = dict(self.service)
        queues = {
            tenant: [name for name in over if self.jobs[name].tenant == tenant]
            for tenant in self.weights
        }
        granted: set[int] = set()
        while any(queues.values()):
            tenant = self._most_owed(queues, charged)
            name = self._first(queues[tenant])
            queues[tenant].remove(name)
            demand = self.jobs[name].demand
            if demand <= free:
                free -= demand
                charged[tenant] += demand * self.lease
                granted.add(name)
        for name in over:
            self.jobs[name].lease_end = (
                self.now + self.lease if name in granted else None
            )
        return granted

    def _most_owed(
        self, queues: dict[str, list[int]], charged: dict[str, Fraction]
    ) -> str:
        able = [tenant for tenant in self.weights if queues[tenant]]
        ratios = [ratio(charged[tenant], self.due[tenant]) for tenant in able]
        clear(ratios)
        shares = [charged[tenant] / self.quota(tenant) for tenant in able]
        best = min(range(len(able)), key=lambda at: (ratios[at], shares[at], at))
        return able[best]

    def _first(self, queue: list[int]) -> int:
        ratios = [ratio(self.jobs[name].service, self.jobs[name].due) for name in queue]
        clear(ratios)
        best = min(range(len(queue)), key=lambda at: (ratios[at], queue[at]))
        return queue[best]


def ratio(had: Fraction, due: Fraction) -> Fraction | float:
    """What was had over what was due; 0/0 is 0, else x/0 is infinite."""
    if due:
        return had / due
    return inf if had else ZERO


def clear(ratios: list[Fraction | float]) -> None:
    """The least is 0, or no other is so near that a double could not tell.

    Raises
    ------
    Tie
        If one is.
    """
    first, *rest = sorted(ratios)
    if rest and first and float(rest[0]) - float(first) <= 1e-12 * float(first):
        raise Tie

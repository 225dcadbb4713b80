"""Histories of events, drawn or random, told to a ledger and to its slow twin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

from hypothesis import strategies as st

from phalanx_core.fairness import Ledger
from phalanx_core.testing import SlowLedger

TENANTS = {"a": 1.0, "b": 3.0, "c": 0.1}
BUCKET_S = 10.0

# A kind of event, which of those that may have it, seconds since the last, two numbers.
Step = tuple[str, int, float, int, float]

KINDS = (
    *("submit", "submit", "start", "start", "stop", "finish", "fail"),
    *("resize", "reweight", "set_tenant", "remove_tenant", "set_capacity", "advance"),
)
steps = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.integers(0, 99),
        st.one_of(
            st.sampled_from([0.0, 0.0, 1.0, 10.0, 25.0, 500.0]),
            st.floats(0.0, 40.0, width=32),
        ),
        st.integers(1, 12),
        st.sampled_from([1.0, 1.0, 0.1, 0.3, 2.0, 1e-6, 1e6]),
    ),
    max_size=40,
)


class Teller:
    """Tells one history to several ledgers, each event to all in turn."""

    def __init__(self, ledgers: Sequence[Any], start_s: float = 0.0) -> None:
        self.ledgers = ledgers
        self.now = start_s
        self.states: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.tenants = list(TENANTS)

    def tell(self, name: str, *given: Any, **named: Any) -> None:
        """One event."""
        for ledger in self.ledgers:
            getattr(ledger, name)(*given, **named)

    def step(self, step: Step) -> None:
        """One event where any job or tenant can have it, else a time that passes."""
        kind, which, span, count, weight = step
        self.now += span
        if kind == "submit" and self.tenants:
            job = f"j{len(self.states)}"
            self.homes[job] = self.tenants[which % len(self.tenants)]
            self.states[job] = "pending"
            self.tell("submit", job, self.homes[job], count, self.now, weight)
        elif kind in ("start", "stop", "finish", "fail", "resize", "reweight"):
            self._of_a_job(kind, which, count, weight)
        elif kind == "set_tenant":
            name = "abcdef"[which % 6]
            self.tenants += [] if name in self.tenants else [name]
            self.tell("set_tenant", name, weight, self.now)
        elif kind == "remove_tenant":
            self._removed(which)
        elif kind == "set_capacity":
            self.tell("set_capacity", which % 40, self.now)
        else:
            self.tell("advance", self.now)

    def _of_a_job(self, kind: str, which: int, count: int, weight: float) -> None:
        wanted = {"start": ["pending"], "stop": ["running"]}
        states = wanted.get(kind, ["pending", "running"])
        jobs = [job for job, state in self.states.items() if state in states]
        if not jobs:
            return self.tell("advance", self.now)
        job = jobs[which % len(jobs)]
        after = {"start": "running", "stop": "pending"}
        after |= {"finish": "finished", "fail": "failed"}
        if kind == "reweight":
            self.tell(kind, job, weight, self.now)
        elif kind == "resize":
            other = count > 6 and self.states[job] == "running"
            gpus = {"gpus": which % 5 + 1} if other else {}
            self.tell(kind, job, count, self.now, **gpus)
        elif kind == "start":
            gpus = {"gpus": which % 5 + 1} if count > 6 else {}
            self.tell(kind, job, self.now, **gpus)
        else:
            self.tell(kind, job, self.now)
        self.states[job] = after.get(kind, self.states[job])
        return None

    def _removed(self, which: int) -> None:
        busy = {
            self.homes[job]
            for job, state in self.states.items()
            if state in ("pending", "running")
        }
        idle = [name for name in self.tenants if name not in busy]
        if not idle:
            return self.tell("advance", self.now)
        name = idle[which % len(idle)]
        self.tenants.remove(name)
        self.tell("remove_tenant", name, self.now)
        return None


def both(
    entitlement: str, window: float | None, start_s: float = 0.0, number: Any = Fraction
) -> tuple[Ledger, SlowLedger]:
    """A ledger and its twin of 16 GPUs."""
    terms = {"bucket_s": BUCKET_S, "start_s": start_s}
    given = (16, TENANTS, entitlement, window)
    return Ledger(*given, **terms), SlowLedger(*given, **terms, number=number)


def near(found: float, wanted: Any, relative: float = 1e-12) -> bool:
    """Whether a double is within a relative error of an exact number."""
    if wanted == 0:
        return found == 0
    # Nobody is owed a zeptosecond of ten seconds.
    return abs(Fraction(found) - wanted) <= relative * wanted + Fraction(1, 10**22)


def compare(ledger: Ledger, slow: SlowLedger, relative: float = 1e-12) -> None:
    """Every account of a ledger beside its twin's."""
    ledger.validate()
    assert ledger.now == slow.now
    assert near(ledger.leased_s, slow.leased, relative)
    for name in ledger.tenants():
        account = ledger.tenant(name)
        service, due = slow.windowed(name)
        assert near(account.service, service, relative)
        assert near(account.entitled, due, relative)
        assert near(account.quota, slow.quota(name), relative)
        active = slow.active(name)
        assert account.demand == sum(job.demand for job in active)
        assert account.gpus == sum(job.gpus for job in active)
    jobs = ledger.jobs(active=False)
    assert set(jobs) == set(slow.jobs)
    ratios = ledger.job_ratios(jobs)
    for job, found in zip(jobs, ratios, strict=True):
        account, wanted = ledger.job(job), slow.jobs[job]
        assert near(account.service, wanted.service, relative)
        assert near(account.entitled, wanted.entitled, relative)
        assert (account.state, account.gpus) == (wanted.state, wanted.gpus)
        assert (account.demand, account.tenant) == (wanted.demand, wanted.tenant)
        assert found == account.ratio
        if wanted.entitled == 0:
            assert found == (inf if wanted.service else 0.0)
        else:
            assert near(found, wanted.service / wanted.entitled, 4 * relative)

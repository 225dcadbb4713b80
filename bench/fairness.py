"""The ledger of GPU time: an event, a round's reading, and dues of whole traces."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.timing import overhead, quantiles
from phalanx_core.experiments.timing import quiet
from phalanx_core.fairness import Ledger, entitlements
from phalanx_core.testing import piecewise_entitlements

TENANTS = {f"tenant-{at}": 1.0 + at for at in range(16)}
CAPACITY = 16_384
# Jobs active at once while events are timed, and events of a block.
ACTIVE, BLOCK = 1000, 200
TRACE_JOBS, TRACE_S = 100_000, 1e6
# Mean seconds that a job is active: some 9,000 of them at once.
ACTIVE_S = 90_000.0

Row = dict[str, Any]
Event = tuple[str, tuple[Any, ...]]
Columns = tuple[NDArray[Any], ...]


class Empty:
    """Methods of a ledger's names that do nothing: what any event costs in Python."""

    def submit(self, job: int, tenant: str, demand: int, now: float) -> None:
        """Nothing."""

    def start(self, job: int, now: float) -> None:
        """Nothing."""

    stop = finish = start


def history(seed: int, count: int) -> list[Event]:
    """Jobs that come, start, stop, start again and finish, 1,000 at once."""
    rng = np.random.default_rng(seed)
    names = list(TENANTS)
    events: list[Event] = []
    active: list[int] = []
    now, job = 0.0, 0
    while len(events) < count:
        demand = int(2 ** rng.integers(0, 7))
        now += float(rng.exponential(1.0))
        events.append(("submit", (job, names[job % 16], demand, now)))
        for kind in ("start", "stop", "start"):
            now += float(rng.exponential(1.0))
            events.append((kind, (job, now)))
        active.append(job)
        job += 1
        if len(active) > ACTIVE:
            now += float(rng.exponential(1.0))
            leaving = active.pop(int(rng.integers(len(active))))
            events.append(("finish", (leaving, now)))
    return events


def timed(target: Any, events: list[Event]) -> dict[str, float]:
    """Nanoseconds of an event: medians of blocks, and the tail of single ones."""
    calls = [(getattr(target, name), given) for name, given in events]
    half = len(calls) // 2
    blocks, singles, clock = [], [], overhead()
    for begin in range(0, half, BLOCK):
        part = calls[begin : min(begin + BLOCK, half)]
        before = perf_counter_ns()
        for call, given in part:
            call(*given)
        blocks.append((perf_counter_ns() - before) / len(part))
    for call, given in calls[half:]:
        before = perf_counter_ns()
        call(*given)
        singles.append(perf_counter_ns() - before - clock)
    return quantiles(blocks, singles)


def events_row(seed: int, count: int) -> Row:
    """An event of a ledger beside a call that does nothing."""
    events = history(seed, count)
    ledger = Ledger(CAPACITY, TENANTS, "demand", 86_400.0)
    ours = timed(ledger, events)
    ledger.validate()
    return {
        "row": "fairness/event",
        "ours": ours,
        "peer": "empty method",
        "theirs": timed(Empty(), events),
        "checksum": f"{int(ledger.leased_s) & (2**64 - 1):016x}",
    }


def round_row(seed: int, repeats: int) -> Row:
    """What a round of 40 jobs asks after ten events: ratios of jobs, and of tenants."""
    rng = np.random.default_rng(seed)
    names = list(TENANTS)[:4]
    ledger = Ledger(64, dict.fromkeys(names, 1.0))
    jobs = list(range(40))
    for job in jobs:
        ledger.submit(job, names[job % 4], int(rng.integers(1, 9)), 0.0)
    spans, now, next_job = [], 0.0, 40
    for _ in range(repeats):
        for _ in range(5):
            now += 12.0
            ledger.finish(jobs.pop(int(rng.integers(40))), now)
            ledger.submit(next_job, names[next_job % 4], 4, now)
            jobs.append(next_job)
            next_job += 1
        before = perf_counter_ns()
        ledger.job_ratios(jobs)
        ledger.tenant_table()
        spans.append(float(perf_counter_ns() - before))
    return {"row": "fairness/round", "ours": quantiles([], spans)}


def trace(seed: int, count: int, *, few: bool) -> Columns:
    """Jobs of one tenant, 9,000 active at once: demands, weights, submissions, ends."""
    rng = np.random.default_rng(seed)
    demand = (2 ** rng.integers(0, 7, count)).astype(np.float64)
    weight = 2.0 ** rng.integers(-2, 3, count) if few else rng.uniform(0.5, 2.0, count)
    submit = np.sort(rng.uniform(0.0, TRACE_S * count / TRACE_JOBS, count))
    return demand, weight, submit, submit + rng.exponential(ACTIVE_S, count)


def swept(jobs: Columns) -> NDArray[np.float64]:
    """Dues by the library's sweep."""
    demand, weight, submit, end = jobs
    home = np.zeros(demand.size, np.int64)
    return entitlements(home, demand, submit, end, [CAPACITY], weight=weight)


def naive(jobs: Columns) -> NDArray[np.float64]:
    """Dues piece by piece."""
    home = np.zeros(jobs[0].size, np.int64)
    return piecewise_entitlements(home, jobs, np.array([float(CAPACITY)]))


def spans_of(
    call: Callable[[Columns], Any], jobs: Columns, repeats: int
) -> list[float]:
    """Nanoseconds of each of so many calls."""
    spans = []
    for _ in range(repeats):
        before = perf_counter_ns()
        call(jobs)
        spans.append(float(perf_counter_ns() - before))
    return spans


def batch_row(name: str, jobs: Columns, repeats: int) -> Row:
    """Dues of a trace."""
    dues = swept(jobs)  # compiles
    return {
        "row": f"fairness/batch/{name}",
        "ours": quantiles([], spans_of(swept, jobs, repeats)),
        "jobs": jobs[0].size,
        "thetas": np.unique(jobs[0] / jobs[1]).size,
        "checksum": f"{int(dues.sum()) & (2**64 - 1):016x}",
    }


def naive_row(jobs: Columns, repeats: int) -> Row:
    """The same beside the twin that adds every piece to every active job."""
    wanted = naive(jobs)
    np.testing.assert_allclose(swept(jobs), wanted, rtol=1e-10)
    return {
        "row": "fairness/batch/naive",
        "ours": quantiles([], spans_of(swept, jobs, repeats)),
        "peer": "piece by piece",
        "theirs": quantiles([], spans_of(naive, jobs, 1)),
        "jobs": jobs[0].size,
    }


def measure(seed: int, *, few: bool) -> list[Row]:
    """Every row; ``few`` is for a look whether it runs."""
    events, jobs, repeats = (4000, 4000, 3) if few else (60_000, TRACE_JOBS, 15)
    twins = 1000 if few else 20_000
    with quiet():
        return [
            events_row(seed, events),
            round_row(seed, 20 if few else 400),
            batch_row("many", trace(seed, jobs, few=False), repeats),
            batch_row("few", trace(seed, jobs, few=True), repeats),
            naive_row(trace(seed, twins, few=False), repeats),
        ]

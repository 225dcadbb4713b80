"""The ledger over published traces: Philly 2017 and Microsoft ITP 2021, two weeks each."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from phalanx_core.fairness import JobAccount, Ledger, entitlements
from phalanx_core.testing import (
    SlowLedger,
    piecewise_entitlements,
    slow_entitlements,
)
from tests.published.traces import Trace, first_come, read

FloatArray = NDArray[np.float64]
# File, column of tenants, jobs, GPUs for a load of 0.85 to 0.9.
TRACES = {
    "philly 10-09": ("philly-jobs/philly_2017-10-09_14d.csv.gz", "vc", 26_936, 640),
    "philly 10-15": ("philly-jobs/philly_2017-10-15_14d.csv.gz", "vc", 22_009, 800),
    "itp": ("microsoft-itp-2021/itp_day24_14d.csv.gz", "tenant", 17_872, 1500),
}
DAY = 86_400.0
WINDOW = DAY
BUCKET_S = 3600.0


class Replay(NamedTuple):
    """A trace with the times at which its jobs start, on so many GPUs."""

    trace: Trace
    starts: FloatArray
    gpus: int

    @property
    def ends(self) -> FloatArray:
        """When each job is complete."""
        return self.starts + self.trace.lasts_s


@pytest.fixture(scope="module", params=list(TRACES))
def trace(request: pytest.FixtureRequest) -> tuple[Trace, int]:
    """One trace, and GPUs for it."""
    path, column, count, gpus = TRACES[request.param]
    found = read(path, column)
    assert found.submit_s.size == count
    return found, gpus


@pytest.fixture(scope="module", params=["on arrival", "first come"])
def replay(request: pytest.FixtureRequest, trace: tuple[Trace, int]) -> Replay:
    """Each job runs as it comes, however many there are; or waits for its turn."""
    jobs, gpus = trace
    starts = jobs.submit_s if request.param == "on arrival" else first_come(jobs, gpus)
    return Replay(jobs, starts, gpus)


def told(
    ledger: Ledger | SlowLedger, replay: Replay, until: float, count: int | None = None
) -> None:
    """A ledger is told what happens to the first jobs of a trace up to a time."""
    trace = replay.trace
    jobs = np.arange(trace.submit_s.size if count is None else count)
    times = np.concatenate([trace.submit_s, replay.starts, replay.ends]).reshape(3, -1)
    times = times[:, : jobs.size].ravel()
    # Stable: a job is submitted before it starts, and starts before it ends.
    for event in np.argsort(times, kind="stable").tolist():
        kind, job = divmod(event, jobs.size)
        now = float(times[event])
        if now > until:
            break
        if kind == 0:
            home = trace.names[int(trace.tenant[job])]
            ledger.submit(job, home, int(trace.demand[job]), now)
        elif kind == 1:
            ledger.start(job, now)
        else:
            ledger.finish(job, now)


def quotas(trace: Trace, gpus: int, entitlement: str) -> tuple[FloatArray, FloatArray]:
    """Weights of tenants and what they are worth: alike, or by what they request."""
    count = len(trace.names)
    weights = trace.requested() if entitlement == "demand" else np.ones(count)
    return weights, gpus * weights / weights.sum()


def opened(replay: Replay, entitlement: str, window: float | None = None) -> Ledger:
    """A ledger of the trace's tenants."""
    weights, _ = quotas(replay.trace, replay.gpus, entitlement)
    tenants = dict(zip(replay.trace.names, weights.tolist(), strict=True))
    return Ledger(replay.gpus, tenants, entitlement, window, bucket_s=BUCKET_S)


@pytest.mark.parametrize("entitlement", ["quota", "demand"])
def test_ledger_batch_and_twin_agree(replay: Replay, entitlement: str) -> None:
    """What every job is due, by the ledger, by one sweep and piece by piece; and sums."""
    trace = replay.trace
    ledger = opened(replay, entitlement)
    told(ledger, replay, np.inf)
    ledger.validate()
    accounts: dict[int, JobAccount] = {
        int(one.job): one for one in ledger.forget_ended()
    }
    assert len(accounts) == trace.submit_s.size
    online = np.array([accounts[job].entitled for job in range(len(accounts))])
    service = np.array([accounts[job].service for job in range(len(accounts))])
    _, shares = quotas(trace, replay.gpus, entitlement)
    jobs = (trace.tenant, trace.demand, trace.submit_s, replay.ends)
    batch = entitlements(*jobs, shares, entitlement=entitlement)
    np.testing.assert_allclose(online, batch, rtol=1e-12)
    columns = (trace.demand * 1.0, np.ones(service.size), trace.submit_s, replay.ends)
    pieces = piecewise_entitlements(trace.tenant, columns, shares, entitlement)
    np.testing.assert_allclose(online, pieces, rtol=1e-10)
    given = trace.demand * (replay.ends - replay.starts)
    np.testing.assert_allclose(service, given, rtol=1e-12)
    table = ledger.tenant_table()
    by_tenant = np.bincount(trace.tenant, given, len(trace.names))
    np.testing.assert_allclose(table.service, by_tenant, rtol=1e-9)
    assert ledger.leased_s == pytest.approx(given.sum(), rel=1e-9)
    ledger.validate()


@pytest.mark.parametrize("entitlement", ["quota", "demand"])
def test_the_first_jobs_in_fractions(replay: Replay, entitlement: str) -> None:
    """150 jobs by the twins that count exactly: ledger and sweep to 1e-12."""
    count, trace = 150, replay.trace
    ledger = opened(replay, entitlement)
    weights, shares = quotas(trace, replay.gpus, entitlement)
    tenants = dict(zip(trace.names, weights.tolist(), strict=True))
    slow = SlowLedger(replay.gpus, tenants, entitlement)
    told(ledger, replay, np.inf, count)
    told(slow, replay, np.inf, count)
    jobs = [trace.tenant, trace.demand, trace.submit_s, replay.ends]
    first = [column[:count].tolist() for column in jobs]
    exact = slow_entitlements(*first, shares.tolist(), entitlement=entitlement)
    batch = entitlements(*first, shares, entitlement=entitlement)
    for job in range(count):
        wanted = slow.jobs[job].entitled
        assert abs(Fraction(ledger.job(job).entitled) - wanted) <= wanted / 10**12
        assert abs(Fraction(batch[job]) - exact[job]) <= exact[job] / 10**12


def test_a_day_of_hours(replay: Replay) -> None:
    """A tenant's window is the leases and the quota between two times, exactly."""
    trace = replay.trace
    for until in (0.5 * DAY, 3.37 * DAY, 9 * DAY):
        ledger = opened(replay, "quota", WINDOW)
        told(ledger, replay, until)
        ledger.advance(until)
        begin = max(0.0, until // BUCKET_S * BUCKET_S - WINDOW)
        held = np.clip(replay.ends, begin, until) - np.clip(replay.starts, begin, until)
        service = np.bincount(trace.tenant, trace.demand * held, len(trace.names))
        table = ledger.tenant_table()
        np.testing.assert_allclose(table.service, service, rtol=1e-12, atol=1e-6)
        np.testing.assert_allclose(
            table.entitled, table.quota * (until - begin), rtol=1e-12
        )
        ledger.validate()

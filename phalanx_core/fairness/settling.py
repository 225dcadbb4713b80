"""What a tenant's log gives its jobs: plain sums where it is short."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phalanx_core.fairness.rows import JobRow, TenantRow, added

FloatArray = NDArray[np.float64]
# Products of jobs and pieces up to which a loop is as fast as arrays, and from which the
# kernel is faster than they are (measured).
LOOP_PRODUCTS = 200
ARRAY_PRODUCTS = 400_000


def settle(tenant: TenantRow, now: float) -> None:
    """Add to every job what the log holds for it, and begin a new log.

    Parameters
    ----------
    tenant
        Whose jobs; those that ended since the last time are in its segments.
    now
        Time of the last event, seconds.

    Notes
    -----
    O((jobs + pieces) log jobs), or their product where that is faster. Which of the ways
    is taken depends on numbers alone; they agree to 1e-12.
    """
    pieces = tenant.log(now)
    if not pieces:
        return
    active = [row for row in tenant.jobs.values() if row.join == 0]
    segments = tenant.segments
    segments += [
        (row, row.join, pieces, row.demand, row.weight)
        for row in tenant.jobs.values()
        if 0 < row.join < pieces
    ]
    products = pieces * len(active) + sum(one[2] - one[1] for one in segments)
    if products <= LOOP_PRODUCTS:
        _by_loop(tenant, active, pieces)
    else:
        _by_arrays(tenant, active)
    for row in tenant.jobs.values():
        row.join = 0
    tenant.spans, tenant.levels, tenant.segments = [], [], []


def _give(row: JobRow, more: float) -> None:
    row.high, row.low = added(row.high, row.low, more)


def _by_loop(tenant: TenantRow, active: list[JobRow], pieces: int) -> None:
    log = list(zip(tenant.spans, tenant.levels, strict=True))
    for row in active:
        demand, weight = row.demand, row.weight
        total = 0.0
        for span, level in log:
            share = level * weight
            total += (share if share < demand else demand) * span
        _give(row, total)
    for row, join, leave, demand, weight in tenant.segments:
        total = 0.0
        for span, level in log[join:leave]:
            share = level * weight
            total += (share if share < demand else demand) * span
        _give(row, total)


def _by_arrays(tenant: TenantRow, active: list[JobRow]) -> None:
    spans, levels = np.array(tenant.spans), np.array(tenant.levels)
    for row, join, leave, demand, weight in tenant.segments:
        _give(row, _sum(spans[join:leave], levels[join:leave], demand, weight))
    step = max(1, ARRAY_PRODUCTS // len(spans))
    for begin in range(0, len(active), step):
        rows = active[begin : begin + step]
        demands = np.array([row.demand for row in rows], np.float64)
        weights = np.array([row.weight for row in rows])
        shares = np.minimum(demands[:, None], levels * weights[:, None])
        for row, more in zip(rows, (shares * spans).sum(axis=1).tolist(), strict=True):
            _give(row, more)


def _sum(spans: FloatArray, levels: FloatArray, demand: int, weight: float) -> float:
    return float((np.minimum(float(demand), levels * weight) * spans).sum())

"""What a tenant's log gives its jobs: plain sums where it is short, else the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phalanx_core.fairness.kernels import sum_segments
from phalanx_core.fairness.rows import JobRow, TenantRow, added

FloatArray = NDArray[np.float64]
# Products of jobs and pieces up to which a loop is as fast as arrays, and from which the
# kernel is faster than they are (measured).
LOOP_PRODUCTS = 1000
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
    elif products <= ARRAY_PRODUCTS:
        _by_arrays(tenant, active)
    else:
        _by_kernel(tenant, active, pieces)
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
    if active:
        demands = np.array([row.demand for row in active], np.float64)
        weights = np.array([row.weight for row in active])
        shares = np.minimum(demands[:, None], levels * weights[:, None])
        more = (shares * spans).sum(axis=1).tolist()
        for row, one in zip(active, more, strict=True):
            _give(row, one)


def _sum(spans: FloatArray, levels: FloatArray, demand: int, weight: float) -> float:
    return float((np.minimum(float(demand), levels * weight) * spans).sum())


def _by_kernel(tenant: TenantRow, active: list[JobRow], pieces: int) -> None:
    segments = tenant.segments
    segments += [(row, 0, pieces, row.demand, row.weight) for row in active]
    rows, *columns = zip(*segments, strict=True)
    joins, leaves = (np.array(column, np.int64) for column in columns[:2])
    demands, weights = (np.array(column, np.float64) for column in columns[2:])
    thetas, rank = np.unique(demands / weights, return_inverse=True)
    found = np.empty((len(segments), 2))
    sum_segments(
        (np.array(tenant.spans), np.array(tenant.levels)),
        thetas,
        rank.astype(np.int64),
        (joins, leaves, np.argsort(joins), np.argsort(leaves)),
        found,
    )
    more = (demands * found[:, 0] + weights * found[:, 1]).tolist()
    for row, one in zip(rows, more, strict=True):
        _give(row, one)

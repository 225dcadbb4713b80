"""Compiled sweeps over time: what every job is due, by a tree over demand per weight.

A piece of time in which a unit of weight is due ``level`` GPUs gives a job of demand d and
weight w its demand where θ = d / w is at most the level, and w x level where it is above.
So a piece adds its span, and level x span, at the rank of its level among all θ of the
tenant; sums over ranks up to θ's tell a job how long it was short and of what, and the
difference of two such sums, at its begin and at its end, is for its stay alone.

The sums are those of a Fenwick tree (Fenwick, Softw. Pract. Exp. 24, 1994), or of each θ
where there are few. Each row of the tree has four numbers beside each other: spans and gains, high and low, because a short
job's difference needs digits that one double of a long history has not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.kernel import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.signedinteger[Any]]
Pair = tuple[float, float]
Four = tuple[float, float, float, float]
# Seconds of the clock; and since the level passed a θ, seconds and gain of a unit of
# weight: high and low of each. Such a run goes into the tree when it ends, not by pieces.
Run = tuple[float, float, float, float, float, float]
# So many θ at most have sums of their own, which a run raises one by one and a job finds
# without a walk (measured).
FEW = 64
# What two doubles cannot tell from 0, of a sum of a million numbers: a job that was due
# nothing is due 0, whatever others were due before it.
NOISE = 2.0**-85


def plus(high: float, low: float, more: float) -> Pair:
    """A sum of two doubles and a third, without loss (Knuth)."""
    total = high + more
    back = total - high
    return total, low + ((high - (total - back)) + (more - back))


def minus(high: float, low: float, less: float, less_low: float) -> float:
    """The difference of two such sums that grow, as one double; 0 where it is noise."""
    left, left_low = plus(high, low - less_low, -less)
    found = left + left_low
    return found if found > NOISE * high else 0.0


def ranked(thetas: FloatArray, at: int, level: float) -> int:
    """How many of rising numbers are at most a level.

    It steps away from the answer ``at`` of the time before, ever further, because levels
    move little; then it halves.
    """
    size = thetas.size
    if at < size and thetas[at] <= level:
        low, step = at + 1, 1
        while low + step <= size and thetas[low + step - 1] <= level:
            low += step
            step += step
        high = min(size, low + step - 1)
    elif at > 0 and thetas[at - 1] > level:
        high, step = at - 1, 1
        while high - step >= 0 and thetas[high - step] > level:
            high -= step
            step += step
        low = max(0, high - step + 1)
    else:
        return at
    while low < high:
        half = (low + high) >> 1
        if thetas[half] <= level:
            low = half + 1
        else:
            high = half
    return low


def room(size: int) -> FloatArray:
    """Sums for so many θ, all 0: columns of each, or rows of a tree."""
    return np.zeros((4, size)) if size <= FEW else np.zeros((size + 1, 4))


def lift(high: FloatArray, low: FloatArray, more: float, more_low: float) -> None:
    """Add one sum to each of many."""
    for at in range(high.size):
        old = high[at]
        total = old + more
        back = total - old
        high[at] = total
        low[at] += ((old - (total - back)) + (more - back)) + more_low


def put(tree: FloatArray, size: int, rank: int, run: Run) -> Run:
    """Add what has run up at the rank of its level, which begins anew."""
    if size <= FEW:
        lift(tree[0, :rank], tree[1, :rank], run[2], run[3])
        lift(tree[2, rank:], tree[3, rank:], run[4], run[5])
        return run[0], run[1], 0.0, 0.0, 0.0, 0.0
    at = rank + 1
    while at <= size:
        tree[at, 0], low = plus(tree[at, 0], tree[at, 1], run[2])
        tree[at, 1] = low + run[3]
        tree[at, 2], low = plus(tree[at, 2], tree[at, 3], run[4])
        tree[at, 3] = low + run[5]
        at += at & -at
    return run[0], run[1], 0.0, 0.0, 0.0, 0.0


def passed(run: Run, span: float, level: float) -> Run:
    """A piece more at the level that runs."""
    clock, clock_low = plus(run[0], run[1], span)
    short, short_low = plus(run[2], run[3], span)
    gain, gain_low = plus(run[4], run[5], level * span)
    return clock, clock_low, short, short_low, gain, gain_low


def told(tree: FloatArray, size: int, rank: int, at: int, run: Run) -> Four:
    """Seconds at full demand up to now, and gain of a unit of weight below it, of a θ."""
    if size <= FEW:
        full, full_low = tree[0, rank], tree[1, rank]
        gain, gain_low = tree[2, rank], tree[3, rank]
        if at <= rank:
            gain, gain_low = plus(gain, gain_low + run[5], run[4])
        else:
            full, full_low = plus(full, full_low + run[3], run[2])
        return full, full_low, gain, gain_low
    short = short_low = gain = gain_low = 0.0
    if at <= rank:
        # What runs at a level below θ is in no row of the tree yet.
        short, short_low, gain, gain_low = run[2], run[3], run[4], run[5]
    row = rank + 1
    while row > 0:
        short, short_low = plus(short, short_low + tree[row, 1], tree[row, 0])
        gain, gain_low = plus(gain, gain_low + tree[row, 3], tree[row, 2])
        row -= row & -row
    full, full_low = plus(run[0], run[1] - short_low, -short)
    return full, full_low, gain, gain_low


@kernel(
    "void(UniTuple(float64[::1], 2), float64[::1], int64[::1], UniTuple(int64[::1], 4),"
    " float64[:, ::1])",
    parts=(plus, minus, ranked, room, lift, put, passed, told),
)
def sum_segments(
    log: tuple[FloatArray, FloatArray],
    thetas: FloatArray,
    rank: IntArray,
    stays: tuple[IntArray, IntArray, IntArray, IntArray],
    out: FloatArray,
) -> None:
    """Seconds at full demand, and gain of a unit of weight, of segments of one log.

    ``log``: spans and levels of pieces. ``thetas`` rise without doubles, ``rank`` is each
    segment's among them. ``stays``: numbers of the pieces at which each segment begins
    and ends, the first below the second; and segments in order of each of these.
    """
    spans, levels = log
    joins, leaves, begins, ends = stays
    size = thetas.size
    tree = room(size)
    marks = np.empty((rank.size, 4))
    run = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    begin = end = at = 0
    for piece in range(spans.size + 1):
        while end < ends.size and leaves[ends[end]] == piece:
            one = ends[end]
            full, full_low, gain, gain_low = told(tree, size, rank[one], at, run)
            out[one, 0] = minus(full, full_low, marks[one, 0], marks[one, 1])
            out[one, 1] = minus(gain, gain_low, marks[one, 2], marks[one, 3])
            end += 1
        while begin < begins.size and joins[begins[begin]] == piece:
            one = begins[begin]
            begin += 1
            marks[one, 0], marks[one, 1], marks[one, 2], marks[one, 3] = told(
                tree, size, rank[one], at, run
            )
        if piece < spans.size:
            new = ranked(thetas, at, levels[piece])
            if new != at:
                run = put(tree, size, at, run)
                at = new
            run = passed(run, spans[piece], levels[piece])


def grouped(order: IntArray, tenant: IntArray, first: IntArray) -> IntArray:
    """Jobs in some order, their own if it is empty, put tenant after tenant."""
    out = np.empty(tenant.size, np.int32)
    free = first.copy()
    for at in range(tenant.size):
        job = order[at] if order.size else at
        home = tenant[job]
        out[free[home]] = job
        free[home] += 1
    return out


def ranks(
    order: IntArray, tenant: IntArray, theta: FloatArray, first: IntArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Of jobs in order of θ: ranks, rising θ of each tenant, and how many these are."""
    rank, thetas = np.empty(tenant.size, np.int32), np.empty_like(theta)
    sizes = np.zeros_like(first)
    for at in range(tenant.size):
        job = order[at] if order.size else at
        home = tenant[job]
        last = first[home] + sizes[home] - 1
        if sizes[home] == 0 or thetas[last] != theta[job]:
            thetas[last + 1] = theta[job]
            sizes[home] += 1
        rank[job] = sizes[home] - 1
    return rank, thetas, sizes


def swept(
    numbers: Any, events: Any, terms: Any, by_demand: bool, tree: FloatArray, out: Any
) -> None:
    """One tenant, event after event. ``out``: room for marks, free rows of it, and dues.

    The number of a job's mark takes the place of its rank while it is active.
    """
    demand, weight, rank, submit, end = numbers
    begins, ends, thetas = events
    since, quota = terms
    marks, free, dues = out
    size = thetas.size
    run = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    heavy, heavy_low, wanted, level, now = 0.0, 0.0, 0.0, 0.0, -np.inf
    at = change = begin = leave = rows = 0
    while leave < ends.size:
        coming = submit[begins[begin]] if begin < begins.size else np.inf
        time = min(coming, end[ends[leave]])
        changes = change < since.size and since[change] <= time
        if changes:
            time = since[change]
        if time > now and begin > leave:
            new = ranked(thetas, at, level)
            if new != at:
                run = put(tree, size, at, run)
                at = new
            run = passed(run, time - now, level)
        now = time
        if changes:
            change += 1
        elif coming <= time:
            job = begins[begin]
            begin += 1
            # Rows of those that left are used again, so that few are ever touched.
            active = begin - leave
            if active > rows:
                free[rows] = rows
                rows += 1
            mark = free[active - 1]
            full, full_low, gain, gain_low = told(tree, size, rank[job], at, run)
            marks[mark, 0], marks[mark, 1] = full, full_low
            marks[mark, 2], marks[mark, 3] = gain, gain_low
            marks[mark, 4] = rank[job]
            rank[job] = mark
            heavy, heavy_low = plus(heavy, heavy_low, weight[job])
            wanted += demand[job]
        else:
            job = ends[leave]
            leave += 1
            free[begin - leave] = mark = rank[job]
            full, full_low, gain, gain_low = told(
                tree, size, int(marks[mark, 4]), at, run
            )
            dues[job] = demand[job] * minus(
                full, full_low, marks[mark, 0], marks[mark, 1]
            ) + weight[job] * minus(gain, gain_low, marks[mark, 2], marks[mark, 3])
            heavy, heavy_low = plus(heavy, heavy_low, -weight[job])
            wanted -= demand[job]
        if begin > leave:
            share = min(quota[change - 1], wanted if by_demand else np.inf)
            level = share / (heavy + heavy_low)
        else:
            # Weights of nobody sum to nothing at all.
            heavy = heavy_low = 0.0


@kernel(
    "void(int64[::1], UniTuple(float64[::1], 5), UniTuple(int64[::1], 3),"
    " Tuple((float64[::1], float64[:, ::1])), boolean, float64[::1])",
    parts=(plus, minus, ranked, room, lift, put, passed, told, grouped, ranks, swept),
)
def sweep(
    tenant: IntArray,
    numbers: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
    orders: tuple[IntArray, IntArray, IntArray],
    terms: tuple[FloatArray, FloatArray],
    by_demand: bool,
    out: FloatArray,
) -> None:
    """GPU-seconds that jobs are due, tenant after tenant, each in order of time.

    ``numbers``: demands, weights, θ, submissions and ends. ``orders``: jobs by θ, by
    submission and by end; empty where they are so already. ``terms``: times, and quotas of each tenant from these on.
    """
    demand, weight, theta, submit, end = numbers
    since, quotas = terms
    first = np.zeros(quotas.shape[0] + 1, np.int64)
    for home in tenant:
        first[home + 1] += 1
    first = np.cumsum(first)
    begins = grouped(orders[1], tenant, first)
    ends = grouped(orders[2], tenant, first)
    rank, thetas, sizes = ranks(orders[0], tenant, theta, first)
    marks, free = np.empty((tenant.size, 5)), np.empty(tenant.size, np.int32)
    for home in range(quotas.shape[0]):
        base, stop = first[home], first[home + 1]
        events = begins[base:stop], ends[base:stop], thetas[base : base + sizes[home]]
        swept(
            (demand, weight, rank, submit, end),
            events,
            (since, quotas[home]),
            by_demand,
            room(sizes[home]),
            (marks, free, out),
        )

"""Table 3 of the Phalanx paper by the simulation, beside NumPy and plain Python."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from random import Random
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.timing import quantiles
from phalanx_core.experiments.timing import quiet
from phalanx_core.reliability import Recovery, ettr, mtbf_s, simulate

HORIZON_S = 54 * 86_400.0
# GPUs, interval, overhead, mean and deviation of a recovery.
TABLE_3 = (
    (16_384, 1800.0, 0.010, 900.0, 120.0),
    (16_384, 600.0, 0.030, 900.0, 120.0),
    (16_384, 150.0, 0.007, 75.0, 10.0),
    (131_072, 600.0, 0.030, 900.0, 120.0),
    (131_072, 150.0, 0.007, 75.0, 10.0),
    (131_072, 60.0, 0.010, 75.0, 10.0),
)
# Runs that NumPy draws at once: more do not fit the caches.
NUMPY_RUNS = 16

Row = dict[str, Any]
Setting = tuple[int, float, float, float, float]
Ratios = tuple[NDArray[np.float64], int]


def ours(setting: Setting, runs: int, seed: int) -> Ratios:
    """Ratio of each run, and failures of all."""
    gpus, interval, share, mean, deviation = setting
    recovery = Recovery(mean, deviation)
    found = simulate(mtbf_s(gpus), recovery, interval, share, runs=runs, seed=seed)
    return found.ettr, int(found.failures.sum())


def by_numpy(setting: Setting, runs: int, seed: int) -> Ratios:
    """The same by whole arrays: as many cycles as hardly a run needs, then a mask."""
    gpus, interval, share, mean, deviation = setting
    mtbf, draw = mtbf_s(gpus), np.random.default_rng(seed)
    cycles = HORIZON_S / (mtbf + mean)
    count = int(cycles + 8 * cycles**0.5 + 8)
    ratios, failures = np.empty(runs), 0
    for begin in range(0, runs, NUMPY_RUNS):
        part = ratios[begin : begin + NUMPY_RUNS]
        shape = (part.size, count)
        up = draw.exponential(mtbf, shape)
        down = draw.normal(mean, deviation, shape)
        while (bad := down <= 0).any():
            down[bad] = draw.normal(mean, deviation, int(bad.sum()))
        ends = np.cumsum(up + down, axis=1)
        fails = ends - down < HORIZON_S
        kept = np.floor(up / interval) * interval
        part[:] = np.where(fails, kept, 0.0).sum(axis=1)
        # The run goes on at the horizon where its last recovery ended before.
        last = fails.sum(axis=1)
        failures += int(last.sum())
        ended = np.where(last > 0, ends[np.arange(part.size), last - 1], 0.0)
        part += np.maximum(HORIZON_S - ended, 0.0)
    return ratios * (1 - share) / HORIZON_S, failures


def by_python(setting: Setting, runs: int, seed: int) -> Ratios:
    """The same one failure after the other, by the standard library."""
    gpus, interval, share, mean, deviation = setting
    mtbf, draw = mtbf_s(gpus), Random(seed)
    exponential, normal, rate = draw.expovariate, draw.gauss, 1 / mtbf
    ratios, failures = [], 0
    for _ in range(runs):
        clock = kept = 0.0
        while clock < HORIZON_S:
            up = exponential(rate)
            if clock + up >= HORIZON_S:
                kept += HORIZON_S - clock
                break
            failures += 1
            kept += floor(up / interval) * interval
            down = normal(mean, deviation)
            while down <= 0:
                down = normal(mean, deviation)
            clock += up + down
        ratios.append(kept * (1 - share) / HORIZON_S)
    return np.array(ratios), failures


def checked(setting: Setting, ratios: NDArray[np.float64]) -> None:
    """Whether the mean is that of the closed form, within five standard errors."""
    gpus, interval, share, mean, _ = setting
    wanted = ettr(mtbf_s(gpus), mean, interval, share)
    error = ratios.std(ddof=1) / ratios.size**0.5
    # The run that the horizon cuts is one of some hundred cycles.
    if abs(ratios.mean() - wanted) > 5 * error + 1e-4:
        raise AssertionError(f"{setting}: {ratios.mean()} for {wanted}")


def table_3(
    by: Callable[[Setting, int, int], Ratios], runs: int, seed: int
) -> tuple[float, int]:
    """Nanoseconds of all rows of the table, and failures."""
    span, failures = 0, 0
    for setting in TABLE_3:
        before = perf_counter_ns()
        ratios, count = by(setting, runs, seed)
        span += perf_counter_ns() - before
        failures += count
        checked(setting, ratios)
    return float(span), failures


def measure(seed: int, *, few: bool) -> list[Row]:
    """Nanoseconds a failure cycle on one thread, each peer in turn with ours."""
    import numba

    runs, repeats = (50, 3) if few else (1000, 9)
    threads = numba.get_num_threads()
    ours(TABLE_3[0], 1, seed)  # compiles
    spans: dict[str, list[float]] = {"ours": [], "numpy": [], "python": []}
    with quiet():
        numba.set_num_threads(1)
        for _ in range(repeats):
            total, cycles = table_3(ours, runs, seed)
            spans["ours"].append(total / cycles)
            for name, by, part in (("numpy", by_numpy, 4), ("python", by_python, 50)):
                span, count = table_3(by, max(8, runs // part), seed)
                spans[name].append(span / count)
        numba.set_num_threads(threads)
        shared = min(table_3(ours, runs, seed)[0] / cycles for _ in range(repeats))
    told = quantiles([], spans["ours"])
    return [
        {
            "row": "montecarlo/table3",
            "ours": told,
            "peer": "numpy",
            "theirs": quantiles([], spans["numpy"]),
            "cycles": cycles,
            "seconds": told["median"] * cycles / 1e9,
            "best_ns": min(spans["ours"]),
            f"{threads}_threads_ns": shared,
            "checksum": f"{cycles:016x}",
        },
        {
            "row": "montecarlo/table3/python",
            "ours": told,
            "peer": "pure Python",
            "theirs": quantiles([], spans["python"]),
        },
    ]

"""Rounds of score and solve, beside NumPy and HiGHS on the same numbers.

Six families of jobs on GPU types of different speed, a tenth of the pairs impossible;
every round has numbers of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from bench.timing import quantiles, quiet
from phalanx_core import Assignment, score, solve

IDLE = 1.1
PEER_SECONDS = 10.0
MOST_SECONDS = 10.0
FAMILIES = 6

Row = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Jobs, GPUs of each type, job sizes, and how many rounds are timed."""

    jobs: int
    capacity: tuple[int, ...]
    sizes: tuple[int, ...]
    rounds: int
    peer_rounds: int


SMALL = tuple(range(1, 13))
LARGE = (1, 2, 4, 8, 16, 24, 32, 48, 64, 128)
SHAPES = {
    "A14": Shape(14, (12,), SMALL, 60, 5),
    "B40": Shape(40, (12,), SMALL, 40, 5),
    "C100": Shape(100, (256, 128, 128), LARGE, 20, 3),
    "D1k": Shape(1000, (1024, 512, 512), LARGE, 20, 1),
    "E5k": Shape(5000, (8192, 4096, 2048, 2048), LARGE, 8, 0),
    "F10k": Shape(10000, (65536, 32768, 16384, 16384), LARGE, 5, 0),
}


@dataclass(frozen=True)
class Round:
    """One round's numbers: utility (jobs, configurations), demand, capacity."""

    utility: NDArray[np.float64]
    demand: NDArray[np.int64]
    capacity: NDArray[np.int64]


def drawn(shape: Shape, rng: np.random.Generator) -> Round:
    """A round of that shape."""
    types, sizes = len(shape.capacity), np.array(shape.sizes)
    speed = rng.uniform(0.5, 2, (FAMILIES, types))
    family = rng.integers(0, FAMILIES, shape.jobs)
    power, loss = rng.uniform(0.88, 1, FAMILIES), rng.uniform(0.01, 0.2, FAMILIES)
    alone = sizes ** power[:, None] / (1 + loss[:, None] * (sizes - 1))
    goodput = (speed[:, :, None] * alone[:, None, :]).reshape(FAMILIES, -1)[family]
    goodput *= 1 + 0.03 * rng.standard_normal(goodput.shape)
    goodput /= goodput.min(axis=1, keepdims=True)
    restarts = rng.uniform(0, 1, shape.jobs)
    age = np.exp(rng.uniform(0, np.log(100), shape.jobs))
    utility = np.sqrt(goodput * restarts[:, None]) * age[:, None]
    utility[rng.random(utility.shape) < 0.1] = np.nan
    demand = np.zeros((types * sizes.size, types), dtype=np.int64)
    for kind in range(types):
        demand[kind * sizes.size : (kind + 1) * sizes.size, kind] = sizes
    return Round(utility, demand, np.array(shape.capacity))


def by_highs(given: Round) -> tuple[float, float]:
    """Milliseconds that HiGHS takes for the same round, model included, and its value."""
    before = perf_counter_ns()
    gain = given.utility - IDLE
    job, pick = np.nonzero(gain > 0)
    ones = np.ones(job.size)
    columns = np.arange(job.size)
    once = sparse.csr_array(
        (ones, (job, columns)), shape=(given.utility.shape[0], job.size)
    )
    used = sparse.csr_array(given.demand[pick].T)
    answer = milp(
        -gain[job, pick],
        integrality=ones,
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(once, ub=1),
            LinearConstraint(used, ub=given.capacity),
        ],
        options={"time_limit": PEER_SECONDS, "mip_rel_gap": 0},
    )
    spent = (perf_counter_ns() - before) / 1e6
    value = -answer.fun if answer.x is not None else 0.0
    return spent, value + IDLE * given.utility.shape[0]


def _solved(rounds: list[Round], gap: float) -> tuple[list[float], list[Assignment]]:
    """Nanoseconds and answer of each round, ten seconds at most."""
    spans, answers = [], []
    with quiet():
        for one in rounds:
            before = perf_counter_ns()
            answer = solve(
                one.utility,
                one.demand,
                one.capacity,
                idle=IDLE,
                gap=gap,
                time_limit_s=MOST_SECONDS,
            )
            spans.append(float(perf_counter_ns() - before))
            answers.append(answer)
    return spans, answers


def solving(name: str, seed: int, *, few: bool = False) -> list[Row]:
    """Exact and within 1e-4 of the bound; HiGHS where it may end."""
    shape = SHAPES[name]
    rng = np.random.default_rng(seed)
    rounds = [drawn(shape, rng) for _ in range(2 if few else shape.rounds)]
    _solved(rounds[:1], 0.0)
    rows: list[Row] = []
    for what, gap in (("exact", 0.0), ("gap 1e-4", 1e-4)):
        spans, answers = _solved(rounds, gap)
        rows.append({"row": f"solve/{name}/{what}", "ours": quantiles([], spans)})
        rows[-1]["proven"] = sum(one.gap <= gap for one in answers)
        if gap == 0.0 and shape.peer_rounds:
            peers = [by_highs(one) for one in rounds[: 1 if few else shape.peer_rounds]]
            theirs = quantiles([], [spent * 1e6 for spent, _ in peers])
            rows[-1] |= {"peer": "HiGHS", "theirs": theirs}
            rows[-1]["peer_loses"] = max(
                (ours.objective - value) / ours.objective
                for ours, (_, value) in zip(answers, peers, strict=False)
            )
    return rows


def identical(seed: int) -> Row:
    """10,000 jobs of one kind on one GPU type."""
    rng = np.random.default_rng(seed)
    shape = Shape(1, (131072,), LARGE, 5, 0)
    rounds = [drawn(shape, rng) for _ in range(shape.rounds)]
    many = [
        Round(np.repeat(one.utility, 10_000, axis=0), one.demand, one.capacity)
        for one in rounds
    ]
    return {"row": "solve/identical", "ours": quantiles([], _solved(many, 0.0)[0])}


def scoring(pairs: int, seed: int) -> Row:
    """Utility of many pairs, against NumPy's square root in place."""
    rng = np.random.default_rng(seed)
    jobs = pairs // 40
    goodput = rng.uniform(1, 50, (jobs, 40))
    clocks = rng.uniform(0, 7200, (4, jobs))
    out = np.empty_like(goodput)
    spans: dict[str, list[float]] = {"ours": [], "theirs": []}
    with quiet():
        for turn in range(8):
            before = perf_counter_ns()
            score(goodput, *clocks, out=out)
            between = perf_counter_ns()
            factor = clocks[0] / (clocks[0] + clocks[1] + clocks[2])
            age = np.clip(1 + 0.01 * clocks[3], None, 100.0)
            other = goodput * factor[:, None]
            np.sqrt(other, out=other)
            other *= age[:, None]
            after = perf_counter_ns()
            if turn:
                spans["ours"].append(float(between - before))
                spans["theirs"].append(float(after - between))
    made = {name: quantiles([], found) for name, found in spans.items()}
    return {"row": "score", "pairs": pairs, "peer": "numpy", **made}


def measure(few: bool, seed: int) -> list[Row]:
    """Every row, or two rounds of the small ones."""
    names = ["A14", "C100"] if few else list(SHAPES)
    rows = [scoring(100_000 if few else 10_000_000, seed)]
    for name in names:
        rows += solving(name, seed, few=few)
    return rows if few else [*rows, identical(seed)]

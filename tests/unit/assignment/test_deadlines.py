"""Promises of ``solve`` that hold however little time there is, on rounds of any size."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from bench.drawn import IDLE, SHAPES
from bench.drawn import drawn as bench_round
from phalanx_core.assignment import AssignmentProblem, solve
from tests.properties.rounds_drawn import Drawn, greedy


@cache
def _round(name: str) -> Drawn:
    """A round of a benchmark's shape."""
    found = bench_round(SHAPES[name], np.random.default_rng(7))
    jobs = found.utility.shape[0]
    return Drawn(
        name,
        found.utility,
        found.demand,
        found.capacity,
        np.broadcast_to(found.demand, (jobs, *found.demand.shape)),
        found.capacity,
        found.utility,
        {"idle": IDLE},
    )


@cache
def _judged(name: str) -> tuple[float, float, float]:
    """The best worth as far as it is known, and of both greedy answers."""
    round_ = _round(name)
    near = solve(
        round_.utility, round_.demand, round_.capacity, idle=IDLE, gap=1e-4, effort=5000
    )
    share, rich = greedy(round_, by_share=True), greedy(round_, by_share=False)
    return near.objective, share, rich


LIMITS: list[dict[str, Any]] = [
    {"time_limit_s": 0},
    {"time_limit_s": 1e-3},
    {"time_limit_s": 0.02},
    {"effort": 0},
    {"effort": 1},
    {"gap": 0.5},
    {"solver": "cp-sat", "time_limit_s": 0},
    {"solver": "nsga2", "time_limit_s": 0},
]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("name", ["C100", "D1k", "F10k"])
def test_an_answer_is_feasible_in_no_time(name: str, limit: dict[str, Any]) -> None:
    """No rule broken, a bound that is one, and not worse than jobs taking turns."""
    round_ = _round(name)
    solve([[1.0]] * 3, [[1, 1]], [2, 2], solver="nsga2")  # what is loaded once
    started = time.perf_counter()
    AssignmentProblem.of(round_.utility, round_.demand, round_.capacity, IDLE)
    idle_s = time.perf_counter() - started
    started = time.perf_counter()
    answer = solve(round_.utility, round_.demand, round_.capacity, idle=IDLE, **limit)
    seconds = time.perf_counter() - started
    choice = answer.choice.astype(np.int64)
    best, share, rich = _judged(name)
    assert round_.legal(choice)
    assert answer.objective == pytest.approx(round_.value(choice), rel=1e-12)
    assert answer.bound >= max(best, answer.objective, share, rich) * (1 - 1e-12)
    assert answer.objective >= max(share, rich)
    assert answer.gap <= max(limit.get("gap", 0.0), 0.5)
    limited = limit.get("time_limit_s", 9) < 0.02
    assert answer.limited or not limited or answer.status == "optimal"
    if "time_limit_s" in limit:
        assert seconds <= limit["time_limit_s"] + 20 * idle_s + 0.5

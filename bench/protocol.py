"""The protocol's transitions, the checker of its orbits, and schedules of its engine."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context
from time import perf_counter_ns
from typing import Any

from bench.timing import quantiles
from phalanx_core.experiments.timing import quiet
from phalanx_core.reformation import (
    HARDENED,
    PRINTED,
    Event,
    Records,
    started,
    transition,
)
from phalanx_core.verification import Model, Scope
from phalanx_core.verification.judging import judge
from phalanx_core.verification.random_history import random_steps
from phalanx_core.verification.unreduced import explore
from phalanx_core.verification.unreduced_scope import Scope as Unreduced
from tests.properties.protocol_walk import schedules

Row = dict[str, Any]


def nothing(records: Records, event: Event, rules: object) -> Records:
    """A call of as many arguments that does nothing."""
    return records


def _each(call: Callable[..., Any], steps: list[tuple[Records, Event]]) -> float:
    """Nanoseconds a call, over all steps of a history."""
    before = perf_counter_ns()
    for records, event in steps:
        call(records, event, HARDENED)
    return (perf_counter_ns() - before) / len(steps)


def _timed(call: Callable[[], object]) -> float:
    before = perf_counter_ns()
    call()
    return float(perf_counter_ns() - before)


def transitions(seed: int, repeats: int) -> Row:
    """Steps of a random history of four jobs on 32 leaves, beside an empty call."""
    records = started([0xFF << 8 * job for job in range(3)] + [0], leaves=32)
    steps = []
    for event, after in random_steps(seed, 20_000, records, 32):
        steps.append((records, event))
        records = after
    ours = [_each(transition, steps) for _ in range(repeats)]
    theirs = [_each(nothing, steps) for _ in range(repeats)]
    told = quantiles([], ours)
    return {
        "row": "protocol/transition",
        "ours": told,
        "peer": "empty call",
        "theirs": quantiles([], theirs),
        "a_second": 1e9 / told["median"],
    }


def orbits(name: str, model: Model, peer: Callable[[], object], repeats: int) -> Row:
    """Every property of a model, on the quotient by its leaves."""
    found = judge(model)
    if not all(found.verdicts.values()):
        raise AssertionError(f"{name}: {found.verdicts}")
    ours = [_timed(lambda: judge(model)) for _ in range(repeats)]
    theirs = [_timed(peer) for _ in range(max(1, repeats // 3))]
    return {
        "row": f"protocol/orbits/{name}",
        "ours": quantiles([], ours),
        "peer": "2/7/2, all its states in C",
        "theirs": quantiles([], theirs),
        "orbits": found.counts.orbits,
        "distinct": found.counts.distinct,
    }


def simulated(seed: int, count: int, repeats: int, processes: int) -> Row:
    """Schedules of engines in a faulty world, so many in each process at once."""
    firsts = range(seed, seed + (repeats + 1) * processes * count, count)
    parts = [range(first, first + count) for first in firsts]
    with get_context("spawn").Pool(processes) as pool:
        pool.map(schedules, parts[:processes], chunksize=1)  # they import, and begin
        spans = []
        for at in range(1, repeats + 1):
            mine = parts[at * processes : (at + 1) * processes]
            whole = _timed(lambda mine=mine: pool.map(schedules, mine, chunksize=1))
            spans.append(whole / (processes * count))
    told = quantiles([], spans)
    return {
        "row": "protocol/schedule" + ("/one core" if processes == 1 else ""),
        "ours": told,
        "processes": processes,
        "a_second": 1e9 / told["median"],
    }


def measure(seed: int, *, few: bool) -> list[Row]:
    """One row each; ``few``: the smaller scopes."""
    repeats = 3 if few else 9

    def unreduced() -> object:
        return explore(Unreduced(2, 6 if few else 7, 2))

    with quiet():
        rows = [transitions(seed, repeats)]
        rows.append(orbits("2/7/2", Model(Scope(2, 7, 2), PRINTED), unreduced, repeats))
        if not few:
            hardened = Model(Scope(3, 12, 3), HARDENED)
            rows.append(orbits("3/12/3 hardened", hardened, unreduced, 3))
        cores = max(2, os.cpu_count() or 1)
        rows += [simulated(seed, 20 if few else 1000, 3, each) for each in (1, cores)]
    return rows

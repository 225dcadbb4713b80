"""Rounds of score and solve, beside NumPy and the solvers that others use."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from time import perf_counter_ns
from typing import Any

import numpy as np

from bench.drawn import (
    IDLE,
    LARGE,
    SHAPES,
    IntArray,
    Round,
    Shape,
    drawn,
    drawn_rounds,
)
from bench.round_peers import INSTALL, PEERS, Peer, PeerResult, check
from bench.timing import quantile, quantiles
from phalanx_core import Assignment, score, solve
from phalanx_core.experiments.timing import quiet

PEER_SECONDS = 10.0
MOST_SECONDS = 10.0
# Where a round is too large for every peer, `patience` is given to these.
PATIENT = ("highs", "cp-sat-tuned")
GENETIC_ROUNDS = {20: (60, 10), 100: (20, 3)}  # ours, pymoo's

Row = dict[str, Any]


def solved(rounds: list[Round], **options: Any) -> tuple[list[float], list[Assignment]]:
    """Nanoseconds and answer of each round, ten seconds at most."""
    options = {"idle": IDLE, "time_limit_s": MOST_SECONDS, **options}
    spans, answers = [], []
    with quiet():
        for one in rounds:
            before = perf_counter_ns()
            answer = solve(one.utility, one.demand, one.capacity, **options)
            spans.append(float(perf_counter_ns() - before))
            answers.append(answer)
    return spans, answers


def _timed(name: str, spans: list[float], answers: list[Assignment], gap: float) -> Row:
    ours = quantiles([], spans)
    proven = sum(one.gap <= gap for one in answers)
    told = f"{proven} of {len(answers)}"
    return {"row": name, "ours": ours, "p95_ms": ours["p95"] / 1e6, "proven": told}


def solving(name: str, seed: int, *, few: bool, patience: float) -> list[Row]:
    """Exact and within 1e-4 of the bound; then each peer on the first of the rounds."""
    shape = SHAPES[name]
    rounds = drawn_rounds(shape, seed, 2 if few else None)
    solved(rounds[: 1 + 200 // shape.jobs])  # else small rounds pay for a cold start
    spans, answers = solved(rounds)
    close = solved(rounds, gap=1e-4)
    rows = [
        _timed(f"solve/{name}/exact", spans, answers, 0.0),
        _timed(f"solve/{name}/gap 1e-4", *close, 1e-4),
    ]
    names, count, seconds = shape.peers, shape.peer_rounds, PEER_SECONDS
    if not names and patience:
        names, count, seconds = PATIENT, 1, patience
    count = min(count, 1) if few else count
    for peer in names:
        ours = (rounds[:count], spans[:count], answers[:count])
        rows.append(beside(f"solve/{name}/{peer}", PEERS[peer], ours, seconds))
    return rows


def beside(
    name: str,
    peer: Peer,
    ours: tuple[list[Round], list[float], list[Assignment]],
    seconds: float,
) -> Row:
    """A peer on rounds that we have solved, each answer checked against ours."""
    rounds, spans, answers = ours
    row = {"row": name, "peer": peer.label, "ours": quantiles([], spans)}
    if peer.missing:
        return {**row, "missing": f"{peer.label}: {INSTALL}"}
    found = peer_on(peer, rounds, answers, seconds)
    row["theirs"] = quantiles([], [one.total_s * 1e9 for one in found])
    return row | _told(row, found, answers, seconds)


def peer_on(
    peer: Peer, rounds: list[Round], answers: list[Assignment], seconds: float
) -> list[PeerResult]:
    """A peer's answers, asked one after the other and checked when all are there."""
    peer.warm()
    with quiet():
        found = [peer.ask(given, seconds) for given in rounds]
    for given, ours, theirs in zip(rounds, answers, found, strict=True):
        check(given, ours, theirs, peer.label, peer.tolerance)
    return found


def _told(
    row: Row, found: list[PeerResult], answers: list[Assignment], seconds: float
) -> Row:
    """What a row says of a peer beyond its time."""
    ended = sum(one.proven for one in found)
    times = row["theirs"]["median"] / row["ours"]["median"]
    capped = ended < len(found)
    told: Row = {
        "times": f"{'at least ' if capped else ''}{times:.3g}",
        "build_ms": _middle([one.build_s for one in found]) * 1e3,
        "solve_ms": _middle([one.solve_s for one in found]) * 1e3,
        "proven": f"{ended} of {len(found)}" + f" in {seconds:g} s" * capped,
    }
    gaps = [
        (mine.objective - one.objective) / mine.objective
        for mine, one in zip(answers, found, strict=True)
        if one.objective is not None
    ]
    # Of those that ended it is what floating point leaves.
    told["gap"] = f"{max(0.0, *gaps):.1g}" if gaps else "no answer"
    return told | {"capped": capped}


def _middle(values: list[float]) -> float:
    return quantile(sorted(values), 0.5)


def hybrid_is_there() -> bool:
    """Whether ``solve`` has an NSGA-II of its own."""
    return "population" in inspect.signature(solve).parameters


def held_rounds(shape: Shape, seed: int, count: int) -> list[tuple[Round, IntArray]]:
    """Rounds, and of each what jobs hold: the best answer of the one before it.

    What a job cannot run any more it does not hold.
    """
    rounds = drawn_rounds(shape, seed, count + 1)
    pairs = []
    for last, given in pairwise(rounds):
        held = solved([last])[1][0].choice.astype(np.int64)
        lost = np.isnan(given.utility[np.arange(held.size), held])
        pairs.append((given, np.where(lost, -1, held)))
    return pairs


def searched(given: Round, held: IntArray, size: int, seed: int) -> Assignment:
    """Ours: NSGA-II of so many candidates and as many generations."""
    return solve(
        given.utility,
        given.demand,
        given.capacity,
        idle=IDLE,
        current=held,
        solver="nsga2",
        population=size,
        generations=size,
        seed=seed,
    )


def seed_value(given: Round, held: IntArray) -> float:
    """The better of what is held and what prices alone give: where a search starts."""
    priced = solved([given], solver="core", effort=0)[1][0]
    return max(given.value(held), priced.objective)


def genetic(size: int, seed: int, *, few: bool) -> Row:
    """Hybrid OAK on rounds of 14 jobs and 12 GPUs, beside pymoo."""
    name = f"hybrid/{size}x{size}"
    if not hybrid_is_there():
        return {"row": name, "missing": "solve(solver='nsga2')"}
    mine, theirs = (2, 1) if few else GENETIC_ROUNDS[size]
    pairs = held_rounds(SHAPES["A14"], seed, mine)
    searched(*pairs[0], size, seed)
    spans, answers = [], []
    with quiet():
        for given, held in pairs:
            before = perf_counter_ns()
            answers.append(searched(given, held, size, seed))
            spans.append(float(perf_counter_ns() - before))
    best = [one.objective for one in solved([given for given, _ in pairs])[1]]
    seeds = [seed_value(given, held) for given, held in pairs]
    row = {"row": name, "ours": quantiles([], spans), "peer": "pymoo"}
    row["p95_ms"] = row["ours"]["p95"] / 1e6
    row["gap"] = _middle(
        [1 - a.objective / b for a, b in zip(answers, best, strict=True)]
    )
    row["worse_than_seed"] = sum(
        a.objective < b * (1 - 1e-12) for a, b in zip(answers, seeds, strict=True)
    )
    if find_spec("pymoo") is None:
        return {**row, "missing": f"pymoo: {INSTALL}"}
    found = pymoo_on(pairs[:theirs], size, seed)
    row["theirs"] = quantiles([], [one.total_s * 1e9 for one in found])
    row["times"] = f"{row['theirs']['median'] / row['ours']['median']:.3g}"
    return {**row, "their_gap": pymoo_gap(found, best)}


def pymoo_on(
    pairs: list[tuple[Round, IntArray]], size: int, seed: int
) -> list[PeerResult]:
    """NSGA-II of pymoo on each round; its answers must fit."""
    by_pymoo = import_module("bench.genetic_peer").by_pymoo
    by_pymoo(*pairs[0], 4, seed)
    with quiet():
        found = [by_pymoo(given, held, size, seed) for given, held in pairs]
    answers = solved([given for given, _ in pairs])[1]
    for (given, _), ours, theirs in zip(pairs, answers, found, strict=True):
        check(given, ours, theirs, "pymoo", 1e-9)
    return found


def pymoo_gap(found: list[PeerResult], best: list[float]) -> float:
    """Median share by which answers miss the optimum."""
    pairs = zip(found, best, strict=False)
    return _middle([1 - one.objective / most for one, most in pairs if one.objective])


def certified(seed: int) -> Row:
    """Rounds of 14 jobs, each answer proven by CP-SAT as well."""
    rounds = drawn_rounds(SHAPES["A14"], seed)
    solved(rounds[:15], certify=True)
    return _timed("solve/A14/certified", *solved(rounds, certify=True), 0.0)


def one_type(seed: int) -> Row:
    """10,000 jobs on 131,072 GPUs of one type."""
    rounds = drawn_rounds(Shape(10_000, (131072,), LARGE, 9), seed)
    solved(rounds[:1])
    return _timed("solve/one-type", *solved(rounds), 0.0)


def identical(seed: int) -> Row:
    """10,000 jobs of one kind on one GPU type."""
    rng = np.random.default_rng(seed)
    shape = Shape(1, (131072,), LARGE, 5)
    rounds = [drawn(shape, rng) for _ in range(shape.rounds)]
    many = [
        Round(np.repeat(one.utility, 10_000, axis=0), one.demand, one.capacity)
        for one in rounds
    ]
    return _timed("solve/identical", *solved(many), 0.0)


def scoring(pairs: int, seed: int) -> Row:
    """Utility of many pairs, against NumPy's square root in place."""
    rng = np.random.default_rng(seed)
    jobs = pairs // 40
    goodput = rng.uniform(1, 50, (jobs, 40))
    clocks = rng.uniform(0, 7200, (4, jobs))
    out = np.empty_like(goodput)
    spans: dict[str, list[float]] = {"ours": [], "theirs": []}
    with quiet():
        for turn in range(8 if pairs > 1_000_000 else 101):
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
    row = {"row": f"score/{pairs:.0e}".replace("e+0", "e"), "peer": "numpy", **made}
    row["ns_a_pair"] = made["ours"]["median"] / pairs
    return row | {"their_ns_a_pair": made["theirs"]["median"] / pairs}


def measure(few: bool, seed: int, patience: float = 0.0) -> list[Row]:
    """Every row, or two rounds of the small ones."""
    names = ["A14", "C100"] if few else list(SHAPES)
    rows = [scoring(pairs, seed) for pairs in (1000, 100_000, 10_000_000)[: 3 - few]]
    for name in names:
        rows += solving(name, seed, few=few, patience=patience)
    rows += [genetic(size, seed, few=few) for size in GENETIC_ROUNDS]
    return rows if few else [*rows, certified(seed), one_type(seed), identical(seed)]

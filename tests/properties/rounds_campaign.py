"""The long random campaign of ``solve``: every solver beside the others, and its promises.

Run as ``python -m tests.properties.rounds_campaign --rounds 10000 --seed 0``. Exits with 1
when a promise is broken, or when an outcome was met too rarely to say that it was tested.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np

from phalanx_core.assignment import Assignment, certificate, solve
from phalanx_core.errors import InvalidRequest
from tests.properties.rounds_drawn import (
    KINDS,
    Drawn,
    brute,
    drawn,
    greedy,
    permuted,
)

# Steps that a proof may take here, so that no round takes seconds.
EFFORT = 60_000
BATCH = 50
BRUTE_MOST = 700
# Least count of each outcome, as a share of the rounds.
FLOORS = {
    **{f"kind {kind}": 0.02 for kind in KINDS},
    "auto trivial": 0.05,
    "auto dp": 0.05,
    "auto core": 0.1,
    "auto optimal": 0.5,
    "dp = core": 0.1,
    "cp-sat = core": 0.05,
    "brute force": 0.1,
    "most are kept": 0.01,
    "nsga2": 0.05,
    "permuted": 0.1,
    "cut short": 0.05,
    "within a gap": 0.05,
    "late": 0.05,
    "certificate": 0.05,
    "greedy by share": 0.2,
    "warm": 0.05,
    "fixed": 0.02,
    "refused": 0.001,
    "quota": 0.05,
    "bonus": 0.02,
}


class Report(NamedTuple):
    """What some rounds met, and where a promise was broken."""

    outcomes: Counter[str]
    slowest: tuple[float, str]
    broken: list[str]


# Options of a round that a certificate is told as well, and how far it looks.
TOLD = ("current", "keep_bonus", "fixed", "forbidden", "tenant", "quota")
STATES = 2_000


class Exam:
    """All that is asked of one round."""

    def __init__(self, round_: Drawn, draw: Random, met: Counter[str]) -> None:
        self.round, self.draw, self.met = round_, draw, met
        self.near = round_.tolerance()
        self.answers: list[tuple[str, Assignment]] = []

    def solved(self, name: str, round_: Drawn | None = None, **more: Any) -> Assignment:
        """An answer, checked alone."""
        round_ = round_ or self.round
        options = {"effort": EFFORT, **round_.options, **more}
        answer = solve(round_.utility, round_.demand, round_.capacity, **options)
        choice = answer.choice.astype(np.int64)
        held = round_.options.get("keep_bonus", 0.0) * round_.kept(choice)
        plain = round_.value(choice) - held
        used = round_.used(choice)
        self.need(round_.legal(choice), f"{name}: breaks a rule")
        self.need(
            abs(answer.objective - plain) <= self.near + 1e-12 * abs(plain),
            f"{name}: objective {answer.objective!r}, recomputed {plain!r}",
        )
        self.need(answer.used.tolist() == used.tolist(), f"{name}: used")
        self.need(
            answer.capacity.tolist() == round_.limits.tolist(), f"{name}: capacity"
        )
        self.need(answer.bound >= answer.objective, f"{name}: bound below")
        optimal = answer.status == "optimal"
        self.need(not optimal or answer.gap == 0, f"{name}: optimal with a gap")
        self.answers.append((name, answer))
        return answer

    def need(self, holds: bool, rule: str) -> None:
        """A promise."""
        if not holds:
            raise AssertionError(rule)

    def worth(self, answer: Assignment) -> float:
        """With the bonus, which is what is made the most of."""
        return self.round.value(answer.choice.astype(np.int64))

    def run(self) -> None:
        """Ask everything."""
        round_, met = self.round, self.met
        met[f"kind {round_.kind}"] += 1
        used = round_.used(round_.stay)
        if (used > round_.limits).any():
            met["refused"] += 1
            try:
                self.solved("auto")
            except InvalidRequest as error:
                self.need("fixed: these jobs want" in str(error), f"refusal: {error}")
                return
            raise AssertionError("fixed jobs want more than there is")
        auto = self.solved("auto")
        met[f"auto {auto.solver}"] += 1
        met[f"auto {auto.status}"] += 1
        for name in ("fixed", "quota"):
            met[name] += name in round_.options
        met["bonus"] += "keep_bonus" in round_.options
        self.others(auto)
        self.again(auto)
        self.limits(auto)
        self.judge()

    def others(self, auto: Assignment) -> None:
        """Every other solver."""
        round_, met = self.round, self.met
        core = self.solved("core", solver="core")
        both = core.status == "optimal"
        if round_.limits.size == 1:
            table = (int(round_.limits[0]) + 1) * round_.worth.shape[0]
            if table <= 1 << 20:
                answer = self.solved("dp", solver="dp")
                self.need(answer.status == "optimal", "dp: not optimal")
                met["dp = core"] += both and core.solver == "core"
        if self.draw.random() < 0.25:
            answer = self.solved("cp-sat", solver="cp-sat", effort=2 * EFFORT)
            proven = answer.status == "optimal" and answer.solver == "cp-sat"
            met["cp-sat = core"] += both and proven
        if self.draw.random() < 0.2:
            answer = self.solved(
                "nsga2", solver="nsga2", effort=None, population=6, generations=4
            )
            met["nsga2"] += answer.solver == "nsga2"
        self.certify(core)
        if core.prices is not None and "keep_bonus" not in round_.options:
            warm = self.draw.choice((core.prices, core.prices * 3, core.prices * 0))
            self.solved("warm", solver="core", prices=warm)
            met["warm"] += 1

    def certify(self, core: Assignment) -> None:
        """The certificate of an answer: no rule broken, and a bound that is one."""
        round_ = self.round
        told = certificate(
            core,
            round_.utility,
            round_.demand,
            round_.capacity,
            round_.idle,
            **{name: round_.options[name] for name in TOLD if name in round_.options},
            states=STATES,
        )
        self.need(told.broken == (), f"certificate: {told.broken}")
        self.need(
            told.bound is not None and told.bound >= core.objective - self.near,
            f"certificate: bound {told.bound!r} below {core.objective!r}",
        )
        self.met["certificate"] += 1

    def again(self, auto: Assignment) -> None:
        """The same bits on every run, and for jobs in another order."""
        round_ = self.round
        same = self.solved("again")
        self.need(same == auto, "again: another answer")
        self.need(same.effort == auto.effort, "again: another effort")
        order = np.random.default_rng(self.draw.getrandbits(63)).permutation(
            round_.worth.shape[0]
        )
        moved = self.solved("permuted", permuted(round_, order))
        self.answers.pop()
        wide = round_.full.shape[1] * round_.full.shape[2]
        worth = np.nan_to_num(round_.worth, nan=-np.inf)
        rows = np.concatenate([worth, round_.full.reshape(len(order), wide)], axis=1)
        distinct = np.unique(rows, axis=0).shape[0] == len(order)
        if distinct or "keys" in round_.options:
            self.met["permuted"] += len(order) > 1
            self.need(moved.objective == auto.objective, "permuted: objective")
            back = auto.choice[order].tolist()
            self.need(moved.choice.tolist() == back, "permuted: choice")
            self.need(moved.effort == auto.effort, "permuted: effort")

    def limits(self, auto: Assignment) -> None:
        """Limits of effort, of time, and gaps."""
        steps = self.draw.choice((0, 1, 30, 1000))
        solver = self.draw.choice(("auto", "core", "cp-sat"))
        cut = self.solved(f"effort {steps}", solver=solver, effort=steps)
        self.met["cut short"] += cut.status == "feasible"
        twice = self.solved(f"effort {steps}", solver=solver, effort=steps)
        self.need(cut == twice, f"effort {steps}: another answer")
        gap = self.draw.choice((1e-4, 0.02, 0.3))
        near = self.solved(f"gap {gap}", solver="core", gap=gap)
        self.met["within a gap"] += near.status == "feasible"
        late = self.solved("late", solver="core", time_limit_s=0)
        self.met["late"] += late.limited

    def judge(self) -> None:
        """No answer beats what is proven, and none is worse than the greedy ones."""
        round_ = self.round
        best = max(self.worth(answer) for _, answer in self.answers)
        jobs, configurations = round_.worth.shape
        if (configurations + 1) ** jobs <= BRUTE_MOST:
            most, kept = brute(round_)
            self.need(best <= most + self.near, "brute force finds less")
            best = most
            self.met["brute force"] += 1
            if round_.options.get("current") is not None:
                self.most_kept(kept)
        # Who chooses first of equals is anybody's choice, and answers differ by it.
        share = greedy(round_, by_share=True)
        share = -np.inf if round_.has_ties() else share
        rich = greedy(round_, by_share=False)
        self.met["greedy by share"] += np.isfinite(share)
        for name, answer in self.answers:
            worth = self.worth(answer)
            bound = answer.bound - answer.objective + worth
            self.need(
                bound >= best - self.near, f"{name}: bound {bound!r}, best {best!r}"
            )
            self.need(
                answer.status != "optimal" or worth >= best - self.near,
                f"{name}: optimal at {worth!r}, best {best!r}",
            )
            self.need(
                worth >= share - self.near, f"{name}: greedy {share!r}, {worth!r}"
            )
            if worth < rich - self.near:
                self.met[f"beaten by worth alone: {name}"] += 1

    def most_kept(self, kept: int) -> None:
        """Of answers worth the same that keeping most is taken."""
        if self.round.kind not in ("ties", "alike", "subset-sum", "correlated"):
            return
        for name, answer in self.answers:
            if answer.status == "optimal" and name in ("auto", "core", "dp", "cp-sat"):
                mine = self.round.kept(answer.choice.astype(np.int64))
                self.need(mine == kept, f"{name}: keeps {mine}, may {kept}")
                self.met["most are kept"] += 1


def examine(batch: int, seed: int, ends: int) -> Report:
    """Rounds of a batch; none depends on another."""
    met: Counter[str] = Counter()
    slowest, broken = (0.0, ""), []
    for at in range(batch * BATCH, min(ends, batch * BATCH + BATCH)):
        draw = Random(f"{seed}/{at}")
        round_, started = drawn(draw), time.perf_counter()
        try:
            Exam(round_, draw, met).run()
        except Exception as error:  # a crash breaks a promise as well
            broken.append(
                f"round {at} ({round_.kind}): {type(error).__name__}: {error}"
            )
        seconds = time.perf_counter() - started
        slowest = max(slowest, (seconds, f"round {at} ({round_.kind})"))
        met["rounds"] += 1
    return Report(met, slowest, broken)


def campaign(
    rounds: int, seed: int, say: Callable[[str], object], processes: int = 1
) -> list[str]:
    """Examine so many rounds; what went wrong, empty = nothing."""
    met: Counter[str] = Counter()
    slowest, wrong = (0.0, ""), []
    started = time.perf_counter()
    batches = range(-(-rounds // BATCH))
    work = partial(examine, seed=seed, ends=rounds)
    with ProcessPoolExecutor(processes) if processes > 1 else nullcontext() as pool:
        for report in (pool.map if pool else map)(work, batches):
            met += report.outcomes
            slowest = max(slowest, report.slowest)
            for line in report.broken:
                say(f"DIFFERENCE {line}")
            wrong += report.broken
            if met["rounds"] % 1000 == 0:
                say(
                    f"{met['rounds']:8} rounds in {time.perf_counter() - started:.1f} s"
                )
    say(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")
    wrong += _missed(met, rounds, say)
    return wrong


def _missed(
    met: Counter[str], rounds: int, say: Callable[[str], object]
) -> Iterator[str]:
    for kind in (*FLOORS, *sorted(set(met) - set(FLOORS))):
        floor = int(rounds * FLOORS.get(kind, 0))
        missed = met[kind] < floor
        say(f"{kind:18}{met[kind]:9}  floor {floor}{'  MISSED' if missed else ''}")
        if missed:
            yield f"{kind}: met {met[kind]} times, floor {floor}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description="solvers of rounds beside each other")
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    wrong = campaign(given.rounds, given.seed, _say, given.processes)
    for line in wrong:
        _say(f"DIFFERENCE {line}")
    _say(f"seed {given.seed}: {'no difference' if not wrong else 'FAILED'}")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

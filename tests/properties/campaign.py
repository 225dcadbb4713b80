"""The long random campaign: every geometry, every outcome counted, floors checked.

Run as ``python -m tests.properties.campaign --operations 100000 --seed 0``: that many
operations on each geometry. With ``--full`` gangs have slices, are balanced, have parts
or templates and are resized, on the geometries that take such gangs. Exits with 1 when
a planner and its twin differ, or when an outcome was met too rarely to say that it was
tested.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from random import Random
from typing import NamedTuple

from phalanx_core.testing import GEOMETRIES
from tests.properties.walk import Walk

# Least count of an outcome over all geometries, as a share of one's operations.
FLOOR_SHARE = 0.01
FULL_FLOOR_SHARE = 0.002
NAMES = tuple(geometry.name for geometry in GEOMETRIES)
FLOORS = (
    "TOO_LARGE",
    "LIMITED",
    "CAPACITY",
    "GROUPS",
    "ALIGNMENT",
    "REPLACEMENT",
    "partial",
    "repaired",
    "placed",
)
EXACT = tuple(one.name for one in GEOMETRIES if one.alignment == "exact")
FULL_FLOORS = (
    *(kind for kind in FLOORS if kind != "ALIGNMENT"),
    "joint",  # a gang of parts was placed
    "rejoined",  # and repaired
    "reduced",
    "smaller",
    "grown",
    "widened",
    "shrunk",
)


class Report(NamedTuple):
    """What the walk over one geometry met."""

    name: str
    outcomes: Counter[str]
    seconds: float
    difference: str | None


def walk_over(name: str, operations: int, seed: int, full: bool = False) -> Report:
    """Walk over one geometry; its seed does not depend on the others."""
    geometry = next(one for one in GEOMETRIES if one.name == name)
    started = time.perf_counter()
    walk = Walk(geometry, Random(f"{seed}/{name}"), full=full)
    difference = None
    try:
        walk.run(operations, check_every=16)
    except Exception as error:  # a crash is a difference as well
        difference = f"{type(error).__name__}: {error}"
    return Report(name, walk.outcomes, time.perf_counter() - started, difference)


def campaign(
    operations: int,
    seed: int,
    say: Callable[[str], object],
    processes: int = 1,
    names: Sequence[str] = (),
    full: bool = False,
) -> list[str]:
    """Walk over geometries; what went wrong, empty = nothing.

    Floors are for all geometries together, so they are not asked of fewer.
    """
    every = EXACT if full else NAMES
    names = names or every
    floors = FULL_FLOORS if full else FLOORS
    walk = partial(walk_over, operations=operations, seed=seed, full=full)
    wrong: list[str] = []
    totals: Counter[str] = Counter()
    with ProcessPoolExecutor(processes) if processes > 1 else nullcontext() as pool:
        for report in (pool.map if pool else map)(walk, names):
            kinds = _kinds(report)
            totals += kinds
            counts = " ".join(f"{kind}={kinds[kind]}" for kind in floors)
            done = report.outcomes.total()
            say(f"{report.name:10}{done:8} in {report.seconds:5.1f} s  {counts}")
            if report.difference is not None:
                wrong.append(f"{report.name} after {done}: {report.difference}")
    share = FULL_FLOOR_SHARE if full else FLOOR_SHARE
    floor = max(1, int(operations * share)) if len(names) == len(every) else 0
    for kind in floors:
        missed = totals[kind] < floor
        say(f"{kind:12}{totals[kind]:9}  floor {floor}{'  MISSED' if missed else ''}")
        if missed:
            wrong.append(f"{kind}: met {totals[kind]} times, floor {floor}")
    return wrong


def _kinds(report: Report) -> Counter[str]:
    """Outcomes by their last word, whichever operation they came from."""
    kinds: Counter[str] = Counter()
    for outcome, count in report.outcomes.items():
        kinds[outcome.rpartition(" ")[2]] += count
    return kinds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description="planner against its slow twin")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--full", action="store_true")
    given = parser.parse_args(arguments)
    names = given.only or ()
    wrong = campaign(
        given.operations, given.seed, _say, given.processes, names, given.full
    )
    for line in wrong:
        _say(f"DIFFERENCE {line}")
    _say(f"seed {given.seed}: {'no difference' if not wrong else 'FAILED'}")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

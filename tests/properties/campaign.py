"""The long random campaign: every geometry, every outcome counted, floors checked.

Run as ``python -m tests.properties.campaign --operations 100000 --seed 0``: that many
operations on each geometry. Exits with 1 when a planner and its twin differ, or when
an outcome was met too rarely to say that it was tested.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from phalanx_core.testing import GEOMETRIES, Difference
from tests.properties.walk import Walk

# Least share of the operations of one geometry, summed over all of them.
FLOOR_SHARE = 0.01
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


def campaign(
    operations: int, seed: int, say: Callable[[str], object] = print
) -> list[str]:
    """Walk over every geometry; what went wrong, empty = nothing."""
    wrong: list[str] = []
    totals: Counter[str] = Counter()
    for geometry in GEOMETRIES:
        started = time.perf_counter()
        walk = Walk(geometry, Random(f"{seed}/{geometry.name}"))
        try:
            walk.run(operations, check_every=8)
        except Difference as difference:
            wrong.append(f"{geometry.name}: {difference}")
        done = walk.outcomes.total()
        spent = time.perf_counter() - started
        kinds = Counter[str]()
        for outcome, count in walk.outcomes.items():
            kinds[outcome.rpartition(" ")[2]] += count
        totals += kinds
        counts = " ".join(f"{kind}={kinds[kind]}" for kind in FLOORS)
        say(f"{geometry.name:10} {done:7} operations {spent:6.1f} s  {counts}")
    floor = max(1, int(operations * FLOOR_SHARE))
    for kind in FLOORS:
        met = totals[kind] >= floor
        say(f"{kind:12} {totals[kind]:8}  floor {floor}{'' if met else '  MISSED'}")
        if not met:
            wrong.append(f"{kind}: met {totals[kind]} times, floor {floor}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description="planner against its slow twin")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    wrong = campaign(given.operations, given.seed, lambda line: _say(line))
    for line in wrong:
        _say(f"DIFFERENCE {line}")
    _say(f"seed {given.seed}: {'no difference' if not wrong else 'FAILED'}")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

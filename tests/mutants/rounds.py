"""Builds the core with every named fault of its solvers; ``certificate`` must see each.

``python -m tests.mutants.rounds [NAME...]``

A copy of the tree is built with the fault, and ``solve`` is asked for small rounds there
until it raises or ``certificate`` finds an answer that is not what it says. The plain build
must pass every round, and so must the faults that are said to be never wrong.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import phalanx_core
from phalanx_core.errors import InvalidRequest
from tests.unit.assignment.round_drawing import Drawn, drawn

ROOT = Path(__file__).resolve().parents[2]
MACRO = re.compile(r"\bPHX_MUTANT_(\w+)")
SECONDS_MAX = 120
LIMITS: tuple[dict[str, Any], ...] = ({}, {"effort": 30})

# Faults that never make an answer wrong, and why.
EXEMPT = {
    "LAST_CHOICE": "says which of equal answers it is, which is no claim",
    "OVERFULL": "makes mended answers that do not fit; Search._offer takes none of those, "
    "and the exact search starts from what there is, so the answer is found later",
    "FILLED_FREE": "makes greedy answers that do not fit, as OVERFULL does mended ones",
    "CALLERS_ORDER": "lets the step of values, and so ties, follow the order of jobs",
    "DEMAND_UNMARKED": "lets the order of jobs that differ in demand follow the caller's: "
    "it decides ties alone",
    "DEALT_BACK": "deals to jobs that are alike the other way round, so worth and use stay",
    "FREE_START": "counts too little, the same at every end: what is best stays so, and "
    "an end that is no better after all is not taken by Search._offer",
}


def faults() -> list[str]:
    """The faults in sources that know rounds, in the order of csrc/mutants.h."""
    sources = [path.read_text() for path in (ROOT / "csrc").glob("*.c")]
    know = [text for text in sources if re.search(r'#include "(solve|core)\.h"', text)]
    used = {name for text in know for name in MACRO.findall(text)}
    declared = re.findall(
        r"#ifndef PHX_MUTANT_(\w+)", (ROOT / "csrc/mutants.h").read_text()
    )
    return [name for name in declared if name in used]


def one_row(index: int) -> Drawn:
    """Rounds of one type, with any option."""
    draw = Random(index)
    return drawn(draw, draw.randint(1, 14), 1)


def any_rows(index: int) -> Drawn:
    """Rounds of several types, with any option."""
    draw = Random(index)
    return drawn(draw, draw.randint(1, 14), draw.randint(2, 3))


def near_ties(index: int) -> Drawn:
    """All is worth its size but for a few of the last of 50 bits: one of them matters.

    In every second pair something is held, which is to decide among equals alone.
    """
    rng = np.random.default_rng(index)
    jobs, rows = int(rng.integers(3, 12)), 1 + index % 2
    sizes = np.array([1, 2, 3, 5])
    demand = np.kron(np.eye(rows, dtype=int), sizes[:, None])
    base = (2**50 - 1) // (5 * jobs + 5)
    more = rng.integers(0, int(rng.integers(2, 6)), (jobs, 4 * rows))
    worth = (demand.sum(axis=1) * base + more).astype(float)
    held = rng.integers(0, 4 * rows, jobs)
    named = {"current": held} if index // 2 % 2 else {}
    return Drawn((worth, demand, rng.integers(jobs, 3 * jobs, rows)), named)


def large_amounts(index: int) -> Drawn:
    """What jobs want together leaves 32 bits."""
    rng = np.random.default_rng(index)
    jobs = int(rng.integers(4, 9))
    demand = rng.integers(2**28, 2**31 - 1, (jobs, 3, 2))
    worth = rng.integers(1, 100, (jobs, 3)).astype(float)
    return Drawn((worth, demand, [2**31 - 1, 2**31 - 2]), {})


# What is drawn, how many of it, and by which solvers it is solved.
KINDS = (
    (one_row, 200, ("dp", "core")),
    (any_rows, 300, ("core",)),
    (near_ties, 200, ("dp", "core")),
    (large_amounts, 100, ("core",)),
)


def wrong_answers() -> Iterator[str]:
    """What is wrong with answers of the core that is imported here."""
    for kind, count, solvers in KINDS:
        for index in range(count):
            for solver in solvers:
                for limit in LIMITS:
                    where = f"{kind.__name__} {index}, {solver}"
                    for sentence in _wrong(kind(index), {"solver": solver, **limit}):
                        yield f"{where}: {sentence}"


def _wrong(given: Drawn, how: dict[str, Any]) -> tuple[str, ...]:
    try:
        answer = given.solved(**how)
    except InvalidRequest:
        return ()  # fixed jobs want too much, or tenants' rows are too many for "dp"
    except Exception as error:
        return (f"raises {error!r}",)
    return given.checked(answer).broken


def found(fault: str | None) -> str | None:
    """Builds a fault, or none, and says how it shows: None where it does not."""
    tree = f"build/mutants/rounds-{fault or 'sound'}"
    environment = dict(os.environ)
    environment.pop("PHALANX_MUTANT", None)
    if fault is not None:
        environment["PHALANX_MUTANT"] = fault
    command = [".ci/variant", "rounds", tree]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    if built.returncode != 0:
        raise SystemExit(f"mutants: {fault} is not built\n{built.stderr.decode()}")
    command = [sys.executable, "-m", "tests.mutants.rounds", "--here"]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT / tree,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS_MAX} s"
    if done.returncode < 0:
        return f"ends by signal {-done.returncode}"
    if done.returncode not in (0, 3):
        raise SystemExit(f"mutants: {fault} does not run\n{done.stderr}")
    return done.stdout.strip() if done.returncode else None


def here() -> int:
    """Tries this tree's core; 3, and the first answer that is wrong, where one is."""
    if ROOT not in Path(phalanx_core.__file__).resolve().parents:
        raise SystemExit(f"{phalanx_core.__file__} is not of this tree")
    first = next(wrong_answers(), None)
    if first is not None:
        print(first)
    return 0 if first is None else 3


def main(names: list[str]) -> int:
    """Tries the faults; 1 if one survives, or one shows that must not."""
    wanted = [name for name in faults() if not names or name in names]
    unknown = {*names, *EXEMPT} - {*faults()}
    if unknown:
        print(f"mutants: no faults of the solvers: {', '.join(sorted(unknown))}")
        return 1
    left = []
    with ThreadPoolExecutor(2) as pool:
        shown = pool.map(found, [None, *wanted])
        for fault, how in zip([None, *wanted], shown, strict=True):
            exempt = fault is None or fault in EXEMPT
            right = (how is None) == exempt
            left += [] if right else [fault]
            reason = EXEMPT.get(fault or "", "the plain build: no answer is wrong")
            told = how or (reason if exempt else "no answer is wrong")
            state = ("killed", "exempt")[exempt] if right else "SURVIVES"
            if exempt and not right:
                state = "WRONG"
            print(f"{state:<9} {fault or '-'}: {told}", flush=True)
    print(f"{len(wanted) + 1 - len(left)} of {len(wanted) + 1} builds as they must be")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(here() if sys.argv[1:] == ["--here"] else main(sys.argv[1:]))

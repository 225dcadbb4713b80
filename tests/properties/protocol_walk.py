"""Schedules of the protocol in a faulty world, each from one seed.

Run as ``python -m tests.properties.protocol_walk --schedules 1000000 --seed 0``. Prints how
often each kind of outcome was met, and exits with 1 where one was met too rarely to say
that it was tested, or where a promise was broken: then with the seed that breaks it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from functools import partial
from multiprocessing import get_context

from tests.properties.protocol_audit import Violation
from tests.properties.protocol_world import World

STEPS = 12

# How often each thing is drawn.
WEIGHTS = {
    "proceeded": 20,
    "ticked": 20,
    "worked": 16,
    "loaded": 8,
    "passed": 10,
    "submitted": 7,
    "sealed": 8,
    "died": 3,
    "returned": 4,
    "cut": 3,
    "expired": 2,
    "judged": 3,
    "ended": 2,
    "resized": 2,
    "unreadable": 1,
    "pruned": 2,
    "compacted": 1,
}


# Least count of each in a thousand schedules.
FLOORS = {
    **dict.fromkeys(("SEAL", "RESTORE", "RUN", "COMMIT", "FENCE", "FAIL", "HEAL"), 300),
    **dict.fromkeys(("ADMIT", "DETECT", "PLAN", "RELEASE", "SUSPECT", "LOSE"), 100),
    **dict.fromkeys(("DRAIN", "RESIZE", "TRUST", "RESTORE->PLAN", "zombie"), 10),
    **dict.fromkeys(("host died", "host returned", "false expiry"), 50),
    **dict.fromkeys(("COMMIT aborted", "COMMIT stale", "COMMIT unknown"), 5),
    **dict.fromkeys(("DETECT stale", "FAIL aborted", "FAIL unknown", "RUN stale"), 5),
    **dict.fromkeys(("crash observed", "crash prepared", "crash answered"), 10),
    "seal refused running": 50,
    "seal refused token_current": 10,
    "rest run": 500,
    "pruned": 10,
    "rest waits no_leaves": 20,
}


def too_rare(seen: Counter[str], schedules: int) -> dict[str, int]:
    """What was met less often than so many schedules should meet it."""
    return {
        name: seen[name]
        for name, floor in FLOORS.items()
        if seen[name] < floor * schedules // 1000
    }


def lived(seed: int, steps: int = STEPS) -> World:
    """A world in which so many things have happened, before faults stop."""
    world = World(seed)
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    for name in world.rng.choices(names, weights, k=steps):
        getattr(world, name)()
    world.check()
    return world


def schedule(seed: int, steps: int = STEPS) -> Counter[str]:
    """One schedule: jobs come, things happen, faults stop, and all comes to rest.

    Raises
    ------
    Violation
        If a promise is broken; it names the seed.
    """
    try:
        world = lived(seed, steps)
        world.settle()
    except Exception as error:
        raise Violation(f"seed {seed}: {error!r}") from error
    return world.seen + world.auditor.seen


def schedules(seeds: range, steps: int = STEPS) -> Counter[str]:
    """Counts over many schedules."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen.update(schedule(seed, steps))
    return seen


def main(arguments: list[str] | None = None) -> int:
    """Run schedules over processes; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(arguments)
    begin = time.perf_counter()
    many = max(1, min(500, given.schedules // given.processes))
    last = given.seed + given.schedules
    parts = [
        range(first, min(first + many, last)) for first in range(given.seed, last, many)
    ]
    seen: Counter[str] = Counter()
    try:
        with get_context("spawn").Pool(given.processes) as pool:
            for part in pool.imap(partial(schedules, steps=given.steps), parts):
                seen.update(part)
    except Violation as violation:
        print(f"VIOLATION: {violation}")
        return 1
    seconds = time.perf_counter() - begin
    for name, count in sorted(seen.items()):
        least = FLOORS.get(name, 0) * given.schedules // 1000
        print(f"{count:>10} {name}" + (f" (at least {least})" if least else ""))
    print(f"{given.schedules} schedules in {seconds:.1f} s: ", end="")
    print(f"{given.schedules / seconds:.0f} a second on {given.processes} processes")
    for name, count in (rare := too_rare(seen, given.schedules)).items():
        print(f"met too rarely: {name}, {count} times")
    return 1 if rare else 0


if __name__ == "__main__":
    sys.exit(main())

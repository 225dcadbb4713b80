"""TLC on the configurations that take it minutes; the tests run it on the others.

``python -m tests.tlc_campaign [NAME...]`` needs Java, and PHALANX_TLC_JAR, which names the
jar; 1 if TLC finds of one what is not expected, or does not end in ten minutes. One that
would not is run where it is named, and as long as it takes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from subprocess import TimeoutExpired
from time import perf_counter

from tests.unit.verification import tlc_run

LIMIT_S = 600.0
# 22 million states, whose liveness our own searches check: tests, and make verify one by one.
TOO_LARGE = {"Printed_2_8_3"}
# Generated and distinct of the whole graph, or what is violated. TLC's depth is exact with
# one worker only.
EXPECTED: dict[str, tuple[int, int] | str] = {
    "Fixed_2_8_3": (1_854_370, 618_310),
    "Printed_2_7_2": (3_146_990, 834_050),
    "Printed_2_7_2_detect_in_restore": (3_202_430, 848_330),
    "Printed_2_7_2_restore_live": "ReformLive",
    "Printed_2_7_2_restore_commit_live": "ReformLive",
    "Printed_2_7_2_without_abort": "ReformLive",
    "Printed_2_7_2_crashes": "ReformLive",
    "Printed_2_8_3": "ReformLive",
}


def holds(jar: str, name: str) -> bool:
    """Whether TLC finds what is expected of a configuration; a line about it."""
    before, expected = perf_counter(), EXPECTED[name]
    workers = str(os.cpu_count() or 1)
    limit_s = None if name in TOO_LARGE else LIMIT_S
    with tempfile.TemporaryDirectory() as folder:
        try:
            told = tlc_run.run(
                *(jar, name, Path(folder), "-workers", workers), limit_s=limit_s
            )
        except TimeoutExpired:
            sys.stdout.write(f"NO END       {name}: not in {limit_s:.0f} s\n")
            sys.stdout.flush()
            return False
    found = told.violated or told[:2]
    words = f"{told.violated} is violated"
    if not told.violated:
        words = f"{told.generated:,} generated, {told.distinct:,} distinct"
    verdict = "as expected" if found == expected else "WRONG"
    seconds = perf_counter() - before
    sys.stdout.write(f"{verdict:<12} {name}: {words}, {seconds:.0f} s\n")
    if found != expected:
        sys.stdout.write(told.words)
    sys.stdout.flush()
    return found == expected


def main(names: list[str]) -> int:
    """Every configuration that is not too large, or those that are named."""
    jar = os.environ.get("PHALANX_TLC_JAR", "")
    if not jar:
        sys.stderr.write("PHALANX_TLC_JAR names no jar of TLC\n")
        return 2
    if unknown := [name for name in names if name not in EXPECTED]:
        sys.stderr.write(f"{', '.join(unknown)}: one of {', '.join(EXPECTED)}\n")
        return 2
    verdicts = [
        holds(jar, name) for name in names or sorted(EXPECTED.keys() - TOO_LARGE)
    ]
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

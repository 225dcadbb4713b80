"""The tables of docs/findings.md: irregular fabrics, rounding, kinds of spares.

``python -m bench.findings [--processes N]``
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from phalanx_core.experiments.fabrics import (
    BUDDY,
    EXACT,
    FABRICS,
    ROUNDED,
    Measured,
    Setting,
    measured,
)
from phalanx_core.experiments.processes import mapped

SEEDS = range(8)
MIXES = {"powers": "powers of two", "own": "own"}


def ways() -> list[Setting]:
    """Exact unions beside the paper's buddy, and beside rounding where that adds ranks."""
    settings = [Setting(0, "powers", EXACT), Setting(0, "powers", BUDDY)]
    for fabric in range(len(FABRICS)):
        settings += [Setting(fabric, "own", way) for way in (EXACT, ROUNDED)]
    return settings


def spares() -> list[Setting]:
    """Every fabric's kinds of spares, placed exactly."""
    return [
        Setting(fabric, mix, EXACT, kind)
        for fabric, one in enumerate(FABRICS)
        for mix in MIXES
        for kind in range(len(one.spares))
    ]


def means(settings: Sequence[Setting], processes: int) -> list[Measured]:
    """Over the seeds, of each setting."""
    work = [(setting, seed) for setting in settings for seed in SEEDS]
    found = np.array(mapped(measured, work, processes)).reshape(
        len(settings), len(SEEDS), -1
    )
    return [Measured(*row) for row in found.mean(axis=1).tolist()]


def ways_table(processes: int = 1) -> str:
    """Markdown."""
    heads = (
        "| fabric | sizes | way | admitted | refused | step | repair p95 | level kept |"
    )
    settings = ways()
    rows = [
        f"| {FABRICS[one.fabric].name} | {MIXES[one.mix]} | {one.way} "
        f"| {found.load:.1%} | {found.refused:.1%} | {found.inflation:.2f} "
        f"| {found.p95:.2f} | {found.kept:.1%} |"
        for one, found in zip(settings, means(settings, processes), strict=True)
    ]
    return "\n".join([heads, "|---" * 8 + "|", *rows]) + "\n"


def spares_table(processes: int = 1) -> str:
    """Markdown."""
    heads = (
        "| fabric | sizes | spare hosts | reserved | admitted | step | repair p95 "
        "| worst | level kept |"
    )
    settings = spares()
    rows = []
    for one, found in zip(settings, means(settings, processes), strict=True):
        per, count = FABRICS[one.fabric].spares[one.spares]
        rows.append(
            f"| {FABRICS[one.fabric].name} | {MIXES[one.mix]} | {count} a {per} "
            f"| {found.reserved:.1%} | {found.load:.1%} | {found.inflation:.2f} "
            f"| {found.p95:.2f} | {found.worst:.2f} | {found.kept:.1%} |"
        )
    return "\n".join([heads, "|---" * 9 + "|", *rows]) + "\n"


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=1)
    processes = parser.parse_args().processes
    print(ways_table(processes))
    print(spares_table(processes), end="")


if __name__ == "__main__":
    main()

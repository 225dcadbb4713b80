"""Runs every benchmark and prints ours, the references, ratios and budgets.

``python -m bench.run --smoke`` is CI's: 1,024 leaves, under a minute, no budgets.
``--full`` (the default) is by hand: 131,072 leaves, a few minutes, and the budgets.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if not __package__:
    sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402 - the path above comes first

from bench import (  # noqa: E402
    calls,
    core,
    fairness,
    montecarlo,
    protocol,
    rounds,
    scheduling,
    starting,
    stores,
    verifying,
)
from bench.budgets import checks_of  # noqa: E402
from bench.table import render  # noqa: E402

Row = dict[str, Any]

SIZES = {
    "smoke": {"leaves": 1024, "events": 200, "repeats": 3, "rounds": 40, "hosts": 128},
    "full": {
        "leaves": 131072,
        "events": 10_000,
        "repeats": 9,
        "rounds": 800,
        "hosts": 16384,
    },
}


def output_of(*command: str) -> str:
    """First line that a command prints; empty where it cannot run."""
    try:
        answer = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return (answer.stdout.splitlines() or [""])[0].strip()


def processor() -> str:
    """The processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def extension() -> str:
    """Whether the compiled module that Python uses is of the sources beside it."""
    built = sorted((ROOT / "phalanx_core").glob("_native*.so"))
    if not built:
        return "installed elsewhere"
    newest = max(path.stat().st_mtime for path in (ROOT / "csrc").iterdir())
    stale = built[0].stat().st_mtime < newest
    return "OLDER THAN csrc: make native" if stale else "current"


def solvers() -> str:
    """Versions of the solvers that rounds are measured beside."""
    names = ("ortools", "cvxpy", "cvxopt", "highspy", "pymoo", "scipy")
    found = [f"{name} {version(name)}" for name in names if find_spec(name)]
    return ", ".join(found)


def machine() -> dict[str, Any]:
    """Facts without which a figure means nothing."""
    dirty = "+changes" if output_of("git", "status", "--porcelain", "csrc") else ""
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": output_of(core.compiler(), "--version"),
        "flags": " ".join(core.wheel_flags()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "solvers": solvers(),
        "commit": (output_of("git", "rev-parse", "--short", "HEAD") or "unknown")
        + dirty,
        "extension": extension(),
    }


def measure(
    size: dict[str, int], seed: int, only: str, patience: float = 0.0
) -> list[Row]:
    """Every row whose suite matches `only`."""
    rows: list[Row] = []
    suites = [suite for suite in core.SUITES if only in ("", "c", suite)]
    if suites:
        program = core.build()
        rows += core.run(
            program, size["leaves"], size["events"], size["repeats"], seed, suites
        )
    if only in ("", "python"):
        print("  Python: calls and batches", file=sys.stderr, flush=True)
        rows += calls.place_release(size["leaves"], seed, size["rounds"])
        rows += calls.replan(size["leaves"], seed, size["rounds"] // 4)
        rows += calls.batch(size["leaves"], seed, max(5, size["rounds"] // 20))
    if only in ("", "start"):
        print("  start: import, decide, compile", file=sys.stderr, flush=True)
        rows.append(starting.importing(ROOT, 9))
        rows.append(starting.first_decision(ROOT, 9, seed))
        with tempfile.TemporaryDirectory() as folder:
            rows.append(starting.compiling(Path(folder), size["hosts"], seed, 3))
    if only in ("", "solve"):
        print("  solve: score and rounds", file=sys.stderr, flush=True)
        rows += rounds.measure(size["leaves"] < 131072, seed, patience)
    if only in ("", "schedule"):
        print("  schedule: whole rounds", file=sys.stderr, flush=True)
        rows += scheduling.measure(seed, few=size["leaves"] < 131072)
    if only in ("", "fairness"):
        print("  fairness: the ledger of GPU time", file=sys.stderr, flush=True)
        rows += fairness.measure(seed, few=size["leaves"] < 131072)
    if only in ("", "reliability"):
        print("  reliability: failures simulated", file=sys.stderr, flush=True)
        rows += montecarlo.measure(seed, few=size["leaves"] < 131072)
    if only in ("", "stores"):
        print("  stores: commits and reads", file=sys.stderr, flush=True)
        rows += stores.measure(few=size["leaves"] < 131072)
    if only in ("", "protocol"):
        print("  protocol: transitions, orbits, schedules", file=sys.stderr, flush=True)
        rows += protocol.measure(seed, few=size["leaves"] < 131072)
    if only in ("", "verify"):
        print("  verify: states of the protocol", file=sys.stderr, flush=True)
        rows += verifying.measure(few=size["leaves"] < 131072)
    return rows


def main() -> int:
    """Measure, print, and write JSON where asked; 1 if --check finds a budget missed."""
    parser = argparse.ArgumentParser(
        prog="bench.run", description=__doc__.splitlines()[0]
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--smoke", action="store_true", help="1,024 leaves, no budgets")
    kind.add_argument(
        "--full", action="store_true", help="131,072 leaves (the default)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        default="",
        choices=[
            "",
            "c",
            "python",
            "start",
            "solve",
            "schedule",
            "fairness",
            "reliability",
            "stores",
            "protocol",
            "verify",
            *core.SUITES,
        ],
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="for HiGHS and CP-SAT on rounds of 5,000 and 10,000 jobs (not asked)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all of it")
    parser.add_argument(
        "--check", action="store_true", help="exit 1 if a budget is missed by 1.5x"
    )
    given = parser.parse_args()
    size = SIZES["smoke" if given.smoke else "full"]
    facts = machine()
    rows = measure(size, given.seed, given.only, given.patience)
    checks = [] if given.smoke else checks_of(rows)
    marks = [int(row["checksum"], 16) for row in rows if "checksum" in row]
    facts |= {"seed": given.seed, "decisions": calls.checksum(marks)}
    facts["timer"] = next((row for row in rows if row["row"] == "timer"), None)
    for name, fact in facts.items():
        print(f"{name:10} {fact}")
    print()
    print(render(rows, checks))
    if given.json:
        report = {
            "machine": facts,
            "rows": rows,
            "budgets": [check.to_dict() for check in checks],
        }
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    missed = any(check.verdict == "MISSED" for check in checks)
    return int(given.check and missed)


if __name__ == "__main__":
    sys.exit(main())

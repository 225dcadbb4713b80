"""What a start costs: importing the package, a first decision, reading a cluster."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic_ns, perf_counter
from typing import Any

from rich.console import Console

from bench import kubernetes_files, read_only
from bench.drawn import IDLE, SHAPES, drawn_rounds
from phalanx_core import Topology
from phalanx_core.cli.progress import ReadingBar
from phalanx_core.experiments.timing import quiet

HEAVY = ("numba", "ortools", "matplotlib", "typer", "rich", "yaml", "hypothesis")
IMPORTING = f"""
import numpy
from time import perf_counter
before = perf_counter()
import phalanx_core
after = perf_counter()
import sys
print((after - before) * 1e3, *[name for name in {HEAVY!r} if name in sys.modules])
"""
# Prints when it had decided, by the clock that it shares with who started it.
DECIDING = f"""
import json
import sys
from phalanx_core import solve
answer = solve(**json.load(sys.stdin), idle={IDLE})
from time import monotonic_ns
decided = monotonic_ns()
print(decided, answer.objective)
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
# Runs in a process of its own, whose peak is of nothing else.
PEAK = """
import json, resource, sys
from phalanx_core import Topology
if sys.argv[1] == "ours":
    made = Topology.read(sys.argv[2:])
else:
    made = [json.loads(open(path, "rb").read()) for path in sys.argv[2:]]
try:
    # What getrusage tells on Linux is also of the process before this program.
    status = open("/proc/self/status").read()
    print(int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6)
except OSError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)
"""

Row = dict[str, Any]


def importing(root: Path, rounds: int) -> Row:
    """Milliseconds of ``import phalanx_core`` after numpy, and what it loads beside."""
    times, heavy = [], set()
    with tempfile.TemporaryDirectory() as compiled:
        # As installed: bytecode is there. The first start writes it and does not count.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(rounds + 1):
            answer = subprocess.run(
                [sys.executable, "-c", IMPORTING],
                cwd=root,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            times.append(float(answer[0]))
            heavy |= set(answer[1:])
    times = sorted(times[1:])
    return {
        "row": "start/import",
        "value": times[len(times) // 2],
        "unit": "ms",
        "best": times[0],
        "heavy": sorted(heavy),
    }


def first_decision(root: Path, rounds: int, seed: int) -> Row:
    """Seconds from starting Python to the assignment of 14 jobs, nothing kept before.

    The installation cannot be written to and holds no bytecode, and there is no home.
    """
    given = drawn_rounds(SHAPES["A14"], seed, 1)[0]
    told = json.dumps({name: part.tolist() for name, part in vars(given).items()})
    times, heavy = [], set()
    with read_only.installed(root / "phalanx_core") as folder:
        read_only.run(folder, read_only.CHECKED)
        for _ in range(rounds):
            before = monotonic_ns()
            first, loaded = read_only.run(folder, DECIDING, told).split("\n")[:2]
            times.append((int(first.split()[0]) - before) / 1e9)
            heavy |= set(loaded.split())
    times.sort()
    return {
        "row": "start/first-decision",
        "value": times[len(times) // 2],
        "unit": "s",
        "best": times[0],
        "heavy": sorted(heavy),
    }


def peak(whose: str, paths: list[Path]) -> float:
    """Megabytes that a process holds at most that reads files, by us or ``json.loads``."""
    command = [sys.executable, "-c", PEAK, whose, *map(str, paths)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout)


def compiling(folder: Path, hosts: int, seed: int, rounds: int) -> Row:
    """Seconds of reading a cluster of so many hosts, beside ``json.loads``."""
    paths = kubernetes_files.write(folder, hosts, seed)
    ours, drawn, theirs = [], [], []
    for _ in range(rounds):
        before = perf_counter()
        topology = Topology.read(paths)
        ours.append(perf_counter() - before)
        terminal = Console(file=io.StringIO(), force_terminal=True)
        before = perf_counter()
        with ReadingBar(terminal) as bar:
            Topology.read(paths, progress=bar)
        drawn.append(perf_counter() - before)
        texts = [path.read_bytes() for path in paths]
        # Without the collector, as the readers do it: else the reference takes longer.
        with quiet():
            before = perf_counter()
            for text in texts:
                json.loads(text)
            theirs.append(perf_counter() - before)
        if topology.leaf_count != 8 * hosts:
            raise AssertionError(f"{topology.leaf_count} leaves of {hosts} hosts")
    return {
        "row": "start/compile",
        "hosts": hosts,
        "value": sorted(ours)[rounds // 2],
        "unit": "s",
        "with_bar_value": sorted(drawn)[rounds // 2],
        "peer": "json.loads",
        "theirs_value": sorted(theirs)[rounds // 2],
        "peak_megabytes": peak("ours", paths),
        "theirs_peak_megabytes": peak("theirs", paths),
        "megabytes": sum(path.stat().st_size for path in paths) / 1e6,
    }

"""The C benchmarks: compiled with the wheel's own flags, run suite by suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUITES = (
    "churn",
    "fill",
    "replan",
    "packed",
    "growth",
    "memory",
    "copies",
    "rules",
    "adversarial",
)

Row = dict[str, Any]


def compiler() -> str:
    """The C compiler that builds the extension: ``$CC``, else Python's, else gcc."""
    return os.environ.get("CC") or (sysconfig.get_config_var("CC") or "gcc").split()[0]


def wheel_flags() -> list[str]:
    """Flags of every compilation of the wheel."""
    sys.path.insert(0, str(ROOT / "bindings"))
    try:
        from build_cffi import compile_flags
    finally:
        sys.path.pop(0)
    return compile_flags()[0]


def build() -> Path:
    """Compile csrc and bench/c into one program; its path.

    Raises
    ------
    subprocess.CalledProcessError
        If it does not compile.
    """
    target = ROOT / "build" / "bench" / "bench_core"
    target.parent.mkdir(parents=True, exist_ok=True)
    sources = sorted(
        [*(ROOT / "csrc").glob("*.c"), *(ROOT / "bench" / "c").glob("*.c")]
    )
    include = [f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'bench' / 'c'}"]
    # timing.h asks POSIX for its clock, which -std=c11 alone hides.
    flags = [*wheel_flags(), "-D_POSIX_C_SOURCE=200809L", *include]
    subprocess.run(
        [compiler(), *flags, *map(str, sources), "-o", str(target)], check=True
    )
    return target


def run(
    program: Path,
    leaves: int,
    events: int,
    repeats: int,
    seed: int,
    suites: Iterable[str] = SUITES,
) -> list[Row]:
    """Rows of the named suites.

    Raises
    ------
    subprocess.CalledProcessError
        If a suite finds a decision wrong or a state changed.
    """
    words = [str(word) for word in (leaves, events, repeats, seed)]
    rows: list[Row] = []
    for suite in suites:
        print(f"  C: {suite}", file=sys.stderr, flush=True)
        answer = subprocess.run(
            [str(program), *words, suite], stdout=subprocess.PIPE, text=True, check=True
        )
        rows += [json.loads(line) for line in answer.stdout.splitlines()]
    return rows

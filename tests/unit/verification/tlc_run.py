"""Runs TLC on a configuration of the specifications, and reads what it says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.unit.verification.tla_texts import (
    CONFIGURATIONS,
    TEMPORAL,
    TEXTS,
    module_of,
)

COUNTED = re.compile(r"^(\d+) states generated, (\d+) distinct states", re.MULTILINE)
DEPTH = re.compile(r"depth of the complete state graph search is (\d+)")
VIOLATED = re.compile(r"(?:Invariant|Action property) (\w+) is violated")
# It does not say which: of the configurations in which one is, each has a single one.
UNNAMED = "Temporal properties were violated"


class Told(NamedTuple):
    """Counts of a whole graph, or what is violated, or neither; and all that it said."""

    generated: int
    distinct: int
    depth: int
    violated: str
    words: str


def run(
    jar: str, name: str, folder: Path, *more: str, limit_s: float | None = 600
) -> Told:
    """Run TLC on a configuration in a folder; counts are 0 unless all was searched.

    Raises
    ------
    subprocess.TimeoutExpired
        If it takes longer.
    """
    for file, text in TEXTS.items():
        (folder / file).write_text(text, encoding="utf-8")
    command = ["java", "-XX:+UseParallelGC", "-cp", jar, "tlc2.TLC", "-deadlock", *more]
    done = subprocess.run(
        [*command, "-config", f"{name}.cfg", f"{module_of(name).name}.tla"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )
    words = done.stdout + done.stderr
    names = VIOLATED.findall(words)
    if UNNAMED in words:
        names = [one for one in CONFIGURATIONS[name].properties if one in TEMPORAL]
    if names:
        return Told(0, 0, 0, " ".join(names), words)
    counts, depth = COUNTED.findall(words), DEPTH.search(words)
    if "No error has been found" not in words or not counts or depth is None:
        return Told(0, 0, 0, "", words)
    generated, distinct = counts[-1]
    return Told(int(generated), int(distinct), int(depth.group(1)), "", words)

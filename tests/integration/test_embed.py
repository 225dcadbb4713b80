"""The embedding example: a day of failures, and a restart that nobody notices."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "embed.py"
SEEDS = (0, 1, 2)
HOUR = 3600


@cache
def program() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("embed", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules["embed"] = module
    spec.loader.exec_module(module)
    return module


@cache
def day(seed: int) -> list[tuple[Any, ...]]:
    """Decisions of a day without a restart."""
    return program().run(seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hour", [6, 15])
def test_a_restarted_scheduler_decides_the_same(seed: int, hour: int) -> None:
    """Adopting what runs and hearing of ill hosts is all that a restart needs."""
    assert program().run(seed, restart_at=hour * HOUR) == day(seed)


def test_a_day_is_a_function_of_its_seed() -> None:
    """No clock and no hash order takes part in a decision."""
    assert program().run(SEEDS[0]) == day(SEEDS[0])


FLOORS = {
    "start": 600,
    "finish": 600,
    "wait": 1000,
    "bind refused": 50,
    "lost": 200,
    "healed": 200,
    "plan": 200,
    "repair": 150,
    "fenced": 150,
    "drain": 36,
    "drained": 36,
    "no repair": 20,
    "requeue": 4,
    "stale": 10,
    "sync": 120,
}


@pytest.mark.parametrize("what", FLOORS)
def test_enough_happens(what: str) -> None:
    """Over all seeds every kind of decision is taken, and often."""
    counts = Counter(decision[1] for seed in SEEDS for decision in day(seed))
    assert counts[what] >= FLOORS[what]


def test_it_runs_as_a_program() -> None:
    """What a reader starts prints a summary and finds the restart equal."""
    answer = subprocess.run(
        [sys.executable, PROGRAM, "1"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert answer.stderr == ""
    assert answer.stdout.splitlines()[0].startswith("24 hours of seed 1: ")
    assert answer.stdout.splitlines()[-1] == (
        "restarted at noon and rebuilt by adopt: decisions equal"
    )

"""The example that embeds the scheduler: half a day of rounds, and a restart."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "rounds.py"
SEEDS = (0, 1)
HOUR = 3600.0
FLOORS = {"start": 250, "finish": 120, "stop": 60, "release": 60, "move": 8, "lost": 10}


@cache
def program() -> Any:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("rounds_example", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules["rounds_example"] = module
    spec.loader.exec_module(module)
    return module


@cache
def half_day(seed: int) -> list[tuple[Any, ...]]:
    """What is done without a restart."""
    return program().Loop(seed).run()


@pytest.mark.parametrize("seed", SEEDS)
def test_enough_happens(seed: int) -> None:
    """Each kind of action occurs often, and nobody is left without a word."""
    counts = Counter(entry[1] for entry in half_day(seed))
    assert {kind: counts[kind] for kind in FLOORS if counts[kind] < FLOORS[kind]} == {}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hour", [1, 5])
def test_a_restart_changes_nothing(seed: int, hour: int) -> None:
    """What was saved goes on as if it had never ended."""
    assert program().Loop(seed).run(restart_at=hour * HOUR) == half_day(seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_its_state_is_sound_at_the_end(seed: int) -> None:
    """Every invariant of planners, ledger and records holds."""
    loop = program().Loop(seed)
    loop.run()
    loop.scheduler.validate()


def test_it_prints_what_became_of_its_tenants() -> None:
    """As a person runs it."""
    answer = subprocess.run(
        [sys.executable, PROGRAM, "1"], capture_output=True, text=True, check=True
    )
    assert all(f"\n{name}: " in answer.stdout for name in program().TENANTS)

"""An installation that cannot be written to, for a user without a home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.read_only import CHECKED, installed, run

PACKAGE = Path(__file__).resolve().parents[2] / "phalanx_core"
FIRST_SOLVE = """
answer = phalanx_core.solve([[3.0, 5.0], [4.0, 4.5]], [1, 2], 3, idle=1.1)
print(answer.choice.tolist(), answer.status)
print(*[name for name in ("numba", "ortools") if name in sys.modules])
"""
LARGE_SCORE = """
import numpy as np
from phalanx_core.scoring.utility import PARALLEL_PAIRS
jobs = PARALLEL_PAIRS // 10 + 1
goodput = np.linspace(1, 50, 10 * jobs).reshape(jobs, 10)
clocks = np.linspace(1, 100, 4 * jobs).reshape(4, jobs)
worth = phalanx_core.score(goodput, *clocks)
again = np.concatenate(
    [phalanx_core.score(goodput[at : at + 1000], *clocks[:, at : at + 1000])
     for at in range(0, jobs, 1000)]
)
print("numba" in sys.modules, (worth == again).all())
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """The package as of now, read-only and without compiled files."""
    with installed(PACKAGE) as folder:
        yield folder


def test_the_first_decision_needs_no_compiler(site: Path) -> None:
    """A round of one GPU type is solved by the core alone."""
    told = run(site, CHECKED + FIRST_SOLVE).splitlines()
    assert told == ["[1, 0] optimal", ""]


def test_many_scores_are_compiled_for_the_process(site: Path) -> None:
    """Where compiled loops cannot be kept they are still used, with the same bits."""
    assert run(site, CHECKED + LARGE_SCORE).split() == ["True", "True"]

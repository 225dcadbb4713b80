"""``phalanx solve``: which job of a table gets which configuration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phalanx_core.assignment import explain, solve
from phalanx_core.cli import exits
from phalanx_core.cli.choices import Choices
from phalanx_core.cli.columns import flags, named_as, numbers
from phalanx_core.cli.demands import Demands
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.solved import Solved, print_solved
from phalanx_core.cli.tables import read_table
from phalanx_core.errors import InvalidRequest

OPTIONS = {
    "idle": "--idle",
    "solver": "--solver",
    "gap": "--gap",
    "effort": "--effort",
    "time_limit_s": "--time-limit",
    "seed": "--seed",
    "certify": "--certify",
    "keep_bonus": "--keep-bonus",
    "capacity": "--capacity",
}


@dataclass(frozen=True)
class Wanted:
    """The command line of one run; most fields are those of ``solve``."""

    path: str
    capacity: tuple[str, ...]
    idle: float = 0.0
    solver: str = "auto"
    gap: float = 0.0
    effort: int | None = None
    time_limit_s: float | None = None
    seed: int = 0
    certify: bool = False
    current: bool = False
    keep_bonus: float = 0.0
    explain: bool = False
    as_json: bool = False


def run_solve(wanted: Wanted) -> int:
    """Solve the round of a table and print the answer; an exit code.

    Raises
    ------
    InvalidRequest
        If an option, or a value of the table, breaks its rule.
    """
    solved = solved_table(wanted)
    screen = Screen(wanted.as_json)
    print_solved(screen, solved)
    screen.show()
    if wanted.as_json:
        screen.document(solved.to_dict())
    return exits.DONE


def solved_table(wanted: Wanted) -> Solved:
    """Read and solve.

    Raises
    ------
    InvalidRequest
        If an option, or a value of the table, breaks its rule.
    """
    if wanted.keep_bonus and not wanted.current:
        raise InvalidRequest(
            f"--keep-bonus {wanted.keep_bonus:g}: needs --current, which says what jobs "
            "hold"
        )
    table = read_table(wanted.path)
    choices = Choices.of(table)
    utility = choices.spread(numbers(table, "utility", empty=True), np.nan)
    demands = Demands.of(table, wanted.capacity)
    demand = choices.spread(demands.wanted, 0)
    held = choices.held(flags(table, "current")) if wanted.current else None
    with named_as(OPTIONS):
        answer = solve(
            utility,
            demand,
            demands.capacity,
            idle=wanted.idle,
            solver=wanted.solver,
            gap=wanted.gap,
            effort=wanted.effort,
            time_limit_s=wanted.time_limit_s,
            seed=wanted.seed,
            certify=wanted.certify,
            current=held,
            keep_bonus=wanted.keep_bonus,
        )
    reasons = None
    if wanted.explain:
        told = explain(
            answer,
            utility,
            demand,
            demands.capacity,
            wanted.idle,
            current=held,
            keep_bonus=wanted.keep_bonus,
        )
        reasons = {one.job: one for one in told}
    return Solved(choices, utility, demands, held, answer, reasons)

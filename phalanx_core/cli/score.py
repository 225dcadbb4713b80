"""``phalanx score``: what each configuration of a table is worth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.cli import exits
from phalanx_core.cli.choices import Choices
from phalanx_core.cli.columns import flags, named_as, numbers, texts, typed
from phalanx_core.cli.demands import ONE_TYPE, PREFIX
from phalanx_core.cli.files import put
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.tables import Table, format_of, read_table, written
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import restart_penalty_s, score

NUMBERS = (
    "goodput",
    "progress_s",
    "checkpoint_s",
    "restart_s",
    "waiting_s",
    "restarts",
    "utility",
    ONE_TYPE,
)
OPTIONS = {
    "fairness": "--fairness",
    "age_rate_per_s": "--age-rate",
    "age_cap": "--age-cap",
    "restart": "--restart",
    "restart_floor": "--restart-floor",
}


@dataclass(frozen=True)
class Wanted:
    """The command line of one run; the fields are those of ``score``."""

    path: str
    fairness: float = 0.5
    age_rate_per_s: float = 0.01
    age_cap: float = 100.0
    restart: str = "decomposed"
    restart_floor: float = 0.0
    changed_only: bool = False
    output: str = "-"
    as_json: bool = False


def run_score(wanted: Wanted) -> int:
    """Score a table and write it; an exit code.

    Raises
    ------
    InvalidRequest
        If an option, or a value of the table, breaks its rule.
    FileFault
        If the output cannot be written.
    """
    kind = _kind(wanted)
    scored = scored_table(read_table(wanted.path), wanted)
    if kind != "csv":
        scored = typed(scored, _is_number, ["current"])
    content = written(scored, kind)
    if wanted.output == "-":
        Screen().paste(content.decode("utf-8"))
    else:
        put(Path(wanted.output), content)
    return exits.DONE


def scored_table(table: Table, wanted: Wanted) -> Table:
    """The table with a column utility, empty where a job cannot run so.

    Raises
    ------
    InvalidRequest
        If an option, or a value of the table, breaks its rule.

    Examples
    --------
    >>> row = {"job": "J1", "configuration": "4", "goodput": 2.0, "progress_s": 0}
    >>> row |= {"checkpoint_s": 0, "restart_s": 30, "waiting_s": 5.827}
    >>> table = Table("-", {name: [value] for name, value in row.items()})
    >>> (worth,) = scored_table(table, Wanted("-")).columns["utility"]
    >>> round(worth, 3)
    1.499
    """
    choices = Choices.of(table)
    goodput = choices.spread(numbers(table, "goodput", least=0, empty=True), np.nan)
    given = _given(choices, wanted)
    options = {name: getattr(wanted, name) for name in OPTIONS}
    # What no float holds is refused by row below.
    with named_as(OPTIONS), np.errstate(over="ignore"):
        if wanted.fairness < 0:
            _check_products(choices, goodput, given, options)
        worth = score(goodput, **given, **options)
    found = worth[choices.job, choices.place]
    if np.isinf(found).any():
        row = int(np.argmax(np.isinf(found)))
        raise table.wrong(row, "goodput", "its utility is more than a number can be")
    return table.with_column("utility", found.tolist())


def _is_number(column: str) -> bool:
    return column in NUMBERS or column.startswith(PREFIX)


def _kind(wanted: Wanted) -> str:
    if wanted.output == "-":
        return "json" if wanted.as_json else "csv"
    if wanted.as_json:
        raise InvalidRequest(
            f"--json prints: --output {wanted.output!r} has the format of its extension"
        )
    return format_of("--output", wanted.output)


def _given(choices: Choices, wanted: Wanted) -> dict[str, Any]:
    """What ``score`` takes beside goodput, one value a job."""
    table = choices.table
    least = {"progress_s": -np.inf, "checkpoint_s": 0.0, "waiting_s": 0.0}
    if wanted.restart == "aggregate":
        least["restarts"] = 0.0
    found: dict[str, Any] = {
        name: choices.per_job(name, numbers(table, name, least=low))
        for name, low in least.items()
    }
    found["restart_s"] = _restart(choices)
    if wanted.changed_only:
        found["current"] = choices.held(flags(table, "current"))
    return found


def _restart(choices: Choices) -> NDArray[np.float64]:
    table = choices.table
    if "restart_s" in table.columns or "application" not in table.columns:
        return choices.per_job("restart_s", numbers(table, "restart_s", least=0))
    applications = choices.per_job("application", np.array(texts(table, "application")))
    return np.array([restart_penalty_s(str(name)) for name in applications], np.float64)


def _check_products(
    choices: Choices,
    goodput: NDArray[np.float64],
    given: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """A power below 0 has no value at 0: name the row before ``score`` refuses it."""
    nothing = score(goodput, **given, **{**options, "fairness": 1.0}) == 0
    rows = choices.row[nothing]
    if rows.size:
        raise choices.table.wrong(
            int(rows.min()),
            "goodput",
            f"times the restart factor is 0, of which --fairness {options['fairness']:g} "
            "is no power",
        )

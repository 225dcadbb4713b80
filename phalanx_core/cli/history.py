"""``phalanx history``: a history replayed against the protocol, and what it holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from phalanx_core.checks import is_number
from phalanx_core.cli import exits
from phalanx_core.cli.progress import ReadingBar
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.standard_input import standard_input
from phalanx_core.errors import InvalidRequest
from phalanx_core.verification.history import lines_of, validate
from phalanx_core.verification.history_report import HistoryReport, Step
from phalanx_core.verification.story import told

Taken = Callable[[Step], None]


@dataclass(frozen=True)
class Wanted:
    """The command line of one run."""

    path: str
    steps: bool = False
    as_json: bool = False


def run_history(wanted: Wanted) -> int:
    """Validate, and print counts and the first bad line; an exit code.

    Raises
    ------
    InvalidRequest
        If the file cannot be read, or the options do not go together.
    """
    if wanted.steps and wanted.as_json:
        raise InvalidRequest(
            "--steps prints sentences, and --json one document: choose"
        )
    screen = Screen(wanted.as_json)
    taken = partial(_print_step, screen) if wanted.steps else None
    try:
        report = _validated(wanted.path, taken)
    except OSError as error:
        raise InvalidRequest(
            f"{wanted.path}: cannot be read: {error.strerror}"
        ) from None
    code = exits.DONE if report.fault is None else exits.REFUSED
    if wanted.steps and report.transitions:
        screen.text("")
    _print(screen, wanted.path, report)
    if wanted.as_json:
        screen.document({"file": wanted.path, **report.to_dict(), "exit_code": code})
    return code


def _validated(path: str, taken: Taken | None) -> HistoryReport:
    if path == "-":
        return _replayed(standard_input(), None, taken)
    with Path(path).open("rb") as file:
        return _replayed(file, os.fstat(file.fileno()).st_size or None, taken)


def _replayed(file: BinaryIO, size: int | None, taken: Taken | None) -> HistoryReport:
    """The report, with a bar for a file of that many octets; None for a pipe."""
    if taken:  # the steps themselves show how far it is
        return validate(lines_of(file), taken)
    with ReadingBar() as bar:
        return validate(lines_of(file, seen=lambda read: bar(read, size)))


def _print_step(screen: Screen, step: Step) -> None:
    """One transition as a sentence, as soon as it is read."""
    at = f"{step.at:.3f} s" if is_number(step.at) else ""
    sentence = told(step.before, step.event, step.after)
    screen.paste(f"{step.number:>6} {at:>14}  {sentence}\n")


def _print(screen: Screen, path: str, report: HistoryReport) -> None:
    if report.rules:
        screen.text(
            f"{path}: {report.transitions:,} transitions of {report.jobs:,} jobs on "
            f"{report.leaves:,} leaves, rules {report.rules}, epochs to {report.epoch_max:,}",
            "bold",
        )
        screen.text("")
        rows = [
            (action.name, f"{count:,}")
            for action, count in report.by_action.items()
            if count
        ]
        rows += [
            (f"  of ABORT by {guard}", f"{count:,}")
            for guard, count in sorted(report.aborts.items())
        ]
        rows += [("plans with a dead leaf", f"{report.dead_plans:,}")]
        screen.table(("action", "transitions"), rows, right="transitions")
        screen.text("")
    if report.fault is None:
        screen.text("every line is a legal step")
    else:
        screen.text(f"{path}: {report.fault}", "bold")
    screen.show()

"""``phalanx history``: a history replayed against the protocol, and what it holds."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from phalanx_core.cli import exits
from phalanx_core.cli.progress import ReadingBar
from phalanx_core.cli.screen import Screen
from phalanx_core.errors import InvalidRequest
from phalanx_core.verification.history import HistoryReport, lines_of, validate


@dataclass(frozen=True)
class Wanted:
    """The command line of one run."""

    path: str
    as_json: bool = False


def run_history(wanted: Wanted) -> int:
    """Validate, and print counts and the first bad line; an exit code.

    Raises
    ------
    InvalidRequest
        If the file cannot be read.
    """
    try:
        report = _validated(wanted.path)
    except OSError as error:
        raise InvalidRequest(
            f"{wanted.path}: cannot be read: {error.strerror}"
        ) from None
    code = exits.DONE if report.fault is None else exits.REFUSED
    screen = Screen(wanted.as_json)
    _print(screen, wanted.path, report)
    if wanted.as_json:
        screen.document({"file": wanted.path, **report.to_dict(), "exit_code": code})
    return code


def _validated(path: str) -> HistoryReport:
    if path == "-":
        return _replayed(sys.stdin.buffer, None)
    with Path(path).open("rb") as file:
        return _replayed(file, os.fstat(file.fileno()).st_size or None)


def _replayed(file: BinaryIO, size: int | None) -> HistoryReport:
    """The report, with a bar for a file of that many octets; None for a pipe."""
    with ReadingBar() as bar:
        return validate(lines_of(file, seen=lambda read: bar(read, size)))


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

"""Where a command writes: a Rich console for people, or one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH_MIN = 60
TABLE_WIDTH = 400


class Screen:
    """Standard output; names from files are never read as markup.

    Lines are held until :meth:`show`, so that what a run did is saved before a reader
    of its output can end it.

    Parameters
    ----------
    quiet
        Print nothing but what :meth:`document` is given.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(highlight=False, markup=False, emoji=False)
        self._lines: list[Text] = []

    @property
    def width(self) -> int:
        """Characters a line may have; a pipe has 80 unless COLUMNS says otherwise."""
        return max(self.console.width, WIDTH_MIN)

    def text(self, text: str, style: str = "") -> None:
        """Add lines as they are, never folded."""
        if not self.quiet:
            self._lines.append(Text(text, style=style))

    def table(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], right: str = ""
    ) -> None:
        """Add a table; columns whose head is a word of ``right`` hold numbers."""
        if self.quiet:
            return
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head in heads:
            numbers = head in right.split()
            table.add_column(
                Text(head), justify="right" if numbers else "left", no_wrap=True
            )
        for row in rows:
            table.add_row(*map(Text, row))
        # A long name makes a long line: one that is cut could not be pasted.
        wide = Console(width=TABLE_WIDTH, highlight=False, markup=False, emoji=False)
        with wide.capture() as drawn:
            wide.print(table)
        for line in drawn.get().splitlines():
            self.text(line.rstrip())

    def show(self) -> None:
        """Print what was added."""
        for line in self._lines:
            self.console.print(line, soft_wrap=True)
        self._lines.clear()

    def document(self, value: dict[str, Any]) -> None:
        """Print the JSON document of the run."""
        json.dump(value, sys.stdout, indent=2)
        sys.stdout.write("\n")

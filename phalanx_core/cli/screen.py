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


class Screen:
    """Standard output; names from files are never read as markup.

    Parameters
    ----------
    quiet
        Print nothing but what :meth:`document` is given.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.console = Console(highlight=False, markup=False, emoji=False)

    @property
    def width(self) -> int:
        """Characters a line may have; a pipe has 88 unless COLUMNS says otherwise."""
        return max(self.console.width, WIDTH_MIN)

    def text(self, text: str, style: str = "") -> None:
        """Print lines as they are, never folded."""
        if not self.quiet:
            self.console.print(Text(text, style=style), soft_wrap=True)

    def table(
        self, heads: Sequence[str], rows: Sequence[Sequence[str]], right: str = ""
    ) -> None:
        """Print a table; columns whose head is a word of ``right`` hold numbers."""
        if self.quiet:
            return
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head in heads:
            numbers = head in right.split()
            table.add_column(
                Text(head), justify="right" if numbers else "left", overflow="fold"
            )
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(table)

    def document(self, value: dict[str, Any]) -> None:
        """Print the JSON document of the run."""
        json.dump(value, sys.stdout, indent=2)
        sys.stdout.write("\n")

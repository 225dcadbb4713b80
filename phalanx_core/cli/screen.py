"""Where a command writes: a Rich console for people, or one JSON document."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phalanx_core.cli import exits

WIDTH_MIN = 60
TABLE_WIDTH = 400
PLAIN = str.maketrans("─━│├└", "--|+`")


class _Pipe(Console):
    """Leaves an absent reader to the caller; Rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        raise BrokenPipeError


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
        self.console = _Pipe(highlight=False, markup=False, emoji=False)
        self._lines: list[Text] = []

    @property
    def width(self) -> int:
        """Characters a line may have; a pipe has 80 unless COLUMNS says otherwise."""
        return max(self.console.width, WIDTH_MIN)

    def text(self, text: str, style: str = "") -> None:
        """Add lines as they are, never folded."""
        if not self.quiet:
            self._lines.append(Text(_shown(text), style=style))

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
            table.add_row(*(Text(_shown(word)) for word in row))
        # A long name makes a long line: one that is cut could not be pasted.
        drawn = io.StringIO()
        wide = Console(file=drawn, width=TABLE_WIDTH, force_terminal=False)
        wide.print(table)
        head, *below = drawn.getvalue().splitlines()
        self.text(head.rstrip(), "bold")
        for line in below:
            self.text(line.rstrip())

    def show(self) -> None:
        """Print what was added."""
        with _output():
            for line in self._lines:
                self.console.print(line, soft_wrap=True)
        self._lines.clear()

    def document(self, value: dict[str, Any]) -> None:
        """Print the JSON document of the run."""
        with _output():
            json.dump(value, sys.stdout, indent=2)
            sys.stdout.write("\n")

    def paste(self, text: str) -> None:
        """Print what a program reads, as it is."""
        with _output():
            sys.stdout.write(text)


@contextlib.contextmanager
def _output() -> Iterator[None]:
    if sys.stdout is None:
        raise exits.OutputFault("it is closed")
    with exits.writing():
        yield


def _shown(text: str) -> str:
    """Text that standard output can hold and that does not steer a terminal."""
    text = exits.escaped(text, kept="\n")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(PLAIN)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return text

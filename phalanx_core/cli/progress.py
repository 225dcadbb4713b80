"""Bars on stderr while something takes long; nothing where nobody looks at them."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

# JSON of this size takes half a second, YAML some seconds.
SIZE_MIN = 8_000_000
READING = "reading"
COMPILING = "compiling"


class _Bar:
    """A bar on a console, or on a terminal's stderr; gone when its block ends."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


class ReadingBar(_Bar):
    """Called with the bytes read and all bytes; draws once there are enough of them.

    Nothing is drawn where stderr is no terminal, so a log or a pipe holds no bar.

    Parameters
    ----------
    console
        Where to draw; by default stderr, if it is a terminal.

    Examples
    --------
    >>> with ReadingBar() as bar:
    ...     bar(4096, 4096)
    """

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far the reading is; ``total`` is None for a pipe until it ends."""
        if self._progress is None:
            if (done if total is None else total) < SIZE_MIN:
                return
            console = self._console or _terminal()
            if console is None:
                return
            self._progress = _made(console)
            self._progress.add_task(READING, completed=done, total=total)
            self._progress.start()
        task = self._progress.task_ids[0]
        stage = COMPILING if done == total else READING
        self._progress.update(task, completed=done, total=total, description=stage)


class StepsBar(_Bar):
    """Called with the name of each of so many steps as it begins.

    Parameters
    ----------
    total
        How many steps there are.
    console
        As of :class:`ReadingBar`.

    Examples
    --------
    >>> with StepsBar(1) as bar:
    ...     bar("table3")
    """

    def __init__(self, total: int, console: Console | None = None) -> None:
        super().__init__(console)
        self._total = total

    def __enter__(self) -> Self:
        console = self._console or _terminal()
        if console is not None:
            self._progress = _steps(console)
            self._progress.add_task("", total=self._total, completed=-1)
            self._progress.start()
        return self

    def __call__(self, name: str) -> None:
        """Show the step that begins; those before it are done."""
        if self._progress is not None:
            task = self._progress.task_ids[0]
            self._progress.update(task, advance=1, description=name)


class StatesBar(_Bar):
    """Called with the states found so far; shows them and how many come a second.

    Nobody knows how many there will be, so it is a count and no share.

    Parameters
    ----------
    console
        As of :class:`ReadingBar`.

    Examples
    --------
    >>> with StatesBar() as bar:
    ...     bar(1_000)
    """

    def __enter__(self) -> Self:
        console = self._console or _terminal()
        if console is not None:
            self._progress = _states(console)
            self._progress.add_task("searching", total=None, rate="")
            self._progress.start()
        return self

    def __call__(self, states: int) -> None:
        """Show how many states there are."""
        if self._progress is not None:
            task = self._progress.tasks[0]
            rate = f"{states / max(task.elapsed or 0.0, 1e-9):,.0f}/s"
            self._progress.update(task.id, completed=states, rate=rate)


def _terminal() -> Console | None:
    """Console of stderr, None where that cannot show a bar that moves."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return None if console.is_dumb_terminal else console


def _made(console: Console) -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeElapsedColumn

    return Progress(
        *_heads(), BarColumn(), DownloadColumn(), TimeElapsedColumn(), **_ways(console)
    )


def _steps(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*_heads(), *columns, **_ways(console))


def _states(console: Console) -> Progress:
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.completed:,.0f} states"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    return Progress(*_heads(), *columns, **_ways(console))


def _heads() -> tuple[ProgressColumn, ...]:
    from rich.progress import SpinnerColumn, TextColumn

    return SpinnerColumn(), TextColumn("{task.description:<9}")


def _ways(console: Console) -> dict[str, Any]:
    """Standard output belongs to the result, and is written when the bar is gone."""
    return {
        "console": console,
        "transient": True,
        "refresh_per_second": 5,
        "redirect_stdout": False,
        "redirect_stderr": False,
    }

"""The bar of large inputs: drawn from their size on, and nowhere but on a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from phalanx_core.cli.progress import SIZE_MIN, ReadingBar, StepsBar
from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology
from phalanx_core.topology.readers import sources
from tests.unit.topology.objects import node, write


def drawn(*calls: tuple[int, int | None]) -> str:
    """What a terminal gets of these calls."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100)
    with ReadingBar(console) as bar:
        for done, total in calls:
            bar(done, total)
    return file.getvalue()


def test_a_bar_of_known_size() -> None:
    """Bytes read of all, then that they are compiled; nothing is left on the screen."""
    half = drawn((SIZE_MIN, 2 * SIZE_MIN))
    assert "reading" in half
    assert "8.0/16.0 MB" in half
    whole = drawn((SIZE_MIN, 2 * SIZE_MIN), (2 * SIZE_MIN, 2 * SIZE_MIN))
    assert "compiling" in whole
    assert "16.0/16.0 MB" in whole
    assert whole.endswith("\x1b[1A\x1b[2K")


def test_a_bar_of_a_pipe() -> None:
    """Without a total the bar starts when as much has come."""
    assert drawn((SIZE_MIN - 1, None)) == ""
    assert "8.0/? MB" in drawn((SIZE_MIN - 1, None), (SIZE_MIN, None))


@pytest.mark.parametrize("calls", [[], [(0, 0)], [(100, SIZE_MIN - 1)]])
def test_small_inputs_have_none(calls: Sequence[tuple[int, int | None]]) -> None:
    """What is read at once needs no bar."""
    assert drawn(*calls) == ""


def test_no_terminal_no_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the environment asks for colours in a log."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with ReadingBar() as bar:
        bar(SIZE_MIN, 2 * SIZE_MIN)
    monkeypatch.setattr("sys.stderr", None)
    with ReadingBar() as bar:
        bar(SIZE_MIN, 2 * SIZE_MIN)
    assert capsys.readouterr() == ("", "")


def test_a_bar_of_steps(capsys: pytest.CaptureFixture[str]) -> None:
    """The step that runs, and how many are done; nothing where stderr is no terminal."""
    file = io.StringIO()
    with StepsBar(2, Console(file=file, force_terminal=True, width=100)) as bar:
        bar("table3")
        bar("table4")
    text = file.getvalue()
    assert "table4" in text
    assert "1/2" in text
    assert text.endswith("\x1b[1A\x1b[2K")
    with StepsBar(1) as bar:
        bar("table3")
    assert capsys.readouterr() == ("", "")


def test_what_the_reader_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes rise to the size of all files, of which the total is known from the start."""
    monkeypatch.setattr(sources, "PIECE_SIZE", 100)
    paths = [write(tmp_path / f"{at}.json", node(f"h{at}")) for at in range(3)]
    total = sum(path.stat().st_size for path in paths)
    told: list[tuple[int, int | None]] = []
    Topology.read(paths, progress=lambda done, total: told.append((done, total)))
    assert [row[1] for row in told] == [total] * len(told)
    assert [row[0] for row in told] == sorted(row[0] for row in told)
    assert len(told) > 6
    assert told[0][0] == 100
    assert told[-1] == (total, total)


def test_a_pipe_has_no_total(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What standard input will give is not known before its end."""
    raw = write(tmp_path / "n.json", node("h")).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    told: list[tuple[int, int | None]] = []
    Topology.read("-", progress=lambda done, total: told.append((done, total)))
    assert told == [(len(raw), None), (len(raw), len(raw))]


def test_a_callback_is_callable(tmp_path: Path) -> None:
    """What cannot be called is the caller's mistake, found before anything is read."""
    with pytest.raises(InvalidRequest, match="progress must be callable, got 7"):
        Topology.read(tmp_path / "gone", progress=7)  # type: ignore[arg-type]

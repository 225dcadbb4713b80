"""Ctrl-C: one line that says whether anything was saved, and files that are whole."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli import place, schedule
from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"
SECONDS_MAX = 60
# Whoever runs the tests in the background has the signal ignored, and children too.
PROGRAM = (
    "import signal\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from phalanx_core.cli import main\n"
    "main()"
)


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the page types them."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A jobs file, and the state of a run of it."""
    jobs, state = tmp_path / "jobs.yaml", tmp_path / "state.json"
    jobs.write_text("- {name: a, ranks: 8}\n")
    return str(jobs), str(state)


def interrupt(*_: Any, **__: Any) -> None:
    """What the signal does at this place."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "module"), [("schedule", schedule), ("place", place)]
)
def test_before_all_is_done_nothing_is_saved(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[str, str],
    command: str,
    module: Any,
) -> None:
    """A state file is what it was, and nothing is printed but one line."""
    jobs, state = files
    arguments = [command, SLURM, jobs, "--state", state]
    assert run(arguments) == 0
    before = Path(state).read_bytes()
    capsys.readouterr()
    monkeypatch.setattr(module, "_run", interrupt)
    assert run(arguments) == 130
    assert capsys.readouterr() == ("", "phalanx: interrupted: nothing was saved\n")
    assert Path(state).read_bytes() == before


@pytest.mark.parametrize("with_state", [True, False])
def test_while_it_prints_the_state_is_saved(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[str, str],
    with_state: bool,
) -> None:
    """The line names the file, where there is one."""
    jobs, state = files
    options = ["--state", state] if with_state else []
    monkeypatch.setattr(schedule, "print_rounds", interrupt)
    assert run(["schedule", SLURM, jobs, *options]) == 130
    told = f": {state} is saved" if with_state else ""
    assert capsys.readouterr() == ("", f"phalanx: interrupted{told}\n")
    assert Path(state).exists() == with_state


def test_a_signal_between_rounds(files: tuple[str, str]) -> None:
    """A long run as a process: code 130, one line, no state and no lock."""
    jobs, state = files
    arguments = ["schedule", SLURM, jobs, "--rounds", "100000", "--state", state]
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lock, until = Path(f"{state}.lock"), time.monotonic() + SECONDS_MAX
        while not (lock.exists() and lock.read_text()):
            assert program.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        # By now it plays; wherever it is, what it says is the same.
        time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        out, errors = program.communicate(timeout=SECONDS_MAX)
    finally:
        program.kill()
        program.wait()
    told = (program.returncode, out, errors)
    assert told == (130, "", "phalanx: interrupted: nothing was saved\n")
    assert not Path(state).exists()
    assert not lock.exists()

"""Runs of ``phalanx history``: what a file holds, its first bad line, wrong files."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from phalanx_core.cli.app import run
from phalanx_core.verification.random_history import random_history
from tests.integration.test_cli_progress import on_terminal

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/history.ndjson"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Forty random transitions."""
    found = tmp_path / "run.ndjson"
    found.write_text("".join(random_history(seed=2, transitions=40)), "utf-8")
    return found


def test_a_legal_history(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts for each action, and that it is legal; code 0."""
    assert run(["history", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head = f"{path}: 40 transitions of 4 jobs on 32 leaves, rules HARDENED, epochs to "
    assert out.startswith(head)
    assert "\naction " in out
    assert out.endswith("\n\nevery line is a legal step\n")
    rows = [line.split() for line in out.splitlines()[4:-3]]
    assert sum(int(row[-1]) for row in rows if row[0].isupper()) == 40


def test_the_document(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What people read, for programs."""
    assert run(["history", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["transitions"], found["fault"]) == (
        str(path),
        40,
        None,
    )
    assert found["exit_code"] == 0
    assert sum(found["by_action"].values()) == 40


def test_each_step_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """With its number and time, before the counts."""
    assert run(["history", str(EXAMPLE), "--steps"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[:4] == [
        "     1        0.000 s  Admit(j1): j1 comes and waits for leaves",
        "     2        0.000 s  Plan(j1, l1 l2): j1 is offered l1 l2",
        "     3        0.000 s  Commit(j1): epoch 1 of j1 claims l1 l2 and gives up nothing",
        "     4        0.000 s  Restore(j1): j1 loads the manifest of epoch 0",
    ]
    assert out.splitlines()[12] == ""
    assert out.endswith("\n\nevery line is a legal step\n")


def test_steps_up_to_the_first_bad_line(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is legal is told, and then why the next is not."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:11], *lines[12:]]), "utf-8")
    assert run(["history", str(path), "--steps"]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[9].startswith("    10 ")
    assert out.endswith(f"\n{path}: line 12: n is 12, and 11 comes next\n")


def test_steps_are_no_document(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sentences or JSON; code 2."""
    assert run(["history", str(path), "--steps", "--json"]) == 2
    assert "--steps prints sentences" in capsys.readouterr().err


def test_the_first_bad_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its number and why, what came before it, and code 1."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([*lines[:11], *lines[12:]]), "utf-8")
    assert run(["history", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{path}: 10 transitions of 4 jobs on 32 leaves, ")
    assert out.endswith(f"\n{path}: line 12: n is 12, and 11 comes next\n")
    assert run(["history", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["exit_code"] == 1
    assert found["fault"] == {
        "line": 12,
        "kind": "order",
        "reason": "n is 12, and 11 comes next",
    }


def test_what_is_no_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No counts; control characters of a file do not reach the terminal."""
    path = tmp_path / "other"
    path.write_text('{"rules": "\\u001b[31m"}\n')
    assert run(["history", str(path)]) == 1
    told = "the first line has no phalanx_history: not a history"
    assert capsys.readouterr().out == f"{path}: line 1: {told}\n"
    path.write_text('{"phalanx_history": 1, "rules": "\\u001b[31m"}\n')
    assert run(["history", str(path)]) == 1
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "why"), [("none", "No such file"), (".", "Is a directory")]
)
def test_a_file_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, why: str
) -> None:
    """One line, and code 2."""
    assert run(["history", str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {tmp_path / name}: cannot be read: {why}")


def test_standard_input(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file; a history that is cut where its writer was ended says so."""
    octets = path.read_bytes()
    stream = io.TextIOWrapper(io.BytesIO(octets[:-9]))
    monkeypatch.setattr(sys, "stdin", stream)
    assert run(["history", "-"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("-: 39 transitions of 4 jobs on 32 leaves, ")
    assert "-: line 41: it has no newline at its end and was cut" in out


def test_memory_does_not_grow(tmp_path: Path) -> None:
    """Ten times the lines are replayed in the same memory, within a tenth."""
    program = (
        "import resource, sys; from phalanx_core.cli.app import run;"
        "code = run(['history', sys.argv[1], '--json']);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    peaks = []
    for transitions in (2_000, 20_000):
        path = tmp_path / f"{transitions}"
        path.write_text("".join(random_history(3, transitions)), "utf-8")
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["transitions"] == transitions
        peaks.append(int(done.stderr))
    assert peaks[1] < 1.1 * peaks[0]


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """Of a large file; gone at the end."""
    path = tmp_path / "large"
    first, *rest = random_history(4, 10)
    wide = json.dumps({**json.loads(first), "note": "x" * 9_000_000})
    path.write_text("".join([wide + "\n", *rest]), "utf-8")
    code, out, seen = on_terminal(["history", str(path)], path)
    assert code == 0
    assert "every line is a legal step" in out
    assert "reading" in seen or "compiling" in seen
    assert seen.rstrip().endswith("\x1b[1A\x1b[2K")


@pytest.mark.parametrize(
    "command",
    [
        "history -",
        "score -",
        "topology -",
        *(f"{one} examples/clusters/h100-64 -" for one in ("place", "schedule")),
    ],
)
def test_standard_input_that_is_closed(command: str) -> None:
    """Told as such by every command that reads it, with code 2."""
    words = f"{sys.executable} -m phalanx_core.cli {command} <&-"
    done = subprocess.run(
        words, cwd=ROOT, shell=True, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "-: cannot be read: standard input is closed" in done.stderr

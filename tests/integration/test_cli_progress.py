"""Runs of ``phalanx`` on a large file, on a terminal and without one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "phalanx_core.cli"]
JOBS = "- {name: a, ranks: 2}\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hosts and what is not read, more than eight megabytes."""
    metadata = {"labels": {}, "managedFields": "x" * 4_200_000}
    items = [
        {
            "kind": "Node",
            "metadata": {"name": f"h{at}", **metadata},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}},
        }
        for at in range(2)
    ]
    folder = tmp_path_factory.mktemp("large")
    path = folder / "nodes.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    (folder / "jobs.yaml").write_text(JOBS, encoding="utf-8")
    return path


def on_terminal(arguments: list[str], path: Path) -> tuple[int, str, str]:
    """Code, standard output, and what a terminal gets as stderr."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with (
        path.open("rb") as source,
        subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=environment,
        ) as running,
    ):
        os.close(theirs)
        assert running.stdout is not None
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:  # Linux ends a terminal that nobody writes to so.
            pass
        out = running.stdout.read()
    os.close(ours)
    return running.returncode, out.decode(), seen.decode()


@pytest.mark.parametrize("command", ["topology", "place"])
@pytest.mark.parametrize("from_stdin", [False, True])
def test_a_bar_on_a_terminal(large: Path, command: str, from_stdin: bool) -> None:
    """The bar is on stderr and gone at the end; the JSON on stdout is whole."""
    jobs = [str(large.parent / "jobs.yaml")] if command == "place" else []
    cluster = "-" if from_stdin else str(large)
    code, out, seen = on_terminal([command, cluster, *jobs, "--json"], large)
    assert code == 0
    assert json.loads(out)["leaves"] == 16
    assert "reading" in seen
    assert "/8.4 MB" in seen
    assert seen.rstrip().endswith("\x1b[1A\x1b[2K")


def test_no_bar_without_a_terminal(large: Path) -> None:
    """A log holds the report and nothing else."""
    done = subprocess.run(
        [*PROGRAM, "topology", str(large)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},
    )
    assert done.stderr == ""
    assert "hosts 2  leaves 16" in done.stdout


def test_a_broken_file_leaves_no_bar(tmp_path: Path) -> None:
    """The error stands alone on its line, when the bar is gone."""
    path = tmp_path / "cut.json"
    path.write_text('{"kind": "List", "x": "' + "y" * 9_000_000, encoding="utf-8")
    code, out, seen = on_terminal(["topology", str(path)], path)
    assert (code, out) == (2, "")
    bar, _, error = seen.rpartition("\x1b[2K")
    assert "reading" in bar
    assert error.strip().startswith(f"phalanx: {path}: line 1 column 23: not JSON")

"""Several runs of ``phalanx place`` on one state file, as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"
SECONDS_MAX = 60


def start(state: Path, jobs: str) -> subprocess.Popen[str]:
    """A run of the program; jobs "-" come from its standard input."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "phalanx_core.cli"),
            *("place", SLURM, jobs, "--state", str(state)),
        ],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(program: subprocess.Popen[str], jobs: str | None = None) -> tuple[int, str]:
    """Code and stderr of a run, once it has its jobs."""
    _, errors = program.communicate(jobs, timeout=SECONDS_MAX)
    return program.returncode, errors


@contextmanager
def holding(state: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that has the lock and waits for its jobs."""
    program = start(state, "-")
    try:
        lock = Path(f"{state}.lock")
        until = time.monotonic() + SECONDS_MAX
        while not (lock.exists() and lock.read_text()):
            assert time.monotonic() < until
            time.sleep(0.01)
        yield program
    finally:
        program.kill()
        program.communicate()


def placed(state: Path) -> set[str]:
    """Names of the jobs of a state."""
    return {job["name"] for job in json.loads(state.read_text())["jobs"]}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where a state file will be, in a directory of its own."""
    (tmp_path / "own").mkdir()
    return tmp_path / "own" / "state.json"


@pytest.fixture
def jobs(tmp_path: Path) -> str:
    """A file with one job."""
    (tmp_path / "jobs.yaml").write_text("- {name: second, ranks: 8}\n")
    return str(tmp_path / "jobs.yaml")


def test_the_second_run_fails_at_once(state: Path, jobs: str) -> None:
    """It names file and process, and the first one's work is kept."""
    with holding(state) as first:
        assert ended(start(state, jobs)) == (
            3,
            f"phalanx: {state}: another run (process {first.pid}) is using it; this one "
            "has changed nothing\n",
        )
        assert ended(first, "- {name: first, ranks: 8}\n") == (0, "")
    assert placed(state) == {"first"}
    assert [entry.name for entry in state.parent.iterdir()] == ["state.json"]
    assert ended(start(state, jobs)) == (0, "")
    assert placed(state) == {"first", "second"}


def test_a_link_to_the_file_is_the_file(state: Path, jobs: str) -> None:
    """Whoever comes by another name waits as well."""
    link = state.with_name("link.json")
    link.symlink_to(state)
    with holding(state):
        code, errors = ended(start(link, jobs))
    assert code == 3
    assert errors.startswith(f"phalanx: {link}: another run (process ")


def test_a_killed_run_leaves_no_lock(state: Path, jobs: str) -> None:
    """What it leaves behind is a file that the next run takes away."""
    with holding(state) as first:
        first.kill()
        first.wait()
        assert Path(f"{state}.lock").exists()
        assert ended(start(state, jobs)) == (0, "")
    assert placed(state) == {"second"}
    assert [entry.name for entry in state.parent.iterdir()] == ["state.json"]


def test_runs_at_once_lose_nothing(state: Path) -> None:
    """Four that try again until they are let in place four jobs."""
    waiting = {f"job-{at}" for at in range(4)}
    while waiting:
        programs = {name: start(state, "-") for name in sorted(waiting)}
        for name, program in programs.items():
            program.stdin.write(f"- {{name: {name}, ranks: 8}}\n")
            program.stdin.close()
        for name, program in programs.items():
            code = program.wait(SECONDS_MAX)
            assert code in (0, 3), program.stderr.read()
            if code == 0:
                waiting.remove(name)
            program.stdout.close()
            program.stderr.close()
    assert placed(state) == {f"job-{at}" for at in range(4)}
    assert [entry.name for entry in state.parent.iterdir()] == ["state.json"]


def test_a_run_that_fails_leaves_no_lock(state: Path, jobs: str) -> None:
    """Wrong input ends it before anything is written."""
    Path(jobs).write_text("- {name: a, ranks: 0}\n")
    code, _ = ended(start(state, jobs))
    assert (code, list(state.parent.iterdir())) == (2, [])


def test_a_place_where_nothing_can_be_written(tmp_path: Path, jobs: str) -> None:
    """It is told before anything is placed."""
    state = tmp_path / "absent" / "state.json"
    assert ended(start(state, jobs)) == (
        3,
        f"phalanx: {state}: cannot be locked: {state}.lock: No such file or directory\n",
    )

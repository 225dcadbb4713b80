"""Runs of ``phalanx`` whose output, packages or terminal are not as they should be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "phalanx_core.cli"]
SLURM = "examples/clusters/slurm-tree"
PLACE = ["place", SLURM, "examples/jobs-slurm.yaml"]
FULL = Path("/dev/full")


def program(arguments: list[str], **given: object) -> subprocess.CompletedProcess[str]:
    """A whole run of the program, from the project's root."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **given,
    )


@pytest.mark.parametrize(
    "arguments",
    [["topology", SLURM], PLACE, [*PLACE, "--json"], ["place", "--help"]],
)
def test_a_reader_that_left_is_no_error(arguments: list[str]) -> None:
    """Code 0 and silence where the other end of the pipe is closed."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = program(arguments, stdout=writer)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments", [["topology", SLURM], PLACE, [*PLACE, "--json"], ["--help"]]
)
def test_a_full_disk_is_told_in_one_line(arguments: list[str]) -> None:
    """Code 74 and the reason of the system; the program is not blamed for it."""
    with FULL.open("w") as full:
        ended = program(arguments, stdout=full)
    assert (ended.returncode, ended.stderr) == (
        74,
        "phalanx: standard output cannot be written: No space left on device\n",
    )


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_the_state_is_saved_before_output_fails(tmp_path: Path) -> None:
    """What was placed is not lost with its report."""
    state = tmp_path / "state.json"
    with FULL.open("w") as full:
        ended = program([*PLACE, "--state", str(state)], stdout=full)
    assert ended.returncode == 74
    assert state.exists()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_output_is_told_in_one_line(form: list[str]) -> None:
    """Code 74 where there is no standard output at all."""
    ended = program(["topology", SLURM, *form], preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (
        74,
        "phalanx: standard output cannot be written: it is closed\n",
    )


def test_an_output_of_few_characters_is_drawn_with_them() -> None:
    """Box characters become plain ones where the encoding lacks them."""
    few = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    ended = program(["topology", SLURM], stdout=subprocess.PIPE, env=few)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.isascii()
    assert "\n+- " in ended.stdout
    assert "\n`- " in ended.stdout


def test_without_its_packages_the_command_names_the_extra() -> None:
    """One line and code 2 where only the library is installed."""
    script = (
        "import sys; sys.modules['typer'] = None\n"
        "from phalanx_core.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        2,
        "",
        "phalanx: the command line needs the package typer: "
        "pip install 'phalanx_core[cli]'\n",
    )


def test_jobs_from_standard_input() -> None:
    """The jobs file may be "-", unless the cluster is."""
    text = (ROOT / PLACE[-1]).read_text()
    ended = program(["place", SLURM, "-"], input=text, stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, "")
    both = program(["place", "-", "-"], input=text, stdout=subprocess.PIPE)
    assert (both.returncode, both.stderr) == (
        2,
        "phalanx: -: standard input is either a cluster file or the jobs file, not "
        "both\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["topology", ""], "paths: '': must not be empty"),
        (["topology", "-", "-"], "paths: '-': standard input can be read only once"),
        (["place", SLURM, ""], "'': the path of the jobs file must not be empty"),
        ([*PLACE, "--state", ""], "--state '': must name a file"),
        ([*PLACE, "--state", "-"], "--state '-': must name a file"),
        (
            [*PLACE, "--spares", "switch-1:host:99999999999999999999"],
            "--spares 'switch-1:host:99999999999999999999': COUNT must be at most "
            "1048576, got 99999999999999999999",
        ),
        (["topology", "a\x1b[31m\n"], r"a\x1b[31m\n: cannot be read: No such file"),
    ],
)
def test_wrong_words_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    """Code 2 and one line that names the value and the rule."""
    monkeypatch.chdir(ROOT)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"phalanx: {message}")


def test_more_ranks_than_any_cluster_has_is_a_refusal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only the job that cannot fit is refused; the other one is placed."""
    monkeypatch.chdir(ROOT)
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("- {name: vast, ranks: 2000000}\n- {name: small, ranks: 8}\n")
    assert run(["place", SLURM, str(jobs)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "refused  vast: no switch-2 could ever hold 2000000 gpus" in out
    assert "A small: " in out

"""Wrong input of ``phalanx schedule``: one line, nothing printed, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
SLURM = "examples/clusters/slurm-tree"


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the page types them."""
    monkeypatch.chdir(ROOT)


def refusal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, *options: str
) -> str:
    """The one line of a run that ends with code 2, its directory left out."""
    path, state = tmp_path / "jobs.yaml", tmp_path / "state.json"
    path.write_text(text)
    arguments = ["schedule", SLURM, str(path), "--state", str(state), *options]
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert not state.exists()
    return err.removesuffix("\n").replace(f"{tmp_path}/", "").removeprefix("phalanx: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {name: a}", "jobs.yaml: job 'a': ranks: must be given"),
        (
            "- {name: a, rank: 8}",
            "jobs.yaml: job 'a': rank: no such key; keys are name",
        ),
        (
            "- {name: a, ranks: 8, within: rack}",
            "jobs.yaml: job 'a': within: level 'rack' does not exist; levels are gpu",
        ),
        (
            "- {name: a, configurations: [{ranks: 8}, {ranks: 8, within: rack}]}",
            "jobs.yaml: job 'a': configurations[1]: within: level 'rack' does not exist",
        ),
        (
            "- {name: a, ranks: 8, type: A100}",
            "jobs.yaml: job 'a': type 'A100': ",
        ),
        (
            "- {name: a, ranks: 8, limits: {switch-0: {leaf9: 0}}}",
            "jobs.yaml: job 'a': limits.switch-0: level 'switch-0' has no domain",
        ),
        (
            "- {name: a, ranks: 8, group: 8, group_level: switch-1, within: switch-0}",
            "jobs.yaml: job 'a': ",
        ),
        (
            "{memory_gib: {A100: 80}, jobs: [{name: a, ranks: 8}]}",
            "jobs.yaml: memory_gib: type 'A100'",
        ),
        (
            "{tenants: {a: 1.0e+20}, jobs: [{name: a, ranks: 8, tenant: a}]}",
            "jobs.yaml: tenants.a: must be from 1e-06 to 1e+06, got 1e+20",
        ),
        (
            "{tenants: {a: 1}, jobs: [{name: a, ranks: 8}]}",
            "jobs.yaml: job 'a': tenant: must be one of a, got 'default'",
        ),
        (
            "- {name: a, ranks: 8, weight: 1.0e+9}",
            "jobs.yaml: job 'a': weight: must be from 1e-06 to 1e+06, got 1e+09",
        ),
        (
            "- {name: a, ranks: 8, templates: [4], goodput: {8: 1.0e+308, 4: 1.0e-308}}",
            "jobs.yaml: job 'a': goodput.8: must be from 1e-30 to 1e+30, got 1e+308",
        ),
        # A job that comes later is checked as early as all others.
        (
            "- {name: a, ranks: 8}\n- {name: b, ranks: 8, arrive_s: 9999, prefer: x}",
            "jobs.yaml: job 'b': prefer: level 'x' does not exist",
        ),
    ],
)
def test_wrong_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    """File, job, field and rule."""
    assert refusal(capsys, tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--order", "x"], "--order 'x': one of utility, owed, owed-then-utility"),
        (["--lease", "0"], "--lease 0.0: finite and above 0"),
        (["--lease", "nan"], "--lease nan: finite and above 0"),
        (["--round", "901"], "--round 901.0: at most --lease, which is 900.0"),
        (["--waiting-bound", "-1"], "--waiting-bound -1.0: from 0, or infinite"),
        (["--idle", "inf"], "--idle inf: a finite number"),
        (["--entitlement", "x"], "--entitlement 'x': one of quota, demand"),
        (
            ["--window", "5"],
            "--window 5: must be a multiple of 3600 s, from once to 10000 times",
        ),
        (["--reward", "new"], "--reward new: goes with --order owed alone"),
        (
            ["--order", "owed", "--reward", "nwe"],
            "--reward 'nwe': 'nwe': one of owed, new, urgent, long-running; did you mean "
            "new?",
        ),
        (
            ["--order", "owed", "--reward", "new,new"],
            "--reward 'new,new': names one twice",
        ),
        (["--rounds", "0"], "--rounds 0: must be from 1 to 100000"),
        (["--start", "-1"], "--start -1: must be finite and at 0 s or later"),
        (["--start", "1e300"], "--start 1e+300: must be at most 1e+12, got 1e+300"),
        (
            ["--lease", "1e300", "--round", "1e300", "--rounds", "2"],
            "--round 1e+300: round 2 would be at 1e+300 s, and the last second is",
        ),
        (["--start", "nan"], "--start nan: must be finite and at 0 s or later"),
        (
            ["--rounds", "1", "--fail", "host=dgx01"],
            "--fail host=dgx01@60: needs 2 rounds, the last of them to answer it, and "
            "there are at most 1",
        ),
        (
            ["--heal", "host=dgx99@5"],
            "--heal: level 'host' has no domain 'dgx99'",
        ),
        (["--drain", "rack=a"], "--drain: level 'rack' does not exist; levels are"),
        (["--spares", "x"], "--spares 'x': must be PER:SIZE:COUNT"),
        (["--type", "A100"], "jobs.yaml: job 'a': type 'A100'"),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    options: list[str],
    message: str,
) -> None:
    """Option, value and rule."""
    found = refusal(capsys, tmp_path, "- {name: a, ranks: 8}\n", *options)
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schedule", SLURM], "schedule needs at least two paths, a cluster file"),
        (["schedule", "-", "-"], "-: standard input is either a cluster file or"),
        (["schedule", SLURM, "x", "--state", "-"], "--state '-': must name a file"),
        (["schedule", SLURM, SLURM], f"{SLURM}: the last argument is the jobs file"),
    ],
)
def test_wrong_paths(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """The path and what its place asks for."""
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {message}")


@pytest.mark.parametrize("order", ["utility", "owed", "owed-then-utility"])
def test_extreme_numbers_that_are_taken_can_be_played(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, order: str
) -> None:
    """At the bounds of the file no sum or product of a long run leaves the doubles."""
    path = tmp_path / "jobs.yaml"
    path.write_text(
        "- {name: a, ranks: 8, templates: [4], goodput: {8: 1.0e-30, 4: 1.0e+30},\n"
        "   weight: 1.0e-6, memory_gib: 1.0e+9, runs_s: 1.0e+12, overhead_s: 1.0e+12}\n"
        "- {name: b, ranks: 8, templates: [4], goodput: {8: 1.0e+30, 4: 1.0e-30},\n"
        "   weight: 1.0e+6, restart_s: 1.0e+12, checkpoint_s: 1.0e+12,\n"
        "   progress_s: 1.0e+12, overhead_s: 1.0e+12, arrive_s: 900}\n"
        "- {name: c, ranks: 32, cold_start_s: 1.0e+12, arrive_s: 1.0e+12}\n"
    )
    arguments = ["schedule", SLURM, str(path), "--rounds", "40", "--order", order]
    assert run(arguments) == 0
    assert capsys.readouterr().err == ""
    assert run([*arguments, "--start", "1e12"]) == 0
    assert capsys.readouterr().err == ""

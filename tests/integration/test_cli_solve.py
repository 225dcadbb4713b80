"""Runs of ``phalanx solve``: who gets what, why others do not, wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli.app import run
from tests.integration.round_tables import IDLE, PAPER, piped

ROOT = Path(__file__).resolve().parents[2]
TABLE = """\
job,configuration,gpus,utility,current
a,x4,4,9,false
a,x2,2,6,true
b,x4,4,5,false
c,x2,2,,false
d,x8,8,20,
e,x1,1,0.5,0
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The paper's table is paper.csv, another one t.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    Path("paper.csv").write_text(PAPER)
    Path("t.csv").write_text(TABLE)


def document(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> Any:
    """What a run prints as JSON."""
    assert run(["solve", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


@pytest.mark.parametrize(
    ("capacity", "admitted"),
    [("4", ["J3"]), ("8", ["J1", "J3"]), ("12", ["J1", "J2", "J3"])],
)
def test_the_example_of_the_paper(
    capsys: pytest.CaptureFixture[str], capacity: str, admitted: list[str]
) -> None:
    """From goodput to the jobs that the paper admits, and to all of them."""
    assert run(["score", "paper.csv", "--output", "scored.parquet"]) == 0
    found = document(capsys, ["scored.parquet", "--capacity", capacity, *IDLE])
    taken = [row["job"] for row in found["jobs"] if row["configuration"]]
    assert taken == admitted
    assert [row["job"] for row in found["jobs"]] == ["J1", "J2", "J3"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_score_and_solve_in_one_pipe(form: list[str]) -> None:
    """Two processes, CSV or JSON between them."""
    program = [sys.executable, "-m", "phalanx_core.cli"]
    score = subprocess.run(
        [*program, "score", "-", *form],
        input=PAPER,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    solved = subprocess.run(
        [*program, "solve", "-", "--capacity", "8", *IDLE],
        input=score.stdout,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert solved.stderr == ""
    assert solved.stdout.splitlines() == [
        "job   configuration   gpus   utility",
        "────────────────────────────────────",
        "J1    x4                 4   1.49907",
        "J3    x4                 4   64.6014",
        "",
        "type   used   of",
        "────────────────",
        "gpus      8    8",
        "",
        "2 of 3 jobs  objective 67.2005  bound 67.2005  gap 0  optimal, dp",
        "left out  J2",
    ]


def test_why_each_job_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence for each, in the names of the table."""
    arguments = ["solve", "t.csv", "--capacity", "5", "--idle", "1", "--explain"]
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[:3] == [
        "job   configuration   gpus   utility",
        "────────────────────────────────────",
        "a     x4                 4         9",
    ]
    assert out.splitlines()[7:] == [
        "",
        "1 of 5 jobs  objective 13  bound 13  gap 0  optimal, dp",
        "left out  b: priced out: x4 is worth 5 - 1 (idle) - 4 (its price) = 0; it "
        "wants 4 of gpus at 1 each, and lacks 3: 1 of 5 are left",
        "left out  c: it can run with no configuration",
        "left out  d: whatever is worth more than idle 1 wants more than there is: x8 "
        "wants 8 of gpus, which has 5",
        "left out  e: none is worth more than idle 1: the best, x1, is worth 0.5",
    ]


@pytest.mark.parametrize(
    "capacity", [["h100=4,a100=2"], ["h100=4", "--capacity=a100=2"]]
)
@pytest.mark.parametrize("wide", [True, False])
def test_two_types(
    capsys: pytest.CaptureFixture[str], capacity: list[str], wide: bool
) -> None:
    """A column of types or one for each: the same answer and the same words."""
    rows = [("a", "h", 4, 0, 8), ("a", "l", 0, 2, 6), ("b", "h", 3, 0, 7)]
    body = [
        {"job": job, "configuration": one, "utility": worth}
        | (
            {"gpus.h100": h100 or None, "gpus.a100": a100 or None}
            if wide
            else {"type": "h100" if h100 else "a100", "gpus": h100 + a100}
        )
        for job, one, h100, a100, worth in rows
    ]
    Path("t.json").write_text(json.dumps(body))
    assert run(["solve", "t.json", "--capacity", *capacity, "--solver", "core"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "job   configuration   gpus     utility",
        "──────────────────────────────────────",
        "a     l               2 a100         6",
        "b     h               3 h100         7",
        "",
    ]
    assert lines[5].split() == ["type", "used", "of", "price"]
    words = [line.split()[:3] for line in lines[7:9]]
    assert words == [["h100", "3", "4"], ["a100", "2", "2"]]
    assert lines[10].startswith("2 of 2 jobs  objective 13  bound 13  gap 0  optimal, ")


def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """Every field of ``--json``, with reasons and what jobs hold."""
    options = ["--idle", "1", "--solver", "core", "--explain", "--current"]
    found = document(capsys, ["t.csv", "--capacity", "5", *options])
    first, second, *_ = found.pop("jobs")
    assert first == {
        "job": "a",
        "configuration": "x4",
        "gpus": {"gpus": 4},
        "utility": 9.0,
        "held": "x2",
        "left_out": None,
    }
    reason = second.pop("left_out")
    assert second == {
        "job": "b",
        "configuration": None,
        "gpus": {},
        "utility": None,
        "held": None,
    }
    assert reason.pop("reason").startswith("b: priced out: x4 is worth 5 - 1 (idle)")
    assert reason == {
        "job": "b",
        "code": "priced_out",
        "idle": 1.0,
        "configuration": "x4",
        "utility": 5.0,
        "reduced_cost": 0.0,
        "row": "gpus",
        "wanted": 4,
        "left": 1,
        "capacity": 5,
        "price": pytest.approx(1.0),
        "lacking": 3,
    }
    assert found.pop("effort") > 0
    assert found == {
        "types": [
            {"type": "gpus", "used": 4, "capacity": 5, "price": pytest.approx(1.0)}
        ],
        "objective": 13.0,
        "bound": 13.0,
        "gap": 0.0,
        "status": "optimal",
        "solver": "core",
        "limited": False,
    }


def test_without_reasons_and_holders_their_fields_are_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A program sees what was asked for."""
    found = document(capsys, ["t.csv", "--capacity", "5"])
    assert list(found["jobs"][0]) == ["job", "configuration", "gpus", "utility"]
    assert found["types"] == [{"type": "gpus", "used": 5, "capacity": 5, "price": None}]


def test_keeping_what_is_held(capsys: pytest.CaptureFixture[str]) -> None:
    """A bonus decides for it, is no part of the objective, and shows in a reason."""
    options = ["--capacity", "4", "--idle", "1", "--current"]
    found = document(capsys, ["t.csv", *options])
    assert [found["jobs"][0]["configuration"], found["objective"]] == ["x4", 13.0]
    found = document(capsys, ["t.csv", *options, "--keep-bonus", "4"])
    assert [found["jobs"][0]["configuration"], found["objective"]] == ["x2", 10.0]
    assert run(["solve", "t.csv", *options, "--keep-bonus", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "a     x2                 2         6   x2"
    Path("t.csv").write_text(
        "job,configuration,gpus,utility,current\na,x2,2,0.5,true\n"
    )
    assert run(["solve", "t.csv", *options, "--keep-bonus", "0.25", "--explain"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "left out  a: none is worth more than idle 1: the best, x2, is worth 0.75"
    )


def test_worth_its_price_but_no_room(capsys: pytest.CaptureFixture[str]) -> None:
    """GPUs come in whole jobs: the reason says so, and what is lacking."""
    text = "job,configuration,gpus,utility\na,x3,3,3.3\nb,x2,2,2\nc,x2,2,2\n"
    Path("t.csv").write_text(text)
    assert run(["solve", "t.csv", "--capacity", "4", "--explain"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "left out  a: worth its price, but no room: x3 is worth 3.3 - 0 (idle) - 3 (its "
        "price) = 0.3; it wants 3 of gpus at 1 each, and lacks 3: 0 of 4 are left"
    )


def test_an_empty_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody wants anything: no error."""
    for content in ("utility\n", "[]", "job,configuration,gpus,utility\n"):
        piped(monkeypatch, content)
        options = ["--explain", "--current", "--capacity", "h100=4"]
        assert run(["solve", "-", *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[2] == "h100      0    4"
        assert lines[4].startswith("0 of 0 jobs  objective 0  bound 0  gap 0  optimal")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--capacity", "x"],
            "--capacity 'x': must be GPUs, or TYPE=GPUS,..., each a ",
        ),
        (["--capacity", "4", "--idle", "nan"], "--idle nan: a finite number"),
        (
            ["--capacity", "4", "--solver", "dq"],
            "--solver 'dq': one of auto, dp, core, cp-sat",
        ),
        (["--capacity", "4", "--gap", "1"], "--gap 1.0: in [0, 1)"),
        (["--capacity", "4", "--effort", "-1"], "--effort -1: a whole number from 0"),
        (["--capacity", "4", "--time-limit", "-1"], "--time-limit -1.0: from 0"),
        (["--capacity", "4", "--seed", "-1"], "--seed -1: a whole number from 0"),
        (
            ["--capacity", "4", "--keep-bonus", "1"],
            "--keep-bonus 1: needs --current, which says what jobs hold",
        ),
        (
            ["--capacity", "4", "--keep-bonus", "-1", "--current"],
            "--keep-bonus -1.0: finite and at least 0",
        ),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Code 2 and one line that names the option as it was typed."""
    assert run(["solve", "t.csv", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {message}")
    assert err.count("\n") == 1


def test_solvers_and_limits_are_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    """The answer tells who found it."""
    common = ["t.csv", "--capacity", "5", "--idle", "1"]
    for solver in ("dp", "core", "cp-sat"):
        found = document(capsys, [*common, "--solver", solver, "--certify"])
        assert (found["solver"], found["objective"]) == (solver, 13.0)
    bred = document(capsys, [*common, "--solver", "nsga2", "--seed", "3"])
    assert (bred["solver"], bred["objective"]) == ("nsga2", 13.0)
    found = document(
        capsys,
        [
            *common,
            "--solver",
            "core",
            "--effort",
            "0",
            "--gap",
            "0.5",
            "--time-limit=60",
        ],
    )
    assert found["bound"] >= 13.0
    assert found["objective"] >= 6.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TABLE.replace("x4,4,9", "x4,4.5,9"),
            "row 1: gpus: must be a whole number from 0 to 2147483647, got '4.5'",
        ),
        (
            TABLE.replace("4,5,false", "4,five,false"),
            "row 3: utility: must be a finite number, or empty, got 'five'",
        ),
        (
            TABLE.replace("x2,2,6,true", "x4,2,6,true"),
            "row 2: configuration: job 'a' has 'x4' in row 1 already",
        ),
        (
            TABLE.replace("9,false", "9,yes"),
            "row 1: current: must be true or false, got 'yes'",
        ),
        (
            TABLE.replace("9,false", "9,true"),
            "row 2: current: job 'a' holds row 1 already",
        ),
        (
            TABLE.replace("gpus", "gpu"),
            "no column gpus; columns are job, configuration, gpu, utility, current; did "
            "you mean gpu?",
        ),
        (
            TABLE.replace("utility", "utilty"),
            "no column utility; columns are job, configuration, gpus, utilty, current; "
            "did you mean utilty?",
        ),
    ],
)
def test_wrong_tables(
    capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """Code 2 and one line with file, row, column, rule and value."""
    Path("t.csv").write_text(text)
    assert run(["solve", "t.csv", "--capacity", "4", "--current"]) == 2
    assert capsys.readouterr() == ("", f"phalanx: t.csv: {message}\n")


def test_an_error_before_a_pipe_is_one_behind_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score that failed leaves nothing to solve."""
    piped(monkeypatch, "")
    assert run(["solve", "-", "--capacity", "4"]) == 2
    assert capsys.readouterr().err == (
        "phalanx: -: is empty; its first line names the columns\n"
    )

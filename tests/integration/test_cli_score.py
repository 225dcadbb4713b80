"""Runs of ``phalanx score``: tables in and out, options, wrong input."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from phalanx_core.cli.app import run
from tests.integration.round_tables import PAPER, piped

ROOT = Path(__file__).resolve().parents[2]
WORTH = [1.499, 1.112, 64.601]
HEAD, *ROWS = PAPER.splitlines()


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The paper's table is t.csv."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(PAPER)


def utilities(text: str) -> list[float | None]:
    """The column utility of CSV, rounded."""
    rows = csv.DictReader(io.StringIO(text))
    return [round(float(row["utility"]), 3) if row["utility"] else None for row in rows]


def test_the_example_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    """Every row as it was, and its utility behind it."""
    assert run(["score", "t.csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert utilities(out) == WORTH
    head, *rows = out.splitlines()
    assert head == f"{HEAD},utility"
    assert [row.rpartition(",")[0] for row in rows] == ROWS


def test_from_format_to_format(capsys: pytest.CaptureFixture[str]) -> None:
    """CSV, JSON, Parquet and back: the same numbers to the last bit."""
    assert run(["score", "t.csv", "--output", "t.json"]) == 0
    assert run(["score", "t.json", "--output", "out/t.parquet"]) == 0
    assert run(["score", "out/t.parquet", "--output", "again.csv"]) == 0
    assert capsys.readouterr() == ("", "")
    assert run(["score", "t.csv"]) == 0
    first = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    again = list(csv.DictReader(io.StringIO(Path("again.csv").read_text())))
    assert [row["utility"] for row in again] == [row["utility"] for row in first]
    assert [row["job"] for row in again] == ["J1", "J2", "J3"]
    middle = json.loads(Path("t.json").read_text())
    assert middle[1]["progress_s"] == 500
    assert middle[1]["gpus"] == 4
    kinds = {one.name: str(one.type) for one in parquet.read_schema("out/t.parquet")}
    assert kinds == {
        "job": "string",
        "configuration": "string",
        "gpus": "int64",
        "goodput": "double",
        "progress_s": "int64",
        "checkpoint_s": "int64",
        "restart_s": "int64",
        "waiting_s": "double",
        "utility": "double",
    }


def test_json_through_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns in, rows out; what is empty stays so, what is unknown is kept."""
    body = {
        "job": [7, 7],
        "configuration": ["a", "b"],
        "goodput": [4.0, None],
        "progress_s": [0, 0],
        "checkpoint_s": [0, 0],
        "application": ["bert", "bert"],
        "waiting_s": [0, 0],
        "owner": ["me", {"team": 1}],
    }
    piped(monkeypatch, json.dumps(body))
    assert run(["score", "-", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["job"], first["utility"], first["owner"]) == (7, 2.0, "me")
    assert (second["utility"], second["owner"]) == (None, {"team": 1})


def test_no_rows_are_a_round_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head alone, or an empty list."""
    piped(monkeypatch, HEAD + "\n")
    assert run(["score", "-"]) == 0
    assert capsys.readouterr().out == f"{HEAD},utility\n"
    piped(monkeypatch, "[]")
    assert run(["score", "-"]) == 0
    assert capsys.readouterr().out == "utility\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--fairness", "1"], [2.120, 1.166, 76.437]),
        (["--age-rate", "0.001"], [1.422, 1.055, 1.765]),
        (["--age-cap", "2"], [1.499, 1.112, 2.366]),
        (["--restart-floor", "1"], [1.499, 1.572, 64.601]),
        (["--fairness", "-0.5"], [0.750, 1.011, 46.144]),
    ],
)
def test_options(
    capsys: pytest.CaptureFixture[str], options: list[str], expected: list[float]
) -> None:
    """Each has its part in the formula."""
    assert run(["score", "t.csv", *options]) == 0
    assert utilities(capsys.readouterr().out) == expected


def test_restarts_are_counted_and_changes_alone_pay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """``aggregate`` reads restarts, ``--changed-only`` current."""
    rows = [f"{row},2,{at == 1}" for at, row in enumerate(ROWS)]
    Path("t.csv").write_text("\n".join([f"{HEAD},restarts,current", *rows]))
    # J2: age 750 less two restarts of 250, over 750 and the restart to come.
    assert run(["score", "t.csv", "--restart", "aggregate"]) == 0
    assert utilities(capsys.readouterr().out) == [1.499, 0.786, 64.601]
    assert run(["score", "t.csv", "--changed-only"]) == 0
    assert utilities(capsys.readouterr().out) == [1.499, 1.572, 64.601]


def changed(row: int, column: str, value: str) -> str:
    """The paper's table with another value in a row."""
    words = ROWS[row].split(",")
    words[HEAD.split(",").index(column)] = value
    rows = [*ROWS[:row], ",".join(words), *ROWS[row + 1 :]]
    return "\n".join([HEAD, *rows]) + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            changed(1, "goodput", "-1"),
            "row 2: goodput: must be a finite number from 0, or empty, got '-1'",
        ),
        (
            changed(2, "waiting_s", ""),
            "row 3: waiting_s: must be a finite number from 0, got nothing",
        ),
        (
            changed(0, "progress_s", "ten"),
            "row 1: progress_s: must be a finite number, got 'ten'",
        ),
        (
            changed(1, "job", "J1").replace("J1,x4,4,2.2", "J1,x8,8,2.2"),
            "row 2: progress_s: job 'J1' has '500' here and '0' in row 1; it must be "
            "one value a job",
        ),
        (
            changed(1, "job", "J1"),
            "row 2: configuration: job 'J1' has 'x4' in row 1 already",
        ),
        (changed(1, "job", ""), "row 2: job: must be a printable name, got nothing"),
        (
            PAPER.replace("restart_s", "restarts_s"),
            "no column restart_s; columns are job, configuration, gpus, goodput, "
            "progress_s, checkpoint_s, restarts_s, waiting_s; did you mean restarts_s?",
        ),
    ],
)
def test_wrong_tables(
    capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    """Code 2 and one line with file, row, column, rule and value."""
    Path("t.csv").write_text(text)
    assert run(["score", "t.csv"]) == 2
    assert capsys.readouterr() == ("", f"phalanx: t.csv: {message}\n")


def test_applications_must_be_one_a_job(capsys: pytest.CaptureFixture[str]) -> None:
    """Text is compared as text."""
    text = PAPER.replace("restart_s", "application").replace(",30,", ",gpt,")
    text = text.replace(",250,5", ",imagenet,5")
    Path("t.csv").write_text(text)
    assert run(["score", "t.csv"]) == 0
    assert utilities(capsys.readouterr().out) == WORTH
    Path("t.csv").write_text(text + "J3,x8,8,2,0,0,ncf,400\n")
    assert run(["score", "t.csv"]) == 2
    assert capsys.readouterr().err == (
        "phalanx: t.csv: row 4: application: job 'J3' has 'ncf' here and 'gpt' in row "
        "3; it must be one value a job\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fairness", "2"], "--fairness 2.0: in (0, 1], or below 0"),
        (["--age-rate", "0"], "--age-rate 0.0: above 0"),
        (["--age-cap", "nan"], "--age-cap nan: at least 1"),
        (["--restart", "x"], "--restart 'x': one of decomposed, aggregate"),
        (["--restart-floor", "2"], "--restart-floor 2.0: in [0, 1]"),
        (
            ["--output", "t.xls"],
            "--output 't.xls': must end in .csv, .json or .parquet",
        ),
        (
            ["--output", "x.csv", "--json"],
            "--json prints: --output 'x.csv' has the format of its extension",
        ),
        (["--restart", "aggregate"], "t.csv: no column restarts; columns are job, "),
        (["--changed-only"], "t.csv: no column current; columns are job, "),
    ],
)
def test_wrong_options(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Code 2 and one line that names the option as it was typed."""
    assert run(["score", "t.csv", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {message}")
    assert err.count("\n") == 1


def test_a_power_below_0_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The row is named, not an index of arrays."""
    Path("t.csv").write_text(changed(2, "goodput", "0"))
    assert run(["score", "t.csv", "--fairness", "-0.5"]) == 2
    assert capsys.readouterr().err == (
        "phalanx: t.csv: row 3: goodput: times the restart factor is 0, of which "
        "--fairness -0.5 is no power\n"
    )


def test_a_utility_that_no_number_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """Refused, since it would be written as one that cannot run."""
    Path("t.csv").write_text(changed(2, "goodput", "1e308"))
    assert run(["score", "t.csv", "--fairness", "1"]) == 2
    assert capsys.readouterr().err == (
        "phalanx: t.csv: row 3: goodput: its utility is more than a number can be\n"
    )


def test_an_output_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    """Code 74 and the reason of the system."""
    Path("t.json").mkdir()
    assert run(["score", "t.csv", "--output", "t.json"]) == 74
    assert capsys.readouterr().err == (
        "phalanx: t.json: cannot be written: Is a directory\n"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["score", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """Nor does a help text import what a command needs."""
    heavy = "numba ortools pyarrow scipy yaml"
    program = (
        "import sys\nfrom phalanx_core.cli.app import run\n"
        f"code = run({arguments!r})\n"
        f"print(code, *[x for x in {heavy.split()} if x in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr.split() == ["0"]

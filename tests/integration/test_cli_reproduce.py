"""Runs of ``phalanx reproduce``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from phalanx_core.cli import reproduce
from phalanx_core.cli.app import run
from phalanx_core.experiments import EXPERIMENTS, Figure


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each experiment, and the same as JSON."""
    assert run(["reproduce", "--list"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[0] for row in rows] == list(EXPERIMENTS)
    assert run(["reproduce", "--list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["experiments"]
    assert [one["name"] for one in told] == list(EXPERIMENTS)
    assert set(told[0]) == {"name", "paper", "section", "title", "reading"}


def test_published_and_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Both, the tolerance, the status, readings, and why something differs."""
    assert run(["reproduce", "sweep", "crossover"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "τ = 0.5 min       0.934      0.934       0.001   matches" in out
    assert "1,410 s    1,389 s           5   differs" in out
    assert "because  crossover by the exact form; " in out
    assert out.endswith("6 figures (matches 3, differs 3, cannot 0) and 0 times\n")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """One document with every figure; the seed decides what is drawn."""
    found = []
    for seed in ("3", "3", "4"):
        assert run(["reproduce", "sweep", "--json", "--seed", seed]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[0]["seed"] == 3
    assert found[0]["exit_code"] == 0
    (sweep,) = found[0]["experiments"]
    assert [one["published"] for one in sweep["figures"]] == [0.934, 0.436]
    assert sweep["figures"] != found[2]["experiments"][0]["figures"]


def test_processes(capsys: pytest.CaptureFixture[str]) -> None:
    """The program itself, on two processes, prints what one prints."""
    command = [sys.executable, "-m", "phalanx_core.cli", "reproduce", "table5"]
    shared = subprocess.run(
        [*command, "--processes", "2"], capture_output=True, text=True, check=True
    )
    assert run(["reproduce", "table5"]) == 0
    assert shared.stdout == capsys.readouterr().out


def test_threads(capsys: pytest.CaptureFixture[str]) -> None:
    """One thread gives every bit that all threads do."""
    command = [sys.executable, "-m", "phalanx_core.cli", "reproduce", "sweep", "--json"]
    alone = subprocess.run(
        command,
        env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run(["reproduce", "sweep", "--json"]) == 0
    assert alone.stdout == capsys.readouterr().out


def test_an_unexpected_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What should match and does not is shouted, and is exit code 1."""
    wrong = (Figure("ETTR", 0.9, 0.5, 0.1),)
    broken = replace(EXPERIMENTS["sweep"], figures=lambda seed, processes: wrong)
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"sweep": broken})
    assert run(["reproduce", "--all"]) == 1
    assert "0.900      0.500         0.1   UNEXPECTED" in capsys.readouterr().out
    assert run(["reproduce", "--all", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["exit_code"] == 1


def test_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bars, and the sweep where it was run; folders are made."""
    path = tmp_path / "made" / "sweep.svg"
    assert run(["reproduce", "sweep", "--figure", str(path)]) == 0
    assert path.read_bytes().startswith(b"<?xml")
    kinds = []
    for name in ("sweep", "crossover"):
        one = EXPERIMENTS[name]
        kinds.append(
            [type(panel).__name__ for panel in reproduce.panels([(one, one.run())])]
        )
    assert kinds == [["Bars", "Curve"], ["Bars"]]
    capsys.readouterr()


def test_a_figure_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 74, as any other file."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "a.png"
    assert run(["reproduce", "sweep", "--figure", str(path)]) == 74
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give names of experiments, or --all, or --list"),
        (["table3", "--all"], "give names of experiments, or --all, or --list"),
        (["tabel4"], "'tabel4': one of table3, table4"),
        (["tabel4"], "did you mean table"),
        (["sweep", "--json", "--markdown"], "--json and --markdown both print"),
        (["--list", "--figure", "a.png"], "--list measures nothing"),
        (["sweep", "--figure", "a.gif"], "--figure 'a.gif': must end with .pdf"),
        (["sweep", "--seed", "-1"], "--seed -1: a whole number from 0"),
        (["sweep", "--processes", "0"], "--processes 0: a whole number from 1"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and one line that says what is wrong."""
    assert run(["reproduce", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def test_without_matplotlib(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said before anything is measured."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run(["reproduce", "--all", "--figure", "a.png"]) == 2
    assert "pip install 'phalanx_core[plots]'" in capsys.readouterr().err

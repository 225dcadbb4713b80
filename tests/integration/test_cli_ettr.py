"""Runs of ``phalanx ettr``: tables, the curve, JSON, wrong input, help."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx_core.cli.app import run
from phalanx_core.reliability import Fleet, RecoveryBudget, advise

JOB = ["--gpus", "1024", "--checkpoint", "20"]
TOLD = """\
ETTR 0.981: 1,024 GPUs that fail every 2.03 d
a checkpoint of 20 s every 60 min (0.56 %), recovery in 9.63 min on average

recovery       seconds
──────────────────────────────────────────
detect             5.0   the paper's
replan             1.0   the paper's
commit             0.1   the paper's
start             10.0   the paper's
restore           20.0   given
connect           15.0   the paper's
warm up           30.0   given
with a spare      81.1
without          900.0
on average       578.0   2 spares a domain

interval   seconds     ETTR
───────────────────────────
today       3600.0   0.9811
best        2658.3   0.9818
Young       2671.7   0.9818
Daly        2658.3   0.9818

spares    found   simulated   seconds     ETTR
───────────────────────────────────────────────────────
     0   0.0000      0.0000     900.0   0.9793
     1   0.1290      0.1293     794.4   0.9799
     2   0.3932      0.3925     578.0   0.9811   today
     3   0.6637      0.6645     356.5   0.9823
     4   0.8484      0.8487     205.3   0.9831
     5   0.9429      0.9431     127.8   0.9836   target
of 256 hosts a domain, repaired in 2.08 d; target 0.9

remedy                        ETTR    gained
────────────────────────────────────────────
all of these                0.9844   +0.0033
5 spares a domain           0.9836   +0.0025
a checkpoint every 2658 s   0.9818   +0.0007
half of warm up             0.9811   +0.0000

ETTR over the interval in seconds
 1.00 │
      │
      │
 0.98 │                          ..............B....T........
      │                    ......                            ......
      │               .....                                        .....
 0.96 │            ...                                                  ...
      │         ...                                                        ...
      │       ..                                                              ...
 0.94 │     ..                                                                   ..
      │   ..                                                                       ..
      │ ..                                                                           .
 0.92 │.                                                                              .
      └───────────+───────────+───────────+──────────────+───────────+───────────+─────
                  500         1000        2000           5000        10000       20000
T today 60 min  B best 44.3 min
"""


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of 88 columns."""
    monkeypatch.setenv("COLUMNS", "88")


def text(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a run prints for people."""
    assert run(["ettr", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_tables_and_curve(capsys: pytest.CaptureFixture[str]) -> None:
    """All that is told of one job, to the letter."""
    given = ["--interval", "3600", "--recovery", "restore=20", "--spares", "2"]
    given += ["--recovery", "warm up=30", "--repair", "180000", "--target", "0.9"]
    assert text(capsys, *JOB, *given) == TOLD


def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """That of ``advise``, with the checkpoint; every option reaches it."""
    given = ["--interval", "900", "--recovery", "detect=9", "--spares", "3"]
    given += ["--target", "0.9", "--repair", "7200", "--without-spare", "600"]
    given += ["--gpu-mtbf-hours", "20000", "--gpus-per-host", "4"]
    given += ["--hosts-per-domain", "18"]
    found: dict[str, Any] = json.loads(text(capsys, *JOB, *given, "--json"))
    advice = advise(
        1024,
        20.0,
        900.0,
        recovery=RecoveryBudget.paper().with_items(detect=9),
        fleet=Fleet(4, 18, 20_000.0, 7200.0, 600.0),
        spares=3,
        target=0.9,
    )
    assert found.pop("checkpoint_s") == 20.0
    assert found == advice.to_dict()


def test_today_is_the_best_where_no_interval_is_given(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One letter covers the other."""
    out = text(capsys, *JOB)
    assert "T today 44.3 min  B best 44.3 min" in out
    curve = out.partition("ETTR over")[2].partition("T today")[0]
    assert (curve.count("B"), curve.count("T")) == (1, 0)


@pytest.mark.parametrize("item", ["self", "a b", "--x", "é", "a[b]"])
def test_an_item_may_have_any_name(
    capsys: pytest.CaptureFixture[str], item: str
) -> None:
    """Names of Python's own and marks of Rich are names like any other."""
    out = text(capsys, *JOB, "--recovery", f"{item}=1000")
    assert f"\n{item} " in out
    assert f"half of {item} " in out


def test_of_many_spares_some_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The first, today's and the last."""
    out = text(capsys, *JOB, "--repair", "1e7", "--spares", "3")
    table = out.partition("simulated")[2].partition("of 256")[0]
    shown = [line.split()[0] for line in table.splitlines()[2:]]
    assert shown == ["0", "3", *map(str, range(131, 141))]


def test_an_interval_far_from_the_best_is_on_the_curve(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The axis reaches as far as today."""
    for interval in ("21", "1e6"):
        curve = text(capsys, *JOB, "--interval", interval).partition("ETTR over")[2]
        assert "T" in curve.partition("\nT today")[0]
        assert "B" in curve.partition("\nT today")[0]


@pytest.mark.parametrize("gpus", ["1", "2147483647"])
@pytest.mark.parametrize("checkpoint", ["1e-6", "1", "5e4"])
def test_any_job_is_told(
    capsys: pytest.CaptureFixture[str], gpus: str, checkpoint: str
) -> None:
    """The smallest and the largest, checkpoints of no time and of a day."""
    out = text(capsys, "--gpus", gpus, "--checkpoint", checkpoint)
    assert out.startswith("ETTR ")
    curve = out.partition("ETTR over")[2]
    assert max(len(line) for line in curve.splitlines()) <= 88


def test_plain_characters_where_the_terminal_has_no_others(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As everywhere: lines become dashes."""
    import io
    import sys

    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_only)
    assert run(["ettr", *JOB]) == 0
    ascii_only.flush()
    out = ascii_only.buffer.getvalue().decode("ascii")
    assert "\\" not in out
    assert " 0.98 |" in out
    assert "`---" in out


WRONG = [
    (["--gpus", "0"], "--gpus 0: a whole number from 1 to 2147483647"),
    (["--checkpoint", "0"], "--checkpoint 0.0: finite and above 0"),
    (["--checkpoint", "nan"], "--checkpoint nan: finite and above 0"),
    (
        ["--interval", "20"],
        "--interval 20.0: finite, and longer than the checkpoint of 20 s",
    ),
    (
        ["--recovery", "restore"],
        "--recovery 'restore': seconds are a finite number from 0",
    ),
    (
        ["--recovery", "=5"],
        "--recovery '=5': must be ITEM=SECONDS, such as restore=30",
    ),
    (
        ["--recovery", "restore=-1"],
        "--recovery 'restore=-1': seconds are a finite number from 0",
    ),
    (
        ["--recovery", "a=nan"],
        "--recovery 'a=nan': seconds are a finite number from 0",
    ),
    (["--recovery", "a=1", "--recovery", "a=2"], "--recovery 'a=2': a is given twice"),
    (
        ["--recovery", "a=1e308", "--recovery", "b=1e308"],
        "--recovery {'detect': 5.0,",
    ),
    (["--spares", "-1"], "--spares -1: a whole number from 0"),
    (["--target", "1"], "--target 1.0: in (0, 1)"),
    (["--repair", "0"], "--repair 0.0: finite and above 0"),
    (["--without-spare", "-1"], "--without-spare -1.0: finite and at least 0"),
    (["--gpu-mtbf-hours", "inf"], "--gpu-mtbf-hours inf: finite and above 0"),
    (["--gpus-per-host", "0"], "--gpus-per-host 0: a whole number from 1 to"),
    (["--hosts-per-domain", "0"], "--hosts-per-domain 0: a whole number from 1 to"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[" ".join(g) for g, _ in WRONG])
def test_wrong_input_is_named(
    capsys: pytest.CaptureFixture[str], given: list[str], told: str
) -> None:
    """One line with option, value and rule; exit code 2."""
    assert run(["ettr", *JOB, *given]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {told}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("given", [["--gpus", "8"], ["--gpus", "x"], ["file"]])
def test_usage(capsys: pytest.CaptureFixture[str], given: list[str]) -> None:
    """What is missing, no number, or unknown."""
    assert run(["ettr", *given]) == 2
    assert capsys.readouterr().out == ""


def test_help_tells_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    """With what it counts and its default."""
    out = text(capsys, "--help")
    for option in ("gpus", "checkpoint", "interval", "recovery", "spares", "target"):
        assert f"--{option} " in out
    for option in ("repair", "without-spare", "gpu-mtbf-hours", "hosts-per-domain"):
        assert f"--{option} " in out
    assert "ITEM=SECONDS" in out
    assert "[default: 14400.0]" in out

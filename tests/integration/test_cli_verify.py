"""Runs of ``phalanx verify``: counts, verdicts, stories, JSON, wrong input."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from phalanx_core.cli.app import run
from phalanx_core.cli.progress import StatesBar
from phalanx_core.verification import Counterexample, Model, Scope
from phalanx_core.verification.mutants import MUTANTS
from tests.integration.test_cli_progress import on_terminal

HOLDS = """\
the printed protocol: 2 jobs, 7 leaves, 2 failures
3,146,990 generated, 834,050 distinct states, depth 13, searched as 759 orbits

action    transitions
─────────────────────
FAIL          115,710
DETECT         71,680
PLAN        1,482,460
COMMIT        529,060
ABORT         120,960
SEAL          605,080
RESTORE       221,830

property        of         verdict
──────────────────────────────────
TypeOK          state      holds
SealBound       state      holds
RunWitness      state      holds
RestoreReady    state      holds
EpochMonotone   step       holds
ReformLive      liveness   holds

all 6 properties hold
"""
VIOLATED = """\
property     of         verdict
────────────────────────────────
ReformLive   liveness   VIOLATED
ESR          liveness   VIOLATED

ReformLive is violated, 12 steps from the start
  start: j1 has 4 leaves, j2 has 4 leaves, 0 free
"""


def text(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a run prints for people."""
    assert run(["verify", *arguments]) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out


def document(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0
) -> dict[str, Any]:
    """What a run prints for programs."""
    found: dict[str, Any] = json.loads(text(capsys, *arguments, "--json", code=code))
    assert found["exit_code"] == code
    return found


def test_the_papers_campaign(capsys: pytest.CaptureFixture[str]) -> None:
    """Its scope, its six properties, its counts (Table 2), to the letter."""
    assert text(capsys, "--property", "paper") == HOLDS
    assert text(capsys, "2/7/2", "--property", "paper") == HOLDS


def test_all_properties_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Seventeen of the printed protocol, twenty-one of the hardened one."""
    assert text(capsys, "2/6/2").endswith("\nall 17 properties hold\n")
    told = text(capsys, "heal", "--protocol", "hardened")
    assert told.startswith("the hardened protocol: 2 jobs, 5 leaves, 2 failures\n")
    assert told.endswith("\nall 21 properties hold\n")


def test_three_failures(capsys: pytest.CaptureFixture[str]) -> None:
    """The printed protocol starves a job (F1), as a story; the others do not."""
    given = ["2/8/3", "--property", "ReformLive", "--property", "ESR"]
    told = text(capsys, *given, code=1)
    assert VIOLATED in told
    assert "\n   1 Fail(l1): l1 of j1 dies\n" in told
    assert "and then nothing more need happen: j1 in Plan, j2 in Run\n" in told
    assert "\nESR is violated, 12 steps from the start, by the same run\n" in told
    assert told.endswith("\nviolated: ReformLive, ESR\n")
    assert "86,278,402 generated, 22,255,534 distinct states, depth 19" in told
    for protocol in ("fixed", "hardened"):
        told = text(capsys, "2/8/3", "--protocol", protocol, "--property", "ESR")
        assert told.endswith("\nit holds\n")


def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """Counts, verdicts and runs, which replay."""
    found = document(capsys, "2/8/3", "--property", "ESR", code=1)
    assert found["what"] == "the printed protocol"
    assert found["scope"] == {"jobs": 2, "leaves": 8, "failures": 3}
    assert found["counts"] == {
        "init": 70,
        "generated": 86_278_402,
        "distinct": 22_255_534,
        "depth": 19,
        "orbits": 4_273,
    }
    assert found["properties"] == [
        {"name": "ESR", "kind": "liveness", "verdict": "violated"}
    ]
    (one,) = found["counterexamples"]
    model = Model(Scope(2, 8, 3))
    again = Counterexample.from_json(one, model)
    assert again.story(model).splitlines() == one["story"]
    assert len(again.replay(model)) == len(one["events"]) + 1


def test_every_state(capsys: pytest.CaptureFixture[str]) -> None:
    """The native search has the same counts, transitions and verdicts."""
    for protocol in ("printed", "fixed"):
        given = ["2/6/2", "--protocol", protocol]
        quotient = document(capsys, *given)
        every = document(capsys, *given, "--unreduced")
        assert quotient["counts"].pop("orbits") > 0
        assert quotient == every


def test_every_state_of_a_scope_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own counterexample, of one job at least; what is not asked is not told."""
    found = document(capsys, "1/4/1", "--unreduced", "--property", "TypeOK")
    assert [one["name"] for one in found["properties"]] == ["TypeOK"]
    told = text(capsys, "2/6/2", "--unreduced", "--property", "ESR")
    assert "orbits" not in told
    assert told.endswith("\nit holds\n")


@pytest.mark.parametrize(
    ("name", "paper"), [("m01", 1), ("m13", 0), ("m20", 0), ("m05", 1)]
)
def test_a_mutant(capsys: pytest.CaptureFixture[str], name: str, paper: int) -> None:
    """It is caught by its property; the paper's six let some pass."""
    told = text(capsys, "--mutant", name, code=1)
    one = MUTANTS[name]
    assert told.startswith(f"mutant {name}: {one.says}: 2 jobs, 7 leaves, 2 failures\n")
    assert one.caught_by in told.splitlines()[-1]
    text(capsys, "--mutant", name, "--property", "paper", code=paper)


def test_a_mutant_of_the_hardened_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    """Names have spaces there."""
    told = text(capsys, "--mutant", "no fence_freed", "--property", "Exclusive", code=1)
    assert "Exclusive is violated" in told


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """Every mutant with its property, and the scopes of the hardened protocol."""
    told = text(capsys, "--list")
    assert "\nm20                    SealFence        any token seals in run\n" in told
    assert "\nheal             2/5/2, 2 heal\n" in told
    found = json.loads(text(capsys, "--list", "--json"))
    assert [one["name"] for one in found["mutants"]] == list(MUTANTS)
    assert found["scopes"]["repair"] == "2/7/2"


WRONG = (
    # arguments, and the line on stderr
    (["2/7"], "scope '2/7': JOBS/LEAVES/FAILURES, such as 2/7/2"),
    (["heal"], "scope 'heal': with --protocol hardened"),
    (["2/7/2x"], "scope '2/7/2x': JOBS/LEAVES/FAILURES, such as 2/7/2"),
    (["٢/7/2"], "scope '٢/7/2': JOBS/LEAVES/FAILURES, such as 2/7/2"),
    (["0/7/2"], "scope '0/7/2': 0 jobs: from 1 to 4"),
    (["5/16/2"], "scope '5/16/2': 5 jobs: from 1 to 4"),
    (["1/16/8"], "scope '1/16/8': 8 failures: from 0 to 7"),
    (
        ["2/5/2"],
        "scope '2/5/2': 5 leaves: from 6 to 16: each job begins with more than can fail",
    ),
    (
        ["2/17/2"],
        "scope '2/17/2': 17 leaves: from 6 to 16: each job begins with more than can fail",
    ),
    (
        ["--protocol", "fixd"],
        "--protocol 'fixd': one of printed, fixed, hardened; did you mean fixed?",
    ),
    (
        ["hael", "--protocol", "hardened"],
        "scope 'hael': JOBS/LEAVES/FAILURES, such as 2/7/2, or one of repair, heal, drain, "
        "drain and heal, admit, resize, lose, crash",
    ),
    (
        ["--mutant", "no uid"],
        "--mutant 'no uid': there is none; --list names them; did you mean no uids",
    ),
    (
        ["2/7/2", "--mutant", "m01"],
        "--mutant 'm01': it has a protocol and a scope of its own",
    ),
    (
        ["--protocol", "fixed", "--mutant", "m01"],
        "--mutant 'm01': it has a protocol and a scope of its own",
    ),
    (
        ["--mutant", "m01", "--unreduced"],
        "--unreduced: of the printed and the fixed protocol alone",
    ),
    (
        ["--protocol", "hardened", "--unreduced"],
        "--unreduced: of the printed and the fixed protocol alone",
    ),
    (
        ["--list", "--unreduced"],
        "--list checks nothing: give nothing beside it but --json",
    ),
    (["--property", "Nothing"], "property 'Nothing': one of CommitPlanned, DetectReal"),
)


@pytest.mark.parametrize(("arguments", "told"), WRONG)
def test_wrong_input(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    """One line that names what is wrong, and code 2."""
    assert run(["verify", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"phalanx: {told}")
    assert err.count("\n") == 1


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    """States and their rate on stderr, gone at the end; the JSON on stdout is whole."""
    path = tmp_path / "nothing"
    path.write_text("")
    given = ["verify", "2/10/3", "--property", "TypeOK", "--json"]
    code, out, seen = on_terminal(given, path)
    assert code == 0
    assert json.loads(out)["counts"]["orbits"] == 46_871
    assert "searching" in seen
    assert " states" in seen
    assert seen.rstrip().endswith("\x1b[1A\x1b[2K")


def test_the_bar_tells_states_and_rate() -> None:
    """Both in figures, once there are some."""
    with open(os.devnull, "w") as nowhere:
        console = Console(file=nowhere, force_terminal=True, width=100, record=True)
        with StatesBar(console) as bar:
            bar(12_000)
            assert bar._progress is not None
            task = bar._progress.tasks[0]
            assert task.completed == 12_000
            assert task.fields["rate"].endswith("/s")
            console.print(bar._progress.get_renderable())
    assert "12,000 states" in console.export_text()


def test_no_bar_without_a_terminal() -> None:
    """It takes the count and shows nothing."""
    assert not sys.stderr.isatty()
    with StatesBar() as bar:
        bar(1)
        assert bar._progress is None

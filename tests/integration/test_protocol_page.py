"""docs/protocol.md, run: its examples, its commands, and every name in its table."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

from phalanx_core.reformation import Action, Rules
from phalanx_core.verification import MUTANTS, SCOPES
from phalanx_core.verification.history import validate
from phalanx_core.verification.mutants import PRINTED_MUTANTS
from phalanx_core.verification.specification import specifications

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "protocol.md"
TEXT = PAGE.read_text(encoding="utf-8")
HISTORY = ROOT / "examples" / "history.ndjson"
# Codes of the page's commands, in order.
CODES = (0, 1, 0)


def rows() -> dict[str, str]:
    """Rows of the table of faults, by their number."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (F\d+) \|(.*)\|$", text, re.MULTILINE)
    assert len(found) == len(dict(found))
    return dict(found)


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order; the engine's history is the example file."""
    names: dict[str, object] = {}
    setup = [line[4:] for line in TEXT.splitlines() if line.startswith("    ")]
    exec("\n".join(row for row in setup if row.startswith("from ")), names)
    test = doctest.DocTestParser().get_doctest(TEXT, names, PAGE.name, str(PAGE), 0)
    assert len(test.examples) == 38
    assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
    written = test.globs["written"]
    assert isinstance(written, StringIO)
    assert written.getvalue() == HISTORY.read_text("utf-8")


def test_its_commands_print_what_it_says() -> None:
    """The lines behind the dollar signs, to the end of their blocks, and their codes."""
    blocks = re.findall(r"^    \$ (.*)\n((?:    .*\n|\n(?=    ))*)", TEXT, re.MULTILINE)
    assert len(blocks) == len(CODES)
    for (line, shown), code in zip(blocks, CODES, strict=True):
        name, *arguments = shlex.split(line)
        assert name == "phalanx"
        done = subprocess.run(
            [sys.executable, "-m", "phalanx_core.cli", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout == re.sub(r"^    ", "", shown, flags=re.MULTILINE)


def test_every_fault_is_told() -> None:
    """F1 to F19, each with where it is checked."""
    assert list(rows()) == [f"F{number}" for number in range(1, 20)]
    for row in rows().values():
        assert all(part.strip() for part in row.split("|"))


def test_what_the_table_names_exists() -> None:
    """Rules, mutants, configurations and tests; every mutant of the engine's rules."""
    cases = "".join(
        path.read_text("utf-8") for path in (ROOT / "tests/cases").glob("test_*.py")
    )
    rules = set(Rules.__dataclass_fields__)
    table = "\n".join(rows().values())
    named = re.findall(r"`([^`]+)`", table)
    for name in named:
        if name.startswith("test_"):
            assert f"def {name}(" in cases, name
        elif name.endswith(".cfg"):
            assert name in specifications(), name
        elif name.startswith("phalanx "):
            assert name.split()[2] in ("2/6/2", "2/7/2")
        elif name not in ("<>[] Healthy",):
            assert name in MUTANTS or name in rules or name in SCOPES, name
    off = {name for name in MUTANTS if name.startswith("no ")}
    # Of the printed protocol's own machinery: its restore is two steps, abort, a model's.
    left = {"no load_then_run", "no abort"}
    assert off - set(named) == left


def test_how_many_mutants_the_papers_properties_let_pass() -> None:
    """Fifteen of twenty."""
    assert len(PRINTED_MUTANTS) == 20
    assert sum(not one.paper for one in PRINTED_MUTANTS) == 15
    assert "let 15 of the 20 printed ones pass" in TEXT


def test_the_line_of_the_page_is_legal() -> None:
    """It stands for the eighth of the example, which is legal as a whole."""
    lines = HISTORY.read_text("utf-8").splitlines(keepends=True)
    (short,) = re.findall(r'^    (\{"n":8,.*\})$', TEXT, re.MULTILINE)
    report = validate([*lines[:8], short + "\n", *lines[9:]])
    assert (report.fault, report.transitions) == (None, 12)
    assert json.loads(short)["action"] == Action.DETECT.name


SAID = re.compile(
    r'Refused\((?:event\.action|Action\.[A-Z]+), "(\w+)"'
    r'|Fate\.[A-Z]+, (?:action, job\.name, )?"([a-z_]+)"'
    r'|return "([a-z_]+)"\n'
)


def test_every_word_of_a_refusal_is_explained() -> None:
    """The page's table has each guard that the package names, and no other."""
    table = TEXT.partition("### Why something waits")[2]
    rows = re.findall(r"^\| (`.*`) \|", table, re.MULTILINE)
    told = [word for row in rows for word in re.findall(r"`(\w+)`", row)]
    folder = ROOT / "phalanx_core" / "reformation"
    sources = "".join(one.read_text("utf-8") for one in sorted(folder.glob("*.py")))
    said = {word for found in SAID.findall(sources) for word in found if word}
    said |= {"no_manifest", "first_served"}
    assert sorted(told) == sorted(said)

"""docs/rounds.md, run."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "rounds.md"


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    setup = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    exec("\n".join(row for row in setup if row.startswith(("import ", "from "))), names)
    test = doctest.DocTestParser().get_doctest(text, names, "rounds.md", str(PAGE), 0)
    assert len(test.examples) == 21
    assert doctest.DocTestRunner().run(test).failed == 0


def piped(line: str) -> str:
    """What a line of ``phalanx`` commands, each the reader of the last, prints."""
    text = ""
    for command in line.split(" | "):
        name, *arguments = shlex.split(command)
        assert name == "phalanx"
        text = subprocess.run(
            [sys.executable, "-m", "phalanx_core.cli", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            input=text,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
    return text


def test_its_commands_print_what_it_says() -> None:
    """Every line behind a dollar sign, to the end of its block."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^    \$ (.*)\n((?:    .*\n|\n(?=    ))*)", text, re.MULTILINE)
    assert len(blocks) == 1
    for line, shown in blocks:
        assert piped(line) == re.sub(r"^    ", "", shown, flags=re.MULTILINE)

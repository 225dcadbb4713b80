"""The first program that README shows prints what README says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
MAKEFILE = README.with_name("Makefile")


def test_readme_program_prints_its_comments() -> None:
    """Every comment line behind a print is that print's output, word for word."""
    program = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert program is not None
    source = program.group(1)
    expected = re.findall(r"^# (.*)$", source, re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, str(README), "exec"), {})
    assert printed.getvalue().splitlines() == expected
    assert len(expected) == 3


def test_readme_says_where_the_program_is() -> None:
    """What README calls it after ``make demo`` is where Makefile has its programs."""
    text = README.read_text()
    assert "`.venv/bin/phalanx`" in text
    assert "`. .venv/bin/activate`" in text
    assert re.search(r"^\s*VENV\s*[:?]?=\s*\.venv$", MAKEFILE.read_text(), re.MULTILINE)
    assert len(text.splitlines()) <= 250

"""The first program that README shows prints what README says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


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

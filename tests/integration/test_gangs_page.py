"""docs/gangs.md runs as it stands."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gangs.md"


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order."""
    text = PAGE.read_text(encoding="utf-8")
    setup = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    names: dict[str, object] = {}
    program = [
        line for line in setup if line.startswith(("from ", "planner = Planner"))
    ]
    exec("\n".join(program), names)
    test = doctest.DocTestParser().get_doctest(text, names, "gangs.md", str(PAGE), 0)
    assert len(test.examples) == 6
    assert doctest.DocTestRunner().run(test).failed == 0

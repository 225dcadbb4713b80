"""docs/rounds.md, run."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rounds.md"


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    setup = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    exec("\n".join(row for row in setup if row.startswith(("import ", "from "))), names)
    test = doctest.DocTestParser().get_doctest(text, names, "rounds.md", str(PAGE), 0)
    assert len(test.examples) == 6
    assert doctest.DocTestRunner().run(test).failed == 0

"""docs/scheduling.md, run."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scheduling.md"


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    setup = [line[4:] for line in text.splitlines() if line.startswith("    from ")]
    exec("\n".join(setup), names)
    page = doctest.DocTestParser().get_doctest(
        text, names, "scheduling.md", str(PAGE), 0
    )
    assert len(page.examples) == 19
    assert doctest.DocTestRunner().run(page).failed == 0

"""docs/reliability.md, run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from tests.integration.test_rounds_page import piped

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"


def test_the_page_says_what_happens() -> None:
    """Its set-up and its examples, in order."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec("from phalanx_core.reliability import *", names)
    test = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), 0)
    assert len(test.examples) == 17
    assert doctest.DocTestRunner().run(test).failed == 0


def test_its_command_prints_what_it_says() -> None:
    """The line behind the dollar sign, to the end of its block."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^    \$ (.*)\n((?:    .*\n|\n(?=    ))*)", text, re.MULTILINE)
    assert len(blocks) == 1
    for line, shown in blocks:
        assert piped(line) == re.sub(r"^    ", "", shown, flags=re.MULTILINE)

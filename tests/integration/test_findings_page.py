"""docs/findings.md shows what ``python -m bench.findings`` measures."""

from __future__ import annotations

from pathlib import Path

from bench.findings import spares_table, ways_table

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "findings.md").read_text("utf-8")


def test_the_tables_are_what_is_measured() -> None:
    """Both, to the letter, on two processes."""
    for table in (ways_table(processes=2), spares_table(processes=2)):
        assert table in PAGE

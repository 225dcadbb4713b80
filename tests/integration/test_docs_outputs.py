"""docs/outputs.md shows what the formats write."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from phalanx_core import Gang, Placement, Planner, Repair, Topology
from phalanx_core.cli.outputs import KEYS
from phalanx_core.placement.writers import FORMATS, write

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "outputs.md").read_text("utf-8")
SHOWN = re.findall(
    r"<!-- (placed|repaired) ([a-z0-9-]+) -->\n```\n(.*?)```", PAGE, re.S
)


def states() -> dict[str, Placement | Repair]:
    """The page's job before and after its host is lost."""
    topology = Topology.from_spec("rack:2 host:3 gpu:4")
    planner = Planner(topology)
    placed = planner.place("llm", Gang(8, group=4, within="rack"))
    planner.fail(topology.leaves("host", "host-0"))
    return {"placed": placed, "repaired": planner.replan("llm")}


@pytest.mark.parametrize(("state", "format", "text"), SHOWN)
def test_examples(state: str, format: str, text: str) -> None:
    """Every example is that format's text, to the letter."""
    assert write(states()[state], format, "llm") == text


def test_every_format_and_setting_is_told() -> None:
    """An example of each format, a row for its file, a word on each setting."""
    assert {format for _, format, _ in SHOWN} == set(FORMATS)
    assert [name for name in FORMATS if f"`{name}`" not in PAGE] == []
    assert [key for key in KEYS if key not in PAGE] == []
    assert [f.suffix for f in FORMATS.values() if f"`{f.suffix}`" not in PAGE] == []


def test_the_program_prints_its_comments() -> None:
    """The page's program, run."""
    program = re.search(r"```python\n(.*?)```", PAGE, re.S)
    assert program is not None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program.group(1), "outputs.md", "exec"), {})
    expected = re.findall(r"^# (.*)$", program.group(1), re.MULTILINE)
    assert printed.getvalue().splitlines() == expected
    assert len(expected) == 4

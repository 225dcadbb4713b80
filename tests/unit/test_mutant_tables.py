"""Tables of faults keep up with the texts and tests that they name, run or not."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from tests.mutants.lines import Table

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted(
    path.stem
    for path in (ROOT / "tests/mutants").glob("*.py")
    if "\nTABLE = " in path.read_text("utf-8")
)


def test_there_are_tables() -> None:
    """One for each part that has faults of lines."""
    assert len(TABLES) >= 12


@pytest.mark.parametrize("name", TABLES)
def test_faults_are_of_texts_that_are_there(name: str) -> None:
    """Each replaces a text that its module has once, and names a test that there is."""
    table = import_module(f"tests.mutants.{name}").TABLE
    assert isinstance(table, Table)
    for fault in table.faults:
        module = (ROOT / table.modules / fault.file).read_text("utf-8")
        assert module.count(fault.sound) == 1, fault.name
        assert fault.faulty != fault.sound, fault.name
        file, _, function = fault.test.partition("::")
        folder = (ROOT / table.tests / file).parent
        tests = "".join(one.read_text("utf-8") for one in sorted(folder.glob("*.py")))
        told = re.search(r"(test_|Test)\w+$", function.partition("[")[0])
        assert told is None or re.search(rf"(def |class |\n){told[0]}\b", tests), (
            fault.name
        )

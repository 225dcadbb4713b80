"""docs/schedule.md beside the real program."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from phalanx_core.cli.app import app, run
from phalanx_core.cli.goodput_model import PARTS
from phalanx_core.cli.jobs_file import KEYS
from phalanx_core.cli.schedule_options import REWARDS
from phalanx_core.cli.workload_file import (
    JOB_KEYS,
    TOP_KEYS,
    check_entry,
    read_workload,
)
from phalanx_core.scheduling import JobState
from phalanx_core.scoring import Batches, Noise, Throughput
from tests.integration.test_rounds_page import piped

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "schedule.md"
TEXT = PAGE.read_text(encoding="utf-8")
TIMES = re.compile(r"^decided in .*$", re.MULTILINE)


def section(title: str) -> str:
    """The text below a heading, up to the next."""
    return TEXT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def rows(text: str) -> dict[str, list[str]]:
    """First column to the others of the rows of tables."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    split = [[word.strip() for word in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip(): row[1:] for row in split}


def test_its_command_prints_what_it_says() -> None:
    """The line behind the dollar sign; what stands for "..." is left out on the page."""
    ((line, shown),) = re.findall(
        r"^    \$ (.*)\n((?:    .*\n|\n(?=    ))*)", TEXT, re.MULTILINE
    )
    found = TIMES.sub("decided in a moment", piped(line))
    told = TIMES.sub("decided in a moment", re.sub(r"^    ", "", shown, flags=re.M))
    above, below = told.split("...\n")
    assert found.startswith(above)
    assert found.endswith(below)
    assert len(above.splitlines()) > 60


def test_its_file_is_read_and_run(tmp_path: Path) -> None:
    """The example of the page is a file that the program takes."""
    (example,) = re.findall(r"^```yaml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    path = tmp_path / "jobs.yaml"
    path.write_text(example)
    workload = read_workload(str(path))
    assert [len(entry.ways) for entry in workload.jobs] == [2, 2]
    assert run(["schedule", str(ROOT / "examples/clusters/h100-64"), str(path)]) == 0


def test_every_key_is_on_the_page() -> None:
    """Keys of the gang in a sentence, others in the table; those of models as well."""
    text = section("The file")
    told = [key.strip("`") for key in rows(text)]
    assert sorted(told) == sorted(key for key in JOB_KEYS if key not in KEYS)
    for key in (*KEYS, *TOP_KEYS, *PARTS):
        assert f"`{key}`" in text
    for kind in (Throughput, Noise, Batches):
        for one in fields(kind):
            assert f"`{one.name}`" in text


def test_defaults_are_those_of_the_page() -> None:
    """Numbers and words of the last column."""
    entry: Any = check_entry("jobs.yaml", 1, {"name": "a", "ranks": 1})
    found = {}
    for key, row in rows(section("The file")).items():
        name, default = key.strip("`"), row[-1].strip("`")
        if hasattr(entry, name) and re.fullmatch(r"[\d.]+|default|false", default):
            found[name] = default
    values = {
        name: str(getattr(entry, name)).removesuffix(".0").lower() for name in found
    }
    assert found == values
    assert len(found) == 10


def test_every_option_is_on_the_page() -> None:
    """Each has a row, or stands in the text of the run."""
    command = get_command(app).commands["schedule"]
    text = section("The run") + section("`--json`")
    for parameter in command.params:
        for option in parameter.opts:
            assert (
                option == "paths"
                or option in ("--json", "--help")
                or f"`{option}" in text
            )
    for word in REWARDS:
        assert f"`{word}`" in text


def keys(value: Any) -> list[str]:
    """All keys of a document."""
    if isinstance(value, dict):
        return [*value, *(key for one in value.values() for key in keys(one))]
    return (
        [key for one in value for key in keys(one)] if isinstance(value, list) else []
    )


def test_every_field_is_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Keys of a document are named, and so are the states of a job."""
    demo = re.findall(r"^    \$ phalanx (.*)$", TEXT, re.MULTILINE)[0].split()
    paths = [str(ROOT / word) if word.startswith("examples") else word for word in demo]
    run([*paths, "--json"])
    document = json.loads(capsys.readouterr().out)
    for told in document["rounds"]:
        for event in told["events"]:
            event["hit"] = []
        for job in told["jobs"]:
            job["misfit"] = None
    elsewhere = {"target", "event", "hit"}
    text = section("`--json`")
    for key in dict.fromkeys(keys(document)):
        assert f"`{key}`" in text or key in elsewhere, key
    for state in (*JobState, "coming", "finished"):
        assert f"`{state}`" in text

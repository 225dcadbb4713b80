"""State files of rounds: what is written comes back, and nothing else is believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from phalanx_core.cli.sealed_file import digest
from phalanx_core.cli.workload_file import check_entry
from phalanx_core.cli.workload_state import VERSION, SavedRun, read_run, write_run
from phalanx_core.errors import SaveError

RUN = SavedRun(
    scheduler=b"\x00\x01bytes",
    embedder={"now_s": 60.0, "coming": [], "played": {}, "ended": []},
    entries=(check_entry("jobs.yaml", 1, {"name": "a", "ranks": 8}),),
    options={"spares": None, "entitlement": "quota", "window_s": None, "open": True},
    rounds=2,
    ill={"down": ["h1/gpu-0"], "cordoned": []},
    waited={"a": "outbid"},
    letters={"a": "A"},
)


def test_written_is_read_back(tmp_path: Path) -> None:
    """Every field survives, and no scratch file stays behind."""
    path = tmp_path / "state.json"
    assert read_run(str(path)) is None
    write_run(str(path), RUN)
    assert read_run(str(path)) == RUN
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"rounds": 2', '"rounds": 3', "is damaged: its checksum does not match"),
        (
            "phalanx_schedule",
            "phalanx_state",
            "is not a state file of phalanx schedule",
        ),
        (
            f'"phalanx_schedule": {VERSION}',
            '"phalanx_schedule": 99',
            "is of version 99",
        ),
        ("\n}\n", "", "is damaged: cut short or changed"),
    ],
)
def test_what_is_no_state_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    """Changed, foreign, later and cut files are told apart."""
    path = tmp_path / "state.json"
    write_run(str(path), RUN)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(SaveError, match=message):
        read_run(str(path))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("jobs", [{"name": "a"}], r"job 'a': ranks: must be given \(state file\)"),
        ("scheduler", 3, "is damaged: "),
        ("ill", None, "is damaged: "),
        ("letters", 5, "is damaged: "),
    ],
)
def test_what_the_checksum_covers_is_still_checked(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    """A sealed file with a wrong value is refused by name."""
    path = tmp_path / "state.json"
    write_run(str(path), RUN)
    whole = json.loads(path.read_text())
    del whole["blake2b"], whole["phalanx_schedule"]
    whole[key] = value
    head = {"phalanx_schedule": VERSION, "blake2b": digest(whole)}
    path.write_text(json.dumps({**head, **whole}))
    with pytest.raises(SaveError, match=message):
        read_run(str(path))

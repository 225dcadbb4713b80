"""State files: what is written comes back, and nothing else is believed."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest

from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.cli.sealed_file import digest
from phalanx_core.cli.state_file import VERSION, State, read_state, write_state
from phalanx_core.errors import SaveError
from phalanx_core.topology import Topology

STATE = State(
    topology=Topology.from_spec("pod:2 host:2 gpu:8"),
    spares="pod:host:1",
    alignment="exact",
    jobs=(JobSpec(name="a", ranks=16, group=8, limits={"host": {"*": 4}}),),
    planners={"H100": b"\x00\x01bytes"},
)


def test_written_is_read_back(tmp_path: Path) -> None:
    """Every field survives, and no scratch file stays behind."""
    path = tmp_path / "state.json"
    write_state(str(path), STATE)
    write_state(str(path), STATE)
    assert read_state(str(path)) == STATE
    assert [entry.name for entry in tmp_path.iterdir()] == ["state.json"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    """The file that a link names is written, and the link is left as it is."""
    (tmp_path / "link").symlink_to("state.json")
    write_state(str(tmp_path / "link"), STATE)
    assert (tmp_path / "link").is_symlink()
    assert read_state(str(tmp_path / "state.json")) == STATE


def test_a_topology_that_is_none_is_damage(tmp_path: Path) -> None:
    """What the checksum covers is still read with care."""
    path = tmp_path / "state.json"
    write_state(str(path), STATE)
    whole = json.loads(path.read_text())
    del whole["blake2b"], whole["phalanx_state"]
    whole["topology"] = base64.b64encode(zlib.compress(b'{"levels": ["gpu"]}')).decode()
    head = {"phalanx_state": VERSION, "blake2b": digest(whole)}
    path.write_text(json.dumps({**head, **whole}))
    with pytest.raises(SaveError, match=r"is damaged: TopologyError\(\"table of"):
        read_state(str(path))


def test_no_file_is_no_state(tmp_path: Path) -> None:
    """The first run starts with nothing."""
    assert read_state(str(tmp_path / "state.json")) is None


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "hello", '{"phalanx_state"', "[" * 100000]
)
def test_foreign_files_are_refused(tmp_path: Path, text: str) -> None:
    """A file of something else is named as that."""
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(SaveError, match=r"state\.json: is not a state file"):
        read_state(str(path))


@pytest.mark.parametrize("change", ["cut", "flip"])
def test_a_damaged_file_is_named_as_that(tmp_path: Path, change: str) -> None:
    """One that was a state file once is not called foreign."""
    path = tmp_path / "state.json"
    write_state(str(path), STATE)
    raw = path.read_bytes()
    path.write_bytes(raw[:-20] if change == "cut" else raw[:-3] + b"\xff\n}")
    with pytest.raises(SaveError, match=r"state\.json: is damaged: cut short or"):
        read_state(str(path))


def test_other_versions_are_refused(tmp_path: Path) -> None:
    """Both versions are named."""
    path = tmp_path / "state.json"
    path.write_text('{"phalanx_state": 9}')
    with pytest.raises(SaveError, match="is of version 9, this reads 2"):
        read_state(str(path))


@pytest.mark.parametrize("key", ["topology", "spares", "jobs", "planners", "blake2b"])
def test_any_change_is_damage(tmp_path: Path, key: str) -> None:
    """The checksum covers every field."""
    path = tmp_path / "state.json"
    write_state(str(path), STATE)
    whole = json.loads(path.read_text())
    whole[key] = "changed"
    path.write_text(json.dumps(whole))
    with pytest.raises(SaveError, match="is damaged: its checksum does not match"):
        read_state(str(path))


def test_unwritable_place(tmp_path: Path) -> None:
    """A directory that is not there is an error of the state file."""
    with pytest.raises(SaveError, match="cannot be written: No such file"):
        write_state(str(tmp_path / "absent" / "state.json"), STATE)


def test_unreadable_place(tmp_path: Path) -> None:
    """A directory is no state file."""
    with pytest.raises(SaveError, match="cannot be read: Is a directory"):
        read_state(str(tmp_path))

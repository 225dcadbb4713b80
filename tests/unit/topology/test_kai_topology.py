"""KAI's Topology: as Kueue's, and an alias names its level."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core import Gang, Planner
from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import node, topology, write

HALL = "accelerator.example.com/hall"
RACK = "accelerator.example.com/rack"
HOSTNAME = "kubernetes.io/hostname"


def host(name: str, hall: str, rack: str) -> dict[str, Any]:
    """A Node of two GPUs with the keys of these tests."""
    made = node(name, 2)
    made["metadata"]["labels"].update({HALL: hall, RACK: rack})
    return made


NODES = [host("h1", "a", "1"), host("h2", "a", "2"), host("h3", "b", "1")]


def kai(*levels: str | tuple[str, str], name: str = "network") -> dict[str, Any]:
    """A Topology of KAI."""
    return topology(*levels, name=name, group="kai.scheduler", version="v1alpha1")


def read(tmp_path: Path, *objects: dict[str, Any], **options: Any) -> Topology:
    """Compile the Nodes and some objects from one file."""
    return Topology.read(write(tmp_path / "all.json", *NODES, *objects), **options)


def test_alias_names_its_level(tmp_path: Path) -> None:
    """Aliases stand at the levels of their own keys, hosts included."""
    made = read(tmp_path, kai((HALL, "zone"), (RACK, "cage"), (HOSTNAME, "server")))
    assert made.levels == ("gpu", "server", "cage", "zone", "cluster")
    assert made.domain_of("zone").tolist() == [0, 0, 0, 0, 1, 1]
    assert made.domain_of("cage").tolist() == [0, 0, 1, 1, 2, 2]
    assert made.domain_names("server") == ("h1", "h2", "h3")
    assert made.levels[made.nvlink_level or 0] == "server"
    placed = Planner(made).place("job", Gang(2, within="server"))
    assert placed.by_host() == {"h3": [(0, "h3/gpu-0"), (1, "h3/gpu-1")]}


def test_some_levels_without_alias(tmp_path: Path) -> None:
    """A level without an alias has its key's short name, unless an alias took it."""
    made = read(tmp_path, kai((HALL, "rack"), RACK, (HOSTNAME, "")))
    assert made.levels == ("gpu", "host", RACK, "rack", "cluster")
    assert made.domain_count("rack") == 2
    assert read(tmp_path, kai(HALL, RACK)).levels == (
        "gpu",
        "host",
        "rack",
        "hall",
        "cluster",
    )


def test_alias_that_is_taken(tmp_path: Path) -> None:
    """An alias that this library uses for another level yields, with a note."""
    made = read(tmp_path, kai((HALL, "cluster"), (RACK, "host"), (HOSTNAME, "gpu")))
    assert made.levels == ("gpu", "host", "rack", "hall", "cluster")
    assert made.report is not None
    assert made.report.notes == tuple(
        f"alias {alias} of kai.scheduler/network is the name of another level here: "
        "its level is named by its key"
        for alias in ("cluster", "gpu", "host")
    )
    made = read(tmp_path, kai((RACK, "cage"), (HOSTNAME, "host")))
    assert made.levels == ("gpu", "host", "cage", "cluster")
    assert made.report is not None
    assert made.report.notes == ()


@pytest.mark.parametrize(
    ("levels", "rule"),
    [
        ([(HALL, "x"), (RACK, "x")], r"levels\[1\]\.alias: must be unique, x occurs"),
        ([(HALL, RACK), RACK], rf"levels\[0\]\.alias: {RACK} is the nodeLabel of a"),
        ([(HALL, "a b")], r"levels\[0\]\.alias: must be a label key .*, got 'a b'"),
        ([(HALL, "\x1b")], r"levels\[0\]\.alias: must be a label key"),
        ([(HALL, 7)], r"levels\[0\]\.alias: must be a label key .*, got 7"),
        ([(HOSTNAME, "n"), RACK], r"levels\[0\]\.nodeLabel: .* may only be the last"),
        ([HALL, HALL], r"levels\[1\]\.nodeLabel: must be unique"),
        ([], r"spec\.levels: must be a list of 1 to 16 levels"),
    ],
)
def test_bad_levels(tmp_path: Path, levels: Any, rule: str) -> None:
    """Each broken rule is one TopologyError that names file, object and field."""
    with pytest.raises(TopologyError, match=rule) as caught:
        read(tmp_path, kai(*levels))
    assert "all.json: Topology network: spec.levels" in str(caught.value)


def test_versions(tmp_path: Path) -> None:
    """Only v1alpha1 exists."""
    newer = {**kai(RACK), "apiVersion": "kai.scheduler/v1"}
    with pytest.raises(
        TopologyError, match=r"must be kai\.scheduler with one of v1alpha1"
    ):
        read(tmp_path, newer)

"""HiveD configurations: cells above hosts, GPUs by HiveD's count, broken shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology


def kind(child: str, number: Any, *, node: Any = False) -> dict[str, Any]:
    """A cell type."""
    return {"childCellType": child, "childCellNumber": number, "isNodeLevel": node}


TYPES = {
    "PAIR": kind("V100", 2),
    "NODE": kind("PAIR", 2, node=True),
    "RACK": kind("NODE", 2),
    "ROW": kind("RACK", 2),
}


def cell(address: Any = None, *children: Any, **more: Any) -> dict[str, Any]:
    """A physical cell; absent fields are left out."""
    made = {**more}
    if address is not None:
        made["cellAddress"] = address
    if children:
        made["cellChildren"] = list(children)
    return made


def read(tmp_path: Path, types: Any, *cells: Any) -> Topology:
    """Compile one configuration."""
    path = tmp_path / "hived.json"
    body = {"cellTypes": types, "physicalCells": list(cells)}
    path.write_text(json.dumps({"physicalCluster": body, "virtualClusters": {"a": {}}}))
    return Topology.read(path)


def test_levels(tmp_path: Path) -> None:
    """Types above the host are levels; cells are named by type and address."""
    row = cell(
        None,
        cell(None, cell("h1"), cell("h2")),
        cell("b", cell("h3")),
        cellType="ROW",
    )
    made = read(tmp_path, TYPES, row, cell("h9", cellType="NODE"))
    assert made.levels == ("gpu", "host", "cell-1", "cell-2", "cluster")
    assert made.leaf_count == 16
    assert made.domain_names("cell-1") == ("ROW/0/0", "ROW/0/b")
    assert made.domain_of("cell-2").tolist() == [0] * 12 + [-1] * 4
    assert made.type_names == ("V100",)
    assert made.report is not None
    assert made.report.notes == (
        "1 x cell with fewer children than its type (physicalCells[0].cellChildren[1])",
    )
    assert [entry.what for entry in made.report.left_out] == ["virtualClusters"]


def test_addresses_of_gpus(tmp_path: Path) -> None:
    """An address counts as written, a missing one is counted through the host."""
    pair = cell(None, cell(9), cell(8))
    made = read(tmp_path, TYPES, cell("h1", pair, cell(5), cellType="NODE"))
    assert made.names == ("h1/gpu-2", "h1/gpu-3", "h1/gpu-8", "h1/gpu-9")


def test_host_of_two_types(tmp_path: Path) -> None:
    """A host may be a cell of two types, each with its own GPUs."""
    types = {**TYPES, "K": kind("K80", 2, node=True)}
    rack = cell(None, cell("h1"), cell("h2"), cellType="RACK")
    made = read(tmp_path, types, cell("h1", cell(4), cell(5), cellType="K"), rack)
    assert len(made.leaves("host", "h1")) == 6
    assert made.types[:6] == ("V100",) * 4 + ("K80",) * 2
    assert made.domain_of("cell-1").tolist() == [0] * 10


NODE = cell("h1", cellType="NODE")


@pytest.mark.parametrize(
    ("types", "cells", "words"),
    [
        ([], [NODE], "physicalCluster.cellTypes: must be a mapping"),
        ({"a": 3}, [NODE], "cellTypes.a: must map a printable name to a mapping"),
        (
            {"a": kind("", 1)},
            [NODE],
            "cellTypes.a.childCellType: must be a printable text",
        ),
        ({"a": kind("b", 0)}, [NODE], "childCellNumber: must be a whole number from 1"),
        ({"a": kind("b", 1, node=3)}, [NODE], "isNodeLevel: must be true or false"),
        (TYPES, [], "physicalCluster.physicalCells: must be a list"),
        (TYPES, [3], r"physicalCells\[0\]: must be a mapping"),
        (
            TYPES,
            [cell("h1", cellType="X")],
            r"\[0\].cellType: must be one of cellTypes",
        ),
        (TYPES, [cell("h1", cellType="PAIR")], "isNodeLevel is needed .*, got none"),
        (
            {"A": kind("B", 1, node=True), "B": kind("C", 1, node=True)},
            [cell("h1", cellType="A")],
            "isNodeLevel is needed on its way down, got A and B",
        ),
        (
            {"A": kind("B", 1), "B": kind("A", 1)},
            [cell("h1", cellType="A")],
            "cell type A is in a cycle",
        ),
        (TYPES, [cell(None, cellType="NODE")], "the address of a host must be given"),
        (TYPES, [cell("r", cellType="RACK")], "the hosts of a cell must be given"),
        (TYPES, [cell(1.5, cellType="NODE")], "cellAddress: must be a text or a whole"),
        (TYPES, [cell("r", 3, cellType="RACK")], "cellChildren: must be a list of map"),
        (
            TYPES,
            [cell("r", cell("a"), cell("b"), cell("c"), cellType="RACK")],
            r"physicalCells\[0\].cellChildren: 3 children, but type RACK has 2",
        ),
        (TYPES, [NODE, NODE], "gpu-0 of host h1 occurs twice"),
        (
            {**TYPES, "K": kind("K80", 1, node=True), "KS": kind("K", 1)},
            [
                cell("r", cell("h1"), cell("h2"), cellType="RACK"),
                cell("s", cell("h1", cell(7)), cellType="KS"),
            ],
            r"\[1\].cellChildren\[0\].cellAddress: host h1 is also in RACK/r",
        ),
        (
            {"N": kind("K80", 2000, node=True)},
            [cell("h1", cellType="N")],
            "a host has at most 1024 GPUs",
        ),
    ],
)
def test_broken(tmp_path: Path, types: Any, cells: list[Any], words: str) -> None:
    """Each is one TopologyError that names the file, the field and the rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        read(tmp_path, types, *cells)
    assert "hived.json: document 1: physical" in str(caught.value)


def test_two_configurations(tmp_path: Path) -> None:
    """Two configurations are two clusters."""
    read(tmp_path, TYPES, NODE)
    (tmp_path / "other.json").write_text((tmp_path / "hived.json").read_text())
    with pytest.raises(TopologyError, match="two HiveD configurations"):
        Topology.read(tmp_path)

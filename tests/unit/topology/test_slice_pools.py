"""Pools: only a complete newest generation counts, whatever the order of its slices."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, node, slice_, write


def read(tmp_path: Path, *objects: dict[str, Any]) -> Topology:
    """Compile objects from one file."""
    return Topology.read(write(tmp_path / "slices.json", *objects))


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def test_a_pool_in_change(tmp_path: Path) -> None:
    """Slices of two generations: the newer one, once it is whole, in any order."""
    rows = [
        slice_("h", [gpu(0), gpu(1)], generation=3, count=1, name="a"),
        slice_("h", [gpu(0)], generation=4, count=2, name="b"),
        slice_("h", [gpu(1)], generation=4, count=2, name="c"),
        slice_("x", [gpu(0)]),
    ]
    for order in itertools.permutations(rows):
        made = read(tmp_path, *order)
        assert made.names == ("h/gpu-0", "h/gpu-1", "x/gpu-0")
        assert left_out(made) == [
            "1 x ResourceSlice: its pool has a higher generation (a)"
        ]
        half = [row for row in order if row is not rows[2]]
        made = read(tmp_path, *half)
        assert made.names == ("x/gpu-0",)
        assert left_out(made) == [
            "1 x ResourceSlice: its pool has a higher generation (a)",
            "1 x pool: resourceSliceCount is 2, seen 1 (h)",
        ]


def test_an_incomplete_pool_leaves_the_count_of_the_node(tmp_path: Path) -> None:
    """The host stays, with the GPUs its Node counts, and the report says why."""
    made = read(tmp_path, slice_("h", [gpu(0)], count=2), node("h", 8))
    assert made.leaf_count == 8
    assert left_out(made) == ["1 x pool: resourceSliceCount is 2, seen 1 (h)"]
    assert made.report is not None
    assert made.report.notes == (
        "1 x host of an incomplete pool: the count of its Node is used (h)",
    )


def test_more_slices_than_the_pool_says(tmp_path: Path) -> None:
    """A generation with too many slices is as little to be trusted."""
    rows = [slice_("h", [gpu(at)], count=1, name=f"s{at}") for at in range(2)]
    made = read(tmp_path, *rows, slice_("x", [gpu(0)]))
    assert made.names == ("x/gpu-0",)
    assert left_out(made) == ["1 x pool: resourceSliceCount is 1, seen 2 (h)"]


def test_several_slices_and_pools_of_one_host(tmp_path: Path) -> None:
    """All slices of a pool, and all pools of a host, add up in bus order."""
    rows = [
        slice_("h", [gpu(4, "0000:b0:00.0")], count=2, name="a"),
        slice_("h", [gpu(2, "0000:0b:00.0")], count=2, name="b"),
        slice_("more", [gpu(3, "0000:1b:00.0")], nodeName="h", name="a"),
    ]
    assert read(tmp_path, *rows).names == ("h/gpu-2", "h/gpu-3", "h/gpu-4")


def test_other_drivers(tmp_path: Path) -> None:
    """Slices of other drivers are counted by driver; nothing in them is checked."""
    rows = [
        slice_("h", [gpu(0)]),
        slice_("h", [gpu(0)], driver="compute-domain.nvidia.com", name="c"),
        slice_("h", [gpu(0)], driver="gpu.example.com", pool=None, name="d"),
        slice_("h", [gpu(0)], driver="gpu.example.com", name="e"),
        slice_("h", [gpu(0)], driver="dra.net", name="n"),
    ]
    rows[3]["spec"]["devices"] = "x"
    made = read(tmp_path, *rows)
    assert made.names == ("h/gpu-0",)
    assert left_out(made) == [
        "1 x ResourceSlice of driver compute-domain.nvidia.com: it holds channels and "
        "daemons of NVLink domains, no GPU (c)",
        "1 x ResourceSlice of driver dra.net: it holds network interfaces, no GPU (n)",
        "2 x ResourceSlice of driver gpu.example.com: it is no GPU driver that is read "
        "(gpu.nvidia.com, gpu.amd.com, gpu.intel.com) (d, e)",
    ]


def test_lists_and_old_versions_together(tmp_path: Path) -> None:
    """A typed list, an old version and the newest meet in one cluster."""
    rows = []
    for at, version in enumerate(("v1alpha3", "v1beta1", "v1beta2", "v1")):
        device = gpu(0, "0000:03:00.0")
        if at < 2:
            device = {"name": device["name"], "basic": device}
        rows.append(
            {**slice_(f"h{at}", [device]), "apiVersion": f"resource.k8s.io/{version}"}
        )
    bare = {k: v for k, v in rows.pop().items() if k not in ("kind", "apiVersion")}
    listed = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSliceList",
        "items": [bare],
    }
    path = tmp_path / "list.json"
    path.write_text(json.dumps(listed))
    made = Topology.read([write(tmp_path / "old.json", *rows), path])
    assert made.names == ("h0/gpu-0", "h1/gpu-0", "h2/gpu-0", "h3/gpu-0")


def test_basic_that_is_no_mapping(tmp_path: Path) -> None:
    """The old shape is checked like the new one."""
    row = slice_("h", [{"name": "gpu-0", "basic": 7}])
    with pytest.raises(TopologyError, match=r"devices\[0\]\.basic: must be a mapping"):
        read(tmp_path, row)


def test_two_states_in_two_files(tmp_path: Path) -> None:
    """Two contents of one slice and generation are refused, naming both files."""
    first = write(tmp_path / "a.json", slice_("h", [gpu(0)]))
    second = write(tmp_path / "b.json", slice_("h", [gpu(1)]))
    rule = (
        r"b\.json: ResourceSlice h-slice: metadata\.name: two different slices of "
        r"generation 1 have this name, one in .*a\.json"
    )
    with pytest.raises(TopologyError, match=rule):
        Topology.read([first, second])

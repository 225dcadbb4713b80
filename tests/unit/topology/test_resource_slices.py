"""DRA ResourceSlices: pools, shapes, order, and what is no leaf."""

from __future__ import annotations

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


def test_order_by_bus(tmp_path: Path) -> None:
    """GPUs stand in bus order as hexadecimal numbers, not in order of names."""
    devices = [
        gpu(0, "0000:c1:00.0"),
        gpu(1, "0000:0a:00.0"),
        gpu(2, "0000:9:00.0"),
        gpu(10, "00010000:01:00.0"),
    ]
    made = read(tmp_path, slice_("h", devices))
    assert made.names == ("h/gpu-2", "h/gpu-1", "h/gpu-0", "h/gpu-10")
    assert made.types[0] == "NVIDIA-H100-80GB-HBM3"


def test_order_by_minor_and_name(tmp_path: Path) -> None:
    """Without bus ids the minor number decides, else the name: gpu-2 before gpu-10."""
    by_minor = [gpu(10), gpu(2)]
    by_name = [gpu(10), gpu(2)]
    for device in by_name:
        del device["attributes"]["minor"]
    made = read(tmp_path, slice_("a", by_minor), slice_("b", by_name))
    assert made.names == ("a/gpu-2", "a/gpu-10", "b/gpu-2", "b/gpu-10")


def test_joined_with_nodes(tmp_path: Path) -> None:
    """Labels come from the Node, GPUs from the slices where a host has both."""
    made = read(
        tmp_path,
        slice_("h1", [gpu(0), gpu(1)]),
        slice_("h3", [gpu(0)]),
        node("h1", 8, block="b"),
        node("h2", 4, block="b"),
    )
    assert made.leaf_count == 7
    assert made.domain_of("block").tolist() == [0, 0, 0, 0, 0, 0, -1]
    assert made.report is not None
    assert made.report.notes == (
        "1 hosts of ResourceSlices have no Node object, so no labels",
        "1 x host whose allocatable and ResourceSlices differ: the slices are used "
        "(h1: 8 and 2 GPUs)",
    )


def test_highest_generation_only(tmp_path: Path) -> None:
    """An older slice of a pool is left out, whatever its name."""
    made = read(
        tmp_path,
        slice_("h", [gpu(0), gpu(1)], generation=2, name="new"),
        slice_("h", [gpu(0)], generation=1, name="old"),
    )
    assert made.leaf_count == 2
    assert left_out(made) == [
        "1 x ResourceSlice: its pool has a higher generation (old)"
    ]


def test_same_slice_at_two_times(tmp_path: Path) -> None:
    """Of two states of one slice the higher generation is used."""
    one = slice_("h", [gpu(0)], generation=7)
    two = slice_("h", [gpu(0), gpu(1)], generation=8)
    assert read(tmp_path, two, one).leaf_count == 2
    assert read(tmp_path, one, two).leaf_count == 2


def test_incomplete_pool(tmp_path: Path) -> None:
    """A pool is used only when all its slices are seen."""
    parts = [
        slice_("h", [gpu(0)], count=2, name="a"),
        slice_("h", [gpu(1)], count=2, name="b"),
    ]
    whole = slice_("i", [gpu(0)])
    assert read(tmp_path, *parts, whole).leaf_count == 3
    made = read(tmp_path, parts[0], whole)
    assert made.names == ("i/gpu-0",)
    assert left_out(made) == ["1 x pool: resourceSliceCount is 2, seen 1 (h)"]


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta1"])
def test_basic_shape(tmp_path: Path, version: str) -> None:
    """Old versions keep the attributes under ``basic``."""
    device = gpu(0, "0000:03:00.0")
    old = {"name": device["name"], "basic": {"attributes": device["attributes"]}}
    row = slice_("h", [old])
    row["apiVersion"] = f"resource.k8s.io/{version}"
    assert read(tmp_path, row).names == ("h/gpu-0",)


def test_list_and_qualified_attributes(tmp_path: Path) -> None:
    """An attribute may be a list of one, or carry its driver's domain."""
    device = {
        "name": "gpu-0",
        "attributes": {
            "gpu.nvidia.com/type": {"strings": ["gpu"]},
            "productName": {"strings": ["Tesla T4"]},
            "pcieBusID": {"string": "0000:03:00.0"},
        },
    }
    assert read(tmp_path, slice_("h", [device])).types == ("Tesla-T4",)


def test_only_whole_gpus_are_leaves(tmp_path: Path) -> None:
    """MIG parts, VFIO functions and other types are counted, not compiled."""
    made = read(
        tmp_path,
        slice_(
            "h", [gpu(0), gpu(1, kind="mig"), gpu(2, kind="vfio"), gpu(3, kind="z")]
        ),
    )
    assert made.leaf_count == 1
    assert left_out(made) == [
        "1 x device of type mig: a part of a GPU is not a leaf (h-slice/gpu-1)",
        "1 x device of type vfio: a GPU handed to a virtual machine is not a leaf "
        "(h-slice/gpu-2)",
        "1 x device of type z: only type gpu is a leaf (h-slice/gpu-3)",
    ]


def test_taints_are_noted(tmp_path: Path) -> None:
    """A GPU with a health taint stays a leaf; the report names it."""
    lost, fine = gpu(0), gpu(1)
    lost["taints"] = [{"key": "gpu.nvidia.com/gpu-lost", "effect": "NoSchedule"}]
    fine["taints"] = [{"key": "gpu.nvidia.com/xid", "value": "43", "effect": "Odd"}]
    made = read(tmp_path, slice_("h", [lost, fine]))
    assert made.leaf_count == 2
    assert made.report is not None
    assert made.report.tainted == ("h/gpu-0",)
    why = "health is told to the planner; the GPU stays a leaf"
    assert left_out(made) == [
        f"1 x taint gpu.nvidia.com/gpu-lost:NoSchedule: {why} (h-slice/gpu-0)",
        f"1 x taint gpu.nvidia.com/xid:None: {why} (h-slice/gpu-1)",
    ]


def test_places(tmp_path: Path) -> None:
    """A GPU counts for the one host it is on; one of many hosts is left out."""
    single = gpu(0)
    single["nodeName"] = "h"
    spread = gpu(1)
    spread["allNodes"] = True
    made = read(
        tmp_path,
        slice_("p", [single, spread], nodeName=None, perDeviceNodeSelection=True),
        slice_("q", [gpu(0)], nodeName=None, allNodes=True),
    )
    assert made.names == ("h/gpu-0",)
    assert left_out(made) == [
        "2 x GPU: it belongs to no single host (p-slice/gpu-1, q-slice/gpu-0)"
    ]


def broken(path: str, value: Any) -> dict[str, Any]:
    """A good slice with one field replaced; dots lead down, ":" is a dot in a key."""
    made = slice_("h", [gpu(0, "0000:03:00.0"), gpu(1, "0000:04:00.0")])
    at: Any = made
    *way, last = [
        int(step) if step.isdigit() else step.replace(":", ".")
        for step in path.split(".")
    ]
    for step in way:
        at = at[step]
    at[last] = value
    return made


ATTRIBUTES = "spec.devices.0.attributes"
BUS = f"{ATTRIBUTES}.resource:kubernetes:io/pciBusID"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("apiVersion", "resource.k8s.io/v9", "apiVersion: must be resource.k8s.io/"),
        ("spec", [], "spec: must be a mapping"),
        ("spec.driver", 7, "spec.driver: must be a text"),
        ("spec.pool", None, "spec.pool: must be a mapping"),
        ("spec.pool.name", "", "spec.pool.name: must be of type str, got ''"),
        ("spec.pool.generation", "1", "spec.pool.generation: must be of type int"),
        ("spec.pool.resourceSliceCount", None, "resourceSliceCount: must be of type"),
        ("spec.nodeName", 12, "spec.nodeName: must be a text, got 12"),
        ("spec.nodeName", "", "exactly one of nodeName"),
        ("spec.allNodes", True, r"exactly one of .*\['nodeName', 'allNodes'\]"),
        ("spec.devices", {}, "spec.devices: must be a list"),
        ("spec.devices", "gpu", "spec.devices: must be a list"),
        ("spec.devices.0", "gpu", r"spec.devices\[0\]: must be a mapping with a name"),
        ("spec.devices.0.name", None, r"spec.devices\[0\]: must be a mapping with a"),
        (ATTRIBUTES, [], r"spec.devices\[0\].attributes: must be a mapping"),
        (f"{ATTRIBUTES}.type", "gpu", r"attributes\[type\]: must hold exactly one str"),
        (f"{ATTRIBUTES}.type", {"int": 3}, r"attributes\[type\]: must hold exactly"),
        (f"{ATTRIBUTES}.type", {"string": "gpu", "int": 1}, "must hold exactly one"),
        (f"{ATTRIBUTES}.productName", {"strings": ["a", "b"]}, "must hold exactly one"),
        (BUS, {"string": "slot 3"}, "'slot 3' is no PCI address"),
        ("spec.devices.1.name", "gpu-0", "host h has two GPUs named 'gpu-0'"),
        ("spec.devices.0.taints", "lost", r"devices\[0\].taints: must be a list"),
        ("spec.devices.0.taints", [{}], "each taint must be a mapping with a key"),
    ],
)
def test_bad_slices(tmp_path: Path, path: str, value: Any, words: str) -> None:
    """Each broken field is one TopologyError that names file, object and field."""
    row = broken(path, value)
    with pytest.raises(TopologyError, match=words) as caught:
        read(tmp_path, row)
    assert "slices.json" in str(caught.value)


def test_two_gpus_on_one_bus(tmp_path: Path) -> None:
    """One PCI address on one host is one GPU."""
    twins = [gpu(0, "0000:03:00.0"), gpu(1, "0000:03:00.0")]
    with pytest.raises(TopologyError, match="two GPUs at the place of 'gpu-0'"):
        read(tmp_path, slice_("h", twins))


def test_contradicting_slices(tmp_path: Path) -> None:
    """Two contents of one name and generation, or two counts of a pool, are refused."""
    with pytest.raises(TopologyError, match="two different slices of generation 1"):
        read(tmp_path, slice_("h", [gpu(0)]), slice_("h", [gpu(1)]))
    with pytest.raises(TopologyError, match="slices of pool h disagree"):
        read(
            tmp_path,
            slice_("h", [gpu(0)], count=2, name="a"),
            slice_("h", [gpu(1)], count=3, name="b"),
        )

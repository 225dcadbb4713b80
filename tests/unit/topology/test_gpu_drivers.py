"""GPUs of other vendors' DRA drivers, by the attributes that each of them publishes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, slice_, write

BUS = "resource.kubernetes.io/pciBusID"


def device(name: str, **attributes: Any) -> dict[str, Any]:
    """A device; a text or a whole number is written as the API does."""
    form = {str: "string", int: "int"}
    made = {key: {form[type(value)]: value} for key, value in attributes.items()}
    return {"name": name, "attributes": made}


def amd(card: int, bus: str, kind: str = "amdgpu", **more: Any) -> dict[str, Any]:
    """A device of gpu.amd.com."""
    made = device(
        f"gpu-{card}-{card + 128}",
        type=kind,
        productName="AMD_Instinct_MI300X_OAM",
        numaNode=0,
        partitionProfile="spx_nps1",
    )
    made["attributes"][BUS] = {"string": bus}
    return {**made, **more}


def intel(bus: str, model: str = "Max 1550", **more: Any) -> dict[str, Any]:
    """A device of gpu.intel.com, whose name is its address and product number."""
    name = bus.replace(":", "-").replace(".", "-") + "-0x0bd5"
    made = device(name, model=model, family="Data Center Max", driver="i915", **more)
    made["attributes"][BUS] = {"string": bus}
    return made


def read(tmp_path: Path, *objects: dict[str, Any]) -> Topology:
    """Compile objects from one file."""
    return Topology.read(write(tmp_path / "slices.json", *objects))


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def test_amd(tmp_path: Path) -> None:
    """Whole GPUs in bus order, typed by their product; parts are counted."""
    rows = [
        amd(3, "0000:9a:00.0"),
        amd(10, "0000:1a:00.0"),
        amd(4, "0001:05:00.0"),
        amd(7, "0002:05:00.0", kind="amdgpu-partition"),
        amd(8, "0002:05:00.0", kind="amdgpu-partition"),
        device("gpu-vfio-0", type="vfio", isVF=1),
    ]
    made = read(tmp_path, slice_("h", rows, driver="gpu.amd.com"))
    assert made.names == ("h/gpu-10-138", "h/gpu-3-131", "h/gpu-4-132")
    assert made.type_names == ("AMD_Instinct_MI300X_OAM",)
    assert made.nvlink_level is None
    assert left_out(made) == [
        "2 x device of type amdgpu-partition: a part of a GPU is not a leaf "
        "(h-slice/gpu-7-135, h-slice/gpu-8-136)",
        "1 x device of type vfio: a GPU handed to a virtual machine is not a leaf "
        "(h-slice/gpu-vfio-0)",
    ]


def test_amd_in_virtual_parts(tmp_path: Path) -> None:
    """Modes of one GPU exclude each other by a counter: the whole GPU is the leaf."""
    rows = []
    for mode, kind in (("spx-nps1", "amdgpu"), ("cpx-nps4", "amdgpu-partition")):
        row = device(f"gpu-0-{mode}", type=kind, pciAddr="0000:19:00.0")
        rows.append(
            row
            | {
                "consumesCounters": [
                    {
                        "counterSet": "gpu-0-mutex",
                        "counters": {"partition-mode": {"value": "1"}},
                    }
                ]
            }
        )
    # What the driver sets while the host is in the other mode.
    conflict = "gpu.amd.com/memory-partition-conflict"
    rows[0]["taints"] = [{"key": conflict, "effect": "NoExecute"}]
    counters = {"partition-mode": {"value": "1"}}
    made = read(
        tmp_path,
        slice_(
            "h",
            rows,
            driver="gpu.amd.com",
            sharedCounters=[{"name": "gpu-0-mutex", "counters": counters}],
        ),
    )
    assert made.names == ("h/gpu-0-spx-nps1",)
    assert made.report is not None
    assert made.report.tainted == made.names


def test_intel(tmp_path: Path) -> None:
    """No type attribute is needed; the model is the type."""
    rows = [
        intel("0000:b3:00.0"),
        intel("0000:0f:00.0"),
        intel("0000:21:00.0", type="gpu"),
        intel("0000:0f:00.1", type="vf"),
        device("old", model="Max 1550", pciAddress="0000:10:00.0"),
    ]
    made = read(tmp_path, slice_("h", rows, driver="gpu.intel.com"))
    assert made.names == (
        "h/0000-0f-00-0-0x0bd5",
        "h/old",
        "h/0000-21-00-0-0x0bd5",
        "h/0000-b3-00-0-0x0bd5",
    )
    assert made.type_names == ("Max-1550",)
    assert left_out(made) == [
        "1 x device of type vf: a part of a GPU is not a leaf "
        "(h-slice/0000-0f-00-1-0x0bd5)"
    ]


def test_types_are_of_their_driver(tmp_path: Path) -> None:
    """The word of one vendor means nothing to another, nor does a missing one."""
    one = device("a", type="gpu", productName="x")
    two = device("b", productName="x")
    made = read(
        tmp_path,
        slice_("h1", [one, two], driver="gpu.amd.com"),
        slice_("h2", [gpu(0), device("c", type="amdgpu")]),
    )
    assert made.names == ("h2/gpu-0",)
    assert left_out(made) == [
        "1 x device of type amdgpu: only type gpu is a leaf (h2-slice/c)",
        "1 x device of type gpu: only type amdgpu is a leaf (h1-slice/a)",
        "1 x device without a type: only type amdgpu is a leaf (h1-slice/b)",
    ]


def test_two_vendors_in_one_cluster(tmp_path: Path) -> None:
    """Pools are named after hosts by every driver, and are not mixed up."""
    rows = [
        slice_("h1", [amd(0, "0000:19:00.0")], driver="gpu.amd.com", name="a"),
        slice_("h1", [gpu(0, "0000:03:00.0")], name="b", generation=5),
        slice_("h2", [intel("0000:0f:00.0")], driver="gpu.intel.com"),
        slice_("h1", [], driver="dra.net", name="n", generation=9, count=4),
    ]
    made = read(tmp_path, *rows)
    assert made.names == ("h1/gpu-0", "h1/gpu-0-128", "h2/0000-0f-00-0-0x0bd5")
    assert made.types == (
        "NVIDIA-H100-80GB-HBM3",
        "AMD_Instinct_MI300X_OAM",
        "Max-1550",
    )


@pytest.mark.parametrize("name", ["type", "gpu.amd.com/type"])
def test_qualified_names(tmp_path: Path, name: str) -> None:
    """An attribute's name may have its driver's domain, and no other's."""
    row = device("a", pciAddr="0000:01:00.0")
    row["attributes"][name] = {"strings": ["amdgpu"]}
    row["attributes"]["gpu.nvidia.com/productName"] = {"string": "H100"}
    made = read(tmp_path, slice_("h", [row], driver="gpu.amd.com"))
    assert made.types == ("gpu",)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (amd(0, "here"), r"attributes\[pciBusID\]: 'here' is no PCI address"),
        (device("a", type=7), r"attributes\[type\]: must hold exactly one str"),
        (
            device("a", type="amdgpu", productName=7),
            r"attributes\[productName\]: must hold exactly one str",
        ),
    ],
)
def test_bad_devices(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    """Refused by file, object, field and rule, as those of any driver."""
    with pytest.raises(TopologyError, match=rf"h-slice: spec\.devices\[0\]\.{words}"):
        read(tmp_path, slice_("h", [row], driver="gpu.amd.com"))

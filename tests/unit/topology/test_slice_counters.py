"""Shared counters, partitions and MIG: one physical GPU is one leaf."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from phalanx_core.topology.readers.slice_counters import quantity
from tests.unit.topology.objects import gpu, node, slice_, write


def read(tmp_path: Path, *objects: dict[str, Any]) -> Topology:
    """Compile objects from one file."""
    return Topology.read(write(tmp_path / "slices.json", *objects))


def counters(name: str, **amounts: str) -> dict[str, Any]:
    """A set of shared counters."""
    return {"name": name, "counters": {key: {"value": v} for key, v in amounts.items()}}


def taking(device: dict[str, Any], name: str, **amounts: str) -> dict[str, Any]:
    """A device that consumes from a set."""
    rows = {key: {"value": value} for key, value in amounts.items()}
    device["consumesCounters"] = [{"counterSet": name, "counters": rows}]
    return device


def mig(name: str, parent: str) -> dict[str, Any]:
    """A MIG device of the GPU of a uuid."""
    attributes = {
        "type": {"string": "mig"},
        "profile": {"string": "1g.10gb"},
        "parentUUID": {"string": parent},
    }
    return {"name": name, "attributes": attributes}


def whole(minor: int, uuid: str) -> dict[str, Any]:
    """A whole GPU of a uuid."""
    made = gpu(minor)
    made["attributes"]["uuid"] = {"string": uuid}
    return made


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def notes(topology: Topology) -> tuple[str, ...]:
    """Notes of the report."""
    assert topology.report is not None
    return topology.report.notes


@pytest.mark.parametrize("shape", ["v1", "v1beta1"])
def test_whole_and_parts(tmp_path: Path, shape: str) -> None:
    """A GPU listed whole and in seven parts is one leaf, in new and old shape."""
    parts = [mig(f"gpu-0-mig-{at}", "GPU-a") for at in range(7)]
    for part in parts:
        taking(part, "gpu-0", memory="10Gi", slices="1")
    listed = [
        taking(whole(0, "GPU-a"), "gpu-0", memory="80Gi", slices="7"),
        *parts,
        whole(1, "GPU-b"),
    ]
    if shape == "v1beta1":
        listed = [{"name": d.pop("name"), "basic": d} for d in listed]
    row = slice_(
        "h", listed, sharedCounters=[counters("gpu-0", memory="80Gi", slices="7")]
    )
    row["apiVersion"] = f"resource.k8s.io/{shape}"
    made = read(tmp_path, row)
    assert made.names == ("h/gpu-0", "h/gpu-1")
    assert notes(made) == (
        "1 x GPU listed whole and in MIG parts: one leaf, the physical GPU (h/gpu-0)",
    )
    assert left_out(made) == [
        "7 x device of type mig: a part of a GPU is not a leaf (h-slice/gpu-0-mig-0, "
        "h-slice/gpu-0-mig-1, h-slice/gpu-0-mig-2, ...)"
    ]


def test_parts_alone(tmp_path: Path) -> None:
    """A GPU of which only parts are listed cannot be given whole: no leaf."""
    parts = [mig(f"gpu-0-mig-{at}", "GPU-a") for at in range(3)]
    made = read(tmp_path, slice_("h", [*parts, whole(1, "GPU-b")]))
    assert made.names == ("h/gpu-1",)
    assert left_out(made)[0] == (
        "1 x GPU cut in MIG parts: only its parts are listed, so it cannot be given "
        "whole (h)"
    )


def test_devices_that_exclude_each_other(tmp_path: Path) -> None:
    """Of GPUs that share counters the one that takes the most is the leaf."""
    halves = [
        taking(gpu(1), "set", memory="40Gi"),
        taking(gpu(2), "set", memory="40Gi"),
        taking(gpu(0), "set", memory="80Gi"),
        taking(gpu(3), "other", memory="80Gi"),
    ]
    made = read(
        tmp_path,
        slice_("h", halves, count=2, name="devices"),
        slice_(
            "h",
            [],
            count=2,
            name="counters",
            nodeName=None,
            sharedCounters=[
                counters("set", memory="80Gi"),
                counters("other", memory="80Gi"),
            ],
        ),
    )
    assert made.names == ("h/gpu-0", "h/gpu-3")
    assert left_out(made) == [
        "2 x device of type gpu: it shares counters with a GPU that is a leaf "
        "(devices/gpu-1, devices/gpu-2)"
    ]


def test_devices_that_fit_together(tmp_path: Path) -> None:
    """GPUs that share a set with room for all are all leaves."""
    both = [taking(gpu(at), "power", watts="700") for at in range(2)]
    row = slice_("h", both, sharedCounters=[counters("power", watts="1400")])
    assert read(tmp_path, row).leaf_count == 2
    row = slice_("h", both, sharedCounters=[counters("power", watts="1399")])
    assert read(tmp_path, row).names == ("h/gpu-0",)


def test_one_uuid_is_one_gpu(tmp_path: Path) -> None:
    """A uuid on two hosts, or twice on one, is refused, naming both places."""
    one = slice_("h1", [whole(0, "GPU-a"), whole(1, "GPU-b")])
    rule = (
        r"ResourceSlice h2-slice: spec\.devices\[0\]: GPU GPU-b is also h1/gpu-1: one "
        "GPU is one leaf"
    )
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, one, slice_("h2", [whole(3, "GPU-b")]))
    with pytest.raises(TopologyError, match="GPU GPU-a is also h1/gpu-0"):
        read(tmp_path, slice_("h1", [whole(0, "GPU-a"), whole(1, "GPU-a")]))


def test_mig_node_in_both_worlds(tmp_path: Path) -> None:
    """Parts as extended resources of a Node are no leaves beside its whole GPUs."""
    row = node("h", 1, "NVIDIA-A100-SXM4-80GB")
    row["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
    made = read(tmp_path, row)
    assert made.names == ("h/gpu-0",)
    assert left_out(made) == [
        "1 x resource nvidia.com/mig-1g.10gb: a part of a GPU is not a leaf (h)"
    ]


@pytest.mark.parametrize(
    ("shared", "consumes", "rule"),
    [
        ("x", [], None),
        ({}, [{"counterSet": "a", "counters": {}}], None),
        ("x", [{"counterSet": "a", "counters": {}}], "sharedCounters: must be a list"),
        ([7], "x", r"sharedCounters\[0\]: must be a mapping with name and counters"),
        ([], "x", r"devices\[0\]\.consumesCounters: must be a list"),
        ([], [7], r"consumesCounters\[0\]: must be a mapping with counterSet and"),
        (
            [],
            [{"counterSet": "a", "counters": {"m": {"value": "1"}}}],
            r"consumesCounters\[0\]: counter a/m is not in the pool's sharedCounters",
        ),
        (
            [],
            [{"counterSet": "a", "counters": {"m": "1"}}],
            r"counters\[m\]: must hold a value that is a quantity, got '1'",
        ),
        (
            [],
            [{"counterSet": "a", "counters": {"m": {"value": "-1"}}}],
            r"counters\[m\]: must hold a value that is a quantity",
        ),
        (
            [{"name": "a", "counters": {"m": {"value": "1"}}}] * 2,
            [{"counterSet": "a", "counters": {}}],
            r"sharedCounters\[1\]: counter a/m occurs twice in its pool",
        ),
    ],
)
def test_bad_counters(tmp_path: Path, shared: Any, consumes: Any, rule: Any) -> None:
    """Counters that no GPU uses are not read; each broken one is a TopologyError."""
    device = {**gpu(0), "consumesCounters": consumes}
    row = slice_("h", [device], sharedCounters=shared)
    if rule is None:
        assert read(tmp_path, row).leaf_count == 1
        return
    with pytest.raises(TopologyError, match=rule) as caught:
        read(tmp_path, row)
    assert "slices.json: ResourceSlice h-slice: spec." in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (7, 7),
        ("80Gi", 85_899_345_920),
        ("1.5Ki", 1536),
        ("0.5", Fraction(1, 2)),
        ("100m", Fraction(1, 10)),
        ("2u", Fraction(1, 500_000)),
        ("12E", 12 * 10**18),
        ("12E2", 1200),
        ("1e-3", Fraction(1, 1000)),
        (".5k", 500),
        ("-3", -3),
        ("", None),
        (".", None),
        ("1 Gi", None),
        ("1KiB", None),
        ("0x10", None),
        ("1e999", None),
        ("\u0663", None),
        (1.5, None),
        (True, None),
        (None, None),
    ],
)
def test_quantity(text: object, value: object) -> None:
    """Quantities are exact; what is none is None."""
    assert quantity(text) == value

"""Cases from the field about cluster files, by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phalanx_core import Gang, Misfit, Planner, Topology
from tests.unit.topology.objects import gpu, node, slice_, write


def _cut_gpu() -> dict[str, Any]:
    """A host whose first GPU is listed whole and in seven slices, and a second GPU."""
    listed = [gpu(0, "0000:3b:00.0"), gpu(1, "0000:d8:00.0")]
    amounts = {"memory": {"value": "80Gi"}, "slices": {"value": "7"}}
    for at, device in enumerate(listed):
        device["attributes"]["uuid"] = {"string": f"GPU-{at}"}
    listed[0]["consumesCounters"] = [{"counterSet": "gpu-0", "counters": amounts}]
    for at in range(7):
        part = gpu(0, kind="mig")
        part["name"] = f"gpu-0-mig-1g10gb-19-{at}"
        part["attributes"]["parentUUID"] = {"string": "GPU-0"}
        part["consumesCounters"] = [
            {"counterSet": "gpu-0", "counters": {"slices": {"value": "1"}}}
        ]
        listed.append(part)
    counters = [{"name": "gpu-0", "counters": amounts}]
    return slice_("h", listed, sharedCounters=counters)


def test_c25_a_gpu_and_its_slices_are_one_leaf(tmp_path: Path) -> None:
    """The whole GPU is given once; nothing is left of it for the seven slices."""
    topology = Topology.read(write(tmp_path / "slices.json", _cut_gpu()))
    assert topology.names == ("h/gpu-0", "h/gpu-1")
    planner = Planner(topology)
    assert planner.place("whole", Gang(1, limits={"gpu": [1, 0]}))
    refused = planner.place("slices", Gang(7))
    assert isinstance(refused, Misfit)
    assert planner.place("other", Gang(1)).leaves.tolist() == [1]
    assert isinstance(planner.place("more", Gang(1)), Misfit)
    assert topology.report is not None
    assert topology.report.notes == (
        "1 x GPU listed whole and in MIG parts: one leaf, the physical GPU (h/gpu-0)",
    )


def test_gpus_in_order_of_numbers(tmp_path: Path) -> None:
    """Short case: gpu-10 stands after gpu-2, by bus id, by minor and by name."""
    numbers = (10, 2, 1, 0, 11)
    by_bus = [gpu(n, f"0000:{n:02x}:00.0") for n in numbers]
    by_minor = [gpu(n) for n in numbers]
    by_name = [gpu(n) for n in numbers]
    for device in by_name:
        del device["attributes"]["minor"]
    expected = tuple(f"h/gpu-{n}" for n in (0, 1, 2, 10, 11))
    for devices in (by_bus, by_minor, by_name):
        path = write(tmp_path / "slices.json", slice_("h", devices))
        assert Topology.read(path).names == expected


def test_a_rack_name_in_two_blocks(tmp_path: Path) -> None:
    """Short case: labels need not be unique, "rack-1" of two blocks is two racks."""
    rows = [node(f"h{at}", 4, block=f"b{at}", rack="rack-1") for at in range(2)]
    topology = Topology.read(write(tmp_path / "nodes.json", *rows))
    assert topology.domain_names("rack") == ("b0/rack-1", "b1/rack-1")
    assert isinstance(Planner(topology).place("job", Gang(8, within="rack")), Misfit)


def test_hosts_without_a_label_form_no_domain(tmp_path: Path) -> None:
    """Short case: hosts whose domain is unknown are no domain together."""
    rows = [node("h1", 4, rack="r"), node("h2", 4), node("h3", 4)]
    topology = Topology.read(write(tmp_path / "nodes.json", *rows))
    planner = Planner(topology)
    assert isinstance(planner.place("wide", Gang(8, within="rack")), Misfit)
    placed = planner.place("one", Gang(4, within="rack"))
    assert placed.by_host().keys() == {"h1"}


def test_a_host_that_falls_to_six_gpus(tmp_path: Path) -> None:
    """Short case: allocatable still says 8, the slices show 6; 6 are leaves, and odd."""
    rows = [slice_(f"h{at}", [gpu(i) for i in range(8)]) for at in range(3)]
    rows.append(slice_("h3", [gpu(i) for i in (0, 1, 3, 4, 6, 7)]))
    nodes = [node(f"h{at}", 8) for at in range(4)]
    topology = Topology.read(write(tmp_path / "all.json", *rows, *nodes))
    assert topology.leaf_count == 30
    assert topology.report is not None
    assert [str(row) for row in topology.report.odd] == [
        "1 x host: most have 8 gpu (h3: 6)"
    ]
    assert topology.report.notes == (
        "1 x host whose allocatable and ResourceSlices differ: the slices are used "
        "(h3: 8 and 6 GPUs)",
    )

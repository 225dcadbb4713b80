"""Two sources about one cluster: what no tree holds is refused, the rest is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from phalanx_core.topology.readers.agreement import crossing
from tests.unit.topology.objects import gpu, node, slice_, write

CLIQUE = "nvidia.com/gpu.clique"


def tray(name: str, **labels: str) -> dict[str, Any]:
    """A Node of one GPU; ``clique`` and ``zone`` stand for their keys."""
    known = {"clique": CLIQUE, "zone": "topology.kubernetes.io/zone"}
    made = node(
        name, 1, "NVIDIA-GB200", **{k: v for k, v in labels.items() if k not in known}
    )
    made["metadata"]["labels"].update(
        {known[k]: v for k, v in labels.items() if k in known}
    )
    return made


def beside(tmp_path: Path, conf: str, *nodes: dict[str, Any]) -> Topology:
    """Compile Nodes beside a topology.conf."""
    (tmp_path / "topology.conf").write_text(conf)
    return Topology.read(
        [write(tmp_path / "n.json", *nodes), tmp_path / "topology.conf"]
    )


def told(topology: Topology) -> tuple[list[str], list[str]]:
    """What was left out, by name, and the notes without the directory."""
    assert topology.report is not None
    notes = [note.rsplit("/", 1)[-1] for note in topology.report.notes]
    return [name for row in topology.report.left_out for name in row.examples], notes


SWITCHES = (
    "SwitchName=s Nodes=h[1-4]\nSwitchName=t Nodes=h[5-6]\nSwitchName=u Switches=s,t\n"
)


def test_nvlink_domain_beside_switches(tmp_path: Path) -> None:
    """A network says nothing of NVLink: the clique becomes a level at its place."""
    rows = [tray(f"h{i}", clique=f"c.{(i + 1) // 2}", zone="z") for i in range(1, 7)]
    made = beside(tmp_path, SWITCHES, *rows)
    assert made.levels == ("gpu", "host", "clique", "switch-0", "switch-1")
    assert made.domain_of("clique").tolist() == [0, 0, 1, 1, 2, 2]
    assert made.nvlink_level == 2
    assert made.bandwidth[2] == 1800e9
    assert told(made) == (
        ["topology.kubernetes.io/zone"],
        ["topology.conf"],
    )


def test_nvlink_domain_over_switches(tmp_path: Path) -> None:
    """A clique of several switches stands above them, and below what holds it."""
    rows = [tray(f"h{i}", clique="c.1") for i in range(1, 7)]
    made = beside(tmp_path, SWITCHES, *rows)
    assert made.levels == ("gpu", "host", "switch-0", "clique", "switch-1")
    assert made.domain_count("clique") == 1


def test_nvlink_domain_that_cuts_a_switch(tmp_path: Path) -> None:
    """A clique half under one switch and half under another is in no tree."""
    rows = [tray(f"h{i}", clique="c.2" if i in (4, 5) else "c.1") for i in range(1, 7)]
    rule = r"Node h1: in switch-0 s by .*topology\.conf, in clique c\.1 by Node labels"
    with pytest.raises(TopologyError, match=rule):
        beside(tmp_path, SWITCHES, *rows)


def test_wide_labels_beside_switches(tmp_path: Path) -> None:
    """Labels that are coarser or finer than the switches contradict nothing."""
    rows = [tray(f"h{i}", zone="z", rack=f"r{i}") for i in range(1, 7)]
    made = beside(tmp_path, SWITCHES, *rows)
    assert made.levels == ("gpu", "host", "switch-0", "switch-1")
    left, notes = told(made)
    assert left == ["cloud.provider.com/topology-rack", "topology.kubernetes.io/zone"]
    assert notes == []


def test_hosts_of_one_source_only(tmp_path: Path) -> None:
    """What only one source knows cannot be contradicted."""
    rows = [tray("h1", rack="a"), tray("x1", rack="a"), tray("x2", rack="b")]
    conf = "SwitchName=s Nodes=h1\nSwitchName=t Nodes=y1\n"
    with pytest.raises(TopologyError, match="host y1: GPUs are not known"):
        beside(tmp_path, conf, *rows)
    made = beside(tmp_path, "SwitchName=s Nodes=h1\n", *rows)
    assert made.domain_of("switch-0").tolist() == [0, -1, -1]


def test_racks_of_one_name(tmp_path: Path) -> None:
    """Racks of two blocks that share a name are two racks, also for this check."""
    rows = [tray(f"h{i}", block=f"b{i > 2}", rack="r1") for i in range(1, 5)]
    conf = "SwitchName=s Nodes=h[1-2]\nSwitchName=t Nodes=h[3-4]\n"
    assert beside(tmp_path, conf, *rows).domain_count("switch-0") == 2
    # One rack of four hosts would hold both; one of h2 and h3 too crosses both.
    rows[0] = tray("h1", block="bFalse", rack="r0")
    rows[3] = tray("h4", block="bTrue", rack="r0")
    assert beside(tmp_path, conf, *rows).domain_count("switch-0") == 2


def test_counts_and_products_that_differ(tmp_path: Path) -> None:
    """A Node of 8 GPUs whose slices show 6 is a note; so is another product."""
    rows = [slice_(f"h{at}", [gpu(i) for i in range(6)]) for at in range(5)]
    nodes = [node(f"h{at}", 8) for at in range(4)]
    nodes.append(node("h4", 6, "NVIDIA-A100-SXM4-80GB"))
    made = Topology.read(write(tmp_path / "all.json", *rows, *nodes))
    assert made.leaf_count == 30
    assert told(made)[1] == [
        "1 x host whose label and ResourceSlices name two products: the slices' is used "
        "(h4: NVIDIA-A100-SXM4-80GB and NVIDIA-H100-80GB-HBM3)",
        "4 x host whose allocatable and ResourceSlices differ: the slices are used (h0: "
        "8 and 6 GPUs, h1: 8 and 6 GPUs, h2: 8 and 6 GPUs, ...)",
    ]


LABELS = st.lists(st.integers(0, 3), min_size=6, max_size=6)


@given(LABELS, LABELS)
def test_crossing_by_sets(one: list[int], other: list[int]) -> None:
    """Two partitions cross iff two of their sets overlap and neither holds the other."""
    first = {f"h{at}": (str(label),) for at, label in enumerate(one)}
    second = {f"h{at}": (str(label),) for at, label in enumerate(other)}
    found = set()
    for host in first:
        ours = {h for h in first if first[h] == first[host]}
        theirs = {h for h in second if second[h] == second[host]}
        if not (ours <= theirs or theirs <= ours):
            found.add(host)
    assert crossing(first, second) == (min(found) if found else None)
    assert crossing(second, first) == (min(found) if found else None)

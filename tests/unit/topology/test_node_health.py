"""Cordons and taints of Nodes: facts of the report, by leaf name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core import Gang, Misfit, Planner
from phalanx_core.errors import TopologyError
from phalanx_core.topology import CompileReport, Topology
from tests.unit.topology.objects import gpu, node, slice_, write


def ill(name: str, *taints: tuple[str, str], cordon: bool = False) -> dict[str, Any]:
    """A Node of one GPU with taints of (key, effect)."""
    made = node(name, 1)
    rows = [{"key": key, "effect": effect} for key, effect in taints]
    made["spec"] = {"taints": rows, **({"unschedulable": True} if cordon else {})}
    return made


def report(tmp_path: Path, *objects: dict[str, Any], **options: Any) -> CompileReport:
    """Report on objects of one file."""
    made = Topology.read(write(tmp_path / "all.json", *objects), **options)
    assert made.report is not None
    return made.report


def test_what_a_taint_means(tmp_path: Path) -> None:
    """NoSchedule cordons, NoExecute means down, the usual GPU taint means nothing."""
    found = report(
        tmp_path,
        ill("h1", ("nvidia.com/gpu", "NoSchedule")),
        ill("h2", ("node.kubernetes.io/unschedulable", "NoSchedule"), cordon=True),
        ill("h3", ("example.com/maintenance", "NoSchedule")),
        ill("h4", ("node.kubernetes.io/unreachable", "NoExecute")),
        ill("h5", ("example.com/old", "PreferNoSchedule"), ("x", "Whatever")),
        ill("h6", ("a", "NoSchedule"), ("b", "NoExecute")),
        ill("h7", cordon=True),
    )
    assert found.leaves == 7
    assert found.cordoned == ("h2/gpu-0", "h3/gpu-0", "h6/gpu-0", "h7/gpu-0")
    assert found.tainted == ("h4/gpu-0", "h6/gpu-0")
    assert found.notes == (
        "1 x host cordoned at its source by taint a:NoSchedule (h6)",
        "1 x host cordoned at its source by taint example.com/maintenance:NoSchedule "
        "(h3)",
        "1 x host down at its source by taint b:NoExecute (h6)",
        "1 x host down at its source by taint "
        "node.kubernetes.io/unreachable:NoExecute (h4)",
        "2 x host cordoned at its source by spec.unschedulable (h2, h7)",
    )
    text = str(found)
    assert "unhealthy  2 leaves by their source (h4/gpu-0, h6/gpu-0)" in text
    assert (
        "cordoned  4 leaves by their source (h2/gpu-0, h3/gpu-0, h6/gpu-0, ...)" in text
    )
    assert found.to_dict()["cordoned"] == found.cordoned


def test_tolerated_keys(tmp_path: Path) -> None:
    """The mark of a pool is no health; a cordon cannot be tolerated away."""
    rows = [
        ill("h1", ("dedicated", "NoSchedule")),
        ill("h2", ("dedicated", "NoExecute"), ("sku", "NoSchedule"), cordon=True),
    ]
    found = report(tmp_path, *rows, tolerate=["dedicated", "sku"])
    assert (found.cordoned, found.tainted) == (("h2/gpu-0",), ())
    found = report(tmp_path, *rows, tolerate=["sku"])
    assert found.cordoned == ("h1/gpu-0", "h2/gpu-0")
    assert found.tainted == ("h2/gpu-0",)


def test_gpus_of_slices(tmp_path: Path) -> None:
    """A host's mark holds for the GPUs its slices list; a lost GPU keeps its own."""
    lost = gpu(1)
    lost["taints"] = [{"key": "gpu.nvidia.com/gpu-lost", "effect": "NoSchedule"}]
    found = report(
        tmp_path,
        slice_("h1", [gpu(0), lost]),
        slice_("h2", [gpu(0), gpu(1)]),
        ill("h1"),
        ill("h2", ("node.kubernetes.io/not-ready", "NoExecute"), cordon=True),
    )
    assert found.tainted == ("h1/gpu-1", "h2/gpu-0", "h2/gpu-1")
    assert found.cordoned == ("h2/gpu-0", "h2/gpu-1")


def test_hosts_without_gpus_are_silent(tmp_path: Path) -> None:
    """The taint of a control plane is not told: none of its leaves is compiled."""
    control = ill("master", ("node-role.kubernetes.io/control-plane", "NoSchedule"))
    control["status"] = {}
    found = report(tmp_path, control, node("h1", 1))
    assert found.cordoned == ()
    assert found.notes == ()


def test_the_planner_is_told(tmp_path: Path) -> None:
    """The report's names go to the planner as they are."""
    path = write(
        tmp_path / "n.json", ill("h1", cordon=True), ill("h2", ("a", "NoExecute"))
    )
    topology = Topology.read(path)
    planner = Planner(topology)
    assert topology.report is not None
    planner.fail(topology.report.tainted)
    planner.cordon(topology.report.cordoned)
    refused = planner.place("job", Gang(1))
    assert isinstance(refused, Misfit)
    assert "1 down, 1 cordoned" in refused.reason
    planner.uncordon(topology.report.cordoned)
    assert planner.place("job", Gang(1)).by_host() == {"h1": [(0, "h1/gpu-0")]}


def test_two_copies_of_a_node(tmp_path: Path) -> None:
    """Where two copies of one Node differ in health, the worse counts, with a note."""
    well, bad = ill("h1"), ill("h1", ("a", "NoExecute"), cordon=True)
    for rows in ((well, bad), (bad, well)):
        found = report(tmp_path, *rows)
        assert (found.leaves, found.hosts) == (1, 1)
        assert (found.tainted, found.cordoned) == (("h1/gpu-0",), ("h1/gpu-0",))
    # The second copy that is no worse says nothing new.
    found = report(tmp_path, well, bad)
    assert found.notes[0] == (
        "1 x Node whose copies differ in health: the worse counts (h1)"
    )


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        ([], "Node h: spec: must be a mapping"),
        ({"unschedulable": "yes"}, r"spec\.unschedulable: must be true or false, got"),
        ({"taints": {}}, r"spec\.taints: must be a list"),
        ({"taints": ["a"]}, r"spec\.taints\[0\]: must be a mapping with a key"),
        (
            {"taints": [{"effect": "NoSchedule"}]},
            r"spec\.taints\[0\]: must be a mapping",
        ),
        ({"taints": [{"key": "a\x1b"}]}, r"spec\.taints\[0\]: .* of printable text"),
    ],
)
def test_bad_health(tmp_path: Path, spec: Any, rule: str) -> None:
    """Each broken field is one TopologyError that names file, object and field."""
    with pytest.raises(TopologyError, match=rule):
        report(tmp_path, {**node("h", 1), "spec": spec})


def test_null_fields(tmp_path: Path) -> None:
    """A field that is null is one that is not there."""
    for spec in (None, {"unschedulable": None, "taints": None}, {}):
        found = report(tmp_path, {**node("h", 1), "spec": spec})
        assert (found.cordoned, found.tainted) == ((), ())

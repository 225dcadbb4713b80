"""DeviceTaintRules: taints of an administrator count as those of the driver do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core import Planner
from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, node, slice_, write

WHY = "health is told to the planner; the GPU stays a leaf"


def rule(
    name: str,
    selector: dict[str, Any] | None,
    effect: str = "NoExecute",
    key: str = "example.com/dead",
    version: str = "v1beta2",
) -> dict[str, Any]:
    """A DeviceTaintRule; ``selector`` None leaves it out."""
    spec: dict[str, Any] = {"taint": {"key": key, "value": "x", "effect": effect}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name, "generation": 1},
        "spec": spec,
        "status": {"conditions": [{"type": "EvictionInProgress"}]},
    }


def read(tmp_path: Path, *objects: dict[str, Any], **options: Any) -> Topology:
    """Compile two hosts of two GPUs, and these objects before them."""
    hosts = [slice_(name, [gpu(0), gpu(1)]) for name in ("h1", "h2")]
    return Topology.read(write(tmp_path / "a.json", *objects, *hosts), **options)


ALL = ("h1/gpu-0", "h1/gpu-1", "h2/gpu-0", "h2/gpu-1")


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta2"])
@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ({"pool": "h1", "device": "gpu-1"}, ("h1/gpu-1",)),
        ({"driver": "gpu.nvidia.com", "pool": "h2"}, ("h2/gpu-0", "h2/gpu-1")),
        ({"device": "gpu-0"}, ("h1/gpu-0", "h2/gpu-0")),
        ({"driver": "gpu.nvidia.com"}, ALL),
        # The API's words: the empty selector matches all devices, none matches none.
        ({}, ALL),
        ({"pool": None, "selectors": []}, ALL),
        (None, ()),
        ({"driver": "dra.net", "pool": "h1"}, ()),
        ({"pool": "h3"}, ()),
        ({"pool": "h1", "device": "gpu-9"}, ()),
    ],
)
def test_what_is_selected(
    tmp_path: Path, version: str, selector: Any, names: tuple[str, ...]
) -> None:
    """All criteria that are set must hold."""
    made = read(tmp_path, rule("r", selector, version=version))
    assert made.names == ALL
    assert made.report is not None
    assert made.report.tainted == names
    (entry,) = made.report.left_out
    if names:
        assert (entry.what, entry.why, entry.count) == (
            "taint example.com/dead:NoExecute by DeviceTaintRule r",
            WHY,
            len(names),
        )
        return
    why = "it has no deviceSelector, so it selects nothing"
    if selector is not None:
        why = "it selects no GPU of these ResourceSlices"
    assert str(entry) == f"1 x DeviceTaintRule: {why} (r)"


@pytest.mark.parametrize(
    ("effect", "known", "names"),
    [
        ("NoSchedule", "NoSchedule", ("h1/gpu-0",)),
        ("NoExecute", "NoExecute", ("h1/gpu-0",)),
        ("None", "None", ()),
        ("Odd", "None", ()),
    ],
)
def test_effects(
    tmp_path: Path, effect: str, known: str, names: tuple[str, ...]
) -> None:
    """As of a taint in a slice: an effect that is not known has no consequences."""
    one = {"pool": "h1", "device": "gpu-0"}
    made = read(tmp_path, rule("r", one, effect))
    assert made.report is not None
    assert made.report.tainted == names
    assert [str(entry) for entry in made.report.left_out] == [
        f"1 x taint example.com/dead:{known} by DeviceTaintRule r: {WHY} "
        "(h1-slice/gpu-0)"
    ]
    planner = Planner(made)
    planner.fail(made.report.tainted)
    assert planner.validate() is None


def test_tolerated(tmp_path: Path) -> None:
    """A key that says nothing of health, of a rule or of a driver, marks nothing."""
    lost = gpu(0)
    lost["taints"] = [{"key": "mode.example.com/conflict", "effect": "NoExecute"}]
    rows = [
        rule("team", {"pool": "h1"}, "NoSchedule", key="dedicated"),
        slice_("h3", [lost]),
    ]
    made = read(tmp_path, *rows, tolerate=["dedicated", "mode.example.com/conflict"])
    assert made.report is not None
    assert made.report.tainted == ()
    assert [str(entry) for entry in made.report.left_out] == [
        "2 x taint dedicated:NoSchedule by DeviceTaintRule team: it is tolerated "
        "(h1-slice/gpu-0, h1-slice/gpu-1)",
        "1 x taint mode.example.com/conflict:NoExecute: it is tolerated "
        "(h3-slice/gpu-0)",
    ]
    made = read(tmp_path, *rows)
    assert made.report is not None
    assert made.report.tainted == ("h1/gpu-0", "h1/gpu-1", "h3/gpu-0")


def test_a_rule_of_two_files(tmp_path: Path) -> None:
    """A copy counts once; of two states of one rule both count, and so the worse does."""
    one = rule("r", {"pool": "h1"}, "None")
    other = write(tmp_path / "b.json", one, rule("r", {"pool": "h1"}, "NoExecute"))
    slices = write(tmp_path / "a.json", one, slice_("h1", [gpu(0)]))
    for paths in ([slices, other], [other, slices]):
        report = Topology.read(paths).report
        assert report is not None
        assert report.tainted == ("h1/gpu-0",)
        assert [(entry.what, entry.count) for entry in report.left_out] == [
            ("taint example.com/dead:NoExecute by DeviceTaintRule r", 1),
            ("taint example.com/dead:None by DeviceTaintRule r", 1),
        ]


def test_criteria_that_are_not_known(tmp_path: Path) -> None:
    """A class or an expression could select less than the rest, so nothing is marked."""
    cel = [{"cel": {"expression": "device.attributes.x"}}]
    made = read(
        tmp_path,
        rule("a", {"pool": "h1", "deviceClassName": "big"}, version="v1alpha3"),
        rule("b", {"selectors": cel}, version="v1alpha3"),
    )
    assert made.report is not None
    assert made.report.tainted == ()
    assert [str(entry) for entry in made.report.left_out] == [
        "2 x DeviceTaintRule: it selects by more than driver, pool and device (a, b)"
    ]


def test_without_slices(tmp_path: Path) -> None:
    """A Node's count has neither pools nor devices, so a rule marks none of its GPUs."""
    made = Topology.read(write(tmp_path / "a.json", node("h1", 2), rule("r", {})))
    assert made.report is not None
    assert made.report.tainted == ()
    assert [str(entry) for entry in made.report.left_out] == [
        "1 x DeviceTaintRule: it selects no GPU of these ResourceSlices (r)"
    ]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("apiVersion", "resource.k8s.io/v9", "apiVersion: must be resource.k8s.io/ wi"),
        ("apiVersion", None, "apiVersion: must be resource.k8s.io/ with one of"),
        ("spec", 7, "spec: must be a mapping"),
        ("spec.taint", None, "spec.taint: must be a mapping with a printable key"),
        ("spec.taint.key", "", "spec.taint: must be a mapping with a printable key"),
        ("spec.taint.key", "a\x1b", "spec.taint: must be a mapping with a printable"),
        ("spec.deviceSelector", [], "spec.deviceSelector: must be a mapping"),
        ("spec.deviceSelector.pool", 7, "deviceSelector.pool: must be a text, got 7"),
        ("spec.deviceSelector.device", "", "deviceSelector.device: must be a text"),
    ],
)
def test_bad_rules(tmp_path: Path, path: str, value: Any, words: str) -> None:
    """Each is refused by file, object, field and rule."""
    made = rule("r", {"pool": "h1"})
    *parents, key = path.split(".")
    inner = made
    for parent in parents:
        inner = inner[parent]
    inner[key] = value
    with pytest.raises(TopologyError, match=rf"a\.json: DeviceTaintRule r: .*{words}"):
        read(tmp_path, made)

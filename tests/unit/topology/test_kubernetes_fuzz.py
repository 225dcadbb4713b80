"""Whatever a file holds, a reader of Kubernetes objects refuses or compiles it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, node, slice_, topology, write

FIXTURE = [HealthCheck.function_scoped_fixture]


def selected() -> dict[str, Any]:
    """A slice with all that a slice may hold."""
    device = gpu(3, "0000:0a:00.0")
    device["attributes"]["uuid"] = {"strings": ["GPU-3"]}
    device["taints"] = [{"key": "gpu.nvidia.com/xid", "effect": "NoSchedule"}]
    device["nodeSelector"] = {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {
                        "key": "kubernetes.io/hostname",
                        "operator": "In",
                        "values": ["h2"],
                    }
                ]
            }
        ]
    }
    device["consumesCounters"] = [
        {"counterSet": "set", "counters": {"memory": {"value": "80Gi"}}}
    ]
    part = gpu(4, kind="mig")
    part["attributes"]["parentUUID"] = {"string": "GPU-3"}
    part["nodeName"] = "h2"
    counters = [{"name": "set", "counters": {"memory": {"value": "80Gi"}}}]
    return slice_(
        "h2",
        [device, part],
        nodeName=None,
        perDeviceNodeSelection=True,
        sharedCounters=counters,
    )


def ill() -> dict[str, Any]:
    """A Node with all that a Node may hold."""
    made = node("h1", 2, rack="r", block="b")
    made["metadata"]["labels"]["nvidia.com/gpu.clique"] = "c.1"
    taints = [{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoSchedule"}]
    made["spec"] = {"unschedulable": True, "taints": taints}
    made["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
    return made


def other(driver: str, **attributes: str) -> dict[str, Any]:
    """A slice of another vendor's driver."""
    made = {key: {"string": value} for key, value in attributes.items()}
    return slice_(
        "h3", [{"name": driver, "attributes": made}], driver=driver, name=driver
    )


RACK = "cloud.provider.com/topology-rack"
BASE = [
    ill(),
    node("h2", 8, rack="r"),
    slice_("h1", [gpu(0), gpu(1)], generation=2),
    slice_("h1", [gpu(0)], generation=1, name="old"),
    selected(),
    other("gpu.amd.com", type="amdgpu", productName="MI300X", pciAddr="0000:1a:00.0"),
    other("gpu.intel.com", model="Max 1550", pciAddress="0000:1b:00.0"),
    other("dra.net", ifName="eth0"),
    {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "dead"},
        "spec": {
            "deviceSelector": {"driver": "gpu.nvidia.com", "pool": "h1"},
            "taint": {"key": "example.com/dead", "effect": "NoExecute"},
        },
    },
    topology(RACK, "kubernetes.io/hostname"),
    topology((RACK, "cage"), group="kai.scheduler", version="v1alpha1", name="k"),
]
TEXTS = st.sampled_from(
    ["", "gpu", "mig", "h1", "h2", "r", "x/y", "-1", "8", "40Gi", "\x1b[2J", "\u00e9"]
) | st.text(max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 10)
    | st.integers()
    | st.floats()
    | TEXTS
)
KINDS = ["Node", "ResourceSlice", "DeviceTaintRule"]
KEYS = st.sampled_from(
    [
        *("kind", "apiVersion", "metadata", "spec", "name", "labels", "driver", "pool"),
        *("devices", "basic", "attributes", "nodeName", "levels", "nodeLabel", "alias"),
        *("taint", "deviceSelector", "device"),
        *("taints", "key", "effect", "string", "strings", "int", "type", "allocatable"),
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    rows = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    found = [(value, key) for key, _ in rows]
    for _, inner in rows:
        found += places(inner)
    return found


@st.composite
def broken(draw: st.DrawFn) -> list[Any]:
    """The good objects with up to three values replaced, removed or doubled."""
    objects = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        spots = places(objects)
        container, key = spots[draw(st.integers(0, len(spots) - 1))]
        change = draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        if change == "remove":
            del container[key]
        elif change == "double" and isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            container[key] = draw(VALUES)
        if not objects:
            return [draw(VALUES)]
    return objects


def check(path: Path, **options: Any) -> bool:
    """Compile, or be refused by one line that could be shown; whether it compiled."""
    try:
        made = Topology.read(path, **options)
    except TopologyError as error:
        message = str(error)
    else:
        _check_report(made)
        return True
    assert message.isprintable()
    assert len(message) < 4000
    return False


def _check_report(made: Topology) -> None:
    """A report that can be shown, and names leaves of the topology."""
    assert made.report is not None
    assert made.leaf_count == made.report.leaves > 0
    assert set(made.report.tainted) <= set(made.names)
    assert set(made.report.cordoned) <= set(made.names)
    assert all(line.isprintable() for line in str(made.report).split("\n"))
    assert json.loads(json.dumps(made.report.to_dict()))["leaves"] == made.leaf_count


def test_the_base_compiles(tmp_path: Path) -> None:
    """Unbroken, the objects compile either way, so that breaking them tells."""
    path = write(tmp_path / "base.json", *BASE)
    for name in ("default", "k"):
        assert check(path, topology=name)
    made = Topology.read(path, topology="k")
    assert made.names == (
        *("h1/gpu-0", "h1/gpu-1", "h2/gpu-3"),
        *("h3/gpu.amd.com", "h3/gpu.intel.com"),
    )
    assert made.levels == ("gpu", "host", "cage", "cluster")


@given(broken(), st.sampled_from(["default", "k", None]))
@settings(max_examples=600, suppress_health_check=FIXTURE)
def test_broken_objects(tmp_path: Path, objects: list[Any], name: str | None) -> None:
    """Only TopologyError, whatever value stands in whatever place."""
    listed = {"kind": "List", "items": objects}
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(listed, allow_nan=True), encoding="utf-8")
    check(path, topology=name)


@given(st.lists(VALUES, max_size=3), KEYS, st.sampled_from(KINDS))
@settings(max_examples=300, suppress_health_check=FIXTURE)
def test_objects_of_any_shape(
    tmp_path: Path, values: list[Any], key: str, kind: str
) -> None:
    """Only TopologyError from objects that are little more than a kind."""
    rows = [{"kind": kind, "metadata": {"name": "h"}, key: value} for value in values]
    group = {"apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology"}
    rows += [{**group, "metadata": {"name": "t"}, key: value} for value in values]
    path = tmp_path / "any.json"
    path.write_text(json.dumps(rows[0] if len(rows) == 1 else {"items": rows}))
    check(path)
    path.write_text(json.dumps({"kind": "List", "items": rows}))
    check(path)


@given(st.binary(max_size=60), st.sampled_from(["", "{", "[", "kind: Node\n", "---\n"]))
@settings(max_examples=300, suppress_health_check=FIXTURE)
@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_any_bytes(tmp_path: Path, suffix: str, raw: bytes, start: str) -> None:
    """Only TopologyError from any bytes."""
    path = tmp_path / f"bytes{suffix}"
    path.write_bytes(start.encode() + raw)
    check(path)


@given(st.data())
@settings(max_examples=200, suppress_health_check=FIXTURE)
def test_damaged_text(tmp_path: Path, data: st.DataObject) -> None:
    """Only TopologyError from a good file with a few bytes changed or cut away."""
    raw = bytearray(json.dumps({"kind": "List", "items": BASE}).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        if data.draw(st.booleans()):
            raw[at] = data.draw(st.integers(0, 255))
        else:
            del raw[at : at + data.draw(st.integers(1, 40))]
    path = tmp_path / "damaged.json"
    path.write_bytes(bytes(raw))
    check(path, topology="default")

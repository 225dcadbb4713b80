"""On which host a device is: by name, by a selector of one host, or on none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, node, slice_, write

HOSTNAME = "kubernetes.io/hostname"


def read(tmp_path: Path, *objects: dict[str, Any]) -> Topology:
    """Compile objects from one file."""
    return Topology.read(write(tmp_path / "slices.json", *objects))


def selector(form: str, key: str, *values: str, operator: str = "In") -> dict[str, Any]:
    """A node selector of one term."""
    row = {"key": key, "operator": operator, "values": list(values)}
    return {"nodeSelectorTerms": [{form: [row]}]}


def selected(value: Any) -> dict[str, Any]:
    """A slice of one GPU that a selector places."""
    return slice_("p", [gpu(0)], nodeName=None, nodeSelector=value)


@pytest.mark.parametrize(
    "value",
    [
        selector("matchExpressions", HOSTNAME, "h"),
        selector("matchFields", "metadata.name", "h"),
    ],
)
def test_selector_of_one_host(tmp_path: Path, value: dict[str, Any]) -> None:
    """A selector that allows one host by name is as good as its name."""
    assert read(tmp_path, selected(value)).names == ("h/gpu-0",)


def test_hostname_is_not_the_name(tmp_path: Path) -> None:
    """A Node's label says which Node has a host name."""
    row = node("node-7", None, rack="r")
    row["metadata"]["labels"][HOSTNAME] = "h"
    value = selector("matchExpressions", HOSTNAME, "h")
    made = read(tmp_path, selected(value), row)
    assert made.names == ("node-7/gpu-0",)
    assert made.domain_names("rack") == ("r",)


def test_hostname_of_two_nodes(tmp_path: Path) -> None:
    """A host name that two Nodes have selects no single host, whatever their order."""
    rows = [node(name, None) for name in ("n1", "n2", "n3")]
    for row in rows:
        row["metadata"]["labels"][HOSTNAME] = "h"
    value = selector("matchExpressions", HOSTNAME, "h")
    for order in (rows, rows[::-1], rows[:2]):
        made = read(tmp_path, *order, selected(value), slice_("x", [gpu(0)]))
        assert made.names == ("x/gpu-0",)


@pytest.mark.parametrize(
    "value",
    [
        selector("matchExpressions", HOSTNAME, "h", "i"),
        selector("matchExpressions", HOSTNAME, "h", operator="NotIn"),
        selector("matchExpressions", "example.com/rack", "r"),
        selector("matchExpressions", HOSTNAME, ""),
        {"nodeSelectorTerms": [{}]},
    ],
)
def test_selector_of_many(tmp_path: Path, value: dict[str, Any]) -> None:
    """A GPU that several hosts may use is left out, and said."""
    made = read(tmp_path, selected(value), slice_("x", [gpu(0)]))
    assert made.names == ("x/gpu-0",)
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "1 x GPU: it belongs to no single host (p-slice/gpu-0)"
    ]


def test_each_device_says_where(tmp_path: Path) -> None:
    """Devices of one slice may be on many hosts, in new and old shape."""
    by_name, by_selector, everywhere = gpu(0), gpu(1), gpu(2)
    by_name["nodeName"] = "h1"
    by_selector["nodeSelector"] = selector("matchExpressions", HOSTNAME, "h2")
    everywhere["allNodes"] = True
    devices = [by_name, by_selector, everywhere]
    old = [{"name": d["name"], "basic": d} for d in devices]
    for shape, listed in (("v1", devices), ("v1beta1", old)):
        row = slice_("p", listed, nodeName=None, perDeviceNodeSelection=True)
        row["apiVersion"] = f"resource.k8s.io/{shape}"
        made = read(tmp_path, row)
        assert made.names == ("h1/gpu-0", "h2/gpu-1")
        assert made.report is not None
        assert made.report.left_out[0].examples == ("p-slice/gpu-2",)


ONE = r"exactly one of nodeName, nodeSelector, allNodes is needed, got"


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ("x", r"spec\.nodeSelector\.nodeSelectorTerms: must be a list of one"),
        ({"nodeSelectorTerms": []}, "nodeSelectorTerms: must be a list of one"),
        ({"nodeSelectorTerms": [{}, {}]}, "nodeSelectorTerms: must be a list of one"),
        ({"nodeSelectorTerms": [7]}, r"nodeSelectorTerms\[0\]: must be a mapping"),
        (
            {"nodeSelectorTerms": [{"matchExpressions": {}}]},
            r"matchExpressions: must be a list",
        ),
        (
            {"nodeSelectorTerms": [{"matchFields": [3]}]},
            r"matchFields\[0\]: must be a mapping",
        ),
        (
            selector("matchExpressions", HOSTNAME, "a\x1b"),
            r"values\[0\]: must be a printable text, got 'a\\x1b'",
        ),
    ],
)
def test_bad_selectors(tmp_path: Path, value: Any, rule: str) -> None:
    """Each broken selector is one TopologyError that names file, object and field."""
    with pytest.raises(TopologyError, match=rule) as caught:
        read(tmp_path, selected(value))
    assert "slices.json: ResourceSlice p-slice: spec." in str(caught.value)


def test_exactly_one_way(tmp_path: Path) -> None:
    """A slice says in one way where it is, and so does each device of its own."""
    with pytest.raises(
        TopologyError, match=r"spec: exactly one of nodeName, .*got \[\]"
    ):
        read(tmp_path, slice_("h", [gpu(0)], nodeName=None))
    device = gpu(0)
    row = slice_("h", [device], nodeName=None, perDeviceNodeSelection=True)
    with pytest.raises(TopologyError, match=rf"devices\[0\]: {ONE} \[\]"):
        read(tmp_path, row)
    device.update(nodeName="h", allNodes=True)
    with pytest.raises(TopologyError, match=rf"devices\[0\]: {ONE} \['nodeName', 'all"):
        read(tmp_path, row)
    device.update(nodeName=7, allNodes=False)
    rule = r"devices\[0\]\.nodeName: must be a text, got 7"
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, row)

"""Kueue's Topology: its keys name the levels; every rule of the list is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import gpu, node, slice_, topology, write

BLOCK = "cloud.provider.com/topology-block"
RACK = "cloud.provider.com/topology-rack"
HOSTNAME = "kubernetes.io/hostname"
NODES = [
    node("h1", 2, block="b1", rack="r1"),
    node("h2", 2, block="b1", rack="r2"),
    node("h3", 2, block="b2", rack="r1"),
    node("h4", 2, block="b2", rack="r1"),
]


def read(tmp_path: Path, *objects: dict[str, Any], **options: Any) -> Topology:
    """Compile the Nodes and some objects from one file."""
    return Topology.read(write(tmp_path / "all.json", *NODES, *objects), **options)


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1beta2"])
def test_levels_of_every_version(tmp_path: Path, version: str) -> None:
    """The list's order is the tree's, broadest first; the host is always a level."""
    made = read(tmp_path, topology(BLOCK, RACK, HOSTNAME, version=version))
    assert made.levels == ("gpu", "host", "rack", "block", "cluster")
    assert made.domain_of("rack").tolist() == [0, 0, 1, 1, 2, 2, 2, 2]
    assert made.domain_names("rack") == ("b1/r1", "r2", "b2/r1")


def test_only_the_listed_keys(tmp_path: Path) -> None:
    """Known keys that the list leaves away make no level."""
    made = read(tmp_path, topology(RACK))
    assert made.levels == ("gpu", "host", "rack", "cluster")
    assert made.domain_count("rack") == 2
    assert read(tmp_path, topology(HOSTNAME)).levels == ("gpu", "host", "cluster")


def test_hosts_without_a_label(tmp_path: Path) -> None:
    """A host without a listed label has no domain there, and the report says so."""
    made = read(tmp_path, topology(BLOCK, RACK), node("h5", 1), slice_("h6", [gpu(0)]))
    assert made.domain_of("rack").tolist() == [0, 0, 1, 1, 2, 2, 2, 2, -1, -1]
    assert made.report is not None
    assert made.report.notes == (
        "1 hosts of ResourceSlices have no Node object, so no labels",
        "1 of 5 hosts have no block: they serve no constraint of that level",
        "1 of 5 hosts have no rack: they serve no constraint of that level",
    )


def test_list_of_kind_topology_list(tmp_path: Path) -> None:
    """Items of a TopologyList leave kind and version to the list."""
    item = topology(RACK)
    listed = {"apiVersion": item.pop("apiVersion"), "kind": f"{item.pop('kind')}List"}
    path = tmp_path / "list.json"
    path.write_text(json.dumps({**listed, "items": [item]}))
    made = Topology.read([path, write(tmp_path / "nodes.json", *NODES)])
    assert made.levels == ("gpu", "host", "rack", "cluster")


def test_several_need_a_choice(tmp_path: Path) -> None:
    """Of several Topology objects one must be chosen; the error names all."""
    kai = topology(RACK, name="rack", group="kai.scheduler", version="v1alpha1")
    both = [topology(BLOCK, RACK), topology(BLOCK, name="wide"), kai]
    rule = (
        r"3 Topology objects could name the levels: kai\.scheduler/rack \(.*all\.json: "
        r"Topology rack\), kueue\.x-k8s\.io/default .*, kueue\.x-k8s\.io/wide .*: "
        r"topology= \(--topology\) must choose one"
    )
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, *both)
    made = read(tmp_path, *both, topology="wide")
    assert made.levels == ("gpu", "host", "block", "cluster")
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "2 x Topology object: kueue.x-k8s.io/wide was chosen (kai.scheduler/rack, "
        "kueue.x-k8s.io/default)"
    ]
    assert read(tmp_path, *both, topology="kai.scheduler/rack").levels[2] == "rack"
    rule = "topology 'none': no Topology object has this name; the files hold kai"
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, *both, topology="none")
    with pytest.raises(TopologyError, match="the files hold none"):
        read(tmp_path, topology="default")


def test_one_name_in_two_groups(tmp_path: Path) -> None:
    """A name that Kueue and KAI both use needs its group."""
    both = [
        topology(BLOCK),
        topology(RACK, group="kai.scheduler", version="v1alpha1"),
    ]
    with pytest.raises(TopologyError, match="2 Topology objects could name the levels"):
        read(tmp_path, *both, topology="default")
    made = read(tmp_path, *both, topology="kueue.x-k8s.io/default")
    assert made.levels == ("gpu", "host", "block", "cluster")


def test_keys_of_the_caller_win(tmp_path: Path) -> None:
    """Label keys of the call name the levels whatever Topology objects say."""
    made = read(tmp_path, topology(BLOCK), topology(RACK, name="x"), label_keys=[RACK])
    assert made.levels == ("gpu", "host", "rack", "cluster")
    assert made.report is not None
    assert made.report.left_out[0].why == "the label keys of the call name the levels"


def test_same_object_twice(tmp_path: Path) -> None:
    """One Topology in two files is one; one name with other levels is refused."""
    assert read(tmp_path, topology(RACK), topology(RACK)).levels[2] == "rack"
    rule = (
        r"Topology default: metadata\.name: another Topology of this name has other "
        r"levels: .*all\.json: Topology default"
    )
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, topology(RACK), topology(BLOCK))


def test_beside_switches(tmp_path: Path) -> None:
    """A Topology and a topology.conf may not both name the domains."""
    path = write(tmp_path / "all.json", *NODES, topology(RACK))
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s Nodes=h[1-4]\n")
    rule = r"levels come from .*topology\.conf and from kueue\.x-k8s\.io/default: one"
    with pytest.raises(TopologyError, match=rule):
        Topology.read([path, conf])


def test_without_hosts(tmp_path: Path) -> None:
    """A Topology alone holds no GPU; one whose keys no host has is refused by name."""
    path = write(tmp_path / "t.json", topology(RACK))
    with pytest.raises(TopologyError, match="a cluster needs at least one GPU"):
        Topology.read(path)
    rule = (
        r"Topology default: spec\.levels\[1\]\.nodeLabel: no Node with a GPU has the "
        "label example.com/row"
    )
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, topology(BLOCK, "example.com/row"))


def test_too_many_for_the_tree(tmp_path: Path) -> None:
    """16 labels are a legal list, but more levels than a tree of ours may have."""
    keys = [f"example.com/l{at}" for at in range(16)]
    row = node("h", 1)
    row["metadata"]["labels"] = dict.fromkeys(keys, "x")
    with pytest.raises(
        TopologyError, match="16 levels above the host are more than 14"
    ):
        read(tmp_path, row, topology(*keys))
    made = read(tmp_path, row, topology(*keys[:13], HOSTNAME))
    assert len(made.levels) == 16


LONG = f"example.com/{'a' * 304}"


@pytest.mark.parametrize(
    ("levels", "rule"),
    [
        ([], r"spec\.levels: must be a list of 1 to 16 levels, broadest first"),
        (None, r"spec\.levels: must be a list of 1 to 16 levels"),
        ({"nodeLabel": RACK}, r"spec\.levels: must be a list of 1 to 16 levels"),
        (
            [{"nodeLabel": f"x/{at}"} for at in range(17)],
            r"spec\.levels: must be a list of 1 to 16 levels",
        ),
        ([RACK], r"spec\.levels\[0\]: must be a mapping"),
        ([{}], r"spec\.levels\[0\]\.nodeLabel: must be a label key .*, got None"),
        ([{"nodeLabel": 7}], r"levels\[0\]\.nodeLabel: must be a label key .*, got 7"),
        ([{"nodeLabel": ""}], r"levels\[0\]\.nodeLabel: must be a label key .* got ''"),
        ([{"nodeLabel": "a b"}], r"levels\[0\]\.nodeLabel: must be a label key"),
        ([{"nodeLabel": "/rack"}], r"levels\[0\]\.nodeLabel: must be a label key"),
        ([{"nodeLabel": "Ab.io/rack"}], r"levels\[0\]\.nodeLabel: must be a label key"),
        ([{"nodeLabel": "rack-"}], r"levels\[0\]\.nodeLabel: must be a label key"),
        ([{"nodeLabel": LONG + "a"}], "must be a label key of at most 316 characters"),
        ([{"nodeLabel": LONG}], f"no Node with a GPU has the label {LONG}"),
        (
            [{"nodeLabel": RACK}, {"nodeLabel": BLOCK}, {"nodeLabel": RACK}],
            rf"spec\.levels\[2\]\.nodeLabel: must be unique, {RACK} occurs twice",
        ),
        (
            [{"nodeLabel": HOSTNAME}, {"nodeLabel": RACK}],
            rf"spec\.levels\[0\]\.nodeLabel: {HOSTNAME} may only be the last level",
        ),
    ],
)
def test_bad_levels(tmp_path: Path, levels: Any, rule: str) -> None:
    """Each broken rule is one TopologyError that names file, object and field."""
    broken = topology()
    broken["spec"]["levels"] = levels
    with pytest.raises(TopologyError, match=rule) as caught:
        read(tmp_path, broken)
    assert "all.json: Topology default: spec.levels" in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("apiVersion", "kueue.x-k8s.io/v2", "apiVersion: must be kueue.x-k8s.io with"),
        ("apiVersion", "kueue.x-k8s.io", "got 'kueue.x-k8s.io'"),
        ("metadata", None, r"metadata\.name: must be a printable text, got None"),
        ("metadata", {"name": "a\x1b"}, r"metadata\.name: must be a printable text"),
        ("spec", None, r"spec\.levels: must be a list of 1 to 16"),
        ("spec", [], r"spec\.levels: must be a list of 1 to 16"),
    ],
)
def test_bad_objects(tmp_path: Path, field: str, value: Any, rule: str) -> None:
    """A Topology of an unknown version, without a name or a spec is refused."""
    with pytest.raises(TopologyError, match=rule):
        read(tmp_path, {**topology(RACK), field: value})


def test_topology_of_another_group(tmp_path: Path) -> None:
    """A kind Topology that is neither Kueue's nor KAI's is counted, not read."""
    made = read(tmp_path, topology(RACK, group="example.com"))
    assert made.levels == ("gpu", "host", "rack", "block", "cluster")
    assert made.report is not None
    assert made.report.left_out[0].what == "object of kind Topology"


def test_nvlink_key_in_the_list_or_not(tmp_path: Path) -> None:
    """A listed clique is the NVLink level; one that is not listed is told."""
    clique = "nvidia.com/gpu.clique"
    row = node("h5", 1, block="b3", rack="r1")
    row["metadata"]["labels"][clique] = "c.1"
    made = read(tmp_path, row, topology(BLOCK, clique))
    assert made.levels == ("gpu", "host", "clique", "block", "cluster")
    assert made.nvlink_level == 2
    for made in (
        read(tmp_path, row, topology(BLOCK)),
        read(tmp_path, row, label_keys=[BLOCK]),
    ):
        assert made.nvlink_level == 1
        assert made.report is not None
        assert [str(entry) for entry in made.report.left_out] == [
            "1 x NVLink label key: the list of levels lacks it: NVLink ends at the host "
            f"here ({clique})"
        ]

"""Volcano HyperNodes: tiers, the three selectors, and everything that is no tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import node, write


def exact(name: str, kind: str = "Node") -> dict[str, Any]:
    """A member by its exact name."""
    return {"type": kind, "selector": {"exactMatch": {"name": name}}}


def pattern(text: str, kind: str = "Node") -> dict[str, Any]:
    """A member by a regular expression."""
    return {"type": kind, "selector": {"regexMatch": {"pattern": text}}}


def labels(**body: Any) -> dict[str, Any]:
    """A member by labels of Nodes."""
    return {"type": "Node", "selector": {"labelMatch": body}}


def hyper(name: str, tier: Any, *members: Any, **spec: Any) -> dict[str, Any]:
    """A HyperNode."""
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {"tier": tier, "members": list(members), **spec},
    }


PLAIN = [
    hyper("spine", 2, exact("s0", "HyperNode"), exact("s1", "HyperNode")),
    hyper("s0", 1, exact("n1"), exact("n2")),
    hyper("s1", 1, exact("n3"), exact("n10")),
]
NODES = [node(f"n{i}", 2, product=None) for i in (1, 2, 3, 10, 11)]


def read(tmp_path: Path, *objects: Any, count: int | None = None) -> Topology:
    """Compile objects of one list."""
    return Topology.read(
        write(tmp_path / "volcano.json", *objects), gpus_per_host=count
    )


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def test_tiers_are_levels(tmp_path: Path) -> None:
    """Small tiers are near; above the widest is the implicit root of the cluster."""
    made = read(tmp_path, *PLAIN, *NODES)
    assert made.levels == ("gpu", "host", "tier-1", "tier-2", "cluster")
    assert made.domain_names("tier-1") == ("s0", "s1")
    assert made.leaves("tier-1", "s1").tolist() == [4, 5, 6, 7]
    # n11 is in no HyperNode: only the cluster joins it to the others.
    assert made.domain_of("tier-2").tolist() == [0] * 8 + [-1] * 2
    assert made.distance(made.leaf("n1/gpu-0"), made.leaf("n11/gpu-0")) == 4


def test_gpus_per_host_without_nodes(tmp_path: Path) -> None:
    """Exact names need no Nodes, only a count of GPUs."""
    made = read(tmp_path, *PLAIN, count=4)
    assert made.leaf_count == 16
    with pytest.raises(TopologyError, match="host n1: GPUs are not known: its Node in"):
        read(tmp_path, *PLAIN)


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (("rack", "rack", "pod"), ("rack", "pod")),
        # Names that do not agree, or are another level's, are numbers.
        (("rack", "row", "pod"), ("tier-1", "pod")),
        (("rack", "", "pod"), ("tier-1", "pod")),
        (("same", "same", "same"), ("tier-1", "tier-2")),
        (("host", "host", "cluster"), ("tier-1", "tier-2")),
        (("tier-2", "tier-2", "pod"), ("tier-1", "pod")),
    ],
)
def test_tier_names(
    tmp_path: Path, names: tuple[str, str, str], levels: tuple[str, str]
) -> None:
    """A tier is named by its tierName where all of it agree."""
    near, far, top = names
    made = read(
        tmp_path,
        hyper("p", 7, exact("a", "HyperNode"), exact("b", "HyperNode"), tierName=top),
        hyper("a", 3, exact("n1"), tierName=near),
        hyper("b", 3, exact("n2"), tierName=far),
        count=1,
    )
    expected = tuple({"tier-1": "tier-3", "tier-2": "tier-7"}.get(n, n) for n in levels)
    assert made.levels == ("gpu", "host", *expected, "cluster")


def test_labels_of_nodes(tmp_path: Path) -> None:
    """Labels and all four operators select Nodes; a tier may be skipped."""
    nodes = [node(f"n{i}", 1, rack=f"r{i % 3}", block="b") for i in range(6)]
    key = "cloud.provider.com/topology-rack"
    made = read(
        tmp_path,
        *nodes,
        hyper("r0", 1, labels(matchLabels={key: "r0"})),
        hyper(
            "rest",
            4,
            labels(
                matchExpressions=[
                    {"key": key, "operator": "In", "values": ["r1", "r2"]},
                    {"key": key, "operator": "NotIn", "values": ["r2"]},
                    {"key": key, "operator": "Exists"},
                    {"key": "other", "operator": "DoesNotExist"},
                ]
            ),
        ),
    )
    assert made.domain_names("tier-1") == ("r0",)
    assert made.leaves("tier-1", "r0").tolist() == [0, 3]
    assert made.leaves("tier-4", "rest").tolist() == [1, 4]
    assert made.domain_of("tier-4").tolist() == [-1, 0, -1, -1, 0, -1]


def test_patterns(tmp_path: Path) -> None:
    """A pattern may match anywhere in a name, of Nodes and of HyperNodes."""
    made = read(
        tmp_path,
        *NODES,
        hyper("top", 2, pattern("^s", "HyperNode")),
        hyper("s0", 1, pattern("^n[12]$")),
        hyper("s1", 1, pattern("1[01]")),
    )
    assert made.leaves("tier-1", "s0").tolist() == [0, 1, 2, 3]
    assert made.leaves("tier-1", "s1").tolist() == [6, 7, 8, 9]
    assert made.leaves("tier-2", "top").tolist() == [0, 1, 2, 3, 6, 7, 8, 9]


def test_harmless_things_are_left_out(tmp_path: Path) -> None:
    """A Node that is gone, a selector without a match, a HyperNode without members."""
    made = read(
        tmp_path,
        *NODES,
        hyper("s0", 1, exact("n1"), exact("n1"), exact("gone"), pattern("^x")),
        hyper("empty", 1),
    )
    assert left_out(made) == [
        "1 x HyperNode: it has no members among the hosts (empty)",
        "1 x member: its pattern or labels match nothing (s0 spec.members[3])",
        "1 x member: no Node of this name is in the input (gone)",
    ]


def test_same_object_twice(tmp_path: Path) -> None:
    """An object that two exports share is one; two that differ are refused."""
    assert read(tmp_path, *PLAIN, *PLAIN, count=1).leaf_count == 4
    other = hyper("s0", 1, exact("n1"))
    with pytest.raises(TopologyError, match="HyperNode s0 is another HyperNode of"):
        read(tmp_path, *PLAIN, other, count=1)


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        # No tree: overlap of hosts, of HyperNodes, cycles, tiers that do not fall.
        (
            [hyper("a", 1, exact("n1")), hyper("b", 1, exact("n1"))],
            "HyperNode b: spec.members: Node n1 is also a member of HyperNode a",
        ),
        (
            [
                hyper("a", 1, exact("n1")),
                hyper("b", 2, exact("n1"), exact("a", "HyperNode")),
            ],
            "HyperNode b: spec.members: Node n1 is also a member of HyperNode a",
        ),
        (
            [
                hyper("a", 1, exact("n1")),
                hyper("b", 2, exact("a", "HyperNode")),
                hyper("c", 3, exact("a", "HyperNode")),
            ],
            "HyperNode c: spec.members: HyperNode a is also a member of b: no tree",
        ),
        (
            [hyper("a", 1, exact("a", "HyperNode"))],
            "HyperNode a: spec.members: HyperNode a has tier 1: a member's tier must be",
        ),
        (
            [
                hyper("a", 1, exact("b", "HyperNode")),
                hyper("b", 2, exact("a", "HyperNode")),
            ],
            "HyperNode b has tier 2: a member's tier must be below 1, the tier of a",
        ),
        (
            [hyper("a", 1, exact("n1")), hyper("b", 1, exact("a", "HyperNode"))],
            "HyperNode a has tier 1: a member's tier must be below 1, the tier of b",
        ),
        (
            [hyper("a", 2, exact("gone", "HyperNode"))],
            r"members\[0\].selector.exactMatch.name: HyperNode gone is not in the input",
        ),
        # Selectors.
        ([hyper("a", 1, pattern("n"))], "regexMatch: needs the Nodes in the same read"),
        ([hyper("a", 1, labels())], "labelMatch: needs the Nodes in the same read"),
        (
            [hyper("a", 1, {"type": "HyperNode", "selector": {"labelMatch": {}}})],
            "labelMatch: selects by labels of Nodes, not HyperNodes",
        ),
        (
            [*NODES, hyper("a", 1, pattern("(n"))],
            r"regexMatch.pattern: '\(n' cannot be used: it ends too early",
        ),
        (
            [
                hyper(
                    "a",
                    1,
                    {
                        "type": "Node",
                        "selector": {
                            "exactMatch": {"name": "n"},
                            "regexMatch": {"pattern": "n"},
                        },
                    },
                )
            ],
            "exactly one of exactMatch, .* is needed, got exactMatch and regexMatch",
        ),
        ([hyper("a", 1, {"type": "Node", "selector": {}})], "is needed, got none"),
        (
            [hyper("a", 1, {"type": "Node"})],
            r"members\[0\].selector: must be a mapping",
        ),
        (
            [hyper("a", 1, {"type": "Pod"})],
            r"\[0\].type: must be Node or HyperNode, got",
        ),
        ([hyper("a", 1, 3)], r"spec.members\[0\]: must be a mapping"),
        (
            [hyper("a", 1, {"type": "Node", "selector": {"exactMatch": "n"}})],
            "exactMatch: must be a mapping",
        ),
        ([hyper("a", 1, exact(""))], "exactMatch.name: must be a printable text"),
        (
            [*NODES, hyper("a", 1, labels(matchLabels=[3]))],
            "matchLabels: must map texts",
        ),
        (
            [*NODES, hyper("a", 1, labels(matchExpressions={"a": 1}))],
            "matchExpressions: must be a list",
        ),
        (
            [*NODES, hyper("a", 1, labels(matchExpressions=[{"key": "k"}]))],
            r"matchExpressions\[0\].operator: must be one of In, NotIn",
        ),
        (
            [
                *NODES,
                hyper(
                    "a",
                    1,
                    labels(matchExpressions=[{"key": "k", "operator": "In"}]),
                ),
            ],
            r"matchExpressions\[0\].values: must be a list of texts",
        ),
        # The object itself.
        (
            [hyper("a", -1)],
            "HyperNode a: spec.tier: must be a whole number >= 0, got -1",
        ),
        ([hyper("a", "1")], "spec.tier: must be a whole number >= 0, got '1'"),
        ([hyper("a", True)], "spec.tier: must be a whole number >= 0, got True"),
        ([hyper("a", 1, tierName=3)], "spec.tierName: must be a printable text, got 3"),
        ([{**hyper("a", 1), "spec": 3}], "HyperNode a: spec: must be a mapping"),
        (
            [{**hyper("a", 1), "metadata": {}}],
            "metadata.name: must be a printable text",
        ),
        (
            [{**hyper("a", 1), "apiVersion": "topology.volcano.sh/v9"}],
            "apiVersion: must be topology.volcano.sh/v1alpha1, got 'topology.volcano.sh/v9'",
        ),
        (
            [hyper("a", 1) | {"spec": {"tier": 1, "members": 3}}],
            "members: must be a list",
        ),
    ],
)
def test_refused(tmp_path: Path, objects: list[Any], words: str) -> None:
    """One TopologyError that names file, object, field and rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        read(
            tmp_path, *objects, count=None if any("status" in o for o in objects) else 1
        )
    assert "volcano.json: HyperNode" in str(caught.value)


def test_draft_shape(tmp_path: Path) -> None:
    """The shape of the first design, which users still paste, is refused by name."""
    draft = {
        "version": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "name": "leaf-7",
        "spec": {"tier": 1, "members": [{"name": "n1", "type": "Node"}]},
    }
    words = (
        r"volcano.json: HyperNode 'leaf-7': version: the draft shape .* is no HyperN"
    )
    with pytest.raises(TopologyError, match=words):
        read(tmp_path, draft, count=1)


def test_labels_of_nodes_give_way(tmp_path: Path) -> None:
    """HyperNodes name the levels; known labels that agree are left out and counted."""
    nodes = [node(f"n{i}", 1, rack="r1" if i < 3 else "r2") for i in (1, 2, 3, 10)]
    made = read(tmp_path, *PLAIN, *nodes)
    assert made.levels == ("gpu", "host", "tier-1", "tier-2", "cluster")
    assert any("cloud.provider.com/topology-rack" in line for line in left_out(made))


def test_cliques_stay_the_nvlink_level(tmp_path: Path) -> None:
    """A network says nothing of NVLink: cliques of Nodes are a level of their own."""
    nodes = []
    for index, clique in ((1, "a"), (2, "a"), (3, "b"), (10, "b")):
        made = node(f"n{index}", 1, product="NVIDIA-GB200")
        made["metadata"]["labels"]["nvidia.com/gpu.clique"] = f"{clique}.1"
        nodes.append(made)
    made = read(tmp_path, *PLAIN, *nodes)
    assert made.levels == ("gpu", "host", "clique", "tier-1", "tier-2", "cluster")
    assert made.nvlink_level == 2


OBJECTS = [*PLAIN, *NODES, hyper("s2", 1, pattern("^n11$")), hyper("none", 5)]


@given(st.permutations(OBJECTS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_does_not_matter(tmp_path: Path, objects: list[dict[str, Any]]) -> None:
    """Objects in any order give the same cluster and the same report."""
    made, expected = read(tmp_path, *objects), read(tmp_path, *OBJECTS)
    assert made == expected
    assert made.names == expected.names
    assert made.report == expected.report

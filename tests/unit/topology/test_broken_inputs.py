"""Any bytes, any damaged document: a topology or one TopologyError, in bounded time."""

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
from tests.unit.topology.objects import node

VOLCANO = {"apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode"}
HYPER_NODES = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        node("n1", 2),
        node("n2", 2),
        node("n3", 2, rack="r"),
        {
            **VOLCANO,
            "metadata": {"name": "top"},
            "spec": {
                "tier": 2,
                "tierName": "pod",
                "members": [
                    {"type": "HyperNode", "selector": {"exactMatch": {"name": "s0"}}}
                ],
            },
        },
        {
            **VOLCANO,
            "metadata": {"name": "s0"},
            "spec": {
                "tier": 1,
                "members": [
                    {"type": "Node", "selector": {"exactMatch": {"name": "n1"}}},
                    {"type": "Node", "selector": {"regexMatch": {"pattern": "^n[2]$"}}},
                    {
                        "type": "Node",
                        "selector": {
                            "labelMatch": {
                                "matchLabels": {
                                    "cloud.provider.com/topology-rack": "r"
                                },
                                "matchExpressions": [
                                    {"key": "k", "operator": "Exists"}
                                ],
                            }
                        },
                    },
                ],
            },
        },
    ],
}
TOPOLOGY_YAML = [
    {
        "topology": "t",
        "cluster_default": True,
        "tree": {
            "switches": [
                {"switch": "core", "children": "s[1-2]"},
                {"switch": "s1", "nodes": "n[1-4]"},
                {"switch": "s2", "nodes": "n5"},
            ]
        },
    },
    {
        "topology": "b",
        "block": {"block_sizes": [1, 2], "blocks": [{"block": "x", "nodes": "n1"}]},
    },
]
MODEL = {
    "switches": {"core": {"switches": ["r1", "r2"]}, "r3": {}},
    "blocks": [
        {"switch": "r1", "nodes": ["n[1-2]"], "labels": {"nvlink": "a"}},
        {
            "switch": "r2",
            "nodes": ["n3"],
            "annotations": {
                "accelerator.topology.test/domain": "b",
                "accelerator.topology.test/sub-domain": "c",
            },
        },
    ],
}
GRAPH = {
    "instances": [
        {"id": "i1", "network_layers": ["a", "b"], "type": "H100"},
        {"id": "i2", "network_layers": ["c"], "labels": {"nvlink": "x"}},
    ]
}
TABLE = {
    "levels": ["rack"],
    "leaves": [
        {"rack": "r1", "host": "h1", "gpu": "a", "health": "up"},
        {"rack": "r2", "host": "h2", "gpu": "a", "nic_rail": 1, "type": "H100"},
    ],
}
SCONTROL = {
    "nodes": [
        {"name": "n1", "state": ["IDLE"], "gres": "gpu:h100:2"},
        {"name": "n2", "state": "DOWN", "state_flags": ["DRAIN"], "gres": "gpu:1"},
    ],
    "meta": {},
}
CONFIG_MAP = {
    "kind": "ConfigMap",
    "metadata": {"name": "c"},
    "data": {
        "topology.conf": "SwitchName=s Nodes=n1\n",
        "topology.yaml": "topology: t\ntree: {switches: [{switch: s, nodes: n1}]}\n",
        "slurm.conf": "NodeName=n1 Gres=gpu:1 State=DRAIN\n",
    },
}
HIVED = {
    "physicalCluster": {
        "cellTypes": {
            "pair": {"childCellType": "K80", "childCellNumber": 2},
            "node": {
                "childCellType": "pair",
                "childCellNumber": 2,
                "isNodeLevel": True,
            },
            "pool": {"childCellType": "node", "childCellNumber": 2},
        },
        "physicalCells": [
            {
                "cellType": "pool",
                "cellChildren": [{"cellAddress": "h1"}, {"cellAddress": "h2"}],
            },
            {
                "cellType": "node",
                "cellAddress": "h3",
                "cellChildren": [{"cellAddress": 1, "cellChildren": [{}, {}]}],
            },
        ],
    },
    "virtualClusters": {},
}
BODIES = {
    "HiveD": HIVED,
    "HyperNode": HYPER_NODES,
    "topology.yaml": TOPOLOGY_YAML,
    "model": MODEL,
    "graph": GRAPH,
    "table": TABLE,
    "scontrol": SCONTROL,
    "ConfigMap": CONFIG_MAP,
}
TEXTS = {
    "t.csv": "pod,rack,host,gpu,health\np,r,h1,a,up\np,r,h2,a,down\n",
    "topology.conf": "# s1=x\nSwitchName=s1 Nodes=n[1-3]\nSwitchName=c Switches=s1\n",
    "blocks.conf": "BlockName=a Nodes=n1\nBlockName=b Nodes=n2\nBlockSizes=1,2\n",
    "slurm.conf": "NodeName=n[1-3] Gres=gpu:h100:2 State=DRAIN\nDownNodes=n1\n",
    "stream.conf": "SwitchName=s Nodes=n1\nNodeName=n1 CPUTot=1\n   Gres=gpu:2\n   State=IDLE\n",
    "scontrol.conf": "NodeName=n1 CPUTot=1 Gres=gpu:2 State=DOWN*+DRAIN Reason=x\n",
}
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 40),
    st.floats(allow_nan=False),
    st.sampled_from(
        ["", "n1", "s0", "r1", "a,b", "n[1-", "n[1-9]", "(a", "\x1b", "core"]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=4), inner, max_size=3),
    ),
    max_leaves=5,
)
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def check(tmp_path: Path, name: str, raw: bytes) -> None:
    """Reading ends with a topology, or a TopologyError that a terminal may show."""
    path = tmp_path / name
    path.write_bytes(raw)
    said = ""
    try:
        assert Topology.read(path, gpus_per_host=2).leaf_count > 0
    except TopologyError as error:
        said = str(error)
    assert said.isprintable()
    assert len(said) < 1000


@pytest.mark.parametrize("kind", BODIES)
def test_bodies_are_read(tmp_path: Path, kind: str) -> None:
    """What the damage starts from is sound."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(BODIES[kind]))
    assert Topology.read(path, gpus_per_host=2).leaf_count > 0


@given(
    st.binary(max_size=200), st.sampled_from(["a.csv", "a.conf", "a.yaml", "a.json"])
)
@quick
def test_any_bytes(tmp_path: Path, raw: bytes, name: str) -> None:
    """Random bytes under any name."""
    check(tmp_path, name, raw)


def places(body: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values inside a body."""
    found = [path] if path else []
    rows: list[tuple[Any, Any]] = []
    if isinstance(body, (dict, list)):
        rows = list(body.items() if isinstance(body, dict) else enumerate(body))
    for key, value in rows:
        found += places(value, (*path, key))
    return found


def damage(body: Any, path: tuple[Any, ...], value: Any, kind: str) -> Any:
    """A copy of a body with one value replaced, removed or doubled."""
    made = copy.deepcopy(body)
    parent = made
    for key in path[:-1]:
        parent = parent[key]
    if kind == "remove":
        del parent[path[-1]]
    elif kind == "double" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[path[-1]]))
    else:
        parent[path[-1]] = value
    return made


@pytest.mark.parametrize("kind", BODIES)
@given(data=st.data())
@quick
def test_damaged_documents(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """Up to three values of a sound document are replaced, removed or doubled."""
    body: Any = BODIES[kind]
    for _ in range(data.draw(st.integers(1, 3))):
        found = places(body)
        if not found:
            break
        path = data.draw(st.sampled_from(found))
        how = data.draw(st.sampled_from(["replace", "replace", "remove", "double"]))
        body = damage(body, path, data.draw(VALUES), how)
    check(tmp_path, "a.json", json.dumps(body).encode())


@pytest.mark.parametrize("name", TEXTS)
@given(data=st.data())
@quick
def test_damaged_texts(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Characters of a sound text are replaced, and pieces of it repeated or removed."""
    text = TEXTS[name]
    for _ in range(data.draw(st.integers(1, 4))):
        low = data.draw(st.integers(0, len(text)))
        high = data.draw(st.integers(low, min(len(text), low + 12)))
        piece = data.draw(
            st.one_of(
                st.just(text[low:high] * 2), st.text('=[],-#\\\n"0 n', max_size=3)
            )
        )
        text = text[:low] + piece + text[high:]
    check(tmp_path, name, text.encode())

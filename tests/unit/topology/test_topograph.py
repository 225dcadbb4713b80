"""topograph: names in comments, ConfigMaps, labels of Nodes, models and graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from tests.unit.topology.objects import node, write

TREE = """\
# switch.2.1=spine-east
SwitchName=switch.2.1 Switches=switch.1.[1-2]
# switch.1.1=leaf-a
SwitchName=switch.1.1 Nodes=n[1-2]
# switch.1.2=leaf-b
SwitchName=switch.1.2 Nodes=n[3-4]
"""
BLOCKS = """\
# block001=nvl-1
BlockName=block001 Nodes=n[1-2]
# block002=nvl-2
BlockName=block002 Nodes=n[3-4]
BlockName=block003
# block004=nvl-4
BlockName=block004 Nodes=n[5-6]
BlockSizes=2,4
"""


def read(tmp_path: Path, text: str, name: str = "topology.conf") -> Topology:
    """Compile one text, with a GPU a host."""
    path = tmp_path / name
    path.write_text(text)
    return Topology.read(path, gpus_per_host=1)


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def test_names_of_switches(tmp_path: Path) -> None:
    """The comment above a line holds the switch's real name."""
    made = read(tmp_path, TREE)
    assert made.domain_names("switch-0") == ("leaf-a", "leaf-b")
    assert made.domain_names("switch-1") == ("spine-east",)


def test_names_of_blocks(tmp_path: Path) -> None:
    """Aggregates are named by real names; a placeholder keeps its position."""
    made = read(tmp_path, BLOCKS)
    assert made.domain_names("block") == ("nvl-1", "nvl-2", "nvl-4")
    assert made.domain_names("block-4") == ("nvl-1..nvl-2", "block003..nvl-4")
    assert left_out(made) == [
        "1 x block: it has no hosts: it keeps its position among the blocks (block003)"
    ]


def test_blocks_with_gaps(tmp_path: Path) -> None:
    """A rack that lacks hosts stands beside placeholders below the first size."""
    made = read(tmp_path, BLOCKS.replace("n[5-6]", "n5"))
    assert made.leaf_count == 5
    assert made.report is not None
    assert made.report.notes == (
        "1 x block with fewer than 2 hosts, the first size (block004)",
    )


@pytest.mark.parametrize(
    ("comment", "name"),
    [
        ("# s1=real", "real"),
        ("#s1 = a real = name ", "a real = name"),
        ("## s1=real", "real"),
        # Not of this line, or not right above it.
        ("# s2=other", "s1"),
        ("# s1", "s1"),
        ("# s1=", "s1"),
        ("# s1=real\n", "s1"),
        ("# s1=real\n# another word", "s1"),
    ],
)
def test_comments(tmp_path: Path, comment: str, name: str) -> None:
    """Only ``name=real`` right above the line that defines the name counts."""
    made = read(tmp_path, f"{comment}\nSwitchName=s1 Nodes=n1\n")
    assert made.domain_names("switch-0") == (name,)


def test_names_that_are_not_unique(tmp_path: Path) -> None:
    """Two switches of one real name stay two: the file's names are used."""
    made = read(tmp_path, TREE.replace("leaf-b", "leaf-a"))
    assert made.domain_names("switch-0") == ("switch.1.1", "switch.1.2")
    assert made.report is not None
    assert made.report.notes == (
        f"{tmp_path}/topology.conf: names in comments are not unique: "
        "the file's own names are used",
    )


def config_map(name: str = "slurm-config", **data: Any) -> dict[str, Any]:
    """A ConfigMap as the slinky engine writes it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "annotations": {"topograph.run/engine": "slinky"},
        },
        "data": {key.replace("_", "."): text for key, text in data.items()},
    }


def test_config_map(tmp_path: Path) -> None:
    """A Slinky ConfigMap holds topology.conf; GPUs come from the Nodes beside it."""
    nodes = [node(f"n{i}", 2) for i in range(1, 5)]
    made = Topology.read(
        write(tmp_path / "c.json", config_map(topology_conf=TREE), *nodes)
    )
    assert made.leaf_count == 8
    assert made.levels == ("gpu", "host", "switch-0", "switch-1")
    assert made.domain_names("switch-0") == ("leaf-a", "leaf-b")


def test_config_map_of_all_files(tmp_path: Path) -> None:
    """topology.yaml wins inside a ConfigMap too, and slurm.conf gives the GPUs."""
    tree = "- {topology: t, tree: {switches: [{switch: s, nodes: 'n[1-2]'}]}}"
    config = config_map(
        topology_conf=TREE,
        topology_yaml=tree,
        slurm_conf="ClusterName=c\nNodeName=n[1-4] Gres=gpu:h100:4\n",
    )
    made = Topology.read(write(tmp_path / "c.json", config))
    assert made.domain_names("switch-0") == ("s",)
    assert made.leaf_count == 16
    assert made.report is not None
    assert len(made.report.notes) == 2


def test_other_config_maps(tmp_path: Path) -> None:
    """A ConfigMap without a Slurm file is an object of another kind."""
    made = Topology.read(
        write(tmp_path / "c.json", config_map(readme="x"), node("n1", 1))
    )
    assert left_out(made) == [
        "1 x object of kind ConfigMap: this kind is not read (slurm-config)"
    ]


def test_config_map_of_another_program(tmp_path: Path) -> None:
    """A key of Slurm's name that holds something else is left out and said."""
    config = config_map(topology_yaml="levels: [rack]\n")
    made = Topology.read(write(tmp_path / "c.json", config, node("n1", 1)))
    place = f"{tmp_path}/c.json: ConfigMap slurm-config: topology.yaml"
    assert left_out(made) == [
        "1 x key of a ConfigMap: it is neither a topology nor a configuration of Slurm "
        f"({place})"
    ]


def test_broken_config_map(tmp_path: Path) -> None:
    """An error inside names the ConfigMap, the key and the line."""
    text = config_map(topology_conf="SwitchName=s Nodes=a\nColor=red\n")
    words = "c.json: ConfigMap slurm-config: topology.conf: line 2: 'color'"
    with pytest.raises(TopologyError, match=words):
        Topology.read(write(tmp_path / "c.json", text))


def test_labels_before_1_0(tmp_path: Path) -> None:
    """leaf, spine, core and the accelerator of network.topology.nvidia.com."""
    nodes = []
    for index in range(8):
        made = node(f"n{index}", 1)
        made["metadata"]["labels"] = {
            "network.topology.nvidia.com/core": "c0",
            "network.topology.nvidia.com/spine": f"s{index // 4}",
            "network.topology.nvidia.com/leaf": f"l{index // 2}",
            "network.topology.nvidia.com/accelerator": f"nvl{index // 2}",
        }
        nodes.append(made)
    topology = Topology.read(write(tmp_path / "n.json", *nodes))
    assert topology.levels == (
        *("gpu", "host", "accelerator", "leaf", "spine", "core", "cluster"),
    )
    assert topology.domain_names("leaf") == ("l0", "l1", "l2", "l3")


def test_labels_since_1_0(tmp_path: Path) -> None:
    """Numbered tiers, 0 nearest; a value that was too long is a hash and stays one."""
    nodes = []
    for index in range(4):
        made = node(f"n{index}", 1)
        made["metadata"]["labels"] = {
            "fabric.topograph.run/tier-0": f"x3e4f1a2b3c4d5e6{index // 2}",
            "fabric.topograph.run/tier-1": "spine",
            "accelerator.topograph.run/domain": f"d{index // 2}",
        }
        nodes.append(made)
    topology = Topology.read(write(tmp_path / "n.json", *nodes))
    assert topology.levels == (
        *("gpu", "host", "accelerator", "tier-0", "tier-1", "cluster"),
    )
    assert topology.domain_count("tier-0") == 2


def block(switch: str, *nodes: str, **labels: str) -> dict[str, Any]:
    """A block of a model; labels are of the test provider."""
    keys = {
        f"accelerator.topology.test/{k.replace('_', '-')}": labels[k] for k in labels
    }
    return {"switch": switch, "nodes": list(nodes), "annotations": keys}


def model(tmp_path: Path, switches: Any, *blocks: Any) -> Topology:
    """Compile a model file, with a GPU a host."""
    body = {"switches": switches, "blocks": list(blocks)}
    return read(tmp_path, yaml.safe_dump(body), "model.yaml")


SWITCHES: dict[str, Any] = {
    "core": {"switches": ["east", "west"], "labels": {"a": "b"}},
    "east": {"switches": ["rack-1", "rack-2", "rack-3"]},
    "west": {"switches": ["rack-4"]},
}


def test_model(tmp_path: Path) -> None:
    """Leaf switches are those that blocks name; one without a block is left out."""
    made = model(
        tmp_path,
        SWITCHES,
        block("rack-1", "n[1-3]", domain="nvl-1"),
        block("rack-2", "n4", "n[6-7]", domain="nvl-2"),
        block("rack-4", "n8", domain="nvl-3"),
    )
    assert made.levels == (
        *("gpu", "host", "accelerator", "switch-0", "switch-1", "switch-2"),
    )
    assert made.domain_names("switch-0") == ("rack-1", "rack-2", "rack-4")
    assert made.leaves("accelerator", "nvl-2").tolist() == [3, 4, 5]
    assert left_out(made) == [
        "1 x labels of a switch: the place of a switch is its level (core)",
        "1 x switch: no host is below it (rack-3)",
    ]


def test_model_of_wide_domains(tmp_path: Path) -> None:
    """A domain of several racks is a level above them; its racks' names may recur."""
    made = model(
        tmp_path,
        SWITCHES,
        block("rack-1", "n1", domain="d1", sub_domain="s1"),
        block("rack-2", "n2", domain="d1", sub_domain="s2"),
        block("rack-4", "n3", domain="d2", sub_domain="s1"),
    )
    assert made.levels == (
        *("gpu", "host", "accelerator", "switch-0", "accelerator-domain"),
        *("switch-1", "switch-2"),
    )
    assert made.domain_names("accelerator") == ("rack-1/s1", "s2", "rack-4/s1")
    assert made.domain_of("accelerator-domain").tolist() == [0, 0, 1]


def test_model_of_domains_across_racks(tmp_path: Path) -> None:
    """Only domains, each of two racks: the level lies between racks and spines."""
    made = model(
        tmp_path,
        SWITCHES,
        block("rack-1", "n1", domain="d1"),
        block("rack-2", "n2", domain="d1"),
        block("rack-4", "n3", domain="d2"),
    )
    assert made.levels[2:5] == ("switch-0", "accelerator", "switch-1")


def test_model_of_crossing_domains(tmp_path: Path) -> None:
    """A domain of half of two racks is compiled apart, and a note says so."""
    made = model(
        tmp_path,
        SWITCHES,
        block("rack-1", "n1", domain="d1"),
        block("rack-1", "n2", domain="d2"),
        block("rack-4", "n3", domain="d1"),
    )
    assert made.levels[2] == "accelerator"
    assert made.domain_count("accelerator") == 3
    assert made.report is not None
    assert made.report.notes == (
        "domains of level accelerator cross those of switch-2, switch-1, switch-0: "
        "their parts are compiled apart",
    )


ROW = block("rack-1", "n1")


@pytest.mark.parametrize(
    ("switches", "blocks", "words"),
    [
        ([], [ROW], "switches: the shape before blocks"),
        ({"s": 3}, [ROW], "switches.s: must map a printable name to a mapping"),
        (
            {"s": {"switches": 3}},
            [ROW],
            "switches.s.switches: must be a list of printable texts",
        ),
        (
            {"s": {"nodes": ["n1"]}},
            [ROW],
            "switches.s.nodes: hosts are named by blocks",
        ),
        ({}, [], "blocks: must be a list of mappings"),
        ({}, [3], r"blocks\[0\]: must be a mapping"),
        (
            {},
            [{"nodes": ["n1"]}],
            r"blocks\[0\].switch: must be a printable text, got None",
        ),
        (
            {},
            [{"switch": "s", "nodes": "n1"}],
            r"\[0\].nodes: must be a list of printable texts",
        ),
        ({}, [{"switch": "s", "nodes": []}], "blocks: no block has a host"),
        ({}, [{**ROW, "labels": 3}], r"blocks\[0\].labels: must be a mapping"),
        ({}, [ROW, block("rack-2", "n[1-2]")], r"blocks\[1\].nodes: host n1 is in two"),
        ({}, [block("rack-1", "n[1-")], r"blocks\[0\].nodes: .* is no host list"),
        (
            {"a": {"switches": ["rack-1"]}, "b": {"switches": ["rack-1", "rack-2"]}},
            [ROW, block("rack-2", "n2")],
            "switches.b: switch rack-1 is also under a: no tree",
        ),
        (
            {"a": {"switches": ["b", "rack-1"]}, "b": {"switches": ["a"]}},
            [ROW],
            "switch . is in a cycle",
        ),
    ],
)
def test_broken_models(
    tmp_path: Path, switches: Any, blocks: list[Any], words: str
) -> None:
    """Each names the file, the field and the rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        model(tmp_path, switches, *blocks)
    assert "model.yaml" in str(caught.value)


def test_older_models(tmp_path: Path) -> None:
    """The shape with capacity_blocks is refused by name, and so are two models."""
    words = "document 1: switches: the shape before blocks"
    with pytest.raises(TopologyError, match=words):
        read(tmp_path, "switches: {}\ncapacity_blocks: {}\n", "m.yaml")
    text = yaml.safe_dump({"switches": {}, "blocks": [ROW]})
    with pytest.raises(
        TopologyError, match="two topograph models describe one cluster"
    ):
        read(tmp_path, f"{text}---\n{text}", "m.yaml")


def instance(name: str, *layers: str, **more: Any) -> dict[str, Any]:
    """An instance of the graph engine, layers nearest first."""
    return {"id": name, "network_layers": list(layers), **more}


def graph(tmp_path: Path, *instances: Any) -> Topology:
    """Compile a graph, with a GPU a host."""
    return read(tmp_path, json.dumps({"instances": list(instances)}), "graph.json")


def test_graph(tmp_path: Path) -> None:
    """Layers are tiers, 0 nearest; domains and types come from the instance."""
    key = "accelerator.topograph.run/domain"
    made = graph(
        tmp_path,
        instance("i1", "leaf-a", "spine", type="NVIDIA H100", labels={key: "nvl-1"}),
        instance(
            "i2", "leaf-a", "spine", type="NVIDIA H100", attributes={"nvlink": "nvl-1"}
        ),
        instance("i3", "leaf-b", "spine"),
        instance("i4"),
    )
    assert made.levels == ("gpu", "host", "accelerator", "tier-0", "tier-1", "cluster")
    assert made.domain_of("tier-0").tolist() == [0, 0, 1, -1]
    assert made.domain_of("accelerator").tolist() == [0, 0, -1, -1]
    assert made.types == ("NVIDIA-H100", "NVIDIA-H100", "gpu", "gpu")
    assert made.nvlink_level == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([3], r"instances\[0\]: must be a mapping"),
        ([{"id": 3}], r"instances\[0\].id: must be a printable text, got 3"),
        (
            [{"id": "i", "network_layers": "x"}],
            "network_layers: must be a list of at most",
        ),
        (
            [{"id": "i", "network_layers": [3]}],
            "network_layers: must be a list of at most",
        ),
        ([instance("i", *"abcdefghijklmno")], "must be a list of at most 12 texts"),
        ([instance("i", labels=3)], r"instances\[0\].labels: must be a mapping"),
        ([instance("i", type=3)], r"instances\[0\].type: must be a text, got 3"),
        ([instance("i"), instance("i")], r"instances\[1\].id: i occurs twice"),
        (
            [instance("i", "leaf", "a"), instance("j", "leaf", "b")],
            r"instances\[1\].network_layers: switch leaf is under .*: no tree",
        ),
    ],
)
def test_broken_graphs(tmp_path: Path, rows: list[Any], words: str) -> None:
    """Each names the file, the instance and the rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        graph(tmp_path, *rows)
    assert "graph.json: document 1: instances[" in str(caught.value)


INSTANCES = [
    instance(
        f"i{i}", f"leaf-{i // 2}", f"spine-{i // 4}", labels={"nvlink": f"d{i // 3}"}
    )
    for i in range(8)
]


@given(st.permutations(INSTANCES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_does_not_matter(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """Instances in any order give the same cluster and the same report."""
    made, expected = graph(tmp_path, *rows), graph(tmp_path, *INSTANCES)
    assert made == expected
    assert made.names == expected.names
    assert made.report == expected.report

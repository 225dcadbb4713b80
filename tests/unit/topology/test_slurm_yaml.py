"""Slurm's topology.yaml: the default topology, its kinds, and every broken shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology

TREE = """
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - {switch: core, children: "leaf[1-2]"}
      - {switch: leaf1, nodes: "n[1-2],n10"}
      - {switch: leaf2, nodes: "n[3-4]"}
"""
BLOCKS = """
- topology: racks
  block:
    block_sizes: [2, "4"]
    blocks:
      - {block: x, nodes: "n[1-2]"}
      - {block: y, nodes: "n[3-5]"}
      - {block: z, nodes: "n[6-7]"}
"""
GRES = "NodeName=n[1-10] Gres=gpu:h100:2\n"


def read(tmp_path: Path, text: str, **files: str) -> Topology:
    """Compile a topology.yaml, beside other texts by file stem, with 2 GPUs a host."""
    paths = [tmp_path / "topology.yaml"]
    paths[0].write_text(text)
    for stem, words in files.items():
        paths.append(tmp_path / f"{stem}.conf")
        paths[-1].write_text(words)
    count = None if "slurm" in files else 2
    return Topology.read(paths, gpus_per_host=count)


def test_tree(tmp_path: Path) -> None:
    """The same tree as a topology.conf of these switches."""
    made = read(tmp_path, TREE)
    conf = tmp_path / "other.conf"
    conf.write_text(
        "SwitchName=core Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=n[1-2],n10\n"
        "SwitchName=leaf2 Nodes=n[3-4]\n"
    )
    assert made == Topology.read(conf, gpus_per_host=2)
    assert made.levels == ("gpu", "host", "switch-0", "switch-1")
    assert made.domain_names("switch-0") == ("leaf1", "leaf2")
    assert made.leaves("switch-0", "leaf2").tolist() == [4, 5, 6, 7]


def test_gpus_of_slurm_conf(tmp_path: Path) -> None:
    """Gres= of a slurm.conf in the same read counts, as for a topology.conf."""
    made = read(tmp_path, TREE, slurm=GRES)
    assert made.leaf_count == 20
    assert made.type_names == ("h100",)
    assert made.report is not None
    assert made.report.notes == (
        "5 hosts of slurm.conf are in no switch or block of the topology",
    )


def test_blocks(tmp_path: Path) -> None:
    """Block sizes are numbers or texts; the only topology needs no cluster_default."""
    made = read(tmp_path, BLOCKS)
    assert made.levels == ("gpu", "host", "block", "block-4", "cluster")
    assert made.domain_names("block-4") == ("x..y", "z")
    assert made.report is not None
    assert made.report.notes == ()


def test_one_topology_and_one_switch_need_no_list(tmp_path: Path) -> None:
    """A mapping stands for a list of one, at the top and below."""
    text = (
        "topology: t\ncluster_default: true\ntree: {switches: {switch: s, nodes: n1}}"
    )
    assert read(tmp_path, text).domain_names("switch-0") == ("s",)


def test_first_default_is_used(tmp_path: Path) -> None:
    """Later topologies are counted by kind, whether marked default or not."""
    text = (
        BLOCKS
        + TREE
        + "- {topology: two, cluster_default: true, flat: true}\n"
        + "- {topology: ring, flat: false, ring: {rings: [{ring: r, nodes: n1}]}}\n"
    )
    made = read(tmp_path, text)
    assert made.levels[2] == "switch-0"
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "1 x topology of kind block: fabric is the cluster's default (racks)",
        "1 x topology of kind flat: fabric is the cluster's default (two)",
        "1 x topology of kind ring: fabric is the cluster's default (ring)",
    ]


def test_no_default(tmp_path: Path) -> None:
    """Without a default the first is used, and a note says so."""
    made = read(tmp_path, BLOCKS + TREE.replace("true", "false"))
    assert made.levels[2] == "block"
    assert made.report is not None
    assert made.report.notes == (
        f"{tmp_path}/topology.yaml: no topology has cluster_default: true: the first, "
        "racks, is used",
    )


def test_wins_over_topology_conf(tmp_path: Path) -> None:
    """Slurm ignores a topology.conf beside a topology.yaml, whatever their order."""
    made = read(tmp_path, TREE, topology="SwitchName=s Nodes=n[1-8]\n")
    assert made.leaf_count == 10
    assert made.report is not None
    assert made.report.notes == (
        f"{tmp_path}/topology.yaml is used, {tmp_path}/topology.conf is not: "
        "topology.yaml wins over topology.conf",
    )
    paths = [tmp_path / "topology.conf", tmp_path / "topology.yaml"]
    assert Topology.read(paths, gpus_per_host=2) == made


def test_unknown_fields_are_said(tmp_path: Path) -> None:
    """A field that is not read is left out by name and place."""
    text = TREE.replace("switch: core,", "switch: core, link_speed: 400,")
    made = read(tmp_path, text)
    assert made.report is not None
    place = f"{tmp_path}/topology.yaml: topology fabric: tree.switches[0]"
    assert [str(entry) for entry in made.report.left_out] == [
        f"1 x field link_speed: this field is not read ({place})"
    ]


def one(body: str, name: str = "t", default: str = "true") -> str:
    """A file with one topology."""
    return f"- {{topology: {name}, cluster_default: {default}, {body}}}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # No name, or one of another type.
        (
            "- {topology: 7, flat: true}",
            r"topologies\[0\]: topology: must be a printable text",
        ),
        ("- 3\n" + one("flat: true"), r"topologies\[0\]: must be a mapping, got 3"),
        (one("flat: true") + one("flat: true"), "topology t: topology: occurs twice"),
        (one("flat: true", default="7"), "cluster_default: must be true or false"),
        # Exactly one kind; a false or empty one is none.
        (one("flat: false"), "topology t: exactly one of block, tree, flat"),
        (one("ring: {}"), "topology t: exactly one of block, tree, flat"),
        (one("tree: {switches: []}, flat: {a: true}"), "t: flat: tree is there too"),
        (one("block: [], ring: {a: 1}"), "t: ring: block is there too"),
        (one("tree: 1, block: 1"), "t: tree: block is there too"),
        # Kinds that are no tree.
        (one("flat: true"), "topology t: flat: topology of kind flat is not read"),
        (one("ring: {rings: []}"), "t: ring: topology of kind ring is not read"),
        (one("torus3d: {toruses: []}"), "t: torus3d: topology of kind torus3d is not"),
        # Structure.
        (one("tree: x"), "topology t: tree: must be a mapping, got 'x'"),
        (one("tree: {switches: 's1=n1'}"), "t: tree.switches: must be a list"),
        (one("tree: {a: 1}"), "t: tree.switches: must be a list of mappings, got None"),
        (one("tree: {switches: [3]}"), r"tree.switches\[0\]: must be a mapping, got 3"),
        (
            one("tree: {switches: [{switch: 1}]}"),
            r"\[0\]: switch: must be a printable text, got 1",
        ),
        (
            one("tree: {switches: [{switch: s, nodes: [n1]}]}"),
            r"tree.switches\[0\]: nodes: must be a printable text, got \['n1'\]",
        ),
        (one("block: {blocks: b1}"), "t: block.blocks: must be a list of mappings"),
        (
            one("block: {blocks: [{nodes: n1}]}"),
            r"blocks\[0\]: block: must be a printable text",
        ),
        (
            one("block: {block_sizes: {a: 1}, blocks: [{block: b, nodes: n1}]}"),
            "t: block.block_sizes: must be a list of whole numbers",
        ),
        # Rules that topology.conf has too.
        (
            one("tree: {switches: [{switch: s}]}"),
            r"tree.switches\[0\]: hosts or child switches are needed",
        ),
        (
            one("tree: {switches: [{switch: s, children: 's[1-2]'}]}"),
            r"t: tree.switches\[0\]: switch s1 does not exist",
        ),
        (
            one("tree: {switches: [{switch: s, nodes: n1}, {switch: s, nodes: n2}]}"),
            r"tree.switches\[1\]: switch s occurs twice",
        ),
        (
            one("block: {block_sizes: [2, 6], blocks: [{block: b, nodes: 'n[1-2]'}]}"),
            "t: block.block_sizes: size 6 must be 2 times a power of two, rising",
        ),
        (
            one("block: {block_sizes: [4], blocks: [{block: b, nodes: 'n[1-2]'}]}"),
            r"block.blocks\[0\]: block b has 2 hosts, but the first block size is 4",
        ),
        (
            one("block: {block_sizes: [-4], blocks: [{block: b, nodes: 'n[1-2]'}]}"),
            "block.block_sizes: block sizes must be whole numbers",
        ),
    ],
)
def test_broken_shapes(tmp_path: Path, text: str, words: str) -> None:
    """Each is one TopologyError that names file, topology, field and rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        read(tmp_path, text)
    assert "topology.yaml: " in str(caught.value)


def test_two_files(tmp_path: Path) -> None:
    """Two files of topologies are refused by name: neither is the cluster's."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(TREE)
    with pytest.raises(TopologyError, match=r"a\.yaml.*b\.yaml: two files of topo"):
        Topology.read(tmp_path, gpus_per_host=1)


def test_root_that_is_no_list(tmp_path: Path) -> None:
    """A bare word is no topology."""
    with pytest.raises(TopologyError, match="document 1: format not known"):
        read(tmp_path, "topology/tree\n")


def test_hosts_need_a_source_of_gpus(tmp_path: Path) -> None:
    """A topology.yaml alone does not say how many GPUs a host has."""
    path = tmp_path / "topology.yaml"
    path.write_text(TREE)
    with pytest.raises(TopologyError, match=r"topology.yaml: host n1: GPUs are not"):
        Topology.read(path)

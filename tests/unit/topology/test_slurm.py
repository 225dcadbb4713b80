"""Slurm configurations: trees, blocks, host lists and generic resources."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology
from phalanx_core.topology.readers.hostlists import expand

TREE = """
# keys in any case, a comment, a link speed
switchname=core Switches=leaf[1-2] LinkSpeed=400
SwitchName=leaf1 nodes=n[1-2],n10   # trailing comment
SwitchName=leaf2 \\
    Nodes=n[3-4]
"""
GRES = "NodeName=n[1-4,10] Gres=gpu:h100:2\n"


def read(tmp_path: Path, topology: str, slurm: str = "", **more: int) -> Topology:
    """Compile texts as topology.conf and slurm.conf."""
    paths = []
    for name, text in (("topology.conf", topology), ("slurm.conf", slurm)):
        if text:
            (tmp_path / name).write_text(text)
            paths.append(tmp_path / name)
    return Topology.read(paths, **more)  # type: ignore[arg-type]


def left_out(topology: Topology) -> list[str]:
    """Lines of the report on what was left out."""
    assert topology.report is not None
    return [str(entry) for entry in topology.report.left_out]


def test_tree(tmp_path: Path) -> None:
    """Leaf switches are switch-0, as Slurm counts; hosts sort as numbers."""
    made = read(tmp_path, TREE, GRES)
    assert made.levels == ("gpu", "host", "switch-0", "switch-1")
    assert made.names[::2] == tuple(f"n{i}/gpu-0" for i in (1, 2, 3, 4, 10))
    assert made.leaves("switch-0", "leaf1").tolist() == [0, 1, 2, 3, 8, 9]
    assert made.domain_names("switch-1") == ("core",)
    assert made.type_names == ("h100",)
    assert made.bandwidth[1] == 900e9


def test_gres_forms(tmp_path: Path) -> None:
    """Types, counts, sockets, defaults and other resources of a NodeName line."""
    slurm = """
ClusterName=c
NodeName=DEFAULT Gres=gpu:4
NodeName=a CPUs=2
NodeName=b Gres=gpu
NodeName=c Gres=gpu:a100:2(S:0-1),gpu:v100:1,nic:4
NodeName=d Gres=nic:2
NodeName=e Gres=gpu:h100:no_consume:3
Include other.conf
Include=other.conf
"""
    made = read(tmp_path, "", slurm.replace("Include other.conf\n", ""))
    assert made.levels == ("gpu", "host", "cluster")
    assert [len(made.leaves("host", h)) for h in "abce"] == [4, 1, 3, 3]
    assert made.type_names == ("gpu", "a100", "v100", "h100")
    assert left_out(made) == [
        f"1 x Include line: included files are not read ({tmp_path}/slurm.conf: line 9)",
        "1 x host: it has no GPU (d)",
    ]


def test_numbers_of_any_length(tmp_path: Path) -> None:
    """A name of more digits than Python converts is a name like any other."""
    long = "n" + "1" * 5000
    made = read(tmp_path, f"SwitchName=s Nodes=n10,{long},n2\n", gpus_per_host=1)
    assert made.names == ("n2/gpu-0", "n10/gpu-0", f"{long}/gpu-0")


def test_gpus_per_host(tmp_path: Path) -> None:
    """A count fills in for the hosts of which no slurm.conf line speaks."""
    assert read(tmp_path, TREE, gpus_per_host=4).leaf_count == 20
    assert (
        read(tmp_path, TREE, "NodeName=n1 Gres=gpu:1", gpus_per_host=4).leaf_count == 17
    )
    with pytest.raises(TopologyError, match="host n2: GPUs are not known"):
        read(tmp_path, TREE, "NodeName=n1 Gres=gpu:1")


def test_hosts_outside_the_tree(tmp_path: Path) -> None:
    """A host that no switch names is on no switch, and the report says so."""
    made = read(tmp_path, "SwitchName=s Nodes=a", "NodeName=a,b Gres=gpu:1")
    assert made.domain_of("switch-0").tolist() == [0, -1]
    assert made.report is not None
    assert made.report.notes == (
        "1 hosts of slurm.conf are in no switch or block of the topology",
    )


def test_uneven_heights(tmp_path: Path) -> None:
    """A leaf switch directly under the core has no domain between them."""
    text = """
SwitchName=core Switches=mid,low
SwitchName=mid Switches=s1
SwitchName=s1 Nodes=a
SwitchName=low Nodes=b
"""
    made = read(tmp_path, text, gpus_per_host=1)
    assert made.domain_of("switch-1").tolist() == [0, -1]
    assert made.distance(0, 1) == 4


def test_two_spines_over_the_same_switches(tmp_path: Path) -> None:
    """A fat tree's equal spines are one domain; different ones are no tree."""
    text = "SwitchName=p1 Switches=s1,s2\nSwitchName=p2 Switches=s[1-2]\n"
    leaves = "SwitchName=s1 Nodes=a\nSwitchName=s2 Nodes=b\nSwitchName=s3 Nodes=c\n"
    made = read(tmp_path, text + leaves, gpus_per_host=1)
    assert made.domain_names("switch-1") == ("p1",)
    assert left_out(made) == [
        "1 x switch: another switch has the same children and stands for it (p2)"
    ]
    with pytest.raises(TopologyError, match="switch s2 is also under p1: no tree"):
        read(tmp_path, text.replace("1-2", "2-3") + leaves, gpus_per_host=1)


def test_switch_with_hosts_and_switches(tmp_path: Path) -> None:
    """Slurm ignores the children of a switch that names hosts; so do we, and say so."""
    text = "SwitchName=s Nodes=a Switches=t\nSwitchName=t Nodes=b\n"
    made = read(tmp_path, text, gpus_per_host=1)
    assert made.domain_names("switch-0") == ("s", "t")
    assert left_out(made) == [
        "1 x child switches: a switch with hosts has no child switches (s)"
    ]


def test_blocks(tmp_path: Path) -> None:
    """Three blocks of 2 joined in pairs: the last pair is half, the last size none."""
    text = """
BlockName=x Nodes=n[1-2]
BlockName=y Nodes=n[3-5]
BlockName=z Nodes=n[6-7]
BlockSizes=2,4,8,16
"""
    made = read(tmp_path, text, gpus_per_host=1)
    assert made.levels == ("gpu", "host", "block", "block-4", "block-8", "cluster")
    assert made.domain_names("block-4") == ("x..y", "z")
    assert made.domain_names("block-8") == ("x..z",)
    assert made.leaves("block", "y").tolist() == [2, 3, 4]
    assert left_out(made) == [
        "1 x block size: it groups the same blocks as the size below (16)"
    ]


def test_show_topology_of_a_tree(tmp_path: Path) -> None:
    """Output of scontrol show topology: a switch lists all hosts below it."""
    text = """
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2],n10
SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=core Level=1 LinkSpeed=1 Nodes=n[1-4],n10 Switches=leaf[1-2]
"""
    made = read(tmp_path, text, GRES)
    assert made == read(tmp_path, TREE, GRES)
    assert left_out(made) == []


def test_show_topology_of_blocks(tmp_path: Path) -> None:
    """Output of scontrol show topology: joined blocks tell the block sizes."""
    text = """
BlockName=x BlockIndex=0 Nodes=n[1-2] BlockSize=2
BlockName=y BlockIndex=1 Nodes=n[3-4] BlockSize=2
BlockName=z BlockIndex=2 Nodes=n[5-6] BlockSize=2
AggregatedBlock=x,y BlockIndex=3 Nodes=n[1-4] BlockSize=4
"""
    made = read(tmp_path, text, gpus_per_host=1)
    assert made.levels == ("gpu", "host", "block", "block-4", "cluster")
    assert made.domain_names("block-4") == ("x..y", "z")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SwitchName=s Nodes=a Color=red", "line 1 SwitchName=s: 'color' is no key"),
        ("SwitchName=s Nodes=a\nColor=red", "line 2: 'color': a line must begin with"),
        ("SwitchName=s\x1b Nodes=a", "line 1: the line has a character that cannot"),
        ("SwitchName=s Nodes=a b", "line 1: 'b' is not key=value"),
        ("SwitchName=s Nodes=a Nodes=b", "Nodes occurs twice"),
        ("SwitchName=s", "hosts or child switches are needed"),
        ("SwitchName=s Nodes=a\nSwitchName=s Nodes=b", "switch s occurs twice"),
        ("SwitchName=s Switches=t", "switch t does not exist"),
        ("SwitchName=s Switches=t\nSwitchName=t Switches=s", "switch s is in a cycle"),
        ("SwitchName=s Switches=s", "switch s is in a cycle"),
        ("SwitchName=s Nodes=a,b\nSwitchName=t Nodes=b", "host b is also under s"),
        (f"SwitchName={'s' * 65} Nodes=a", "at most 64 characters"),
        ("SwitchName=s Nodes=n[1-", "is no host list"),
        ("SwitchName=s Nodes=n[4-1]", "range '4-1' runs backwards"),
        ("SwitchName=s Nodes=n[1-9999999]", "names more than 1048576 hosts"),
        ("SwitchName=s Nodes=n[1-2000][1-2000]", "names more than 1048576 hosts"),
        ("SwitchName=s Nodes=n[a-b]", "'a-b' in 'n.a-b.' is no range"),
        ("SwitchName=s Nodes=@all", "'@all' is no host list"),
        ("RingName=r Nodes=n[1-4]", "line 1 RingName=r: ring topology is not read"),
        (
            "SwitchName=s Nodes=a\nBlockName=b Nodes=c",
            "line 1 SwitchName=s: switches and blocks in one topology, .*line 2 BlockNa",
        ),
        (
            "vendid=0x2c9\nswitchguid=0x1\n",
            "no line of SwitchName, BlockName, NodeName in this file: output of ibnetdis",
        ),
        ("BlockSizes=4", "line 1 BlockSizes=4: at least one block with hosts"),
        ("BlockName=b", "line 1 BlockName=b: at least one block with hosts"),
        ("BlockName=b Nodes=a\nBlockName=b Nodes=c", "block b occurs twice"),
        ("BlockName=b Nodes=a\nBlockName=c Nodes=a", "host a is also in block b"),
        ("BlockName=b Nodes=a BlockSize=2", "block b has 1 hosts, but the first"),
        ("BlockName=b Nodes=a BlockSize=x", "block sizes must be whole numbers"),
        ("AggregatedBlock=b Nodes=a BlockSize=2", "at least one block with hosts"),
        ("BlockName=b Nodes=a\nBlockSizes=2", "block b has 1 hosts, but the first"),
        ("BlockName=b Nodes=a\nBlockSizes=1,3", "size 3 must be 1 times a power of"),
        ("BlockName=b Nodes=a\nBlockSizes=1,1", "size 1 must be 1 times a power of"),
        ("BlockName=b Nodes=a\nBlockSizes=0", "size 0 must be"),
        ("BlockName=b Nodes=a\nBlockSizes=two", "block sizes must be whole numbers"),
        ("Colour=red", "no line of SwitchName, BlockName, NodeName in this file"),
        ("NodeName=a Gres=gpu:x:y:1", "'gpu:x:y:1' must be gpu"),
        ("NodeName=a Gres=gpu:99999", "'gpu:99999' must be gpu"),
        (
            "NodeName=a Gres=gpu:1\nNodeName=a Gres=gpu:1",
            "host a occurs in two NodeName",
        ),
        ("NodeName=a Gres=nic:1", "at least one GPU"),
    ],
)
def test_bad_configurations(tmp_path: Path, text: str, words: str) -> None:
    """Each broken line is one TopologyError that names file, line and rule."""
    with pytest.raises(TopologyError, match=words) as caught:
        read(tmp_path, text, gpus_per_host=8)
    assert "topology.conf" in str(caught.value)


def test_blocks_of_two_files(tmp_path: Path) -> None:
    """Blocks are joined in file order, so two files have no order."""
    paths = []
    for name in ("a", "b"):
        paths.append(tmp_path / f"{name}.conf")
        paths[-1].write_text(f"BlockName={name} Nodes={name}1\n")
    with pytest.raises(TopologyError, match="one file must hold them all"):
        Topology.read(paths, gpus_per_host=1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("b,a,b", ["a", "b"]),
        ("tux[0-3,12,18-20]", [f"tux{i}" for i in (0, 1, 2, 3, 12, 18, 19, 20)]),
        ("n[0098-0101]", ["n0098", "n0099", "n0100", "n0101"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("a[1-2],b3", ["a1", "a2", "b3"]),
    ],
)
def test_hostlists(text: str, names: list[str]) -> None:
    """Host lists unfold as Slurm unfolds them."""
    assert expand(text, "here") == names


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=s Nodes=n[" + "a" * 9999,
        "SwitchName=s Nodes=@" + "a" * 9999,
        "SwitchName=s " + "a" * 9999,
        "SwitchName=s Nodes=a " + "b" * 9999 + "=c",
        "NodeName=n Gres=gpu:" + "a:" * 9999,
        "NodeName=n State=" + "A" * 9999,
        "SwitchName=" + "s" * 9999 + " Nodes=a",
    ],
)
def test_messages_are_short(tmp_path: Path, text: str) -> None:
    """A message quotes the start of what is wrong, not a whole file."""
    with pytest.raises(TopologyError) as caught:
        read(tmp_path, text, gpus_per_host=1)
    assert len(str(caught.value)) < 1000

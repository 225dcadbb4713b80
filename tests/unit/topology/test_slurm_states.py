"""States of Slurm's hosts, from slurm.conf and from scontrol, as facts on the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology

TREE = "SwitchName=s Nodes=n[1-6]\n"
GRES = "NodeName=DEFAULT Gres=gpu:h100:1 State=UNKNOWN\nNodeName=n[1-6]\n"
ONE_LINE = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=32 CPUTot=128 Gres=gpu:h100:1(S:0-1) NodeAddr=n1 \
OS=Linux 6.8.0 #45~22.04-Ubuntu SMP RealMemory=1031000 State=IDLE+DRAIN ThreadsPerCore=2 \
Reason=State=DOWN soon # fan [root@2026-01-05T10:11:12]
NodeName=n2 Arch=x86_64 CPUTot=128 Gres=gpu:h100:1 State=MIXED ThreadsPerCore=2
NodeName=n3 CPUTot=128 Gres=gpu:h100:1 State=DOWN* ThreadsPerCore=2
NodeName=n4 CPUTot=128 Gres=(null) State=IDLE ThreadsPerCore=2
"""


def read(tmp_path: Path, *texts: str, tree: str = TREE, count: int = 0) -> Topology:
    """Compile texts as configurations beside a tree."""
    paths = []
    for index, text in enumerate((tree, *texts)):
        if text:
            paths.append(tmp_path / f"{index}.conf")
            paths[-1].write_text(text)
    return Topology.read(paths, gpus_per_host=count or None)


def health(topology: Topology) -> tuple[list[str], list[str]]:
    """Names of the tainted and of the cordoned leaves."""
    assert topology.report is not None
    return list(topology.report.tainted), list(topology.report.cordoned)


@pytest.mark.parametrize(
    ("state", "tainted", "cordoned"),
    [
        ("UNKNOWN", [], []),
        ("cloud", [], []),
        ("DOWN", ["n2/gpu-0"], []),
        ("Fail", ["n2/gpu-0"], []),
        ("FAILING", ["n2/gpu-0"], []),
        ("DRAIN", [], ["n2/gpu-0"]),
        ("DOWN+DRAIN", ["n2/gpu-0"], ["n2/gpu-0"]),
    ],
)
def test_slurm_conf(
    tmp_path: Path, state: str, tainted: list[str], cordoned: list[str]
) -> None:
    """State= of a NodeName line: down is unhealthy, drain takes no new work."""
    slurm = (
        f"NodeName=DEFAULT Gres=gpu:1\nNodeName=n1,n[3-6]\nNodeName=n2 State={state}"
    )
    assert health(read(tmp_path, slurm)) == (tainted, cordoned)


def test_down_nodes_lines(tmp_path: Path) -> None:
    """DownNodes= names hosts that are down, or in the state that it says."""
    lines = 'DownNodes=n[1-2] Reason="no fan"\nDownNodes=n3 State=DRAIN\n'
    made = read(tmp_path, lines + GRES)
    assert health(made) == (["n1/gpu-0", "n2/gpu-0"], ["n3/gpu-0"])


def test_state_of_default(tmp_path: Path) -> None:
    """NodeName=DEFAULT gives its state to the lines below it."""
    slurm = "NodeName=DEFAULT Gres=gpu:1 State=DRAIN\nNodeName=n[1-5]\n"
    made = read(tmp_path, slurm + "NodeName=n6 State=UNKNOWN\n")
    assert health(made)[1] == [f"n{i}/gpu-0" for i in range(1, 6)]


def test_future_hosts_are_left_out(tmp_path: Path) -> None:
    """A host that is still to come is no part of the cluster."""
    slurm = "NodeName=n[1-4] Gres=gpu:1\nNodeName=n[5-6] Gres=gpu:1 State=FUTURE\n"
    made = read(tmp_path, slurm)
    assert made.leaf_count == 4
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        "2 x host: its state FUTURE says that it is not there yet (n5, n6)"
    ]


def test_unknown_state(tmp_path: Path) -> None:
    """A word that is no state is refused with its line."""
    with pytest.raises(TopologyError, match="line 1: State: 'BROKEN' is no state of a"):
        read(tmp_path, "NodeName=n1 Gres=gpu:1 State=BROKEN")


def test_scontrol_lines(tmp_path: Path) -> None:
    """One line a host: spaces and # in other fields, a reason that tells a state."""
    made = read(tmp_path, ONE_LINE, tree="")
    assert made.names == ("n1/gpu-0", "n2/gpu-0", "n3/gpu-0")
    assert made.type_names == ("h100",)
    assert health(made) == (["n3/gpu-0"], ["n1/gpu-0"])


def test_scontrol_paragraphs(tmp_path: Path) -> None:
    """Without -o scontrol breaks a record over indented lines."""
    text = ONE_LINE.replace(" CPUTot", "\n   CPUTot").replace(" State", "\n   State")
    made = read(tmp_path, text.replace("\nNodeName", "\n\nNodeName"), tree="")
    assert health(made) == (["n3/gpu-0"], ["n1/gpu-0"])


SHOWN = """\
SwitchName=a Level=0 LinkSpeed=1 Nodes=n[1-2]
SwitchName=b Level=0 LinkSpeed=1 Nodes=n[3-4]
SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=a,b
"""


@pytest.mark.parametrize("hosts_first", [False, True])
@pytest.mark.parametrize("in_paragraphs", [False, True])
def test_one_stream_of_scontrol(
    tmp_path: Path, hosts_first: bool, in_paragraphs: bool
) -> None:
    """Topology and hosts shown one after the other, as two files of them would be."""
    hosts = ONE_LINE
    if in_paragraphs:
        hosts = hosts.replace(" CPUTot", "\n   CPUTot").replace(" State", "\n   State")
        hosts = hosts.replace("\nNodeName", "\n\nNodeName") + "\n"
    both = hosts + SHOWN if hosts_first else SHOWN + hosts
    made = read(tmp_path, both, tree="")
    assert made == read(tmp_path, SHOWN, ONE_LINE, tree="")
    assert made.levels == ("gpu", "host", "switch-0", "switch-1")
    assert made.names == ("n1/gpu-0", "n2/gpu-0", "n3/gpu-0")
    assert health(made) == (["n3/gpu-0"], ["n1/gpu-0"])


def test_lines_of_one_stream(tmp_path: Path) -> None:
    """An error names the line of the stream, in either part."""
    with pytest.raises(TopologyError, match=r"line 4: a record needs NodeName= and St"):
        read(tmp_path, SHOWN + "NodeName=n1 CPUTot=8 Gres=gpu:1\n", tree="")
    with pytest.raises(TopologyError, match=r"line 5 SwitchName=c: 'color' is no key"):
        read(tmp_path, ONE_LINE + "SwitchName=c Color=red\n", tree="")


def test_scontrol_wins_over_slurm_conf(tmp_path: Path) -> None:
    """What runs knows the states; the configured GPUs stay."""
    slurm = "NodeName=n[1-6] Gres=gpu:h100:1 State=DRAIN\n"
    made = read(tmp_path, ONE_LINE, slurm)
    assert made.leaf_count == 6
    drained = ["n1/gpu-0", "n5/gpu-0", "n6/gpu-0"]
    assert health(made) == (["n3/gpu-0"], drained)


def record(name: str, state: Any, **more: Any) -> dict[str, Any]:
    """One row of scontrol show nodes --json."""
    return {"name": name, "state": state, "gres": "gpu:h100:1", **more}


def read_json(tmp_path: Path, *rows: Any) -> Topology:
    """Compile rows of scontrol show nodes --json."""
    path = tmp_path / "nodes.json"
    path.write_text(json.dumps({"nodes": list(rows), "meta": {}, "errors": []}))
    return Topology.read(path)


def test_scontrol_json(tmp_path: Path) -> None:
    """States as a list, or as a text with flags beside it, as older versions write."""
    made = read_json(
        tmp_path,
        record("n1", ["IDLE", "DRAIN"]),
        record("n2", ["DOWN", "NOT_RESPONDING"]),
        record("n3", "idle", state_flags=["MAINTENANCE"]),
        record("n4", ["ALLOCATED"]),
    )
    assert health(made) == (["n2/gpu-0"], ["n1/gpu-0", "n3/gpu-0"])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (3, r"nodes\[1\]: must be a mapping"),
        (record("", "IDLE"), r"nodes\[1\]: name: must be a printable text, got ''"),
        (record("n2", 3), r"nodes\[1\] n2: state: must be a text or a list of texts"),
        (record("n2", []), r"nodes\[1\] n2: state: must be a text or a list of texts"),
        (record("n2", "IDLE", gres=4), r"nodes\[1\] n2: gres: must be a text, got 4"),
        (record("n1", "IDLE"), r"nodes\[1\]: host n1 occurs twice"),
        (record("n2", "IDLE", gres="gpu:x:y:1"), "'gpu:x:y:1' must be gpu"),
    ],
)
def test_broken_json(tmp_path: Path, row: Any, words: str) -> None:
    """A row of another shape is named by its index."""
    with pytest.raises(TopologyError, match=words):
        read_json(tmp_path, record("n1", "IDLE"), row)


def test_broken_lines(tmp_path: Path) -> None:
    """A record without a state is named by its line."""
    text = ONE_LINE + "NodeName=n9 CPUTot=4\n"
    with pytest.raises(TopologyError, match="line 5: a record needs NodeName= and St"):
        read(tmp_path, text, tree="")

"""Files as such: kinds by content, bad text, bounds, order of files and documents."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest, TopologyError
from phalanx_core.topology import Topology
from phalanx_core.topology.readers import sources
from tests.unit.topology.objects import gpu, node, slice_, write

OBJECTS = [
    *(node(f"host{i}", 2, block=f"b{i % 3}", rack="r") for i in range(1, 13)),
    *(slice_(f"host{i}", [gpu(1), gpu(0)]) for i in range(3, 9)),
    slice_("host20", [gpu(0)]),
    node("cpu1", None),
    {"kind": "Pod", "metadata": {"name": "p"}},
]


@given(st.permutations(OBJECTS), st.integers(0, len(OBJECTS)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_does_not_matter(
    tmp_path: Path, objects: list[dict[str, Any]], cut: int
) -> None:
    """Any order of documents over any two files gives the same cluster and report."""
    first = write(tmp_path / "1.json", *objects[:cut])
    second = write(tmp_path / "2.json", *objects[cut:])
    expected = Topology.read(write(tmp_path / "3.json", *OBJECTS))
    for paths in ([first, second], [second, first]):
        made = Topology.read(paths)
        assert made == expected
        assert made.names == expected.names
        assert made.report is not None
        assert expected.report is not None
        assert made.report.left_out == expected.report.left_out
        assert made.report.notes == expected.report.notes
        assert made.report.levels == expected.report.levels


LINES = [
    "SwitchName=core Switches=s[1-3]",
    "SwitchName=s1 Nodes=n[1-4]",
    "SwitchName=s2 Nodes=n[5-6],n20",
    "SwitchName=s3 Nodes=n[10-12]",
]


@given(st.permutations(LINES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_of_switches_does_not_matter(tmp_path: Path, lines: list[str]) -> None:
    """The lines of a tree may stand in any order."""
    (tmp_path / "a.conf").write_text("\n".join(lines))
    (tmp_path / "b.conf").write_text("\n".join(LINES))
    made, expected = (
        Topology.read(tmp_path / name, gpus_per_host=2) for name in ("a.conf", "b.conf")
    )
    assert made == expected
    assert made.names == expected.names


def test_directory_stdin_and_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One object as JSON, as YAML documents, in a directory and on standard input."""
    text = json.dumps(node("h1", 2))
    (tmp_path / "a.json").write_text(text + "\n" + json.dumps(node("h2", 2)) + "\n")
    (tmp_path / "b.yaml").write_text(f"---\n{text}\n---\n---\n{json.dumps(node('h3'))}")
    (tmp_path / "notes.txt").write_text("not read")
    made = Topology.read(tmp_path)
    assert made.leaf_count == 12
    assert made.report is not None
    assert (made.report.files, made.report.documents) == (2, 4)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert Topology.read("-").leaf_count == 2


DEEP = "[" * 70 + "]" * 70
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file holds no document"),
        ("# nothing\n", "the file holds no document"),
        ("---\n---\n", "the file holds no document"),
        ('{"kind": "Node"', "line 1 column 16: not JSON"),
        ('{"kind": ' + "9" * 5000 + "}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("kind: [", "not YAML"),
        ("kind: Node\n\tname: x", "not YAML"),
        (f"a: {DEEP}", "YAML is nested deeper than 64"),
        ("a: &a [*a]", r"alias \*a holds itself"),
        (BOMB, "YAML expands to more than"),
        ("a: !!python/object:os.system x", "not YAML"),
        ("a: 2024-13-45", "not YAML"),
        ("? [a]\n: b\n", "format not known|not YAML"),
        ("just words", "document 1: format not known"),
        ("[1, 2]", "document 1: format not known"),
        ("kind: 7", "document 1: format not known"),
        ("kind: List\nitems: 3", "List: items: must be a list"),
        ("kind: List\nitems: [3]", r"List: items\[0\]: must be a mapping"),
        ("kind: List\nitems: []", "at least one GPU.*left out: nothing"),
        ("kind: Pod", "at least one GPU"),
        ("kind: Node", "Node document 1: metadata: must be a mapping"),
        ("kind: Node\nmetadata: {name: 7}", "metadata.name: must be a text, got 7"),
        ("kind: Node\nmetadata: {name: h, labels: [a]}", "metadata.labels: must be a"),
        ("kind: Node\nmetadata: {name: h, labels: {a: 1}}", r"metadata.labels\[a\]"),
        ("kind: Node\nmetadata: {name: h}\nstatus: x", "Node h: status: must be a"),
        ("kind: Node\nmetadata: {name: h, labels: {1: a}}", r"labels\[1\]: must be a"),
        (
            "kind: Node\nmetadata: {name: h}\nstatus: {allocatable: []}",
            "allocatable: m",
        ),
    ],
)
def test_bad_files(tmp_path: Path, text: str, words: str) -> None:
    """Each bad file is one TopologyError that names the file."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(TopologyError, match=words) as caught:
        Topology.read(path)
    assert "bad.yaml" in str(caught.value)


@pytest.mark.parametrize("count", ["many", -1, 2.5, True, "1Ki", 99999, [8], ""])
def test_bad_gpu_counts(tmp_path: Path, count: Any) -> None:
    """A GPU count that is no whole number is refused with its field."""
    rule = r"Node h: status.allocatable\[nvidia.com/gpu\]: must be a whole number"
    with pytest.raises(TopologyError, match=rule):
        Topology.read(write(tmp_path / "n.json", node("h", count)))


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file, a missing one, wrong bytes, an empty directory, a file too large."""
    with pytest.raises(TopologyError, match="no file was given"):
        Topology.read([])
    with pytest.raises(
        TopologyError, match=r"gone\.yaml: cannot be read: No such file"
    ):
        Topology.read(tmp_path / "gone.yaml")
    with pytest.raises(TopologyError, match="the directory has no file of"):
        Topology.read(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"kind: \xff")
    with pytest.raises(TopologyError, match="byte 6: not UTF-8"):
        Topology.read(tmp_path)
    monkeypatch.setattr(sources, "BYTES_MAX", 4)
    with pytest.raises(TopologyError, match="at most 4 bytes"):
        Topology.read(tmp_path)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"gpus_per_host": 0},
            "gpus_per_host must be an integer from 1 to 1024, got 0",
        ),
        ({"gpus_per_host": True}, "got True"),
        ({"gpus_per_host": "8"}, "got '8'"),
        ({"label_keys": "a/b"}, "label_keys must be a list of texts"),
        ({"label_keys": ["a", ""]}, "label_keys must be a list of texts"),
        ({"label_keys": ["a", "a"]}, "label_keys: 'a' occurs twice"),
        ({"label_keys": 5}, "label_keys must be a list of texts, got 5"),
        ({"tolerate": "a/b"}, "tolerate must be a list of texts, got 'a/b'"),
        ({"tolerate": ["a", "a"]}, "tolerate: 'a' occurs twice"),
        ({"topology": ""}, "topology must be a name, got ''"),
        ({"topology": 7}, "topology must be a name, got 7"),
        ({"topology": "t", "label_keys": []}, "only one may name the levels"),
    ],
)
def test_bad_options(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    """Options that break a rule are the caller's mistake, not the file's."""
    with pytest.raises(InvalidRequest, match=words):
        Topology.read(write(tmp_path / "n.json", node("h")), **more)


def test_two_sources_of_levels(tmp_path: Path) -> None:
    """Switches win over known labels that hold with them; what crosses is refused."""
    nodes = write(
        tmp_path / "n.json", *(node(f"h{i}", 4, rack="ab"[i > 2]) for i in range(1, 5))
    )
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s Nodes=h[1-2]\nSwitchName=t Nodes=h[3-4]\n")
    made = Topology.read([nodes, conf])
    assert made.levels == ("gpu", "host", "switch-0")
    assert made.report is not None
    assert [str(entry) for entry in made.report.left_out] == [
        f"1 x label key: {conf} names the levels and holds with these labels "
        "(cloud.provider.com/topology-rack)"
    ]
    conf.write_text("SwitchName=s Nodes=h1\nSwitchName=t Nodes=h[2-4]\n")
    rule = (
        r"n\.json: Node h2: in switch-0 t by .*topology\.conf, in rack a by Node labels, "
        "and no tree holds both domains"
    )
    with pytest.raises(TopologyError, match=rule):
        Topology.read([nodes, conf])


def test_two_sources_by_wish(tmp_path: Path) -> None:
    """Keys that the caller gives and switches may not both name the domains."""
    nodes = write(tmp_path / "n.json", node("h1", 4, rack="r"), node("h2", 4, rack="r"))
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s Nodes=h[1-2]\n")
    rule = r"levels come from .*topology\.conf and from Node labels"
    with pytest.raises(TopologyError, match=rule):
        Topology.read([nodes, conf], label_keys=["cloud.provider.com/topology-rack"])


def test_switches_with_counts_from_nodes(tmp_path: Path) -> None:
    """Switches by Slurm and GPUs by Kubernetes join by host name."""
    nodes = write(tmp_path / "n.json", node("h1", 4), node("h2", 2))
    conf = tmp_path / "topology.conf"
    conf.write_text("SwitchName=s Nodes=h[1-2]\n")
    made = Topology.read([nodes, conf])
    assert made.levels == ("gpu", "host", "switch-0")
    assert made.leaf_count == 6


def test_import_loads_no_parser() -> None:
    """Importing the topology loads neither YAML nor ClusterShell."""
    code = (
        "import sys, phalanx_core.topology as t; "
        "t.Topology.from_spec('host:2 gpu:8').names; "
        "print([m for m in ('yaml', 'ClusterShell') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (None, "paths must be a path or a list of paths, got None"),
        (5, "paths must be a path or a list of paths, got 5"),
        ([None], "paths: None: must be a text or a path"),
        (b"x", "paths"),
        ("", "paths: '': must not be empty"),
        (["a", ""], "paths: '': must not be empty"),
    ],
)
def test_what_is_no_path_is_refused(paths: Any, words: str) -> None:
    """An unset variable does not mean the current directory."""
    with pytest.raises(InvalidRequest, match=words):
        Topology.read(paths)


def test_values_of_any_size(tmp_path: Path) -> None:
    """An error quotes the start of a value, and no depth is more than a refusal."""
    wide = slice_("h", [], pool={"name": ["x" * 10_000]})
    with pytest.raises(
        TopologyError, match=r"spec\.pool\.name: must be of type str"
    ) as caught:
        Topology.read(write(tmp_path / "wide.json", wide))
    assert len(str(caught.value)) < 1000
    for depth in range(800, 1000):
        pool = '{"name":' + "[" * depth + "]" * depth + "}"
        text = '{"kind":"ResourceSlice","spec":{"driver":"gpu.nvidia.com","pool":%s}}'
        (tmp_path / "deep.json").write_text(text % pool)
        with pytest.raises(TopologyError, match=r"deep\.json: "):
            Topology.read(tmp_path / "deep.json")


BELL = "a\x1b[31m"


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (node(BELL, 2), r"Node 'a\\x1b\[31m': metadata.name: must be printable"),
        (
            {**node("n", 2), "metadata": {"name": "n", "labels": {BELL: 7}}},
            r"Node n: 'metadata.labels\[a\\x1b\[31m\]': must be a text, got 7",
        ),
        (node("n", 2, block="b\n"), "key and value must be printable, got 'b"),
        (slice_(BELL, [gpu(0)]), "spec.pool.name: must be printable, got"),
        (
            slice_("h", [gpu(0)], nodeName=BELL),
            "spec.nodeName: must be printable, got",
        ),
        (
            {"kind": BELL, "metadata": {"name": BELL}},
            r"1 x object of kind 'a\\x1b\[31m': this kind is not read \('a\\x1b",
        ),
    ],
)
def test_names_are_printable(tmp_path: Path, thing: dict[str, Any], words: str) -> None:
    """A name that would steer a terminal is refused by file, object and field."""
    with pytest.raises(TopologyError, match=words):
        Topology.read(write(tmp_path / "1.json", thing))

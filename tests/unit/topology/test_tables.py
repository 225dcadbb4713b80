"""Plain tables: the header's rules, every bad row by its line, and round trips."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import TopologyError
from phalanx_core.topology import Topology

TABLE = """\
pod,rack,host,gpu,type,nic_rail,health
p1,r1,h2,gpu-0,H100,1,up
p1,r1,h2,gpu-1,H100,0,down

p1,r1,h1,gpu-0,A100,,
p2,r1,h10,gpu-10,H100,5,suspect
p2,r1,h10,gpu-9,H100,4,
,r9,h11,0,,,cordoned
"""


def read(tmp_path: Path, text: str, name: str = "table.csv") -> Topology:
    """Compile one text."""
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return Topology.read(path)


def test_columns(tmp_path: Path) -> None:
    """Levels widest first, then host and GPU, then what is optional."""
    made = read(tmp_path, TABLE)
    assert made.levels == ("gpu", "host", "rack", "pod", "cluster")
    assert made.names == (
        *("h1/gpu-0", "h2/gpu-0", "h2/gpu-1"),
        *("h10/gpu-9", "h10/gpu-10", "h11/0"),
    )
    assert made.types == ("A100", "H100", "H100", "H100", "H100", "gpu")
    assert made.nic_rails is not None
    assert made.nic_rails.tolist() == [0, 1, 0, 4, 5, 0]
    # "r1" of two pods are two racks; a host without a pod has none.
    assert made.domain_of("rack").tolist() == [0, 0, 0, 1, 1, 2]
    assert made.domain_of("pod").tolist() == [0, 0, 0, 1, 1, -1]
    assert made.report is not None
    assert made.report.tainted == ("h2/gpu-1", "h10/gpu-10")
    assert made.report.cordoned == ("h11/0",)


def test_only_hosts(tmp_path: Path) -> None:
    """No level above the host; the header tells a table whatever the file's name."""
    made = read(tmp_path, 'host,"gpu"\r\nh1,a\r\nh1,b\r\n', "cluster.txt")
    assert made.levels == ("gpu", "host", "cluster")
    assert made.names == ("h1/a", "h1/b")


def test_own_root(tmp_path: Path) -> None:
    """A table may name the cluster itself."""
    made = read(tmp_path, "cluster,host,gpu\nc1,h1,a\nc2,h2,a\n")
    assert made.levels == ("gpu", "host", "cluster")
    assert made.domain_names("cluster") == ("c1", "c2")


def test_order_does_not_matter(tmp_path: Path) -> None:
    """Rows in any order, over two files of one header, give the same topology."""
    header, *rows = TABLE.splitlines()
    for name, part in (("1.csv", rows[4:]), ("2.csv", rows[:4][::-1])):
        (tmp_path / name).write_text("\n".join([header, *part]))
    made = Topology.read(tmp_path)
    (tmp_path / "whole").mkdir()
    expected = read(tmp_path / "whole", TABLE)
    assert made == expected
    assert made.names == expected.names


LEAF = {"host": "h1", "gpu": "a"}


def test_json(tmp_path: Path) -> None:
    """The same rows as mappings; null and absent are the same."""
    leaves = [
        {"pod": "p", "rack": "r1", **LEAF, "type": "H100", "nic_rail": 3},
        {"pod": "p", "rack": None, "host": "h2", "gpu": "a", "health": "down"},
        {"pod": "p", "host": "h2", "gpu": "b", "nic_rail": "7"},
    ]
    body = {"levels": ["pod", "rack"], "leaves": leaves}
    made = read(tmp_path, json.dumps(body), "table.json")
    assert made.levels == ("gpu", "host", "rack", "pod", "cluster")
    assert made.domain_of("rack").tolist() == [0, -1, -1]
    assert made.nic_rails is not None
    assert made.nic_rails.tolist() == [3, 0, 7]
    assert made.report is not None
    assert made.report.tainted == ("h2/a",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # The header.
        ("", "table.csv: a header line is needed"),
        ("\n\n", "table.csv: a header line is needed"),
        ("rack,host\n", "line 1: header: column gpu is needed"),
        ("gpu\n", "line 1: header: column host is needed"),
        ("host;gpu\n", "column host is needed, separated by commas, got host;gpu"),
        ("gpu,host\n", "line 1: header: column gpu must follow host"),
        ("host,rack,gpu\n", "line 1: header: column gpu must follow host"),
        (
            "host,gpu,rack\n",
            "column rack: levels stand before host, and after gpu only",
        ),
        ("type,host,gpu\n", "line 1: header: type is no name of a level"),
        ("rack,rack,host,gpu\n", "line 1: header: column rack occurs twice"),
        ("rack,,host,gpu\n", "header: a column must have a printable name, got ''"),
        ("a\x1bb,host,gpu\n", r"a column must have a printable name, got 'a.x1bb'"),
        # The rows, by line.
        ("host,gpu\nh1,a\nh1\n", "line 3: 1 cells, but the header has 2"),
        ("host,gpu\nh1,a,b\n", "line 2: 3 cells, but the header has 2"),
        ("host,gpu\n,a\n", "line 2: host: must not be empty"),
        ("host,gpu\nh1,\n", "line 2: gpu: must not be empty"),
        (
            "host,gpu\nh1,a\n\nh1,a\n",
            "line 4: gpu: a of host h1 is already at .*line 2",
        ),
        (
            "rack,host,gpu\nr1,h1,a\nr2,h1,b\n",
            "line 3: rack: 'r2', but host h1 is in 'r1' at .*line 2",
        ),
        (
            "rack,host,gpu\nr1,h1,a\n,h1,b\n",
            "line 3: rack: '', but host h1 is in 'r1' at .*line 2",
        ),
        ("host,gpu,nic_rail\nh1,a,x\n", "line 2: nic_rail: must be a whole number"),
        ("host,gpu,nic_rail\nh1,a,-1\n", "line 2: nic_rail: must be a whole number"),
        ("host,gpu,nic_rail\nh1,a,1024\n", "from 0 to 1023, got '1024'"),
        ("host,gpu,health\nh1,a,ill\n", "line 2: health: must be one of up, suspect"),
        (
            "host,gpu,health\nh1,a,up\nh1,b,cordoned\n",
            "line 3: health: a cordon is of a whole host, but h1 has none at .*line 2",
        ),
        ('host,gpu\nh1,"a\n', "line 2: not CSV"),
        ('host,gpu\nh1,"a"b\n', "line 2: not CSV"),
        ("host,gpu\nh1,a\x1b\n", "must be printable"),
        ("host,gpu\n", "at least one GPU"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, words: str) -> None:
    """Each is one TopologyError that names file, line, column and rule."""
    with pytest.raises(TopologyError, match=words):
        read(tmp_path, text)


def test_two_headers(tmp_path: Path) -> None:
    """Tables of one read must name the same levels."""
    (tmp_path / "1.csv").write_text("rack,host,gpu\nr,h1,a\n")
    (tmp_path / "2.csv").write_text("pod,host,gpu\np,h2,a\n")
    with pytest.raises(TopologyError, match=r"2.csv: levels \['pod'\] differ from"):
        Topology.read(tmp_path)


@pytest.mark.parametrize(
    ("levels", "leaves", "words"),
    [
        ("rack", [], "document 1: levels: must be a list"),
        ([], {}, "document 1: leaves: must be a list"),
        ([3], [], "levels: a level's name must be a printable text, got 3"),
        (["host"], [], "levels: host is no name of a level"),
        ([], [3], r"leaves\[0\]: must be a mapping"),
        ([], [{**LEAF, "rack": "r"}], r"leaves\[0\].rack: is no level and no column"),
        (["rack"], [{**LEAF, "rack": 3}], r"leaves\[0\].rack: must be a text, got 3"),
        ([], [{"host": "h1"}], r"leaves\[0\]: gpu: must not be empty"),
        ([], [{**LEAF, "nic_rail": True}], "nic_rail: must be a text, got True"),
        ([], [{**LEAF, "nic_rail": -3}], r"leaves\[0\]: nic_rail: must be a whole"),
        (
            [],
            [LEAF, LEAF],
            r"leaves\[1\]: gpu: a of host h1 is already at .*leaves\[0\]",
        ),
    ],
)
def test_bad_json(tmp_path: Path, levels: Any, leaves: Any, words: str) -> None:
    """Each names the file, the leaf's index, the field and the rule."""
    body = json.dumps({"levels": levels, "leaves": leaves})
    with pytest.raises(TopologyError, match=words) as caught:
        read(tmp_path, body, "t.json")
    assert "t.json" in str(caught.value)


LABELS = st.text('ab,"1 é', min_size=1, max_size=4).map(str.strip).filter(bool)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[dict[str, str]]]:
    """Levels and rows: hosts with their domains, each with a few GPUs."""
    levels = draw(st.sampled_from([[], ["rack"], ["pod", "rack"], ["a,b", 'c"d', "e"]]))
    names = draw(st.lists(LABELS, min_size=1, max_size=5, unique=True))
    rows = []
    for name in names:
        domains = {level: draw(st.one_of(st.just(""), LABELS)) for level in levels}
        for gpu in draw(st.lists(LABELS, min_size=1, max_size=4, unique=True)):
            more = {
                "type": draw(st.sampled_from(["", "H100", "A100"])),
                "nic_rail": draw(st.sampled_from(["", "0", "17"])),
                "health": draw(st.sampled_from(["", "up", "down"])),
            }
            rows.append({**domains, "host": name, "gpu": gpu, **more})
    return levels, draw(st.permutations(rows))


def texts(levels: list[str], rows: list[dict[str, str]]) -> dict[str, str]:
    """The table as CSV and as JSON."""
    columns = [*levels, "host", "gpu", "type", "nic_rail", "health"]
    stream = io.StringIO()
    lines = csv.DictWriter(stream, columns)
    lines.writeheader()
    lines.writerows(rows)
    leaves = [{key: text for key, text in row.items() if text} for row in rows]
    body = json.dumps({"levels": levels, "leaves": leaves})
    return {"t.csv": stream.getvalue(), "t.json": body}


@given(tables())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip(
    tmp_path: Path, table: tuple[list[str], list[dict[str, str]]]
) -> None:
    """What was written is what is read, row by row, from CSV and from JSON."""
    levels, rows = table
    for name, text in texts(levels, rows).items():
        made = read(tmp_path, text, name)
        assert made.levels == ("gpu", "host", *reversed(levels), "cluster")
        assert made.report is not None
        assert made.leaf_count == len(rows)
        for row in rows:
            leaf = made.leaf(f"{row['host']}/{row['gpu']}")
            assert made.types[leaf] == (row["type"] or "gpu")
            assert (made.names[leaf] in made.report.tainted) == (
                row["health"] == "down"
            )
            if row["nic_rail"]:
                assert made.nic_rails is not None
                assert made.nic_rails[leaf] == int(row["nic_rail"])
        _check_domains(made, levels, rows)


def _check_domains(
    made: Topology, levels: list[str], rows: list[dict[str, str]]
) -> None:
    """Two rows share a domain exactly if they share its label and those above it."""
    leaves = [made.leaf(f"{row['host']}/{row['gpu']}") for row in rows]
    for depth, level in enumerate(levels, start=1):
        domains = made.domain_of(level)[leaves]
        paths = [tuple(row[name] for name in levels[:depth]) for row in rows]
        for row, domain in zip(rows, domains, strict=True):
            assert (domain < 0) == (row[level] == "")
        pairs = {
            (domain, path)
            for domain, path in zip(domains.tolist(), paths, strict=True)
            if domain >= 0
        }
        assert len(pairs) == len({d for d, _ in pairs}) == len({p for _, p in pairs})

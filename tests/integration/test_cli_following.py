"""``phalanx place --state`` on a cluster that is no longer as it was saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from phalanx_core.cli.app import run
from tests.integration.clusters import A100, H100, SIX, write_nodes

JOBS = """\
- {name: a, ranks: 16, group: 8, within: rack}
- {name: b, ranks: 8}
"""


class Cluster:
    """One directory: a cluster file, a jobs file, and the state from run to run."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = root / "nodes.json"
        self.jobs = root / "jobs.yaml"
        self.state = root / "state.json"
        self.capsys = capsys
        self.jobs.write_text(JOBS)

    def run(self, *options: str) -> tuple[int, str, str]:
        """A run as a person starts it: code, stdout, stderr."""
        paths = [str(self.file), str(self.jobs), "--state", str(self.state)]
        code = run(["place", *paths, *options])
        out, err = self.capsys.readouterr()
        return code, out, err

    def answer(self, *options: str) -> dict[str, Any]:
        """The JSON document of a run."""
        code, out, err = self.run("--json", *options)
        assert err == ""
        document = json.loads(out)
        assert document["exit_code"] == code
        return document


@pytest.fixture
def cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cluster:
    """Six hosts in two racks; job a on h1 and h2, job b on h3."""
    monkeypatch.setenv("COLUMNS", "88")
    made = Cluster(tmp_path, capsys)
    write_nodes(made.file, SIX)
    assert hosts(made.answer()) == {"a": ["h1", "h2"], "b": ["h3"]}
    return made


def hosts(document: dict[str, Any]) -> dict[str, list[str]]:
    """Hosts of each placed job in rank order."""
    return {
        job["name"]: [host["host"] for host in job["hosts"]]
        for job in document["jobs"]
        if job["status"] != "refused"
    }


def sync(document: dict[str, Any]) -> dict[str, Any]:
    """The one sync report, what it does not speak of left out."""
    (report,) = document["sync"]
    return {key: told for key, told in report.items() if told not in ([], {})}


def hit(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Kind of event, job and status of all that was hit."""
    return [
        (event["event"], row["name"], row["status"])
        for event in document["events"]
        for row in event["hit"]
    ]


def test_nothing_changed_says_nothing(cluster: Cluster) -> None:
    """A first run has no report, a second an empty one and no line of text."""
    code, out, _ = cluster.run()
    assert (code, "sync" in out) == (0, False)
    document = cluster.answer()
    assert document["sync"] == [
        {
            "type": H100,
            "changed": False,
            "added": {},
            "removed": {},
            "moved": {},
            "altered": {},
            "kept": ["a", "b"],
            "broken": [],
            "held": [],
            "warnings": [],
        }
    ]
    cluster.state.unlink()
    assert cluster.answer()["sync"] == []


def test_a_host_that_its_source_calls_ill_is_left(cluster: Cluster) -> None:
    """The job on it is named, and repaired as after --fail; its rack has room now."""
    write_nodes(cluster.file, {**SIX, "h7": "r1"}, down=["h2"], cordoned=["h6"])
    document = cluster.answer()
    assert sync(document) == {
        "type": H100,
        "changed": True,
        "added": {"h7": 8},
        "altered": {
            "h2": ["8 gpu unhealthy by their source"],
            "h6": ["8 gpu cordoned"],
        },
        "kept": ["b"],
        "broken": [["a", "8 gpu unhealthy by their source (h2/gpu-0, ...)"]],
    }
    (event,) = document["events"]
    assert (event["event"], event["target"]) == ("sync", "cluster files")
    (mended,) = event["hit"]
    assert mended["moves"] == [
        {"rank": 8 + at, "from": f"h2/gpu-{at}", "to": f"h7/gpu-{at}"}
        for at in range(8)
    ]
    assert hosts(document) == {"a": ["h1", "h7"], "b": ["h3"]}
    assert document["exit_code"] == 0


def test_a_repair_that_a_change_asks_for_may_be_refused(cluster: Cluster) -> None:
    """Code 1 and numbers; the next run tries again, and a source that is well heals."""
    write_nodes(cluster.file, SIX, down=["h2"])
    document = cluster.answer()
    assert hit(document) == [("sync", "a", "refused")]
    misfit = document["events"][0]["hit"][0]["misfit"]
    assert (misfit["code"], misfit["proven"]) == ("REPLACEMENT", True)
    assert misfit["reason"] == (
        "job 'a': no replacement for ranks 8-15 of groups of 8: rack r1 has 0 gpus "
        "available; 24 held by jobs"
    )
    assert document["exit_code"] == 1
    again = cluster.answer()
    assert (again["sync"][0]["changed"], hit(again)) == (
        False,
        [("resume", "a", "refused")],
    )
    write_nodes(cluster.file, SIX)
    well = cluster.answer()
    assert sync(well) == {
        "type": H100,
        "changed": True,
        "altered": {"h2": ["8 gpu no longer unhealthy by their source"]},
        "kept": ["a", "b"],
    }
    assert (hit(well), well["exit_code"]) == ([], 0)
    assert hosts(well) == {"a": ["h1", "h2"], "b": ["h3"]}


def test_a_cordon_closes_and_opens_with_its_source(cluster: Cluster) -> None:
    """Running jobs stay, new ones go elsewhere until the cordon is lifted."""
    write_nodes(cluster.file, SIX, cordoned=["h1", "h4", "h5", "h6"])
    cluster.jobs.write_text(f"{JOBS}- {{name: c, ranks: 24, group: 8}}\n")
    closed = cluster.answer()
    assert closed["sync"][0]["kept"] == ["a", "b"]
    assert hosts(closed) == {"a": ["h1", "h2"], "b": ["h3"]}
    assert "24 cordoned" in closed["jobs"][2]["misfit"]["reason"]
    write_nodes(cluster.file, SIX, cordoned=["h1"])
    assert hosts(cluster.answer())["c"] == ["h4", "h5", "h6"]


def test_what_fail_said_stays_until_heal(cluster: Cluster) -> None:
    """A source that comes and goes with its own word does not lift the operator's."""
    cluster.answer("--fail", "host=h4")
    write_nodes(cluster.file, SIX, down=["h4"])
    cluster.answer()
    write_nodes(cluster.file, SIX)
    document = cluster.answer()
    assert sync(document)["altered"] == {
        "h4": ["8 gpu no longer unhealthy by their source"]
    }
    assert "h4[xxxxxxxx]" in cluster.run()[1]
    # Nor does the host's absence.
    write_nodes(
        cluster.file, {host: rack for host, rack in SIX.items() if host != "h4"}
    )
    assert sync(cluster.answer())["removed"] == {"h4": 8}
    write_nodes(cluster.file, SIX)
    assert sync(cluster.answer())["altered"] == {
        "h4": ["8 gpu back with the mark it left with"]
    }
    assert "h4[xxxxxxxx]" in cluster.run()[1]
    cluster.answer("--heal", "host=h4")
    assert "h4[........]" in cluster.run()[1]


def test_heal_wins_over_the_source_for_one_run(cluster: Cluster) -> None:
    """The job is whole again and stays; a note says that the files still differ."""
    write_nodes(cluster.file, SIX, down=["h2"])
    document = cluster.answer("--heal", "host=h2,h4")
    assert hit(document) == []
    assert document["notes"] == [
        "8 leaves are down by their source",
        "--heal host=h2,h4: 8 leaves are still down or cordoned by their source, which "
        "the next run follows",
    ]
    assert hit(cluster.answer()) == [("sync", "a", "refused")]


def test_a_host_that_is_gone_keeps_its_place_until_it_is_fenced(
    cluster: Cluster,
) -> None:
    """Its ranks move to the host that came; what is left of it goes with --fenced."""
    racks = {host: rack for host, rack in SIX.items() if host != "h1"}
    write_nodes(cluster.file, {**racks, "h7": "r1"})
    document = cluster.answer()
    report = sync(document)
    assert (report["added"], report["removed"]) == ({"h7": 8}, {"h1": 8})
    assert report["broken"] == [["a", "8 gpu gone (h1/gpu-0, ...)"]]
    assert report["held"] == [f"h1/gpu-{at}" for at in range(8)]
    assert hit(document) == [("sync", "a", "repaired")]
    assert hosts(document) == {"a": ["h7", "h2"], "b": ["h3"]}
    assert document["leaves"] == 48
    assert "h1[qqqqqqqq]" in cluster.run()[1]
    assert "h1[" not in cluster.run("--fenced", "a")[1]


def test_a_job_that_ended_holds_nothing_that_is_gone(cluster: Cluster) -> None:
    """--release comes before the cluster is followed."""
    racks = {host: rack for host, rack in SIX.items() if host != "h1"}
    write_nodes(cluster.file, racks)
    cluster.jobs.write_text("- {name: b, ranks: 8}\n")
    document = cluster.answer("--release", "a")
    assert sync(document) == {
        "type": H100,
        "changed": True,
        "removed": {"h1": 8},
        "kept": ["b"],
    }


def test_limits_name_domains_as_they_are_now(cluster: Cluster) -> None:
    """A repair may use a rack that came later; the one that is excluded stays so."""
    cluster.state.unlink()
    cluster.jobs.write_text(
        "- {name: a, ranks: 16, group: 8, limits: {rack: {r2: 0}, host: {h1: 0}}}\n"
    )
    assert hosts(cluster.answer()) == {"a": ["h2", "h3"]}
    racks = {"h2": "r1", "h4": "r2", "h5": "r2", "h8": "r3"}
    write_nodes(cluster.file, racks)
    document = cluster.answer()
    assert hit(document) == [("sync", "a", "repaired")]
    assert hosts(document) == {"a": ["h2", "h8"]}


def test_a_part_keeps_its_limits_as_they_were(cluster: Cluster) -> None:
    """It takes nothing in a rack that came; the other part, without limits, does."""
    cluster.state.unlink()
    cluster.jobs.write_text(
        "- name: a\n"
        "  limits: {host: {h6: 0}}\n"
        "  parts:\n"
        "  - {ranks: 8, group: 8, limits: {rack: {r2: 0}}}\n"
        "  - {ranks: 8, group: 8}\n"
    )
    write_nodes(cluster.file, {"h1": "r1", "h2": "r1", "h6": "r2"})
    assert hosts(cluster.answer()) == {"a": ["h1", "h2"]}
    write_nodes(cluster.file, {"h1": "r1", "h8": "r3", "h9": "r3"})
    document = cluster.answer()
    assert hit(document) == [("sync", "a", "repaired")]
    assert hosts(document) == {"a": ["h1", "h8"]}
    write_nodes(cluster.file, {"h8": "r3", "h9": "r3"})
    document = cluster.answer("--fenced", "a")
    assert hit(document) == [("sync", "a", "refused")]


def test_another_cluster_is_refused_by_name(cluster: Cluster) -> None:
    """Not one leaf in common: the wrong file; the state is as it was."""
    before = cluster.state.read_bytes()
    write_nodes(cluster.file, {"x1": "r1", "x2": "r1"})
    assert cluster.run() == (
        3,
        "",
        f"phalanx: {cluster.state}: was saved for another cluster: none of its 48 leaves "
        "(h1/gpu-0, h1/gpu-1, ...) is among the 16 here (x1/gpu-0, x1/gpu-1, ...)\n",
    )
    assert cluster.state.read_bytes() == before


def test_other_levels_are_refused(cluster: Cluster) -> None:
    """Jobs are bound to the levels that they were placed with."""
    nodes = json.loads(cluster.file.read_text())
    for row in nodes["items"]:
        row["metadata"]["labels"]["cloud.provider.com/topology-block"] = "b"
    cluster.file.write_text(json.dumps(nodes))
    code, out, err = cluster.run()
    assert (code, out) == (3, "")
    assert err == (
        f"phalanx: {cluster.state}: was saved with levels gpu, host, rack, cluster, and "
        "this cluster has gpu, host, rack, block, cluster; jobs are bound to their levels\n"
    )


def test_gpu_types_come_and_go(cluster: Cluster) -> None:
    """A new type has its own planner; one that is gone must have lost its jobs."""
    mixed = {**SIX, "o1": "r3", "o2": "r3"}
    write_nodes(cluster.file, mixed, a100=["o1", "o2"])
    cluster.jobs.write_text(
        JOBS.replace("}", f", type: {H100}}}")
        + f"- {{name: c, ranks: 8, type: {A100}}}\n"
    )
    assert cluster.run()[0] == 2  # a and b asked for no type
    cluster.jobs.write_text(f"{JOBS}- {{name: c, ranks: 8, type: {A100}}}\n")
    assert hosts(cluster.answer())["c"] == ["o1"]
    # Both types lose a host that is held, and the picture has both.
    left = {host: rack for host, rack in mixed.items() if host not in ("h3", "o1")}
    write_nodes(cluster.file, left, a100=["o2"])
    document = cluster.answer()
    assert hit(document) == [("sync", "b", "repaired"), ("sync", "c", "repaired")]
    assert hosts(document) == {"a": ["h1", "h2"], "b": ["h4"], "c": ["o2"]}
    text = cluster.run()[1]
    assert "h1[AAAAAAAA] h2[AAAAAAAA] h3[qqqqqqqq]" in text
    assert "o2[CCCCCCCC] o1[qqqqqqqq]" in text
    write_nodes(cluster.file, SIX)
    code, out, err = cluster.run()
    assert (code, out) == (2, "")
    assert err == (
        f"phalanx: GPU type '{A100}' is on no leaf of the cluster any more, and the "
        "state has jobs on it: --release 'c'\n"
    )
    cluster.jobs.write_text(JOBS)
    assert hosts(cluster.answer("--release", "c")) == {"a": ["h1", "h2"], "b": ["h4"]}


def test_buddy_follows_health_but_no_other_cluster(cluster: Cluster) -> None:
    """Its tree never changes, and what its source once called ill stays so."""
    cluster.state.unlink()
    racks = {f"h{at}": "r1" for at in range(4)}
    cluster.jobs.write_text("- {name: a, ranks: 8}\n")
    write_nodes(cluster.file, racks)
    assert hosts(cluster.answer("--alignment", "buddy")) == {"a": ["h0"]}
    write_nodes(cluster.file, racks, down=["h0"], cordoned=["h1"])
    document = cluster.answer()
    assert sync(document) == {
        "type": H100,
        "changed": True,
        "altered": {
            "h0": ["8 gpu unhealthy by their source"],
            "h1": ["8 gpu cordoned"],
        },
        "broken": [["a", "unhealthy by their source"]],
    }
    assert hosts(document) == {"a": ["h2"]}
    write_nodes(cluster.file, racks)
    assert "h1[--------]" in cluster.run()[1]
    assert "h1[........]" in cluster.run("--heal", "host=h1")[1]
    write_nodes(cluster.file, SIX)
    assert cluster.run() == (
        3,
        "",
        f"phalanx: {cluster.state}: the cluster is not the one it was saved for, and "
        "--alignment buddy is for one that never changes; start a new state file\n",
    )


def test_a_released_job_can_be_fenced(cluster: Cluster) -> None:
    """What a broken job leaves behind is not lost with its name."""
    cluster.answer("--fail", "host=h3")
    cluster.jobs.write_text("- {name: a, ranks: 16, group: 8, within: rack}\n")
    assert "h3[qqqqqqqq]" in cluster.run("--release", "b")[1]
    assert "h3[xxxxxxxx]" in cluster.run("--fenced", "b")[1]
    assert cluster.run("--fenced", "b") == (
        2,
        "",
        "phalanx: --fenced 'b': the state holds no such job\n",
    )


def test_a_changed_cluster_is_drawn(
    cluster: Cluster, golden: Callable[[str, str], None]
) -> None:
    """Report, repair, refusal and picture are those of the golden file."""
    racks = {host: rack for host, rack in SIX.items() if host != "h3"}
    write_nodes(cluster.file, {**racks, "h7": "r2"}, down=["h2"], cordoned=["h6"])
    code, out, _ = cluster.run()
    assert code == 1
    golden("cli/place-changed.txt", out)


def test_the_page_shows_a_run(cluster: Cluster) -> None:
    """The example of docs/jobs-file.md is what is printed."""
    cluster.state.unlink()
    cluster.jobs.write_text(
        "- {name: a, ranks: 4, group: 2, within: rack}\n- {name: b, ranks: 2}\n"
    )
    two = dict.fromkeys([*SIX, "h7"], 2)
    write_nodes(cluster.file, SIX, gpus=two)
    assert hosts(cluster.answer()) == {"a": ["h1", "h2"], "b": ["h3"]}
    racks = {host: rack for host, rack in SIX.items() if host != "h2"}
    write_nodes(cluster.file, {**racks, "h7": "r1"}, gpus=two, cordoned=["h6"])
    printed = cluster.run()[1].partition("\n\n")[0]
    page = (Path(__file__).parents[2] / "docs/jobs-file.md").read_text("utf-8")
    assert printed.startswith("sync: 1 added")
    assert indent(printed, "    ") in page

"""The three example clusters, from their files to placed and repaired gangs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = {
    "h100-64": ("h100-64", "jobs.yaml"),
    "nvl72-pair": ("nvl72-pair.yaml", "jobs-nvl72.yaml"),
    "slurm-tree": ("slurm-tree", "jobs-slurm.yaml"),
}
EVENTS = {
    "h100-64": ["--spares", "superpod:host:1", "--fail", "host=h100-036"],
    "nvl72-pair": ["--fail", "host=gb200-a-03"],
    "slurm-tree": ["--fail", "host=dgx02", "--drain", "host=dgx13"],
}
# Only the Slurm drain and one NVL72 job are refused.
CODES = {"h100-64": 0, "nvl72-pair": 1, "slurm-tree": 1}


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are given as a reader of the README types them, on 88 columns."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "88")


def paths(example: str) -> list[str]:
    """Cluster and jobs file of an example."""
    cluster, jobs = CLUSTERS[example]
    return [f"examples/clusters/{cluster}", f"examples/{jobs}"]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON document of a place run."""
    run(["place", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def leaf_of_rank(job: dict[str, Any]) -> dict[int, str]:
    """Leaf name of each rank of a job of the document."""
    return {
        rank: leaf
        for host in job["hosts"]
        for rank, leaf in zip(host["ranks"], host["leaves"], strict=True)
    }


@pytest.mark.parametrize("example", CLUSTERS)
def test_topology_is_drawn(
    example: str,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    """Report and picture are those of the golden file."""
    assert run(["topology", paths(example)[0]]) == 0
    golden(f"cli/topology-{example}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("example", CLUSTERS)
def test_place_and_repair_are_drawn(
    example: str,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    """Table, pictures, repairs and refusals are those of the golden file."""
    code = run(["place", *paths(example), *EVENTS[example]])
    assert code == CODES[example]
    golden(f"cli/place-{example}.txt", capsys.readouterr().out)


WHERE = {
    "h100-64": {
        "llm-70b": ("superpod", "sp-2", 16),
        "llm-13b": ("leafgroup", "lg-01", 8),
        "vision": ("leafgroup", "lg-02", 5),
        "eval": ("leafgroup", "lg-14", 2),
        "sweep": ("fabric", "fabric-a", 4),
        "notebook": ("gpu", "h100-051/gpu-4", 1),
    },
    "nvl72-pair": {
        "moe": ("clique", "5f1c2d3e-0a4b-4c6d-8e7f-1029384756aa.1", 16),
        "dense": ("clique", "9b8a7c6d-5e4f-4a3b-9c2d-5647382910bb.1", 15),
        "chat": ("host", "gb200-b-16", 1),
    },
    "slurm-tree": {
        "climate": ("switch-1", "spine1", 9),
        "protein": ("switch-0", "leaf4", 5),
        "speech": ("switch-0", "leaf5", 3),
    },
}


@pytest.mark.parametrize("example", CLUSTERS)
def test_placements_are_right(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each job is in the domain that it should have, its groups on one host each."""
    spares = EVENTS[example][:2] if example == "h100-64" else []
    document = answer(capsys, *paths(example), *spares)
    placed = [job for job in document["jobs"] if job["status"] == "placed"]
    assert {
        job["name"]: (job["level"], job["domain"], len(job["hosts"])) for job in placed
    } == WHERE[example]
    taken = [leaf for job in placed for leaf in leaf_of_rank(job).values()]
    assert len(taken) == len(frozenset(taken))
    for job in placed:
        leaves = leaf_of_rank(job)
        assert sorted(leaves) == list(range(job["ranks"]))
        for group in job["groups"]:
            hosts = {leaves[rank].split("/")[0] for rank in group["ranks"]}
            assert hosts == {group["domain"]}


def test_a_refusal_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """The job that fits in no rack says which rack came nearest and what fills it."""
    document = answer(capsys, *paths("nvl72-pair"))
    refused = {job["name"]: job["misfit"] for job in document["jobs"] if job["misfit"]}
    assert {name: misfit["code"] for name, misfit in refused.items()} == {
        "distill": "CAPACITY"
    }
    record = refused["distill"]["records"][-1]
    assert (record["level"], record["available"], record["owned"]) == ("clique", 12, 60)
    assert "12" in refused["distill"]["reason"]
    assert document["exit_code"] == 1


@pytest.mark.parametrize(
    ("example", "host", "job", "ranks"),
    [
        ("h100-64", "h100-036", "llm-70b", range(24, 32)),
        ("h100-64", "h100-012", "vision", range(8)),
        ("h100-64", "h100-061", "eval", range(8)),
        ("nvl72-pair", "gb200-a-03", "moe", range(8, 12)),
        ("nvl72-pair", "gb200-b-01", "dense", range(4)),
        ("slurm-tree", "dgx02", "climate", range(8, 16)),
        ("slurm-tree", "dgx19", "speech", range(16, 20)),
    ],
)
def test_a_lost_host_moves_exactly_its_ranks(
    example: str,
    host: str,
    job: str,
    ranks: range,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ranks on the lost host move, off it; every other rank of every job stays."""
    state = ["--state", str(tmp_path / "state.json")]
    spares = EVENTS[example][:2] if example == "h100-64" else []
    run_ = answer(capsys, *paths(example), *spares, *state, "--fail", f"host={host}")
    (event,) = run_["events"]
    (mended,) = event["hit"]
    assert (mended["name"], mended["status"]) == (job, "repaired")
    assert [move["rank"] for move in mended["moves"]] == list(ranks)
    assert {move["from"].split("/")[0] for move in mended["moves"]} == {host}
    assert host not in {move["to"].split("/")[0] for move in mended["moves"]}
    after = answer(capsys, *paths(example), *state)
    moved = {move["rank"]: move["to"] for move in mended["moves"]}
    for before, now in zip(run_["jobs"], after["jobs"], strict=True):
        expected = leaf_of_rank(before)
        if before["name"] == job:
            expected |= moved
        assert leaf_of_rank(now) == expected


def test_a_spare_serves_where_nothing_else_is_free(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of three lost trays two go to free trays of the rack, the third to its spare."""
    document = answer(
        capsys,
        *paths("nvl72-pair"),
        *("--spares", "clique:host:1"),
        *("--fail", "host=gb200-b-01,gb200-b-02,gb200-b-03"),
    )
    (event,) = document["events"]
    (mended,) = event["hit"]
    assert (mended["name"], mended["spares_used"]) == ("dense", 1)
    assert {move["to"].split("/")[0] for move in mended["moves"]} == {
        "gb200-b-16",
        "gb200-b-17",
        "gb200-b-18",
    }
    assert (mended["level_before"], mended["level_after"]) == ("clique", "clique")


def test_draining_a_whole_domain(capsys: pytest.CaptureFixture[str]) -> None:
    """A job that needs a leaf group finds no other; the rest move to the other side."""
    document = answer(
        capsys,
        *paths("h100-64"),
        *("--spares", "superpod:host:1", "--drain", "superpod=sp-1"),
    )
    (event,) = document["events"]
    status = {row["name"]: row["status"] for row in event["hit"]}
    assert status == {"llm-13b": "refused", "vision": "repaired", "sweep": "repaired"}
    assert document["exit_code"] == 1

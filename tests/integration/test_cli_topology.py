"""Runs of ``phalanx topology``: what a cluster's export looks like to its admin."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.cli.app import run
from tests.unit.topology.objects import gpu, node, slice_, topology

RACK = "cloud.provider.com/topology-rack"


def export() -> dict[str, Any]:
    """What ``kubectl get resourceslices,nodes -o json`` lists: four hosts of two GPUs."""
    nodes = [node(f"h{at}", None, rack=f"r{at // 2}") for at in range(4)]
    nodes[1]["spec"] = {"unschedulable": True}
    nodes[2]["spec"] = {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}
    lost = gpu(1)
    lost["taints"] = [{"key": "gpu.nvidia.com/gpu-lost", "effect": "NoSchedule"}]
    slices = [slice_(f"h{at}", [gpu(0), gpu(1)]) for at in range(3)]
    slices.append(slice_("h3", [gpu(0), lost]))
    items = [*slices, *nodes]
    return {"apiVersion": "v1", "kind": "List", "items": items, "metadata": {}}


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "88")


def piped(monkeypatch: pytest.MonkeyPatch, body: object) -> None:
    """Let standard input hold a JSON document."""
    raw = json.dumps(body, indent=4).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def test_kubectl_through_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Report and picture of slices and hosts, cordons and lost GPUs drawn."""
    piped(monkeypatch, export())
    assert run(["topology", "-"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        "files 1  documents 8  hosts 4  leaves 8",
        "types  NVIDIA-H100-80GB-HBM3 x 8",
        "level             domains  fanout min / median / max",
        "cluster                 1  2 / 2 / 2",
        "rack                    2  2 / 2 / 2",
        "host                    4  2 / 2 / 2",
        "unhealthy  1 leaves by their source (h3/gpu-1)",
        "cordoned  4 leaves by their source (h1/gpu-0, h1/gpu-1, h2/gpu-0, ...)",
        "left out  1 x taint gpu.nvidia.com/gpu-lost:NoSchedule: health is told to the "
        "planner; the GPU stays a leaf (h3-slice/gpu-1)",
        "note  1 x host cordoned at its source by spec.unschedulable (h1)",
        "note  1 x host cordoned at its source by taint dedicated:NoSchedule (h2)",
        "",
        "cluster",
        "├─ r0",
        "│  h0[..] h1[--]",
        "└─ r1",
        "   h2[--] h3[.x]",
        "- cordoned",
        "x down",
    ]


def test_json_of_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for a program, with a taint tolerated."""
    piped(monkeypatch, export())
    assert run(["topology", "-", "--json", "--tolerate", "dedicated"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["levels"] == ["gpu", "host", "rack", "cluster"]
    report = document["report"]
    assert report["tainted"] == ["h3/gpu-1"]
    assert report["cordoned"] == ["h1/gpu-0", "h1/gpu-1"]
    assert report["odd"] == []
    assert (report["hosts"], report["leaves"]) == (4, 8)


def test_a_choice_of_topologies(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Several Topology objects are named, and one is chosen."""
    body = export()
    body["items"] += [topology(RACK), topology("kubernetes.io/hostname", name="flat")]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(body))
    assert run(["topology", str(path)]) == 2
    message = capsys.readouterr().err
    assert "kueue.x-k8s.io/default" in message
    assert "kueue.x-k8s.io/flat" in message
    assert "--topology" in message
    assert run(["topology", str(path), "--topology", "flat", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["levels"] == ["gpu", "host", "cluster"]
    assert run(["topology", str(path), "--topology", "x"]) == 2
    assert "topology 'x': no Topology object has this name" in capsys.readouterr().err


def test_place_around_cordons(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Cordoned hosts get no job until their taint is tolerated."""
    cluster, jobs = tmp_path / "cluster.json", tmp_path / "jobs.yaml"
    cluster.write_text(json.dumps(export()))
    jobs.write_text("- {name: a, ranks: 2}\n- {name: b, ranks: 2}\n")
    arguments = ["place", str(cluster), str(jobs), "--json"]
    assert run(arguments) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["notes"] == [
        "1 leaves are down by their source",
        "4 leaves are cordoned by their source",
    ]
    assert [row["status"] for row in document["jobs"]] == ["placed", "refused"]
    assert document["jobs"][0]["hosts"][0]["host"] == "h0"
    assert run([*arguments, "--tolerate", "dedicated"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["jobs"][1]["hosts"][0]["host"] == "h2"

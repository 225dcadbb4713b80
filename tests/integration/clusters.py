"""Clusters of Kubernetes Nodes in racks, written to a file as they are wanted."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

H100, A100 = "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"
# Two racks of three hosts.
SIX = {"h1": "r1", "h2": "r1", "h3": "r1", "h4": "r2", "h5": "r2", "h6": "r2"}


def write_nodes(
    path: Path,
    racks: Mapping[str, str],
    *,
    down: Collection[str] = (),
    cordoned: Collection[str] = (),
    gpus: Mapping[str, int] | None = None,
    a100: Collection[str] = (),
) -> Path:
    """Nodes of 8 GPUs, or as many as ``gpus`` says, by host and rack."""
    rows = []
    for host, rack in racks.items():
        labels = {
            "cloud.provider.com/topology-rack": rack,
            "nvidia.com/gpu.product": A100 if host in a100 else H100,
        }
        spec: dict[str, Any] = {"unschedulable": host in cordoned}
        if host in down:
            taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
            spec["taints"] = [taint]
        rows.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": host, "labels": labels},
                "spec": spec,
                "status": {
                    "allocatable": {"nvidia.com/gpu": (gpus or {}).get(host, 8)}
                },
            }
        )
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": rows}))
    return path

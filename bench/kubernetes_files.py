"""A cluster's files as ``kubectl get -o json`` writes them: hosts and ResourceSlices."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

FABRIC_KEYS = (
    "backend.coreweave.cloud/fabric",
    "backend.coreweave.cloud/superpod",
    "backend.coreweave.cloud/leafgroup",
)
BUS_IDS = ("18", "2a", "3a", "5d", "9a", "ab", "ba", "db")
GPUS = 8


def host(name: str, domains: tuple[str, str, str]) -> dict[str, Any]:
    """One Node, cut down to what identifies and counts it."""
    labels = {
        "kubernetes.io/hostname": name,
        **dict(zip(FABRIC_KEYS, domains, strict=True)),
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.count": str(GPUS),
    }
    allocatable = {"cpu": "124", "memory": "2011Gi", "nvidia.com/gpu": str(GPUS)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable},
    }


def gpu(host_index: int, gpu_index: int) -> dict[str, Any]:
    """One GPU of a slice with the attributes that its driver publishes."""
    return {
        "name": f"gpu-{gpu_index}",
        "attributes": {
            "type": {"string": "gpu"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "architecture": {"string": "Hopper"},
            "uuid": {"string": f"GPU-{host_index:08x}-0000-4000-8000-{gpu_index:012x}"},
            "resource.kubernetes.io/pciBusID": {
                "string": f"0000:{BUS_IDS[gpu_index]}:00.0"
            },
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


def resource_slice(name: str, host_index: int) -> dict[str, Any]:
    """The ResourceSlice of one host."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-gpu.nvidia.com"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [gpu(host_index, index) for index in range(GPUS)],
        },
    }


def write(folder: Path, hosts: int, seed: int) -> list[Path]:
    """Write ``nodes.json`` and ``slices.json`` of a cluster of irregular leaf groups.

    Leaf groups have 1 to 64 hosts, superpods 16 leaf groups; the slices are shuffled,
    as an API server lists them.
    """
    rng = random.Random(seed)
    groups: list[int] = []
    while len(groups) < hosts:
        groups += [(groups[-1] + 1 if groups else 0)] * rng.randint(1, 64)
    names = [f"h100-{index:05d}" for index in range(hosts)]
    nodes = [
        host(name, ("fabric-a", f"sp-{group // 16:03d}", f"lg-{group:04d}"))
        for name, group in zip(names, groups, strict=False)
    ]
    slices = [resource_slice(name, index) for index, name in enumerate(names)]
    rng.shuffle(slices)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "nodes.json", folder / "slices.json"]
    for path, items in zip(paths, (nodes, slices), strict=True):
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        path.write_text(json.dumps(listed), encoding="utf-8")
    return paths

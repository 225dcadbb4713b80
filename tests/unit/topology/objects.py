"""Small Kubernetes objects and files that the reader tests are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

H100 = "NVIDIA-H100-80GB-HBM3"


def node(
    name: str, gpus: int | str | None = 8, product: str | None = H100, **labels: str
) -> dict[str, Any]:
    """A Node; ``labels`` are keys of the Kueue example family ("block", "rack")."""
    made = {f"cloud.provider.com/topology-{key}": text for key, text in labels.items()}
    if product is not None:
        made["nvidia.com/gpu.product"] = product
    allocatable = {} if gpus is None else {"nvidia.com/gpu": gpus}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": made},
        "status": {"allocatable": allocatable},
    }


def gpu(minor: int, bus: str | None = None, kind: str = "gpu") -> dict[str, Any]:
    """A device of a ResourceSlice, by default placed by its minor number."""
    attributes: dict[str, Any] = {
        "type": {"string": kind},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "minor": {"int": minor},
    }
    if bus is not None:
        attributes["resource.kubernetes.io/pciBusID"] = {"string": bus}
    return {"name": f"gpu-{minor}", "attributes": attributes}


def slice_(
    host: str,
    devices: Sequence[dict[str, Any]],
    generation: int = 1,
    count: int = 1,
    name: str = "",
    **spec: Any,
) -> dict[str, Any]:
    """A ResourceSlice of gpu.nvidia.com; ``spec`` overrides its fields."""
    pool = {
        "name": host,
        "generation": generation,
        "resourceSliceCount": count,
    }
    body = {
        "driver": "gpu.nvidia.com",
        "nodeName": host,
        "pool": pool,
        "devices": list(devices),
        **spec,
    }
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name or f"{host}-slice"},
        "spec": body,
    }


def topology(
    *levels: str | tuple[str, str],
    name: str = "default",
    group: str = "kueue.x-k8s.io",
    version: str = "v1beta2",
) -> dict[str, Any]:
    """A Topology object; a pair is a label key and its alias."""
    rows = [
        {"nodeLabel": level}
        if isinstance(level, str)
        else {"nodeLabel": level[0], "alias": level[1]}
        for level in levels
    ]
    return {
        "apiVersion": f"{group}/{version}",
        "kind": "Topology",
        "metadata": {"name": name},
        "spec": {"levels": rows},
    }


def write(path: Path, *objects: Any) -> Path:
    """Write objects as one JSON list of kind List."""
    body = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    path.write_text(json.dumps(body), encoding="utf-8")
    return path

"""Kubernetes Nodes: GPUs from ``status.allocatable``, domains from labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers import label_families as families
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Gpu, Host, Inventory
from phalanx_core.topology.readers.products import type_name

GPUS = "nvidia.com/gpu"
PRODUCT = "nvidia.com/gpu.product"
REPLICAS = "nvidia.com/gpu.replicas"
GPUS_MAX = 1024
_ZERO_CLUSTER = re.compile(r"[0-]+(\..*)?")
_COUNT = re.compile(r"[0-9]{1,4}")


class KubernetesNodes:
    """Reader of ``kind: Node``, one host each."""

    def claims(self, document: Document) -> bool:
        """An object of kind Node, alone or of a list that names its kind."""
        return document.kind == "Node"

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts, their GPUs by number, and the domains of the chosen labels."""
        seen: dict[str, Any] = {}
        labels: dict[str, dict[str, str]] = {}
        for document in documents:
            name = _name(document)
            if name in seen:
                if seen[name] != document.body:
                    rule = "two different Nodes have this name"
                    raise document.refuse("metadata.name", rule)
                continue
            seen[name] = document.body
            labels[name] = _labels(document)
            host = inventory.host(name)
            host.gpus = _gpus(document, labels[name], inventory)
        inventory.node_labels.update(labels)
        inventory.finishers.append(_assign_levels)


def _assign_levels(inventory: Inventory) -> None:
    """Name levels and domains from the labels, once all hosts' GPUs are known."""
    hosts = [inventory.hosts[name] for name in inventory.node_labels]
    hosts = [host for host in hosts if host.gpus]
    counts: Counter[str] = Counter()
    for host in hosts:
        counts.update(inventory.node_labels[host.name].keys())
    keys = inventory.options.label_keys
    if keys is not None:
        rows, nvlink = _given(keys, counts)
    else:
        rows, nvlink = _default(inventory, hosts, counts)
    for host in hosts:
        _assign(host, inventory.node_labels[host.name], rows)
    inventory.set_levels([level for _, level in rows], "Node labels")
    if nvlink is not None:
        inventory.nvlink = nvlink
        _note_split(inventory, hosts, nvlink)
    for _, level in rows:
        lacking = sum(level not in host.domains for host in hosts)
        if lacking:
            inventory.notes.append(
                f"{lacking} of {len(hosts)} hosts have no {level}: "
                "they serve no constraint of that level"
            )


def _given(
    keys: Sequence[str], counts: Counter[str]
) -> tuple[list[tuple[str, str]], str | None]:
    if families.HOSTNAME in keys[:-1]:
        raise TopologyError(f"label key {families.HOSTNAME}: may only be the last")
    rows = families.level_names(keys)
    for key, _ in rows:
        if not counts[key]:
            raise TopologyError(f"label key {key}: no Node with a GPU has this label")
    links = dict(families.NVLINK_KEYS)
    nearest = [level for key, level in rows if key in links]
    return rows, nearest[-1] if nearest else None


def _default(
    inventory: Inventory, hosts: Sequence[Host], counts: Counter[str]
) -> tuple[list[tuple[str, str]], str | None]:
    rows, used, unused = families.choose(counts)
    for name in unused:
        why = f"labels of {used} describe the same network"
        inventory.leave_out("label family", why, name)
    links = [row for row in families.NVLINK_KEYS if counts[row[0]]]
    if not links:
        return rows, None
    for key, _ in links[1:]:
        why = f"{links[0][0]} names the NVLink domain"
        inventory.leave_out("label key", why, key)
    return [*rows, links[0]], links[0][1]


def _assign(host: Host, labels: dict[str, str], rows: list[tuple[str, str]]) -> None:
    for key, level in rows:
        value = labels.get(key, "")
        if value and not (key == families.CLIQUE and _ZERO_CLUSTER.fullmatch(value)):
            host.domains[level] = value


def _note_split(inventory: Inventory, hosts: Sequence[Host], nvlink: str) -> None:
    """An NVLink domain that crosses a level above it is compiled as several."""
    paths: dict[str, dict[tuple[str | None, ...], None]] = {}
    above = inventory.levels[: inventory.levels.index(nvlink)]
    for host in hosts:
        if nvlink in host.domains:
            path = tuple(host.domains.get(level) for level in above)
            paths.setdefault(host.domains[nvlink], {})[path] = None
    for label, found in paths.items():
        if len(found) > 1:
            inventory.notes.append(
                f"{nvlink} {label} lies in {len(found)} domains of the levels above: "
                "compiled as so many"
            )


def _name(document: Document) -> str:
    metadata = document.body.get("metadata")
    if not isinstance(metadata, dict):
        raise document.refuse("metadata", "must be a mapping")
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise document.refuse("metadata.name", f"must be a text, got {name!r}")
    if not name.isprintable():
        raise document.refuse("metadata.name", f"must be printable, got {name!r}")
    return name


def _labels(document: Document) -> dict[str, str]:
    labels = _mapping(document, "metadata.labels", document.body["metadata"])
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            rule = f"must be a text, got {value!r}"
            raise document.refuse(f"metadata.labels[{key}]", rule)
        if not (key.isprintable() and value.isprintable()):
            rule = f"key and value must be printable, got {value!r}"
            raise document.refuse(f"metadata.labels[{key!r}]", rule)
    return labels


def _gpus(
    document: Document, labels: dict[str, str], inventory: Inventory
) -> list[Gpu]:
    status = _mapping(document, "status", document.body)
    allocatable = _mapping(document, "status.allocatable", status)
    for key in allocatable:
        if str(key).startswith("nvidia.com/mig-"):
            why = "a part of a GPU is not a leaf"
            inventory.leave_out(f"resource {key}", why, document.object_name)
    count = _quantity(document, f"status.allocatable[{GPUS}]", allocatable.get(GPUS, 0))
    replicas = _quantity(
        document, f"metadata.labels[{REPLICAS}]", labels.get(REPLICAS, 1)
    )
    if replicas > 1:
        if count % replicas:
            rule = f"{count} does not divide into {replicas} replicas a GPU"
            raise document.refuse(f"status.allocatable[{GPUS}]", rule)
        count //= replicas
        inventory.notes.append(
            f"host {document.object_name} shares each GPU {replicas} times: "
            "one leaf a GPU"
        )
    product = labels.get(PRODUCT, "") or "gpu"
    kind = type_name(product.removesuffix("-SHARED"))
    return [Gpu(f"gpu-{index}", kind) for index in range(count)]


def _mapping(document: Document, path: str, parent: dict[str, Any]) -> dict[str, Any]:
    """The mapping at the end of a path in its parent, {} where there is none."""
    value = parent.get(path.rsplit(".", 1)[-1])
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise document.refuse(path, "must be a mapping")
    return value


def _quantity(document: Document, path: str, value: object) -> int:
    text = str(value) if isinstance(value, (int, str)) else ""
    if isinstance(value, bool) or not _COUNT.fullmatch(text) or int(text) > GPUS_MAX:
        rule = f"must be a whole number from 0 to {GPUS_MAX}, got {value!r}"
        raise document.refuse(path, rule)
    return int(text)


READER = KubernetesNodes()

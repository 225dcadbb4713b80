"""Kubernetes Nodes: GPUs from ``status.allocatable``, health from taints and cordons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Gpu, Host, Inventory, Reader, Texts
from phalanx_core.topology.readers.label_levels import assign_levels
from phalanx_core.topology.readers.node_health import mark, tell
from phalanx_core.topology.readers.products import type_name

GPUS = "nvidia.com/gpu"
PRODUCT = "nvidia.com/gpu.product"
REPLICAS = "nvidia.com/gpu.replicas"
GPUS_MAX = 1024
_FIELDS = {
    "metadata": ("name", "labels"),
    "spec": ("unschedulable", "taints"),
    "status": ("allocatable", "capacity"),
}
# A number of these may count parts, and no label that all clusters have tells.
_UNCOUNTED = ("amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe")
_KEPT = ("nvidia.com/", *_UNCOUNTED)
_COUNT = re.compile(r"[0-9]{1,4}")
_PART = re.compile(r"-MIG-\d")


class KubernetesNodes(Reader):
    """Reader of ``kind: Node``, one host each."""

    def claims(self, document: Document) -> bool:
        """An object of kind Node, alone or of a list that names its kind."""
        return document.kind == "Node"

    def trim(self, document: Document, texts: Texts) -> None:
        """Keep labels, cordon, taints and numbers of GPUs."""
        body = document.body
        kept: dict[str, Any] = {"kind": document.kind}
        for key, fields in _FIELDS.items():
            if key in body:
                kept[key] = _picked(body[key], fields)
        document.body = kept
        metadata, status = kept.get("metadata"), kept.get("status")
        if isinstance(metadata, dict) and "labels" in metadata:
            metadata["labels"] = _shared(metadata["labels"], ("",), texts)
        if isinstance(status, dict):
            for key, amounts in status.items():
                status[key] = _shared(amounts, _KEPT, texts)

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts, their GPUs by number and their health; labels are read last."""
        for document in documents:
            name = _name(document)
            if name in inventory.node_labels:
                _merge(inventory.hosts[name], document, inventory)
                continue
            labels = _labels(document)
            inventory.node_labels[name] = labels
            host = inventory.host(name)
            host.source = document
            host.gpus = _gpus(document, labels, inventory)
            host.why_empty = _why_empty(document)
            mark(document, host, inventory.options.tolerate)
        inventory.close_with(assign_levels)
        inventory.close_with(tell)


def _picked(value: Any, fields: Sequence[str]) -> Any:
    """A mapping's fields of these names; what is no mapping is refused later."""
    if not isinstance(value, dict):
        return value
    return {key: value[key] for key in fields if key in value}


def _shared(value: Any, starts: tuple[str, ...], texts: Texts) -> Any:
    """A mapping's entries whose key starts so or so, each text in its one copy."""
    if not isinstance(value, dict):
        return value
    copy = texts.setdefault
    return {
        # What is no text is refused when it is read.
        (copy(key, key) if type(key) is str else key): (
            copy(text, text) if type(text) is str else text
        )
        for key, text in value.items()
        if str(key).startswith(starts)
    }


def _merge(host: Host, document: Document, inventory: Inventory) -> None:
    """A second copy of a Node: the same GPUs and domains, the worse health."""
    first = host.source
    if first is None or first.body == document.body:
        return
    gpus = _gpus(document, _labels(document), inventory)
    if [gpu.type for gpu in gpus] != [gpu.type for gpu in host.gpus]:
        ours, theirs = (_described(row) for row in (gpus, host.gpus))
        rule = f"{ours}, but {theirs} in {first.file}"
        raise document.refuse(f"status.allocatable[{GPUS}]", rule)
    inventory.twins.append((first, document))
    before = (host.cordoned, host.down, host.marks)
    mark(document, host, inventory.options.tolerate)
    if (host.cordoned, host.down, host.marks) != before:
        inventory.remark(
            "Node whose copies differ in health: the worse counts", host.name
        )


def _described(gpus: Sequence[Gpu]) -> str:
    return f"{len(gpus)} GPUs" + (f" of type {gpus[0].type}" if gpus else "")


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
    product = labels.get(PRODUCT, "") or "gpu"
    if count and _PART.search(product):
        what = f"host whose {GPUS} are MIG parts"
        inventory.leave_out(what, "a part of a GPU is not a leaf", document.object_name)
        return []
    _compare_capacity(document, status, count, inventory)
    if replicas > 1:
        if count % replicas:
            rule = f"{count} does not divide into {replicas} replicas a GPU"
            raise document.refuse(f"status.allocatable[{GPUS}]", rule)
        count //= replicas
        inventory.remark(
            f"host that shares each GPU {replicas} times: one leaf a GPU",
            document.object_name,
        )
    kind = type_name(product.removesuffix("-SHARED"))
    return [Gpu(f"gpu-{index}", kind) for index in range(count)]


def _why_empty(document: Document) -> str:
    """Why a Node gives no leaf, unless a ResourceSlice does."""
    status = document.body.get("status") or {}
    for key in status.get("allocatable") or ():
        if key in _UNCOUNTED:
            return f"of {key} only ResourceSlices tell whether they are whole GPUs"
    return "it has no GPU"


def _compare_capacity(
    document: Document, status: dict[str, Any], count: int, inventory: Inventory
) -> None:
    """Note GPUs that the host has and does not offer; its Node does not say which."""
    capacity = status.get("capacity")
    value = capacity.get(GPUS) if isinstance(capacity, dict) else None
    if value is None:
        return
    whole = _quantity(document, f"status.capacity[{GPUS}]", value)
    if whole != count:
        what = "host that offers fewer GPUs than it has: those it offers are leaves"
        inventory.remark(what, f"{document.object_name}: {count} of {whole}")


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

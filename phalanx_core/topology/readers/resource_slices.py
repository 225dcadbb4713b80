"""Dynamic Resource Allocation (DRA) ResourceSlices of the driver gpu.nvidia.com."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Gpu, Inventory, natural
from phalanx_core.topology.readers.products import type_name

DRIVER = "gpu.nvidia.com"
GROUP = "resource.k8s.io/"
# Versions before this one keep attributes under a device's ``basic``.
_VERSIONS = ("v1alpha3", "v1beta1", "v1beta2", "v1")
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_BUS = re.compile(
    r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])", re.IGNORECASE
)
_VALUES = frozenset(("int", "bool", "string", "version"))
_LISTS = frozenset(("ints", "bools", "strings", "versions"))
_BUS_NAMES = ("resource.kubernetes.io/pciBusID", "pciBusID", "pcieBusID", "pciBusId")
_WHY = {
    "mig": "a part of a GPU is not a leaf",
    "vfio": "a GPU handed to a virtual machine is not a leaf",
}


class ResourceSlices:
    """Reader of ``kind: ResourceSlice``; its GPUs replace a Node's bare count."""

    def claims(self, document: Document) -> bool:
        """A ResourceSlice of any version."""
        return document.kind == "ResourceSlice"

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add the GPUs of every complete pool, by host and bus order."""
        pools: dict[str, dict[str, Document]] = {}
        for document in documents:
            spec = _spec(document)
            driver = spec.get("driver")
            if not isinstance(driver, str) or not driver:
                raise document.refuse("spec.driver", "must be a text")
            if driver != DRIVER:
                why = f"only slices of {DRIVER} hold GPUs"
                what = f"ResourceSlice of driver {driver}"
                inventory.leave_out(what, why, document.object_name)
                continue
            slices = pools.setdefault(_pool(document, "name", str), {})
            before = slices.setdefault(document.object_name, document)
            if before.body != document.body:
                slices[document.object_name] = _newer(before, document)
        found: dict[str, list[tuple[Any, ...]]] = {}
        for pool, slices in pools.items():
            for document in _complete(pool, list(slices.values()), inventory):
                _devices(document, found, inventory)
        _add(found, inventory)


def _spec(document: Document) -> dict[str, Any]:
    version = document.body.get("apiVersion", GROUP + "v1")
    if version not in [GROUP + known for known in _VERSIONS]:
        rule = f"must be {GROUP} with one of {', '.join(_VERSIONS)}, got {version!r}"
        raise document.refuse("apiVersion", rule)
    spec = document.body.get("spec")
    if not isinstance(spec, dict):
        raise document.refuse("spec", "must be a mapping")
    return spec


def _pool(document: Document, key: str, kind: type) -> Any:
    pool = document.body["spec"].get("pool")
    if not isinstance(pool, dict):
        raise document.refuse("spec.pool", "must be a mapping")
    value = pool.get(key, 0 if key == "generation" else None)
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        rule = f"must be of type {kind.__name__}, got {value!r}"
        raise document.refuse(f"spec.pool.{key}", rule)
    return value


def _newer(one: Document, other: Document) -> Document:
    """The higher generation of two states of one slice."""
    first = _pool(one, "generation", int)
    second = _pool(other, "generation", int)
    if first == second:
        rule = f"two different slices of generation {first} have this name"
        raise other.refuse("metadata.name", rule)
    return one if first > second else other


def _complete(
    pool: str, documents: list[Document], inventory: Inventory
) -> list[Document]:
    """Slices of the highest generation if all are here, else none."""
    newest = max(_pool(document, "generation", int) for document in documents)
    current = []
    for document in documents:
        if _pool(document, "generation", int) == newest:
            current.append(document)
        else:
            why = "its pool has a higher generation"
            inventory.leave_out("ResourceSlice", why, document.object_name)
    wanted = _pool(current[0], "resourceSliceCount", int)
    for document in current:
        if _pool(document, "resourceSliceCount", int) != wanted:
            rule = f"slices of pool {pool} disagree, {wanted} in another"
            raise document.refuse("spec.pool.resourceSliceCount", rule)
    if wanted == len(current):
        return current
    why = f"resourceSliceCount is {wanted}, seen {len(current)}"
    inventory.leave_out("pool", why, pool)
    return []


def _devices(
    document: Document,
    found: dict[str, list[tuple[Any, ...]]],
    inventory: Inventory,
) -> None:
    """Append (name, bus, minor, type, tainted, document) of each GPU to its host."""
    spec = document.body["spec"]
    places = [key for key in _PLACES if spec.get(key)]
    if len(places) != 1:
        rule = f"exactly one of {', '.join(_PLACES)} is needed, got {places}"
        raise document.refuse("spec", rule)
    devices = spec.get("devices")
    if devices is None:
        return
    if not isinstance(devices, list):
        raise document.refuse("spec.devices", "must be a list")
    for index, device in enumerate(devices):
        path = f"spec.devices[{index}]"
        if not isinstance(device, dict) or not isinstance(device.get("name"), str):
            raise document.refuse(path, "must be a mapping with a name")
        if not device["name"].isprintable():
            rule = f"must be printable, got {device['name']!r}"
            raise document.refuse(f"{path}.name", rule)
        owner = device if "perDeviceNodeSelection" in places else spec
        gpu = _gpu(document, path, device, inventory)
        if gpu is None:
            continue
        host = owner.get("nodeName")
        if host is None:
            why = "it belongs to no single host"
            inventory.leave_out("GPU", why, f"{document.object_name}/{gpu[0]}")
            continue
        if not isinstance(host, str) or not host or not host.isprintable():
            kind = "printable" if isinstance(host, str) and host else "a text"
            rule = f"must be {kind}, got {host!r}"
            raise document.refuse("spec.nodeName", rule)
        rows = found.get(host)
        if rows is None:
            rows = found[host] = []
        rows.append(gpu)


def _gpu(
    document: Document, path: str, device: dict[str, Any], inventory: Inventory
) -> tuple[Any, ...] | None:
    name = device["name"]
    inner = device.get("basic", device)
    attributes = inner.get("attributes") if isinstance(inner, dict) else None
    if attributes is None:
        attributes = {}
    if not isinstance(attributes, dict):
        raise document.refuse(f"{path}.attributes", "must be a mapping")
    kind = _read(document, path, attributes, ("type",), str)
    if kind != "gpu":
        what = f"device of type {kind}" if kind else "device without a type"
        why = _WHY.get(kind or "", "only type gpu is a leaf")
        inventory.leave_out(what, why, f"{document.object_name}/{name}")
        return None
    product = _read(document, path, attributes, ("productName",), str)
    bus = _read(document, path, attributes, _BUS_NAMES, str)
    minor = None
    if bus is None:
        minor = _read(document, path, attributes, ("minor", "index"), int)
    tainted = False
    if inner.get("taints") or device.get("taints"):
        tainted = _taints(document, f"{path}.taints", device, inner, inventory)
    return name, _bus(document, path, bus), minor, product or "gpu", tainted, document


def _read(
    document: Document,
    path: str,
    attributes: dict[str, Any],
    names: Sequence[str],
    kind: type,
) -> Any:
    """Value of the first attribute that is there, scalar or list of one, or None."""
    for name in names:
        value = attributes.get(name)
        if value is None:
            name = f"{DRIVER}/{name}"
            value = attributes.get(name)
            if value is None:
                continue
        if isinstance(value, dict) and len(value) == 1:
            ((form, content),) = value.items()
            if form in _LISTS and isinstance(content, list) and len(content) == 1:
                content = content[0]
            if type(content) is kind and (form in _VALUES or form in _LISTS):
                return content
        rule = f"must hold exactly one {kind.__name__}, got {value!r}"
        raise document.refuse(f"{path}.attributes[{name}]", rule)
    return None


def _bus(document: Document, path: str, text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    match = _BUS.fullmatch(text)
    if match is None:
        rule = f"{text!r} is no PCI address"
        raise document.refuse(f"{path}.attributes[pciBusID]", rule)
    domain, bus, slot, function = match.groups()
    return int(domain or "0", 16), int(bus, 16), int(slot, 16), int(function)


def _taints(
    document: Document,
    path: str,
    device: dict[str, Any],
    inner: dict[str, Any],
    inventory: Inventory,
) -> bool:
    """Count taints; True if one keeps work away. Health is the planner's matter."""
    taints = inner.get("taints") or device.get("taints")
    if not isinstance(taints, list):
        raise document.refuse(path, "must be a list")
    away = False
    for taint in taints:
        if not isinstance(taint, dict) or not isinstance(taint.get("key"), str):
            raise document.refuse(path, "each taint must be a mapping with a key")
        effect = taint.get("effect", "None")
        strong = effect in ("NoSchedule", "NoExecute")
        away = away or strong
        what = f"taint {taint['key']}:{effect if strong else 'None'}"
        why = "health is told to the planner; the GPU stays a leaf"
        inventory.leave_out(what, why, f"{document.object_name}/{device['name']}")
    return away


def _add(found: dict[str, list[tuple[Any, ...]]], inventory: Inventory) -> None:
    """Give each host its GPUs in order, in place of those that its Node counts."""
    unlabelled = [host for host in found if host not in inventory.node_labels]
    if inventory.node_labels and unlabelled:
        inventory.notes.append(
            f"{len(unlabelled)} hosts of ResourceSlices have no Node object, so no "
            "labels"
        )
    for name, rows in found.items():
        _sort(name, rows)
        host = inventory.host(name)
        if host.gpus and len(host.gpus) != len(rows):
            inventory.notes.append(
                f"host {name}: allocatable says {len(host.gpus)} GPUs, its "
                f"ResourceSlices {len(rows)}: the slices are used"
            )
        host.gpus = [Gpu(row[0], type_name(row[3]), row[4]) for row in rows]


def _sort(host: str, rows: list[tuple[Any, ...]]) -> None:
    """Sort by the first of bus, minor and name that all have; refuse equal ones."""
    column = 0
    if all(row[1] is not None for row in rows):
        column = 1
    elif all(row[2] is not None for row in rows):
        column = 2
    if column:
        rows.sort(key=itemgetter(column))
    else:
        rows.sort(key=lambda row: natural(row[0]))
    for what, index in (("named", 0), ("at the place of", column)):
        if len({row[index] for row in rows}) == len(rows):
            continue
        times = Counter(row[index] for row in rows)
        twin = next(row for row in rows if times[row[index]] > 1)
        rule = f"host {host} has two GPUs {what} {twin[0]!r}"
        raise twin[5].refuse("spec.devices", rule)


READER = ResourceSlices()

"""Devices of a ResourceSlice: attributes of any version, and which one is a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from phalanx_core.topology.readers.inventory import Gpu
from phalanx_core.topology.readers.products import type_name

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Inventory

DRIVER = "gpu.nvidia.com"
_BUS = re.compile(
    r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])", re.IGNORECASE
)
_VALUES = frozenset(("int", "bool", "string", "version"))
_LISTS = frozenset(("ints", "bools", "strings", "versions"))
# How almost every attribute is written.
_PLAIN = {str: "string", int: "int"}
_WHOLE = {"string": "gpu"}
_TYPE = ("type",)
_UUID = ("uuid",)
_PRODUCT = ("productName",)
_BUS_NAMES = ("resource.kubernetes.io/pciBusID", "pciBusID", "pcieBusID", "pciBusId")
_MINOR = ("minor", "index")
_PARENT = ("parentUUID",)
_WHY = {
    "mig": "a part of a GPU is not a leaf",
    "vfio": "a GPU handed to a virtual machine is not a leaf",
}
_type_name = lru_cache(maxsize=256)(type_name)


@dataclass(slots=True)
class Device(Gpu):
    """A whole GPU of a slice, with what orders it and tells it from others."""

    bus: tuple[int, ...] | None = None
    minor: int | None = None
    uuid: str | None = None
    consumes: Any = None
    path: str = ""
    document: Document = field(kw_only=True)


@dataclass(slots=True)
class Part:
    """A MIG device: a part of the GPU of a uuid."""

    parent: str | None


def inner_of(document: Document, path: str, device: Any) -> dict[str, Any]:
    """Where a device keeps its fields: v1alpha3 and v1beta1 do so under ``basic``.

    Raises
    ------
    TopologyError
        If it is no mapping with a printable name.
    """
    if not isinstance(device, dict) or not isinstance(device.get("name"), str):
        raise document.refuse(path, "must be a mapping with a name")
    if not device["name"].isprintable():
        rule = f"must be printable, got {device['name']!r}"
        raise document.refuse(f"{path}.name", rule)
    inner = device.get("basic", device)
    if not isinstance(inner, dict):
        raise document.refuse(f"{path}.basic", "must be a mapping")
    return inner


def read_device(
    document: Document,
    path: str,
    name: str,
    inner: dict[str, Any],
    inventory: Inventory,
) -> Device | Part | None:
    """The GPU that a device is, the part of one, or None; both latter are counted."""
    attributes = inner.get("attributes")
    if attributes is None:
        attributes = {}
    if not isinstance(attributes, dict):
        raise document.refuse(f"{path}.attributes", "must be a mapping")
    is_plain = attributes.get("type") == _WHOLE
    if not is_plain and _read(document, path, attributes, _TYPE, str) != "gpu":
        return _no_gpu(
            document, path, f"{document.object_name}/{name}", attributes, inventory
        )
    product = _read(document, path, attributes, _PRODUCT, str)
    bus = _read(document, path, attributes, _BUS_NAMES, str)
    minor = None
    if bus is None:
        minor = _read(document, path, attributes, _MINOR, int)
    tainted = False
    if inner.get("taints"):
        tainted = _taints(document, f"{path}.taints", name, inner["taints"], inventory)
    return Device(
        name,
        _type_name(product or "gpu"),
        tainted,
        bus=None if bus is None else _bus(document, path, bus),
        minor=minor,
        uuid=_read(document, path, attributes, _UUID, str),
        consumes=inner.get("consumesCounters"),
        path=path,
        document=document,
    )


def _no_gpu(
    document: Document,
    path: str,
    name: str,
    attributes: dict[str, Any],
    inventory: Inventory,
) -> Part | None:
    """Count a device of another type; a MIG device is a part of some GPU."""
    kind = _read(document, path, attributes, _TYPE, str)
    what = f"device of type {kind}" if kind else "device without a type"
    if not what.isprintable():
        rule = f"must be printable, got {kind!r}"
        raise document.refuse(f"{path}.attributes[type]", rule)
    inventory.leave_out(what, _WHY.get(kind or "", "only type gpu is a leaf"), name)
    if kind != "mig":
        return None
    return Part(_read(document, path, attributes, _PARENT, str))


def _read(
    document: Document,
    path: str,
    attributes: dict[str, Any],
    names: Sequence[str],
    kind: type,
) -> Any:
    """Value of the first attribute that is there, scalar or list of one, or None."""
    plain = attributes.get(names[0])
    if type(plain) is dict and len(plain) == 1:
        content = plain.get(_PLAIN[kind])
        if type(content) is kind:
            return content
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


# Hosts of one model have their GPUs at the same few addresses.
@lru_cache(maxsize=4096)
def _address(text: str) -> tuple[int, ...] | None:
    match = _BUS.fullmatch(text)
    if match is None:
        return None
    domain, bus, slot, function = match.groups()
    return int(domain or "0", 16), int(bus, 16), int(slot, 16), int(function)


def _bus(document: Document, path: str, text: str) -> tuple[int, ...]:
    address = _address(text)
    if address is None:
        rule = f"{text!r} is no PCI address"
        raise document.refuse(f"{path}.attributes[pciBusID]", rule)
    return address


def _taints(
    document: Document, path: str, name: str, taints: Any, inventory: Inventory
) -> bool:
    """Count taints; True if one keeps work away. Health is the planner's matter."""
    if not isinstance(taints, list):
        raise document.refuse(path, "must be a list")
    away = False
    for taint in taints:
        key = taint.get("key") if isinstance(taint, dict) else None
        if not isinstance(key, str):
            raise document.refuse(path, "each taint must be a mapping with a key")
        if not key.isprintable():
            raise document.refuse(path, f"a key must be printable, got {key!r}")
        effect = taint.get("effect", "None")
        # An effect that is not known is one without consequences, as the API says.
        strong = effect in ("NoSchedule", "NoExecute")
        away = away or strong
        what = f"taint {key}:{effect if strong else 'None'}"
        why = "health is told to the planner; the GPU stays a leaf"
        inventory.leave_out(what, why, f"{document.object_name}/{name}")
    return away

"""Devices of a ResourceSlice: attributes of any version, and which one is a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from phalanx_core.topology.readers.gpu_drivers import GPU_DRIVERS, GpuDriver
from phalanx_core.topology.readers.inventory import Gpu
from phalanx_core.topology.readers.products import type_name

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Inventory

_BUS = re.compile(
    r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])", re.IGNORECASE
)
_VALUES = frozenset(("int", "bool", "string", "version"))
_LISTS = frozenset(("ints", "bools", "strings", "versions"))
# How almost every attribute is written.
_PLAIN = {str: "string", int: "int"}
_PLACES = ("nodeName", "nodeSelector", "allNodes")
_type_name = lru_cache(maxsize=256)(type_name)


@dataclass(slots=True)
class Device(Gpu):
    """A whole GPU of a slice, with what orders it and tells it from others.

    ``place`` is where it says itself to be, where its slice leaves that to it.
    """

    bus: tuple[int, ...] | None = None
    minor: int | None = None
    uuid: str | None = None
    consumes: Any = None
    taints: tuple[tuple[str, str], ...] = ()
    place: dict[str, Any] | None = None
    index: int = 0
    document: Document = field(kw_only=True, compare=False)

    @property
    def path(self) -> str:
        """Where it stands in its document."""
        return f"spec.devices[{self.index}]"

    @property
    def full_name(self) -> str:
        """Its name behind that of its slice."""
        return f"{self.document.object_name}/{self.name}"


@dataclass(slots=True)
class NoGpu:
    """A device that is no whole GPU; a MIG device is a part of the GPU of a uuid."""

    name: str
    kind: str
    parent: str | None = None
    place: dict[str, Any] | None = None
    index: int = 0

    @property
    def path(self) -> str:
        """Where it stands in its document."""
        return f"spec.devices[{self.index}]"


def read_devices(document: Document, texts: dict[str, str]) -> list[Device | NoGpu]:
    """The devices of a slice, as much as is used of them.

    ``texts`` maps each text that recurs in many slices to its one copy.

    Raises
    ------
    TopologyError
        If the devices, or what they hold, are of another shape.
    """
    spec = document.body["spec"]
    devices = spec.get("devices")
    if devices is None:
        # A slice may hold the counters of its pool and nothing else.
        return []
    if not isinstance(devices, list):
        raise document.refuse("spec.devices", "must be a list")
    driver = GPU_DRIVERS[spec["driver"]]
    is_per_device = bool(spec.get("perDeviceNodeSelection"))
    found: list[Device | NoGpu] = []
    for index, device in enumerate(devices):
        # The usual shape is told without a call.
        name = device.get("name") if type(device) is dict else None
        if type(name) is str and name.isprintable() and "basic" not in device:
            inner = device
        else:
            inner = _inner(document, index, device)
            name = str(device["name"])
        name = texts.setdefault(name, name)
        made = _read_device(document, index, name, inner, driver)
        if is_per_device:
            made.place = {key: inner[key] for key in _PLACES if key in inner}
        found.append(made)
    return found


def _inner(document: Document, index: int, device: Any) -> dict[str, Any]:
    """Where a device keeps its fields: v1alpha3 and v1beta1 do so under ``basic``."""
    path = f"spec.devices[{index}]"
    if not isinstance(device, dict) or not isinstance(device.get("name"), str):
        raise document.refuse(path, "must be a mapping with a name")
    if not device["name"].isprintable():
        rule = f"must be printable, got {device['name']!r}"
        raise document.refuse(f"{path}.name", rule)
    inner = device.get("basic", device)
    if not isinstance(inner, dict):
        raise document.refuse(f"{path}.basic", "must be a mapping")
    return inner


def _read_device(
    document: Document, index: int, name: str, inner: dict[str, Any], driver: GpuDriver
) -> Device | NoGpu:
    attributes = inner.get("attributes")
    if attributes is None:
        attributes = {}
    if not isinstance(attributes, dict):
        rule = "must be a mapping"
        raise document.refuse(f"spec.devices[{index}].attributes", rule)
    if attributes.get("type") != driver.plain_type:
        kind = _read(document, index, attributes, driver.type, str)
        if kind != driver.whole and (driver.is_typed or kind is not None):
            parent = None
            if kind in driver.parts:
                parent = _read(document, index, attributes, driver.parent, str)
            return _no_gpu(document, index, name, kind or "", parent)
    product = _read(document, index, attributes, driver.product, str)
    bus = _read(document, index, attributes, driver.bus, str)
    minor = None
    if bus is None:
        minor = _read(document, index, attributes, driver.minor, int)
    taints = inner.get("taints")
    return Device(
        name,
        _type_name(product or "gpu"),
        bus=None if bus is None else _bus(document, index, bus),
        minor=minor,
        uuid=_read(document, index, attributes, driver.uuid, str),
        consumes=inner.get("consumesCounters"),
        taints=_taints(document, index, taints) if taints else (),
        index=index,
        document=document,
    )


def _no_gpu(
    document: Document, index: int, name: str, kind: str, parent: str | None
) -> NoGpu:
    if not kind.isprintable():
        rule = f"must be printable, got {kind!r}"
        raise document.refuse(f"spec.devices[{index}].attributes[type]", rule)
    return NoGpu(name, kind, parent, index=index)


def count_no_gpu(document: Document, device: NoGpu, inventory: Inventory) -> None:
    """Count a device of another type as left out."""
    driver = GPU_DRIVERS[document.body["spec"]["driver"]]
    what = f"device of type {device.kind}" if device.kind else "device without a type"
    why = f"only type {driver.whole} is a leaf"
    if device.kind in driver.parts:
        why = "a part of a GPU is not a leaf"
    elif device.kind == "vfio":
        why = "a GPU handed to a virtual machine is not a leaf"
    inventory.leave_out(what, why, f"{document.object_name}/{device.name}")


def mark(device: Device, driver: str, pool: str, inventory: Inventory) -> None:
    """Count a GPU's taints, and mark it if one that is not tolerated keeps work away."""
    rows = [(key, effect, "") for key, effect in device.taints]
    rows += [
        (rule.key, rule.effect, f" by DeviceTaintRule {rule.name}")
        for rule in inventory.taint_rules.of(driver, pool, device.name)
    ]
    for key, effect, source in rows:
        why = "health is told to the planner; the GPU stays a leaf"
        if key in inventory.options.tolerate:
            why = "it is tolerated"
        else:
            device.tainted |= effect != "None"
        inventory.leave_out(f"taint {key}:{effect}{source}", why, device.full_name)


def _read(
    document: Document,
    index: int,
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
            continue
        if isinstance(value, dict) and len(value) == 1:
            ((form, content),) = value.items()
            if form in _LISTS and isinstance(content, list) and len(content) == 1:
                content = content[0]
            if type(content) is kind and (form in _VALUES or form in _LISTS):
                return content
        rule = f"must hold exactly one {kind.__name__}, got {value!r}"
        path = f"spec.devices[{index}].attributes[{name}]"
        raise document.refuse(path, rule)
    return None


# Hosts of one model have their GPUs at the same few addresses.
@lru_cache(maxsize=4096)
def _address(text: str) -> tuple[int, ...] | None:
    match = _BUS.fullmatch(text)
    if match is None:
        return None
    domain, bus, slot, function = match.groups()
    return int(domain or "0", 16), int(bus, 16), int(slot, 16), int(function)


def _bus(document: Document, index: int, text: str) -> tuple[int, ...]:
    address = _address(text)
    if address is None:
        rule = f"{text!r} is no PCI address"
        path = f"spec.devices[{index}].attributes[pciBusID]"
        raise document.refuse(path, rule)
    return address


def _taints(document: Document, index: int, taints: Any) -> tuple[tuple[str, str], ...]:
    """(key, effect) of each; the health that follows is the planner's matter."""
    path = f"spec.devices[{index}].taints"
    if not isinstance(taints, list):
        raise document.refuse(path, "must be a list")
    found = []
    for taint in taints:
        key = taint.get("key") if isinstance(taint, dict) else None
        if not isinstance(key, str):
            raise document.refuse(path, "each taint must be a mapping with a key")
        if not key.isprintable():
            raise document.refuse(path, f"a key must be printable, got {key!r}")
        found.append((key, effect_of(taint)))
    return tuple(found)


def effect_of(taint: dict[str, Any]) -> str:
    """Effect of a taint; one that is not known has no consequences, as the API says."""
    effect = taint.get("effect", "None")
    return effect if effect in ("NoSchedule", "NoExecute") else "None"

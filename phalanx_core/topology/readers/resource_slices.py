"""Dynamic Resource Allocation (DRA) ResourceSlices of the drivers of GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.gpu_drivers import (
    GPU_DRIVERS,
    NO_GPU_DRIVER,
    OTHER_DRIVERS,
)
from phalanx_core.topology.readers.inventory import Inventory, Reader, Texts, natural
from phalanx_core.topology.readers.slice_counters import whole_gpus
from phalanx_core.topology.readers.slice_devices import (
    Device,
    NoGpu,
    count_no_gpu,
    mark,
    read_devices,
)
from phalanx_core.topology.readers.slice_places import Places
from phalanx_core.topology.readers.slice_pools import complete_pools

GROUP = "resource.k8s.io/"
# The first two keep a device's fields under ``basic``.
VERSIONS = ("v1alpha3", "v1beta1", "v1beta2", "v1")
_KNOWN = frozenset(GROUP + version for version in VERSIONS)


@dataclass
class _Found:
    """GPUs by host, and the uuids of GPUs of which MIG parts are listed."""

    gpus: dict[str, list[Device]] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)


class ResourceSlices(Reader):
    """Reader of ``kind: ResourceSlice``; its GPUs replace a Node's bare count."""

    def claims(self, document: Document) -> bool:
        """A ResourceSlice of any version."""
        return document.kind == "ResourceSlice"

    def trim(self, document: Document, texts: Texts) -> None:
        """Read the devices, in place of which their slice keeps what is used of them."""
        spec = _checked_spec(document)
        if spec["driver"] in GPU_DRIVERS:
            spec["devices"] = read_devices(document, texts)
        else:
            document.body["spec"] = {"driver": spec["driver"]}
        document.cut("spec")

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add the GPUs of every complete pool, by host and bus order."""
        ours = [row for row in documents if _is_of_gpus(row, inventory)]
        found = _Found()
        places = Places(inventory)
        for slices in complete_pools(ours, inventory):
            _add_pool(slices, places, found, inventory)
        for document in documents:
            # A device knows its document: a circle of the two would wait for a collector.
            document.body["spec"].pop("devices", None)
        _check_uuids(found, inventory)
        _add(found.gpus, inventory)


def _checked_spec(document: Document) -> dict[str, Any]:
    """The spec of a slice of a known version, and of some driver."""
    version = document.body.get("apiVersion", GROUP + "v1")
    if not isinstance(version, str) or version not in _KNOWN:
        rule = f"must be {GROUP} with one of {', '.join(VERSIONS)}, got {version!r}"
        raise document.refuse("apiVersion", rule)
    spec = document.body.get("spec")
    if not isinstance(spec, dict):
        raise document.refuse("spec", "must be a mapping")
    driver = spec.get("driver")
    if not isinstance(driver, str) or not driver or not driver.isprintable():
        raise document.refuse("spec.driver", "must be a text that can be printed")
    return spec


def _is_of_gpus(document: Document, inventory: Inventory) -> bool:
    """Whether a slice is of a GPU driver; slices of others are counted."""
    driver = document.body["spec"]["driver"]
    if driver in GPU_DRIVERS:
        return True
    what = f"ResourceSlice of driver {driver}"
    why = OTHER_DRIVERS.get(driver, NO_GPU_DRIVER)
    inventory.leave_out(what, why, document.object_name)
    return False


def _add_pool(
    slices: Sequence[Document], places: Places, found: _Found, inventory: Inventory
) -> None:
    placed: list[tuple[str, Device]] = []
    for document in slices:
        _add_slice(document, places, placed, found, inventory)
    devices = [device for _, device in placed]
    kept = devices
    if any(device.consumes for device in devices):
        kept = whole_gpus(devices, slices, inventory)
    left = {id(device) for device in kept}
    for host, device in placed:
        if id(device) not in left:
            continue
        rows = found.gpus.get(host)
        if rows is None:
            rows = found.gpus[host] = []
        rows.append(device)


def _add_slice(
    document: Document,
    places: Places,
    placed: list[tuple[str, Device]],
    found: _Found,
    inventory: Inventory,
) -> None:
    spec: dict[str, Any] = document.body["spec"]
    devices: list[Device | NoGpu] = spec["devices"]
    if not devices:
        return
    per_device = places.is_per_device(document)
    host = None if per_device else places.host_of(document, "spec", spec)
    has_rules = bool(inventory.taint_rules)
    for device in devices:
        if device.place is not None:
            host = places.host_of(document, device.path, device.place)
        if isinstance(device, NoGpu):
            count_no_gpu(document, device, inventory)
            if device.parent is not None:
                found.cut.setdefault(device.parent, host or document.object_name)
            continue
        if device.taints or has_rules:
            mark(device, spec["driver"], spec["pool"]["name"], inventory)
        if host is None:
            why = "it belongs to no single host"
            inventory.leave_out("GPU", why, device.full_name)
        else:
            placed.append((host, device))


def _check_uuids(found: _Found, inventory: Inventory) -> None:
    """One uuid is one GPU, however many hosts, devices and parts name it."""
    seen: dict[str, tuple[str, Device]] = {}
    for host, devices in found.gpus.items():
        for device in devices:
            if device.uuid is None:
                continue
            before = seen.setdefault(device.uuid, (host, device))
            if before[1] is device:
                continue
            rule = f"GPU {device.uuid} is also {before[0]}/{before[1].name}"
            raise device.document.refuse(device.path, f"{rule}: one GPU is one leaf")
    for uuid, host in found.cut.items():
        if uuid in seen:
            what = "GPU listed whole and in MIG parts: one leaf, the physical GPU"
            inventory.remark(what, "/".join((seen[uuid][0], seen[uuid][1].name)))
        else:
            why = "only its parts are listed, so it cannot be given whole"
            inventory.leave_out("GPU cut in MIG parts", why, host)


def _add(found: dict[str, list[Device]], inventory: Inventory) -> None:
    """Give each host its GPUs in order, in place of those that its Node counts."""
    unlabelled = [host for host in found if host not in inventory.node_labels]
    if inventory.node_labels and unlabelled:
        inventory.notes.append(
            f"{len(unlabelled)} hosts of ResourceSlices have no Node object, so no "
            "labels"
        )
    for name, devices in found.items():
        _sort(name, devices)
        host = inventory.host(name)
        if host.gpus:
            _compare(name, host.gpus, devices, inventory)
        host.gpus = [*devices]


def _compare(
    name: str, counted: Sequence[Any], devices: Sequence[Device], inventory: Inventory
) -> None:
    """Note where a Node and its slices differ in what changes no domain."""
    if len(counted) != len(devices):
        what = "host whose allocatable and ResourceSlices differ: the slices are used"
        inventory.remark(what, f"{name}: {len(counted)} and {len(devices)} GPUs")
    kind = counted[0].type
    if kind not in ("gpu", devices[0].type):
        what = (
            "host whose label and ResourceSlices name two products: the slices' is used"
        )
        inventory.remark(what, f"{name}: {kind} and {devices[0].type}")


def _sort(host: str, devices: list[Device]) -> None:
    """Sort by the first of bus, minor and name that all have; refuse equal ones."""
    column = "name"
    if all(device.bus is not None for device in devices):
        column = "bus"
    elif all(device.minor is not None for device in devices):
        column = "minor"
    if column == "name":
        devices.sort(key=lambda device: natural(device.name))
    else:
        devices.sort(key=attrgetter(column))
    for what, key in (("named", "name"), ("at the place of", column)):
        values = [getattr(device, key) for device in devices]
        if len(set(values)) == len(values):
            continue
        times = Counter(values)
        twin = next(row for row in devices if times[getattr(row, key)] > 1)
        rule = f"host {host} has two GPUs {what} {twin.name!r}"
        raise twin.document.refuse(twin.path, rule)


READER = ResourceSlices()

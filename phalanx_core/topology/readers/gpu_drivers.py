"""Drivers of Dynamic Resource Allocation whose devices are GPUs, and how each tells so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

_STANDARD_BUS = "resource.kubernetes.io/pciBusID"


@dataclass(frozen=True)
class GpuDriver:
    """One driver: the names of the attributes that are read of its devices.

    ``whole`` is the ``type`` of a GPU that is given whole; where ``is_typed`` is false,
    a device without a type is one as well. ``parts`` are the types of parts of a GPU.
    """

    name: str
    whole: str
    parts: tuple[str, ...]
    type: tuple[str, ...]
    product: tuple[str, ...]
    bus: tuple[str, ...]
    minor: tuple[str, ...]
    uuid: tuple[str, ...]
    parent: tuple[str, ...]
    is_typed: bool = True

    @cached_property
    def plain_type(self) -> dict[str, str]:
        """How almost every GPU writes its type."""
        return {"string": self.whole}


def _driver(
    name: str,
    whole: str,
    parts: str,
    product: str,
    bus: str,
    minor: str,
    *,
    is_typed: bool = True,
) -> GpuDriver:
    """A driver whose attributes may be written with its domain or without."""

    def names(words: str) -> tuple[str, ...]:
        return tuple(
            form for word in words.split() for form in (word, f"{name}/{word}")
        )

    return GpuDriver(
        name,
        whole,
        tuple(parts.split()),
        type=names("type"),
        product=names(product),
        bus=(_STANDARD_BUS, *names(bus)),
        minor=names(minor),
        uuid=names("uuid"),
        parent=names("parentUUID"),
        is_typed=is_typed,
    )


GPU_DRIVERS = {
    driver.name: driver
    for driver in (
        _driver(
            "gpu.nvidia.com",
            "gpu",
            "mig",
            product="productName",
            bus="pciBusID pcieBusID pciBusId",
            minor="minor index",
        ),
        _driver(
            "gpu.amd.com",
            "amdgpu",
            "amdgpu-partition",
            product="productName",
            bus="pciAddr",
            minor="cardIndex",
        ),
        # Its GPUs say their model, and a type in some versions only.
        _driver(
            "gpu.intel.com",
            "gpu",
            "vf",
            product="model",
            bus="pciAddress",
            minor="minor",
            is_typed=False,
        ),
    )
}
# Drivers that stand beside those of GPUs in many clusters, and what they are for.
OTHER_DRIVERS = {
    "compute-domain.nvidia.com": "it holds channels and daemons of NVLink domains, no GPU",
    "dra.net": "it holds network interfaces, no GPU",
    "dra.cpu": "it holds CPUs, no GPU",
}
NO_GPU_DRIVER = f"it is no GPU driver that is read ({', '.join(GPU_DRIVERS)})"

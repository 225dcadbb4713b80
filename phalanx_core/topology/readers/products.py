"""What is known of GPU products: their type name and NVLink bandwidth."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Bytes/s a GPU, both directions; H200, B200 and GB300 keep their family's links.
NVLINK_BYTES_PER_S = {
    "A100": 600e9,
    "H100": 900e9,
    "H200": 900e9,
    "B200": 1800e9,
    "GB200": 1800e9,
    "GB300": 1800e9,
}
_WORDS = re.compile(r"[^A-Z0-9]+")
# Boards without a switch between all GPUs of a host, and shares of a GPU.
_UNLINKED = frozenset({"PCIE", "NVL", "GRID", "MIG"})


def type_name(product: str) -> str:
    """Product as the label writes it: ResourceSlices have spaces where it has dashes.

    Examples
    --------
    >>> type_name("NVIDIA H100 80GB HBM3")
    'NVIDIA-H100-80GB-HBM3'
    """
    return "-".join(product.split())


def nvlink_bandwidth(type: str) -> float | None:
    """Bytes/s a GPU over NVLink, None where it is unknown or not switched.

    Examples
    --------
    >>> nvlink_bandwidth("NVIDIA-H100-80GB-HBM3"), nvlink_bandwidth("NVIDIA-H100-PCIe")
    (900000000000.0, None)
    """
    words = _WORDS.split(type.upper())
    if not _UNLINKED.isdisjoint(words):
        return None
    for word in words:
        if word in NVLINK_BYTES_PER_S:
            return NVLINK_BYTES_PER_S[word]
    return None


def nvlink_of(
    types: Iterable[str], fabric_level: str | None, host_level: str = "host"
) -> tuple[str | None, float | None]:
    """Level that NVLink spans and its bandwidth, if all types agree on one.

    A fabric level (a clique of several hosts) wins; else it is the host where every
    type is known to be switched within it.
    """
    speeds = [nvlink_bandwidth(name) for name in dict.fromkeys(types)]
    speed = speeds[0] if all(one == speeds[0] for one in speeds) else None
    if fabric_level is not None:
        return fabric_level, speed
    return (host_level if None not in speeds else None), speed

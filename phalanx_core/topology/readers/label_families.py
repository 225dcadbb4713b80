"""Label keys that name domains, by family, and which family a cluster uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HOSTNAME = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"

# Levels that every topology made here has, whatever its labels.
RESERVED = ("gpu", "host", "cluster")

# Above every family; each pair is (label key, level name), broadest first.
REGIONS = (
    ("topology.kubernetes.io/region", "region"),
    ("topology.kubernetes.io/zone", "zone"),
)

FAMILIES: dict[str, tuple[tuple[str, str], ...]] = {
    "CoreWeave": (
        ("backend.coreweave.cloud/fabric", "fabric"),
        ("backend.coreweave.cloud/superpod", "superpod"),
        ("backend.coreweave.cloud/leafgroup", "leafgroup"),
    ),
    "topograph before 1.0": (
        ("network.topology.nvidia.com/datacenter", "datacenter"),
        ("network.topology.nvidia.com/core", "core"),
        ("network.topology.nvidia.com/spine", "spine"),
        ("network.topology.nvidia.com/block", "block"),
        ("network.topology.nvidia.com/leaf", "leaf"),
    ),
    "Google Cloud": (
        ("cloud.google.com/gce-topology-block", "block"),
        ("cloud.google.com/gce-topology-subblock", "subblock"),
        ("cloud.google.com/gce-topology-host", "machine"),
    ),
    "AWS": (
        ("topology.k8s.aws/network-node-layer-1", "layer-1"),
        ("topology.k8s.aws/network-node-layer-2", "layer-2"),
        ("topology.k8s.aws/network-node-layer-3", "layer-3"),
    ),
    "Oracle Cloud": (
        ("oci.oraclecloud.com/host.network_block_id", "block"),
        ("oci.oraclecloud.com/host.rack_id", "rack"),
    ),
    "Kueue": (
        ("cloud.provider.com/topology-block", "block"),
        ("cloud.provider.com/topology-rack", "rack"),
        ("cloud.provider.com/topology-host", "machine"),
    ),
}

# Keys whose domain is one NVLink fabric; the first that any host has is used.
NVLINK_KEYS = (
    (CLIQUE, "clique"),
    ("accelerator.topograph.run/sub-domain", "accelerator"),
    ("accelerator.topograph.run/domain", "accelerator"),
    ("network.topology.nvidia.com/accelerator", "accelerator"),
    ("ds.coreweave.com/nvlink.domain", "nvlink-domain"),
    ("topology.k8s.aws/ultraserver-id", "ultraserver"),
)

_ZERO_CLUSTER = re.compile(r"[0-]+(\..*)?")
_TIER = re.compile(r"fabric\.topograph\.run/tier-(\d{1,2})")
_PREFIX = re.compile(r"^(gce-)?topology-")


def families(counts: Mapping[str, int]) -> dict[str, tuple[tuple[str, str], ...]]:
    """All families, with topograph's numbered tiers as far as they occur."""
    tiers = [int(match[1]) for key in counts if (match := _TIER.fullmatch(key))]
    rows = tuple(
        (f"fabric.topograph.run/tier-{tier}", f"tier-{tier}")
        for tier in sorted(tiers, reverse=True)
    )
    return {"topograph": rows, **FAMILIES}


def choose(counts: Mapping[str, int]) -> tuple[list[tuple[str, str]], str, list[str]]:
    """Keys to use by default, given on how many hosts with GPUs each key stands.

    Returns
    -------
    (keys, family, unused)
        (key, level name) pairs broadest first without the NVLink key, the network
        family they are of, and the families that were seen but not used. The family on
        the most hosts wins, the earlier one of equals: two describe one network twice.
    """
    known = families(counts)
    cover = {
        name: max((counts.get(key, 0) for key, _ in rows), default=0)
        for name, rows in known.items()
    }
    best = max(cover, key=lambda name: cover[name])
    used = [row for row in (*REGIONS, *known[best]) if counts.get(row[0])]
    unused = [name for name, hosts in cover.items() if hosts and name != best]
    return used, best if cover[best] else "", unused


def domains(
    labels: Mapping[str, str], rows: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Level name to label of one host; an empty label or a zero clique is no domain."""
    found = {}
    for key, level in rows:
        value = labels.get(key, "")
        if value and not (key == CLIQUE and _ZERO_CLUSTER.fullmatch(value)):
            found[level] = value
    return found


def level_names(
    keys: Iterable[str], taken: Iterable[str] = ()
) -> list[tuple[str, str]]:
    """Level name of each key a caller gave: its short name where that is unique.

    A name in ``taken`` is another level's already; then the whole key is the name.

    Examples
    --------
    >>> level_names(["a.io/topology-block", "b.io/rack", "kubernetes.io/hostname"])
    [('a.io/topology-block', 'block'), ('b.io/rack', 'rack')]
    """
    known = {key: name for rows in FAMILIES.values() for key, name in rows}
    known.update(REGIONS)
    known.update(NVLINK_KEYS)
    rows = [key for key in keys if key != HOSTNAME]
    short = [known.get(k) or _PREFIX.sub("", k.rsplit("/", 1)[-1]) or k for k in rows]
    taken = (*RESERVED, *taken)
    return [
        (key, name if short.count(name) == 1 and name not in taken else key)
        for key, name in zip(rows, short, strict=True)
    ]

"""NVLink domains beside a tree of switches: their labels, and where the level belongs."""

from __future__ import annotations

from collections.abc import Mapping

from phalanx_core.topology.readers.inventory import Inventory

LEVEL = "accelerator"
WIDE_LEVEL = "accelerator-domain"
_WIDE_KEYS = (
    "accelerator.topograph.run/domain",
    "accelerator.topology.test/domain",
    "network.topology.nvidia.com/accelerator",
    "nvlink",
)
_NEAR_KEYS = (
    "accelerator.topograph.run/sub-domain",
    "accelerator.topology.test/sub-domain",
)
# Domain and sub-domain of a host, "" for none.
Accelerator = tuple[str, str]


def accelerator_of(labels: Mapping[str, object]) -> Accelerator:
    """Accelerated domain and sub-domain that topograph's labels name.

    Examples
    --------
    >>> accelerator_of({"network.topology.nvidia.com/accelerator": "nvl-1"})
    ('nvl-1', '')
    """
    found = []
    for keys in (_WIDE_KEYS, _NEAR_KEYS):
        texts = [labels[key] for key in keys if isinstance(labels.get(key), str)]
        found.append(str(texts[0]) if texts else "")
    return found[0], found[1]


def add_accelerators(inventory: Inventory, hosts: Mapping[str, Accelerator]) -> None:
    """Add a level for the domains of hosts, and one for sub-domains where there are any.

    Sub-domains are the NVLink level where they are given, since a domain of several
    racks may join them by another network.
    """
    wide = {name: row for name, row in hosts.items() if row[0]}
    near = {name: row for name, row in hosts.items() if row[1]}
    if near and wide:
        _insert(inventory, WIDE_LEVEL, {name: (row[0],) for name, row in wide.items()})
        _insert(inventory, LEVEL, near)
    elif near or wide:
        rows = near or wide
        labels = {name: (row[1] or row[0],) for name, row in rows.items()}
        _insert(inventory, LEVEL, labels)
    if near or wide:
        inventory.nvlink = LEVEL


def _insert(
    inventory: Inventory, name: str, paths: Mapping[str, tuple[str, ...]]
) -> None:
    """Put a level as near to the hosts as each of its domains lies in one domain above."""
    levels = inventory.levels
    place = len(levels)
    while _split(inventory, levels[:place], paths):
        place -= 1
    if _torn(inventory, levels[place:], paths):
        place = len(levels)
        inventory.notes.append(
            f"domains of level {name} cross those of {', '.join(levels)}: "
            "their parts are compiled apart"
        )
    inventory.levels = (*levels[:place], name, *levels[place:])
    for host, path in paths.items():
        inventory.host(host).domains[name] = path[-1]


def _split(
    inventory: Inventory,
    levels: tuple[str, ...],
    paths: Mapping[str, tuple[str, ...]],
) -> bool:
    """Whether a domain lies in two domains of the levels."""
    seen: dict[tuple[str, ...], tuple[str | None, ...]] = {}
    for host, path in paths.items():
        domains = inventory.host(host).domains
        above = tuple(domains.get(level) for level in levels)
        if seen.setdefault(path, above) != above:
            return True
    return False


def _torn(
    inventory: Inventory,
    levels: tuple[str, ...],
    paths: Mapping[str, tuple[str, ...]],
) -> bool:
    """Whether a domain of the levels below holds hosts of two domains."""
    seen: dict[tuple[str, str], tuple[str, ...]] = {}
    for host, path in paths.items():
        domains = inventory.host(host).domains
        for level in levels:
            if (
                level in domains
                and seen.setdefault((level, domains[level]), path) != path
            ):
                return True
    return False

"""Do two sources describe one tree? Two that cannot are refused, naming both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.inventory import natural

if TYPE_CHECKING:
    from phalanx_core.topology.readers.inventory import Inventory

Path = tuple[str | None, ...]
# Name of a source, its levels broadest first, and the labels of each host on them.
Source = tuple[str, Sequence[str], Mapping[str, Path]]


def crossing(first: Mapping[str, Path], second: Mapping[str, Path]) -> str | None:
    """A host whose domains in two partitions overlap and neither holds the other.

    The first such host in natural order, None if the partitions can nest. Hosts that
    only one of them knows do not count. O(hosts).

    Examples
    --------
    >>> racks = {"h1": ("r1",), "h2": ("r1",), "h3": ("r2",)}
    >>> crossing(racks, {"h1": ("s1",), "h2": ("s1",), "h3": ("s1",)})
    >>> crossing(racks, {"h1": ("s1",), "h2": ("s2",), "h3": ("s2",)})
    'h2'
    """
    both = [host for host in first if host in second]
    pairs = Counter((first[host], second[host]) for host in both)
    ours = Counter(first[host] for host in both)
    theirs = Counter(second[host] for host in both)
    found = [
        host
        for host in both
        if pairs[first[host], second[host]] < ours[first[host]]
        and pairs[first[host], second[host]] < theirs[second[host]]
    ]
    return min(found, key=natural) if found else None


def check(inventory: Inventory, first: Source, second: Source) -> None:
    """Refuse two sources of which no tree can hold every domain.

    Raises
    ------
    TopologyError
        Naming both sources and a host that they put into two domains that cross.
    """
    for high, level in enumerate(first[1]):
        ours = _partition(first[2], high)
        for low, other in enumerate(second[1]):
            theirs = _partition(second[2], low)
            host = crossing(ours, theirs)
            if host is not None:
                raise TopologyError(
                    f"{inventory.hosts[host].where}: in {level} {ours[host][-1]} by "
                    f"{first[0]}, in {other} {theirs[host][-1]} by {second[0]}, and no "
                    "tree holds both domains: one source must name them (label_keys "
                    "chooses labels)"
                )


def _partition(paths: Mapping[str, Path], level: int) -> dict[str, Path]:
    """Path down to a level, of the hosts that have a domain there."""
    return {
        host: path[: level + 1]
        for host, path in paths.items()
        if path[level] is not None
    }


def labelled(
    name: str,
    rows: Sequence[tuple[str, str]],
    labels: Mapping[str, Mapping[str, str]],
) -> Source:
    """What (key, level) pairs say of each host, as a source to check."""
    paths = {
        host: tuple(found.get(key) or None for key, _ in rows)
        for host, found in labels.items()
    }
    return name, [level for _, level in rows], paths


def check_twins(inventory: Inventory, keys: Sequence[str]) -> None:
    """Refuse two copies of one Node that differ in a label that names a level.

    Raises
    ------
    TopologyError
        Naming both documents, the key and both values.
    """
    for one, other in inventory.twins:
        first, second = (
            row.body["metadata"].get("labels") or {} for row in (one, other)
        )
        for key in keys:
            if first.get(key) != second.get(key):
                rule = f"{second.get(key)!r}, but {first.get(key)!r} in {one.file}"
                raise other.refuse(f"metadata.labels[{key}]", rule)

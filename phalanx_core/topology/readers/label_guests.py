"""Known labels of Nodes beside another source that names the levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phalanx_core.topology.readers import agreement
from phalanx_core.topology.readers import label_families as families

if TYPE_CHECKING:
    from phalanx_core.topology.readers.inventory import Host, Inventory


def give_way(
    inventory: Inventory, hosts: Sequence[Host], rows: list[tuple[str, str]]
) -> None:
    """Leave the labels out, but for the NVLink domain: a network says nothing of that.

    Raises
    ------
    TopologyError
        If a domain of the labels crosses one of the other source.
    """
    source = inventory.levels_source
    levels = inventory.levels
    theirs = {
        host.name: tuple(host.domains.get(level) for level in levels) for host in hosts
    }
    found = {
        host.name: families.domains(inventory.node_labels[host.name], rows)
        for host in hosts
    }
    ours = {
        name: tuple(domains.get(level) for _, level in rows)
        for name, domains in found.items()
    }
    names = [level for _, level in rows]
    agreement.check(inventory, (source, levels, theirs), ("Node labels", names, ours))
    links = dict(families.NVLINK_KEYS)
    for key, level in rows:
        if key in links and level not in levels and inventory.nvlink is None:
            domains = {name: got[level] for name, got in found.items() if level in got}
            _add_level(inventory, level, domains)
            continue
        why = f"{source} names the levels and holds with these labels"
        inventory.leave_out("label key", why, key)


def _add_level(inventory: Inventory, level: str, domains: dict[str, str]) -> None:
    """Put a level right below the narrowest one that its domains lie within."""
    place = 0
    for at, wider in enumerate(inventory.levels):
        above: dict[str, set[str | None]] = {}
        for name, label in domains.items():
            above.setdefault(label, set()).add(inventory.hosts[name].domains.get(wider))
        if all(len(labels) == 1 for labels in above.values()):
            place = at + 1
    levels = inventory.levels
    inventory.levels = (*levels[:place], level, *levels[place:])
    inventory.nvlink = level
    for name, label in domains.items():
        inventory.hosts[name].domains[level] = label
    inventory.notes.append(
        f"level {level} comes from Node labels, the others from "
        f"{inventory.levels_source}"
    )

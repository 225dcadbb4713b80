"""Levels and domains from the labels of Nodes, once all hosts and GPUs are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers import agreement, level_lists
from phalanx_core.topology.readers import label_families as families
from phalanx_core.topology.readers.label_guests import give_way
from phalanx_core.topology.spec import LEVELS_MAX

if TYPE_CHECKING:
    from phalanx_core.topology.readers.inventory import Host, Inventory

Rows = list[tuple[str, str]]


def assign_levels(inventory: Inventory) -> None:
    """Name the levels by a Topology object, the caller's keys or the known keys.

    Raises
    ------
    TopologyError
        If a chosen key is on no host, several sources could name the levels, or two
        sources contradict each other.
    """
    chosen = level_lists.choose(inventory)
    if not any(host.gpus for host in inventory.hosts.values()):
        return
    hosts = [inventory.hosts[name] for name in inventory.node_labels]
    hosts = [host for host in hosts if host.gpus]
    counts = _counts([inventory.node_labels[host.name] for host in hosts])
    keys = inventory.options.label_keys
    source = "Node labels"
    if chosen is not None:
        source = chosen.full_name
        rows = _listed(chosen, inventory, counts)
    elif keys is not None:
        rows = _given(keys, counts)
    else:
        rows = _default(inventory, hosts, counts)
    agreement.check_twins(inventory, [key for key, _ in rows])
    if chosen is None and keys is None and inventory.levels and rows:
        give_way(inventory, hosts, rows)
        return
    inventory.set_levels([level for _, level in rows], source)
    for host in hosts:
        host.domains.update(families.domains(inventory.node_labels[host.name], rows))
    links = dict(families.NVLINK_KEYS)
    nearest = [level for key, level in rows if key in links]
    if nearest:
        inventory.nvlink = nearest[-1]
        _note_split(inventory, hosts, nearest[-1])
    elif chosen is not None or keys is not None:
        for key in links:
            if counts[key]:
                why = "the list of levels lacks it: NVLink ends at the host here"
                inventory.leave_out("NVLink label key", why, key)
    _note_lacking(inventory, hosts, rows)


def _counts(labels: Sequence[dict[str, str]]) -> Counter[str]:
    """On how many hosts each key names a domain."""
    counts: Counter[str] = Counter()
    for row in labels:
        counts.update(key for key, value in row.items() if value)
    clique = families.CLIQUE
    if counts[clique]:
        rows = [(clique, clique)]
        counts[clique] = sum(bool(families.domains(row, rows)) for row in labels)
    return counts


def _listed(
    chosen: level_lists.LevelList, inventory: Inventory, counts: Counter[str]
) -> Rows:
    rows, inventory.host_level = chosen.named()
    # The leaf, the host and the root are levels as well.
    if len(rows) > LEVELS_MAX - 3:
        rule = f"{len(rows)} levels above the host are more than {LEVELS_MAX - 3}"
        raise TopologyError(f"{chosen.where}: spec.levels: {rule}")
    for at, key in enumerate(chosen.keys):
        if key != families.HOSTNAME and not counts[key]:
            rule = f"no Node with a GPU has the label {key}"
            path = f"spec.levels[{at}].nodeLabel"
            raise TopologyError(f"{chosen.where}: {path}: {rule}")
    for alias in chosen.reserved():
        inventory.notes.append(
            f"alias {alias} of {chosen.full_name} is the name of another level here: "
            "its level is named by its key"
        )
    return rows


def _given(keys: Sequence[str], counts: Counter[str]) -> Rows:
    if families.HOSTNAME in keys[:-1]:
        raise TopologyError(f"label key {families.HOSTNAME}: may only be the last")
    rows = families.level_names(keys)
    for key, _ in rows:
        if not counts[key]:
            raise TopologyError(f"label key {key}: no Node with a GPU has this label")
    return rows


def _default(inventory: Inventory, hosts: Sequence[Host], counts: Counter[str]) -> Rows:
    rows, used, unused = families.choose(counts)
    known = families.families(counts)
    labels = {host.name: inventory.node_labels[host.name] for host in hosts}

    def compare(one: str, used: Rows, other: str, unused: Rows) -> None:
        first = agreement.labelled(one, used, labels)
        agreement.check(inventory, first, agreement.labelled(other, unused, labels))

    for name in unused:
        family, other = list(known[used]), list(known[name])
        compare(f"labels of {used}", family, f"labels of {name}", other)
        why = f"labels of {used} describe the same network"
        inventory.leave_out("label family", why, name)
    links = [row for row in families.NVLINK_KEYS if counts[row[0]]]
    for row in links[1:]:
        compare(links[0][0], links[:1], row[0], [row])
        why = f"{links[0][0]} names the NVLink domain"
        inventory.leave_out("label key", why, row[0])
    return [*rows, *links[:1]]


def _note_split(inventory: Inventory, hosts: Sequence[Host], nvlink: str) -> None:
    """An NVLink domain that crosses a level above it is compiled as several."""
    paths: dict[str, dict[tuple[str | None, ...], None]] = {}
    above = inventory.levels[: inventory.levels.index(nvlink)]
    for host in hosts:
        if nvlink in host.domains:
            path = tuple(host.domains.get(level) for level in above)
            paths.setdefault(host.domains[nvlink], {})[path] = None
    for label, found in paths.items():
        if len(found) > 1:
            inventory.notes.append(
                f"{nvlink} {label} lies in {len(found)} domains of the levels above: "
                "compiled as so many"
            )


def _note_lacking(inventory: Inventory, hosts: Sequence[Host], rows: Rows) -> None:
    for _, level in rows:
        lacking = sum(level not in host.domains for host in hosts)
        if lacking:
            inventory.notes.append(
                f"{lacking} of {len(hosts)} hosts have no {level}: "
                "they serve no constraint of that level"
            )

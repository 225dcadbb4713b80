"""Slurm's tree topology: switches over hosts, possibly with several roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Inventory, natural
from phalanx_core.topology.readers.slurm_lines import Line, shown_names

NAME_MAX = 64


@dataclass
class _Switch:
    name: str
    where: str
    hosts: list[str]
    children: list[str]
    height: int = -1
    parent: str = ""


def compile_tree(lines: Sequence[Line], inventory: Inventory) -> list[str]:
    """Name each host's switch at every height; returns the hosts of the topology.

    Level ``switch-0`` holds the switches that hosts are plugged into, as Slurm counts.
    Several switches over exactly the same children are one domain; a partial overlap is
    refused, since it is no tree.

    Raises
    ------
    TopologyError
        On a recurring or unknown switch, a cycle, or an overlap.
    """
    switches = _switches(lines, inventory)
    shown = shown_names(lines, inventory)
    order = _by_height(switches)
    alias = _merge(order, inventory)
    hosts = _adopt(order, alias)
    top = max(switch.height for switch in order)
    levels = [f"switch-{height}" for height in range(top, -1, -1)]
    inventory.set_levels(levels, lines[0].file)
    # A tree file says all there is: roots without a common switch stay apart.
    inventory.root = None
    for name, leaf_switch in hosts.items():
        domains = inventory.host(name).domains
        at: str = leaf_switch
        while at:
            domains[f"switch-{switches[at].height}"] = shown[at]
            at = switches[at].parent
    return list(hosts)


def _switches(lines: Sequence[Line], inventory: Inventory) -> dict[str, _Switch]:
    made: dict[str, _Switch] = {}
    for line in lines:
        name = line.name
        if len(name) > NAME_MAX or "[" in name:
            rule = f"a switch name is one name of at most {NAME_MAX} characters"
            raise TopologyError(f"{line.where}: {rule}")
        if name in made:
            raise TopologyError(f"{line.where}: switch {name} occurs twice")
        hosts = expand(line.pairs["nodes"], line.where) if "nodes" in line.pairs else []
        below = line.pairs.get("switches")
        children = expand(below, line.where) if below is not None else []
        if not hosts and not children:
            raise TopologyError(f"{line.where}: hosts or child switches are needed")
        if hosts and children:
            why = "a switch with hosts has no child switches"
            inventory.leave_out("child switches", why, name)
            children = []
        made[name] = _Switch(name, line.where, hosts, children)
    for switch in made.values():
        for child in switch.children:
            if child not in made:
                raise TopologyError(f"{switch.where}: switch {child} does not exist")
    return dict(sorted(made.items(), key=lambda item: natural(item[0])))


def _by_height(switches: dict[str, _Switch]) -> list[_Switch]:
    """Switches with their height above the hosts, children before parents."""
    waiting = {name: len(switch.children) for name, switch in switches.items()}
    above: dict[str, list[_Switch]] = {name: [] for name in switches}
    for switch in switches.values():
        for child in switch.children:
            above[child].append(switch)
    ready = [switch for switch in switches.values() if not switch.children]
    for switch in ready:
        below = [switches[child].height for child in switch.children]
        switch.height = 1 + max(below, default=-1)
        for parent in above[switch.name]:
            waiting[parent.name] -= 1
            if waiting[parent.name] == 0:
                ready.append(parent)
    for switch in switches.values():
        if switch.height < 0:
            raise TopologyError(f"{switch.where}: switch {switch.name} is in a cycle")
    return sorted(ready, key=lambda switch: (switch.height, natural(switch.name)))


def _merge(order: list[_Switch], inventory: Inventory) -> dict[str, str]:
    """Replace a switch over the very children of another by that other."""
    alias: dict[str, str] = {}
    first: dict[tuple[str, ...], str] = {}
    for switch in order:
        switch.children = list(dict.fromkeys(alias[child] for child in switch.children))
        inside = ("h", *switch.hosts) if switch.hosts else ("s", *switch.children)
        keeper = first.setdefault(tuple(sorted(inside)), switch.name)
        alias[switch.name] = keeper
        if keeper != switch.name:
            why = "another switch has the same children and stands for it"
            inventory.leave_out("switch", why, switch.name)
    return alias


def _adopt(order: list[_Switch], alias: dict[str, str]) -> dict[str, str]:
    """Set each switch's parent; returns the switch of each host."""
    by_name = {switch.name: switch for switch in order}
    hosts: dict[str, str] = {}
    for switch in order:
        if alias[switch.name] != switch.name:
            continue
        for host in switch.hosts:
            if hosts.setdefault(host, switch.name) != switch.name:
                rule = f"host {host} is also under {hosts[host]}"
                raise TopologyError(f"{switch.where}: {rule}: no tree")
        for child in switch.children:
            below = by_name[child]
            if below.parent:
                rule = f"switch {child} is also under {below.parent}"
                raise TopologyError(f"{switch.where}: {rule}: no tree")
            below.parent = switch.name
    return hosts

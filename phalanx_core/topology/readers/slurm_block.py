"""Slurm's block topology: blocks of hosts, joined in file order to larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Inventory

if TYPE_CHECKING:
    from phalanx_core.topology.readers.slurm_conf import Line


def compile_blocks(lines: Sequence[Line], inventory: Inventory) -> list[str]:
    """Name each host's block, and its aggregate for each further block size.

    Raises
    ------
    TopologyError
        On a recurring block or host, a size that is not the first times a power of two,
        or a block smaller than the first size.
    """
    blocks = _blocks(lines)
    sizes = _sizes(lines)
    if sizes:
        for name, (where, hosts) in blocks.items():
            if len(hosts) < sizes[0]:
                rule = f"{len(hosts)} hosts, but the first of BlockSizes is {sizes[0]}"
                raise TopologyError(f"{where}: block {name} has {rule}")
    names = list(blocks)
    levels = ["block"]
    columns = [names]
    before = len(names)
    for size in sizes[1:]:
        step = size // sizes[0]
        groups = -(-len(names) // step)
        if groups == before:
            why = "it groups the same blocks as the size below"
            inventory.leave_out("block size", why, str(size))
            continue
        before = groups
        levels.append(f"block-{size}")
        columns.append([_span(names, i - i % step, step) for i in range(len(names))])
    inventory.set_levels(levels[::-1], "topology.conf")
    for index, (_, hosts) in enumerate(blocks.values()):
        for host in hosts:
            domains = inventory.host(host).domains
            for level, column in zip(levels, columns, strict=True):
                domains[level] = column[index]
    return [host for _, hosts in blocks.values() for host in hosts]


def _span(names: list[str], low: int, step: int) -> str:
    last = names[min(low + step, len(names)) - 1]
    return names[low] if last == names[low] else f"{names[low]}..{last}"


def _blocks(lines: Sequence[Line]) -> dict[str, tuple[str, list[str]]]:
    made: dict[str, tuple[str, list[str]]] = {}
    owner: dict[str, str] = {}
    files: dict[str, None] = {}
    for line in lines:
        if line.head != "blockname":
            continue
        files[line.where.split(": line ")[0]] = None
        name = line.pairs["blockname"]
        if name in made:
            raise TopologyError(f"{line.where}: block {name} occurs twice")
        if "nodes" not in line.pairs:
            raise TopologyError(f"{line.where}: Nodes= is needed")
        hosts = expand(line.pairs["nodes"], line.where)
        for host in hosts:
            if owner.setdefault(host, name) != name:
                rule = f"host {host} is also in block {owner[host]}"
                raise TopologyError(f"{line.where}: {rule}")
        made[name] = (line.where, hosts)
    if len(files) > 1:
        raise TopologyError(
            f"{', '.join(files)}: blocks are joined in file order, so one file must "
            "hold them all"
        )
    if not made:
        raise TopologyError(f"{lines[0].where}: BlockName= lines are needed")
    return made


def _sizes(lines: Sequence[Line]) -> list[int]:
    rows = [line for line in lines if line.head == "blocksizes"]
    if not rows:
        return []
    line = rows[0]
    if len(rows) > 1:
        raise TopologyError(f"{rows[1].where}: BlockSizes occurs twice")
    texts = line.pairs["blocksizes"].split(",")
    if not all(text.isdecimal() and 0 < len(text) < 8 for text in texts):
        raise TopologyError(f"{line.where}: block sizes must be whole numbers")
    sizes = [int(text) for text in texts]
    for before, size in zip([0, *sizes], sizes, strict=False):
        ratio, rest = divmod(size, max(sizes[0], 1))
        if size <= before or rest or ratio & (ratio - 1):
            rule = f"size {size} must be {sizes[0]} times a power of two, rising"
            raise TopologyError(f"{line.where}: {rule}")
    return sizes

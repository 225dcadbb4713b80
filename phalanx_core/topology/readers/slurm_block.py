"""Slurm's block topology: blocks of hosts, joined in file order to larger ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.hostlists import expand
from phalanx_core.topology.readers.inventory import Inventory
from phalanx_core.topology.readers.slurm_lines import Line, shown_names


def compile_blocks(lines: Sequence[Line], inventory: Inventory) -> list[str]:
    """Name each host's block, and its aggregate for each further block size.

    A block without hosts is a placeholder: it keeps a position in the aggregates.

    Raises
    ------
    TopologyError
        On a recurring block or host, a size that is not the first times a power of two,
        or a block smaller than the first size in a file without placeholders.
    """
    rows = [line for line in lines if line.head == "blockname"]
    blocks = _blocks(rows, lines[0].where)
    sizes = _sizes(lines)
    for name, (_, hosts) in blocks.items():
        if not hosts:
            why = "it has no hosts: it keeps its position among the blocks"
            inventory.leave_out("block", why, name)
    if sizes:
        _check_size(blocks, sizes[0], inventory)
    shown = shown_names(rows, inventory)
    columns = _columns([shown[name] for name in blocks], sizes, inventory)
    inventory.set_levels(list(columns)[::-1], rows[0].file)
    for index, (_, hosts) in enumerate(blocks.values()):
        for host in hosts:
            domains = inventory.host(host).domains
            for level, column in columns.items():
                domains[level] = column[index]
    return [host for _, hosts in blocks.values() for host in hosts]


def _columns(
    names: list[str], sizes: Sequence[int], inventory: Inventory
) -> dict[str, list[str]]:
    """Label of every block at each level, nearest level first."""
    columns = {"block": names}
    before = len(names)
    for size in sizes[1:]:
        step = size // sizes[0]
        groups = -(-len(names) // step)
        if groups == before:
            why = "it groups the same blocks as the size below"
            inventory.leave_out("block size", why, str(size))
            continue
        before = groups
        spans = [_span(names, i - i % step, step) for i in range(len(names))]
        columns[f"block-{size}"] = spans
    return columns


def _span(names: list[str], low: int, step: int) -> str:
    last = names[min(low + step, len(names)) - 1]
    return names[low] if last == names[low] else f"{names[low]}..{last}"


def _blocks(rows: Sequence[Line], where: str) -> dict[str, tuple[str, list[str]]]:
    made: dict[str, tuple[str, list[str]]] = {}
    owner: dict[str, str] = {}
    for line in rows:
        name = line.name
        if name in made:
            raise TopologyError(f"{line.where}: block {name} occurs twice")
        hosts = expand(line.pairs["nodes"], line.where) if "nodes" in line.pairs else []
        for host in hosts:
            if owner.setdefault(host, name) != name:
                rule = f"host {host} is also in block {owner[host]}"
                raise TopologyError(f"{line.where}: {rule}")
        made[name] = (line.where, hosts)
    files = dict.fromkeys(line.file for line in rows)
    if len(files) > 1:
        raise TopologyError(
            f"{', '.join(files)}: blocks are joined in file order, so one file must "
            "hold them all"
        )
    if not owner:
        raise TopologyError(f"{where}: at least one block with hosts is needed")
    return made


def _check_size(
    blocks: Mapping[str, tuple[str, list[str]]], size: int, inventory: Inventory
) -> None:
    """Refuse a block below the first size, but where placeholders show gaps allowed."""
    gaps = any(not hosts for _, hosts in blocks.values())
    for name, (where, hosts) in blocks.items():
        if len(hosts) >= size or not hosts:
            continue
        if not gaps:
            rule = f"{len(hosts)} hosts, but the first block size is {size}"
            raise TopologyError(f"{where}: block {name} has {rule}")
        inventory.remark(f"block with fewer than {size} hosts, the first size", name)


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

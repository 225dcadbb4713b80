"""``torchrun``: the environment of each host."""

from __future__ import annotations

from phalanx_core.placement.writers.layout import Layout
from phalanx_core.placement.writers.options import WriteOptions


def write_torchrun(layout: Layout, options: WriteOptions) -> str:
    """A host a line: its name, then variables as a shell takes them.

    torchrun deals ranks out by NODE_RANK, NPROC_PER_NODE to each, so each host has as
    many, one after the other; local rank i gets the i-th GPU of CUDA_VISIBLE_DEVICES.
    """
    layout.require_blocks(
        layout.hosts,
        layout.host_level,
        "torchrun numbers the ranks of one host after the other",
    )
    most = max(layout.hosts, key=lambda share: len(share.ranks))
    least = min(layout.hosts, key=lambda share: len(share.ranks))
    if len(most.ranks) != len(least.ranks):
        name = layout.topology.domain_names(layout.host_level)
        layout.refuse(
            f"host {name[most.domain]!r} has {len(most.ranks)} ranks and "
            f"{name[least.domain]!r} has {len(least.ranks)}; torchrun needs as many on "
            "each host"
        )
    common = (
        f"NPROC_PER_NODE={len(most.ranks)} MASTER_ADDR={layout.host_names[0]} "
        f"MASTER_PORT={options.master_port}"
    )
    lines = []
    for number, share in enumerate(layout.hosts):
        gpus = ",".join(str(layout.gpus[rank]) for rank in share.ranks)
        lines.append(
            f"{layout.host_names[number]} NNODES={len(layout.hosts)} "
            f"NODE_RANK={number} {common} RANK_OFFSET={share.ranks[0]} "
            f"CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={gpus}\n"
        )
    return "".join(lines)

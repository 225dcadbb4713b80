"""``slurm``, ``slurm-nodelist``, ``slurm-hostfile``: what srun and sbatch are told."""

from __future__ import annotations

from phalanx_core.placement.writers.hostlist import fold, natural
from phalanx_core.placement.writers.layout import Layout
from phalanx_core.placement.writers.options import WriteOptions


def write_slurm(layout: Layout, options: WriteOptions) -> str:
    """Options of srun, in one line.

    Ranks in plain block order get ``--nodelist`` and ``--ntasks-per-node``; any other
    order is left to the file that ``slurm-hostfile`` writes, as srun reads it only
    where no ``--nodelist`` is given.
    """
    nodes, tasks = len(layout.hosts), len(layout.leaves)
    size = f"--nodes={nodes} --ntasks={tasks}"
    if not in_block_order(layout):
        return f"{size} --distribution=arbitrary\n"
    per_host = tasks // nodes
    return (
        f"{size} --nodelist={fold(layout.host_names)} --ntasks-per-node={per_host} "
        "--distribution=block\n"
    )


def write_nodelist(layout: Layout, options: WriteOptions) -> str:
    """The hosts, folded; their order says nothing to Slurm."""
    return fold(layout.host_names) + "\n"


def write_hostfile(layout: Layout, options: WriteOptions) -> str:
    """The host of each rank, one a line, in rank order."""
    row = [""] * len(layout.leaves)
    for share, host in zip(layout.hosts, layout.host_names, strict=True):
        for rank in share.ranks:
            row[rank] = host
    return "".join(f"{host}\n" for host in row)


def in_block_order(layout: Layout) -> bool:
    """Whether Slurm's block distribution deals the ranks out just so.

    Slurm sorts its hosts by name, whatever the order of ``--nodelist``; where natural
    and plain order disagree (n9, n10) its version decides, so neither counts.
    """
    names = list(layout.host_names)
    equal = len({len(share.ranks) for share in layout.hosts}) == 1
    return (
        equal
        and all(share.consecutive for share in layout.hosts)
        and names == sorted(names)
        and names == sorted(names, key=natural)
    )

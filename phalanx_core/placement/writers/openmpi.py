"""``mpi-hostfile`` and ``mpi-rankfile``: where Open MPI starts each rank."""

from __future__ import annotations

import re

from phalanx_core.placement.writers.layout import Layout
from phalanx_core.placement.writers.options import WriteOptions

# What Open MPI's readers of both files take for a keyword, '-' written as '_'.
WORDS = frozenset(
    {
        *("boards", "cores", "cores_per_socket", "count", "count_max", "cpu"),
        *("cpu_max", "cpu_set", "max_count", "max_cpu", "max_slots", "port", "rank"),
        *("slot", "slots", "slots_max", "sockets", "sockets_per_board"),
        *("user_name", "username"),
    }
)
IPV4 = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")


def write_hostfile(layout: Layout, options: WriteOptions) -> str:
    """A host with its slots a line; ``--map-by slot`` fills them in that order."""
    _check(layout)
    layout.require_blocks(
        layout.hosts,
        layout.host_level,
        "a hostfile fills one host after the other: use 'mpi-rankfile'",
    )
    return "".join(
        f"{host} slots={len(share.ranks)}\n"
        for share, host in zip(layout.hosts, layout.host_names, strict=True)
    )


def write_rankfile(layout: Layout, options: WriteOptions) -> str:
    """Host and cores of each rank.

    A rankfile binds, so it must name cores: those numbered after the rank's GPU, which
    no other job on the host can have.
    """
    _check(layout)
    cores = options.cores_per_gpu
    row = [""] * len(layout.leaves)
    for share, host in zip(layout.hosts, layout.host_names, strict=True):
        for rank in share.ranks:
            first = layout.gpus[rank] * cores
            last = first + cores - 1
            slot = f"{first}" if cores == 1 else f"{first}-{last}"
            row[rank] = f"rank {rank}={host} slot={slot}\n"
    return "".join(row)


def _check(layout: Layout) -> None:
    for host in layout.host_names:
        if host.replace("-", "_") in WORDS:
            layout.refuse(f"host {host!r}: Open MPI reads this name as a keyword")
        address = IPV4.fullmatch(host) is not None
        if host.isdigit() or ("." in host and not host[0].isalpha() and not address):
            layout.refuse(
                f"host {host!r}: Open MPI reads no name that is a number, or that has "
                "a dot and does not begin with a letter"
            )

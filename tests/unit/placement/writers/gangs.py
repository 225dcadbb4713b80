"""Gangs on named hosts, drawn or given, and what each rank should find."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

from phalanx_core import Gang, Placement, Planner, Topology

Where = list[tuple[str, int]]

# Names that all formats take, some of which fold, sort or pad in ways of their own.
NAMES = st.from_regex(r"[a-z]{1,3}-?[0-9]{0,3}(-ib)?[0-9]{0,2}", fullmatch=True).filter(
    lambda name: (
        not name.endswith("-")
        and name not in {"cpu", "slot", "rank", "port", "slots", "user-name"}
    )
)


def cluster(hosts: Sequence[str], gpus: int = 4, racks: int = 1) -> Topology:
    """Hosts of as many GPUs each, dealt out to racks in runs."""
    per_rack = -(-len(hosts) // racks)
    return Topology.from_labels(
        ["host", "rack", "cluster"],
        [
            [host for host in hosts for _ in range(gpus)],
            [f"r{at // per_rack}" for at in range(len(hosts)) for _ in range(gpus)],
            ["all"] * len(hosts) * gpus,
        ],
    )


def gang_on(topology: Topology, leaves: Sequence[int | str]) -> Placement:
    """A job that runs on exactly these leaves, in this order."""
    return Planner(topology).adopt("job", Gang(len(leaves)), leaves)


def where(placement: Placement) -> Where:
    """Host and GPU index of each rank, by the placement's own account."""
    row: dict[int, tuple[str, int]] = {}
    for host, ranks in placement.by_host().items():
        for rank, leaf in ranks:
            row[rank] = (host, int(leaf.rpartition("-")[2]))
    return [row[rank] for rank in sorted(row)]


@st.composite
def drawn_clusters(draw: st.DrawFn) -> tuple[Topology, int, int]:
    """A cluster of one to nine hosts with one to four GPUs each."""
    hosts = draw(st.lists(NAMES, min_size=1, max_size=9, unique=True))
    gpus = draw(st.integers(1, 4))
    return cluster(hosts, gpus, draw(st.integers(1, 3))), len(hosts), gpus


@st.composite
def in_blocks(draw: st.DrawFn) -> Placement:
    """Hosts in any order, on each any of its GPUs in any order, host after host."""
    topology, hosts, gpus = draw(drawn_clusters())
    leaves: list[int] = []
    for host in draw(st.permutations(range(hosts)))[: draw(st.integers(1, hosts))]:
        held = draw(st.permutations(range(host * gpus, host * gpus + gpus)))
        leaves += held[: draw(st.integers(1, gpus))]
    return gang_on(topology, leaves)


@st.composite
def anyhow(draw: st.DrawFn) -> Placement:
    """Ranks on any leaves."""
    topology, hosts, gpus = draw(drawn_clusters())
    leaves = draw(st.permutations(range(hosts * gpus)))
    return gang_on(topology, leaves[: draw(st.integers(1, hosts * gpus))])


def blocks(placement: Placement) -> bool:
    """Whether every host's ranks follow one another."""
    hosts = [host for host, _ in where(placement)]
    changes = sum(one != other for one, other in pairwise(hosts))
    return changes + 1 == len(set(hosts))

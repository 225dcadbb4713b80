"""The testbed of the Phalanx paper, section 8: a filled cluster, and hosts that it loses."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.placement import Gang, Planner, Spares
from phalanx_core.topology import Topology

SPEC = "pod:64 rail:8 host:32 gpu:8"
LEAVES = 131_072
HOST_LEAVES = 8
POD_LEAVES = 2048
SIZES = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
FILL = 0.9


class Filled(NamedTuple):
    """A planner whose gangs hold 90 % of the leaves.

    Attributes
    ----------
    ranks
        Of each job that was placed.
    asked
        Size of each gang in order, those that were refused as well.
    leaves
        That jobs hold.
    """

    planner: Planner
    ranks: dict[int, int]
    asked: tuple[int, ...]
    leaves: int


class Loss(NamedTuple):
    """A host that fails: its job, and its leaves."""

    job: int
    leaves: list[int]


def cluster() -> Topology:
    """64 pods of 8 rail groups of 32 hosts of 8 GPUs."""
    return Topology.from_spec(SPEC)


def empty(topology: Topology) -> Planner:
    """The cluster before its first gang: one spare host a pod, blocks as in the paper."""
    return Planner(topology, spares=Spares("pod", "host"), alignment="buddy")


@cache
def gang(ranks: int) -> Gang:
    """A gang whose tensor-parallel groups are hosts; one object a size, as callers keep."""
    return Gang(ranks, group=HOST_LEAVES, group_level="host")


def fill(topology: Topology, seed: int) -> Filled:
    """Gangs of uniformly drawn sizes until 90 % of the leaves are held.

    Notes
    -----
    A gang that is refused is skipped, and the next one drawn.
    """
    planner = empty(topology)
    rng = Random(seed)
    ranks: dict[int, int] = {}
    asked: list[int] = []
    leaves = 0
    while leaves < FILL * LEAVES:
        size = rng.choice(SIZES)
        asked.append(size)
        if planner.place(len(asked), gang(size)):
            ranks[len(asked)] = size
            leaves += size
    return Filled(planner, ranks, tuple(asked), leaves)


def losses(
    filled: Filled, seed: int, count: int, ranks_min: int = 0
) -> tuple[Loss, ...]:
    """Hosts that fail, each for itself: a uniform job, then a uniform host of it.

    Parameters
    ----------
    seed
        Of the draws.
    count
        How many.
    ranks_min
        Smaller jobs lose none.
    """
    rng = Random(seed)
    jobs = [job for job, ranks in filled.ranks.items() if ranks >= ranks_min]
    return tuple(_loss(filled, rng.choice(jobs), rng) for _ in range(count))


def _loss(filled: Filled, job: int, rng: Random) -> Loss:
    leaves = filled.planner.placement(job).leaves
    first = HOST_LEAVES * rng.randrange(len(leaves) // HOST_LEAVES)
    return Loss(job, leaves[first : first + HOST_LEAVES].tolist())


def idle_leaves(filled: Filled) -> list[int]:
    """Leaves that no job holds, without the spare host at the end of each pod."""
    idle = np.arange(LEAVES) % POD_LEAVES < POD_LEAVES - HOST_LEAVES
    for job in filled.ranks:
        idle[filled.planner.placement(job).leaves] = False
    return np.flatnonzero(idle).tolist()


def blind_levels(
    topology: Topology,
    chosen: list[int],
    leaves: NDArray[np.integer[Any]],
    lost: NDArray[np.integer[Any]],
) -> tuple[int, int]:
    """Levels of a group and its gang on replacements that ignore the topology.

    Parameters
    ----------
    chosen
        A leaf for each lost rank.
    leaves
        Of the gang, by rank.
    lost
        Ranks of the group.
    """
    after = leaves.copy()
    after[lost] = chosen
    group = topology.distance(min(chosen), max(chosen))
    return group, topology.distance(int(after.min()), int(after.max()))

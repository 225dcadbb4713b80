"""Beyond the paper: irregular fabrics, exact unions beside rounding, kinds of spares.

A buddy allocator needs fanouts that are powers of two, so rounding is measured by what it
asks for: each gang takes the next power of two of hosts, which is then placed exactly, with
more choice than aligned blocks leave.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from phalanx_core.experiments.step_cost import StepCost
from phalanx_core.placement import Gang, Planner, Spares
from phalanx_core.topology import Topology

EXACT = "exact"
ROUNDED = "rounded"
BUDDY = "buddy"
HOST_LEVEL = 1
EVENTS = 500
# Hosts of the leaf groups of a pool of 64 H100 hosts (DESIGN, section 4).
LEAF_GROUPS = (1, 1, 2, 2, 2, 3, 3, 3, 5, 5, 6, 6, 6, 8, 11)


class Fabric(NamedTuple):
    """A cluster and what runs on it.

    Attributes
    ----------
    name
        In tables.
    topology
        Makes it.
    host
        Leaves of a host, which are a tensor-parallel group.
    powers, own
        Sizes of gangs: powers of two, and those that its domains suggest.
    spares
        Level whose domains hold spare hosts, and how many each, the default first.
    cost
        Of a step.
    """

    name: str
    topology: Callable[[], Topology]
    host: int
    powers: tuple[int, ...]
    own: tuple[int, ...]
    spares: tuple[tuple[str, int], ...]
    cost: StepCost


def leaf_groups() -> Topology:
    """512 GPUs on 64 hosts in 15 leaf groups of 1 to 11 hosts."""
    names = [
        (f"group-{group}", f"host-{group}-{host}")
        for group, hosts in enumerate(LEAF_GROUPS)
        for host in range(hosts)
        for _ in range(8)
    ]
    labels = {
        "host": [host for _, host in names],
        "group": [group for group, _ in names],
        "cluster": ["cluster"] * len(names),
    }
    return Topology.from_labels(["host", "group", "cluster"], labels)


PAPER = Fabric(
    "H100, 64 pods",
    partial(Topology.from_spec, "pod:64 rail:8 host:32 gpu:8"),
    8,
    (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
    (48, 96, 192, 384, 768, 1536, 3072, 6144),
    (("pod", 1), ("cluster", 64)),
    StepCost(),
)
NVL72 = Fabric(
    "NVL72, 256 racks",
    partial(Topology.from_spec, "pod:16 rack:16 host:18 gpu:4"),
    4,
    (8, 16, 32, 64, 128, 256, 512, 1024),
    (12, 24, 36, 72, 144, 288, 576, 1152),
    (("pod", 16), ("rack", 1), ("cluster", 256)),
    StepCost((900.0, 900.0, 900.0, 50.0, 12.5), group_ranks=4, gradient_gb=35.0),
)
POOL = Fabric(
    "H100, 15 leaf groups",
    leaf_groups,
    8,
    (8, 16, 32, 64, 128),
    (8, 16, 24, 40, 48, 64, 88),
    (("cluster", 2), ("cluster", 13), ("group", 1)),
    StepCost((900.0, 900.0, 50.0, 12.5)),
)
FABRICS = (PAPER, NVL72, POOL)


class Setting(NamedTuple):
    """One row of a table.

    Attributes
    ----------
    fabric
        Its place in ``FABRICS``.
    mix
        "powers" or "own": which sizes gangs have.
    way
        "exact", "rounded" or "buddy"; the last on powers of two alone.
    spares
        Its place in the fabric's.
    """

    fabric: int
    mix: str
    way: str
    spares: int = 0


class Admitted(NamedTuple):
    """A fabric that was offered as many leaves as it has beside its spares.

    Attributes
    ----------
    ranks
        Of each job that was placed, without what rounding adds.
    load
        Their sum over all leaves.
    refused
        Leaves that were asked for in vain, over all that were.
    inflation
        Mean over the jobs of a step's communication over that on the lowest level that
        an empty fabric has for as many ranks.
    """

    planner: Planner
    ranks: dict[int, int]
    load: float
    refused: float
    inflation: float


class Measured(NamedTuple):
    """One setting at one seed.

    Attributes
    ----------
    reserved
        Spare hosts of the empty fabric, over all hosts.
    load, refused, inflation
        As in :class:`Admitted`.
    p95, worst
        Of a step's communication after the repair of one lost host, over that before it.
    kept
        Share of repairs that keep the gang's level.
    """

    reserved: float
    load: float
    refused: float
    inflation: float
    p95: float
    worst: float
    kept: float


def rounded(ranks: int, host: int) -> int:
    """The next power of two of hosts that has as many ranks.

    Examples
    --------
    >>> rounded(72, 4), rounded(64, 4), rounded(4, 4)
    (128, 64, 4)
    """
    hosts = -(-ranks // host)
    return host << (hosts - 1).bit_length()


def admitted(setting: Setting, seed: int) -> Admitted:
    """Offer gangs of uniformly drawn sizes; a refused one is gone.

    Parameters
    ----------
    setting
        What is offered to what.
    seed
        Of the sizes.
    """
    fabric = FABRICS[setting.fabric]
    planner = _planner(fabric, setting)
    topology = planner.topology
    room = int(planner.free_leaves())
    lowest = _lowest_levels(topology, fabric)
    sizes = fabric.powers if setting.mix == "powers" else fabric.own
    rng = Random(seed)
    ranks: dict[int, int] = {}
    ratios = []
    asked = held = job = 0
    while asked < room:
        size = rng.choice(sizes)
        job += 1
        asked += size
        placed = planner.place(job, _gang(fabric, setting.way, size))
        if placed:
            ranks[job] = size
            held += size
            before = HOST_LEVEL, lowest[size]
            after = HOST_LEVEL, _level(topology, placed.leaves[:size])
            ratios.append(fabric.cost.inflation(size, before, after))
    return Admitted(
        planner,
        ranks,
        held / topology.leaf_count,
        1 - held / asked,
        float(np.mean(ratios)),
    )


def measured(work: tuple[Setting, int]) -> Measured:
    """A setting with a seed: what is admitted, then 500 hosts that fail, each for itself.

    Notes
    -----
    A uniform job loses a uniform host, always on the same state.
    """
    setting, seed = work
    fabric = FABRICS[setting.fabric]
    spare = _planner(fabric, setting).spares().size * fabric.host
    found = admitted(setting, seed)
    rng = Random(seed)
    jobs = list(found.ranks)
    repairs = [_repair(found, fabric, rng.choice(jobs), rng) for _ in range(EVENTS)]
    ratios = [ratio for ratio, _ in repairs]
    return Measured(
        spare / found.planner.topology.leaf_count,
        found.load,
        found.refused,
        found.inflation,
        float(np.percentile(ratios, 95)),
        max(ratios),
        sum(same for _, same in repairs) / EVENTS,
    )


def _planner(fabric: Fabric, setting: Setting) -> Planner:
    per, count = fabric.spares[setting.spares]
    alignment = BUDDY if setting.way == BUDDY else EXACT
    spares = Spares(per, "host", count)
    with catch_warnings():
        # A leaf group of one host holds no spare; the tables show what is reserved.
        simplefilter("ignore", UserWarning)
        return Planner(fabric.topology(), spares=spares, alignment=alignment)


def _gang(fabric: Fabric, way: str, ranks: int) -> Gang:
    wanted = rounded(ranks, fabric.host) if way == ROUNDED else ranks
    return Gang(wanted, group=fabric.host, group_level="host")


def _lowest_levels(topology: Topology, fabric: Fabric) -> dict[int, int]:
    """Size to the lowest level that an empty fabric has for it."""
    planner = Planner(topology)
    found = {}
    for size in {*fabric.powers, *fabric.own}:
        placed = planner.fits(_gang(fabric, EXACT, size))
        if placed:
            found[size] = _level(topology, placed.leaves)
    return found


def _level(topology: Topology, leaves: NDArray[np.int32]) -> int:
    return topology.distance(int(leaves.min()), int(leaves.max()))


def _repair(
    found: Admitted, fabric: Fabric, job: int, rng: Random
) -> tuple[float, bool]:
    """Inflation of a repair that is planned alone, and whether the level is kept."""
    size = found.ranks[job]
    topology = found.planner.topology
    leaves = found.planner.placement(job).leaves
    first = fabric.host * rng.randrange(size // fabric.host)
    lost = leaves[first : first + fabric.host].tolist()
    repair = found.planner.replan(job, failed=lost, apply=False)
    if not repair:
        return float("inf"), False
    after = leaves.copy()
    after[repair.moves[:, 0]] = repair.moves[:, 2]
    levels = [_level(topology, one[:size]) for one in (leaves, after)]
    before, now = ((HOST_LEVEL, level) for level in levels)
    return fabric.cost.inflation(size, before, now), levels[0] == levels[1]

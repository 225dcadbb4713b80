"""Clusters, options and requests of random histories of a scheduler."""

from __future__ import annotations

from collections import Counter
from random import Random

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import Configuration, EarlyEviction, SchedulerOptions

ORDERS = ("utility", "owed", "owed-then-utility")
SPECS = ("host:3 gpu:4", "rack:2 host:3 gpu:4", "rack:3 host:2 gpu:2", "host:2 gpu:8")


def drawn_options(rng: Random) -> SchedulerOptions:
    """Any order, in either mode; leases of a few rounds."""
    lease_s = rng.choice((120.0, 300.0, 900.0))
    early = None
    if rng.random() < 0.4:
        early = EarlyEviction(
            for_new=rng.random() < 0.8,
            first_s=rng.choice(((60.0, 200.0), (0.0, 120.0))),
            renewed_s=rng.choice((60.0, 300.0)),
        )
    return SchedulerOptions(
        order=rng.choice(ORDERS),
        lease_s=lease_s,
        trigger=rng.choice(("timer", "event")),
        releases=rng.choice(("reported", "immediate")),
        entitlement=rng.choice(("quota", "demand")),
        window_s=rng.choice((None, 7200.0)),
        waiting_bound_s=rng.choice((100.0, 300.0, 3000.0)),
        reservations=rng.choice((0, 1, 8)),
        early_eviction=early,
        age=rng.choice(("last", "total")),
        idle=rng.choice((0.0, 0.0, 0.5)),
        normalized=rng.random() < 0.8,
        repairs=rng.choice((0, 2, 8)),
        pass_over=rng.choice(("job", "tenant")),
    )


def drawn_topology(rng: Random) -> Topology:
    """Small trees, some with hosts of two types."""
    spec = rng.choice(SPECS)
    plain = Topology.from_spec(spec)
    if rng.random() < 0.7:
        return plain
    levels = plain.levels[1:]
    labels = [plain.domain_of(level).tolist() for level in levels]
    hosts = plain.domain_of("host").tolist()
    types = ["A100" if host % 2 else "H100" for host in hosts]
    return Topology.from_labels(levels, labels, types=types)


def drawn_way(rng: Random, topology: Topology) -> Configuration:
    """A way to run a job; a few can never run."""
    group = rng.choice((1, 1, 2) if rng.random() < 0.9 else (4,))
    within = rng.choice((None, None, None, *topology.levels[2:-1]))
    most = topology.leaf_count // 2
    if rng.random() < 0.2:
        within, most = "host", 4
    ranks = group * rng.randint(1, max(1, most // group))
    if rng.random() < 0.02:
        ranks = 4 * topology.leaf_count
    types = topology.type_names
    return Configuration(
        Gang(ranks, group=group, within=within),
        goodput=ranks ** rng.choice((0.5, 1.0)) * rng.choice((0.5, 1.0, 2.0)),
        type=rng.choice(types) if len(types) > 1 else None,
        memory_bytes=100.0 if rng.random() < 0.05 else 10.0,
    )


def possible(topology: Topology, way: Configuration) -> bool:
    """Whether the empty cluster holds it, by counting each level's domains."""
    if way.memory_bytes > 80.0:
        return False
    gang = way.gang
    type = topology.type_names[0] if way.type is None else way.type
    column = topology.type_names.index(type)
    able = [leaf for leaf, one in enumerate(topology.type_of) if one == column]
    inner = topology.domain_of(gang.group_level or topology.levels[1])
    if gang.within == topology.levels[0]:
        return gang.ranks == 1
    outer = topology.domain_of(gang.within or topology.levels[-1])
    room: Counter[int] = Counter()
    for (top, _), count in Counter(
        (int(outer[leaf]), int(inner[leaf])) for leaf in able
    ).items():
        room[top] += count // gang.group * gang.group
    return max(room.values(), default=0) >= gang.ranks

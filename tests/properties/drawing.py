"""Random gangs and limits for a topology, from any ``random.Random``."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.testing import Geometry, SlowPlanner

Limits = dict[str | int, list[int]]


def planner_of(geometry: Geometry) -> Planner:
    """A fresh planner of a named geometry."""
    shape = geometry.spares
    spares = None if shape is None else Spares(shape.per, shape.size, shape.count)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some domains can never hold a spare
        return Planner(geometry.topology, spares=spares, alignment=geometry.alignment)


def twin_of(geometry: Geometry) -> SlowPlanner:
    """Its slow twin."""
    return SlowPlanner(
        geometry.topology, spares=geometry.spares, alignment=geometry.alignment
    )


def random_gang(
    rng: Random, topology: Topology, most: int | None = None, full: bool = False
) -> Gang:
    """A gang of any constraint kind, now and then larger than the cluster.

    With ``full`` it has slices, is balanced or has parts as often as not; what is drawn
    without does not depend on that.
    """
    if full:
        return Gang(**whole_fields(rng, topology, most))
    depth = len(topology.levels) - 1
    largest = min(most or topology.leaf_count, topology.leaf_count)
    if rng.random() < 0.03:
        largest = topology.leaf_count + 3
    group = rng.choice((1, 1, 1, 2, 2, 3, 4))
    group = min(group, largest)
    ranks = group * rng.randint(1, max(1, largest // group))
    options: dict[str, Any] = {}
    low = 0
    if group > 1 or rng.random() < 0.2:
        low = options["group_level"] = rng.randint(1, depth)
    if rng.random() < 0.4:
        options["within"] = rng.randint(max(low, 1), depth)
    if rng.random() < 0.2:
        options["prefer"] = rng.randint(1, options.get("within", depth))
    if rng.random() < 0.2:
        options["aim"] = "fill"
    if rng.random() < 0.3:
        options["rule"] = rng.choice(("fullest", "lowest"))
    return Gang(ranks, group=group, **options)


def chain_gang(rng: Random, topology: Topology, most: int | None = None) -> Gang:
    """A gang with slices or balanced, without parts."""
    return Gang(**chain_fields(rng, topology, most))


def parts_gang(rng: Random, topology: Topology, most: int | None = None) -> Gang:
    """A gang of two or three parts, each with a chain of its own."""
    return Gang(**part_fields(rng, topology, most))


def full_gang(rng: Random, topology: Topology, most: int | None = None) -> Gang:
    """A gang of a chain that has smaller sizes as often as not, or of parts.

    Now and then its slices fill domains of a higher level, so that repairs may widen.
    """
    if rng.random() < 0.15:
        return parts_gang(rng, topology, most)
    fields = chain_fields(rng, topology, most)
    depth = len(topology.levels) - 1
    high = min(depth, rng.choice((2, rng.randint(2, max(depth, 2)))))
    if high > 1 and topology.domain_count(high) and rng.random() < 0.3:
        domain = rng.randrange(topology.domain_count(high))
        outer = max(2, topology.leaves(high, domain).size // 2 * 2)
        slices = ((2, rng.randint(1, high - 1)), (outer, high))
        fields = {"ranks": outer * rng.randint(1, 2), "group": 1, "slices": slices}
    slices = fields.get("slices")
    size = slices[-1][0] if slices else fields["group"]
    units = range(1, fields["ranks"] // size)
    if units and rng.random() < 0.6:
        count = min(len(units), rng.choice((1, 2, 3)))
        chosen = sorted(rng.sample(units, count), reverse=True)
        fields["templates"] = [size * unit for unit in chosen]
    if rng.random() < 0.1:
        fields["limits"] = random_limits(rng, topology)
    return Gang(**fields)


def whole_fields(
    rng: Random, topology: Topology, most: int | None = None
) -> dict[str, Any]:
    """Parameters of a gang with a chain, or of one with two or three parts."""
    if rng.random() < 0.75:
        return chain_fields(rng, topology, most)
    return part_fields(rng, topology, most)


def part_fields(
    rng: Random, topology: Topology, most: int | None = None
) -> dict[str, Any]:
    """Parameters of a gang with two or three parts."""
    depth = len(topology.levels) - 1
    largest = min(most or topology.leaf_count, topology.leaf_count)
    options: dict[str, Any] = {}
    top = depth
    if rng.random() < 0.4:
        top = options["within"] = rng.randint(1, depth)
    if rng.random() < 0.2:
        options["prefer"] = rng.randint(1, top)
    count = rng.choice((2, 2, 3))
    size = max(1, largest // count)
    parts = []
    for _ in range(count):
        part = chain_fields(rng, topology, size, top)
        parts.append({k: v for k, v in part.items() if k not in _WHOLE_ONLY})
        if rng.random() < 0.2:
            parts[-1]["limits"] = random_limits(rng, topology)
    return {"parts": parts, **options}


_WHOLE_ONLY = ("prefer", "balanced", "aim")


def chain_fields(
    rng: Random, topology: Topology, most: int | None = None, top: int | None = None
) -> dict[str, Any]:
    """Parameters of a gang with a group, up to two slices, and now and then balanced.

    Levels do not rise above ``top``.
    """
    depth = len(topology.levels) - 1 if top is None else top
    largest = min(most or topology.leaf_count, topology.leaf_count)
    if rng.random() < 0.03:
        largest = topology.leaf_count + 3
    size = group = min(rng.choice((1, 1, 2, 2, 3)), largest)
    slices: list[tuple[int, int]] = []
    low = rng.randint(1, depth)
    options: dict[str, Any] = {}
    if group > 1 or rng.random() < 0.2:
        options["group_level"] = low
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        grown = size * rng.choice((1, 2, 2, 3))
        if 1 < grown <= largest:
            size, low = grown, rng.randint(low, depth)
            slices.append((size, low))
    if slices:
        options["slices"] = tuple(slices)
    if rng.random() < 0.4:
        options["within"] = rng.randint(low, depth)
    high = options.get("within", depth)
    if rng.random() < 0.2:
        options["prefer"] = rng.randint(1, high)
    kind = rng.random()
    if kind < 0.2:
        options["aim"] = "fill"
    elif kind < 0.6:
        options["balanced"] = rng.randint(1, high)
    return {"ranks": size * rng.randint(1, largest // size), "group": group, **options}


def random_buddy_gang(rng: Random, topology: Topology) -> Gang:
    """A gang that alignment "buddy" takes: its group is a power of two that fits."""
    depth = len(topology.levels) - 1
    group_level = rng.randint(1, depth)
    leaves = topology.leaves(group_level, 0).size
    group = 1 << rng.randint(0, min(2, leaves.bit_length() - 1))
    ranks = group * rng.randint(1, max(1, topology.leaf_count // group // 2))
    if rng.random() < 0.05:
        ranks = group * (topology.leaf_count // group + 1)
    within = rng.randint(group_level, depth) if rng.random() < 0.3 else None
    return Gang(ranks, group=group, group_level=group_level, within=within)


def random_limits(rng: Random, topology: Topology, most: int = 4) -> Limits:
    """Limits of one or two levels, zeros among them."""
    limits: Limits = {}
    levels = [at for at, _ in enumerate(topology.levels) if topology.domain_count(at)]
    for _ in range(rng.choice((1, 1, 2))):
        level = rng.choice(levels)
        top = most if level < 2 else 3 * most
        limits[level] = [
            rng.choice((0, rng.randint(1, top), top))
            for _ in range(topology.domain_count(level))
        ]
    return limits

"""Small clusters to test on: named ones, and random ones of any shape."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from phalanx_core.topology import Topology

Shape: TypeAlias = "int | Sequence[Shape]"


@dataclass(frozen=True, slots=True)
class SpareShape:
    """The fields of ``Spares``: ``count`` domains of ``size`` in each of ``per``."""

    per: str
    size: str
    count: int = 1


@dataclass(frozen=True)
class Geometry:
    """A small cluster and the options of its planner."""

    name: str
    topology: Topology
    spares: SpareShape | None = None
    alignment: str = "exact"


def nested_topology(levels: Sequence[str], shape: Shape) -> Topology:
    """Cluster from nested lists, outermost = the trees, innermost = GPUs a domain.

    Parameters
    ----------
    levels
        Level names from the leaf upward, without the leaf.
    shape
        As many lists deep as there are levels.

    Raises
    ------
    TopologyError
        If the shape holds no leaf.

    Examples
    --------
    >>> nested_topology(["host", "rack"], [[2, 1], [3]]).describe()
    'rack:2 host:1..2 gpu:1..3'
    """
    labels: list[list[Hashable]] = [[] for _ in levels]

    def walk(inner: Shape, path: tuple[int, ...]) -> None:
        if isinstance(inner, int):
            for depth, row in enumerate(labels):
                row.extend([path[: len(path) - depth]] * inner)
            return
        for at, child in enumerate(inner):
            walk(child, (*path, at))

    walk(shape, ())
    return Topology.from_labels(levels, labels)


def random_topology(rng: Random, leaves: int = 16) -> Topology:
    """Irregular cluster of at most so many leaves: one to three levels.

    Trees may be several, fanouts differ, chains of fanout 1 occur, and a domain may
    lack a domain above it (a phantom). Rows come in address order.

    Parameters
    ----------
    rng
        Source of every choice.
    leaves
        Most leaves, at least 1.

    Examples
    --------
    >>> random_topology(Random(7), 12).leaf_count <= 12
    True
    """
    count = rng.randint(1, leaves) if rng.random() < 0.3 else leaves
    depth = rng.choice((1, 2, 2, 3, 3))
    holes = rng.random() < 0.4
    rows: list[list[Hashable]] = []
    below = list(range(count))
    for level in range(depth):
        last = level == depth - 1
        mean = rng.choice((1, 2, 3, 4)) if not last else rng.choice((2, 5, count))
        domain_of_child = _runs(rng, max(below) + 1, mean)
        missing = {
            domain for domain in domain_of_child if holes and rng.random() < 0.15
        }
        row = [domain_of_child[child] for child in below]
        rows.append([None if domain in missing else domain for domain in row])
        # A missing domain's children stay apart at every level above.
        below = row
    return Topology.from_labels(("host", "rack", "pod")[:depth], rows)


def _runs(rng: Random, count: int, mean: int) -> list[int]:
    """Ids 0, 0, 1, 2, 2, ...: runs of random lengths around a mean."""
    ids: list[int] = []
    domain = 0
    while len(ids) < count:
        ids += [domain] * rng.randint(1, 2 * mean - 1)
        domain += 1
    return ids[:count]


def shuffled(rng: Random, topology: Topology) -> tuple[Topology, list[int]]:
    """The same cluster with its leaves listed in another order of domains.

    Returns
    -------
    The new topology, and the old leaf id at each new leaf id. Siblings keep their
    order of first appearance, so addresses are the same.
    """
    order = list(range(topology.leaf_count))
    levels = topology.levels[1:]
    address = {leaf: at for at, leaf in enumerate(topology.address_order.tolist())}
    first = [
        min(address[leaf] for leaf in order if _alike(topology, leaf, other))
        for other in order
    ]
    rng.shuffle(order)
    heads = sorted(set(first))
    # First leaves of the lowest domains open every domain in the old order.
    opening = [topology.address_order.tolist()[at] for at in heads]
    rest = [leaf for leaf in order if leaf not in opening]
    order = opening + rest
    rows = [
        [
            None if domain < 0 else int(domain)
            for domain in topology.domain_of(level)[order]
        ]
        for level in levels
    ]
    return Topology.from_labels(levels, rows), order


def _alike(topology: Topology, leaf: int, other: int) -> bool:
    """Whether two leaves share every domain, or are the same leaf."""
    rows = [topology.domain_of(level) for level in topology.levels[1:]]
    return leaf == other or all(row[leaf] == row[other] >= 0 for row in rows)


def _with_holes() -> Topology:
    """Two racks, a rack of one host, a host without a rack, GPUs without a host."""
    hosts = ["a", "a", "b", "b", "b", "c", "c", "d", "d", None, None, "e", "e"]
    racks = ["r", "r", "r", "r", "r", "s", "s", None, None, None, "s", "s", "s"]
    return Topology.from_labels(
        ("host", "rack"), ([*hosts, "f", None], [*racks, "t", "t"])
    )


_HOST_RACK = ("host", "rack")
_THREE = ("host", "rack", "pod")

GEOMETRIES: tuple[Geometry, ...] = (
    Geometry("cube", Topology.from_spec("pod:2 rack:2 host:2 gpu:2")),
    Geometry(
        "wide", Topology.from_spec("rack:2 host:2 gpu:4"), SpareShape("rack", "host")
    ),
    Geometry(
        "trays", Topology.from_spec("rack:2 host:6 gpu:2"), SpareShape("rack", "host")
    ),
    Geometry("threes", Topology.from_spec("rack:3 host:3 gpu:2")),
    Geometry(
        "fives", nested_topology(_HOST_RACK, [[2] * 5] * 2), SpareShape("rack", "host")
    ),
    Geometry("forest", nested_topology(_HOST_RACK, [[2, 2, 2], [3, 1, 3], [5]])),
    Geometry(
        "irregular",
        nested_topology(_THREE, [[[2, 1, 1], [3, 2]], [[5, 1]]]),
        SpareShape("pod", "host", 2),
    ),
    Geometry("holes", _with_holes(), SpareShape("rack", "host")),
    Geometry("chains", nested_topology(_THREE, [[[3]], [[1, 2], [4]], [[2], [2]]])),
    Geometry("buddy", Topology.from_spec("rack:2 host:4 gpu:2"), None, "buddy"),
    Geometry(
        "unions",
        Topology.from_spec("pod:2 rack:2 host:2 gpu:2"),
        SpareShape("pod", "host"),
        "buddy",
    ),
)

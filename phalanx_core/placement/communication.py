"""``communication``: what a placement costs its job, as the Phalanx paper measures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.costs import Costs, FloatArray, level_costs
from phalanx_core.placement.parallelism import Edges, Parallelism
from phalanx_core.placement.repair import Repair
from phalanx_core.placement.results import Placement
from phalanx_core.topology import Topology

LeafArray = NDArray[np.int64]
Traffic: TypeAlias = Parallelism | tuple[int, int, int] | ArrayLike

# Pairs of ranks held at once: a few arrays of it stay below 50 MB.
PAIRS_MAX = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class Communication:
    """What a placement costs.

    Attributes
    ----------
    bottleneck
        B: the highest level that two talking ranks need; 0 where none talk, and
        ``len(levels)`` where two of them share no domain.
    bottleneck_name
        Name of that level, None where no domain holds both ranks.
    cost
        C: seconds where costs are inverse bandwidths, else in the costs' unit.
    bytes_by_level
        float64, shape (levels + 1,): bytes between ranks at that distance; the last
        entry is for pairs that share no domain.
    costs
        float64, shape (levels + 1,): what a byte cost at that distance; NaN where no
        cost is known and none was needed.
    """

    bottleneck: int
    bottleneck_name: str | None
    cost: float
    bytes_by_level: FloatArray
    costs: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "bottleneck": self.bottleneck,
            "bottleneck_name": self.bottleneck_name,
            "cost": self.cost,
            "bytes_by_level": self.bytes_by_level.tolist(),
            "costs": [None if np.isnan(c) else c for c in self.costs.tolist()],
        }

    def __str__(self) -> str:
        name = self.bottleneck_name or "no common domain"
        return f"bottleneck {name}, cost {self.cost:.6g}"


def communication(
    placement: Placement | Repair | ArrayLike,
    traffic: Traffic,
    costs: Costs | None = None,
    *,
    topology: Topology | None = None,
) -> Communication:
    r"""Bottleneck level and communication cost of a placement.

    Parameters
    ----------
    placement
        From a planner; a repair counts as if applied, its unresolved ranks where they
        were. Or leaf ids in rank order, shape (ranks,), with ``topology``: any other
        placement, such as a random one to compare with.
    traffic
        Bytes that rank r sends to rank s in a step: an array, shape (ranks, ranks), at
        least 0; or a :class:`Parallelism`, or its (TP, PP, DP) with default bytes.
    costs
        Cost of a byte by level: a mapping of every level's name above the leaf, or a
        sequence that starts with the leaf's level (itself, 0), with one more entry at
        the end if ranks may share no domain. Must not fall from level to level. By
        default 1 / bandwidth if the topology knows it for every level above the leaf,
        else the level's index: units are never mixed, or sums would mean nothing.
    topology
        The cluster, for leaf ids alone.

    Raises
    ------
    InvalidRequest
        If shapes disagree, a number is negative or not finite, a leaf does not exist
        or comes twice, or a pair that talks has no cost.

    Notes
    -----
    The Phalanx paper, section 3.2, equations 1 and 2, with d the level of the lowest
    domain that holds both leaves and γ an increasing cost of a level:

    .. math::

        B(π) = \max_{W(r, s) > 0} d(π(r), π(s)) \qquad
        C(π) = \sum_{(r, s)} W(r, s) \, γ(d(π(r), π(s)))

    The sum runs over ordered pairs: W(r, s) and W(s, r) are both sent.
    O(ranks² * levels) time for an array, O(ranks) memory beside it;
    O(ranks * levels) for a template.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> topology = Topology.from_spec("rack:2 host:2 gpu:4")
    >>> placed = Planner(topology).place("a", Gang(8, group=4))
    >>> near = communication(placed, Parallelism(tp=4, dp=2, tp_bytes=10, dp_bytes=1))
    >>> near.bottleneck_name, near.cost
    ('rack', 96.0)
    >>> blind = [0, 4, 8, 12, 1, 5, 9, 13]
    >>> far = communication(blind, (4, 1, 2), topology=topology)
    >>> far.bottleneck_name
    'cluster'
    """
    leaves, topology = _leaves(placement, topology)
    levels = len(topology.levels)
    if (
        isinstance(traffic, tuple)
        and len(traffic) == 3
        and not any(map(np.ndim, traffic))
    ):
        traffic = Parallelism(*traffic)
    if isinstance(traffic, Parallelism):
        if traffic.ranks != leaves.size:
            raise InvalidRequest(
                f"{traffic!r}: {traffic.ranks} ranks for a placement of {leaves.size}"
            )
        volume, pairs = _of_edges(topology, leaves, traffic.edges())
    else:
        volume, pairs = _of_matrix(topology, leaves, _matrix(traffic, leaves.size))
    prices = level_costs(topology, costs)
    used = np.flatnonzero(pairs)
    missing = used[np.isnan(prices[used])]
    if missing.size:
        raise InvalidRequest(
            "costs: ranks that share no domain talk, so one more entry is needed, "
            f"{levels + 1} in all"
        )
    bottleneck = int(used[-1]) if used.size else 0
    return Communication(
        bottleneck=bottleneck,
        bottleneck_name=topology.levels[bottleneck] if bottleneck < levels else None,
        cost=float(volume[used] @ prices[used]),
        bytes_by_level=volume,
        costs=prices,
    )


def distances(topology: Topology, first: LeafArray, second: LeafArray) -> LeafArray:
    """Lowest level whose domain holds both leaves of each pair, as arrays broadcast.

    Parameters
    ----------
    first, second
        Leaf ids.

    Returns
    -------
    int64: 0 for a leaf with itself, ``len(topology.levels)`` where none holds both.

    Examples
    --------
    >>> topology = Topology.from_spec("host:2 gpu:4")
    >>> distances(topology, np.array([0, 0, 0]), np.array([0, 3, 4])).tolist()
    [0, 1, 2]
    """
    shape = np.broadcast_shapes(first.shape, second.shape)
    found = np.full(shape, len(topology.levels), np.int64)
    for level in range(len(topology.levels) - 1, -1, -1):
        domain = topology.domain_of(level)
        one, other = domain[first], domain[second]
        found[(one == other) & (one >= 0)] = level
    return found


def _of_edges(
    topology: Topology, leaves: LeafArray, edges: Edges
) -> tuple[FloatArray, LeafArray]:
    """Bytes, and the number of talking pairs, by distance."""
    senders, receivers, counts = edges
    far = distances(topology, leaves[senders], leaves[receivers])
    size = len(topology.levels) + 1
    volume = np.bincount(far, counts, size).astype(np.float64)
    return volume, np.bincount(far, minlength=size).astype(np.int64)


def _of_matrix(
    topology: Topology, leaves: LeafArray, matrix: FloatArray
) -> tuple[FloatArray, LeafArray]:
    size = len(topology.levels) + 1
    volume, pairs = np.zeros(size), np.zeros(size, np.int64)
    height = max(1, PAIRS_MAX // max(1, leaves.size))
    for first in range(0, leaves.size, height):
        rows = matrix[first : first + height]
        far = distances(topology, leaves[first : first + height, None], leaves[None])
        volume += np.bincount(far.ravel(), rows.ravel(), size)
        pairs += np.bincount(far[rows > 0], minlength=size)
    return volume, pairs


def _matrix(traffic: Any, ranks: int) -> FloatArray:
    try:
        given = np.asarray(traffic)
    except ValueError:
        given = np.empty(0, object)
    if given.shape != (ranks, ranks) or given.dtype.kind not in "iuf":
        raise InvalidRequest(
            f"traffic of shape {given.shape} and dtype {given.dtype}: numbers of shape "
            f"({ranks}, {ranks}), a Parallelism, or a (TP, PP, DP)"
        )
    matrix = np.asarray(given, np.float64)
    bad = ~(np.isfinite(matrix) & (matrix >= 0))
    if bad.any():
        sender, receiver = np.argwhere(bad)[0].tolist()
        raise InvalidRequest(
            f"traffic[{sender}, {receiver}] is {matrix[sender, receiver]}: a finite "
            "number of at least 0"
        )
    return matrix


def _leaves(placement: Any, topology: Any) -> tuple[LeafArray, Topology]:
    if isinstance(placement, (Placement, Repair)):
        known = placement._frame.topology
        if topology is not None and topology != known:
            raise InvalidRequest("topology: the placement is on another one")
        return placement.leaves.astype(np.int64), known
    if not isinstance(topology, Topology):
        raise InvalidRequest(
            "placement: a Placement, a Repair, or leaf ids together with topology="
        )
    given = np.asarray(placement)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "iu":
        raise InvalidRequest(
            f"placement of shape {given.shape} and dtype {given.dtype}: a row of leaf "
            "ids"
        )
    count = topology.leaf_count
    if int(given.min()) < 0 or int(given.max()) >= count:
        bad = given[(given < 0) | (given >= count)][0]
        raise InvalidRequest(
            f"placement: leaf {bad} does not exist; ids are 0 to {count - 1}"
        )
    ids, times = np.unique(given, return_counts=True)
    if ids.size != given.size:
        raise InvalidRequest(f"placement: leaf {ids[times > 1][0]} is listed twice")
    return given.astype(np.int64), topology

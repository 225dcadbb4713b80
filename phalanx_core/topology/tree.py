"""The uniform-depth tree that the native core is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phalanx_core.topology.grouping import IntArray

if TYPE_CHECKING:
    from phalanx_core.topology.forest import Forest


@dataclass(frozen=True, eq=False, repr=False)
class DomainTree:
    """One vertex a level over every leaf of one GPU type, in address order.

    Attributes
    ----------
    leaf_at
        int32, shape (n,): leaf id at each address position.
    position_of
        int32, shape (leaf_count,): address position of a leaf, -1 = another type.
    identity
        True if position equals leaf id for every leaf of the topology.
    first
        ``first[L - 1]`` for levels L = 1..D: uint32, shape (count + 1,): the first
        child of each vertex; children are vertices of level L - 1, level 0 is the
        positions.
    real
        ``real[L]`` for levels L = 0..D: int32, shape (count,): the domain id of
        ``Topology.domain_of(L)``, -1 for a phantom; at level 0 the leaf id.
    """

    leaf_at: IntArray
    position_of: IntArray
    identity: bool
    first: tuple[NDArray[np.uint32], ...]
    real: tuple[IntArray, ...]

    @property
    def depth(self) -> int:
        """Number of levels above the leaf."""
        return len(self.first)

    def __repr__(self) -> str:
        counts = [len(vertices) for vertices in self.real]
        return f"DomainTree(vertices={counts}, identity={self.identity})"


def build_tree(topology: Forest, type: str | None = None) -> DomainTree:
    """Tree of the leaves of one GPU type, or of all leaves.

    Parameters
    ----------
    topology
        Any forest; a leaf or domain that lacks a domain at some level gets a phantom
        vertex of its own there, which nothing else ever shares.
    type
        A GPU type of ``topology.type_names``; None takes every leaf.

    Returns
    -------
    DomainTree
        All arrays are C-contiguous and read-only.

    Raises
    ------
    InvalidRequest
        If the topology has no such type.

    Notes
    -----
    O(leaves * levels) time, O(leaves + domains) memory.

    Examples
    --------
    >>> from phalanx_core.topology import Topology
    >>> tree = build_tree(Topology.from_labels(["host"], [["a", "a", "b", None]]))
    >>> [first.tolist() for first in tree.first], [r.tolist() for r in tree.real]
    ([[0, 2, 3, 4]], [[0, 1, 2, 3], [0, 1, -1]])
    """
    leaf_at = topology.address_order
    if type is not None:
        wanted = topology.type_of == topology.type_index(type)
        leaf_at = leaf_at[wanted[leaf_at]]
    leaf_at = np.ascontiguousarray(leaf_at, dtype=np.int32)
    place = np.arange(leaf_at.size, dtype=np.int32)
    position_of = np.full(topology.leaf_count, -1, dtype=np.int32)
    position_of[leaf_at] = place
    identity = leaf_at.size == topology.leaf_count and bool((leaf_at == place).all())
    first, real = _stack(topology, leaf_at)
    for array in (leaf_at, position_of, *first, *real):
        array.setflags(write=False)
    return DomainTree(leaf_at, position_of, identity, tuple(first), tuple(real))


def _stack(
    topology: Forest, leaf_at: IntArray
) -> tuple[list[NDArray[np.uint32]], list[IntArray]]:
    """Level by level: a vertex opens where the domain changes or there is none."""
    first = []
    real = [leaf_at]
    heads = leaf_at
    for level in range(1, len(topology.levels)):
        domain = topology.domain_of(level)[heads]
        opens = domain < 0
        opens[0] = True
        opens[1:] |= domain[1:] != domain[:-1]
        starts = np.flatnonzero(opens)
        first.append(np.append(starts, domain.size).astype(np.uint32))
        real.append(np.ascontiguousarray(domain[starts]))
        heads = heads[starts]
    return first, real

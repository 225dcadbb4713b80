"""The tree of the slow twin: every vertex spelled out from a topology's labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from phalanx_core.topology import Topology


@dataclass(eq=False, slots=True, repr=False)
class Vertex:
    """One domain, or a phantom that stands where a domain is missing.

    Attributes
    ----------
    level
        Index of its level, 0 = a leaf.
    domain
        Id of ``Topology.domain_of(level)``, -1 = phantom; at level 0 the leaf id.
    parent, children, leaves
        Neighbours in the tree; leaf ids in address order.
    """

    level: int
    domain: int
    parent: Vertex | None = None
    children: list[Vertex] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)

    @property
    def real(self) -> bool:
        """Whether a constraint of this level may be served here."""
        return self.domain >= 0

    def ancestors(self) -> Iterator[Vertex]:
        """Vertices above this one, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


class SlowTree:
    """All vertices over the leaves of one GPU type, in address order.

    Parameters
    ----------
    topology
        Any forest.
    type
        GPU type of the leaves to keep, None = all.

    Raises
    ------
    InvalidRequest
        If the topology has no such type.

    Notes
    -----
    O(leaves * levels).

    Examples
    --------
    >>> tree = SlowTree(Topology.from_labels(["host"], [["a", "a", "b", None]]))
    >>> [(v.leaves, v.real) for v in tree.levels[1]]
    [([0, 1], True), ([2], True), ([3], False)]
    """

    def __init__(self, topology: Topology, type: str | None = None) -> None:
        kinds = topology.type_of
        kind = None if type is None else topology.type_index(type)
        self.topology = topology
        self.depth = len(topology.levels) - 1
        self.leaves = [
            leaf
            for leaf in topology.address_order.tolist()
            if kind is None or kinds[leaf] == kind
        ]
        self.position = {leaf: at for at, leaf in enumerate(self.leaves)}
        self.levels: list[list[Vertex]] = [[Vertex(0, leaf) for leaf in self.leaves]]
        for vertex in self.levels[0]:
            vertex.leaves.append(vertex.domain)
        for level in range(1, self.depth + 1):
            self.levels.append(self._stack(level))
        self.bottom_up = [vertex for row in self.levels for vertex in row]
        self._above = {
            (vertex.level, leaf): vertex
            for vertex in self.bottom_up
            for leaf in vertex.leaves
        }

    def _stack(self, level: int) -> list[Vertex]:
        """Vertices of a level; a child without a domain gets one of its own."""
        domain_of = self.topology.domain_of(level).tolist()
        found: dict[int, Vertex] = {}
        row: list[Vertex] = []
        for child in self.levels[level - 1]:
            domain = domain_of[child.leaves[0]]
            vertex = found.get(domain) if domain >= 0 else None
            if vertex is None:
                vertex = found[domain] = Vertex(level, domain)
                row.append(vertex)
            child.parent = vertex
            vertex.children.append(child)
            vertex.leaves.extend(child.leaves)
        return row

    def above(self, level: int, leaf: int) -> Vertex:
        """The vertex of a level that holds a leaf."""
        return self._above[level, leaf]

    def span_level(self, leaves: list[int]) -> int:
        """Lowest level with one vertex over all the leaves; depth + 1 = none."""
        for level in range(self.depth + 1):
            top = self.above(level, leaves[0])
            if all(self.above(level, leaf) is top for leaf in leaves):
                return level
        return self.depth + 1

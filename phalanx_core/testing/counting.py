"""Which numbers of leaves can be added inside every vertex, by definition.

A set of counts is an int: bit k is set when exactly k leaves can be added. A vertex can
take every sum of what its children can take, less what its own rule forbids. There is
no rounding and no order of search in it, so it shares no fault with a planner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, SupportsInt

from phalanx_core.testing.slow_tree import SlowTree, Vertex
from phalanx_core.topology import Topology

LimitTable = Mapping["str | int", Sequence[SupportsInt]]


class GangLike(Protocol):
    """The fields of a gang that the twin reads."""

    @property
    def ranks(self) -> int:
        """Number of leaves wanted."""

    @property
    def group(self) -> int:
        """Consecutive ranks that share a domain of ``group_level``."""

    @property
    def group_level(self) -> str | int | None:
        """Level of a group; None = NVLink's, else the first above the leaf."""

    @property
    def within(self) -> str | int | None:
        """Level whose domain must hold all ranks; None = one tree."""

    @property
    def prefer(self) -> str | int | None:
        """Level from which the search starts."""

    @property
    def aim(self) -> str:
        """Either "near" or "fill"."""


@dataclass(frozen=True, slots=True)
class Needs:
    """A gang's constraints with levels as indexes and limits as plain lists."""

    ranks: int
    group: int
    group_level: int
    within: int | None
    prefer: int | None
    near: bool
    limits: dict[int, list[int]]

    @classmethod
    def of(
        cls, topology: Topology, gang: GangLike, limits: LimitTable | None = None
    ) -> Needs:
        """Resolve a gang's names against a topology.

        Raises
        ------
        InvalidRequest
            If a level does not exist.
        """
        level = topology.level_index
        within = None if gang.within is None else level(gang.within)
        default = topology.nvlink_level or 1
        default = default if within is None else min(default, within)
        table = (getattr(gang, "limits", None) if limits is None else limits) or {}
        return cls(
            ranks=gang.ranks,
            group=gang.group,
            group_level=default
            if gang.group_level is None
            else level(gang.group_level),
            within=within,
            prefer=None if gang.prefer is None else level(gang.prefer),
            near=str(getattr(gang.aim, "value", gang.aim)) == "near",
            limits={level(at): [int(v) for v in row] for at, row in table.items()},
        )

    def serves(self, tree: SlowTree, leaf: int, level: int = 0) -> bool:
        """Whether a leaf has the domains, from a level up, that constraints name."""
        grouped = self.group > 1 and level <= self.group_level
        bounded = self.within is not None and level <= self.within
        return not (grouped and not tree.above(self.group_level, leaf).real) and not (
            bounded and not tree.above(self.within or 0, leaf).real
        )

    def roots(self, tree: SlowTree) -> list[Vertex]:
        """Vertices one of which must hold the whole gang."""
        if self.within is None:
            return tree.levels[tree.depth]
        return [vertex for vertex in tree.levels[self.within] if vertex.real]


@dataclass(slots=True)
class Added:
    """What may be added to a tree on top of the ranks that stay.

    Attributes
    ----------
    needs
        The gang's constraints.
    usable
        Leaf ids that may be taken.
    stays
        How many ranks stay in a vertex; missing = 0.
    fills
        Leaves to add in a group-level vertex beside whole groups; missing = 0.
    """

    needs: Needs
    usable: Collection[int]
    stays: Mapping[Vertex, int] = field(default_factory=dict)
    fills: Mapping[Vertex, int] = field(default_factory=dict)

    def most(self, vertex: Vertex) -> int | None:
        """Most leaves that the limits let in, None = no limit."""
        row = self.needs.limits.get(vertex.level)
        if row is None or not vertex.real:
            return None
        return max(row[vertex.domain] - self.stays.get(vertex, 0), 0)

    def counts(self, tree: SlowTree) -> dict[Vertex, int]:
        """Set of achievable counts of every vertex, leaves first.

        Notes
        -----
        O(leaves^2) big-integer operations at worst.
        """
        found: dict[Vertex, int] = {}
        usable = self.usable
        limited = bool(self.needs.limits)
        for vertex in tree.bottom_up:
            if vertex.level == 0:
                counts = 3 if vertex.domain in usable else 1
            else:
                counts = 1
                for child in vertex.children:
                    counts = add_sets(counts, found[child])
            if vertex.level == self.needs.group_level:
                counts &= self._whole_groups(vertex)
            if limited and (most := self.most(vertex)) is not None:
                counts &= (1 << (most + 1)) - 1
            found[vertex] = counts
        return found

    def _whole_groups(self, vertex: Vertex) -> int:
        """Counts a group-level vertex may take: its fills plus whole groups."""
        group = self.needs.group
        if group == 1 and not self.fills:
            return -1
        if group > 1 and not vertex.real:
            return 1
        count = self.fills.get(vertex, 0)
        allowed = 0
        while count <= len(vertex.leaves):
            allowed |= 1 << count
            count += group
        return allowed

    def allowed_above(self, vertex: Vertex, count: int) -> bool:
        """Whether the limits above a vertex let so many leaves in below it."""
        if not self.needs.limits:
            return True
        tops = (self.most(above) for above in vertex.ancestors())
        return all(most is None or count <= most for most in tops)


def add_sets(first: int, second: int) -> int:
    """Every sum of one count of each set.

    Examples
    --------
    >>> bin(add_sets(0b101, 0b11))  # {0, 2} + {0, 1}
    '0b1111'
    """
    total = 0
    while second:
        lowest = second & -second
        total |= first * lowest
        second ^= lowest
    return total


def lowest_level(tree: SlowTree, needs: Needs, usable: Collection[int]) -> int | None:
    """Lowest level of a vertex that can hold the whole gang, None = no vertex can."""
    added = Added(needs, usable)
    counts = added.counts(tree)
    top = tree.depth if needs.within is None else needs.within
    for row in tree.levels[: top + 1]:
        for vertex in row:
            if (
                counts[vertex] >> needs.ranks & 1
                and needs.serves(tree, vertex.leaves[0], vertex.level)
                and added.allowed_above(vertex, needs.ranks)
            ):
                return vertex.level
    return None


def fits(tree: SlowTree, needs: Needs, usable: Collection[int]) -> bool:
    """Whether any legal placement exists on the usable leaves."""
    added = Added(needs, usable)
    counts = added.counts(tree)
    return any(
        counts[root] >> needs.ranks & 1 and added.allowed_above(root, needs.ranks)
        for root in needs.roots(tree)
    )

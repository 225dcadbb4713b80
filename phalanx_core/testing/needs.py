"""``Needs``: a gang's constraints as the twin reads them, levels as indexes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, Self, SupportsInt, TypeAlias

from phalanx_core.testing.slow_tree import SlowTree, Vertex
from phalanx_core.topology import Topology

LimitTable = Mapping["str | int", Sequence[SupportsInt]]
# Entries (size, level), smallest first: runs of so many ranks share a domain.
Chain: TypeAlias = tuple[tuple[int, int], ...]


class GangLike(Protocol):
    """The fields of a gang that the twin reads.

    ``slices``, ``balanced``, ``parts`` and ``limits`` are read where they exist.
    """

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
    """A gang's constraints with levels as indexes and limits as plain lists.

    A gang of parts has its parts' constraints in ``parts``; its own ``group`` is 1 then
    and its ``limits`` bind all parts' leaves together.
    """

    ranks: int
    group: int
    group_level: int
    within: int | None
    prefer: int | None
    near: bool
    limits: dict[int, list[int]]
    slices: Chain = ()
    balanced: int | None = None
    parts: tuple[Needs, ...] = ()

    @classmethod
    def of(
        cls,
        topology: Topology,
        gang: GangLike,
        limits: LimitTable | None = None,
        within: int | None = None,
    ) -> Self:
        """Resolve a gang's names against a topology.

        Parameters
        ----------
        topology, gang
            The cluster and the gang.
        limits
            Replace the gang's own; None = keep them. Parts keep theirs in any case.
        within
            The whole's, when the gang is a part.

        Raises
        ------
        InvalidRequest
            If a level does not exist.
        """
        level = topology.level_index
        own = None if gang.within is None else level(gang.within)
        slices = tuple((int(s), level(at)) for s, at in getattr(gang, "slices", ()))
        tops = [at for _, at in slices[:1]]
        tops += [top for top in (own, within) if top is not None]
        # A default never stands above what it must lie in.
        default = min([topology.nvlink_level or 1, *tops])
        given = gang.group_level
        parts = tuple(getattr(gang, "parts", None) or ())
        balanced = getattr(gang, "balanced", None)
        table = (getattr(gang, "limits", None) if limits is None else limits) or {}
        return cls(
            ranks=sum(part.ranks for part in parts) if parts else gang.ranks,
            group=1 if parts else gang.group,
            group_level=default if parts or given is None else level(given),
            within=own,
            prefer=None if gang.prefer is None else level(gang.prefer),
            near=str(getattr(gang.aim, "value", gang.aim)) == "near",
            limits={level(at): [int(v) for v in row] for at, row in table.items()},
            slices=slices,
            balanced=None if balanced is None else level(balanced),
            parts=tuple(cls.of(topology, part, within=own) for part in parts),
        )

    def members(self) -> Iterator[tuple[int, Needs]]:
        """Each part with its first rank; the gang itself if it has no parts."""
        if not self.parts:
            yield 0, self
        first = 0
        for part in self.parts:
            yield first, part
            first += part.ranks

    @property
    def chain(self) -> Chain:
        """Group and slices that bind; the whole's ``within`` is not among them."""
        entries = ((self.group, self.group_level), *self.slices)
        return tuple((size, level) for size, level in entries if size > 1)

    @property
    def full_chain(self) -> Chain:
        """The chain with (ranks, within) on top."""
        top = () if self.within is None else ((self.ranks, self.within),)
        return self.chain + top

    @property
    def unit(self) -> tuple[int, int]:
        """Size and level of what a repair mends as one: innermost slice or group."""
        return self.slices[0] if self.slices else (self.group, self.group_level)

    @property
    def limited(self) -> bool:
        """Whether any limit binds the gang or a part."""
        return bool(self.limits) or any(part.limits for part in self.parts)

    @property
    def chained(self) -> bool:
        """Whether there are slices or parts: more than groups and a whole."""
        return bool(self.parts) or bool(self.slices)

    @property
    def bounded(self) -> bool:
        """Whether the parts' sizes do not divide each other: a search may give up."""
        sizes = {size for part in self.parts for size, _ in part.full_chain}
        return any(large % small for small, large in pairwise(sorted(sizes)))

    def unlimited(self) -> Needs:
        """The same constraints without any limit."""
        parts = tuple(replace(part, limits={}) for part in self.parts)
        return replace(self, limits={}, parts=parts)

    def real_above(self, vertex: Vertex) -> bool:
        """Whether, from a vertex up, the domains that constraints name exist."""
        levels = {at for _, part in self.members() for _, at in part.full_chain}
        levels |= set() if self.within is None else {self.within}
        return all(
            above.real
            for above in (vertex, *vertex.ancestors())
            if above.level in levels
        )

    def serves(self, tree: SlowTree, leaf: int) -> bool:
        """Whether a leaf has the domains that the constraints of a part name."""
        top = () if self.within is None else (self.within,)
        return any(
            all(
                tree.above(level, leaf).real
                for level in (*(level for _, level in part.full_chain), *top)
            )
            for _, part in self.members()
        )

    def roots(self, tree: SlowTree) -> list[Vertex]:
        """Vertices one of which must hold the whole gang."""
        if self.within is None:
            return tree.levels[tree.depth]
        return [vertex for vertex in tree.levels[self.within] if vertex.real]

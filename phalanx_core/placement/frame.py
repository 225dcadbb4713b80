"""``Frame``: what never changes in a planner, and the maps between ids and the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import NONE, SLICES_MAX
from phalanx_core.placement.gang import AIMS, RULES, Gang
from phalanx_core.placement.leaf_lists import checked_leaves
from phalanx_core.placement.limits import IntArray, VertexLimits
from phalanx_core.placement.parts import part_requests, with_parts
from phalanx_core.placement.spares import Spares
from phalanx_core.topology import Topology, build_tree

ALIGNMENTS = ("exact", "buddy")

Words = NDArray[np.uint32]


class Frame:
    """Topology, GPU type and options of a planner, shared with its clones.

    The core counts leaves by *position* (address order of the leaves of one type) and
    domains by *vertex* (phantoms included); everybody else by the topology's ids.
    """

    __slots__ = (
        "alignment",
        "core_tree",
        "group_level",
        "spares",
        "spares_levels",
        "topology",
        "tree",
        "type",
    )

    def __init__(
        self,
        topology: Topology,
        type: str | None,
        spares: Spares | None,
        alignment: str,
    ) -> None:
        if not isinstance(topology, Topology):
            raise InvalidRequest(f"topology {topology!r}: a Topology")
        if spares is not None and not isinstance(spares, Spares):
            raise InvalidRequest(f"spares {spares!r}: a Spares or None")
        if alignment not in ALIGNMENTS:
            raise InvalidRequest(
                f"alignment {alignment!r}: one of {', '.join(ALIGNMENTS)}"
            )
        self.topology = topology
        self.type = _type_of(topology, type)
        self.alignment = alignment
        self.spares = spares
        self.spares_levels = None if spares is None else spares.resolve(topology)
        one_type = len(topology.type_names) == 1
        self.tree = build_tree(topology, None if one_type else self.type)
        real = np.concatenate(self.tree.real[1:])
        phantom = (real < 0).astype(np.uint8) if (real < 0).any() else None
        self.core_tree = native.new_tree(self.tree.first, phantom)
        if topology.nic_rails is not None:
            # A wish, never a condition: beyond 64 rails two may look the same.
            rails = topology.nic_rails[self.tree.leaf_at] & 63
            native.set_rails(self.core_tree, rails.astype(np.uint8))
        nvlink = topology.nvlink_level
        self.group_level = nvlink if nvlink is not None else 1

    @property
    def options(self) -> tuple[int, int, int, int]:
        """Of ``phx_options``: alignment, and of spares per, size and count."""
        alignment = ALIGNMENTS.index(self.alignment)
        return (alignment, *(self.spares_levels or (NONE, 0, 0)))

    @property
    def leaf_count(self) -> int:
        """Leaves that this planner places on."""
        return int(self.tree.leaf_at.size)

    def compile(self, gang: Gang, core: Any) -> tuple[Frame, Any, VertexLimits | None]:
        """The gang as the core takes it, kept on the gang for its next use.

        Raises
        ------
        InvalidRequest
            If a level does not exist, levels fall, or limits do not match.
        """
        if not isinstance(gang, Gang):
            raise InvalidRequest(f"gang {gang!r}: a Gang")
        group_level, within, prefer = self.levels(gang)
        fields = (
            gang.ranks,
            gang.group,
            group_level,
            NONE if within is None else within,
            NONE if prefer is None else prefer,
            AIMS.index(gang.aim),
            RULES.index(gang.rule),
        )
        if self.alignment == "buddy":
            self._check_buddy(gang)
        limits = None if gang.limits is None else self.limits(gang.limits)
        request = native.request(core, fields, repr(gang))
        slices = self.slices(gang)
        if slices:
            native.request_slices(core, request, slices, repr(gang))
        if gang.parts:
            parts = part_requests(self, gang, core)
            request = with_parts(core, request, parts, repr(gang))
        if slices or gang.templates or gang.parts:
            # Repairs have to know them: such gangs go the way of those with limits.
            limits = limits or VertexLimits(self, {})
        if gang.balanced is not None:
            level = self.balanced_level(gang, gang.balanced)
            native.request_balance(core, request, level, repr(gang))
        compiled = (self, request, limits)
        object.__setattr__(gang, "_compiled", compiled)
        if limits is None:
            plain = (self, native.address(compiled[1]), compiled[1])
            object.__setattr__(gang, "_plain", plain)
        return compiled

    def levels(self, gang: Gang) -> tuple[int, int | None, int | None]:
        """Indexes of the gang's group level, ``within`` and ``prefer``."""
        index = self.topology.level_index
        within = None if gang.within is None else index(gang.within)
        prefer = None if gang.prefer is None else index(gang.prefer)
        top = len(self.topology.levels) - 1 if within is None else within
        if gang.group_level is None:
            group_level = min(self.group_level, top)
            if gang.slices:
                group_level = min(group_level, index(gang.slices[0][1]))
        else:
            group_level = index(gang.group_level)
        if group_level > top:
            raise InvalidRequest(
                f"{gang!r}: group_level {gang.group_level!r} is above within "
                f"{gang.within!r}"
            )
        if prefer is not None and prefer > top:
            raise InvalidRequest(
                f"{gang!r}: prefer {gang.prefer!r} is above within {gang.within!r}"
            )
        return group_level, within, prefer

    def compiled(self, gang: Gang, core: Any) -> tuple[Frame, Any, VertexLimits | None]:
        """What :meth:`compile` gave when this planner used the gang last, or gives."""
        known = gang._compiled
        return known if known[0] is self else self.compile(gang, core)

    def chain(self, gang: Gang) -> list[tuple[int, int]]:
        """Sizes above 1 that share a domain, with level indexes, innermost first."""
        entries = [(gang.group, self.levels(gang)[0]), *self.slices(gang)]
        return [(size, level) for size, level in entries if size > 1]

    def slices(self, gang: Gang) -> list[tuple[int, int]]:
        """The gang's slices with level indexes.

        Raises
        ------
        InvalidRequest
            If a level does not exist, falls or is above ``within``, or they are many.
        """
        group_level, within, _ = self.levels(gang)
        top = len(self.topology.levels) - 1 if within is None else within
        made: list[tuple[int, int]] = []
        if len(gang.slices) > SLICES_MAX:
            raise InvalidRequest(
                f"slices: {len(gang.slices)} of them, at most {SLICES_MAX}"
            )
        lowest, below = group_level, f"group_level {gang.group_level!r}"
        for at, (size, name) in enumerate(gang.slices):
            level = self.topology.level_index(name)
            if level == 0:
                raise InvalidRequest(
                    f"{gang!r}: slices[{at}]: level {name!r} is a leaf"
                )
            if level < lowest:
                raise InvalidRequest(
                    f"{gang!r}: slices[{at}]: level {name!r} is below {below}"
                )
            if level > top:
                raise InvalidRequest(
                    f"{gang!r}: slices[{at}]: level {name!r} is above within "
                    f"{gang.within!r}"
                )
            made.append((size, level))
            lowest, below = level, f"that of slices[{at}]"
        return made

    def balanced_level(self, gang: Gang, name: str | int) -> int:
        """Index of the level that a gang is spread over.

        Raises
        ------
        InvalidRequest
            If it does not exist, is a leaf's or is above ``within``.
        """
        level = self.topology.level_index(name)
        _, within, _ = self.levels(gang)
        if level == 0 or (within is not None and level > within):
            raise InvalidRequest(
                f"{gang!r}: balanced {gang.balanced!r} is a leaf or above within "
                f"{gang.within!r}"
            )
        return level

    def _check_buddy(self, gang: Gang) -> None:
        rule = None
        if gang.limits is not None:
            rule = "takes no limits"
        elif gang.slices or gang.balanced is not None or gang.templates or gang.parts:
            rule = "knows no slices, balanced, templates or parts"
        elif gang.aim != "near" or gang.rule != "smallest":
            rule = "knows aim 'near' and rule 'smallest' alone"
        elif gang.group & (gang.group - 1):
            rule = "needs a group that is a power of two"
        if rule is not None:
            raise InvalidRequest(f"{gang!r}: alignment 'buddy' {rule}")

    def limits(self, limits: Mapping[str | int, IntArray]) -> VertexLimits:
        """Limits by vertex, from rows that were copied already."""
        if self.alignment == "buddy":
            raise InvalidRequest("limits: alignment 'buddy' takes none")
        return VertexLimits(self, limits)

    def positions(self, leaves: object, subject: str) -> Words:
        """Positions of leaves given by id or name.

        Parameters
        ----------
        leaves
            One id or name, an iterable of them, or an integer array.
        subject
            The call, for messages.

        Raises
        ------
        InvalidRequest
            If a leaf does not exist, is listed twice or is of another type.
        """
        ids = checked_leaves(self.topology, leaves, subject)
        if self.tree.identity:
            return ids.astype(np.uint32)
        at = self.tree.position_of[ids]
        if (at < 0).any():
            leaf = int(ids[at < 0][0])
            raise InvalidRequest(
                f"{subject}: leaf {leaf} is of type {self.topology.types[leaf]!r}; this "
                f"planner places {self.type!r}"
            )
        return at.astype(np.uint32)

    def leaf_ids(self, positions: NDArray[Any]) -> IntArray:
        """Leaf ids at positions: int32."""
        if self.tree.identity:
            return positions.astype(np.int32)
        ids: IntArray = self.tree.leaf_at[positions]
        return ids

    def level_of(self, position_a: int, position_b: int) -> int:
        """Lowest level whose domain holds two positions."""
        return int(native.lib.phx_tree_distance(self.core_tree, position_a, position_b))

    def by_domain(self, level: int, by_vertex: IntArray) -> IntArray:
        """Counts of vertices as counts of domains; a phantom's are dropped."""
        counts = np.zeros(self.topology.domain_count(level), np.int32)
        real = self.tree.real[level]
        counts[real[real >= 0]] = by_vertex[real >= 0]
        return counts

    def vertex_at(self, level: int, position: int) -> int:
        """Vertex of a level above a position; O(level log vertices)."""
        vertex = position
        for first in self.tree.first[:level]:
            vertex = int(np.searchsorted(first, vertex, side="right")) - 1
        return vertex

    def vertex_name(self, level: int, vertex: int) -> str | None:
        """Name of a vertex's domain; None where it stands in for a missing one."""
        domain = int(self.tree.real[level][vertex])
        return None if domain < 0 else self.topology.domain_name(level, domain)


def _type_of(topology: Topology, type: str | None) -> str:
    if type is not None:
        if not isinstance(type, str):
            raise InvalidRequest(f"type {type!r}: a GPU type's name")
        return topology.type_names[topology.type_index(type)]
    if len(topology.type_names) > 1:
        known = ", ".join(topology.type_names)
        raise InvalidRequest(
            f"type None: the topology has several types, name one of {known}"
        )
    return topology.type_names[0]

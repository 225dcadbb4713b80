"""``Forest``: what a topology holds, and every question it answers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import naming
from phalanx_core.topology.grouping import IntArray, domain_starts
from phalanx_core.topology.report import CompileReport


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """The compiled arrays and their queries; the constructors are ``Topology``'s.

    Attributes
    ----------
    levels
        Level names, the leaf's first.
    bandwidth
        Bytes/s a GPU for each level, None where unknown.
    nic_rails
        int32, shape (leaf_count,): NIC index of each leaf, or None.
    nvlink_level
        Index of the level that NVLink spans, or None.
    type_names, type_of
        Distinct GPU types; int32, shape (leaf_count,): index of each leaf's type.
    address_order
        int32, shape (leaf_count,): the leaf at each address position.
    report
        What :meth:`read` took in and left out, else None.
    """

    levels: tuple[str, ...]
    address_order: IntArray
    type_names: tuple[str, ...]
    type_of: IntArray
    bandwidth: tuple[float | None, ...]
    nic_rails: IntArray | None = None
    nvlink_level: int | None = None
    report: CompileReport | None = None
    _domains: tuple[IntArray, ...] = ()
    _labels: tuple[tuple[Hashable, ...], ...] = ()
    _names: tuple[str, ...] | None = field(default=None)

    def __post_init__(self) -> None:
        for array in (self.address_order, self.type_of, *self._domains):
            array.setflags(write=False)
        if self.nic_rails is not None:
            self.nic_rails.setflags(write=False)

    @property
    def leaf_count(self) -> int:
        """Number of leaves."""
        return int(self.address_order.size)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each leaf, distinct; made on first use where none were given."""
        return self._names or naming.leaf_names(self)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """GPU type of each leaf; the distinct ones are ``type_names``."""
        return tuple(self.type_names[code] for code in self.type_of.tolist())

    def type_index(self, name: str) -> int:
        """Index in ``type_names`` of a type, or of one word of one type ("H100").

        Raises
        ------
        InvalidRequest
            If no type, or more than one, answers to the name.

        Examples
        --------
        >>> from phalanx_core.topology import Topology
        >>> made = Topology.from_labels(["host"], [["a", "b"]], types=["T4", "X-H100"])
        >>> made.type_index("H100")
        1
        """
        if name in self.type_names:
            return self.type_names.index(name)
        words = [_words(kind) for kind in self.type_names]
        dashed = "-".join(_words(str(name)))
        hits = [
            index
            for index, parts in enumerate(words)
            if "-".join(parts) == dashed or dashed in parts
        ]
        if len(hits) != 1:
            count = "no" if not hits else f"{len(hits)}"
            known = ", ".join(self.type_names)
            raise InvalidRequest(f"type {name!r}: {count} such GPU type among {known}")
        return hits[0]

    def level_index(self, level: str | int) -> int:
        """Index of a level given by name or index.

        Raises
        ------
        InvalidRequest
            If the topology has no such level.

        Examples
        --------
        >>> from phalanx_core.topology import Topology
        >>> Topology.from_spec("host:2 gpu:8").level_index("cluster")
        2
        """
        if isinstance(level, str):
            if level in self.levels:
                return self.levels.index(level)
        elif _is_index(level) and 0 <= level < len(self.levels):
            return int(level)
        known = ", ".join(self.levels)
        raise InvalidRequest(f"level {level!r} does not exist; levels are {known}")

    def domain_of(self, level: str | int) -> IntArray:
        """Domain id of each leaf at a level, -1 = none: int32, shape (leaf_count,)."""
        index = self.level_index(level)
        return self._leaf_ids if index == 0 else self._domains[index - 1]

    def domain_count(self, level: str | int) -> int:
        """Number of domains of a level; level 0 has one a leaf."""
        index = self.level_index(level)
        return len(self._labels[index - 1]) if index else self.leaf_count

    def labels_of(self, level: str | int) -> tuple[Hashable, ...]:
        """Label of each domain of a level, as given; at level 0 the leaf names."""
        index = self.level_index(level)
        return self._labels[index - 1] if index else self.names

    def domain_names(self, level: str | int) -> tuple[str, ...]:
        """Distinct name of each domain of a level: its label, or a path's tail."""
        index = self.level_index(level)
        if index == 0:
            return self.names
        if index not in self._domain_names:
            self._domain_names[index] = naming.domain_names(self, index)
        return self._domain_names[index]

    def domain_name(self, level: str | int, domain: int) -> str:
        """Name of one domain.

        Examples
        --------
        >>> labels = [["r", "s", "r"], ["p", "p", "q"]]
        >>> from phalanx_core.topology import Topology
        >>> Topology.from_labels(["rack", "pod"], labels).domain_name("rack", 2)
        'q/r'
        """
        return self.domain_names(level)[
            self._domain_id(self.level_index(level), domain)
        ]

    def domain_leaf(self, level: str | int) -> IntArray:
        """First leaf, in address order, of each domain of a level: int32."""
        return self.address_order[self._starts[self.level_index(level)]]

    def domain_index(self, level: str | int, domain: int | str) -> int:
        """Id of a domain given by id, label or path.

        Raises
        ------
        InvalidRequest
            If there is no such domain, or a label recurs and no path was given.
        """
        index = self.level_index(level)
        if isinstance(domain, str):
            if index == 0:
                return self.leaf(domain)
            return naming.find_domain(self, index, domain)
        return self._domain_id(index, domain)

    def leaves(self, level: str | int, domain: int | str) -> IntArray:
        """Leaves of one domain in address order: int32, shape (leaves,).

        Raises
        ------
        InvalidRequest
            As :meth:`domain_index`.

        Examples
        --------
        >>> from phalanx_core.topology import Topology
        >>> Topology.from_spec("host:4 gpu:2").leaves("host", "host-3").tolist()
        [6, 7]
        """
        index = self.level_index(level)
        number = self.domain_index(index, domain)
        if index == 0:
            return np.array([number], dtype=np.int32)
        start = int(self._starts[index][number])
        return self.address_order[start : start + int(self._sizes[index][number])]

    def leaf(self, name: str) -> int:
        """Leaf id of a leaf name.

        Raises
        ------
        InvalidRequest
            If no leaf has the name.
        """
        found = self._leaf_by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise InvalidRequest(f"leaf {name!r} does not exist")
        return found

    def distance(self, u: int, v: int) -> int:
        """Lowest level whose domain holds both leaves; 0 for one leaf with itself.

        Returns ``len(levels)`` where no domain holds both. O(levels).

        Examples
        --------
        >>> from phalanx_core.topology import Topology
        >>> topology = Topology.from_labels(["host"], [["a", "a", "b"]])
        >>> topology.distance(0, 1), topology.distance(0, 2)
        (1, 2)
        """
        first, second = self._domain_id(0, u), self._domain_id(0, v)
        if first == second:
            return 0
        for level, domain in enumerate(self._domains, start=1):
            if domain[first] == domain[second] >= 0:
                return level
        return len(self.levels)

    def _domain_id(self, level: int, domain: int) -> int:
        if _is_index(domain) and 0 <= domain < self.domain_count(level):
            return int(domain)
        raise InvalidRequest(
            f"{self.levels[level]} {domain!r} does not exist: ids are 0 to "
            f"{self.domain_count(level) - 1}"
        )

    @cached_property
    def _leaf_ids(self) -> IntArray:
        ids = np.arange(self.leaf_count, dtype=np.int32)
        ids.setflags(write=False)
        return ids

    @cached_property
    def _starts(self) -> tuple[IntArray, ...]:
        above = (domain_starts(row[self.address_order]) for row in self._domains)
        return (self._leaf_ids, *above)

    @cached_property
    def _sizes(self) -> tuple[IntArray, ...]:
        ones = np.ones(self.leaf_count, dtype=np.int32)
        above = (np.bincount(d[d >= 0]).astype(np.int32) for d in self._domains)
        return (ones, *above)

    @cached_property
    def _leaf_by_name(self) -> dict[str, int]:
        return {name: leaf for leaf, name in enumerate(self.names)}

    @cached_property
    def _domain_names(self) -> dict[int, tuple[str, ...]]:
        return {}


def _is_index(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _words(type: str) -> list[str]:
    return type.casefold().replace(" ", "-").split("-")

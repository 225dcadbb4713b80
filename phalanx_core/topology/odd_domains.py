"""Domains that differ from the usual of their level: what an admin looks at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phalanx_core.topology.tree import build_tree

if TYPE_CHECKING:
    from phalanx_core.topology.forest import Forest

_EXAMPLES = 3


@dataclass(frozen=True)
class OddDomains:
    """Domains of one level that have another size or leaf count than most of it.

    Attributes
    ----------
    level
        Name of the level.
    below
        Name of the level that ``children`` counts.
    children, leaves
        What more than half of the level's domains have.
    count
        How many domains differ in one or both.
    examples
        The first few in address order: name, children, leaves.
    """

    level: str
    below: str
    children: int
    leaves: int
    count: int
    examples: tuple[tuple[str, int, int], ...]

    def __str__(self) -> str:
        # Over the leaves themselves both counts are one number.
        one = self.children == self.leaves
        usual = f"{self.children} {self.below}" + (
            "" if one else f", {self.leaves} leaves"
        )
        rows = [
            f"{name}: {children}" + ("" if one else f", {leaves}")
            for name, children, leaves in self.examples
        ]
        dots = "; ..." if self.count > len(rows) else ""
        return (
            f"{self.count} x {self.level}: most have {usual} ({'; '.join(rows)}{dots})"
        )


def odd_domains(topology: Forest) -> tuple[OddDomains, ...]:
    """Levels nearest first that have a usual shape and domains that differ from it.

    A shape is usual if more than half of a level's domains have it; where none is, the
    level is irregular as a whole and no domain of it is odd. A level whose domains are
    those of the level below is told by that one.

    Notes
    -----
    O(leaves * levels) time, O(leaves) memory.

    Examples
    --------
    >>> from phalanx_core.topology import Topology
    >>> hosts = [host for host in "aabbccd"]
    >>> print(*odd_domains(Topology.from_labels(["host"], [hosts])))
    1 x host: most have 2 gpu (d: 1)
    """
    tree = build_tree(topology)
    found = []
    reach = np.arange(topology.leaf_count + 1, dtype=np.int64)
    for level in range(1, len(topology.levels)):
        first = tree.first[level - 1].astype(np.int64)
        reach = reach[first]
        real = tree.real[level] >= 0
        shapes = np.stack([np.diff(first)[real], np.diff(reach)[real]], axis=1)
        usual = None if _repeats(shapes, tree.real[level - 1]) else _usual(shapes)
        if usual is None:
            continue
        odd = np.flatnonzero((shapes != usual).any(axis=1))
        if odd.size == 0:
            continue
        domains = tree.real[level][real]
        examples = tuple(
            (
                topology.domain_name(level, int(domains[at])),
                int(shapes[at][0]),
                int(shapes[at][1]),
            )
            for at in odd[:_EXAMPLES].tolist()
        )
        found.append(
            OddDomains(
                topology.levels[level],
                topology.levels[level - 1],
                int(usual[0]),
                int(usual[1]),
                int(odd.size),
                examples,
            )
        )
    return tuple(found)


def _repeats(shapes: np.ndarray, below: np.ndarray) -> bool:
    """Whether each domain is one of the level below, which then says all there is."""
    return bool((shapes[:, 0] == 1).all() and (below >= 0).all())


def _usual(shapes: np.ndarray) -> np.ndarray | None:
    """The row that more than half of all rows equal, if there is one."""
    if len(shapes) < 2:
        return None
    # A majority row is the median of its columns.
    middle = np.sort(shapes, axis=0)[len(shapes) // 2]
    same = (shapes == middle).all(axis=1)
    return middle if int(same.sum()) * 2 > len(shapes) else None

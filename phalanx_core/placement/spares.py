"""``Spares``: domains held back so that a repair finds a healthy one near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phalanx_core.errors import InvalidRequest

if TYPE_CHECKING:
    from phalanx_core.topology import DomainTree, Topology


@dataclass(frozen=True, slots=True)
class Spares:
    """In each domain of ``per``, the ``count`` largest idle domains of ``size``.

    Ties go to the highest address; a domain that has no more than ``count`` of them
    holds none. Only repairs use spares.

    Parameters
    ----------
    per, size
        Levels by name or index, ``size`` below ``per``.
    count
        Spares a domain, at least 1.

    Raises
    ------
    InvalidRequest
        If the count is not a whole number of at least 1.

    Examples
    --------
    >>> Spares(per="pod")
    Spares(per='pod', size='host', count=1)
    """

    per: str | int
    size: str | int = "host"
    count: int = 1

    def __post_init__(self) -> None:
        count: object = self.count
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise InvalidRequest(
                f"Spares.count {count!r}: a whole number of at least 1"
            )

    def resolve(self, topology: Topology) -> tuple[int, int, int]:
        """Level indexes of per and size, and the count.

        Raises
        ------
        InvalidRequest
            If a level does not exist or size is not below per.
        """
        per, size = topology.level_index(self.per), topology.level_index(self.size)
        if size >= per:
            raise InvalidRequest(
                f"Spares(per={self.per!r}, size={self.size!r}): size must be a level "
                "below per"
            )
        return per, size, min(self.count, 2**31 - 1)


def shortages(
    topology: Topology, tree: DomainTree, levels: tuple[int, int, int]
) -> list[str]:
    """One sentence for each domain that can never hold a spare; O(vertices)."""
    per, size, count = levels
    bounds = np.arange(tree.real[per].size + 1, dtype=np.uint32)
    for level in range(per, size, -1):
        bounds = tree.first[level - 1][bounds]
    seen = np.concatenate([[0], np.cumsum(tree.real[size] >= 0)])
    have = np.diff(seen[bounds])
    short = np.flatnonzero((have <= count) & (tree.real[per] >= 0))
    unit = topology.levels[size]
    return [
        f"{topology.levels[per]} {topology.domain_name(per, domain)} holds no spare: "
        f"it has {number} of level {unit!r}, no more than the {count} wanted"
        for domain, number in zip(
            tree.real[per][short].tolist(), have[short].tolist(), strict=True
        )
    ]

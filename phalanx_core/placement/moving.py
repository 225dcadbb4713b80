"""From one description of a cluster to the next: which leaf is which, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phalanx_core.topology import Topology
from phalanx_core.topology.keeping import KeptLeaf

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

Heirs = dict[tuple[int, int], int]


class Passage:
    """Leaves and domains of a planner's topology found again in another one.

    A leaf is known by its name. A domain's *heir* is the domain of its level that has
    most of its leaves now, the first by address of several.

    Attributes
    ----------
    to
        int64, shape (old leaves,): id in the new topology, -1 = gone or of another type.
    """

    def __init__(
        self, frame: Frame, new: Topology, type: str, displaced: Iterable[int]
    ) -> None:
        self.old, self.new = frame.topology, new
        code = new.type_index(type)
        ids = {
            name: leaf
            for leaf, (name, kind) in enumerate(
                zip(new.names, new.type_of.tolist(), strict=True)
            )
            if kind == code
        }
        names = self.old.names
        self.to: NDArray[np.int64] = np.full(self.old.leaf_count, -1, np.int64)
        for leaf in frame.tree.leaf_at.tolist():
            self.to[leaf] = ids.get(names[leaf], -1)
        # A leaf that is kept where it no longer is says nothing of the domain.
        self._says = self.to >= 0
        self._says[list(displaced)] = False
        self._heirs: Heirs = {}
        self._depth = len(self.old.levels)

    def heir(self, level: int, domain: int) -> int:
        """Heir of an old domain, -1 = none of its leaves is left."""
        key = (level, domain)
        if key not in self._heirs:
            members = self.old.leaves(level, domain)
            left = self.to[members[self._says[members]]]
            self._heirs[key] = most_common(self.new.domain_of(level)[left])
        return self._heirs[key]

    def gone(self, leaf: int) -> KeptLeaf:
        """Where a leaf that is gone is kept: with what is left of its lowest domain."""
        for level in range(1, self._depth):
            domain = int(self.old.domain_of(level)[leaf])
            heir = -1 if domain < 0 else self.heir(level, domain)
            if heir >= 0:
                return self._kept(leaf, int(self.new.domain_leaf(level)[heir]), level)
        return self._kept(leaf, -1, self._depth)

    def together(self, leaves: list[int]) -> dict[int, KeptLeaf]:
        """Where a gang's leaves are kept that no longer keep to its rules.

        Every leaf goes to the heirs of its domains, by the gang's own leaves first, from
        the top down as long as they lie in each other. Leaves that shared a domain share
        its heir, so whatever the gang asked for holds; the others stay where they are.
        """
        heirs = self._gang_heirs(leaves)
        places = {leaf: self._descent(leaf, heirs) for leaf in leaves}
        return {
            leaf: place
            for leaf, place in places.items()
            if not self._is_there(leaf, place)
        }

    def _gang_heirs(self, leaves: list[int]) -> Heirs:
        ids = np.array(leaves)
        ids = ids[self.to[ids] >= 0]
        heirs: Heirs = {}
        for level in range(1, self._depth):
            old = self.old.domain_of(level)[ids]
            new = self.new.domain_of(level)[self.to[ids]]
            for domain in np.unique(old[old >= 0]).tolist():
                heirs[level, domain] = most_common(new[old == domain])
        return heirs

    def _descent(self, leaf: int, heirs: Heirs) -> KeptLeaf:
        anchor, at = -1, self._depth
        for level in range(self._depth - 1, 0, -1):
            domain = int(self.old.domain_of(level)[leaf])
            if domain < 0:
                continue
            heir = heirs.get((level, domain), -1)
            heir = self.heir(level, domain) if heir < 0 else heir
            if heir < 0:
                break
            first = int(self.new.domain_leaf(level)[heir])
            row = self.new.domain_of(at) if anchor >= 0 else None
            if row is not None and row[first] != row[anchor]:
                break
            anchor, at = first, level
        return self._kept(leaf, anchor, at)

    def _kept(self, leaf: int, anchor: int, level: int) -> KeptLeaf:
        rails = self.old.nic_rails
        labels = []
        for low in range(1, level):
            domain = int(self.old.domain_of(low)[leaf])
            labels.append(None if domain < 0 else self.old.labels_of(low)[domain])
        rail = 0 if rails is None else int(rails[leaf])
        return KeptLeaf(self.old.names[leaf], rail, anchor, level, tuple(labels))

    def _is_there(self, leaf: int, place: KeptLeaf) -> bool:
        """Whether the new topology has the leaf in just these domains."""
        now = int(self.to[leaf])
        if now < 0:
            return False
        for level in range(1, self._depth):
            row = self.new.domain_of(level)
            if level < place.level:
                if row[now] >= 0 or place.labels[level - 1] is not None:
                    return False
            elif row[now] != row[place.anchor]:
                return False
        return True


def most_common(domains: NDArray[np.int32]) -> int:
    """The domain met most often, the lowest of several; -1 where there is none.

    Examples
    --------
    >>> most_common(np.array([4, 2, -1, 4, 2, -1, -1]))
    2
    """
    counts = Counter(domains[domains >= 0].tolist())
    return min(counts, key=lambda one: (-counts[one], one), default=-1)

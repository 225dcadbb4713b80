"""``LeafEvents``: what a scheduler is told of leaves between rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phalanx_core.placement import Planner
from phalanx_core.placement.keys import Job
from phalanx_core.placement.leaf_lists import checked_leaves
from phalanx_core.placement.limits import IntArray
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.turn import Owned, alone
from phalanx_core.topology import Topology


class LeafEvents(Owned):
    """The part of a scheduler that hears of leaves; see :class:`Scheduler`."""

    topology: Topology
    planners: Mapping[str, Planner]
    _records: dict[Job, JobRecord]
    _draining: dict[str, dict[int, None]]
    _dirty: bool

    @alone
    def fail(self, leaves: object) -> list[Job]:
        """Leaves went down; the next round repairs the jobs on them.

        Returns
        -------
        Jobs that hold one of them, in order of submission.

        Raises
        ------
        InvalidRequest
            If a leaf does not exist or is listed twice; nothing is changed then.
        """
        return self._told("fail", self._by_type("fail", leaves))

    @alone
    def heal(self, leaves: object) -> list[Job]:
        """Leaves are up and open again: takes back :meth:`fail` and :meth:`drain`.

        Returns
        -------
        As :meth:`fail` does.
        """
        by_type = self._by_type("heal", leaves)
        hit = self._told("heal", by_type)
        for type, own in by_type.items():
            self.planners[type].uncordon(own)
            for leaf in own:
                self._draining[type].pop(leaf, None)
        return hit

    @alone
    def drain(self, leaves: object) -> list[Job]:
        """Leaves are to become empty; the next round moves the jobs on them away.

        A job that cannot leave stays until its lease ends, and is told why.

        Returns
        -------
        As :meth:`fail` does.
        """
        by_type = self._by_type("drain", leaves)
        hit = self._told("cordon", by_type)
        for type, own in by_type.items():
            self._draining[type].update(dict.fromkeys(own))
        return hit

    @alone
    def fenced(self, job: Job) -> IntArray:
        """The old processes of a job that moved, failed or left are gone.

        Returns
        -------
        The leaves freed: int32.
        """
        freed = [planner.fenced(job) for planner in self.planners.values()]
        self._dirty = True
        return np.concatenate(freed)

    def _told(self, change: str, by_type: Mapping[str, list[int]]) -> list[Job]:
        hit: list[Any] = []
        for type, own in by_type.items():
            hit += getattr(self.planners[type], change)(own)
        self._dirty = True
        return sorted(hit, key=lambda job: self._records[job].sequence)

    def _by_type(self, subject: str, leaves: object) -> dict[str, list[int]]:
        """Leaf ids by GPU type, checked together."""
        names, codes = self.topology.type_names, self.topology.type_of
        found: dict[str, list[int]] = {}
        for leaf in checked_leaves(self.topology, leaves, subject).tolist():
            found.setdefault(names[codes[leaf]], []).append(leaf)
        return found

"""``Planner.sync``: the cluster as it is described now."""

from __future__ import annotations

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.frame import Frame
from phalanx_core.placement.rebuild import Rebuild
from phalanx_core.placement.state import State
from phalanx_core.placement.sync_report import SyncReport, reported
from phalanx_core.topology import Topology


class Syncs(State):
    """The part of a planner that follows its cluster; see :class:`Planner`."""

    __slots__ = ()

    def sync(self, topology: Topology) -> SyncReport:
        """Go on with the cluster as it is described now.

        Leaves are known by name. Hosts may have come, gone, moved to another domain, or
        have other GPUs; what the description's report calls unhealthy goes down, what
        it calls cordoned is closed, until a later one no longer says so. Without a
        report health stays as it is. A new planner takes the health that was read with
        its topology by ``planner.sync(planner.topology)``.

        Every gang keeps its key, gang, limits and the leaves of its ranks. A leaf it
        holds that is gone, or moved out of a domain the gang must share, stays in
        ``planner.topology``, down and its own, beside where it was: ``replan`` moves its
        rank alone, and if the leaf comes back before that, the gang is whole again.
        Quarantined leaves stay, gone or not. A leaf that nobody holds leaves at once;
        its health and cordon wait for it by name.

        Parameters
        ----------
        topology
            The same levels, from the same kind of source.

        Returns
        -------
        SyncReport
            Hosts added, removed, moved and altered; jobs kept and broken.

        Raises
        ------
        InvalidRequest
            If the levels or the NVLink level differ, no leaf of the planner's type is
            left, or alignment is "buddy"; nothing changes.

        Notes
        -----
        Leaf and domain ids are those of ``planner.topology`` from now on. As long as a
        leaf is kept, that is the given topology and more: the ids of its leaves are the
        same, those of its domains may not be. Limits follow the leaves of their
        domain; a domain with no leaf of before takes nothing of a gang with limits until
        it is given new ones. Plans made before become stale where the topology changed.
        O((leaves + ranks) * levels).

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> hosts = ["a", "a", "b", "b"]
        >>> planner = Planner(Topology.from_labels(["host"], [hosts]))
        >>> _ = planner.place("job", Gang(2, within="host"))
        >>> report = planner.sync(Topology.from_labels(["host"], [["b", "b", "c", "c"]]))
        >>> report.added, report.removed, report.broken
        ({'c': 2}, {'a': 2}, {'job': '2 gpu gone (a/gpu-0, ...)'})
        >>> planner.replan("job").by_host()
        {'b': [(0, 'b/gpu-0'), (1, 'b/gpu-1')]}
        """
        with self._inside:
            _check(self._frame, topology)
            rebuild = Rebuild(self, topology)
            if rebuild.result is None:
                return self._mark(rebuild)
            report = reported(rebuild, rebuild.result, changed=True)
            self._take_over(rebuild.result)
            return report

    def _mark(self, rebuild: Rebuild) -> SyncReport:
        """The topology is this planner's: health alone may change."""
        outside, before = rebuild.marks.outside, self._outside
        outside.handles, outside.epoch = before.handles, before.epoch
        self._hit.update(dict.fromkeys(rebuild.marks.apply(self._core).tolist()))
        self._outside = outside
        states = native.leaf_states(self._core, 0, self._frame.leaf_count)
        changed = outside != before or not np.array_equal(states, rebuild.states)
        return reported(rebuild, self, changed)


def _check(frame: Frame, topology: Topology) -> None:
    if not isinstance(topology, Topology):
        raise InvalidRequest(f"sync: topology {topology!r}: a Topology")
    if frame.alignment == "buddy":
        raise InvalidRequest("sync: alignment 'buddy' is for a tree that never changes")
    old = frame.topology
    for what, before, now in (
        ("levels", old.levels, topology.levels),
        ("nvlink_level", old.nvlink_level, topology.nvlink_level),
    ):
        if before != now:
            raise InvalidRequest(
                f"sync: {what} {now} in the stead of {before}; gangs are bound to them: "
                "make a new planner and adopt what runs"
            )
    topology.type_index(frame.type)

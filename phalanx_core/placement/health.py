"""Health of leaves, the cordon, and the way out of quarantine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import NONE, lib
from phalanx_core.placement.keys import Handle, Job, checked_job
from phalanx_core.placement.limits import IntArray
from phalanx_core.placement.state import State

Words = NDArray[np.uint32]


class HealthChanges(State):
    """The part of a planner that hears of leaves; see :class:`Planner`.

    ``leaves`` are ids or names: one, an iterable or an integer array. Each change
    returns the jobs that hold one of them, in order of the leaves, each once; a gang
    without a key is named by its :class:`Handle`. A list with a leaf that does not
    exist, or with one twice, is an InvalidRequest and changes nothing. O(leaves).
    """

    __slots__ = ()

    def fail(self, leaves: object) -> list[Job | Handle]:
        """Mark leaves down; their jobs keep them until repaired or released.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> _ = planner.place("a", Gang(2)), planner.place("b", Gang(1))
        >>> planner.fail([2, 1, 0]), planner.free_leaves()
        (['b', 'a'], 1)
        """
        return self._change("fail", lib.PHX_FAIL, leaves)

    def heal(self, leaves: object) -> list[Job | Handle]:
        """Mark leaves up, whatever they were; quarantine and cordon stay.

        A leaf that the last :meth:`sync` did not find is up when it is back.
        """
        return self._change("heal", lib.PHX_HEAL, leaves)

    def suspect(self, leaves: object) -> list[Job | Handle]:
        """Mark leaves suspect, unless they are down: Place avoids them."""
        return self._change("suspect", lib.PHX_DOUBT, leaves)

    def cordon(self, leaves: object) -> list[Job | Handle]:
        """Close leaves to new work."""
        return self._change("cordon", lib.PHX_CORDON, leaves)

    def uncordon(self, leaves: object) -> list[Job | Handle]:
        """Open leaves to new work again."""
        return self._change("uncordon", lib.PHX_UNCORDON, leaves)

    def _change(self, name: str, change: int, leaves: object) -> list[Job | Handle]:
        with self._inside:
            positions = self._frame.positions(leaves, name)
            owners = self._changed(change, positions, name)
            slots = dict.fromkeys(owners[owners != NONE].tolist())
            if change == lib.PHX_FAIL:
                self._hit.update(slots)
            return [self._name(slot) for slot in slots]

    def _changed(self, change: int, positions: Words, name: str) -> Words:
        """Owners of the positions, all changed but those the topology does not have."""
        outside = self._outside
        if not outside.barred and not outside.shut:
            return native.health_change(self._core, change, positions, name)
        states = native.states_of(self._core, positions)
        may = np.array(outside.heard(change, positions.tolist()), np.uint32)
        native.health_change(self._core, change, may, name)
        return np.where(states & 3 == lib.PHX_JOB, states >> 8, np.uint32(NONE))

    def release_quarantine(self, leaves: object) -> None:
        """Free quarantined leaves, since nothing of their job runs there any more.

        Raises
        ------
        InvalidRequest
            If a leaf does not exist, is listed twice or is not in quarantine.
        """
        with self._inside:
            positions = self._frame.positions(leaves, "release_quarantine")
            fence = self._fenced_leaves()
            for at in positions.tolist():
                if at not in fence:
                    leaf = int(self._frame.leaf_ids(np.array([at]))[0])
                    raise InvalidRequest(
                        f"release_quarantine: leaf {leaf} is not in quarantine"
                    )
            native.quarantine_release(self._core, positions, "release_quarantine")
            for at in positions.tolist():
                del fence[at]

    def fenced(self, job: Job | Handle) -> IntArray:
        """Free all leaves that were taken from a job, since its old pods are gone.

        Works for released jobs too, and does nothing where no leaf was taken. A key that
        was used before names every job of that key: fence the old one before it is used
        again.

        Returns
        -------
        The leaf ids freed, ascending by address: int32.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> _ = planner.place("a", Gang(1)), planner.fail([0]), planner.replan("a")
        >>> planner.owner(0).kind.value, planner.fenced("a"), planner.owner(0).kind.value
        ('quarantine', array([0], dtype=int32), 'free')
        """
        with self._inside:
            key = job if isinstance(job, Handle) else checked_job(job)
            fence = self._fenced_leaves()
            taken = sorted(at for at, owner in fence.items() if owner == key)
            positions = np.array(taken, np.uint32)
            if taken:
                native.quarantine_release(self._core, positions, f"fenced({job!r})")
            for at in taken:
                del fence[at]
            return self._frame.leaf_ids(positions)

    def broken(self) -> list[Job]:
        """Jobs with a rank on a down leaf, in order of :meth:`jobs`."""
        with self._inside:
            hit = {slot for slot in self._hit if self._down_of(slot, ranks_only=True)}
            if not hit:
                return []
            jobs = self._jobs.items()
            return [job for job, entry in jobs if entry._slot in hit]

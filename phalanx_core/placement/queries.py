"""Questions about a planner's state; none changes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import NONE, lib
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import IntArray
from phalanx_core.placement.results import (
    HEALTHS,
    KINDS,
    Block,
    Owner,
    Placement,
    blocks_of,
)
from phalanx_core.placement.state import State
from phalanx_core.topology import Topology


class Queries(State):
    """The part of a planner that answers; see :class:`Planner`."""

    __slots__ = ()

    @property
    def topology(self) -> Topology:
        """The cluster."""
        return self._frame.topology

    @property
    def type(self) -> str:
        """The GPU type it places on."""
        return self._frame.type

    @property
    def alignment(self) -> str:
        """The alignment: "exact" or "buddy"."""
        return self._frame.alignment

    def jobs(self) -> list[Job]:
        """Keys of all jobs, in the order they came."""
        with self._inside:
            return list(self._jobs)

    def __contains__(self, job: object) -> bool:
        return not isinstance(job, (bool, Handle)) and job in self._jobs

    def __len__(self) -> int:
        return len(self._jobs)

    def __bool__(self) -> bool:
        return True

    def placement(self, job: Job | Handle) -> Placement:
        """Where a job is now.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        """
        with self._inside:
            return self._layout(self._find(job))

    def placements(self) -> dict[Job, Placement]:
        """Where all jobs are now, in the order they came; O(jobs).

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> _ = planner.place("a", Gang(2)), planner.place("b", Gang(1))
        >>> [placed.leaves.tolist() for placed in planner.placements().values()]
        [[0, 1], [2]]
        """
        with self._inside:
            return {job: self._layout(entry) for job, entry in self._jobs.items()}

    def gang(self, job: Job) -> Gang:
        """The gang of a job as it was placed.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        """
        with self._inside:
            return self._find(job).gang

    def owner(self, leaf: int | str) -> Owner:
        """Who holds a leaf, and its health.

        Raises
        ------
        InvalidRequest
            If there is no such leaf.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> _ = planner.place("a", Gang(1))
        >>> planner.owner(0).job, planner.owner(1).available
        ('a', True)
        """
        with self._inside:
            position = int(self._frame.positions((leaf,), "owner")[0])
            state = int(lib.phx_leaf_state(self._core, position))
            kind = state & 3
            job = None
            if kind == lib.PHX_JOB:
                job = self._name(state >> 8)
            elif kind == lib.PHX_QUARANTINE:
                job = self._fenced_leaves()[position]
            health = HEALTHS[(state >> 2) & 3]
            return Owner(KINDS[kind], job, health, bool(state >> 4 & 1))

    def free_leaves(self, level: str | int | None = None) -> int | IntArray:
        """Available leaves: all of them, or of each domain of a level.

        Returns
        -------
        An int; with a level int32, shape (domains of the level,).

        Raises
        ------
        InvalidRequest
            If there is no such level.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> _ = planner.place("a", Gang(3))
        >>> planner.free_leaves(), planner.free_leaves("host")
        (5, array([1, 4], dtype=int32))
        """
        with self._inside:
            if level is None:
                return int(lib.phx_free_leaves(self._core, 0, native.ffi.NULL))
            index = self._frame.topology.level_index(level)
            vertices = self._frame.tree.real[index].size
            counts = native.free_leaves(self._core, index, vertices)
            return self._frame.by_domain(index, counts)

    def unheld(self, leaves: object) -> NDArray[np.bool_]:
        """Which leaves could be adopted: of no job, up, open and not in quarantine.

        Parameters
        ----------
        leaves
            Ids or names: one, an iterable or an integer array.

        Returns
        -------
        One for each leaf, in their order; spares count: bool, shape (leaves,).

        Raises
        ------
        InvalidRequest
            If a leaf does not exist or is listed twice.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:2"))
        >>> _ = planner.place("a", Gang(1)), planner.fail([3])
        >>> planner.unheld([0, 1, 3]).tolist()
        [False, True, False]
        """
        with self._inside:
            positions = self._frame.positions(leaves, "unheld")
            states = native.states_of(self._core, positions)
        kind = states & 3
        nobody = (kind == lib.PHX_FREE) | (kind == lib.PHX_SPARE)
        up = (states >> 2) & 3 == lib.PHX_UP
        answer: NDArray[np.bool_] = nobody & up & (states >> 4 & 1 == 0)
        return answer

    def largest_block(self, level: str | int) -> Block | None:
        """The most available leaves in one block inside a domain of a level.

        A block is an aligned run of a power of two of whole siblings, or a whole domain.

        Raises
        ------
        InvalidRequest
            If there is no such level.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> _ = planner.place("a", Gang(5))
        >>> planner.largest_block("host").leaves
        (6, 7)
        """
        with self._inside:
            index = self._frame.topology.level_index(level)
            run = lib.phx_largest_block(self._core, index)
            if run.first == NONE or not run.count:
                return None
            positions = np.arange(run.first, run.first + run.count, dtype=np.int32)
            return blocks_of(self._frame, positions)[0]

    def spares(self) -> IntArray:
        """Domains of the spares' size level that are spares now: int32 ids."""
        with self._inside:
            if self._frame.spares_levels is None:
                return np.empty(0, np.int32)
            states = native.leaf_states(self._core, 0, self._frame.leaf_count)
            held = np.flatnonzero(states & 3 == lib.PHX_SPARE)
            leaves = self._frame.leaf_ids(held)
            size = self._frame.spares_levels[1]
            domains = self._frame.topology.domain_of(size)[leaves]
            return np.unique(domains)

    def quarantined(self) -> dict[Job | Handle, IntArray]:
        """Job to the leaves taken from it that are in quarantine: int32, by address."""
        with self._inside:
            found: dict[Job | Handle, list[int]] = {}
            for at, job in sorted(self._fenced_leaves().items()):
                found.setdefault(job, []).append(at)
            return {
                job: self._frame.leaf_ids(np.array(positions))
                for job, positions in found.items()
            }

    def __repr__(self) -> str:
        free = int(lib.phx_free_leaves(self._core, 0, native.ffi.NULL))
        return (
            f"Planner({self._frame.topology.describe()!r}, jobs={len(self._jobs)}, "
            f"available={free} of {self._frame.leaf_count})"
        )

"""``Planner``: one ledger of who holds which leaf, and Place and Release on it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, OwnershipError
from phalanx_core.native import GAVE_UP, LEAVES_MAX, MISFIT, ffi, lib
from phalanx_core.placement.advice import Advising
from phalanx_core.placement.batch import Batch
from phalanx_core.placement.chains import broken_chain
from phalanx_core.placement.defragment import Defragmenting
from phalanx_core.placement.frame import Frame
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.health import HealthChanges
from phalanx_core.placement.keys import Handle, Job, checked_job
from phalanx_core.placement.limits import Limits, VertexLimits, copied
from phalanx_core.placement.misfit import Misfit
from phalanx_core.placement.queries import Queries
from phalanx_core.placement.results import (
    FIRST_SHIFT,
    LEVEL_SHIFT,
    MANY,
    SLOT,
    Placement,
    placed,
    positions_of,
)
from phalanx_core.placement.snapshot import Snapshots
from phalanx_core.placement.spares import Spares, shortages
from phalanx_core.placement.state import in_use, unknown
from phalanx_core.placement.sync import Syncs
from phalanx_core.topology import Topology


class Planner(Defragmenting, HealthChanges, Batch, Queries, Advising, Syncs, Snapshots):
    """Places gangs on a topology, and repairs them; one thread owns it.

    Parameters
    ----------
    topology
        The cluster.
    type
        GPU type to place on; must be named where the topology has several.
    spares
        Domains held back for repairs, None for none.
    alignment
        "exact", or "buddy": sizes rounded up to powers of two in aligned blocks, for
        trees whose fanouts are equal powers of two.

    Attributes
    ----------
    warnings
        One sentence for each domain that can never hold a spare.

    Raises
    ------
    InvalidRequest
        If a type, level or option does not exist or does not go with the topology.

    Notes
    -----
    Every error leaves the state as it was. O(leaves + domains) memory.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> planner = Planner(Topology.from_spec("rack:2 host:4 gpu:8"))
    >>> placed = planner.place("train", Gang(16, group=8, within="rack"))
    >>> placed.level_name, placed.leaves[[0, -1]].tolist()
    ('rack', [0, 15])
    >>> planner.fail(range(8, 16)), planner.replan("train").moves[0].tolist()
    (['train'], [8, 8, 16])
    """

    __slots__ = ()

    def __init__(
        self,
        topology: Topology,
        type: str | None = None,
        spares: Spares | None = None,
        alignment: str = "exact",
    ) -> None:
        frame = Frame(topology, type, spares, alignment)
        self._start(frame, native.new_planner(frame.core_tree, frame.options))
        if frame.spares_levels is not None:
            self.warnings = shortages(topology, frame.tree, frame.spares_levels)
        if self.warnings:
            more = len(self.warnings) - 1
            rest = f" (and {more} more in Planner.warnings)" if more else ""
            warnings.warn(self.warnings[0] + rest, stacklevel=2)

    def place(
        self,
        job: Job,
        gang: Gang,
        limits: Limits | None = None,
        apply: bool = True,
    ) -> Placement | Misfit:
        """Give a new job its leaves, or say why not.

        Parameters
        ----------
        job
            A key that is not in use, str or int.
        gang
            What to place.
        limits
            As ``Gang.limits``, in their stead; kept for the job's repairs.
        apply
            False: only say what would happen.

        Raises
        ------
        InvalidRequest
            If the job is known, or the gang or limits do not go with the topology.
        ConcurrentUse
            If another call is inside this planner.

        Notes
        -----
        O(levels) for one block, O(hosts) at worst.
        """
        try:
            self._turn.pop()
        except IndexError:
            raise in_use() from None
        except BaseException:  # a signal's handler, once the turn was taken
            self._turn.append(None)
            raise
        try:
            kind = type(job)
            if (kind is not str and kind is not int) or job in self._jobs:
                self._check_new(job)
            frame, address, request = gang._plain
            if frame is not self._frame or limits is not None or not apply:
                return self._place_limited(job, gang, limits, apply)
            packed = self._calls.place(address)
            slot = packed & SLOT
            # Of a refusal, minus a status, these bits are more than any slot.
            if slot >= LEAVES_MAX:
                return self._refused(packed, gang, request, ffi.NULL)
            placement = Placement()
            placement._packed = packed
            placement._slot = slot
            placement.gang = gang
            placement._frame = frame
            placement._limits = placement._runs = None
            if packed >= MANY:
                placement._runs = native.gang_runs(self._core, slot)
            self._jobs[job] = placement
            try:
                self._names[slot] = job
            except IndexError:
                self._set_name(slot, job)
            return placement
        except AttributeError:
            if isinstance(gang, Gang):
                raise
            raise InvalidRequest(f"gang {gang!r}: a Gang") from None
        finally:
            self._turn.append(None)

    def fits(self, gang: Gang, limits: Limits | None = None) -> Placement | Misfit:
        """Where a gang would go now; changes nothing.

        Examples
        --------
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> bool(planner.fits(Gang(8))), bool(planner.fits(Gang(8, within="host")))
        (True, False)
        """
        with self._inside:
            return self._place_limited(None, gang, limits, False)

    def _place_limited(
        self, job: Job | None, gang: Gang, limits: Limits | None, apply: bool
    ) -> Placement | Misfit:
        _, request, bound = self._compiled(gang)
        if limits is not None:
            bound = self._frame.limits(copied(limits))
        pointer = ffi.NULL if bound is None else bound.pointer
        packed, runs = native.place_limited(self._core, request, pointer, bool(apply))
        if packed < 0:
            refused = self._refused(packed, gang, request, pointer)
            if gang.templates:
                less = gang.at(gang.templates[0])
                return self._place_limited(job, less, limits, apply) or refused
            return refused
        if apply and job is not None:
            return self._record(job, packed, gang, bound)
        positions = positions_of(0, gang.ranks, runs)
        first = int(positions[0])
        level = self._frame.level_of(int(positions.min()), int(positions.max()))
        many = len(runs) > native.RUN.itemsize
        packed = first << FIRST_SHIFT | level << LEVEL_SHIFT | (MANY if many else 0)
        return placed(packed, gang, self._frame, runs if many else None)

    def _compiled(self, gang: Gang) -> tuple[Frame, Any, VertexLimits | None]:
        if not isinstance(gang, Gang):
            raise InvalidRequest(f"gang {gang!r}: a Gang")
        return self._frame.compiled(gang, self._core)

    def _refused(self, packed: int, gang: Gang, request: Any, limits: Any) -> Misfit:
        if packed not in (-MISFIT, -GAVE_UP):
            raise native.failure(packed, repr(gang))
        return self._refuse(gang, request, limits, -packed)

    def _record(
        self, job: Job, packed: int, gang: Gang, bound: VertexLimits | None
    ) -> Placement:
        slot = packed & SLOT
        runs = native.gang_runs(self._core, slot) if packed & MANY else None
        placement = placed(packed, gang, self._frame, runs, bound)
        self._set_name(slot, job)
        self._jobs[job] = placement
        return placement

    def _check_new(self, job: object) -> None:
        if isinstance(job, Handle):
            raise InvalidRequest(f"job {job!r}: a handle is no job's key")
        if checked_job(job) in self._jobs:
            raise InvalidRequest(f"job {job!r}: the planner holds it already")

    def _check_named(self, job: object) -> None:
        if isinstance(job, Handle):
            raise InvalidRequest(f"job {job!r}: release_many takes handles")
        checked_job(job)

    def adopt(self, job: Job, gang: Gang, leaves: object) -> Placement:
        """Record a job that runs already on exactly these leaves.

        Parameters
        ----------
        job, gang
            As for :meth:`place`; the gang's limits are kept, not checked.
        leaves
            ``gang.ranks`` leaves in rank order, ids or names. They may be down,
            cordoned, suspect or spare, but neither held nor quarantined.

        Raises
        ------
        InvalidRequest
            If the job is known, a leaf does not exist or is listed twice, or the
            leaves break ``group`` or ``within``.
        OwnershipError
            If somebody else holds one.

        Examples
        --------
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> planner.adopt("a", Gang(2), [5, 4]).leaves
        array([5, 4], dtype=int32)
        """
        with self._inside:
            self._check_new(job)
            _, request, bound = self._compiled(gang)
            subject = f"adopt({job!r})"
            at = self._frame.positions(leaves, subject)
            if at.size != gang.ranks:
                raise InvalidRequest(
                    f"{subject}: {at.size} leaves for {gang.ranks} ranks"
                )
            states = native.states_of(self._core, at)
            held = np.isin(states & 3, (lib.PHX_JOB, lib.PHX_QUARANTINE))
            if held.any():
                position = int(at[held][0])
                raise OwnershipError(
                    f"{subject}: leaf {self._frame.leaf_ids(at[held])[0]} "
                    f"{self._held_by(position)}"
                )
            packed = int(lib.phx_adopt(self._core, request, native.words(at)))
            if packed == -lib.PHX_BAD_CHAIN:
                rule = broken_chain(self._frame, gang, at)
                raise InvalidRequest(f"{subject}: {gang!r}: {rule}")
            if packed < 0:
                raise native.failure(packed, f"{subject}: {gang!r}")
            if ((states >> 2) & 3 == lib.PHX_DOWN).any():
                self._hit[packed & SLOT] = None
            return self._record(job, packed, gang, bound)

    def _held_by(self, position: int) -> str:
        state = int(lib.phx_leaf_state(self._core, position))
        if state & 3 == lib.PHX_QUARANTINE:
            return f"is in quarantine, from job {self._fenced_leaves()[position]!r}"
        return f"is held by job {self._name(state >> 8)!r}"

    def release(self, job: Job) -> None:
        """Give a job's leaves back; its down ones go to quarantine.

        Raises
        ------
        UnknownJob
            If the planner holds no such job.
        """
        try:
            self._turn.pop()
        except IndexError:
            raise in_use() from None
        except BaseException:  # a signal's handler, once the turn was taken
            self._turn.append(None)
            raise
        try:
            kind = type(job)
            if kind is not str and kind is not int:
                self._check_named(job)
            entry = self._jobs.pop(job, None)
            if entry is None:
                raise unknown(job)
            slot = entry._slot
            if slot in self._hit:
                self._fence_down(slot, job)
            status = self._calls.release(slot)
            if status:
                raise native.failure(status, f"release({job!r})")
            self._names[slot] = None
        finally:
            self._turn.append(None)

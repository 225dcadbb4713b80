"""``AssignmentProblem``: a round's choices in whole numbers, in an order of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core import native
from phalanx_core.assignment.demands import Demands, whole_numbers
from phalanx_core.checks import array_of, is_number, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import ffi, lib

# Bits of the jobs' best values together, so that doubles hold every sum exactly; and of
# all values together, below the 2**61 from which CP-SAT refuses a model.
JOB_BITS = 50
ALL_BITS = 58

IntArray = NDArray[np.int64]
WordArray = NDArray[np.uint32]
# Places among each job's choices, -1 = none.
ChosenArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class AssignmentProblem:
    """Jobs of which each takes one of its configurations, or none.

    Attributes
    ----------
    jobs, configurations
        As the caller counts them.
    order
        The caller's number of each job here: int64, shape (jobs,). It follows from the
        jobs' rows or keys, never from the order they came in.
    first
        Where each job's choices begin, and the end: uint32, shape (jobs + 1,).
    kind
        Row of ``demand`` of each choice; the configuration is what remains of it by
        ``configurations``: uint32, shape (choices,).
    value
        What each is worth beyond leaving its job out, times 2 ** shift, rounded: int64.
    demand
        uint32, shape (kinds, rows); rows are GPU types, and what else is limited.
    capacity
        int64, shape (rows,).
    shift
        Of the values: a total is exact to jobs * 2 ** -(shift + 1).
    alone
        What each job would take if it were alone.
    fixed
        What jobs that are no part of the problem have, -1 = they are part: int32, shape
        (jobs,).
    taken_before
        What these want of each row; not part of ``capacity``: int64.
    """

    jobs: int
    configurations: int
    order: IntArray
    first: WordArray
    kind: WordArray
    value: IntArray
    demand: WordArray
    capacity: IntArray
    shift: int
    alone: ChosenArray
    fixed: ChosenArray
    taken_before: IntArray

    @classmethod
    def of(
        cls,
        utility: ArrayLike,
        demand: ArrayLike,
        capacity: ArrayLike,
        idle: float = 0.0,
        *,
        keys: ArrayLike | None = None,
        fixed: ChosenArray | None = None,
        held: ChosenArray | None = None,
        tenant: ArrayLike | None = None,
        quota: ArrayLike | None = None,
    ) -> Self:
        """Check a round and put it into whole numbers.

        Parameters
        ----------
        utility
            Shape (jobs, configurations); NaN = the job cannot run so.
        demand
            Integers from 0, shape (jobs, configurations) or (jobs, configurations,
            types); (configurations,) or (configurations, types) where all jobs' are alike.
        capacity
            Integers from 0, shape (types,), or one number.
        idle
            What a job that is left out is worth.
        keys
            One distinct integer a job: which comes first where nothing else tells.
        fixed
            Configuration that a job keeps, -1 = none: int32, shape (jobs,).
        held
            Configuration that wins where all else is equal, -1 = none: likewise. The
            values then lose a bit for each doubling of jobs.
        tenant, quota
            Tenant of each job and most of each type that a tenant's jobs may have: see
            :func:`~phalanx_core.assignment.solve`.

        Raises
        ------
        InvalidRequest
            If a shape, dtype or value is not as said above.

        Notes
        -----
        Leaves out what no answer takes: configurations that are infeasible, worth less
        than ``idle``, or want more than all there is. O(jobs * configurations * rows).
        """
        worth = np.ascontiguousarray(utilities(utility))
        if not is_number(idle):
            raise InvalidRequest(f"idle {idle!r}: a finite number")
        rows = np.atleast_1d(whole_numbers("capacity", capacity))
        if rows.ndim > 1:
            raise InvalidRequest(f"capacity of shape {rows.shape}: one number a row")
        wants = Demands.of(demand, worth.shape, rows)
        if tenant is not None or quota is not None:
            wants = wants.with_quotas(tenant, quota, worth.shape[0])
        if fixed is None:
            fixed = np.full(worth.shape[0], -1, np.int32)
        before = wants.taken(fixed)
        table = _Table(worth, wants, wants.capacity - before, fixed, held, float(idle))
        order = _order(table.marks(), keys)
        return cls(
            jobs=worth.shape[0],
            configurations=worth.shape[1],
            order=order,
            demand=wants.rows,
            capacity=table.capacity,
            fixed=fixed,
            taken_before=before,
            **table.built(order),
        )

    def total(self, chosen: ChosenArray) -> int:
        """Whole-number worth of chosen places among each job's choices, -1 = none."""
        return int(self.value[self.taken(chosen)].sum())

    def used(self, chosen: ChosenArray) -> IntArray:
        """What they want of each row."""
        wanted: IntArray = self.wants(self.taken(chosen)).sum(axis=0)
        return wanted

    def taken(self, chosen: ChosenArray) -> IntArray:
        """Choices that are taken, by job."""
        some = chosen >= 0
        found: IntArray = self.first[:-1][some].astype(np.int64) + chosen[some]
        return found

    def wants(self, choices: Any) -> IntArray:
        """Demands of some choices: int64, shape (choices, rows)."""
        found: IntArray = self.demand[self.kind[choices]].astype(np.int64)
        return found

    def configurations_of(self, choices: Any) -> WordArray:
        """As the caller counts them."""
        found: WordArray = self.kind[choices] % np.uint32(max(1, self.configurations))
        return found

    def told(self, chosen: ChosenArray) -> NDArray[np.int32]:
        """The answer as the caller counts: a configuration a job, -1 = left out."""
        found = self.fixed.copy()
        found[self.order[chosen >= 0]] = self.configurations_of(self.taken(chosen))
        return found


class _Table:
    """What the core reads a round from; keeps the memory that it points to."""

    def __init__(
        self,
        worth: NDArray[np.float64],
        wants: Demands,
        capacity: IntArray,
        fixed: ChosenArray,
        held: ChosenArray | None,
        idle: float,
    ) -> None:
        if (capacity < 0).any():
            row = int(np.argmax(capacity < 0))
            has = int(wants.capacity[row])
            raise InvalidRequest(
                f"fixed: these jobs want {has - capacity[row]} of row {row}, which has {has}"
            )
        self.capacity, self.worth, self.kinds = capacity, worth, wants.rows.shape[0]
        self.bits = 0 if held is None else max(1, worth.shape[0].bit_length())
        buffer = ffi.from_buffer
        self._kept = (
            buffer("double[]", worth.ravel()),
            buffer("uint32_t[]", wants.rows.ravel()),
            buffer("int64_t[]", capacity),
            buffer("int32_t[]", fixed),
            ffi.NULL if held is None else buffer("int32_t[]", held),
            ffi.NULL if wants.group is None else buffer("uint32_t[]", wants.group),
        )
        self._pointer = table = ffi.new("phx_table *")
        table.jobs, table.configurations = worth.shape
        table.rows, table.groups = capacity.size, wants.groups
        table.utility, table.demand, table.capacity = self._kept[:3]
        table.fixed, table.held, table.group = self._kept[3:]
        table.idle = idle

    def marks(self) -> NDArray[np.uint64]:
        """A word for each job that its row alone decides."""
        marks, bad = np.empty(self.worth.shape[0], np.uint64), ffi.new("uint64_t *")
        marked = ffi.from_buffer("uint64_t[]", marks)
        if lib.phx_round_marks(self._pointer, marked, bad) != native.OK:
            job, choice = divmod(int(bad[0]), self.worth.shape[1])
            raise InvalidRequest(
                f"utility[{job}, {choice}] is {self.worth[job, choice]}: finite, or NaN"
            )
        return marks

    def built(self, order: IntArray) -> dict[str, Any]:
        """First, kind, value, alone and shift of the problem."""
        size = self.worth.size
        first = np.empty(order.size + 1, np.uint32)
        kind, value = np.empty(size, np.uint32), np.empty(size, np.int64)
        alone, shift = np.empty(order.size, np.int32), ffi.new("int32_t *")
        buffer = ffi.from_buffer
        lib.phx_round_build(
            self._pointer,
            buffer("int64_t[]", order),
            min(JOB_BITS + self.bits, ALL_BITS),
            ALL_BITS,
            self.bits,
            buffer("uint8_t[]", np.empty(self.kinds, np.uint8)),
            buffer("uint32_t[]", first),
            buffer("uint32_t[]", kind),
            buffer("int64_t[]", value),
            buffer("int32_t[]", alone),
            shift,
        )
        count = int(first[-1])
        return {
            "first": first,
            "kind": kind[:count],
            "value": value[:count],
            "alone": alone,
            "shift": int(shift[0]) + self.bits,
        }


def utilities(given: ArrayLike) -> NDArray[np.float64]:
    """Utilities as an array: a number for each configuration of each job."""
    worth = numbers_of("utility", given, "numbers, NaN where a job cannot run so")
    if worth.ndim != 2:
        raise InvalidRequest(
            f"utility of shape {worth.shape}: a row of configurations for each job"
        )
    if worth.size >= 2**32:
        raise InvalidRequest(f"utility of shape {worth.shape}: fewer than 2**32 pairs")
    return worth


def _order(marks: NDArray[Any], keys: ArrayLike | None) -> IntArray:
    """Jobs by key, else by a hash of their rows: equal rows may stand either way."""
    if keys is not None:
        jobs = marks.size
        marks = array_of("keys", keys)
        if marks.shape != (jobs,) or marks.dtype.kind not in "iu":
            raise InvalidRequest(
                f"keys of shape {marks.shape} and dtype {marks.dtype}: an integer a job"
            )
        if np.unique(marks).size != jobs:
            raise InvalidRequest("keys: two jobs have the same")
    return np.argsort(marks, kind="stable").astype(np.int64, copy=False)

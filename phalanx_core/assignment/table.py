"""``Table``: a round as the core reads it, before it is put into whole numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core import native
from phalanx_core.assignment.demands import Demands
from phalanx_core.checks import array_of, integers_of, is_number, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import ffi, lib

# Bits of the jobs' best values together, so that doubles hold every sum exactly; and of
# all values together, below the 2**61 from which CP-SAT refuses a model.
JOB_BITS = 50
ALL_BITS = 58


class SmallAnswer(NamedTuple):
    """A round of one row solved in one call.

    Attributes
    ----------
    choice
        Configuration of each job, -1 = left out: int32, shape (jobs,).
    objective
        What that is worth.
    used
        Of the row: int64, shape (1,).
    trivial
        Whether every job has what it would take alone.
    shift
        Utilities were rounded to multiples of 2 ** -shift.
    """

    choice: NDArray[np.int32]
    objective: float
    used: NDArray[np.int64]
    trivial: bool
    shift: int


class Table:
    """Utilities and demands side by side; keeps the memory that the core reads.

    Parameters
    ----------
    worth
        Utilities, C-contiguous: float64, shape (jobs, configurations).
    wants
        Demands of the configurations, and the capacities.
    idle
        What a job that is left out is worth.
    fixed
        Configuration that a job keeps, -1 = it is free; None: all are.
    held
        Configuration that wins where all else is equal, -1 = none; None: nobody's does.
    counted
        Utilities that an answer's objective counts; None: ``worth``.

    Attributes
    ----------
    capacity
        Of each row, without what jobs that are fixed want: int64.
    bits
        Of the values, below those of the utilities: they tell what is held from the rest.

    Raises
    ------
    InvalidRequest
        If ``idle`` is no number, or jobs that are fixed want more than there is.
    """

    def __init__(
        self,
        worth: NDArray[np.float64],
        wants: Demands,
        idle: float,
        fixed: NDArray[np.int32] | None = None,
        held: NDArray[np.int32] | None = None,
        counted: NDArray[np.float64] | None = None,
    ) -> None:
        if not is_number(idle):
            raise InvalidRequest(f"idle {idle!r}: a finite number")
        self.worth, self.wants = worth, wants
        self.jobs, self.configurations = worth.shape
        self.fixed = fixed
        self.capacity = wants.capacity if fixed is None else _left(wants, fixed)
        self.bits = 0 if held is None else self.jobs.bit_length()
        buffer, null = ffi.from_buffer, ffi.NULL
        self._kept = (
            buffer("double[]", worth),
            null if counted is None else buffer("double[]", counted),
            buffer("uint32_t[]", wants.rows),
            buffer("int64_t[]", self.capacity),
            null if fixed is None else buffer("int32_t[]", fixed),
            null if held is None else buffer("int32_t[]", held),
            null if wants.group is None else buffer("uint32_t[]", wants.group),
        )
        values, counted_, demand, capacity, fixed_, held_, group = self._kept
        self._pointer = ffi.new(
            "phx_table *",
            (
                *(self.jobs, self.configurations, self.capacity.size, wants.groups),
                *(group, values, counted_, demand, capacity, fixed_, held_, idle),
            ),
        )

    def order(self, keys: ArrayLike | None) -> tuple[NDArray[np.uint32], bool]:
        """Jobs by key, else by a hash of their rows: equal rows may stand either way.

        Returns
        -------
        Their numbers, and whether two rows may be equal.

        Raises
        ------
        InvalidRequest
            If a utility is infinite, or keys are not one distinct integer a job.
        """
        marks, bad = np.empty(self.jobs, np.uint64), ffi.new("uint64_t *")
        marked = ffi.from_buffer("uint64_t[]", marks)
        if lib.phx_round_marks(self._pointer, marked, bad) != native.OK:
            raise self._infinite(int(bad[0]))
        by: NDArray[Any] = marks if keys is None else _keys(keys, self.jobs)
        order = np.argsort(by, kind="stable").astype(np.uint32)
        sorted_ = marks[order] if keys is None else np.sort(marks)
        return order, bool((sorted_[1:] == sorted_[:-1]).any())

    def built(self, order: NDArray[np.uint32]) -> dict[str, Any]:
        """First, kind, value, alone and shift of the problem, jobs in that order."""
        size = self.worth.size
        first = np.empty(self.jobs + 1, np.uint32)
        kind, value = np.empty(size, np.uint32), np.empty(size, np.int64)
        alone, shift = np.empty(self.jobs, np.int32), ffi.new("int32_t *")
        buffer = ffi.from_buffer
        lib.phx_round_build(
            self._pointer,
            buffer("uint32_t[]", order),
            *self._bits(),
            buffer("uint8_t[]", np.empty(self.wants.rows.shape[0], np.uint8)),
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

    def objective(self, order: NDArray[np.uint32], choice: NDArray[np.int32]) -> float:
        """What an answer is worth, added up in that order."""
        buffer = ffi.from_buffer
        return float(
            lib.phx_objective(
                self._pointer, buffer("uint32_t[]", order), buffer("int32_t[]", choice)
            )
        )

    def small_answer(self, keys: ArrayLike | None) -> SmallAnswer:
        """The best answer of a round of one row, by every amount of it.

        Raises
        ------
        InvalidRequest
            As :meth:`order` does.
        """
        order, given = ffi.NULL, None
        if keys is not None:
            given = np.argsort(_keys(keys, self.jobs), kind="stable").astype(np.uint32)
            order = ffi.from_buffer("uint32_t[]", given)
        room = np.empty(lib.phx_small_bytes(self._pointer), np.uint8)
        choice, told = np.empty(self.jobs, np.int32), ffi.new("phx_small *")
        status = lib.phx_small_solve(
            self._pointer,
            order,
            *self._bits(),
            ffi.from_buffer(room),
            ffi.from_buffer("int32_t[]", choice),
            told,
        )
        if status != native.OK:
            raise self._infinite(told.bad)
        used = self.wants.capacity - self.capacity + told.used
        return SmallAnswer(choice, told.objective, used, bool(told.trivial), told.shift)

    def _bits(self) -> tuple[int, int, int]:
        return min(JOB_BITS + self.bits, ALL_BITS), ALL_BITS, self.bits

    def _infinite(self, pair: int) -> InvalidRequest:
        job, choice = divmod(pair, self.configurations)
        value = self.worth[job, choice]
        return InvalidRequest(f"utility[{job}, {choice}] is {value}: finite, or NaN")


def utilities(given: ArrayLike) -> NDArray[np.float64]:
    """Utilities as an array: a number for each configuration of each job.

    Raises
    ------
    InvalidRequest
        If they are none, or too many.
    """
    worth = numbers_of("utility", given, "numbers, NaN where a job cannot run so")
    if worth.ndim != 2:
        raise InvalidRequest(
            f"utility of shape {worth.shape}: a row of configurations for each job"
        )
    if worth.size >= 2**32:
        raise InvalidRequest(f"utility of shape {worth.shape}: fewer than 2**32 pairs")
    return np.ascontiguousarray(worth)


def allowed(
    worth: NDArray[np.float64], forbidden: ArrayLike | None
) -> NDArray[np.float64]:
    """Utilities with NaN for pairs that are forbidden.

    Raises
    ------
    InvalidRequest
        If there is not one bool for each.
    """
    if forbidden is None:
        return worth
    never = array_of("forbidden", forbidden)
    if never.shape != worth.shape or never.dtype != np.bool_:
        raise InvalidRequest(
            f"forbidden of shape {never.shape} and dtype {never.dtype}: a bool for each "
            "utility"
        )
    return np.where(never, np.nan, worth)


def _left(wants: Demands, fixed: NDArray[np.int32]) -> NDArray[np.int64]:
    """What jobs that are fixed leave."""
    before = wants.taken(fixed)
    left = wants.capacity - before
    if (left < 0).any():
        row = int(np.argmax(left < 0))
        raise InvalidRequest(
            f"fixed: these jobs want {before[row]} of row {row}, which has "
            f"{wants.capacity[row]}"
        )
    return left


def _keys(given: ArrayLike, jobs: int) -> NDArray[Any]:
    keys = integers_of("keys", given)
    if keys.shape != (jobs,) or keys.dtype.kind not in "iu":
        raise InvalidRequest(
            f"keys of shape {keys.shape} and dtype {keys.dtype}: an integer a job"
        )
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if same.size:
        one, other = order[same[0]], order[same[0] + 1]
        raise InvalidRequest(
            f"keys[{one}] and keys[{other}] are {keys[one]}: distinct integers"
        )
    return keys

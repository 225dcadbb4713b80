"""The core's solvers of a round: prices, answers mended from them, exact searches."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.assignment.problem import (
    AssignmentProblem,
    ChosenArray,
    IntArray,
    WordArray,
)
from phalanx_core.native import ffi, lib

# Of a job, in the dense recurrence.
CHOICES_MAX: int = lib.PHX_CHOICES_MAX
# Passes over all choices that a search for prices may take.
PASSES_MAX = 400


class Priced(NamedTuple):
    """Prices of the capacities, and what follows from them.

    Attributes
    ----------
    prices
        Whole numbers, in units of the values: int64, shape (rows,).
    bound
        No answer is worth more: exact.
    chosen, shared
        What each job takes at these prices, and by turns at some near them, together
        nearly what the relaxation takes: either may want too much.
    passes
        Over all choices that it took.
    """

    prices: IntArray
    bound: int
    chosen: ChosenArray
    shared: ChosenArray
    passes: int


class Losses(NamedTuple):
    """What is lost by choices at some prices.

    Attributes
    ----------
    loss
        Of each choice, beside the best of its job or none, at least 0: int64.
    none
        Of taking none, for each job: int64.
    counts
        How many choices lose less than 2 ** b: uint32, shape (64,).
    """

    loss: IntArray
    none: IntArray
    counts: NDArray[np.uint32]


class Round:
    """A round as the core takes it; keeps the memory that it points to.

    Parameters
    ----------
    first, kind, value, demand, capacity
        As of :class:`AssignmentProblem`, whose jobs or some of them these are.
    """

    def __init__(
        self,
        first: WordArray,
        kind: WordArray,
        value: IntArray,
        demand: WordArray,
        capacity: IntArray,
    ) -> None:
        self.jobs, self.first, self.kind = first.size - 1, first, kind
        self.value, self.demand, self.capacity = value, demand, capacity
        kinds, rows = demand.shape
        self._kept = (
            ffi.from_buffer("uint32_t[]", first),
            ffi.from_buffer("uint32_t[]", kind),
            ffi.from_buffer("int64_t[]", value),
            ffi.from_buffer("uint32_t[]", demand.ravel()),
            ffi.from_buffer("int64_t[]", capacity),
            ffi.from_buffer("int64_t[]", np.empty(kinds, np.int64)),
        )
        self.pointer = ffi.new("phx_round *", (self.jobs, rows, kinds, *self._kept))

    @classmethod
    def of(cls, problem: AssignmentProblem) -> Self:
        """All of a problem."""
        return cls(
            problem.first,
            problem.kind,
            problem.value,
            problem.demand,
            problem.capacity,
        )

    def sums(self, chosen: ChosenArray) -> tuple[int, IntArray]:
        """Whole-number worth of an answer, and what it wants of each row: int64."""
        used, total = np.empty(self.capacity.size, np.int64), _long()
        status = lib.phx_round_sum(self.pointer, _ints(chosen), total, _longs(used))
        native.check(status, "solve: sums")
        return int(total[0]), used

    def dense(self) -> ChosenArray:
        """The best answer where there is one capacity, by every amount of it."""
        size = lib.phx_assign_dense_bytes(self.jobs, int(self.capacity[0]))
        chosen = np.empty(self.jobs, np.int32)
        room = ffi.from_buffer(np.empty(size, np.uint8))
        status = lib.phx_assign_dense(self.pointer, room, _ints(chosen), _long())
        native.check(status, "solve: dense")
        return chosen

    def priced(
        self,
        start: NDArray[np.float64] | None = None,
        tolerance: float = 1e-10,
        most: int = PASSES_MAX,
    ) -> Priced:
        """The prices of the lowest bound, from some others on, in so many passes."""
        rows = self.capacity.size
        prices = np.zeros(rows) if start is None else start.astype(np.float64)
        chosen, shared = np.empty((2, self.jobs), np.int32)
        passes = ffi.new("uint32_t *")
        status = lib.phx_price_find(
            self.pointer,
            ffi.from_buffer("double[]", prices),
            tolerance,
            most,
            _ints(chosen),
            _ints(shared),
            ffi.new("double *"),
            passes,
        )
        native.check(status, "solve: prices")
        whole = np.rint(prices).astype(np.int64)
        return Priced(whole, self.bound(whole), chosen, shared, int(passes[0]))

    def bound(self, prices: IntArray) -> int:
        """What no answer exceeds at these prices, whatever they are."""
        bound = _long()
        status = lib.phx_price_bound(self.pointer, _longs(prices), bound)
        native.check(status, "solve: bound")
        return int(bound[0])

    def losses(self, prices: IntArray) -> Losses:
        """What choices lose at some prices."""
        loss = np.empty(self.value.size, np.int64)
        none = np.empty(self.jobs, np.int64)
        counts = np.empty(64, np.uint32)
        counted = ffi.from_buffer("uint32_t[]", counts)
        status = lib.phx_price_losses(
            self.pointer, _longs(prices), _longs(loss), _longs(none), counted
        )
        native.check(status, "solve: losses")
        return Losses(loss, none, counts)

    def mended(
        self, prices: IntArray, start: ChosenArray, most: int | None = None
    ) -> ChosenArray | None:
        """An answer that fits, from one that may want too much.

        Returns
        -------
        None where so many changes do not make it fit.
        """
        chosen = start.copy()
        status = lib.phx_round_mend(
            self.pointer,
            _longs(prices),
            2**31 if most is None else most,
            _ints(chosen),
            ffi.new("uint32_t *"),
        )
        if status == native.GAVE_UP:
            return None
        native.check(status, "solve: mend")
        return chosen

    def filled(self, chosen: ChosenArray, order: IntArray) -> ChosenArray:
        """Jobs that have none take the most valuable that fits, in that order."""
        more = chosen.copy()
        status = lib.phx_round_fill(self.pointer, _longs(order), _ints(more))
        native.check(status, "solve: fill")
        return more

    def dealt(self, chosen: ChosenArray) -> ChosenArray:
        """The same answer, where the lowest of jobs that are alike have what is worth most."""
        same = chosen.copy()
        room = ffi.from_buffer(np.empty(lib.phx_deal_bytes(self.jobs), np.uint8))
        status = lib.phx_round_deal(self.pointer, room, _ints(same))
        native.check(status, "solve: deal")
        return same


def _ints(array: ChosenArray) -> Any:
    return ffi.from_buffer("int32_t[]", array)


def _longs(array: IntArray) -> Any:
    return ffi.from_buffer("int64_t[]", array)


def _long() -> Any:
    return ffi.new("int64_t *")

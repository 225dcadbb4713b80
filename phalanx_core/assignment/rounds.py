"""The core's solvers of a round: prices, answers mended from them, small rounds exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.assignment.problem import AssignmentProblem, ChosenArray, IntArray
from phalanx_core.native import ffi, lib

ROWS_MAX: int = lib.PHX_ROWS_MAX
# Passes over all choices that a search for prices may take.
PASSES_MAX = 400
# Changes of an answer that is nearly one, and of any.
STEPS_NEAR = 100
STEPS_MAX = 2**31 - 1


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


class Round:
    """A problem as the core takes it; keeps the memory that it points to."""

    def __init__(self, problem: AssignmentProblem) -> None:
        self.problem = problem
        self._first = problem.first.astype(np.uint32)
        self._demand = np.ascontiguousarray(problem.demand, np.uint32)
        self._pointer = ffi.new("phx_round *")
        self._kept = (
            ffi.from_buffer("uint32_t[]", self._first),
            ffi.from_buffer("uint32_t[]", self._demand.ravel()),
            ffi.from_buffer("int64_t[]", problem.value),
            ffi.from_buffer("int64_t[]", problem.capacity),
        )
        self._pointer.jobs, self._pointer.rows = problem.jobs, problem.capacity.size
        self._pointer.first, self._pointer.demand = self._kept[:2]
        self._pointer.value, self._pointer.capacity = self._kept[2:]
        if (
            problem.capacity.size > 1
            and (np.count_nonzero(self._demand, axis=1) < 2).all()
        ):
            self._only = (
                np.argmax(self._demand, axis=1).astype(np.uint8),
                self._demand.max(axis=1, initial=0),
            )
            self._pointer.only_row = ffi.from_buffer("uint8_t[]", self._only[0])
            self._pointer.only = ffi.from_buffer("uint32_t[]", self._only[1])

    def priced(
        self, start: NDArray[np.float64] | None = None, tolerance: float = 1e-10
    ) -> Priced:
        """The prices of the lowest bound, from some others on."""
        rows = self.problem.capacity.size
        prices = np.zeros(rows) if start is None else start.astype(np.float64)
        chosen, shared = np.empty((2, self.problem.jobs), np.int32)
        bound, passes = ffi.new("double *"), ffi.new("uint32_t *")
        status = lib.phx_price_find(
            self._pointer,
            ffi.from_buffer("double[]", prices),
            tolerance,
            PASSES_MAX,
            ffi.from_buffer("int32_t[]", chosen),
            ffi.from_buffer("int32_t[]", shared),
            bound,
            passes,
        )
        native.check(status, "solve: prices")
        whole = np.rint(prices).astype(np.int64)
        return Priced(whole, self.bound(whole), chosen, shared, int(passes[0]))

    def bound(self, prices: IntArray) -> int:
        """What no answer exceeds at these prices, whatever they are."""
        bound = ffi.new("int64_t *")
        status = lib.phx_price_bound(
            self._pointer, ffi.from_buffer("int64_t[]", prices), bound
        )
        native.check(status, "solve: bound")
        return int(bound[0])

    def mended(self, priced: Priced) -> ChosenArray:
        """An answer that fits: the better of two, where the first is nearly one."""
        near = self._mended(priced, priced.chosen, STEPS_NEAR)
        turns = self._mended(priced, priced.shared, STEPS_MAX)
        if turns is None:
            turns = np.full(self.problem.jobs, -1, np.int32)
        if near is None or self.problem.total(turns) > self.problem.total(near):
            return turns
        return near

    def _mended(
        self, priced: Priced, start: ChosenArray, most: int
    ) -> ChosenArray | None:
        chosen, steps = start.copy(), ffi.new("uint32_t *")
        status = lib.phx_round_mend(
            self._pointer,
            ffi.from_buffer("int64_t[]", priced.prices),
            most,
            ffi.from_buffer("int32_t[]", chosen),
            steps,
        )
        if status == native.GAVE_UP:
            return None
        native.check(status, "solve: mend")
        return chosen

    def dense(self) -> ChosenArray:
        """The best answer where there is one capacity, by every amount of it."""
        problem = self.problem
        capacity = int(problem.capacity[0])
        size = lib.phx_assign_dense_bytes(problem.jobs, capacity)
        chosen, total = np.empty(problem.jobs, np.int32), ffi.new("int64_t *")
        status = lib.phx_assign_dense(
            problem.jobs,
            self._kept[0],
            self._kept[1],
            self._kept[2],
            capacity,
            ffi.new("char[]", size),
            ffi.from_buffer("int32_t[]", chosen),
            total,
        )
        native.check(status, "solve: dense")
        return chosen


def losses(problem: AssignmentProblem, prices: IntArray) -> IntArray:
    """What each choice loses at some prices, beside the best of its job or none.

    Returns
    -------
    int64, shape (choices,), at least 0.
    """
    worth = problem.value - problem.demand @ prices
    best = np.zeros(problem.jobs, np.int64)
    some = np.flatnonzero(np.diff(problem.first))
    if some.size:
        best[some] = np.maximum.reduceat(worth, problem.first[some])
    best = np.maximum(best, 0)
    spread = np.repeat(best, np.diff(problem.first))
    found: IntArray = spread - worth
    return found

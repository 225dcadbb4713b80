"""``AssignmentProblem``: a round's choices in whole numbers, in an order of its own."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import array_of, is_number, numbers_of
from phalanx_core.errors import InvalidRequest

# Bits of a job's best value at most, so that doubles hold every sum exactly; and of all
# values together, below the 2**61 from which CP-SAT refuses a model.
JOB_BITS = 50
TOTAL_BITS = 58
DEMAND_MAX = 2**31 - 1
# Odd, so that multiplying by it loses nothing of a word (splitmix64).
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)

IntArray = NDArray[np.int64]
# Places among each job's choices, -1 = none.
ChosenArray = NDArray[np.int32]


@dataclass(frozen=True)
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
        Where each job's choices begin, and the end: int64, shape (jobs + 1,).
    configuration
        Of each choice, the caller's number: int64, shape (choices,).
    value
        What each is worth beyond leaving its job out, times 2 ** shift, rounded: int64.
    demand
        int64, shape (choices, rows); rows are GPU types, and what else is limited.
    capacity
        int64, shape (rows,).
    shift
        Of the values: a total is exact to jobs * 2 ** -(shift + 1).
    fixed
        What jobs that are no part of the problem have, -1 = they are part: int32, shape
        (jobs,).
    taken_before
        What these want of each row; not part of ``capacity``: int64.
    """

    jobs: int
    configurations: int
    order: IntArray
    first: IntArray
    configuration: IntArray
    value: IntArray
    demand: IntArray
    capacity: IntArray
    shift: int
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
    ) -> Self:
        """Check a round and put it into whole numbers.

        Parameters
        ----------
        utility
            Shape (jobs, configurations); NaN = the job cannot run so.
        demand
            Integers from 0, shape (jobs, configurations) or (jobs, configurations,
            rows); (configurations,) or (configurations, rows) where all jobs' are alike.
        capacity
            Integers from 0, shape (rows,), or one number.
        idle
            What a job that is left out is worth.
        keys
            One distinct integer a job: which comes first where nothing else tells.
        fixed
            Configuration that a job keeps, -1 = none: int32, shape (jobs,).

        Raises
        ------
        InvalidRequest
            If a shape, dtype or value is not as said above.

        Notes
        -----
        Leaves out what no answer takes: configurations that are infeasible, worth less
        than ``idle``, or want more than all there is. O(jobs * configurations * rows).
        """
        worth = utilities(utility)
        if not is_number(idle):
            raise InvalidRequest(f"idle {idle!r}: a finite number")
        rows = _whole("capacity", capacity)
        if rows.ndim > 1:
            raise InvalidRequest(f"capacity of shape {rows.shape}: one number a row")
        rows = np.atleast_1d(rows)
        wanted = _demand(demand, worth.shape, rows.size)
        order = _order(worth, wanted, keys)
        if fixed is None:
            fixed = np.full(worth.shape[0], -1, np.int32)
        some = np.flatnonzero(fixed >= 0)
        before = _of(wanted, some, fixed[some]).sum(axis=0)
        rows = _less(rows, before)
        with np.errstate(invalid="ignore"):
            kept = worth >= idle
        kept &= (wanted <= rows).all(axis=2)
        kept[some] = False
        kept = kept[order]
        at, configuration = np.nonzero(kept)
        job = order[at]
        net = worth[job, configuration] - idle
        first = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
        shift = _shift(net, first)
        return cls(
            jobs=worth.shape[0],
            configurations=worth.shape[1],
            order=order,
            first=first,
            configuration=configuration,
            value=np.rint(np.ldexp(net, shift)).astype(np.int64),
            demand=_of(wanted, job, configuration),
            capacity=rows,
            shift=shift,
            fixed=fixed,
            taken_before=before,
        )

    def total(self, chosen: ChosenArray) -> int:
        """Whole-number worth of chosen places among each job's choices, -1 = none."""
        return int(self.value[self.taken(chosen)].sum())

    def used(self, chosen: ChosenArray) -> IntArray:
        """What they want of each row."""
        wanted: IntArray = self.demand[self.taken(chosen)].sum(axis=0)
        return wanted

    def taken(self, chosen: ChosenArray) -> IntArray:
        """Choices that are taken, by job."""
        some = chosen >= 0
        return self.first[:-1][some] + chosen[some]

    def told(self, chosen: ChosenArray) -> NDArray[np.int32]:
        """The answer as the caller counts: a configuration a job, -1 = left out."""
        found = self.fixed.copy()
        found[self.order[chosen >= 0]] = self.configuration[self.taken(chosen)]
        return found


def _less(rows: IntArray, before: IntArray) -> IntArray:
    if (before > rows).any():
        row = int(np.argmax(before > rows))
        raise InvalidRequest(
            f"fixed: these jobs want {before[row]} of row {row}, which has {rows[row]}"
        )
    return np.asarray(rows - before)


def utilities(given: ArrayLike) -> NDArray[np.float64]:
    """Utilities, checked: a finite number or NaN for each configuration of each job."""
    worth = numbers_of("utility", given, "numbers, NaN where a job cannot run so")
    if worth.ndim != 2:
        raise InvalidRequest(
            f"utility of shape {worth.shape}: a row of configurations for each job"
        )
    bad = np.isinf(worth)
    if bad.any():
        job, choice = np.argwhere(bad)[0].tolist()
        raise InvalidRequest(
            f"utility[{job}, {choice}] is {worth[job, choice]}: finite, or NaN"
        )
    return worth


def _whole(name: str, given: ArrayLike) -> IntArray:
    """Integers from 0; floats that are whole count as such."""
    row = array_of(name, given)
    if row.size == 0:
        row = row.astype(np.int64)
    if row.dtype.kind == "f" and np.array_equal(row, np.rint(row)):
        row = np.clip(row, -1, float(DEMAND_MAX) + 1).astype(np.int64)
    if row.dtype.kind not in "iu":
        raise InvalidRequest(f"{name} of dtype {row.dtype}: whole numbers")
    if row.size and not 0 <= int(row.min()) <= int(row.max()) <= DEMAND_MAX:
        bad = (row < 0) | (row > DEMAND_MAX)
        at = np.argwhere(bad)[0].tolist()
        where = f"[{', '.join(map(str, at))}]" if at else ""
        value = row[tuple(at)]
        raise InvalidRequest(f"{name}{where} is {value}: from 0 to {DEMAND_MAX}")
    return row.astype(np.int64)


def _demand(given: ArrayLike, shape: tuple[int, ...], rows: int) -> IntArray:
    wanted = _whole("demand", given)
    full = (*shape, rows)
    # Without a last axis for rows there is one row; without one for jobs all are alike.
    if rows == 1 and wanted.ndim and wanted.shape in (shape, shape[1:]):
        wanted = wanted[..., None]
    if wanted.shape not in (full, full[1:]):
        raise InvalidRequest(
            f"demand of shape {wanted.shape}: {full} or {full[1:]}"
            + (
                f", or without its last axis, {shape} or {shape[1:]}"
                if rows == 1
                else ""
            )
        )
    return wanted if wanted.ndim == 3 else wanted[None]


def _of(wanted: IntArray, job: IntArray, configuration: NDArray[Any]) -> IntArray:
    """Demands of some choices; where all jobs' are alike there is one job's."""
    row = np.zeros_like(job) if wanted.shape[0] == 1 else job
    found: IntArray = wanted[row, configuration]
    return found


def _order(
    worth: NDArray[np.float64], wanted: IntArray, keys: ArrayLike | None
) -> IntArray:
    """Jobs by key, else by a hash of their rows: equal rows may stand either way."""
    jobs = worth.shape[0]
    if keys is None:
        # -0.0 and 0.0 are one value, and every NaN is.
        bits = np.where(np.isnan(worth), np.nan, worth + 0.0).view(np.uint64)
        weights = mixed(np.arange(1, worth.shape[1] + 1, dtype=np.uint64)) | np.uint64(
            1
        )
        words = bits ^ (bits >> np.uint64(32))
        if wanted.shape[0] > 1:
            rows = mixed(np.arange(7, wanted.shape[2] + 7, dtype=np.uint64))
            words = words + mixed((wanted.astype(np.uint64) * rows).sum(axis=2))
        marks: NDArray[Any] = (words * weights).sum(axis=1, dtype=np.uint64)
    else:
        marks = array_of("keys", keys)
        if marks.shape != (jobs,) or marks.dtype.kind not in "iu":
            raise InvalidRequest(
                f"keys of shape {marks.shape} and dtype {marks.dtype}: an integer a job"
            )
        if np.unique(marks).size != jobs:
            raise InvalidRequest("keys: two jobs have the same")
    return np.argsort(marks, kind="stable").astype(np.int64)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each word turned into another that has nothing visible of it (splitmix64)."""
    first, second, third = (np.uint64(one) for one in _MIX)
    words = (words + first) * second
    words = (words ^ (words >> np.uint64(27))) * third
    return words ^ (words >> np.uint64(31))


def _shift(net: NDArray[np.float64], first: IntArray) -> int:
    """The most bits behind the point that keep every sum exact."""
    some = np.flatnonzero(np.diff(first))
    if not some.size:
        return 0
    best = float(np.maximum.reduceat(net, first[some]).sum())
    everything = float(net.sum())
    if best == 0:
        return 0
    return min(JOB_BITS - frexp(best)[1], TOTAL_BITS - frexp(everything)[1])

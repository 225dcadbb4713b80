"""``AssignmentProblem``: a round's choices in whole numbers, in an order of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment.demands import Demands
from phalanx_core.assignment.table import Table, utilities

PRICE_MAX = 2.0**62  # above it every choice is too dear: values stay below

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
        The caller's number of each job here: uint32, shape (jobs,). It follows from the
        jobs' rows or keys, never from the order they came in.
    repeats
        Whether two jobs' rows may be equal.
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
        (jobs,). What these want is no part of ``capacity``.
    """

    jobs: int
    configurations: int
    order: WordArray
    repeats: bool
    first: WordArray
    kind: WordArray
    value: IntArray
    demand: WordArray
    capacity: IntArray
    shift: int
    alone: ChosenArray
    fixed: ChosenArray

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
        worth = utilities(utility)
        wants = Demands.of(demand, worth.shape, capacity, tenant, quota)
        return cls.of_table(Table(worth, wants, idle, fixed, held), keys)

    @classmethod
    def of_table(cls, table: Table, keys: ArrayLike | None) -> Self:
        """Put a round that was checked into whole numbers."""
        order, repeats = table.order(keys)
        return cls(
            jobs=table.jobs,
            configurations=table.configurations,
            order=order,
            repeats=repeats,
            demand=table.wants.rows,
            capacity=table.capacity,
            fixed=np.full(table.jobs, -1, np.int32)
            if table.fixed is None
            else table.fixed,
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

    def fitting(self, chosen: ChosenArray) -> ChosenArray:
        """What fits of it: the most valuable, until a row is full."""
        kept = chosen.copy()
        jobs, taken = np.flatnonzero(chosen >= 0), self.taken(chosen)
        best = np.argsort(-self.value[taken], kind="stable")
        used = self.wants(taken[best]).cumsum(axis=0)
        kept[jobs[best[(used > self.capacity).any(axis=1)]]] = -1
        return kept

    def wants(self, choices: Any) -> IntArray:
        """Demands of some choices: int64, shape (choices, rows)."""
        found: IntArray = self.demand[self.kind[choices]].astype(np.int64)
        return found

    def configurations_of(self, choices: Any) -> WordArray:
        """As the caller counts them."""
        found: WordArray = self.kind[choices] % np.uint32(max(1, self.configurations))
        return found

    def scaled(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Prices of a caller in the unit of the values."""
        with np.errstate(over="ignore"):
            return np.minimum(np.ldexp(prices, self.shift), PRICE_MAX)

    def unscaled(self, prices: IntArray) -> NDArray[np.float64]:
        """Prices in the unit of the utilities, none infinite: they start the next round."""
        with np.errstate(over="ignore"):
            found = np.ldexp(prices.astype(np.float64), -self.shift)
        return np.minimum(found, np.finfo(np.float64).max)

    def told(self, chosen: ChosenArray) -> NDArray[np.int32]:
        """The answer as the caller counts: a configuration a job, -1 = left out."""
        found = self.fixed.copy()
        found[self.order[chosen >= 0]] = self.configurations_of(self.taken(chosen))
        return found

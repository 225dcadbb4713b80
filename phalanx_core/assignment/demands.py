"""What configurations want of each capacity, and what tenants may have of it."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import array_of, integers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import lib

DEMAND_MAX = 2**31 - 1
ROWS_MAX: int = lib.PHX_ROWS_MAX


class Demands(NamedTuple):
    """Demands of the configurations, by groups of jobs that have the same.

    Attributes
    ----------
    rows
        uint32, shape (groups * configurations, rows).
    groups
        How many there are.
    group
        Of each job, None where there is one: uint32, shape (jobs,).
    capacity
        Of each row: int64.
    """

    rows: NDArray[np.uint32]
    groups: int
    group: NDArray[np.uint32] | None
    capacity: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        given: ArrayLike,
        shape: tuple[int, ...],
        capacity: ArrayLike,
        tenant: ArrayLike | None = None,
        quota: ArrayLike | None = None,
    ) -> Self:
        """Check demands beside the shape of utilities.

        Parameters
        ----------
        given, capacity, tenant, quota
            As for :func:`~phalanx_core.assignment.solve`.

        Raises
        ------
        InvalidRequest
            If they are no whole numbers from 0, or of another shape.
        """
        # A copy, since the answer keeps it.
        limits = np.array(whole_numbers("capacity", capacity), ndmin=1)
        if limits.ndim > 1:
            raise InvalidRequest(f"capacity of shape {limits.shape}: one number a row")
        wanted = whole_numbers("demand", given)
        rows = limits.size
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
        alike = wanted.ndim == 2
        groups = 1 if alike else shape[0]
        group = None if alike else np.arange(groups, dtype=np.uint32)
        table = wanted.astype(np.uint32).reshape(groups * shape[1], rows)
        made = cls(table, groups, group, limits)
        if tenant is None and quota is None:
            return made
        return made.with_quotas(tenant, quota, shape[0])

    @property
    def configurations(self) -> int:
        """Of each group; 0 where there is none."""
        found: int = self.rows.shape[0] // max(1, self.groups)
        return found

    def with_quotas(
        self, tenant: ArrayLike | None, quota: ArrayLike | None, jobs: int
    ) -> Self:
        """With a row for each type that a tenant may have so much of.

        Raises
        ------
        InvalidRequest
            If one is given without the other, or a shape or value is wrong.
        """
        if tenant is None or quota is None:
            raise InvalidRequest("tenant and quota: both, or neither")
        limits = integers_of("quota", quota)
        if limits.dtype.kind not in "iuf":
            raise InvalidRequest(f"quota of dtype {limits.dtype}: whole numbers, or -1")
        if limits.ndim == 1 and self.capacity.size == 1:
            limits = limits[:, None]
        if limits.ndim != 2 or limits.shape[1] != self.capacity.size:
            raise InvalidRequest(
                f"quota of shape {limits.shape}: (tenants, {self.capacity.size})"
            )
        limited = limits != -1
        more, types = int(np.count_nonzero(limited)), self.capacity.size
        if types + more > ROWS_MAX:
            raise InvalidRequest(
                f"quota of {more} limits beside {types} types: at most {ROWS_MAX} rows "
                "together, of which -1 makes none"
            )
        limits = whole_numbers("quota", np.where(limited, limits, 0), ", or -1")
        mine = _tenants(tenant, limits.shape[0], jobs)
        configurations = self.configurations
        wide = self.rows.reshape(self.groups, configurations, self.capacity.size)
        if self.group is None:
            # One group for each tenant, whose rows differ.
            wide = np.broadcast_to(wide, (limits.shape[0], *wide.shape[1:]))
            group, owner = mine, np.arange(limits.shape[0])
        else:
            group, owner = self.group, mine.astype(np.int64)
        who, kind = np.nonzero(limited)
        added = wide[:, :, kind] * (owner[:, None] == who)[:, None, :]
        table = np.concatenate([wide, added], axis=2).astype(np.uint32)
        return type(self)(
            np.ascontiguousarray(
                table.reshape(table.shape[0] * configurations, table.shape[2])
            ),
            table.shape[0],
            group,
            np.concatenate([self.capacity, limits[who, kind]]),
        )

    def by_job(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Of each pair: shape (jobs, configurations, rows)."""
        rows = self.capacity.size
        table = self.rows.reshape(self.groups, shape[1], rows).astype(np.int64)
        full = (*shape, rows)
        of_jobs: Any = 0 if self.group is None else self.group
        return np.broadcast_to(table[of_jobs], full)

    def taken(self, fixed: NDArray[np.int32]) -> NDArray[np.int64]:
        """What jobs want of each row with these configurations, -1 = nothing."""
        some = np.flatnonzero(fixed >= 0)
        if not some.size:
            return np.zeros(self.capacity.size, np.int64)
        group: Any = 0 if self.group is None else self.group[some].astype(np.int64)
        kinds = group * self.configurations + fixed[some]
        wanted: NDArray[np.int64] = self.rows[kinds].sum(axis=0, dtype=np.int64)
        return wanted


def whole_numbers(name: str, given: ArrayLike, also: str = "") -> NDArray[np.int64]:
    """Integers from 0 to 2**31 - 1; floats that are whole count as such.

    Parameters
    ----------
    also
        What else the argument may be: the end of the rule.

    Raises
    ------
    InvalidRequest
        With the name, the value and the rule.
    """
    row = array_of(name, given)
    if row.size == 0:
        row = row.astype(np.int64)
    rule = f"from 0 to {DEMAND_MAX}{also}"
    if row.dtype.kind == "f":
        _refuse(name, row, row != np.rint(row), "a whole number")
        _refuse(name, row, (row < 0) | (row > DEMAND_MAX), rule)
        row = row.astype(np.int64)
    if row.dtype.kind not in "iu":
        raise InvalidRequest(f"{name} of dtype {row.dtype}: whole numbers")
    # One pass over all: a number below 0 or too large has an upper bit set.
    if np.bitwise_or.reduce(row, axis=None) >> 31:
        _refuse(name, row, (row < 0) | (row > DEMAND_MAX), rule)
    return row.astype(np.int64, copy=False)


def _refuse(name: str, row: NDArray[Any], bad: Any, rule: str) -> None:
    """Names the first that is bad, if one is."""
    if np.any(bad):
        at = np.argwhere(bad)[0].tolist()
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise InvalidRequest(f"{name}{where} is {row[tuple(at)]}: {rule}")


def _tenants(given: ArrayLike, tenants: int, jobs: int) -> NDArray[np.uint32]:
    mine = integers_of("tenant", given)
    if mine.ndim != 1 or mine.dtype.kind not in "iu" or mine.size != jobs:
        raise InvalidRequest(
            f"tenant of shape {mine.shape} and dtype {mine.dtype}: an integer a job"
        )
    bad = (mine < 0) | (mine >= tenants)
    if bad.any():
        job = int(np.argmax(bad))
        raise InvalidRequest(
            f"tenant[{job}] is {mine[job]}: a row of quota, 0 to {tenants - 1}"
        )
    return mine.astype(np.uint32)

"""Long tables, a row for each configuration of a job, as the arrays of a round."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from phalanx_core.cli.columns import texts
from phalanx_core.cli.tables import Table, shown
from phalanx_core.errors import InvalidRequest

# Jobs times the most configurations of one: a round is kept in arrays of this size.
ENTRIES_MAX = 1 << 27


class Choices(NamedTuple):
    """Which job and which of its configurations each row is about.

    Attributes
    ----------
    table
        The rows.
    jobs
        Names in order of first appearance.
    configurations
        Name in each row.
    job, place
        Of each row: number of the job, and of the row among those of the job.
    row
        The way back, -1 = no such row: shape (jobs, most configurations of one).
    """

    table: Table
    jobs: tuple[str, ...]
    configurations: list[str]
    job: NDArray[np.int64]
    place: NDArray[np.int64]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table) -> Self:
        """Read the columns job and configuration.

        Raises
        ------
        InvalidRequest
            If one is missing, holds what is no name, or a job has a configuration twice.

        Examples
        --------
        >>> table = Table("-", {"job": ["b", "a", "b"], "configuration": ["1", "1", "2"]})
        >>> Choices.of(table).jobs, Choices.of(table).place.tolist()
        (('b', 'a'), [0, 0, 1])
        """
        names, configurations = texts(table, "job"), texts(table, "configuration")
        seen: dict[str, dict[str, int]] = {}
        place = np.empty(table.rows, np.int64)
        for row, (name, one) in enumerate(zip(names, configurations, strict=True)):
            mine = seen.setdefault(name, {})
            if mine.setdefault(one, row) != row:
                rule = (
                    f"job {shown(name)} has {shown(one)} in row {mine[one] + 1} already"
                )
                raise table.wrong(row, "configuration", rule)
            place[row] = len(mine) - 1
        number = {name: at for at, name in enumerate(seen)}
        job = np.array([number[name] for name in names], np.int64)
        width = int(place.max(initial=-1)) + 1
        if len(seen) * width > ENTRIES_MAX:
            raise InvalidRequest(
                f"{table.path}: {len(seen)} jobs, one with {width} configurations: "
                f"their product must be at most {ENTRIES_MAX}"
            )
        row_of = np.full((len(seen), width), -1, np.int64)
        row_of[job, place] = np.arange(table.rows)
        return cls(table, tuple(seen), configurations, job, place, row_of)

    def spread(self, values: NDArray[Any], fill: float) -> NDArray[Any]:
        """Values of rows, as shape (jobs, configurations, ...); ``fill`` where there is no row."""
        shape = (*self.row.shape, *values.shape[1:])
        found = np.full(shape, fill, values.dtype)
        found[self.job, self.place] = values
        return found

    def per_job(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """One value a job, which all its rows repeat.

        Raises
        ------
        InvalidRequest
            If two rows of a job differ; names both values.
        """
        if not self.table.rows:
            return values
        first = self.row[self.job, 0]
        differs = values != values[first]
        if differs.any():
            row = int(np.argmax(differs))
            given = self.table.column(name)
            raise self.table.wrong(
                row,
                name,
                f"job {shown(self.jobs[self.job[row]])} has {shown(given[row])} here and "
                f"{shown(given[first[row]])} in row {first[row] + 1}; it must be one "
                "value a job",
            )
        found: NDArray[Any] = values[self.place == 0]
        return found

    def held(self, current: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The configuration that each job holds, -1 = none, by a flag on its row.

        Raises
        ------
        InvalidRequest
            If a job holds two.
        """
        found = np.full(len(self.jobs), -1, np.int64)
        for row in np.flatnonzero(current).tolist():
            job = self.job[row]
            if found[job] >= 0:
                before = self.row[job, found[job]] + 1
                raise self.table.wrong(
                    row,
                    "current",
                    f"job {shown(self.jobs[job])} holds row {before} already",
                )
            found[job] = self.place[row]
        return found

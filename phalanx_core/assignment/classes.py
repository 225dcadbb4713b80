"""Jobs that are alike: one row of whole numbers instead of many of yes and no."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phalanx_core.assignment.problem import (
    AssignmentProblem,
    ChosenArray,
    IntArray,
    mixed,
)


class Classes(NamedTuple):
    """Jobs whose choices have the same values and demands.

    Attributes
    ----------
    of
        Class of each job: int64, shape (jobs,).
    first
        Lowest job of each class: int64.
    size
        Jobs of each class: int64.
    """

    of: IntArray
    first: IntArray
    size: IntArray

    @classmethod
    def alike(cls, problem: AssignmentProblem) -> Classes:
        """The classes of a problem; O(choices * rows)."""
        jobs = problem.jobs
        counts = np.diff(problem.first)
        place = np.arange(problem.value.size) - np.repeat(problem.first[:-1], counts)
        words = mixed(problem.value.view(np.uint64) + mixed(place.astype(np.uint64)))
        for row in range(problem.capacity.size):
            words = mixed(words + problem.demand[:, row].astype(np.uint64))
        marks = counts.astype(np.uint64)
        some = np.flatnonzero(counts)
        if some.size:
            marks[some] += np.add.reduceat(words, problem.first[some])
        _, first, of = np.unique(marks, return_index=True, return_inverse=True)
        of = of.astype(np.int64)
        # A hash is not taken at its word: who differs from the first stands alone.
        twin = problem.first[first[of]]
        same = counts == counts[first[of]]
        rows = np.repeat(same, counts)
        other = np.repeat(twin, counts)[rows] + place[rows]
        differ = problem.value[rows] != problem.value[other]
        differ |= (problem.demand[rows] != problem.demand[other]).any(axis=1)
        owner = np.repeat(np.arange(jobs), counts)[rows]
        same[owner[differ]] = False
        alone = np.flatnonzero(~same)
        of[alone] = first.size + np.arange(alone.size)
        first = np.concatenate([first, alone]).astype(np.int64)
        return cls(of, first, np.bincount(of, minlength=first.size).astype(np.int64))

    def dealt(
        self, problem: AssignmentProblem, taken: IntArray, counts: IntArray
    ) -> ChosenArray:
        """Choices of first jobs, each for so many of their class, as choices of jobs.

        The lower of jobs that are alike get what is worth more.
        """
        chosen = np.full(problem.jobs, -1, np.int32)
        owner = np.searchsorted(problem.first, taken, side="right") - 1
        group = self.of[owner]
        order = np.lexsort((-problem.value[taken], group))
        places = np.repeat((taken - problem.first[owner])[order], counts[order])
        groups = np.repeat(group[order], counts[order])
        members = np.argsort(self.of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.size)])
        nth = np.arange(groups.size) - np.searchsorted(groups, groups, side="left")
        chosen[members[starts[groups] + nth]] = places
        return chosen

"""Jobs that are alike: one row of whole numbers instead of many of yes and no."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phalanx_core.assignment.core import Core
from phalanx_core.assignment.mixing import mixed
from phalanx_core.assignment.problem import ChosenArray, IntArray


class Classes(NamedTuple):
    """Jobs of a core whose options have the same values and demands.

    Attributes
    ----------
    of
        Class of each job of the core: int64, shape (jobs,).
    first
        Lowest job of each class: int64.
    size
        Jobs of each class: int64.
    """

    of: IntArray
    first: IntArray
    size: IntArray

    @classmethod
    def alike(cls, core: Core) -> Classes:
        """The classes of a core; O(options * rows)."""
        counts = np.diff(core.first).astype(np.int64)
        begins = core.first[:-1].astype(np.int64)
        columns = _columns(core)
        place = np.arange(core.place.size) - np.repeat(begins, counts)
        words = mixed(place.astype(np.uint64))
        for column in columns:
            words = mixed(words + column.astype(np.uint64))
        marks = counts.astype(np.uint64)
        if marks.size:
            marks += np.add.reduceat(words, begins)
        _, first, of = np.unique(marks, return_index=True, return_inverse=True)
        of = of.astype(np.int64)
        # A hash is not taken at its word: who differs from the first stands alone.
        same = counts == counts[first[of]]
        rows = np.repeat(same, counts)
        other = np.repeat(begins[first[of]], counts)[rows] + place[rows]
        differ = np.zeros(other.size, np.bool_)
        for column in columns:
            differ |= column[rows] != column[other]
        owner = np.repeat(np.arange(counts.size), counts)[rows]
        same[owner[differ]] = False
        alone = np.flatnonzero(~same)
        of[alone] = first.size + np.arange(alone.size)
        first = np.concatenate([first, alone]).astype(np.int64)
        return cls(of, first, np.bincount(of, minlength=first.size).astype(np.int64))

    def dealt(self, core: Core, taken: IntArray, counts: IntArray) -> ChosenArray:
        """Options of first jobs, each for so many of their class, as an answer of all.

        The lower of jobs that are alike get what is worth more. What is alike is the
        options in their order: the places behind them may be others.
        """
        chosen = core.base.copy()
        owner = np.searchsorted(core.first, taken, side="right") - 1
        group = self.of[owner]
        order = np.lexsort((core.loss[taken], group))
        begins = core.first[:-1].astype(np.int64)
        options = np.repeat((taken - begins[owner])[order], counts[order])
        groups = np.repeat(group[order], counts[order])
        members = np.argsort(self.of, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.size)])
        nth = np.arange(groups.size) - np.searchsorted(groups, groups, side="left")
        member = members[starts[groups] + nth]
        chosen[core.job[member]] = core.place[begins[member] + options]
        return chosen


def _columns(core: Core) -> list[IntArray]:
    """What makes options equal: worth, and what they want of each row."""
    round_ = core.round
    choice, _ = core.choices()
    some = choice >= 0
    worth = np.where(some, round_.value[choice], 0)
    kind = round_.kind[choice]
    return [
        worth,
        *(
            np.where(some, round_.demand[kind, row], 0).astype(np.int64)
            for row in range(round_.capacity.size)
        ),
    ]

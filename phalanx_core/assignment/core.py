"""``Core``: what prices leave open of a round, and the exact search of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phalanx_core import native
from phalanx_core.assignment.problem import ChosenArray, IntArray, WordArray
from phalanx_core.assignment.rounds import Losses, Round
from phalanx_core.native import ffi, lib

# Share of the options that must have gone for another look.
THINNER = 0.75
# Jobs from which it is asked whether most are alike.
ALIKE_JOBS = 64


class Found(NamedTuple):
    """What a search of a core found.

    Attributes
    ----------
    chosen
        The best answer that loses less than was asked; None where it met none.
    finished
        Whether there is none that loses less.
    steps
        States that were visited.
    """

    chosen: ChosenArray | None
    finished: bool
    steps: int


class Core:
    """Jobs with several options among those that lose at most so much.

    Parameters
    ----------
    round_
        All jobs.
    lost
        What their choices lose at some prices.
    width
        Options that lose more are left out: no answer that loses at most so much in all
        takes one of them.

    Attributes
    ----------
    round
        As given.
    job
        As the round counts them: uint32, shape (jobs,).
    first
        Where each job's options begin, and the end; the first of them loses nothing:
        uint32, shape (jobs + 1,).
    place
        Of each option among the job's choices, -1 = none: int32, shape (options,).
    loss
        int64, shape (options,).
    base
        What jobs have that lose nothing, and all that are not in the core: int32.
    left
        Of the capacities beside all of ``base``, below 0 where it wants too much.
    """

    def __init__(self, round_: Round, lost: Losses, width: int) -> None:
        room = int(lost.counts[min(63, width.bit_length())]) + round_.jobs
        job, first = np.empty((2, round_.jobs + 1), np.uint32)
        place, loss = np.empty(room, np.int32), np.empty(room, np.int64)
        self.base = np.empty(round_.jobs, np.int32)
        self.left = np.empty(round_.capacity.size, np.int64)
        self.round = round_
        self._kept = (
            ffi.from_buffer("uint32_t[]", job),
            ffi.from_buffer("uint32_t[]", first),
            ffi.from_buffer("int32_t[]", place),
            ffi.from_buffer("int64_t[]", loss),
            ffi.from_buffer("int32_t[]", self.base),
            ffi.from_buffer("int64_t[]", self.left),
        )
        self._pointer = ffi.new("phx_core *", (0, *self._kept))
        status = lib.phx_core_pick(
            round_.pointer,
            ffi.from_buffer("int64_t[]", lost.loss),
            ffi.from_buffer("int64_t[]", lost.none),
            width,
            room,
            self._pointer,
        )
        native.check(status, "solve: core")
        self._arrays = job, first, place, loss
        self._measure()

    def _measure(self) -> None:
        job, first, place, loss = self._arrays
        jobs = int(self._pointer.jobs)
        options = int(first[jobs])
        self.job: WordArray = job[:jobs]
        self.first: WordArray = first[: jobs + 1]
        self.place: ChosenArray = place[:options]
        self.loss: IntArray = loss[:options]

    def thinned(self, prices: IntArray, below: int) -> int:
        """Drop options by which every answer loses at least ``below``.

        Returns
        -------
        What every answer of the core loses at least.
        """
        floor = ffi.new("int64_t *")
        while True:
            before = self.place.size
            size = lib.phx_thin_bytes(self.round.pointer, self._pointer)
            status = lib.phx_core_thin(
                self.round.pointer,
                self._pointer,
                ffi.from_buffer("int64_t[]", prices),
                below,
                ffi.from_buffer(np.empty(size, np.uint8)),
                floor,
            )
            if status == native.GAVE_UP:
                return 0
            native.check(status, "solve: thin")
            self._measure()
            # Floors of fewer options are higher.
            if floor[0] >= below or self.place.size >= before * THINNER:
                return int(floor[0])

    def searched(self, prices: IntArray, below: int, states: int) -> Found:
        """The best answer that loses less than ``below``, unsold capacity included.

        Parameters
        ----------
        prices
            Those that the losses are of.
        states
            Most of them that are kept: memory of about 50 bytes each.
        """
        size = lib.phx_core_bytes(self.round.pointer, self._pointer, states)
        total, steps = ffi.new("int64_t *", below), ffi.new("uint64_t *")
        chosen = np.empty(self.round.jobs, np.int32)
        status = lib.phx_core_search(
            self.round.pointer,
            self._pointer,
            ffi.from_buffer("int64_t[]", prices),
            states,
            ffi.from_buffer(np.empty(size, np.uint8)),
            total,
            ffi.from_buffer("int32_t[]", chosen),
            steps,
        )
        if status not in (native.MISFIT, native.GAVE_UP):
            native.check(status, "solve: search")
        better = int(total[0]) < below
        finished = status != native.GAVE_UP
        return Found(chosen if better else None, finished, int(steps[0]))

    def is_alike(self) -> bool:
        """Whether it has so few kinds of jobs that counting them suits it better."""
        jobs = self.job.size
        if jobs < ALIKE_JOBS:
            return False
        sums = np.add.reduceat(self.loss, self.first[:-1].astype(np.int64))
        return 2 * int(np.unique(sums).size) <= jobs

    def choices(self) -> tuple[IntArray, IntArray]:
        """Choice of the round behind each option, -1 = none, and its job's place here."""
        owner = np.repeat(np.arange(self.job.size), np.diff(self.first))
        begins = self.round.first[self.job[owner]].astype(np.int64)
        return np.where(self.place < 0, -1, begins + self.place), owner

    def room(self) -> IntArray:
        """Of each row, what jobs outside leave, below 0 where they want too much."""
        base = self.base[self.job]
        begins = self.round.first[self.job].astype(np.int64)
        held = self.round.kind[(begins + base)[base >= 0]]
        wanted: IntArray = self.round.demand[held].sum(axis=0, dtype=np.int64)
        return self.left + wanted

    def apart(self) -> Round:
        """Its jobs as a round of their own, of what the others leave."""
        choice, owner = self.choices()
        some = choice >= 0
        round_ = self.round
        counts = np.bincount(owner[some], minlength=self.job.size)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
        return Round(
            first,
            round_.kind[choice[some]],
            round_.value[choice[some]],
            round_.demand,
            self.room(),
        )

    def parted(self, chosen: ChosenArray) -> ChosenArray:
        """An answer of the whole round as one of :meth:`apart`.

        Jobs whose choice is no option here have their base.
        """
        owner = np.repeat(np.arange(self.job.size), np.diff(self.first))
        begins = self.first[:-1].astype(np.int64)
        hits = np.flatnonzero(self.place == chosen[self.job[owner]])
        option = begins.copy()
        option[owner[hits]] = hits
        # Place among the options that are choices, of which none is not one.
        rank = np.cumsum(self.place >= 0) - 1
        start = rank[begins] + (self.place[begins] < 0)
        found = np.where(self.place[option] < 0, -1, rank[option] - start)
        return found.astype(np.int32)

    def joined(self, chosen: ChosenArray, apart: Round) -> ChosenArray:
        """An answer of :meth:`apart` as one of the whole round."""
        whole = self.base.copy()
        places = self.place[self.place >= 0]
        some = chosen >= 0
        whole[self.job] = -1
        whole[self.job[some]] = places[apart.first[:-1][some] + chosen[some]]
        return whole

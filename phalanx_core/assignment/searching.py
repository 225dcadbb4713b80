"""One round's search: the best answer so far, the lowest bound, what may still be spent."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from phalanx_core.assignment.answers import greedy, mended
from phalanx_core.assignment.core import Core
from phalanx_core.assignment.demands import ROWS_MAX
from phalanx_core.assignment.evolving import Hybrid
from phalanx_core.assignment.problem import AssignmentProblem, ChosenArray, IntArray
from phalanx_core.assignment.proving import Proof, prove
from phalanx_core.assignment.rounds import (
    CHOICES_MAX,
    PASSES_MAX,
    Losses,
    Priced,
    Round,
)
from phalanx_core.errors import InvalidRequest, InvariantBroken

# Steps of the dense recurrence, choices times capacity, up to which it is the fastest: less
# than a millisecond.
DENSE_STEPS = 1 << 19
# Jobs times capacity for which there is memory: half a GB.
DENSE_ENTRIES_MAX = 1 << 28
# Options beyond the bases that a first core has.
FIRST_OPTIONS = 24
# States of the exact search, beyond which CP-SAT takes over.
STATES = 1 << 17
# So many of them take about a second.
STATES_PER_SECOND = 200_000
# Choices that are asked for prices once there is no time left: a tenth of a millisecond.
CHOICES_LATE = 50_000


class Sized(Protocol):
    """What has a size: a problem, or the table that it is made of."""

    @property
    def jobs(self) -> int:
        """How many."""

    @property
    def configurations(self) -> int:
        """Of each job."""

    @property
    def capacity(self) -> IntArray:
        """Of each row."""


def is_dense(round_: Sized) -> bool:
    """Whether the dense recurrence suits a round."""
    if round_.capacity.size != 1 or round_.configurations > CHOICES_MAX:
        return False
    entries = round_.jobs * (int(round_.capacity[0]) + 1)
    # With no jobs there would be a row of the capacity for nothing.
    return entries > 0 and entries * round_.configurations <= DENSE_STEPS


def check_size(round_: Sized, solver: str) -> None:
    """Refuse a round that a solver cannot take, however empty it is."""
    rows = round_.capacity.size
    if rows > ROWS_MAX:
        raise InvalidRequest(
            f"capacity of {rows} rows, quotas included: at most {ROWS_MAX}"
        )
    if solver != "dp":
        return
    if rows != 1:
        raise InvalidRequest(
            f"solver 'dp': for one capacity alone, and there are {rows}"
        )
    if round_.configurations > CHOICES_MAX:
        raise InvalidRequest(
            f"solver 'dp': at most {CHOICES_MAX} configurations, and there are "
            f"{round_.configurations}"
        )
    if round_.jobs * (int(round_.capacity[0]) + 1) > DENSE_ENTRIES_MAX:
        raise InvalidRequest(
            f"solver 'dp': {round_.jobs} jobs times a capacity of {round_.capacity[0]}: "
            f"at most {DENSE_ENTRIES_MAX}"
        )


@dataclass(slots=True)
class Search:
    """Solves a problem by one of the solvers.

    Attributes
    ----------
    chosen, total, used
        The best answer so far: always one that fits.
    bound
        No answer is worth more.
    prices
        Of the capacities, None before they are found.
    """

    problem: AssignmentProblem
    effort: int | None
    gap: float
    seed: int
    time_limit_s: float | None
    started: float
    start: NDArray[np.float64] | None
    hybrid: Hybrid
    round: Round = field(init=False)
    chosen: ChosenArray = field(init=False)
    total: int = field(init=False, default=0)
    used: IntArray = field(init=False)
    bound: int = field(init=False, default=0)
    prices: IntArray | None = field(init=False, default=None)
    ceiling: int = field(init=False, default=0)
    spent: int = 0
    solver: str = "trivial"
    limited: bool = False
    certified: bool = False

    def run(self, solver: str) -> None:
        """Search until the answer is as good as was asked for, or a limit is met."""
        problem = self.problem
        self.round = Round.of(problem)
        self.chosen = problem.alone
        self.total, self.used = self.round.sums(problem.alone)
        self.bound = self.total
        if (self.used <= problem.capacity).all():
            return
        self.chosen = np.full(problem.jobs, -1, np.int32)
        self.total, self.used = 0, np.zeros_like(problem.capacity)
        if solver == "dp" or (solver == "auto" and is_dense(problem)):
            self.solver = "dp"
            self._offer(self.round.dense())
            self.bound = self.total
            return
        self.solver = "core"
        self._by_prices(solver)
        if self.total < self.bound:
            for by_share in (True, False):
                self._offer(greedy(problem, self.round, by_share=by_share))
        if problem.repeats:
            self.chosen = self.round.dealt(self.chosen)

    def certify(self) -> None:
        """Have CP-SAT look for anything better among what the prices leave open."""
        if self.problem.capacity.size == 0 or self.bound > self.total:
            return
        if self.prices is None:
            self._price(1e-10)
        assert self.prices is not None
        if self._is_over():
            return
        lost = self.round.losses(self.prices)
        core = Core(self.round, lost, self.ceiling - self.total)
        proof = self._asked(core, self.total + 1)
        self.certified = proof.finished
        if proof.chosen is not None:
            raise InvariantBroken(
                "A1",
                f"solve: {self.solver} says {self.total} is the most, CP-SAT does not",
            )

    def closed(self) -> bool:
        """Whether the answer is as good as was asked for."""
        return self.bound - self.total <= self.gap * self.bound

    def _by_prices(self, solver: str) -> None:
        priced = self._price(self.gap / 8 if self.gap else 1e-10)
        if self._is_late() and self.problem.value.size > CHOICES_LATE:
            fitting = self.problem.fitting(priced.chosen)
            self._offer(greedy(self.problem, self.round, fitting))
            return
        lost = self._mend(priced)
        if self.gap and not self.closed():
            lost = self._mend(self._price(1e-10))
        if solver == "cp-sat":
            self._whole_model()
        elif solver == "nsga2":
            self._evolve()
        elif not self.closed():
            self._core(lost)

    def _price(self, tolerance: float) -> Priced:
        """Prices of a bound that is the lowest but for so much of it."""
        most = PASSES_MAX
        if self._is_late():
            most = min(most, 2 + CHOICES_LATE // max(1, self.problem.value.size))
        known = self.start if self.prices is None else self.prices.astype(np.float64)
        priced = self.round.priced(known, tolerance, most)
        self.prices, self.ceiling = priced.prices, priced.bound
        self.bound = min(self.bound, priced.bound)
        self.spent += priced.passes
        return priced

    def _mend(self, priced: Priced) -> Losses:
        """Answers of what jobs take at some prices; what is lost at these."""
        lost = self.round.losses(priced.prices)
        for answer in mended(self.round, priced, lost):
            self._offer(answer)
        return lost

    def _offer(self, chosen: ChosenArray) -> None:
        """Take an answer if it is better and fits."""
        total, used = self.round.sums(chosen)
        if total > self.total and (used <= self.problem.capacity).all():
            self.chosen, self.total, self.used = chosen, total, used

    def _left(self) -> tuple[int | None, float | None]:
        """Steps and seconds that may still be spent."""
        seconds = None
        if self.time_limit_s is not None:
            seconds = self.time_limit_s - (time.perf_counter() - self.started)
        return None if self.effort is None else self.effort - self.spent, seconds

    def _is_late(self) -> bool:
        """Whether the time is over."""
        _, seconds = self._left()
        late = seconds is not None and seconds <= 0
        self.limited |= late
        return late

    def _is_over(self) -> bool:
        """Whether nothing may be spent any more."""
        steps, _ = self._left()
        return self._is_late() or (steps is not None and steps <= 0)

    def _whole_model(self) -> None:
        self.solver = "cp-sat"
        if self._is_over():
            return
        nothing = np.zeros_like(self.problem.capacity)
        core = Core(self.round, self.round.losses(nothing), (1 << 62) - 1)
        self._prove(core, self.total)

    def _evolve(self) -> None:
        found = self.hybrid.evolved(self.problem, self.chosen, self.seed, *self._left())
        self.solver = "nsga2"
        self.spent += found.evaluations
        self.limited |= found.limited
        # Of answers worth as much it has the one of fewer changes.
        self.chosen = found.chosen
        self.total, self.used = self.round.sums(found.chosen)

    def _core(self, lost: Losses) -> None:
        """Widens what counts until it holds a proven best answer.

        An answer worth ``ceiling - loss`` takes no option that loses more, so that much
        of the problem decides whether there is one.
        """
        assert self.prices is not None
        first = 1 << int(np.searchsorted(lost.counts, lost.counts[0] + FIRST_OPTIONS))
        floor, step = 0, first
        searching = True
        while not self.closed() and not self._is_over():
            below = min(floor + step, self.ceiling - self.total)
            core = Core(self.round, lost, below - 1)
            # Who are alike are counted, however many options they have.
            alike = core.is_alike()
            least = 0 if alike else core.thinned(self.prices, below)
            if least >= below:
                floor, step = below, 2 * step
            elif least > floor + step // 4:
                floor, step = least, max(first, step // 4)
            elif searching and not alike:
                searching = self._search(core, below)
                if searching:
                    floor, step = below, 2 * step
            elif self._prove(core, self.ceiling - below + 1):
                floor, step = below, 16 * step if alike else step + step // 2
            else:
                return
            self._lower(self.ceiling - floor)

    def _search(self, core: Core, below: int) -> bool:
        """Look through a core's states, as many as may be; whether that was all."""
        assert self.prices is not None
        steps, seconds = self._left()
        states = STATES if steps is None else min(STATES, steps)
        hurried = seconds is not None and seconds * STATES_PER_SECOND < states
        if seconds is not None and hurried:
            states = int(seconds * STATES_PER_SECOND)
        found = core.searched(self.prices, below, max(states, 1))
        self.spent += found.steps
        if found.chosen is not None:
            self._offer(found.chosen)
        self.limited |= hurried and not found.finished
        return found.finished

    def _lower(self, proven: int) -> None:
        """No answer is worth more than so much, or than the best there is."""
        self.bound = min(self.bound, max(proven, self.total))

    def _asked(self, core: Core, least: int) -> Proof:
        """CP-SAT's best answer of a core worth at least so much, within what is left."""
        steps, seconds = self._left()
        proof = prove(core, least, steps=steps, seconds=seconds, seed=self.seed)
        self.spent += proof.steps
        return proof

    def _prove(self, core: Core, least: int) -> bool:
        """Ask for an answer worth at least so much; whether asking on makes sense."""
        proof = self._asked(core, least)
        if proof.chosen is not None:
            total, used = self.round.sums(proof.chosen)
            if total < least or (used > self.problem.capacity).any():
                raise InvariantBroken(
                    "A3", f"solve: CP-SAT's answer is worth {total}, wants {used}"
                )
            self._offer(proof.chosen)
        if not proof.finished:
            self.limited |= self.time_limit_s is not None
            return False
        # Nothing among these is worth so much, or the best of these is the best of all.
        self._lower(least - 1 if proof.chosen is None else self.total)
        return True

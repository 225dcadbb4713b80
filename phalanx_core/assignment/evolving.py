"""``evolve``: assignments that trade worth against changes (Hybrid OAK's NSGA-II)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.assignment.evolution import Choices, Pool, breed
from phalanx_core.assignment.mixing import mixed
from phalanx_core.assignment.problem import AssignmentProblem, ChosenArray, IntArray
from phalanx_core.checks import array_of, is_whole
from phalanx_core.errors import InvalidRequest

POPULATION_MAX = 2**16
GENERATIONS_MAX = 2**31 - 1
STREAM_MAX = 2**64 - 1
# What a job holds where that is none of its choices: any place is a change.
ELSEWHERE = -2


class Evolved(NamedTuple):
    """What was found, from the most worth to the fewest changes.

    Attributes
    ----------
    chosen
        The most worth, and of that the fewest changes: the first of the front.
    front
        Who is second to nobody in both: int32, shape (individuals, jobs).
    totals, changes
        Worth of each in whole numbers, and how many jobs it changes: int64.
    evaluations
        Individuals that were made; seeds are not counted.
    limited
        Whether the wall clock ended it.
    """

    chosen: ChosenArray
    front: ChosenArray
    totals: IntArray
    changes: IntArray
    evaluations: int
    limited: bool


def evolve(
    problem: AssignmentProblem,
    seeds: Sequence[ChosenArray],
    held: ChosenArray,
    *,
    population: int = 20,
    generations: int = 20,
    seed: int = 0,
    effort: int | None = None,
    seconds: float | None = None,
) -> Evolved:
    """Breed assignments from some that are known, by NSGA-II.

    Parameters
    ----------
    problem
        Of at least one capacity.
    seeds
        Assignments that fit, in the order and by the places of the problem, which
        :func:`held_places` makes of a caller's: -1 = none. Without any, the one that takes
        nothing. The answer is worth no less than the best.
    held
        Place of what each job holds, as :func:`held_places` tells it; -1 = none, -2 =
        something that is no choice.
    population
        Individuals kept by each generation, at least 1; no fewer than there are seeds.
    generations
        After the first, of seeds and of random ones.
    seed
        Of the random stream: 0 to 2 ** 64 - 1.
    effort
        Most individuals made; None: population times generations, and the first.
    seconds
        Most wall time, looked at after each generation.

    Raises
    ------
    InvalidRequest
        If an argument is not as said above.

    Notes
    -----
    Maximises worth and minimises changes. A child takes each job from one of two parents,
    each the better of two drawn; one job in ten is put back to what it holds, one of all
    anywhere. Jobs on rows that are short leave, those that are worth least for their
    share first, then jobs take the best that still fits, those that are worth most first:
    in half of the children only jobs that change anyway. Whole numbers throughout and a
    stream of its own, so the same on every run and platform.
    O(individuals * (choices * rows + log individuals)).

    Examples
    --------
    Two jobs that hold one GPU each; more worth takes both to be changed.

    >>> problem = AssignmentProblem.of([[3.0, 5.0], [3.0, 6.0]], [1, 2], 3, keys=[0, 1])
    >>> found = evolve(problem, [np.int32([0, 0])], np.int32([0, 0]))
    >>> np.ldexp(found.totals.astype(float), -problem.shift).tolist()
    [9.0, 6.0]
    >>> found.front.tolist(), found.changes.tolist()
    ([[0, 1], [0, 0]], [1, 0])
    """
    check_sizes(population, generations)
    if not (is_whole(seed) and seed <= STREAM_MAX):
        raise InvalidRequest(f"seed {seed!r}: a whole number from 0 to {STREAM_MAX}")
    if effort is not None and not is_whole(effort):
        raise InvalidRequest(f"effort {effort!r}: a whole number from 0, or None")
    known = [_seed(problem, number, one) for number, one in enumerate(seeds)]
    known = known or [np.full(problem.jobs, -1, np.int32)]
    mine = _places("held", held, problem, ELSEWHERE)
    size = max(population, len(known))
    births = size - len(known) + size * generations
    if effort is not None:
        births = min(births, effort)
    pool = _pool(problem, known, mine, 2 * size)
    order = np.arange(2 * size)
    state = mixed(np.array([seed], np.uint64)) | np.uint64(1)
    choices = Choices(
        problem.first.astype(np.int64),
        problem.value,
        problem.wants(slice(None)),
        problem.capacity,
        mine,
        _queue(problem),
    )
    alive, left = len(known), births
    deadline = None if seconds is None else time.perf_counter() + seconds
    while left > 0 and (deadline is None or time.perf_counter() < deadline):
        step = left if deadline is None else min(left, size - alive % size)
        alive = breed(tuple(choices), tuple(pool), order, state, alive, step)
        left -= step
    return _front(pool, order[:alive], births - left, left > 0)


def check_sizes(population: Any, generations: Any) -> None:
    """Refuse what is no number of individuals, or of generations."""
    if not (is_whole(population) and 1 <= population <= POPULATION_MAX):
        raise InvalidRequest(
            f"population {population!r}: a whole number from 1 to {POPULATION_MAX}"
        )
    if not (is_whole(generations) and generations <= GENERATIONS_MAX):
        raise InvalidRequest(
            f"generations {generations!r}: a whole number from 0 to {GENERATIONS_MAX}"
        )


class Hybrid(NamedTuple):
    """How ``solve`` evolves: sizes, and the configuration that each job holds, if told.

    Attributes
    ----------
    population, generations
        As for :func:`evolve`.
    current
        As for :func:`~phalanx_core.assignment.solve`, checked.
    """

    population: int
    generations: int
    current: ArrayLike | None

    @classmethod
    def of(cls, population: int, generations: int, current: ArrayLike | None) -> Self:
        """Checked, but for ``current``."""
        check_sizes(population, generations)
        return cls(population, generations, current)

    def evolved(
        self,
        problem: AssignmentProblem,
        chosen: ChosenArray,
        seed: int,
        effort: int | None,
        seconds: float | None,
    ) -> Evolved:
        """From an answer, and what is held as far as it fits."""
        held = held_places(problem, self.current)
        return evolve(
            problem,
            [chosen, problem.fitting(np.maximum(held, -1))],
            held,
            population=self.population,
            generations=self.generations,
            seed=seed,
            effort=None if effort is None else max(effort, 0),
            seconds=seconds,
        )


def held_places(problem: AssignmentProblem, current: ArrayLike | None) -> ChosenArray:
    """Place of the configuration that each job holds among its choices.

    Jobs are in the order of the problem, not the caller's: ``problem.told`` turns back.

    Parameters
    ----------
    current
        Configuration of each job as the caller counts, -1 = none; None: nobody holds any.

    Returns
    -------
    int32, shape (jobs,): -1 = none, -2 = one that is no choice. Jobs that are fixed have
    no choices and cannot change: -1.

    Examples
    --------
    >>> problem = AssignmentProblem.of([[3.0, 5.0], [np.nan, 6.0]], [1, 2], 3, keys=[0, 1])
    >>> held_places(problem, [1, 1]).tolist(), held_places(problem, [-1, 0]).tolist()
    ([1, 0], [-1, -2])
    """
    if current is None:
        return np.full(problem.jobs, -1, np.int32)
    mine = np.asarray(current, np.int64)[problem.order]
    part = problem.fixed[problem.order] < 0
    held = np.where(part & (mine >= 0), ELSEWHERE, -1).astype(np.int32)
    owner = np.repeat(np.arange(problem.jobs), np.diff(problem.first))
    hits = np.flatnonzero(problem.configurations_of(slice(None)) == mine[owner])
    held[owner[hits]] = hits - problem.first[owner[hits]]
    return held


def _queue(problem: AssignmentProblem) -> IntArray:
    """Jobs from the most worth for its share of the capacity to the least."""
    parts = (problem.wants(slice(None)) << 20) // np.maximum(problem.capacity, 1)
    worth = problem.value // (parts.sum(axis=1) + 1)
    best = np.zeros(problem.jobs, np.int64)
    some = np.flatnonzero(np.diff(problem.first))
    if some.size:
        best[some] = np.maximum.reduceat(worth, problem.first[some])
    return np.argsort(-best, kind="stable")


def _places(
    name: str, given: ArrayLike, problem: AssignmentProblem, least: int
) -> ChosenArray:
    places = array_of(name, given)
    if places.shape != (problem.jobs,) or places.dtype.kind not in "iu":
        raise InvalidRequest(
            f"{name} of shape {places.shape} and dtype {places.dtype}: an integer a job"
        )
    counts = np.diff(problem.first)
    bad = (places < least) | (places >= counts)
    if bad.any():
        job = int(np.argmax(bad))
        raise InvalidRequest(
            f"{name}[{job}] is {places[job]}: a place, 0 to {counts[job] - 1}, or "
            + " or ".join(map(str, range(-1, least - 1, -1)))
        )
    return np.ascontiguousarray(places, np.int32)


def _seed(problem: AssignmentProblem, number: int, given: ArrayLike) -> ChosenArray:
    name = f"seeds[{number}]"
    chosen = _places(name, given, problem, -1)
    used = problem.used(chosen)
    if (used > problem.capacity).any():
        row = int(np.argmax(used > problem.capacity))
        raise InvalidRequest(
            f"{name} wants {used[row]} of row {row}, which has {problem.capacity[row]}"
        )
    return chosen


def _pool(
    problem: AssignmentProblem, known: list[ChosenArray], held: ChosenArray, slots: int
) -> Pool:
    """Room for the individuals, with those that are known in the first slots."""
    genes = np.zeros((slots, problem.jobs), np.int32)
    total, changes = np.zeros((2, slots), np.int64)
    for slot, chosen in enumerate(known):
        genes[slot] = chosen
        total[slot] = problem.total(chosen)
        changes[slot] = np.count_nonzero(chosen != held)
    return Pool(genes, total, changes)


def _front(pool: Pool, slots: IntArray, evaluations: int, limited: bool) -> Evolved:
    """Who has fewer changes than everybody with as much worth."""
    order = slots[np.lexsort((slots, pool.changes[slots], -pool.total[slots]))]
    changes = pool.changes[order]
    fewest = np.minimum.accumulate(changes)
    first = np.concatenate([[True], changes[1:] < fewest[:-1]])
    front = order[first]
    genes = pool.genes[front]
    return Evolved(
        chosen=genes[0],
        front=genes,
        totals=pool.total[front],
        changes=pool.changes[front],
        evaluations=evaluations,
        limited=limited,
    )

"""The compiled loops of ``evolve``: NSGA-II on places of choices, in whole numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.assignment.problem import ChosenArray, IntArray
from phalanx_core.kernel import kernel

State = NDArray[np.uint64]
# Of 2 ** 31 draws: how many give a job back what it holds (Pollux), one in ten.
RESET = 214748364
DRAWS = 1 << 31
# Crowding counts 2 ** 20 as a whole range; the ends of a front come before all between.
RANGE = 1 << 20
BEST, LAST = 8 * RANGE, 4 * RANGE


class Choices(NamedTuple):
    """A problem, the place of what each job holds, and jobs by how soon they are served."""

    first: IntArray
    value: IntArray
    demand: IntArray
    capacity: IntArray
    held: ChosenArray
    queue: IntArray


class Pool(NamedTuple):
    """Individuals by slot: a place a job, total worth, and how many jobs change."""

    genes: ChosenArray
    total: IntArray
    changes: IntArray


def below(state: State, bound: int) -> int:
    """The next draw from 0 to bound - 1, by xorshift."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return int(np.int64(word >> np.uint64(33)) * bound >> 31)


def drawn(choices: Choices, genes: ChosenArray, state: State) -> None:
    """Any choice or none for each job."""
    for job in range(genes.size):
        count = choices.first[job + 1] - choices.first[job]
        genes[job] = below(state, count + 1) - 1


def crossed(
    choices: Choices,
    mother: ChosenArray,
    father: ChosenArray,
    genes: ChosenArray,
    state: State,
) -> None:
    """Each job from either parent; one in ten as it is held, one in all anything."""
    jobs = genes.size
    other = RESET + DRAWS // max(jobs, 2)
    for job in range(jobs):
        draw = below(state, DRAWS)
        if draw < RESET and choices.held[job] >= -1:
            genes[job] = choices.held[job]
        elif RESET <= draw < other:
            count = choices.first[job + 1] - choices.first[job]
            genes[job] = below(state, count + 1) - 1
        elif draw & 1:
            genes[job] = mother[job]
        else:
            genes[job] = father[job]


def take(choices: Choices, choice: int, times: int, free: IntArray) -> bool:
    """Take a choice from what is free, or give it back; whether every row still has."""
    fits = True
    for row in range(free.size):
        free[row] -= times * choices.demand[choice, row]
        fits &= free[row] >= 0
    return fits


def mend(choices: Choices, genes: ChosenArray, free: IntArray) -> None:
    """Jobs on a row that is short leave, from the end of the queue, until all fits."""
    fits = True
    for row in range(free.size):
        free[row] = choices.capacity[row]
    for job in range(genes.size):
        if genes[job] >= 0:
            fits = take(choices, choices.first[job] + genes[job], 1, free)
    for job in choices.queue[::-1]:
        if fits:
            break
        if genes[job] < 0:
            continue
        choice = choices.first[job] + genes[job]
        guilty = False
        for row in range(free.size):
            guilty |= free[row] < 0 and choices.demand[choice, row] > 0
        if guilty:
            fits = take(choices, choice, -1, free)
            genes[job] = -1


def fill(choices: Choices, genes: ChosenArray, keep: bool, free: IntArray) -> None:
    """Jobs take the best that fits, in turn; with ``keep`` those that change anyway."""
    for job in choices.queue:
        if keep and genes[job] == choices.held[job]:
            continue
        first, best, worth = choices.first[job], genes[job], 0
        if best >= 0:
            worth = choices.value[first + best]
            take(choices, first + best, -1, free)
        for choice in range(first, choices.first[job + 1]):
            if choices.value[choice] > worth:
                fits = True
                for row in range(free.size):
                    fits &= choices.demand[choice, row] <= free[row]
                if fits:
                    best, worth = choice - first, choices.value[choice]
        genes[job] = best
        if best >= 0:
            take(choices, first + best, 1, free)


def rate(choices: Choices, pool: Pool, slot: int) -> None:
    """Both objectives of an individual."""
    total, changes = 0, 0
    for job in range(choices.held.size):
        place = pool.genes[slot, job]
        changes += place != choices.held[job]
        if place >= 0:
            total += choices.value[choices.first[job] + place]
    pool.total[slot] = total
    pool.changes[slot] = changes


def sort(order: IntArray, major: IntArray, minor: IntArray) -> None:
    """Slots by two keys and their number (Shell's sort)."""
    gap = 1
    while gap < order.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, order.size):
            slot = order[at]
            hole = at
            while hole >= gap:
                other = order[hole - gap]
                if major[other] < major[slot]:
                    break
                if major[other] == major[slot]:
                    if minor[other] < minor[slot]:
                        break
                    if minor[other] == minor[slot] and other < slot:
                        break
                order[hole] = other
                hole -= gap
            order[hole] = slot
        gap //= 3


def layer(order: IntArray, pool: Pool, front: IntArray, links: IntArray) -> None:
    """Front of each slot, and its neighbours there; slots come by total, then changes.

    The first front whose last member has more changes is the one: those before it
    dominate. Who equals another in both objectives stands a front behind it.
    """
    fronts = 0
    for slot in order:
        low, high = 0, fronts
        while low < high:
            middle = (low + high) // 2
            if pool.changes[links[2, middle]] > pool.changes[slot]:
                high = middle
            else:
                low = middle + 1
        links[0, slot], links[1, slot] = -1, -1
        if low == fronts:
            fronts += 1
        else:
            links[0, slot] = links[2, low]
            links[1, links[2, low]] = slot
        links[2, low] = slot
        front[slot] = low


def rank(order: IntArray, pool: Pool, keys: IntArray) -> None:
    """Slots from the best front to the worst, in each the loneliest first."""
    if order.size == 0:
        return
    for slot in order:
        keys[0, slot] = -pool.total[slot]
    sort(order, keys[0], pool.changes)
    span = max(pool.total[order[0]] - pool.total[order[-1]], 1)
    most, least = pool.changes[order[0]], pool.changes[order[0]]
    for slot in order:
        most, least = max(most, pool.changes[slot]), min(least, pool.changes[slot])
    layer(order, pool, keys[0], keys[2:])
    for slot in order:
        before, after = keys[2, slot], keys[3, slot]
        if before < 0:
            keys[1, slot] = -BEST
        elif after < 0:
            keys[1, slot] = -LAST
        else:
            near = (pool.total[before] - pool.total[after]) / span
            near += (pool.changes[before] - pool.changes[after]) / max(most - least, 1)
            keys[1, slot] = -np.int64(near * RANGE)
    sort(order, keys[0], keys[1])


PARTS = (below, drawn, crossed, take, mend, fill, rate, sort, layer, rank)


@kernel(
    "int64(Tuple((int64[::1], int64[::1], int64[:, ::1], int64[::1], int32[::1],"
    "int64[::1])),"
    "Tuple((int32[:, ::1], int64[::1], int64[::1])),"
    "int64[::1], uint64[::1], int64, int64)",
    parts=PARTS,
)
def breed(
    given: tuple[Any, ...],
    kept: tuple[Any, ...],
    order: IntArray,
    state: State,
    alive: int,
    births: int,
) -> int:
    """Make so many individuals, a generation at a time; how many are alive then.

    Parameters
    ----------
    given, kept
        Fields of :class:`Choices` and :class:`Pool`.
    order
        Every slot; those of the ``alive`` first have an individual. A generation ranks
        these and keeps ``slots // 2``, in whose places the next ones come.
    state
        Of the random stream, not 0.
    """
    choices, pool = Choices(*given), Pool(*kept)
    size = order.size // 2
    keys = np.zeros((5, order.size), np.int64)
    free = np.zeros(choices.capacity.size, np.int64)
    while births > 0:
        rank(order[:alive], pool, keys)
        alive = min(alive, size)
        fresh = alive < size
        batch = min(births, size - alive if fresh else size)
        for slot in order[alive : alive + batch]:
            genes = pool.genes[slot]
            if fresh:
                drawn(choices, genes, state)
            else:
                # Of two, the one that ranks higher, twice: binary tournaments.
                mother = min(below(state, size), below(state, size))
                father = min(below(state, size), below(state, size))
                crossed(
                    choices,
                    pool.genes[order[mother]],
                    pool.genes[order[father]],
                    genes,
                    state,
                )
            mend(choices, genes, free)
            fill(choices, genes, below(state, 2) == 0, free)
            rate(choices, pool, slot)
        alive += batch
        births -= batch
    return alive

"""Answers that fit, quickly: from what prices say, and greedily."""

from __future__ import annotations

import numpy as np

from phalanx_core.assignment.core import Core
from phalanx_core.assignment.problem import AssignmentProblem, ChosenArray
from phalanx_core.assignment.rounds import Losses, Priced, Round

# Options beyond the bases among which an answer is sought first.
FIRST_OPTIONS = 2000
# Changes that make one of what is nearly one: the bases, or what jobs take by turns.
CHANGES_NEAR = 100
CHANGES_MAX = 1000
# Bits by which the loss that counts grows where they were too few.
WIDER_BITS = 3
LOSS_BITS = 62


def mended(round_: Round, priced: Priced, lost: Losses) -> list[ChosenArray]:
    """Answers of what jobs take at some prices, changed where that wants too much.

    Parameters
    ----------
    lost
        At these prices.

    Notes
    -----
    Only options that lose little take part; of more and more until an answer is found.
    Among all there always is one.
    """
    bits = int(np.searchsorted(lost.counts, lost.counts[0] + FIRST_OPTIONS))
    found: list[ChosenArray] = []
    while not found:
        bits = min(bits, LOSS_BITS)
        core = Core(round_, lost, (1 << bits) - 1)
        found = _mended(core, priced, bits == LOSS_BITS)
        bits += WIDER_BITS
    return found


def _mended(core: Core, priced: Priced, everything: bool) -> list[ChosenArray]:
    apart = core.apart()
    starts = [(priced.shared, CHANGES_MAX)]
    if not core.is_alike():  # who are alike all have the same base
        starts.insert(0, (core.base, CHANGES_NEAR))
    found = []
    for start, near in starts:
        most = None if everything else near
        answer = apart.mended(priced.prices, core.parted(start), most)
        if answer is not None:
            found.append(core.joined(answer, apart))
    return found


def greedy(
    problem: AssignmentProblem,
    round_: Round,
    start: ChosenArray | None = None,
    *,
    by_share: bool = True,
) -> ChosenArray:
    """Jobs one after the other take the best that fits, those worth most first.

    Parameters
    ----------
    start
        What some have already; it fits.
    by_share
        Whether worth is that for the share of the capacities that a job wants.
    """
    some = np.flatnonzero(problem.alone >= 0)
    choice = problem.first[:-1][some].astype(np.int64) + problem.alone[some]
    worth = np.zeros(problem.jobs)
    worth[some] = problem.value[choice]
    if by_share:
        shares = problem.wants(choice) / np.maximum(problem.capacity, 1)
        worth[some] /= np.maximum(shares.sum(axis=1), 1e-12)
    if start is None:
        start = np.full(problem.jobs, -1, np.int32)
    return round_.filled(start, np.argsort(-worth, kind="stable"))

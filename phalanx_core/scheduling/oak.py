"""``oak``: one round of the OAK scheduler, from job counters to an assignment."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.assignment import Assignment, solve
from phalanx_core.checks import is_number, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import score

# OAK, section IV-C.
IDLE = 1.1
# Overdue jobs that come one before the other: each costs a bit of the values.
LONGEST = 8
# Floor of the restart factor and most seconds of waiting: the paper has neither. With the
# floor a fresh job passes the threshold of 1.1 after four minutes at most.
GUARDS = {"paper": (0.0, inf), "guarded": (0.01, 6 * 3600.0)}


class OakRound(NamedTuple):
    """What a round decided, and on what.

    Attributes
    ----------
    utility
        Of each configuration of each job: float64, shape (jobs, configurations).
    assignment
        The answer; its objective and bound count utilities as they were ``solved``.
    overdue
        Jobs that were put before all others, for they waited too long: bool.
    solved
        The utilities with what overdue jobs are put before others by: what to give to
        ``certificate`` and ``explain``.
    """

    utility: NDArray[np.float64]
    assignment: Assignment
    overdue: NDArray[np.bool_]
    solved: NDArray[np.float64]


def oak(
    goodput: ArrayLike,
    demand: ArrayLike,
    capacity: ArrayLike,
    *,
    progress_s: ArrayLike,
    checkpoint_s: ArrayLike,
    restart_s: ArrayLike,
    waiting_s: ArrayLike,
    idle: float = IDLE,
    fairness: float = 0.5,
    age_rate_per_s: float = 0.01,
    age_cap: float = 100.0,
    mode: str = "paper",
    restart_floor: float | None = None,
    waiting_bound_s: float | None = None,
    current: ArrayLike | None = None,
    changed_only: bool = False,
    **options: Any,
) -> OakRound:
    """Score the round and solve it, with the paper's defaults.

    Parameters
    ----------
    goodput, progress_s, checkpoint_s, restart_s, waiting_s
        As for :func:`~phalanx_core.scoring.score`.
    demand, capacity
        As for :func:`~phalanx_core.assignment.solve`.
    idle
        What a job that is left out adds to the objective. The paper's 1.1 is a reward,
        so an admission threshold: a fresh job with goodput, restart factor and age key 1
        is refused on an empty cluster until it has waited 9.54 s, and one whose restart
        factor is 0 for ever. A number below 0 is a penalty for idling, Sia's sign for a
        power above 0: everybody who can run does, as far as the capacity goes.
    mode
        "paper", or "guarded": with both guards against starvation that follow.
    restart_floor
        No restart factor below this. None: 0.01 in the guarded mode, 0 in the paper's.
    waiting_bound_s
        Who waited longer and, by ``current``, holds nothing is worth more than all others,
        and passes any threshold; of these, the eight that waited longest come one before
        the other. ``waiting_s`` of a job that ran before should then count from when it
        last did, or it comes first for ever. None: six hours in the guarded mode, no
        bound in the paper's.
    current
        Configuration that each job holds, -1 = none: for ``changed_only`` and the
        options of ``solve`` that are about it.
    changed_only
        Whether the restart factor is that of a change alone, as in Sia. The paper does
        not say; False applies it to all configurations.
    **options
        Of :func:`~phalanx_core.assignment.solve`: ``solver``, ``keys``, ``gap`` and so on.
        ``solver="nsga2"`` is Hybrid OAK, 20 individuals in 20 generations.

    Raises
    ------
    InvalidRequest
        As ``score`` and ``solve`` do.

    Notes
    -----
    The OAK paper, sections III-B and IV-C. Hybrid OAK is a mode of two objectives, worth
    and few changes: bred from the answer of the prices, never worse than it, and no better
    an optimum of the same utility than other solvers'.

    Examples
    --------
    The paper's three jobs of four GPUs each. It prints that J1 and J3 are admitted; that
    takes two slots, and with three J2 passes the threshold as well.

    >>> jobs = dict(goodput=[[2.0], [2.2], [1.4]], demand=[4], progress_s=[0, 500, 0],
    ...             checkpoint_s=[0, 250, 0], restart_s=[30, 250, 30],
    ...             waiting_s=[5.827, 5.827, 400])
    >>> [oak(**jobs, capacity=gpus).assignment.choice.tolist() for gpus in (4, 8, 12)]
    [[-1, -1, 0], [0, -1, 0], [0, 0, 0]]

    A job that failed before it ever made progress: the paper's mode never takes it.

    >>> lost = dict(goodput=[[2.0]], demand=[4], progress_s=[0], checkpoint_s=[600],
    ...             restart_s=[30], waiting_s=[900])
    >>> [oak(**lost, capacity=8, mode=mode).assignment.choice.tolist()
    ...  for mode in ("paper", "guarded")]
    [[-1], [0]]

    Hybrid: where jobs are worth the same, those that hold GPUs keep them.

    >>> none = [0, 0, 0]
    >>> alike = dict(goodput=[[2.0]] * 3, demand=[4], progress_s=none, waiting_s=none,
    ...              checkpoint_s=none, restart_s=[30, 30, 30], current=[-1, 0, 0])
    >>> oak(**alike, capacity=8, solver="nsga2").assignment.choice.tolist()
    [-1, 0, 0]
    """
    if changed_only and current is None:
        raise InvalidRequest("changed_only: current says what each job holds")
    if mode not in GUARDS:
        raise InvalidRequest(f"mode {mode!r}: one of {', '.join(GUARDS)}")
    floor, bound = GUARDS[mode]
    scored = score(
        numbers_of("goodput", goodput, "numbers, NaN where a job cannot run so"),
        progress_s,
        checkpoint_s,
        restart_s,
        waiting_s,
        fairness=fairness,
        age_rate_per_s=age_rate_per_s,
        age_cap=age_cap,
        restart_floor=floor if restart_floor is None else restart_floor,
        current=current if changed_only else None,
    )
    worth = np.asarray(scored, np.float64)
    if waiting_bound_s is not None:
        bound = waiting_bound_s
    waiting = np.asarray(waiting_s, np.float64)
    overdue = _overdue(waiting, bound, current)
    solved = _boosted(worth, overdue, waiting, idle)
    answer = solve(solved, demand, capacity, idle=idle, current=current, **options)
    return OakRound(worth, answer, overdue, solved)


def _overdue(
    waiting: NDArray[np.float64], bound: Any, current: ArrayLike | None
) -> NDArray[np.bool_]:
    if bound != inf and not (is_number(bound) and bound >= 0):
        raise InvalidRequest(f"waiting_bound_s {bound!r}: from 0, or None")
    late = np.asarray(waiting > bound)
    return late if current is None else late & (np.asarray(current) < 0)


def _boosted(
    worth: NDArray[np.float64],
    overdue: NDArray[np.bool_],
    waiting: NDArray[np.float64],
    idle: float,
) -> NDArray[np.float64]:
    """One overdue job that runs outweighs all that do not run for it.

    Of those that waited longest each outweighs all who waited less, overdue or not.
    """
    if not overdue.any():
        return worth
    best = np.fmax.reduce(worth, axis=1, initial=0.0)
    step = float(best.sum()) + abs(idle) * worth.shape[0] + 1.0
    late = np.flatnonzero(overdue)
    late = late[np.argsort(-waiting[late], kind="stable")]
    steps = np.full(late.size, step)
    first = min(LONGEST, late.size)
    steps[:first] = step * (late.size + 2) * 2.0 ** np.arange(first - 1, -1, -1)
    boosted = worth.copy()
    boosted[late] += steps[:, None]
    return boosted

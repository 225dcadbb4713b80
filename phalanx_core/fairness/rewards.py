"""Rewards: which of a tenant's jobs is served first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.candidates import Candidates

# A number a job, or a row of keys a job that are compared one after another; the
# highest is served first.
Reward: TypeAlias = Callable[[Candidates], ArrayLike]


def owed(candidates: Candidates) -> NDArray[np.float64]:
    """The paper's reward, -ρ: who had the least of its fair share first.

    Parameters
    ----------
    candidates
        The round's jobs.

    Returns
    -------
    float64, shape (jobs,), at most 0; -inf where the ratio is infinite.

    Notes
    -----
    ASTRAEA, algorithm 2. O(jobs).

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[0.5, 0.8], gpus=[8, 4])
    >>> owed(jobs).tolist()
    [-0.5, -0.8]
    """
    return -candidates.ratio


def urgent_first(candidates: Candidates) -> NDArray[np.float64]:
    """1 for a job that its user marked as urgent, 0 for others.

    Parameters
    ----------
    candidates
        The round's jobs.

    Returns
    -------
    float64, shape (jobs,).

    Notes
    -----
    ASTRAEA names the kind and gives no number, so it is a key before others and no
    weight among them: see :func:`in_order`. O(jobs).

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[0, 1], gpus=[1, 1], urgent=[False, True])
    >>> urgent_first(jobs).tolist()
    [0.0, 1.0]
    """
    return candidates.urgent.astype(np.float64)


def new_first(candidates: Candidates) -> NDArray[np.float64]:
    """1 for a job that never ran, 0 for others: most jobs are short.

    Parameters
    ----------
    candidates
        The round's jobs.

    Returns
    -------
    float64, shape (jobs,).

    Notes
    -----
    The reward of ASTRAEA's experiments, whose number it does not give. O(jobs).

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[1, 0], gpus=[1, 1],
    ...                   never_ran=[False, True])
    >>> new_first(jobs).tolist()
    [0.0, 1.0]
    """
    return candidates.never_ran.astype(np.float64)


def long_running_first(candidates: Candidates) -> NDArray[np.float64]:
    """How many leases a job had: the longest running first.

    Parameters
    ----------
    candidates
        The round's jobs.

    Returns
    -------
    float64, shape (jobs,), from 0.

    Notes
    -----
    ASTRAEA names the kind and gives no number. O(jobs).

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[0, 1], gpus=[1, 1], leases=[1, 7])
    >>> long_running_first(jobs).tolist()
    [1.0, 7.0]
    """
    return candidates.leases.astype(np.float64)


def in_order(*rewards: Reward) -> Reward:
    """One reward of several: each decides where all before it are equal.

    Parameters
    ----------
    rewards
        At least one; what stands first weighs most.

    Returns
    -------
    A reward with the keys of all, float64, shape (jobs, keys).

    Raises
    ------
    InvalidRequest
        If there is none; when called, if one of them is no number a job or has a NaN.

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[0.5, 0.8], gpus=[8, 4],
    ...                   urgent=[False, True])
    >>> in_order(urgent_first, owed)(jobs).tolist()
    [[0.0, -0.5], [1.0, -0.8]]
    """
    if not rewards:
        raise InvalidRequest("in_order: at least one reward")

    def keys(candidates: Candidates) -> NDArray[np.float64]:
        return np.hstack([reward_keys(reward, candidates) for reward in rewards])

    keys.__name__ = f"in_order({', '.join(map(_name, rewards))})"
    return keys


def reward_keys(reward: Reward, candidates: Candidates) -> NDArray[np.float64]:
    """What a reward says of each job, checked.

    Parameters
    ----------
    reward
        A function of the candidates.
    candidates
        The round's jobs.

    Returns
    -------
    float64, shape (jobs, keys): one key where the reward is a number a job.

    Raises
    ------
    InvalidRequest
        If it cannot be called, is not one row a job, or has a NaN; names reward and job.

    Examples
    --------
    >>> from phalanx_core.fairness.candidates import Candidates
    >>> jobs = Candidates(tenant=[0, 0], ratio=[0.5, 0.8], gpus=[8, 4])
    >>> reward_keys(owed, jobs).tolist()
    [[-0.5], [-0.8]]
    """
    name = f"reward {_name(reward)}"
    if not callable(reward):
        raise InvalidRequest(f"{name}: a function of the candidates")
    found = numbers_of(name, reward(candidates), "numbers")
    jobs = candidates.tenant.size
    if found.ndim not in (1, 2) or found.shape[0] != jobs:
        raise InvalidRequest(
            f"{name} of shape {found.shape}: a number or a row of keys for each of "
            f"{jobs} jobs"
        )
    found = found if found.ndim == 2 else found[:, None]
    unknown = np.isnan(found).any(axis=1)
    if unknown.any():
        raise InvalidRequest(
            f"{name} of job {int(np.argmax(unknown))} is nan: a number"
        )
    return found


def _name(reward: Reward) -> str:
    return str(getattr(reward, "__name__", repr(reward)))

"""Rewards: what each looks at, how they are put together, and what none may say."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.allocation import allocate_round
from phalanx_core.fairness.candidates import Candidates, TenantAccounts
from phalanx_core.fairness.rewards import (
    in_order,
    long_running_first,
    new_first,
    owed,
    reward_keys,
    urgent_first,
)
from tests.unit.fairness.slow_round import rounds

JOBS = Candidates(
    tenant=[0] * 5,
    ratio=[0.2, 0.1, inf, 0.1, 0.0],
    gpus=[1] * 5,
    never_ran=[False, False, True, False, True],
    urgent=[False, True, False, False, False],
    leases=[3, 1, 0, 9, 0],
)


def order(reward: Any) -> list[int]:
    """The jobs of one tenant as they are served."""
    tenant = TenantAccounts([0], [9], [8])
    return allocate_round(
        JOBS, tenant, 900, lambda job: 1, reward=reward
    ).granted.tolist()


@pytest.mark.parametrize(
    ("reward", "wanted"),
    [
        (owed, [4, 1, 3, 0, 2]),
        (urgent_first, [1, 0, 2, 3, 4]),
        (new_first, [2, 4, 0, 1, 3]),
        (long_running_first, [3, 0, 1, 2, 4]),
        (in_order(urgent_first, new_first, owed), [1, 4, 2, 3, 0]),
        (in_order(new_first, urgent_first), [2, 4, 1, 0, 3]),
        (in_order(owed, long_running_first), [4, 3, 1, 0, 2]),
        (in_order(in_order(urgent_first, new_first), owed), [1, 4, 2, 3, 0]),
    ],
)
def test_who_is_first(reward: Any, wanted: list[int]) -> None:
    """Highest first, what stands before weighs most, what is equal keeps its order."""
    assert order(reward) == wanted


def test_a_reward_of_ones_own() -> None:
    """Any function will do: of small jobs first, or with keys in a row a job."""
    assert order(lambda jobs: [0, 1, 2, 3, 4]) == [4, 3, 2, 1, 0]
    rows = [[0, 9], [1, 0], [1, 1], [0, 9], [0, 10]]
    assert order(lambda jobs: rows) == [2, 1, 4, 0, 3]
    assert order(lambda jobs: np.empty((5, 0))) == [0, 1, 2, 3, 4]


@given(rounds())
def test_keys_stand_in_order(drawn: Any) -> None:
    """A column for each reward, in the order given."""
    jobs = drawn[0]
    keys = reward_keys(
        in_order(urgent_first, new_first, long_running_first, owed), jobs
    )
    rows = (jobs.urgent, jobs.never_ran, jobs.leases, -jobs.ratio)
    assert keys.dtype == np.float64
    assert keys.tolist() == np.column_stack(rows).reshape(-1, 4).tolist()


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (lambda jobs: [0, 1, nan, 3, 4], r"reward <lambda> of job 2 is nan"),
        (lambda jobs: [[0, nan]] * 5, r"reward <lambda> of job 0 is nan"),
        (lambda jobs: [0, 1], r"reward <lambda> of shape \(2,\): .* each of 5 jobs"),
        (lambda jobs: 1.0, r"reward <lambda> of shape \(\)"),
        (lambda jobs: ["a"] * 5, "reward <lambda>: numbers"),
        (3, "reward 3: a function of the candidates"),
        (in_order(owed, lambda jobs: [nan] * 5), "reward <lambda> of job 0 is nan"),
    ],
)
def test_rewards_that_are_refused(reward: Any, said: str) -> None:
    """By name, and in a row of several the one that is wrong."""
    with pytest.raises(InvalidRequest, match=said):
        order(reward)


def test_a_row_of_none_is_refused() -> None:
    """At least one reward decides."""
    with pytest.raises(InvalidRequest, match="in_order: at least one reward"):
        in_order()


def test_a_row_has_a_name() -> None:
    """Errors can say which it was."""
    assert in_order(urgent_first, owed).__name__ == "in_order(urgent_first, owed)"

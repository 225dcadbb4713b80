"""What ``solve`` refuses: one InvalidRequest with argument, value and rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import solve
from phalanx_core.errors import InvalidRequest

NAN, INF, HUGE = np.nan, np.inf, 10**400
WORTH = [[1.0, 2.0], [1.0, NAN], [3.0, 4.0]]

REFUSED: list[tuple[dict[str, Any], str]] = [
    # Shapes that disagree.
    ({"utility": 1.0}, "utility of shape (): a row of configurations for each job"),
    ({"utility": [[1.0], [1.0, 2.0]]}, "utility: rows of different lengths"),
    ({"utility": [[[1.0]]]}, "utility of shape (1, 1, 1): a row of configurations"),
    ({"demand": 1}, "demand of shape (): (3, 2, 1) or (2, 1), or without its last"),
    ({"demand": [1]}, "demand of shape (1,): (3, 2, 1) or (2, 1), or without its"),
    ({"demand": [[1, 1]]}, "demand of shape (1, 2): (3, 2, 1) or (2, 1), or without"),
    ({"demand": [[1], [1, 2]]}, "demand: rows of different lengths"),
    ({"demand": [1, 2], "capacity": [1, 2]}, "demand of shape (2,): (3, 2, 2) or"),
    ({"capacity": []}, "demand of shape (2,): (3, 2, 0) or (2, 0)"),
    ({"capacity": [4, 4]}, "demand of shape (2,): (3, 2, 2) or (2, 2)"),
    ({"capacity": [[4]]}, "capacity of shape (1, 1): one number a row"),
    # Demands and capacities.
    ({"demand": [1, -1]}, "demand[1] is -1: from 0 to 2147483647"),
    ({"demand": [1, -1.0]}, "demand[1] is -1.0: from 0 to 2147483647"),
    ({"demand": np.array([1, -1], np.int8)}, "demand[1] is -1: from 0 to 2147483647"),
    ({"demand": [[[1]] * 2] * 2 + [[[1], [-7]]]}, "demand[2, 1, 0] is -7: from 0 to"),
    ({"demand": [1, 2**31]}, "demand[1] is 2147483648: from 0 to 2147483647"),
    ({"demand": [1, 2.0**31]}, "demand[1] is 2147483648.0: from 0 to 2147483647"),
    ({"demand": np.array([1, 2**63], np.uint64)}, "demand[1] is 9223372036854775808"),
    ({"demand": [1, 2.5]}, "demand[1] is 2.5: a whole number"),
    ({"demand": [1, NAN]}, "demand[1] is nan: a whole number"),
    ({"demand": [1, INF]}, "demand[1] is inf: from 0 to 2147483647"),
    ({"demand": [True, False]}, "demand of dtype bool: whole numbers"),
    ({"demand": ["1", "2"]}, "demand of dtype <U1: whole numbers"),
    ({"demand": [1, 2**70]}, "demand of dtype object: whole numbers"),
    ({"capacity": -1}, "capacity is -1: from 0 to 2147483647"),
    ({"capacity": [-1]}, "capacity[0] is -1: from 0 to 2147483647"),
    ({"capacity": 0.5}, "capacity is 0.5: a whole number"),
    ({"capacity": None}, "capacity of dtype object: whole numbers"),
    # Utilities.
    ({"utility": [[1.0, INF]] * 3}, "utility[0, 1] is inf: finite, or NaN"),
    ({"utility": [[1.0, NAN]] * 2 + [[-INF, 1]]}, "utility[2, 0] is -inf: finite, or"),
    ({"utility": [[HUGE, 1.0]] * 3}, "utility: numbers, NaN where a job cannot run so"),
    ({"utility": [[1j, 1.0]] * 3}, "utility: numbers, NaN where a job cannot run so"),
    ({"utility": [["a", "b"]] * 3}, "utility: numbers, NaN where a job cannot run so"),
    # Options.
    ({"idle": INF}, "idle inf: a finite number"),
    ({"idle": "a"}, "idle 'a': a finite number"),
    ({"idle": HUGE}, "idle 1000"),
    ({"solver": "simplex"}, "solver 'simplex': one of auto, dp, core, cp-sat, nsga2"),
    ({"solver": ["dp"]}, "solver ['dp']: one of auto, dp, core, cp-sat, nsga2"),
    ({"solver": np.array(["dp", "core"])}, "solver array(['dp', 'core']"),
    ({"effort": 1.0}, "effort 1.0: a whole number from 0, or None"),
    ({"effort": True}, "effort True: a whole number from 0, or None"),
    ({"time_limit_s": NAN}, "time_limit_s nan: from 0, or None"),
    ({"time_limit_s": INF}, "time_limit_s inf: from 0, or None"),
    ({"time_limit_s": HUGE}, "time_limit_s 1000"),
    ({"gap": -0.1}, "gap -0.1: in [0, 1)"),
    ({"gap": NAN}, "gap nan: in [0, 1)"),
    ({"gap": None}, "gap None: in [0, 1)"),
    ({"seed": 1.5}, "seed 1.5: a whole number from 0 to 2147483647"),
    ({"population": 0}, "population 0: a whole number from 1"),
    ({"generations": -1}, "generations -1: a whole number from 0"),
    ({"keys": [1, 2]}, "keys of shape (2,) and dtype int64: an integer a job"),
    ({"keys": [5, 2, 5]}, "keys[0] and keys[2] are 5: distinct integers"),
    ({"forbidden": [True] * 3}, "forbidden of shape (3,) and dtype bool: a bool for"),
    ({"forbidden": [[0, 1]] * 3}, "forbidden of shape (3, 2) and dtype int64: a bool"),
    ({"prices": [NAN]}, "prices [nan]: 1 numbers from 0 upward"),
    ({"prices": [[1.0]]}, "prices [[1.0]]: 1 numbers from 0 upward"),
    ({"prices": "a"}, "prices 'a': 1 numbers from 0 upward"),
    # What is held.
    ({"current": [0, 0, -2]}, "current[2] is -2: a configuration, 0 to 1, or -1"),
    ({"current": [0.0, 0.0, 0.0]}, "current of shape (3,) and dtype float64: an"),
    ({"fixed": [True] * 3}, "current None: keep_bonus and fixed are about it"),
    ({"current": [0, 0, 0], "fixed": [True]}, "fixed of shape (1,) and dtype bool: a"),
    ({"current": [0, 0, 0], "keep_bonus": HUGE}, "keep_bonus 1000"),
    ({"current": [0, 1, 0], "fixed": [True] * 3}, "fixed[1]: the job holds no"),
    (
        {"current": [1, 1, 1], "fixed": [True, False, True], "capacity": 3},
        "fixed: these jobs want 4 of row 0, which has 3",
    ),
    (
        {"utility": [[1.7e308]], "demand": [1], "current": [0], "keep_bonus": 1e308},
        "keep_bonus 1e+308: utility[0, 0] is 1.7e+308, and both together no finite",
    ),
    # Tenants.
    ({"tenant": [0, 0, 0]}, "tenant and quota: both, or neither"),
    ({"quota": [[1]]}, "tenant and quota: both, or neither"),
    ({"tenant": [0, 0], "quota": [1]}, "tenant of shape (2,) and dtype int64: an"),
    ({"tenant": [0.0] * 3, "quota": [1]}, "tenant of shape (3,) and dtype float64: an"),
    ({"tenant": [0, 1, 2], "quota": [1, 2]}, "tenant[2] is 2: a row of quota, 0 to 1"),
    ({"tenant": [0, -1, 0], "quota": [1]}, "tenant[1] is -1: a row of quota, 0 to 0"),
    ({"tenant": [0, 0, 0], "quota": 1}, "quota of shape (): (tenants, 1)"),
    ({"tenant": [0, 0, 0], "quota": [[1, 2]]}, "quota of shape (1, 2): (tenants, 1)"),
    ({"tenant": [0, 0, 0], "quota": [-2]}, "quota[0, 0] is -2: from 0 to 2147483647, "),
    ({"tenant": [0, 0, 0], "quota": [0.5]}, "quota[0, 0] is 0.5: a whole number"),
    ({"tenant": [0, 0, 0], "quota": ["a"]}, "quota of dtype <U1: whole numbers, or -1"),
    ({"tenant": [0, 0, 0], "quota": [None]}, "quota of dtype object: whole numbers"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED)
def test_what_is_refused_is_named(fields: dict[str, Any], message: str) -> None:
    """Whatever the solver; and arguments are as they were."""
    for solver in ("auto", "core"):
        given = {"utility": WORTH, "demand": [1, 2], "capacity": 4, "solver": solver}
        given |= fields
        before = {
            name: np.array(value, copy=True)
            for name, value in given.items()
            if isinstance(value, np.ndarray)
        }
        with pytest.raises(InvalidRequest) as caught:
            solve(**given)
        assert str(caught.value).startswith(message)
        assert all(np.array_equal(given[name], before[name]) for name in before)


@pytest.mark.parametrize("capacity", [[4, 4], [0, 0]])
def test_dense_is_refused_for_two_rows_however_empty_they_are(capacity: Any) -> None:
    """An operator hears of it on the first round, not on the first crowded one."""
    with pytest.raises(InvalidRequest, match="solver 'dp': for one capacity alone"):
        solve([[1.0]], [[1, 1]], capacity, solver="dp")


def test_more_configurations_than_the_dense_table_tells_apart() -> None:
    """Another solver takes them, and "dp" says why it does not."""
    worth = np.random.default_rng(0).random((2, 65_535))
    answer = solve(worth, np.ones(65_535, int), 1)
    assert (answer.solver, answer.objective) == ("core", worth.max())
    with pytest.raises(InvalidRequest, match="at most 65534 configurations, and"):
        solve(worth, np.ones(65_535, int), 1, solver="dp")
    assert solve(worth[:, 1:], np.ones(65_534, int), 1).solver == "dp"


def test_a_round_without_jobs_is_an_answer_with_every_option() -> None:
    """Lists of jobs that are empty, as a caller builds them; any capacity."""
    for demand in ([1, 1], np.empty((0, 2), int)):
        answer = solve(
            np.empty((0, 2)),
            demand,
            2**31 - 1,
            keys=[],
            current=[],
            fixed=[],
            tenant=[],
            quota=[[5], [-1]],
            forbidden=np.empty((0, 2), np.bool_),
        )
        assert (answer.choice.size, answer.objective, answer.bound) == (0, 0.0, 0.0)
        assert answer.capacity.tolist() == [2**31 - 1, 5]
    assert solve(np.empty((0, 2)), [1, 1], 2**31 - 1).status == "optimal"


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.float32])
def test_no_limit_is_told_by_every_kind_of_integer(dtype: Any) -> None:
    """-1 in a quota, however narrow its numbers."""
    quota = np.array([[-1], [1]], dtype)
    answer = solve([[1.0], [2.0], [3.0]], [1], 9, tenant=[0, 0, 1], quota=quota)
    assert (answer.choice.tolist(), answer.capacity.tolist()) == ([0, 0, 0], [9, 1])


@pytest.mark.parametrize("prices", [0.0, 1.0, 1e300, 1.7e308])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("limit", [{}, {"time_limit_s": 0}])
def test_prices_of_any_size_are_a_start(
    prices: float, scale: float, limit: dict[str, Any]
) -> None:
    """Those of a round in another unit as well."""
    worth = np.array([[1.0], [2.0], [3.0]]) * scale
    more = {"solver": "core", "prices": [prices, prices], **limit}
    answer = solve(worth, [[1, 1]], [1, 2**31 - 1], **more)
    assert answer.choice.tolist() == [-1, -1, 0]
    assert answer.bound >= answer.objective == 3 * scale


@pytest.mark.parametrize(("idle", "worth"), [(0.0, np.inf), (-1.7e308, 1.6e308)])
def test_utilities_whose_sum_is_no_double_are_solved(idle: float, worth: float) -> None:
    """Their objective may be infinite, and is proven all the same."""
    for solver in ("auto", "core"):
        answer = solve(
            [[1.7e308], [1.6e308], [1.5e308]], [1], 2, idle=idle, solver=solver
        )
        assert (answer.objective, answer.bound, answer.gap) == (worth, worth, 0.0)
        assert answer.choice.tolist() == [0, 0, -1]

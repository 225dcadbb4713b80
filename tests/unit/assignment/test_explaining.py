"""Why jobs are left out: one round for each reason, and random rounds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import LeftOut, LeftOutCode, explain, solve
from phalanx_core.errors import InvalidRequest

NAN = float("nan")
PRICED_OUT = ([[8.0], [5.0]], [4], 5, 1.0)
# Two jobs of 2 GPUs beat the one of 3 that makes most of each GPU.
INTEGRALITY = ([[3.3], [2.0], [2.0]], [[3], [2], [2]], 4, 0.0)


def reasons(round_: Any, **options: Any) -> tuple[LeftOut, ...]:
    """Solve a round of utility, demand, capacity and idle, and explain it."""
    return explain(solve(*round_[:3], idle=round_[3], **options), *round_)


def test_nothing_is_left_out_of_a_round_that_fits() -> None:
    """No reason where every job runs, and none in an empty round."""
    assert reasons(([[1.0], [2.0]], [1], 2, 0.0)) == ()
    assert reasons((np.empty((0, 0)), np.empty((0, 0)), 2, 0.0)) == ()


def test_no_configuration() -> None:
    """A job without a goodput anywhere."""
    round_ = ([[NAN, NAN], [1.0, 2.0]], [1, 2], 2, 0.0)
    (one,) = reasons(round_)
    assert one == LeftOut(0, LeftOutCode.INFEASIBLE, 0.0)
    assert str(one) == "job 0: it can run with no configuration"


@pytest.mark.parametrize("best", [0.9, 1.1])
def test_below_idle(best: float) -> None:
    """The threshold admits what is worth more than it, not what equals it."""
    round_ = ([[0.5, best], [3.0, 4.0]], [1, 2], 2, 1.1)
    (one,) = reasons(round_)
    assert one == LeftOut(0, LeftOutCode.BELOW_IDLE, 1.1, 1, best)
    assert str(one) == (
        "job 0: none is worth more than idle 1.1: the best, configuration 1, is worth "
        f"{best}"
    )


def test_more_than_there_is() -> None:
    """What would fit is not worth it, and the row that is furthest from enough is named."""
    round_ = ([[1.0, 3.0]], [[[1, 1], [5, 9]]], [4, 4], 2.0)
    (one,) = reasons(round_)
    assert one == LeftOut(
        0, LeftOutCode.TOO_LARGE, 2.0, 1, 3.0, row=1, wanted=9, left=4, capacity=4
    )
    assert str(one) == (
        "job 0: whatever is worth more than idle 2 wants more than there is: "
        "configuration 1 wants 9 of row 1, which has 4"
    )


@pytest.mark.parametrize("solver", ["dp", "core", "cp-sat"])
def test_priced_out(solver: str) -> None:
    """A quarter of the second job would fit: the price is what that quarter is worth."""
    (one,) = reasons(PRICED_OUT, solver=solver)
    assert replace(one, reduced_cost=0.0, price=1.0) == LeftOut(
        1, LeftOutCode.PRICED_OUT, 1.0, 0, 5.0, 0.0, 0, 4, 1, 5, 1.0
    )
    assert (one.reduced_cost, one.price) == (0.0, pytest.approx(1.0))
    assert one.lacking == 3
    assert str(one) == (
        "job 1: priced out: configuration 0 is worth 5 - 1 (idle) - 4 (its price) "
        "= 0; it wants 4 of row 0 at 1 each, and lacks 3: 1 of 5 are left"
    )


@pytest.mark.parametrize("solver", ["dp", "core", "cp-sat"])
def test_integrality(solver: str) -> None:
    """A job that is worth its price, and has no room: GPUs come in whole jobs."""
    (one,) = reasons(INTEGRALITY, solver=solver)
    assert (one.job, one.code, one.lacking) == (0, LeftOutCode.INTEGRALITY, 3)
    assert one.reduced_cost == pytest.approx(0.3)
    assert str(one) == (
        "job 0: worth its price, but no room: configuration 0 is worth 3.3 - 0 (idle) "
        "- 3 (its price) = 0.3; it wants 3 of row 0 at 1 each, and lacks 3: 0 of 4 are left"
    )


def test_overlooked() -> None:
    """An answer that is not the best leaves out what would fit."""
    round_ = ([[3.0], [2.0]], [1], 2)
    answer = solve(*round_)
    few = {"choice": np.array([0, -1], np.int32), "used": np.array([1])}
    worse = replace(answer, **few, objective=3.0)
    (one,) = explain(worse, *round_)
    assert one == LeftOut(1, LeftOutCode.OVERLOOKED, 0.0, 0, 2.0)
    assert str(one) == (
        "job 1: configuration 0, worth 2, fits in what is left: the answer is not the "
        "best, or only to within rounding"
    )


@pytest.mark.parametrize(
    ("prices", "row", "price"),
    [([1.0, 0.5], 0, 1.0), ([0.5, 3.0], 1, 3.0), ([0.0, 0.0], 0, 0.0)],
)
def test_the_row_in_the_way_is_the_one_that_costs_most(
    prices: list[float], row: int, price: float
) -> None:
    """Of two rows with too little left; where none costs, the one that lacks most."""
    round_ = ([[9.0], [2.0]], [[2, 1]], [2, 1])
    answer = replace(solve(*round_), prices=np.array(prices))
    (one,) = explain(answer, *round_)
    assert (one.job, one.row, one.price) == (1, row, price)
    assert one.reduced_cost == pytest.approx(2.0 - 2 * prices[0] - prices[1])


def test_reasons_are_json() -> None:
    """All fields, and what is lacking."""
    (one,) = reasons(INTEGRALITY)
    read = json.loads(json.dumps(one.to_dict()))
    assert read.pop("reduced_cost") == pytest.approx(0.3)
    assert read.pop("price") == pytest.approx(1.0)
    assert read == {
        "job": 0,
        "code": "integrality",
        "idle": 0.0,
        "configuration": 0,
        "utility": 3.3,
        "row": 0,
        "wanted": 3,
        "left": 0,
        "capacity": 4,
        "lacking": 3,
    }


def test_an_answer_of_another_round_is_refused() -> None:
    """Other jobs, or another capacity."""
    answer = solve(*PRICED_OUT[:3], idle=1.0)
    rule = r"answer for 2 jobs, capacity \[5\], objective 9: it is of another round"
    with pytest.raises(InvalidRequest, match=rule):
        explain(answer, [[1.0]], [4], 5)
    with pytest.raises(InvalidRequest, match=rule):
        explain(answer, *PRICED_OUT[:2], 6)
    with pytest.raises(InvalidRequest, match=rule):
        explain(answer, [[8.0], [9.0]], *PRICED_OUT[1:3], 1.5)
    with pytest.raises(InvalidRequest, match="utility of shape"):
        explain(answer, [1.0, 2.0], [4], 5)


def test_reasons_know_what_solve_was_told() -> None:
    """What is fixed, and a bonus for what is held."""
    round_: Any = ([[5.0], [4.0]], [1], 1)
    told: dict[str, Any] = {"current": [-1, 0], "fixed": [False, True]}
    (one,) = explain(solve(*round_, **told), *round_, **told)
    assert (one.job, one.left, one.capacity) == (0, 0, 1)
    kept: dict[str, Any] = {"current": [-1, 0], "keep_bonus": 2.0}
    (one,) = explain(solve(*round_, **kept), *round_, **kept)
    assert (one.job, one.code.value, one.utility) == (0, "priced_out", 5.0)


def test_reasons_hold_in_random_rounds(seed: int) -> None:
    """Each is worked out anew from the round, by its definition."""
    rng = np.random.default_rng(seed)
    met: dict[LeftOutCode, int] = {}
    for _ in range(300):
        rows = int(rng.integers(1, 3))
        worth = np.round(rng.random((8, 3)) * 5, 1)
        worth[rng.random(worth.shape) < 0.4] = NAN
        wanted = rng.integers(0, 6, (8, 3, rows))
        capacity = rng.integers(3, 9, rows)
        answer = solve(worth, wanted, capacity, idle=1.0)
        found = explain(answer, worth, wanted, capacity, 1.0)
        assert [one.job for one in found] == np.flatnonzero(answer.choice < 0).tolist()
        left = capacity - answer.used
        for one in found:
            met[one.code] = met.get(one.code, 0) + 1
            mine = worth[one.job]
            if one.code is LeftOutCode.INFEASIBLE:
                assert np.isnan(mine).all()
            elif one.code is LeftOutCode.BELOW_IDLE:
                assert one.utility == np.nanmax(mine) <= 1.0
            elif one.code is LeftOutCode.TOO_LARGE:
                over = (wanted[one.job] > capacity).any(axis=1)
                assert over[np.nan_to_num(mine) > 1.0].all()
                assert one.wanted > one.capacity
            else:
                assert one.code is not LeftOutCode.OVERLOOKED
                assert (one.reduced_cost > 0) == (one.code is LeftOutCode.INTEGRALITY)
                assert one.lacking == one.wanted - left[one.row] > 0
                assert one.utility == mine[one.configuration] > 1.0
    assert min(met.values()) >= 5
    assert len(met) == 5


def test_a_quota_can_be_in_the_way() -> None:
    """The tenant's row binds, not the type's."""
    worth, limits = np.array([[5.0], [4.0], [3.0]]), {"tenant": [0, 0, 1]}
    options: dict[str, Any] = {**limits, "quota": [[2], [-1]]}
    answer = solve(worth, [2], 6, **options)
    assert answer.choice.tolist() == [0, -1, 0]
    (one,) = explain(answer, worth, [2], 6, **options)
    assert (one.job, one.row, one.capacity, one.left, one.wanted) == (1, 1, 2, 0, 2)
    with pytest.raises(InvalidRequest, match="of another round"):
        explain(answer, worth, [2], 6)


def test_a_pair_that_is_forbidden_is_no_reason() -> None:
    """The job can run with none of what is left."""
    answer = solve([[5.0, 6.0]], [2, 9], 4, forbidden=[[True, False]])
    (one,) = explain(answer, [[5.0, 6.0]], [2, 9], 4, forbidden=[[True, False]])
    assert (one.code.value, one.configuration) == ("too_large", 1)

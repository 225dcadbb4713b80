"""Dues of whole traces: literals, fractions, hard numbers, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness import entitlements, kernels
from phalanx_core.testing import slow_entitlements
from tests.unit.fairness.histories import near

jobs_drawn = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(1, 9),
        st.one_of(st.integers(0, 12).map(float), st.floats(0, 12)),
        st.one_of(st.integers(0, 9).map(float), st.floats(0, 9)),
        st.sampled_from([1.0, 0.1, 0.3, 7.0, 1e-6, 1e6]),
    ),
    min_size=1,
    max_size=25,
)
quotas_drawn = st.lists(
    st.tuples(
        st.floats(0, 12), st.tuples(*[st.sampled_from([0.0, 1.0, 2.5, 40.0])] * 3)
    ),
    max_size=4,
)


@pytest.fixture(params=["sums", "tree"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Compiled sums of few thetas; or the tree, uncompiled, however few there are."""
    if request.param == "tree":
        monkeypatch.setattr("phalanx_core.fairness.kernels.FEW", 0)
        monkeypatch.setattr("phalanx_core.fairness.batch.sweep", kernels.sweep.plain)
    return str(request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs_drawn, quotas_drawn, st.sampled_from(["quota", "demand"]))
def test_it_is_the_twin_in_fractions(
    way: str, jobs: list[Any], changes: list[Any], entitlement: str
) -> None:
    """Relative error at most 1e-12 of the exact sum, whatever weights and quotas do."""
    tenant, demand, submit, lasts, weight = zip(*jobs, strict=True)
    end = [begin + span for begin, span in zip(submit, lasts, strict=True)]
    rows = [(0.0, (4.0, 0.5, 3.0)), *sorted(changes)]
    terms = {
        "weight": weight,
        "entitlement": entitlement,
        "since_s": [row[0] for row in rows],
    }
    given_ = (tenant, demand, submit, end, [row[1] for row in rows])
    found = entitlements(*given_, **terms)
    wanted = slow_entitlements(*given_, **terms)
    assert all(near(one, due) for one, due in zip(found, wanted, strict=True))


def test_one_of_three_leaves() -> None:
    """12 GPUs, 4 each for ten seconds, then 6 each; the first asks for 5 only."""
    found = entitlements([0, 0, 0], [5, 8, 9], [0, 0, 0], [20, 20, 10], [12.0])
    assert found.tolist() == [4 * 10 + 5 * 10, 4 * 10 + 6 * 10, 40]


def test_weights_share_and_demands_cap() -> None:
    """Of 8 GPUs a weight of 3 has six, and it asks for four; the rest is not dealt out."""
    found = entitlements([0, 0], [4, 8], [0, 0], [10, 10], [8.0], weight=[3.0, 1.0])
    assert found.tolist() == [40.0, 20.0]


def test_a_tenant_may_be_due_what_it_asks_for() -> None:
    """Demand 3 of a quota of 8: shares are of 3 GPUs (eq. 8), or of 8 (eq. 16)."""
    jobs = ([0, 0], [1, 2], [0, 0], [10, 10], [8.0])
    assert entitlements(*jobs).tolist() == [10.0, 20.0]
    assert entitlements(*jobs, entitlement="demand").tolist() == [10.0, 15.0]


def test_quotas_change() -> None:
    """Rows of quotas hold from their times on: 10 s of 4 GPUs, 5 of none, 5 of 2."""
    rows = [[4.0], [0.0], [2.0], [9.0]]
    found = entitlements([0], [8], [0], [20], rows, since_s=[0, 10, 15, 20])
    assert found.tolist() == [50.0]


def test_tenants_do_not_touch_each_other() -> None:
    """A crowd in one tenant takes nothing from a job of another."""
    tenant = [1] * 50 + [0]
    found = entitlements(tenant, [2] * 51, [0] * 51, [10] * 51, [2.0, 5.0])
    assert found[:50].tolist() == [1.0] * 50
    assert found[50] == 20.0


@pytest.mark.parametrize("widest", [50, 500])
def test_a_short_job_after_a_long_history(widest: int) -> None:
    """A microsecond at the end of 1e9 GPU-seconds keeps twelve digits, of few and many."""
    count = 2000
    submit = np.concatenate([np.arange(count) * 1000.0, [2e6]])
    end = np.concatenate([np.full(count, 2e6 + 1.0), [2e6 + 2.0**-20]])
    demand = np.concatenate([np.arange(count) % widest + 1, [512]])
    found = entitlements([0] * (count + 1), demand, submit, end, [512.0])
    assert found[-1] == pytest.approx(512 / 2001 * 2.0**-20, rel=1e-12)


def test_a_short_job_among_levels_that_come_and_go() -> None:
    """Quotas went up and down two thousand times; two microseconds about one change."""
    turn, moment = 2.0**21, 2.0**-20
    since = np.concatenate([np.arange(2001) * 1000.1, [turn]])
    quotas = np.where(np.arange(2002) % 2, 2000.0, 4.0)[:, None]
    found = entitlements(
        [0, 0, 0],
        [3, 500, 7],
        [0.0, 0.0, turn - moment],
        [3e6, 3e6, turn + moment],
        quotas,
        since_s=since,
    )
    assert found[2] == pytest.approx((4 / 3 + 7) * moment, rel=1e-12)


@pytest.mark.parametrize("size", range(12))
def test_a_rank_is_found_from_anywhere(size: int) -> None:
    """From every rank to that of every level: how many of rising numbers are at most it."""
    thetas = np.arange(size) * 2.0
    for at in range(size + 1):
        for level in range(-1, 2 * size + 2):
            wanted = sum(theta <= level for theta in thetas)
            assert kernels.ranked(thetas, at, float(level)) == wanted


def test_a_moment_of_plenty_in_a_long_drought() -> None:
    """Quota 0 but for a millisecond: seconds of the drought take no digits from it."""
    rows = [[0.0], [3.0], [0.0]]
    since = [0.0, 1e8, 1e8 + 2.0**-10]
    found = entitlements([0], [2], [0.1], [3e8], rows, since_s=since)
    assert found[0] == 2 * 2.0**-10


def test_who_is_due_nothing_is_due_0(way: str) -> None:
    """Not the rest of what others were due: quota 0 in the second job's time."""
    found = entitlements(
        [0, 0],
        [3, 4],
        [0.0, 3.0],
        [3.0, 7.0],
        [[4.0], [0.0], [4.0], [0.0]],
        since_s=[0.0, 1e-17, 1.9, 3.0],
    )
    assert found[0] == pytest.approx(3 * (3.0 - 1.9), rel=1e-14)
    assert found[1] == 0.0


def test_heavy_weights_leave_nothing_behind() -> None:
    """A weight of 1e6 that came and went does not weigh on one of 1e-6."""
    found = entitlements(
        [0, 0, 0],
        [4, 4, 4],
        [0, 1, 0],
        [10, 2, 10],
        [4.0],
        weight=[1e-6, 1e6, 1e-6],
    )
    assert found[0] == pytest.approx(9 * 2.0, rel=1e-12)


def test_order_does_not_matter(rng: np.random.Generator) -> None:
    """Jobs in any order, sorted by nothing, have the dues of the sorted trace."""
    count = 500
    columns = [
        rng.integers(0, 3, count),
        rng.integers(1, 9, count),
        np.sort(rng.uniform(0, 100, count)),
    ]
    columns.append(columns[2] + rng.exponential(10, count))
    weight = rng.uniform(0.5, 2, count)
    found = entitlements(*columns, [5.0, 9.0, 2.0], weight=weight)
    mixed = rng.permutation(count)
    again = entitlements(
        *[column[mixed] for column in columns], [5.0, 9.0, 2.0], weight=weight[mixed]
    )
    np.testing.assert_allclose(again, found[mixed], rtol=1e-14)


def test_a_longer_trace_is_the_twin(rng: np.random.Generator) -> None:
    """1,500 jobs with 1,500 different thetas, beside the twin in doubles."""
    count = 1500
    tenant = rng.integers(0, 2, count)
    demand = rng.integers(1, 65, count)
    submit = rng.uniform(0, 1e5, count)
    end = submit + rng.exponential(3000, count)
    weight = rng.uniform(0.1, 3, count)
    given_ = (tenant, demand, submit, end, [300.0, 40.0])
    found = entitlements(*given_, weight=weight, entitlement="demand")
    wanted = slow_entitlements(
        *given_, weight=weight, entitlement="demand", number=float
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("entitlement", ["quota", "demand"])
def test_many_thetas_in_fractions(rng: np.random.Generator, entitlement: str) -> None:
    """150 jobs of as many thetas, compiled, to 1e-12 of exact sums."""
    count = 150
    submit = rng.uniform(0, 1000, count)
    jobs = [
        rng.integers(0, 2, count).tolist(),
        rng.integers(1, 65, count).tolist(),
        submit.tolist(),
        (submit + rng.exponential(200, count)).tolist(),
        [400.0, 40.0],
    ]
    terms = {"weight": rng.uniform(0.1, 3, count).tolist(), "entitlement": entitlement}
    found, wanted = entitlements(*jobs, **terms), slow_entitlements(*jobs, **terms)
    assert all(near(one, due) for one, due in zip(found, wanted, strict=True))


def test_none_and_moments() -> None:
    """No job has no dues, and one that ends as it comes is due nothing."""
    assert entitlements([], [], [], [], [1.0]).shape == (0,)
    assert entitlements([0], [1], [5.0], [5.0], [1.0]).tolist() == [0.0]


def test_fractions_say_the_same() -> None:
    """A third of a GPU for three seconds is one, in the twin exactly."""
    jobs = ([0, 0, 0], [1, 1, 1], [0, 0, 0], [3, 3, 3], [1])
    assert slow_entitlements(*jobs) == [Fraction(1)] * 3
    assert entitlements(*jobs).tolist() == pytest.approx([1.0] * 3, rel=1e-15)


GOOD: dict[str, Any] = {
    "tenant": [0, 1],
    "demand": [1, 2],
    "submit_s": [0.0, 1.0],
    "end_s": [2.0, 3.0],
    "quotas": [1.0, 2.0],
}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "word": ({"entitlement": "fair"}, r"entitlement 'fair': 'quota' or 'demand'"),
    "float tenants": (
        {"tenant": [0.0, 1.0]},
        r"tenant of shape .* float64: an integer",
    ),
    "table of tenants": ({"tenant": [[0, 1]]}, r"tenant of shape \(1, 2\)"),
    "unknown tenant": ({"tenant": [0, 2]}, r"tenant\[1\] is 2: from 0 to 1"),
    "tenant below none": ({"tenant": [-1, 0]}, r"tenant\[0\] is -1"),
    "no GPU": ({"demand": [1, 0]}, r"demand\[1\] is 0.0: from 1"),
    "half a GPU": ({"demand": [1.5, 2]}, r"demand\[0\] is 1.5: a whole number"),
    "NaN demand": ({"demand": [1, np.nan]}, r"demand\[1\] is nan"),
    "one demand": ({"demand": [1]}, r"demand of shape \(1,\): \(2,\), one a job"),
    "words": ({"submit_s": ["a", "b"]}, r"submit_s: a number a job"),
    "NaN time": ({"submit_s": [np.nan, 0]}, r"submit_s\[0\] is nan"),
    "no end": ({"end_s": [2.0, np.inf]}, r"end_s\[1\] is inf"),
    "ends first": (
        {"end_s": [2.0, 0.5]},
        r"end_s\[1\] is 0.5: not before submit_s, 1.0",
    ),
    "no weight": ({"weight": [1.0, 0.0]}, r"weight\[1\] is 0.0: from 1e-06 to 1e"),
    "negative quota": ({"quotas": [1.0, -1.0]}, r"quotas\[1\] is -1.0"),
    "no quota": ({"quotas": []}, r"quotas of shape \(0,\)"),
    "rows without times": ({"quotas": [[1.0, 2.0]]}, r"quotas of shape \(1, 2\)"),
    "a row with times": ({"since_s": [0.0]}, r"quotas of shape \(2,\)"),
    "times too few": (
        {"quotas": [[1, 2], [3, 4]], "since_s": [0.0]},
        r"since_s of shape \(1,\): \(2,\), one a row of quotas",
    ),
    "times fall": (
        {"quotas": [[1, 2], [3, 4]], "since_s": [0.0, -1.0]},
        r"since_s\[1\] is -1.0: times rise",
    ),
    "quota after a job": (
        {"quotas": [[1, 2]], "since_s": [0.5]},
        r"since_s\[0\] is 0.5: not after a submission",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_input_is_named(name: str) -> None:
    """One error that says which argument, where, and what the rule is."""
    change, message = BAD[name]
    with pytest.raises(InvalidRequest, match=message):
        entitlements(**(GOOD | change))

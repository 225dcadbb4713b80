"""The renewal model beside integrals, plain simulations and its own inverses."""

from __future__ import annotations

from math import exp, expm1, floor, isnan
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import ettr, interval_for, mtbf_s, recovery_for

TIMES = st.floats(1.0, 1e7)
WIDE = st.floats(1e-300, 1e300)
SHARES = st.floats(0.0, 0.9)


def integrated(mtbf: float, recovery: float, interval: float, share: float) -> float:
    """The ratio by the integral of what a failure at each time leaves."""
    kept, at = 0.0, 0
    while exp(-at * interval / mtbf) > 1e-15:
        density = quad(
            lambda x: exp(-x / mtbf) / mtbf, at * interval, (at + 1) * interval
        )[0]
        kept += at * interval * density
        at += 1
    return (1 - share) * kept / (mtbf + recovery)


@pytest.mark.parametrize(
    ("mtbf", "recovery", "interval", "share"),
    [
        (1373.3, 75, 150, 0.007),
        (1373.3, 900, 600, 0.03),
        (10_986, 900, 1800, 0.01),
        (60, 0, 600, 0.0),
        (60, 10, 1, 0.5),
    ],
)
def test_the_closed_form_is_the_integral(
    mtbf: float, recovery: float, interval: float, share: float
) -> None:
    """Every failure time weighed by how likely it is."""
    found = ettr(mtbf, recovery, interval, share)
    assert found == pytest.approx(integrated(mtbf, recovery, interval, share), rel=1e-9)


def test_the_closed_form_is_what_random_cycles_leave() -> None:
    """200,000 cycles by Python's own generator, within four standard errors."""
    draw, cycles = Random(5), 200_000
    mtbf, recovery, interval, share = 900.0, 120.0, 300.0, 0.02
    kept = [
        floor(draw.expovariate(1 / mtbf) / interval) * interval for _ in range(cycles)
    ]
    found = (1 - share) * np.mean(kept) / (mtbf + recovery)
    error = (1 - share) * np.std(kept) / cycles**0.5 / (mtbf + recovery)
    assert abs(found - ettr(mtbf, recovery, interval, share)) < 4 * error


def test_the_first_order_form_is_equation_3() -> None:
    """Table 3 of the paper, its column "Model", to the digits printed."""
    time = mtbf_s([16_384] * 3 + [131_072] * 3)
    minutes = np.array([30, 10, 2.5, 10, 2.5, 1])
    recovery = [900, 900, 75, 900, 75, 75]
    share = [0.01, 0.03, 0.007, 0.03, 0.007, 0.01]
    found = ettr(time, recovery, 60 * minutes, share, form="first-order")
    assert found.round(3).tolist() == [0.839, 0.871, 0.979, 0.454, 0.89, 0.918]


def test_the_forms_meet_where_intervals_are_short() -> None:
    """The difference falls with the square of the interval."""
    intervals = np.array([100.0, 10.0, 1.0])
    exact = ettr(1000.0, 50.0, intervals)
    near = exact - ettr(1000.0, 50.0, intervals, form="first-order")
    assert near[:2] / near[1:] == pytest.approx([100, 100], rel=0.01)


def test_shapes_broadcast() -> None:
    """One shape of all arguments; numbers give a number."""
    found = ettr(np.ones((3, 1)), np.ones(4), 1.0)
    assert found.shape == (3, 4)
    assert found == pytest.approx(1 / expm1(1) / 2)
    assert isinstance(ettr(1, 1, 1), float)
    assert mtbf_s([1, 2], gpu_mtbf_hours=1).tolist() == [3600, 1800]
    assert interval_for([0.5, 0.6], 1e4, [[1.0], [2.0]]).shape == (2, 2)
    assert recovery_for([0.5, 0.6], 1e4, [[1.0], [2.0]]).shape == (2, 2)


@given(WIDE, WIDE, WIDE, SHARES)
def test_a_ratio_at_any_times(
    mtbf: float, recovery: float, interval: float, share: float
) -> None:
    """In [0, 1 - c], however far apart the times are."""
    assert 0 <= ettr(mtbf, recovery, interval, share) <= 1 - share
    assert ettr(mtbf, recovery, interval, share, form="first-order") <= 1 - share


@given(TIMES, TIMES, TIMES, SHARES, st.floats(1.0001, 10.0))
def test_what_makes_it_worse(
    mtbf: float, recovery: float, interval: float, share: float, times: float
) -> None:
    """Longer recoveries and intervals, more overhead and more failures never help."""
    slack = 1e-12
    found = ettr(mtbf, recovery, interval, share) + slack
    assert ettr(mtbf, recovery * times, interval, share) <= found
    assert ettr(mtbf, recovery, interval * times, share) <= found
    assert ettr(mtbf / times, recovery, interval, share) <= found
    assert ettr(mtbf, recovery, interval, 1 - (1 - share) / times) <= found


@given(TIMES, TIMES, TIMES, SHARES)
def test_the_inverses_invert(
    mtbf: float, recovery: float, interval: float, share: float
) -> None:
    """What gives a ratio is found from the ratio; the ratio of what is found is it."""
    target = ettr(mtbf, recovery, interval, share)
    if target < 1e-9:
        return
    back = recovery_for(target, mtbf, interval, share)
    assert back == pytest.approx(recovery, rel=1e-9, abs=1e-9 * mtbf)
    longest = interval_for(target, mtbf, recovery, share)
    assert ettr(mtbf, recovery, longest, share) == pytest.approx(target, rel=1e-9)


def test_nan_where_no_value_gives_as_much() -> None:
    """Beyond the ratio of a recovery in no time, or of an interval that is none."""
    most = ettr(1000.0, 0.0, 100.0, 0.01)
    assert recovery_for(most * (1 - 1e-9), 1000, 100, 0.01) < 1e-5
    assert isnan(recovery_for(most * (1 + 1e-9), 1000, 100, 0.01))
    ends = interval_for([0.8999, 0.9001], 900.0, 100.0)
    assert ends[0] > 0
    assert isnan(ends[1])
    assert isnan(interval_for(0.5, 1e-300, 1e300))


NAN = float("nan")
WRONG: list[tuple[Any, str]] = [
    (lambda: ettr(0, 1, 1), "mtbf_s 0: finite and above 0"),
    (lambda: ettr(1, -1, 1), "recovery_s -1: finite and at least 0"),
    (lambda: ettr(1, 1, NAN), "interval_s nan: finite and above 0"),
    (lambda: ettr(1, 1, "x"), "interval_s 'x': finite and above 0"),
    (lambda: ettr(1, 1, None), "interval_s None: finite and above 0"),
    (lambda: ettr(1, 1, 1, 1), "overhead 1: in [0, 1)"),
    (lambda: ettr(1, 1, 1, -0.1), "overhead -0.1: in [0, 1)"),
    (lambda: ettr(1, 1, 1, NAN), "overhead nan: in [0, 1)"),
    (lambda: ettr(1, 1, 1, form="2nd"), "form '2nd': one of exact, first-order"),
    (lambda: ettr([1, 0], 1, 1), "mtbf_s[1] is 0: finite and above 0"),
    (lambda: ettr([[1], [-2]], 1, 1), "mtbf_s[1, 0] is -2: finite and above 0"),
    (lambda: ettr([[1], [1, 2]], 1, 1), "mtbf_s [[1], [1, 2]]: rows of different"),
    (
        lambda: ettr([1, 1], [1] * 3, 1),
        "mtbf_s of shape (2,), recovery_s of shape (3,)",
    ),
    (lambda: recovery_for(0, 1, 1), "target 0: in (0, 1]"),
    (lambda: recovery_for(1.1, 1, 1), "target 1.1: in (0, 1]"),
    (lambda: recovery_for([1, 1], 1, [1] * 3), "target of shape (2,)"),
    (lambda: interval_for([0.5, NAN], 1, 1), "target[1] is nan: in (0, 1]"),
    (lambda: interval_for(0.5, [1, 1], [1] * 3), "target of shape ()"),
    (lambda: mtbf_s(0), "gpus 0: finite and at least 1"),
    (lambda: mtbf_s(8, gpu_mtbf_hours=0), "gpu_mtbf_hours 0: finite and above 0"),
    (lambda: mtbf_s(8, gpu_mtbf_hours=1e306), "gpu_mtbf_hours 1e+306: seconds of the"),
]


@pytest.mark.parametrize(("call", "told"), WRONG, ids=[told for _, told in WRONG])
def test_wrong_input_is_named(call: Any, told: str) -> None:
    """One error with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert str(caught.value).startswith(told)

"""The best interval beside a search of all, and the formulas of Young and Daly."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import best_interval, ettr


@pytest.mark.parametrize("cost", [1e-4, 1e-2, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("recovery", [0.0, 300.0])
def test_no_interval_is_better(cost: float, recovery: float) -> None:
    """100,000 intervals around it, whatever a recovery takes."""
    time = 1000.0
    best = best_interval(time, cost * time).exact_s
    assert best > cost * time
    grid = cost * time + (best - cost * time) * np.geomspace(0.01, 100, 100_001)
    ratios = ettr(time, recovery, grid, cost * time / grid)
    assert grid[np.argmax(ratios)] == pytest.approx(best, rel=1e-3)
    assert ratios.max() <= ettr(time, recovery, best, cost * time / best) + 1e-15


@given(st.floats(1e-280, 1e5), st.floats(1e-3, 1e9))
def test_the_condition_holds_at_any_cost(cost: float, time: float) -> None:
    """1 - e^-x is x - c, by the terms that are left where x is small."""
    x = best_interval(time, cost * time).exact_s / time
    if x > 0.01:
        assert -np.expm1(-x) == pytest.approx(x - cost, rel=1e-9, abs=1e-9 * cost)
    else:
        assert x * x / 2 - x**3 / 6 + x**4 / 24 == pytest.approx(cost, rel=1e-6)


@given(st.floats(1e-12, 1e5))
def test_it_grows_with_the_cost(cost: float) -> None:
    """A dearer checkpoint comes less often."""
    assert best_interval(1.0, cost).exact_s < best_interval(1.0, 1.01 * cost).exact_s


def test_youngs_and_dalys_formulas() -> None:
    """Their times between checkpoints, each with the checkpoint added."""
    time, cost = 10_000.0, 50.0
    found = best_interval(time, cost)
    between = sqrt(2 * cost * time)
    assert found.young_s == pytest.approx(between + cost)
    half = cost / (2 * time)
    daly = between * (1 + sqrt(half) / 3 + half / 9) - cost
    assert found.daly_s == pytest.approx(daly + cost)
    assert best_interval(10.0, 20.0).daly_s == 30.0


def test_daly_is_near_and_young_above() -> None:
    """Of usual costs; Daly's error is of a higher order."""
    found = best_interval(10_000.0, 100.0)
    assert abs(found.daly_s - found.exact_s) < 0.1
    assert 30 < found.young_s - found.exact_s < 100


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((0, 1), "mtbf_s 0: finite and above 0"),
        (("60", 1), "mtbf_s '60': finite and above 0"),
        ((60, 0), "checkpoint_s 0: finite and above 0"),
        ((60, float("inf")), "checkpoint_s inf: finite and above 0"),
        ((1e-6, 1e6), "checkpoint_s 1000000.0: 1e-300 to 1e+06 times mtbf_s"),
        ((1e300, 1e-10), "checkpoint_s 1e-10: 1e-300 to 1e+06 times mtbf_s"),
    ],
)
def test_wrong_input_is_named(given: tuple[Any, Any], told: str) -> None:
    """One error with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        best_interval(*given)
    assert str(caught.value) == told

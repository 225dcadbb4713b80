"""The simulation beside theory: ratios, recoveries, failures in them, confidence."""

from __future__ import annotations

import pickle
from math import exp, expm1, isnan
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import Recovery, Simulated, ettr, simulate

DAY = 86_400.0
# So long that what runs at the horizon is nothing beside it.
LONG = {"horizon_s": 5000 * DAY, "runs": 40}


def off(found: Simulated, wanted: float) -> float:
    """Distance of the mean in standard errors."""
    return abs(found.mean - wanted) / found.standard_error


@pytest.mark.parametrize(
    ("mtbf", "recovery", "interval", "share"),
    [
        (1373.3, 75.0, 150.0, 0.007),
        (1373.3, 900.0, 600.0, 0.03),
        (10_986.0, 900.0, 1800.0, 0.01),
        (500.0, 0.0, 1000.0, 0.2),
    ],
)
def test_the_mean_is_that_of_the_closed_form(
    mtbf: float, recovery: float, interval: float, share: float
) -> None:
    """Within four standard errors, by recoveries of one length."""
    found = simulate(mtbf, recovery, interval, share, **LONG)
    assert off(found, ettr(mtbf, recovery, interval, share)) < 4
    cycles = LONG["horizon_s"] / (mtbf + recovery)
    assert found.failures.mean() == pytest.approx(cycles, rel=0.01)


def test_a_plain_simulation_finds_the_same() -> None:
    """Python's own generator and a loop of its own, on a horizon that matters."""
    draw, ratios = Random(2), []
    horizon, mtbf, recovery, interval = 3000.0, 700.0, 150.0, 200.0
    for _ in range(20_000):
        clock = kept = 0.0
        while clock < horizon:
            fails = clock + draw.expovariate(1 / mtbf)
            if fails >= horizon:
                kept += horizon - clock
                break
            kept += (fails - clock) // interval * interval
            clock = fails + recovery
        ratios.append(kept / horizon)
    found = simulate(mtbf, recovery, interval, runs=20_000, horizon_s=horizon)
    error = np.hypot(found.standard_error, np.std(ratios) / len(ratios) ** 0.5)
    assert abs(found.mean - np.mean(ratios)) < 4 * error


def test_a_normal_recovery_is_drawn_anew_while_it_is_none() -> None:
    """Its mean is that of the normal distribution above 0."""
    mean, deviation, mtbf = 100.0, 200.0, 400.0
    ratio = mean / deviation
    density = exp(-ratio * ratio / 2) / (2 * np.pi) ** 0.5
    above = 0.6914624612740131  # of a normal number above -0.5
    drawn = mean + deviation * density / above
    found = simulate(mtbf, Recovery(mean, deviation), 100.0, seed=3, **LONG)
    assert off(found, ettr(mtbf, drawn, 100.0)) < 4


def test_observed_recoveries_are_drawn_alike() -> None:
    """Each as likely as another, whatever mean and deviation are given beside them."""
    observed = [0.0, 30.0, 30.0, 600.0]
    given = Recovery(-1.0, -1.0, observed)
    found = simulate(400.0, given, 100.0, seed=3, **LONG)
    assert off(found, ettr(400.0, np.mean(observed), 100.0)) < 4
    one = simulate(400.0, Recovery(observed_s=75.0), 100.0, runs=3)
    two = simulate(400.0, Recovery(observed_s=[75, 75]), 100.0, runs=3)
    assert one.ettr.tolist() == two.ettr.tolist()


@pytest.mark.parametrize("recovery", [75.0, 1000.0, 4000.0])
def test_failures_may_break_off_recoveries(recovery: float) -> None:
    """Time in recovery is M (e^(R/M) - 1) a failure while up, and each try ends one."""
    mtbf, interval = 1373.3, 150.0
    found = simulate(mtbf, recovery, interval, failures_in_recovery=True, **LONG)
    spent = mtbf * expm1(recovery / mtbf)
    assert off(found, ettr(mtbf, spent, interval)) < 4
    # Failures come at one rate at all times.
    every = LONG["horizon_s"] / mtbf
    assert found.failures.mean() == pytest.approx(every, rel=0.01)


def test_recoveries_that_never_end_end_with_the_horizon() -> None:
    """A thousand times longer than failures are apart: nothing is kept after the first."""
    found = simulate(100.0, 1e5, 10.0, runs=50, failures_in_recovery=True)
    assert found.ettr.max() < 0.001
    assert found.failures.mean() == pytest.approx(54 * DAY / 100, rel=0.01)


def test_a_horizon_that_ends_in_a_recovery() -> None:
    """Nothing after the failure counts, and a run without one counts in full."""
    found = simulate(1000.0, 1e9, 1e9, 0.1, runs=4000, horizon_s=1000.0)
    lucky = found.failures == 0
    assert lucky.mean() == pytest.approx(exp(-1), abs=0.03)
    assert set(found.ettr[lucky]) == {0.9}
    assert set(found.ettr[~lucky]) == {0.0}
    assert set(found.failures[~lucky]) == {1}


def test_what_runs_at_the_horizon_counts_in_full() -> None:
    """No checkpoint ever, and yet what no failure cut is kept."""
    found = simulate(1e9, 0.0, 1e12, runs=20, horizon_s=100.0)
    assert found.ettr.tolist() == [1.0] * 20


def test_the_confidence_interval_covers() -> None:
    """Nine in ten at least of 200 campaigns of 100 runs; about 190 are expected."""
    ratio = ettr(1373.3, 75.0, 150.0, 0.007)
    given = {"runs": 100, "horizon_s": 100 * DAY}
    hits = 0
    for part in range(200):
        found = simulate(1373.3, 75.0, 150.0, 0.007, first_run=100 * part, **given)
        low, high = found.interval_95
        hits += low <= ratio <= high
    assert 180 <= hits <= 199


@pytest.mark.parametrize("interval", [5e-324, 1e-300, 1e-9, 1.0, 1e300])
@pytest.mark.parametrize("mtbf", [60.0, 1e5, 1e300])
def test_ratios_at_any_times(mtbf: float, interval: float) -> None:
    """In [0, 1]; an interval that is nothing loses nothing."""
    found = simulate(mtbf, 0.0, interval, runs=20, horizon_s=DAY)
    assert ((found.ettr >= 0) & (found.ettr <= 1 + 1e-12)).all()
    if interval < 1e-3:
        assert found.ettr == pytest.approx(1)


def test_progress_is_told() -> None:
    """Runs as they are done, which add up, and the same bits."""
    told: list[int] = []
    found = simulate(1e5, 10.0, 60.0, runs=150, progress=told.append)
    assert told == [64, 64, 22]
    assert np.array_equal(found.ettr, simulate(1e5, 10.0, 60.0, runs=150).ettr)


def test_what_is_said_of_runs() -> None:
    """Mean, error and interval of given ratios; one run has no error."""
    found = Simulated(np.array([0.8, 0.9, 1.0]), np.array([3, 2, 1]))
    assert found.mean == pytest.approx(0.9)
    assert found.standard_error == pytest.approx(0.1 / 3**0.5)
    low, high = found.interval_95
    assert (high - low) / 2 == pytest.approx(1.959964 * 0.1 / 3**0.5)
    assert str(found) == "ETTR 0.9000 ± 0.1132 (95 %) over 3 runs, 2.0 failures each"
    assert isnan(Simulated(np.ones(1), np.ones(1, np.int64)).standard_error)
    assert pickle.loads(pickle.dumps(found)).mean == found.mean


SOUND: dict[str, Any] = {"mtbf_s": 1e4, "recovery": 75.0, "interval_s": 60.0}
NAN, INF = float("nan"), float("inf")
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"mtbf_s": 0}, "mtbf_s 0: finite and above 0"),
    ({"mtbf_s": [1.0]}, "mtbf_s [1.0]: finite and above 0"),
    ({"mtbf_s": 1e-3}, "mtbf_s 0.001: at least 1e-9 of horizon_s"),
    ({"interval_s": NAN}, "interval_s nan: finite and above 0"),
    ({"horizon_s": INF}, "horizon_s inf: finite and above 0"),
    ({"overhead": 1}, "overhead 1: in [0, 1)"),
    ({"overhead": None}, "overhead None: in [0, 1)"),
    ({"recovery": -1}, "recovery -1: seconds from 0, or a Recovery"),
    ({"recovery": None}, "recovery None: seconds from 0, or a Recovery"),
    ({"recovery": Recovery()}, "mean_s 0.0: finite and above 0"),
    ({"recovery": Recovery(1.0, -1.0)}, "deviation_s -1.0: finite and at least 0"),
    ({"recovery": Recovery(1.0, INF)}, "deviation_s inf: finite and at least 0"),
    (
        {"recovery": Recovery(observed_s=[])},
        "observed_s of shape (0,): a row of seconds",
    ),
    (
        {"recovery": Recovery(observed_s=[[1]])},
        "observed_s of shape (1, 1): a row of seconds",
    ),
    (
        {"recovery": Recovery(observed_s=[1, -2])},
        "observed_s[1] is -2.0: finite and at least 0",
    ),
    ({"recovery": Recovery(observed_s="x")}, "observed_s: a row of seconds"),
    ({"runs": 0}, "runs 0: a whole number from 1 to 2147483647"),
    ({"runs": 1.0}, "runs 1.0: a whole number from 1 to 2147483647"),
    ({"runs": 2**31}, "runs 2147483648: a whole number from 1 to 2147483647"),
    ({"seed": -1}, "seed -1: a whole number from 0 to 18446744073709551615"),
    ({"seed": 2**64}, "seed 18446744073709551616: a whole number from 0 to"),
    (
        {"first_run": 2**63 - 9, "runs": 10},
        "first_run 9223372036854775799: a whole number from 0 to 9223372036854775798",
    ),
    ({"first_run": True}, "first_run True: a whole number from 0 to"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[told for _, told in WRONG])
def test_wrong_input_is_named(given: dict[str, Any], told: str) -> None:
    """One error with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        simulate(**{**SOUND, **given})
    assert str(caught.value).startswith(told)

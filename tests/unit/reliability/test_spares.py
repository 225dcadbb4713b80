"""Spares beside fractions of Poisson's terms and an event simulation."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from fractions import Fraction
from math import exp, factorial
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import (
    hosts_under_repair,
    simulated_probability,
    spare_probabilities,
    spare_probability,
    spares_for,
)

HOUR = 3600.0


def by_fractions(spares: int, load: Fraction) -> float:
    """The same by exact terms; only e is a double."""
    total = sum((load**n / factorial(n) for n in range(spares)), Fraction(0))
    return float(total) * exp(-float(load))


def by_events(
    spares: int, load: float, repair: Callable[[Random], float], failures: int
) -> float:
    """Share of failures that find a spare, one event after the other."""
    draw, clock, found = Random(3), 0.0, 0
    repairs: list[float] = []
    for at in range(failures + 1000):
        clock += draw.expovariate(load)
        while repairs and repairs[0] <= clock:
            heapq.heappop(repairs)
        found += at >= 1000 and len(repairs) < spares
        heapq.heappush(repairs, clock + repair(draw))
    return found / failures


@pytest.mark.parametrize("load", [Fraction(1, 6), Fraction(3), Fraction(40)])
def test_probabilities_are_sums_of_poissons_terms(load: Fraction) -> None:
    """Of any number of spares."""
    for spares in (0, 1, 2, 5, 40, 90):
        found = spare_probability(spares, 100, 1e6, float(load) * 1e4)
        assert found == pytest.approx(by_fractions(spares, load), rel=1e-12)


@pytest.mark.parametrize(
    "repair", [lambda _: 1.0, lambda draw: draw.expovariate(1.0)], ids=["fixed", "exp"]
)
def test_an_event_simulation_finds_the_same(repair: Callable[[Random], float]) -> None:
    """Whatever distribution repairs have (M/G/infinity)."""
    events = by_events(3, 1.5, repair, 40_000)
    assert events == pytest.approx(spare_probability(3, 3, 2.0, 1.0), abs=0.01)


@pytest.mark.parametrize("kind", ["fixed", "exponential"])
@pytest.mark.parametrize("load", [0.16, 1.5, 30.0])
def test_the_simulation_finds_the_same(kind: str, load: float) -> None:
    """Within five deviations of as many failures as are independent."""
    for spares in (1, 2, int(load) + 2):
        theory = spare_probability(spares, 1, 1.0, load)
        found = simulated_probability(spares, 1, 1.0, load, repair=kind, seed=4)
        apart = 100_000 / (1 + 2 * load)
        assert abs(found - theory) < 5 * (theory * (1 - theory) / apart) ** 0.5 + 1e-9


def test_hosts_under_repair_are_counted_before_the_failure() -> None:
    """Their mean is the load, which a failure that counts itself would raise by one."""
    found = hosts_under_repair(10, 10.0, 3.0, failures=200_000)
    assert found.shape == (200_000,)
    assert found.mean() == pytest.approx(3.0, abs=0.05)
    assert found.var() == pytest.approx(3.0, abs=0.15)


def test_the_simulation_starts_warm() -> None:
    """The first failures that count find as many under repair as the last."""
    firsts = [
        hosts_under_repair(100, 1.0, 1.0, failures=1, seed=seed)[0]
        for seed in range(50)
    ]
    assert np.mean(firsts) == pytest.approx(100, abs=6)


def test_the_fewest_spares() -> None:
    """One fewer is too few; a day of repairs of one pod, and of larger domains."""
    for target in (0.5, 0.9, 0.99, 0.999, 0.999999):
        found = spares_for(target, 255, 6250 * HOUR, 4 * HOUR)
        fewer = spare_probability(found.spares - 1, 255, 6250 * HOUR, 4 * HOUR)
        assert fewer < target <= found.probability
    assert [
        spares_for(0.99, hosts, 6250 * HOUR, 24 * HOUR).spares
        for hosts in (32, 256, 2048, 16_384)
    ] == [2, 5, 16, 83]


def test_all_numbers_of_spares_at_once() -> None:
    """As one after the other; more than could matter is 1."""
    found = spare_probabilities(5, 255, 6250 * HOUR, 4 * HOUR)
    each = [spare_probability(n, 255, 6250 * HOUR, 4 * HOUR) for n in range(6)]
    assert found == each
    assert spare_probability(10**30, 255, 6250 * HOUR, 4 * HOUR) == pytest.approx(1)
    assert spare_probability(1, 1, 1e300, 1.0) == 1.0


def test_loads_of_many_hosts() -> None:
    """A normal distribution's median, where e to the load is no double."""
    found = spare_probability(50_000, 50_000, 1.0, 1.0)
    assert found == pytest.approx(0.5, abs=0.005)


def test_the_simulation_is_that_of_its_seed() -> None:
    """The same again, and another for another seed."""
    twice = [hosts_under_repair(9, 3.0, 1.0, failures=500, seed=7) for _ in range(2)]
    assert np.array_equal(*twice)
    other = hosts_under_repair(9, 3.0, 1.0, failures=500, seed=8)
    assert not np.array_equal(twice[0], other)


LOADED = "under repair at a time: 1e-300 to 100000"
WRONG: list[tuple[Any, str]] = [
    (lambda: spare_probability(-1, 1, 1, 1), "spares -1: a whole number from 0"),
    (lambda: spare_probability(1.0, 1, 1, 1), "spares 1.0: a whole number from 0"),
    (lambda: spare_probability(1, 0, 1, 1), "hosts 0: a whole number from 1"),
    (lambda: spare_probability(1, 1, 0, 1), "mtbf_s 0: finite and above 0"),
    (lambda: spare_probability(1, 1, 1, -1), "repair_s -1: finite and above 0"),
    (
        lambda: spare_probability(1, 1, 1e-300, 1e300),
        f"repair_s 1e+300: with 1 hosts and mtbf_s 1e-300, inf are {LOADED}",
    ),
    (
        lambda: spare_probability(1, 2, 1, 1e5),
        f"repair_s 100000.0: with 2 hosts and mtbf_s 1, 200000 are {LOADED}",
    ),
    (
        lambda: spares_for(0.5, 1, 1e300, 1e-300),
        f"repair_s 1e-300: with 1 hosts and mtbf_s 1e+300, 0 are {LOADED}",
    ),
    (lambda: spares_for(0, 1, 1, 1), "target 0: in (0, 1)"),
    (lambda: spares_for(1, 1, 1, 1), "target 1: in (0, 1)"),
    (lambda: spares_for("a", 1, 1, 1), "target 'a': in (0, 1)"),
    (
        lambda: spares_for(1 - 1e-16, 1000, 1.0, 1.0),
        "target 0.9999999999999999: closer to 1 than a sum of doubles comes",
    ),
    (lambda: spare_probabilities(-1, 1, 1, 1), "most -1: a whole number from 0"),
    (
        lambda: simulated_probability(1, 1, 1, 1, failures=0),
        "failures 0: a whole number from 1 to 100000000",
    ),
    (
        lambda: simulated_probability(1, 1, 1, 1, repair="slow"),
        "repair 'slow': one of fixed, exponential",
    ),
    (
        lambda: simulated_probability(1, 1, 1, 1, seed=-1),
        "seed -1: a whole number from 0",
    ),
    (
        lambda: simulated_probability(1.5, 1, 1, 1),
        "spares 1.5: a whole number from 0",
    ),
]


@pytest.mark.parametrize(("call", "told"), WRONG, ids=[told for _, told in WRONG])
def test_wrong_input_is_named(call: Any, told: str) -> None:
    """One error with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert str(caught.value).startswith(told)

"""Throughput, noise and goodput against the formulas read one after the other."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import (
    Batches,
    Configuration,
    Noise,
    Profile,
    ScalingTable,
    Throughput,
    configurations,
    fit_throughput,
    goodput,
)


def naive_rate(
    model: Throughput, gpus: int, hosts: int, batch: int, steps: int
) -> float:
    """Samples a second, in plain floats."""
    gradient = model.gradient_s + model.gradient_s_per_sample * batch
    sync = 0.0
    if gpus > 1 and hosts == 1:
        sync = model.host_sync_s + model.host_sync_s_per_gpu * max(gpus - 2, 0)
    elif gpus > 1:
        sync = model.network_sync_s + model.network_sync_s_per_gpu * max(gpus - 2, 0)
    joined = (gradient**model.overlap + sync**model.overlap) ** (1 / model.overlap)
    return gpus * batch * (steps + 1) / (steps * gradient + joined)


def naive_goodput(
    model: Throughput, noise: Noise, batches: Batches, gpus: int, hosts: int
) -> float:
    """The best of 50 total batches; NaN where the smallest is too large."""
    low = max(noise.initial_batch, batches.local_least * gpus)
    if low > batches.total_most:
        return math.nan
    best = 0.0
    for at in range(50):
        total = low * (batches.total_most / low) ** (at / 49)
        share = max(total / gpus, batches.local_least)
        steps = math.ceil(share / batches.local_most - 1e-9) - 1
        if gpus == 1 and share > noise.initial_batch * (1 + 1e-9):
            steps = max(steps, 1)
        local = math.ceil(share / (steps + 1) - 1e-9)
        whole = gpus * local * (steps + 1)
        scale = noise.initial_batch * noise.variance
        if noise.square:
            phi = scale / noise.square
            efficiency = (phi + noise.initial_batch) / (phi + whole)
        else:
            efficiency = 1.0
        best = max(best, naive_rate(model, gpus, hosts, local, steps) * efficiency)
    return best


def drawn(rng: Random) -> tuple[Throughput, Noise, Batches]:
    """A model, its noise and its batches."""
    model = Throughput(
        *(rng.uniform(0.001, 0.2) for _ in range(6)),
        rng.choice((1.0, rng.uniform(1, 10))),
    )
    square = rng.choice((0.0, rng.uniform(0.1, 5)))
    noise = Noise(rng.uniform(0.1, 5), square, rng.choice((16, 100, 128)))
    local = rng.choice((8, 32))
    return model, noise, Batches(local, local * rng.choice((1, 4)), 16 * local)


def test_goodput_is_the_best_of_the_batches(seed: int) -> None:
    """On one GPU, one host and several, batches too large for some."""
    rng = Random(seed)
    met = {"impossible": 0, "accumulated": 0, "alone": 0}
    for _ in range(120):
        model, noise, batches = drawn(rng)
        gpus = [1, 2, 4, 8, 16, 32]
        hosts = [1, 1, 1, 1, 2, 4]
        found = goodput(model, noise, batches, gpus, hosts)
        for at in range(6):
            expected = naive_goodput(model, noise, batches, gpus[at], hosts[at])
            if math.isnan(expected):
                met["impossible"] += 1
                assert math.isnan(found.samples_per_s[at])
                continue
            assert found.samples_per_s[at] == pytest.approx(expected, rel=1e-9)
            met["accumulated"] += int(found.accumulation[at]) > 0
            met["alone"] += gpus[at] == 1 and int(found.accumulation[at]) > 0
    assert min(met.values()) >= 20


def test_two_equations_of_efficiency_are_one() -> None:
    """Gain times M0 / M, and (φ + M0) / (φ + M)."""
    noise = Noise(3.0, 2.0, 64.0)
    batch = np.array([64.0, 100.0, 1000.0])
    phi = 64.0 * 3.0 / 2.0
    assert noise.efficiency(batch) == pytest.approx((phi + 64) / (phi + batch))


def test_high_powers_of_short_times_do_not_vanish() -> None:
    """A microsecond to the tenth is 1e-60, and of a nanosecond nothing would be left."""
    model = Throughput(1e-40, 0.0, 1e-40, 0.0, 0.0, 0.0, 10.0)
    assert float(model.step_s(2, 1, 1)) == pytest.approx(1e-40 * 2**0.1)
    assert float(Throughput(0.0, 0.0, 0.0, 0.0, 0.0, 0.0).step_s(1, 1, 1)) < 1e-300


def test_a_fit_finds_the_model_that_made_the_points() -> None:
    """Steps it did not see come out within a percent."""
    true = Throughput(0.05, 0.002, 0.03, 0.001, 0.08, 0.004, 1.5)
    seen = [(1, 1), (2, 1), (4, 1), (8, 1), (16, 2), (32, 4)]
    points = [
        Profile(k, n, m, float(true.gradient_step_s(m)), float(true.step_s(k, n, m)))
        for k, n in seen
        for m in (16, 32, 64)
    ]
    found = fit_throughput(points)
    for k, n, m in ((64, 8, 32), (3, 1, 128), (24, 3, 20)):
        assert found.step_s(k, n, m) == pytest.approx(true.step_s(k, n, m), rel=0.01)
    assert fit_throughput(points) == found


def test_what_no_point_tells_costs_next_to_nothing() -> None:
    """One batch: half of it is fixed. No network seen: a little slower than the host."""
    one = fit_throughput([Profile(1, 1, 32, 0.1, 0.1)])
    assert one.gradient_s == pytest.approx(0.05)
    assert one.host_sync_s == pytest.approx(1e-8)
    host = fit_throughput([Profile(1, 1, 32, 0.1, 0.1), Profile(2, 1, 32, 0.1, 0.15)])
    assert host.network_sync_s == pytest.approx(host.host_sync_s * 1.1)
    assert host.host_sync_s > 0.01


def test_configurations_are_sia_s() -> None:
    """Powers of two in a host, whole hosts beyond, cut at what the job may have."""
    eights = [one.gpus for one in configurations(8, 8)]
    assert eights == [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64]
    assert [one.gpus for one in configurations(4, 3)] == [1, 2, 4, 8, 12]
    assert configurations(1, 2) == (Configuration(1, 1), Configuration(2, 2))
    assert [one.gpus for one in configurations(8, 8, 20)] == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Throughput(-1, 0, 0, 0, 0, 0), "gradient_s -1: from 0 to inf"),
        (lambda: Throughput(0, 0, 0, 0, 0, 0, 11), "overlap 11: from 1 to 10"),
        (lambda: ScalingTable((1, 1), (2.0, 3.0)), "gpus (1, 1): rising, from 1"),
        (lambda: ScalingTable((1,), (0.0,)), "samples_per_s (0.0,): above 0"),
        (lambda: ScalingTable((), ()), "gpus and samples_per_s: 0 and 0 of them"),
        (lambda: Noise(-1.0, 1.0, 1.0), "variance -1.0: finite and at least 0"),
        (lambda: Noise(0.0, 0.0, 1.0), "variance 0.0 and square 0.0: one of them"),
        (lambda: Noise(1.0, 1.0, 0.0), "initial_batch 0.0: above 0"),
        (lambda: Batches(4, 2, 8), "local_least 4, local_most 2: rising"),
        (lambda: Batches(4, 8, 2), "total_most 2: below local_least 4"),
        (lambda: configurations(0, 1), "gpus_per_host 0: at least 1"),
        (lambda: configurations(1, 1, 0), "gpus_most 0: at least 1"),
        (lambda: fit_throughput([]), "points: at least one Profile"),
        (
            lambda: fit_throughput([Profile(1, 1, 1, 1.0, 0.0)]),
            "points[0].step_s is 0.0: above 0",
        ),
        (
            lambda: goodput(
                Throughput(1, 0, 0, 0, 0, 0),
                Noise(1, 1, 1),
                Batches(1, 1, 1),
                [1, 2],
                [1, 3],
            ),
            "hosts: one a configuration, and no more than its gpus",
        ),
        (
            lambda: goodput(
                Throughput(1, 0, 0, 0, 0, 0),
                Noise(1, 1, 1),
                Batches(1, 1, 1),
                [0],
                [1],
            ),
            "gpus: integers from 1 upward",
        ),
    ],
)
def test_what_is_refused_is_named(make: Any, message: str) -> None:
    """One exception with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        make()
    assert str(caught.value).startswith(message)

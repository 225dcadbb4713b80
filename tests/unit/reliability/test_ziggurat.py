"""Exponential and normal numbers of the streams: layers, distributions, tails."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import exp
from typing import Any

import numba
import numpy as np
import pytest
from scipy.stats import expon, kstest, norm

from phalanx_core.reliability import kernels

COUNT = 4_000_000
PARTS = (
    kernels.rotated,
    kernels.mixed,
    kernels.begun,
    kernels.drawn,
    kernels.uniform,
    kernels.exponential,
    kernels.tail,
    kernels.normal,
)
EXPONENTIAL, NORMAL = kernels.exponential, kernels.normal
BEGUN = kernels.begun


def fill_exponential(seed: int, out: Any) -> None:
    """Numbers of the first run's stream."""
    state = BEGUN(seed, 0)
    for at in range(out.size):
        out[at], state = EXPONENTIAL(state)


def fill_normal(seed: int, out: Any) -> None:
    """Numbers of the first run's stream."""
    state = BEGUN(seed, 0)
    for at in range(out.size):
        out[at], state = NORMAL(state)


KINDS = {"exponential": (fill_exponential, expon), "normal": (fill_normal, norm)}


@cache
def compiled(fill: Callable[..., None]) -> Any:
    """Never kept in a file, which a change of the functions called would not make old."""
    for part in PARTS:
        numba.extending.register_jitable(part)
    return numba.njit("void(uint64, float64[::1])")(fill)


def numbers(fill: Callable[..., None], seed: int) -> Any:
    """Many numbers of a stream."""
    found = np.empty(COUNT)
    compiled(fill)(seed, found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_have_their_distribution(kind: str, seed: int) -> None:
    """Four million of them (Kolmogorov and Smirnov), and the first moments."""
    fill, distribution = KINDS[kind]
    found = numbers(fill, seed)
    assert kstest(found, distribution.cdf).pvalue > 1e-4
    for power in (1, 2, 3, 4):
        error = np.sqrt(distribution.moment(2 * power) / COUNT)
        assert abs(np.mean(found**power) - distribution.moment(power)) < 5 * error


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_the_tail(kind: str, seed: int) -> None:
    """As many beyond the layers as there should be, on both sides, and as far."""
    fill, distribution = KINDS[kind]
    end = kernels.NORMAL_END if kind == "normal" else kernels.EXPONENTIAL_END
    found = numbers(fill, seed)
    sides = (found, -found) if kind == "normal" else (found,)
    for side in sides:
        beyond = side[side > end]
        wanted = COUNT * distribution.sf(end)
        assert abs(beyond.size - wanted) < 5 * wanted**0.5
        shares = distribution.sf(beyond) / distribution.sf(end)
        assert kstest(shares, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_layers_have_one_area(kind: str) -> None:
    """Each rectangle between two heights is as large as the lowest with its tail."""
    if kind == "normal":
        step, height = kernels.NORMAL_STEP, kernels.NORMAL_HEIGHT
        scale, end = float(kernels.NORMAL_STEPS), kernels.NORMAL_END
        area = step[0] * scale * exp(-end * end / 2)
    else:
        step, height = kernels.EXPONENTIAL_STEP, kernels.EXPONENTIAL_HEIGHT
        scale, end = kernels.EXPONENTIAL_SCALE, kernels.EXPONENTIAL_END
        area = step[0] * scale * exp(-end)
    assert step[-1] * scale == end
    for at, (above, below) in enumerate(pairwise(height), 1):
        assert step[at] * scale * (above - below) == pytest.approx(area, rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_and_plain_are_the_same_bits(kind: str) -> None:
    """The first 20,000 numbers, of which some hundred are not sure at once."""
    fill, _ = KINDS[kind]
    plain, fast = np.empty(20_000), np.empty(20_000)
    with np.errstate(over="ignore"):
        fill(5, plain)
    compiled(fill)(5, fast)
    assert plain.tobytes() == fast.tobytes()

"""Goodput: throughput times statistical efficiency, at the batch that makes most of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring.throughput import FloatArray, Throughput

# Points of the total batch that are looked at, evenly in its logarithm.
BATCHES = 50


@dataclass(frozen=True, slots=True)
class Noise:
    """How noisy an application's gradients are: what a larger batch is worth.

    Attributes
    ----------
    variance, square
        Of the gradients at the initial batch: their variance, and the square of their
        mean; at least 0, one of them above.
    initial_batch
        Total batch that counts as efficiency 1, above 0.

    Notes
    -----
    The Pollux paper, section 3.1, equation 7: (φ + M0) / (φ + M), with the gradient noise
    scale φ = M0 * variance / square.

    Examples
    --------
    >>> Noise(1.0, 1.0, 100).efficiency([100, 200, 400]).round(3).tolist()
    [1.0, 0.667, 0.4]
    """

    variance: float
    square: float
    initial_batch: float

    def __post_init__(self) -> None:
        for name in ("variance", "square"):
            value = getattr(self, name)
            if not (is_number(value) and value >= 0):
                raise InvalidRequest(f"{name} {value!r}: finite and at least 0")
        if self.variance + self.square == 0:
            raise InvalidRequest("variance 0.0 and square 0.0: one of them above 0")
        if not (is_number(self.initial_batch) and self.initial_batch > 0):
            raise InvalidRequest(f"initial_batch {self.initial_batch!r}: above 0")

    def gain(self, batch: ArrayLike) -> FloatArray:
        """Progress of one step with a batch, in steps with the initial one."""
        scale = np.asarray(batch, np.float64) / self.initial_batch
        whole = self.variance + self.square
        return np.asarray(whole / (self.variance / scale + self.square))

    def efficiency(self, batch: ArrayLike) -> FloatArray:
        """Progress of a sample with a batch, 1 at the initial one."""
        total = np.asarray(batch, np.float64)
        return np.asarray(self.gain(total) * self.initial_batch / total)


@dataclass(frozen=True, slots=True)
class Batches:
    """Which batches an application may train with.

    Attributes
    ----------
    local_least, local_most
        Samples that one GPU takes at once.
    total_most
        Samples a step on all GPUs.
    """

    local_least: int
    local_most: int
    total_most: int

    def __post_init__(self) -> None:
        if not 1 <= self.local_least <= self.local_most:
            raise InvalidRequest(
                f"local_least {self.local_least}, local_most {self.local_most}: rising, "
                "from 1 upward"
            )
        if self.total_most < self.local_least:
            raise InvalidRequest(
                f"total_most {self.total_most}: below local_least {self.local_least}"
            )


class Goodput(NamedTuple):
    """The best goodput of each configuration, and the batch that has it.

    Attributes
    ----------
    samples_per_s
        Samples of the initial batch's worth a second, NaN where none will do.
    local_batch, accumulation
        Samples a GPU takes at once, and gradients accumulated before a step.
    """

    samples_per_s: FloatArray
    local_batch: NDArray[np.int64]
    accumulation: NDArray[np.int64]


def goodput(
    model: Throughput, noise: Noise, batches: Batches, gpus: ArrayLike, hosts: ArrayLike
) -> Goodput:
    """Goodput of configurations at their best batch.

    Parameters
    ----------
    gpus, hosts
        Of each configuration, at least 1: integers, shape (configurations,).

    Raises
    ------
    InvalidRequest
        If they are no rows of integers from 1 upward, or hosts are more than GPUs.

    Notes
    -----
    The Pollux paper, section 4.1; of 50 total batches between the initial one (at least
    the smallest local one on every GPU) and the largest. A batch that one GPU cannot hold
    is accumulated; a larger batch than the initial one on a single GPU is so in any case,
    or its noise could not be measured. O(configurations * 50).

    Examples
    --------
    >>> model = Throughput(0.05, 0.001, 0.01, 0.001, 0.05, 0.002, 1.6)
    >>> found = goodput(model, Noise(4.0, 1.0, 128), Batches(32, 256, 4096),
    ...                 [1, 2, 4, 8, 16], [1, 1, 1, 1, 2])
    >>> found.samples_per_s.round().tolist()
    [719.0, 1194.0, 1868.0, 2738.0, 2854.0]
    """
    count, wide = _rows(gpus, hosts)
    least = np.maximum(noise.initial_batch, batches.local_least * count.astype(float))
    possible = least <= batches.total_most
    least = np.minimum(least, batches.total_most)
    total = np.geomspace(least, np.full(count.size, float(batches.total_most)), BATCHES)
    share = np.maximum(total / count, batches.local_least)
    # A tolerance, or a share that is a whole number but for rounding counts one more.
    steps = np.ceil(share / batches.local_most - 1e-9).astype(np.int64) - 1
    alone = (count == 1) & (share > noise.initial_batch * (1 + 1e-9))
    steps = np.where(alone, np.maximum(steps, 1), steps)
    local = np.ceil(share / (steps + 1) - 1e-9).astype(np.int64)
    rate = model.samples_per_s(count, wide, local, steps)
    worth = rate * noise.efficiency(count * local * (steps + 1))
    best = np.argmax(worth, axis=0)
    at = np.arange(count.size)
    return Goodput(
        np.where(possible, worth[best, at], np.nan), local[best, at], steps[best, at]
    )


def _rows(
    gpus: ArrayLike, hosts: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = [np.asarray(gpus), np.asarray(hosts)]
    for name, row in zip(("gpus", "hosts"), rows, strict=True):
        if row.ndim != 1 or row.dtype.kind not in "iu" or (row.size and row.min() < 1):
            raise InvalidRequest(f"{name}: integers from 1 upward, one a configuration")
    count, wide = (row.astype(np.int64) for row in rows)
    if count.shape != wide.shape or (wide > count).any():
        raise InvalidRequest("hosts: one a configuration, and no more than its gpus")
    return count, wide

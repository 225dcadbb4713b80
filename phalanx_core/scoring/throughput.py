"""Step time and throughput of data-parallel training, as Pollux models them."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest

FloatArray = NDArray[np.float64]
GAMMA_MAX = 10.0


@dataclass(frozen=True, slots=True)
class Throughput:
    r"""Step times of one application on one GPU type.

    Attributes
    ----------
    gradient_s, gradient_s_per_sample
        Of a gradient: fixed part, and part per sample of the local batch, seconds.
    host_sync_s, host_sync_s_per_gpu
        Of a synchronisation inside one host: with two GPUs, and for each further one.
    network_sync_s, network_sync_s_per_gpu
        The same across hosts.
    overlap
        Exponent γ in [1, 10]: 1 = one after the other, large = at the same time.

    Raises
    ------
    InvalidRequest
        If a time is below 0 or not finite, or γ is outside [1, 10].

    Notes
    -----
    The Pollux paper (OSDI 2021), section 3.2: with m samples a GPU, K GPUs,

    .. math::

        T_{grad} = α_c + β_c m, \quad T_{sync} = α + β \max(K - 2, 0), \quad
        T_{iter} = (T_{grad}^γ + T_{sync}^γ)^{1/γ}

    and no synchronisation for one GPU.

    Examples
    --------
    >>> model = Throughput(0.1, 0.01, 0.02, 0.0, 0.1, 0.0, 1.0)
    >>> model.step_s(gpus=[1, 4, 16], hosts=[1, 1, 2], local_batch=10).round(3).tolist()
    [0.2, 0.22, 0.3]
    >>> model.samples_per_s(gpus=4, hosts=1, local_batch=10).round(1).item()
    181.8
    """

    gradient_s: float
    gradient_s_per_sample: float
    host_sync_s: float
    host_sync_s_per_gpu: float
    network_sync_s: float
    network_sync_s_per_gpu: float
    overlap: float = 1.0

    def __post_init__(self) -> None:
        for name, value in zip(self.__slots__, astuple(self), strict=True):
            least, most = (1.0, GAMMA_MAX) if name == "overlap" else (0.0, np.inf)
            if not (is_number(value) and least <= value <= most):
                raise InvalidRequest(f"{name} {value!r}: from {least:g} to {most:g}")

    def gradient_step_s(self, local_batch: ArrayLike) -> FloatArray:
        """Seconds of one gradient of so many samples on each GPU."""
        batch = np.asarray(local_batch, np.float64)
        return np.asarray(self.gradient_s + self.gradient_s_per_sample * batch)

    def step_s(
        self, gpus: ArrayLike, hosts: ArrayLike, local_batch: ArrayLike
    ) -> FloatArray:
        """Seconds of one step with its synchronisation; arguments broadcast."""
        gradient = self.gradient_step_s(local_batch)
        return joined_s(gradient, self._sync_s(gpus, hosts), self.overlap)

    def _sync_s(self, gpus: ArrayLike, hosts: ArrayLike) -> FloatArray:
        return sync_s(
            (self.host_sync_s, self.host_sync_s_per_gpu),
            (self.network_sync_s, self.network_sync_s_per_gpu),
            gpus,
            hosts,
        )

    def samples_per_s(
        self,
        gpus: ArrayLike,
        hosts: ArrayLike,
        local_batch: ArrayLike,
        accumulation: ArrayLike = 0,
    ) -> FloatArray:
        """Samples a second when so many gradients are accumulated before each step."""
        steps = np.asarray(accumulation, np.float64)
        batch = np.asarray(local_batch, np.float64)
        seconds = steps * self.gradient_step_s(batch) + self.step_s(gpus, hosts, batch)
        done = np.asarray(gpus) * batch * (steps + 1)
        return np.divide(
            done, seconds, out=np.zeros(np.shape(seconds)), where=seconds > 0
        )


def sync_s(
    near: tuple[float, float],
    far: tuple[float, float],
    gpus: ArrayLike,
    hosts: ArrayLike,
) -> FloatArray:
    """Seconds of a synchronisation: with two GPUs and for each further one."""
    count, wide = np.asarray(gpus), np.asarray(hosts) > 1
    more = np.maximum(count - 2, 0)
    told = np.where(wide, far[0] + far[1] * more, near[0] + near[1] * more)
    return np.where(count > 1, told, 0.0)


def joined_s(gradient: FloatArray, sync: FloatArray, overlap: float) -> FloatArray:
    """Seconds of both together; γ = 1 adds them up."""
    # Scaled by the larger one, or high powers of short times would vanish.
    large = np.maximum(np.maximum(gradient, sync), np.finfo(np.float64).tiny)
    powers = (gradient / large) ** overlap + (sync / large) ** overlap
    return np.asarray(large * powers ** (1.0 / overlap))


@dataclass(frozen=True, slots=True)
class ScalingTable:
    """Throughput measured at some numbers of GPUs, straight lines between them.

    Attributes
    ----------
    gpus
        Ascending, from 1 upward.
    samples_per_s
        Measured at each, above 0.

    Raises
    ------
    InvalidRequest
        If the numbers do not rise, or a throughput is not above 0.

    Examples
    --------
    >>> table = ScalingTable((1, 4, 8), (10.0, 37.0, 65.0))
    >>> table.at([1, 2, 8, 16]).tolist()
    [10.0, 19.0, 65.0, nan]
    """

    gpus: tuple[int, ...]
    samples_per_s: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.gpus) != len(self.samples_per_s) or not self.gpus:
            raise InvalidRequest(
                f"gpus and samples_per_s: {len(self.gpus)} and "
                f"{len(self.samples_per_s)} of them, as many and at least one"
            )
        if self.gpus[0] < 1 or any(np.diff(self.gpus) <= 0):
            raise InvalidRequest(f"gpus {self.gpus}: rising, from 1 upward")
        if not all(is_number(one) and one > 0 for one in self.samples_per_s):
            raise InvalidRequest(f"samples_per_s {self.samples_per_s}: above 0")

    def at(self, gpus: ArrayLike) -> FloatArray:
        """Throughput of numbers of GPUs: NaN outside what was measured."""
        wanted: Any = np.asarray(gpus, np.float64)
        found = np.interp(wanted, self.gpus, self.samples_per_s, np.nan, np.nan)
        return np.asarray(found)

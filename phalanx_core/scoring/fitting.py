"""Fits :class:`Throughput` to measured steps, as Pollux does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring.throughput import (
    GAMMA_MAX,
    FloatArray,
    Throughput,
    joined_s,
    sync_s,
)

LEAST_S = 1e-8
MOST_S = 1e6
# What a host is assumed to be better than the network, where no step crossed it.
FASTER = 1.1
_GRADIENT, _GRADIENT_PER, _NETWORK, _NETWORK_PER, _HOST, _HOST_PER, _GAMMA = range(7)


class Profile(NamedTuple):
    """One measured configuration.

    Attributes
    ----------
    gpus, hosts, local_batch
        What ran.
    gradient_s
        Mean seconds of a gradient that is only accumulated.
    step_s
        Mean seconds of a gradient with its synchronisation.
    """

    gpus: int
    hosts: int
    local_batch: int
    gradient_s: float
    step_s: float


def fit_throughput(points: Sequence[Profile]) -> Throughput:
    """The model that is nearest to what was measured, in the logarithm.

    Parameters
    ----------
    points
        At least one; what no point tells is assumed to cost next to nothing, except that
        a network is no faster than a host.

    Raises
    ------
    InvalidRequest
        If there is no point, or a number of one is not above 0.
    ImportError
        If scipy is not installed: ``pip install 'phalanx_core[fit]'``.

    Notes
    -----
    The Pollux paper, section 4.1: root mean squared errors of the logarithms of both step
    times, with a pull of γ towards 1 and of each β towards 0, minimised within bounds by
    L-BFGS-B from one start. Deterministic.

    Examples
    --------
    >>> true = Throughput(0.05, 0.002, 0.03, 0.001, 0.08, 0.004, 1.5)
    >>> points = [Profile(k, n, m, float(true.gradient_step_s(m)), float(true.step_s(k, n, m)))
    ...           for k, n in ((1, 1), (2, 1), (4, 1), (8, 1), (16, 2), (32, 4))
    ...           for m in (16, 32, 64)]
    >>> found = fit_throughput(points)
    >>> round(float(found.step_s(64, 8, 32) / true.step_s(64, 8, 32)), 1)
    1.0
    """
    table = _table(points)
    minimize: Callable[..., Any] = import_module("scipy.optimize").minimize
    start = np.array([0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.0 + 1e-3])
    low = np.array([LEAST_S] * 6 + [1.0])
    high = np.array([MOST_S] * 6 + [GAMMA_MAX])
    for at, value in _untold(table).items():
        start[at] = low[at] = high[at] = value
    # In logarithms all seven are of one size, which finite differences need.
    bounds = list(zip(np.log(low), np.log(high), strict=True))
    options = {"maxiter": 1000, "ftol": 1e-12}
    answer = minimize(
        _loss, np.log(start), (table,), "L-BFGS-B", bounds=bounds, options=options
    )
    found = np.clip(np.exp(answer.x), low, high)
    if not (table[:, 1] > 1).any():
        found[_NETWORK] = max(found[_NETWORK], found[_HOST] * FASTER)
        found[_NETWORK_PER] = max(found[_NETWORK_PER], found[_HOST_PER] * FASTER)
    return Throughput(
        gradient_s=float(found[_GRADIENT]),
        gradient_s_per_sample=float(found[_GRADIENT_PER]),
        host_sync_s=float(found[_HOST]),
        host_sync_s_per_gpu=float(found[_HOST_PER]),
        network_sync_s=float(found[_NETWORK]),
        network_sync_s_per_gpu=float(found[_NETWORK_PER]),
        overlap=float(found[_GAMMA]),
    )


def _table(points: Sequence[Profile]) -> FloatArray:
    table = np.array([tuple(point) for point in points], np.float64)
    if table.ndim != 2 or table.shape[1:] != (5,):
        raise InvalidRequest("points: at least one Profile")
    bad = ~(np.isfinite(table) & (table > 0))
    if bad.any():
        at, field = np.argwhere(bad)[0].tolist()
        name = Profile._fields[field]
        raise InvalidRequest(f"points[{at}].{name} is {table[at, field]}: above 0")
    return table


def _untold(table: FloatArray) -> dict[int, float]:
    """Parameters that no point tells, and what they are set to."""
    gpus, hosts, batches, gradient = table[:, 0], table[:, 1], table[:, 2], table[:, 3]
    fixed: dict[int, float] = {}
    if np.unique(batches).size == 1:
        fixed[_GRADIENT] = float(gradient.mean()) / 2
    if not (hosts > 1).any():
        fixed |= {_NETWORK: LEAST_S, _NETWORK_PER: LEAST_S}
    if not ((hosts == 1) & (gpus > 1)).any():
        fixed |= {_HOST: LEAST_S, _HOST_PER: LEAST_S}
    if not (gpus > 2).any():
        fixed |= {_NETWORK_PER: LEAST_S, _HOST_PER: LEAST_S}
    return fixed


def _loss(logarithms: FloatArray, table: FloatArray) -> float:
    gpus, hosts, batches, measured, step = table.T
    found = np.exp(logarithms)
    gradient = found[_GRADIENT] + found[_GRADIENT_PER] * batches
    near, far = (found[_HOST], found[_HOST_PER]), (found[_NETWORK], found[_NETWORK_PER])
    joined = joined_s(gradient, sync_s(near, far, gpus, hosts), found[_GAMMA])
    errors = sum(
        float(np.sqrt(np.mean((np.log(told) - np.log(seen)) ** 2)))
        for told, seen in ((gradient, measured), (joined, step))
    )
    pull = 1e-3 * (found[_GAMMA] - 1) ** 2
    pull += 1e-2 * (found[_NETWORK_PER] / found[_NETWORK]) ** 2
    pull += 1e-2 * (found[_HOST_PER] / found[_HOST]) ** 2
    return errors + float(pull)

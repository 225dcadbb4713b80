"""The renewal model: productive share of the time between failures and their repairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.domains import numbers, shares, targets, together

FORMS = ("exact", "first-order")
# Hours between failures of one GPU that give Llama 3's interruptions (the Phalanx paper,
# section 8.1).
GPU_MTBF_HOURS = 50_000.0
# Halvings that leave nothing of a double.
HALVINGS = 200


def mtbf_s(gpus: ArrayLike, *, gpu_mtbf_hours: float = GPU_MTBF_HOURS) -> Any:
    """Mean seconds between failures of a job, any of whose GPUs ends it.

    Parameters
    ----------
    gpus
        GPUs of the job, at least 1.
    gpu_mtbf_hours
        Of one GPU and what it needs, above 0.

    Returns
    -------
    float, or float64 of the shape of ``gpus``.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain, or shapes do not broadcast.

    Notes
    -----
    M(N) = M_gpu / N: failures are independent and exponential (the Phalanx paper,
    section 8.1).

    Examples
    --------
    >>> round(mtbf_s(16_384) / 60, 1), round(mtbf_s(131_072) / 60, 1)
    (183.1, 22.9)
    """
    count = numbers("gpus", gpus, 1.0)
    hours = numbers("gpu_mtbf_hours", gpu_mtbf_hours, above=True)
    together(gpus=count, gpu_mtbf_hours=hours)
    with np.errstate(over="ignore", under="ignore"):
        found = hours * 3600.0 / count
    if not np.all(np.isfinite(found) & (found > 0)):
        raise InvalidRequest(
            f"gpu_mtbf_hours {gpu_mtbf_hours!r}: seconds of the job that a double holds"
        )
    return _scalar(found)


def ettr(
    mtbf_s: ArrayLike,
    recovery_s: ArrayLike,
    interval_s: ArrayLike,
    overhead: ArrayLike = 0.0,
    *,
    form: str = "exact",
) -> Any:
    r"""Effective training time ratio: productive time over all time, in the long run.

    Parameters
    ----------
    mtbf_s
        Mean seconds from the end of a recovery to the next failure, above 0.
    recovery_s
        Mean seconds from a failure until training goes on, at least 0.
    interval_s
        Seconds from one checkpoint to the next, above 0. The first is so long after the
        end of a recovery.
    overhead
        Share of the time that checkpoints take, in [0, 1).
    form
        "exact", or "first-order": the paper's equation 3, which expands it for intervals
        that are short beside the mean time between failures, and can be below 0 where
        they are not.

    Returns
    -------
    float, or float64 of the shape that the arguments have together.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    A failure after an exponential time x costs all since the last checkpoint, so a cycle
    keeps floor(x / τ) τ (1 - c):

    .. math::

        \frac{(1 - c) τ}{(e^{τ / M} - 1) (M + R)} \approx
        \frac{M (1 - c) - τ / 2}{M + R}

    The second is the Phalanx paper's equation 3.

    Examples
    --------
    131,072 GPUs, recovery in 75 s, a checkpoint every 2.5 minutes for 0.7 %:

    >>> time = mtbf_s(131_072)
    >>> round(ettr(time, 75, 150, 0.007), 3)
    0.891
    >>> round(ettr(time, 75, 150, 0.007, form="first-order"), 3)
    0.89
    """
    if form not in FORMS:
        raise InvalidRequest(f"form {form!r}: one of {', '.join(FORMS)}")
    time = numbers("mtbf_s", mtbf_s, above=True)
    recovery = numbers("recovery_s", recovery_s)
    interval = numbers("interval_s", interval_s, above=True)
    share = shares("overhead", overhead)
    together(mtbf_s=time, recovery_s=recovery, interval_s=interval, overhead=share)
    with np.errstate(over="ignore", under="ignore"):
        if form == "first-order":
            # Halves, because a sum of two times may be more than a double holds.
            kept = time / 2 * (1 - share) - interval / 4
            return _scalar(kept / (time / 2 + recovery / 2))
        up = 1 / (1 + recovery / time)
        return _scalar((1 - share) * up * _kept(interval / time))


def recovery_for(
    target: ArrayLike,
    mtbf_s: ArrayLike,
    interval_s: ArrayLike,
    overhead: ArrayLike = 0.0,
) -> Any:
    """The longest recovery with which the exact ratio is still ``target``.

    Parameters
    ----------
    target
        In (0, 1].
    mtbf_s, interval_s, overhead
        As for :func:`ettr`.

    Returns
    -------
    Seconds; NaN where even a recovery in no time does not give as much.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Examples
    --------
    >>> round(recovery_for(0.9, mtbf_s(131_072), 150, 0.007), 1)
    60.7
    >>> recovery_for(0.99, mtbf_s(131_072), 150, 0.007)
    nan
    """
    wanted = targets("target", target)
    time = numbers("mtbf_s", mtbf_s, above=True)
    interval = numbers("interval_s", interval_s, above=True)
    share = shares("overhead", overhead)
    together(target=wanted, mtbf_s=time, interval_s=interval, overhead=share)
    with np.errstate(over="ignore", under="ignore"):
        found = time * ((1 - share) * _kept(interval / time) / wanted - 1)
    return _scalar(np.where(found >= 0, found, np.nan))


def interval_for(
    target: ArrayLike,
    mtbf_s: ArrayLike,
    recovery_s: ArrayLike,
    overhead: ArrayLike = 0.0,
) -> Any:
    """The longest interval with which the exact ratio is still ``target``.

    Parameters
    ----------
    target
        In (0, 1].
    mtbf_s, recovery_s, overhead
        As for :func:`ettr`; the overhead is the same share at any interval.

    Returns
    -------
    Seconds; NaN where even the shortest interval does not give as much.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    The ratio falls with the interval; bisection to the last bit.

    Examples
    --------
    >>> round(interval_for(0.9, mtbf_s(16_384), 75, 0.007))
    1981
    """
    wanted = targets("target", target)
    time = numbers("mtbf_s", mtbf_s, above=True)
    recovery = numbers("recovery_s", recovery_s)
    share = shares("overhead", overhead)
    together(target=wanted, mtbf_s=time, recovery_s=recovery, overhead=share)
    with np.errstate(over="ignore", under="ignore"):
        kept = np.asarray(wanted * (1 + recovery / time) / (1 - share))
    # x / (e^x - 1) falls from 1 to below every share above 0 before x = 800.
    low, high = np.zeros(kept.shape), np.full(kept.shape, 800.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = _kept(middle) >= kept
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    with np.errstate(over="ignore", under="ignore"):
        return _scalar(np.where(low > 0, low * time, np.nan))


def _kept(intervals: Any) -> Any:
    """Share of the time up to a failure that checkpoints keep: x / (e^x - 1)."""
    # From 800 on it is 0 in a double, and infinity over infinity would be no number.
    x = np.minimum(np.asarray(intervals, np.float64), 800.0)
    with np.errstate(over="ignore", under="ignore"):
        grown = np.expm1(x)
        return np.where(x == 0, 1.0, x / np.where(x == 0, 1.0, grown))


def _scalar(found: Any) -> Any:
    return float(found) if np.ndim(found) == 0 else found

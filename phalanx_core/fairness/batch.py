"""``entitlements``: what jobs of a whole trace are due, in one sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import integers_of, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.accounts import ENTITLEMENTS, Entitlement
from phalanx_core.fairness.changes import (
    COUNT_MAX,
    TIME_MAX,
    WEIGHT_MAX,
    WEIGHT_MIN,
)
from phalanx_core.fairness.kernels import sweep

FloatArray = NDArray[np.float64]


def entitlements(
    tenant: ArrayLike,
    demand: ArrayLike,
    submit_s: ArrayLike,
    end_s: ArrayLike,
    quotas: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    entitlement: Entitlement = "quota",
    since_s: ArrayLike | None = None,
) -> FloatArray:
    """GPU-seconds that each job is due from its submission to its end.

    Parameters
    ----------
    tenant
        Of each job, 0 to tenants - 1: integers, shape (jobs,), in any order.
    demand
        GPUs that each asks for, whole numbers from 1: shape (jobs,).
    submit_s, end_s
        Seconds between which each is active, the second at least the first: float64,
        shape (jobs,).
    quotas
        GPUs of each tenant, at least 0: float64, shape (tenants,); with ``since_s`` shape
        (changes, tenants).
    weight
        Of each job's share, from 1e-6 to 1e6: float64, shape (jobs,). None: 1 each.
    entitlement
        A tenant's share at every moment: "quota"; or "demand", min(demand of its active
        jobs, quota).
    since_s
        Seconds from which each row of quotas holds, rising, the first not after any
        submission: float64, shape (changes,).

    Returns
    -------
    float64, shape (jobs,).

    Raises
    ------
    InvalidRequest
        If a shape, dtype or value is not as said above; names the argument and the place.

    Notes
    -----
    The job's integral of the ASTRAEA paper, ∫ min(demand, share x weight / active
    weights) dt, as :class:`Ledger` keeps it online. O((jobs + changes x tenants)
    log θ) for so many distinct demands per weight θ. Relative error below 1e-12; what is
    below 1e-25 of what came before it is 0.

    Examples
    --------
    Two jobs share 8 GPUs; the first needs only one of its four:

    >>> entitlements([0, 0], [1, 8], [0.0, 0.0], [10.0, 10.0], [8.0]).tolist()
    [10.0, 40.0]
    """
    if entitlement not in ENTITLEMENTS:
        raise InvalidRequest(f"entitlement {entitlement!r}: 'quota' or 'demand'")
    homes = integers_of("tenant", tenant)
    if homes.ndim != 1 or homes.dtype.kind not in "iu":
        raise InvalidRequest(
            f"tenant of shape {homes.shape} and dtype {homes.dtype}: an integer a job"
        )
    jobs = homes.size
    since, shares = _quotas(quotas, since_s)
    _check("tenant", homes, 0, shares.shape[0] - 1)
    demands = _whole(_row("demand", demand, jobs, 1, COUNT_MAX))
    weights = np.ones(jobs)
    if weight is not None:
        weights = _row("weight", weight, jobs, WEIGHT_MIN, WEIGHT_MAX)
    submits = _row("submit_s", submit_s, jobs, -TIME_MAX, TIME_MAX)
    ends = _row("end_s", end_s, jobs, -TIME_MAX, TIME_MAX)
    early = ends < submits
    if early.any():
        at = int(np.argmax(early))
        raise InvalidRequest(
            f"end_s[{at}] is {ends[at]}: not before submit_s, {submits[at]}"
        )
    out = np.empty(jobs)
    if not jobs:
        return out
    if since[0] > submits.min():
        raise InvalidRequest(f"since_s[0] is {since[0]}: not after a submission")
    thetas = demands if weight is None else demands / weights
    sweep(
        np.ascontiguousarray(homes, np.int64),
        (demands, weights, thetas, submits, ends),
        (_order(thetas), _order(submits), _order(ends)),
        (since, shares),
        entitlement == "demand",
        out,
    )
    return out


def _order(values: FloatArray) -> NDArray[np.int64]:
    """Places in rising order; none where they rise already."""
    if (values[1:] >= values[:-1]).all():
        return np.empty(0, np.int64)
    return np.argsort(values)


def _check(name: str, values: NDArray[Any], least: float, most: float) -> None:
    # Of NaN neither holds; and no array is made where all is well.
    if values.size and not (values.min() >= least and values.max() <= most):
        good = (values >= least) & (values <= most)
        at = np.unravel_index(int(np.argmin(good)), values.shape)
        place = ", ".join(str(int(one)) for one in at)
        raise InvalidRequest(
            f"{name}[{place}] is {values[at]}: from {least:g} to {most:g}"
        )


def _row(
    name: str, given: ArrayLike, jobs: int, least: float, most: float
) -> FloatArray:
    """One number a job, checked."""
    found = numbers_of(name, given, "a number a job")
    if found.shape != (jobs,):
        raise InvalidRequest(f"{name} of shape {found.shape}: ({jobs},), one a job")
    _check(name, found, least, most)
    return np.ascontiguousarray(found)


def _whole(demands: FloatArray) -> FloatArray:
    whole = demands == np.floor(demands)
    if not whole.all():
        at = int(np.argmin(whole))
        raise InvalidRequest(f"demand[{at}] is {demands[at]}: a whole number")
    return demands


def _quotas(
    quotas: ArrayLike, since_s: ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Times from which quotas hold, and those of each tenant, both checked."""
    shares = numbers_of("quotas", quotas, "numbers of GPUs")
    wanted = 1 if since_s is None else 2
    if shares.ndim != wanted or not shares.size:
        form = "(tenants,)" if since_s is None else "(changes, tenants) with since_s"
        raise InvalidRequest(f"quotas of shape {shares.shape}: {form}, none empty")
    _check("quotas", shares, 0, COUNT_MAX)
    if since_s is None:
        return np.array([-np.inf]), np.ascontiguousarray(shares[:, None])
    since = numbers_of("since_s", since_s, "a row of seconds")
    if since.shape != shares.shape[:1]:
        raise InvalidRequest(
            f"since_s of shape {since.shape}: ({shares.shape[0]},), one a row of quotas"
        )
    _check("since_s", since, -TIME_MAX, TIME_MAX)
    falls = since[1:] < since[:-1]
    if falls.any():
        at = int(np.argmax(falls)) + 1
        raise InvalidRequest(f"since_s[{at}] is {since[at]}: times rise")
    return np.ascontiguousarray(since), np.ascontiguousarray(shares.T)

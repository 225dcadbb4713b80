"""``score``: what each configuration of each job is worth this round (OAK)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import array_of, held_configurations, is_number, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring.kernels import multiply_plain, multiply_threads

FloatArray = NDArray[np.floating[Any]]
RESTARTS = ("decomposed", "aggregate")
# Pairs from which threads pay for their start (measured).
PARALLEL_PAIRS = 200_000


def score(
    goodput: ArrayLike,
    progress_s: ArrayLike,
    checkpoint_s: ArrayLike,
    restart_s: ArrayLike,
    waiting_s: ArrayLike,
    *,
    fairness: float = 0.5,
    age_rate_per_s: float = 0.01,
    age_cap: float = 100.0,
    restart: str = "decomposed",
    restarts: ArrayLike | None = None,
    restart_floor: float = 0.0,
    current: ArrayLike | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    r"""Composite utility of every configuration of every job.

    Parameters
    ----------
    goodput
        Of each configuration, at least 0, NaN where the job cannot run so: float64 or
        float32, shape (jobs, configurations). Anything else is read as float64.
    progress_s
        Seconds of useful work so far, shape (jobs,). Below 0 counts as 0 work.
    checkpoint_s
        Seconds lost to failures and checkpoints so far, at least 0, shape (jobs,). What
        counts is the caller's: failures alone, or reallocations as well.
    restart_s
        Seconds that a change of allocation costs, at least 0: one for all jobs or shape
        (jobs,); see :func:`restart_penalty_s`.
    waiting_s
        Seconds that the job has waited so far, at least 0, shape (jobs,).
    fairness
        Power p of goodput times restart factor, in (0, 1]. Below 0, as Sia has it
        (p = -0.5, to be minimised), where every product is above 0.
    age_rate_per_s, age_cap
        Rate α above 0 and cap at least 1 of the age key.
    restart
        "decomposed": useful work over age and the restart to come. "aggregate": age less
        as many restarts as there were, Sia's and Pollux's estimate.
    restarts
        Restarts so far, at least 0, shape (jobs,); for "aggregate".
    restart_floor
        Least restart factor, in [0, 1]. At 0 a job without progress starves: 0 whatever
        its age.
    current
        Configuration that each job holds now, -1 = none, shape (jobs,). With it the
        restart factor is that of a change: the configuration it holds has 1, as in Sia.
        None: the factor applies to all configurations.
    out
        Where to put the answer: C-contiguous, of the answer's shape and dtype; may be
        ``goodput`` itself.

    Returns
    -------
    Utility of each configuration, NaN where ``goodput`` is: shape (jobs,
    configurations), dtype of ``goodput``.

    Raises
    ------
    InvalidRequest
        If a shape, dtype or value is not as said above; names the argument and the job.

    Notes
    -----
    The OAK paper, sections III-B and IV-C. With age A = progress + checkpoint:

    .. math::

        U_{ij} = (G_{ij} r_i)^p K_i, \quad
        K_i = \min(e^{α T_i}, K_{max}), \quad
        r_i = \frac{\max(\mathrm{progress}_i, 0)}{A_i + P_i}

    and r = 1 while A < P, and where both are 0. The cap is decided by comparing exponents, so no age
    overflows. O(jobs * configurations), no pass beyond the one that writes. The same
    bits for any number of threads.

    Examples
    --------
    Three jobs of the paper's example (its section III-B), each with one configuration:

    >>> worth = score([[2.0], [2.2], [1.4]], [0.0, 500.0, 0.0], [0.0, 250.0, 0.0],
    ...               [30.0, 250.0, 30.0], [5.827, 5.827, 400.0])
    >>> worth.ravel().round(3).tolist()
    [1.499, 1.112, 64.601]
    """
    value = _goodput(goodput)
    jobs = value.shape[0]
    _check_options(fairness, age_rate_per_s, age_cap, restart, restart_floor)
    factor = _restart_factor(
        _per_job("progress_s", progress_s, jobs, least=-np.inf),
        _per_job("checkpoint_s", checkpoint_s, jobs),
        _per_job("restart_s", restart_s, jobs, scalar=True),
        None if restarts is None else _per_job("restarts", restarts, jobs),
        restart,
    )
    factor = np.maximum(factor, restart_floor)
    age = _age_key(_per_job("waiting_s", waiting_s, jobs), age_rate_per_s, age_cap)
    held = None if current is None else held_configurations(current, value.shape)
    if fairness < 0:
        _check_products(value, factor)
    answer = _room(out, value)
    _fill(answer, value, factor, age, fairness, held)
    return answer


def _fill(
    out: FloatArray,
    value: FloatArray,
    factor: NDArray[np.float64],
    age: NDArray[np.float64],
    power: float,
    held: NDArray[np.int64] | None,
) -> None:
    rows = None if held is None else np.flatnonzero(held >= 0)
    # Read before they may be overwritten.
    kept = None if held is None or rows is None else value[rows, held[rows]].copy()
    _powers(out, value, factor.astype(value.dtype), age.astype(value.dtype), power)
    if held is not None and rows is not None and kept is not None:
        single = np.empty((rows.size, 1), value.dtype)
        ones = np.ones(rows.size, value.dtype)
        ages = age[rows].astype(value.dtype)
        _powers(single, kept[:, None], ones, ages, power)
        out[rows, held[rows]] = single[:, 0]


def _powers(
    out: FloatArray,
    value: FloatArray,
    factor: FloatArray,
    age: FloatArray,
    power: float,
) -> None:
    """(value * factor) ** power * age, by one definition whichever way it is computed.

    Square roots and products are the same bits in NumPy and in compiled loops; other
    powers are not, and are NumPy's alone, or ties would flip.
    """
    if power in (0.5, 1.0):
        run = multiply_threads if value.size >= PARALLEL_PAIRS else multiply_plain
        run(value, factor, age, power == 0.5, out)
        return
    np.multiply(value, factor[:, None], out=out)
    np.power(out, value.dtype.type(power), out=out)
    np.multiply(out, age[:, None], out=out)


def _goodput(given: ArrayLike) -> FloatArray:
    value: FloatArray = array_of("goodput", given)
    if value.dtype not in (np.float32, np.float64):
        value = numbers_of(f"goodput of dtype {value.dtype}", value, "numbers")
    if value.ndim != 2:
        raise InvalidRequest(
            f"goodput of shape {value.shape}: a row of configurations for each job"
        )
    value = np.ascontiguousarray(value)
    # The minimum passes over NaN, and finds -inf; the maximum finds inf.
    if value.size:
        low, high = np.fmin.reduce(value, axis=None), np.fmax.reduce(value, axis=None)
        if low < 0 or high == np.inf:
            bad = (value < 0) | (value == np.inf)
            job, choice = np.argwhere(bad)[0].tolist()
            raise InvalidRequest(
                f"goodput[{job}, {choice}] is {value[job, choice]}: finite and at least "
                "0, or NaN"
            )
    return value


def _per_job(
    name: str, given: ArrayLike, jobs: int, least: float = 0.0, scalar: bool = False
) -> NDArray[np.float64]:
    row = numbers_of(name, given, "a number for each job")
    if scalar and row.ndim == 0:
        row = np.full(jobs, row)
    if row.shape != (jobs,):
        raise InvalidRequest(
            f"{name} of shape {row.shape}: one number for each of {jobs}"
        )
    bad = ~(np.isfinite(row) & (row >= least))
    if bad.any():
        job = int(np.argmax(bad))
        rule = "finite" if least < 0 else f"finite and at least {least:g}"
        raise InvalidRequest(f"{name}[{job}] is {row[job]}: {rule}")
    return row


def _check_options(
    fairness: float, rate: float, cap: float, restart: str, floor: float
) -> None:
    if not (is_number(fairness) and fairness <= 1 and fairness != 0):
        raise InvalidRequest(f"fairness {fairness!r}: in (0, 1], or below 0")
    if not (is_number(rate) and rate > 0):
        raise InvalidRequest(f"age_rate_per_s {rate!r}: above 0")
    if not (is_number(cap) and cap >= 1):
        raise InvalidRequest(f"age_cap {cap!r}: at least 1")
    if restart not in RESTARTS:
        raise InvalidRequest(f"restart {restart!r}: one of {', '.join(RESTARTS)}")
    if not (is_number(floor) and 0 <= floor <= 1):
        raise InvalidRequest(f"restart_floor {floor!r}: in [0, 1]")


def _restart_factor(
    progress: NDArray[np.float64],
    checkpoint: NDArray[np.float64],
    penalty: NDArray[np.float64],
    restarts: NDArray[np.float64] | None,
    restart: str,
) -> NDArray[np.float64]:
    age = progress + checkpoint
    if restart == "decomposed":
        if restarts is not None:
            raise InvalidRequest('restarts: for restart "aggregate" alone')
        work = np.maximum(progress, 0.0)
    else:
        if restarts is None:
            raise InvalidRequest('restarts None: restart "aggregate" counts them')
        work = np.maximum(age - restarts * penalty, 0.0)
    # A job that lost nothing to a restart that costs nothing keeps all, as a new one does.
    new = (age < penalty) | (age + penalty == 0)
    factor: NDArray[np.float64] = np.divide(
        work, np.where(new, 1.0, age + penalty), out=np.ones_like(work), where=~new
    )
    return factor


def _age_key(
    waiting: NDArray[np.float64], rate: float, cap: float
) -> NDArray[np.float64]:
    exponent = rate * waiting
    capped = exponent >= np.log(cap)
    grown: NDArray[np.float64] = np.exp(np.where(capped, 0.0, exponent))
    return np.where(capped, cap, grown)


def _check_products(value: FloatArray, factor: NDArray[np.float64]) -> None:
    zero = (value == 0) | ((factor == 0)[:, None] & ~np.isnan(value))
    if zero.any():
        job, choice = np.argwhere(zero)[0].tolist()
        raise InvalidRequest(
            f"fairness below 0: goodput[{job}, {choice}] times its restart factor is 0"
        )


def _room(out: FloatArray | None, value: FloatArray) -> FloatArray:
    if out is None:
        return np.empty_like(value)
    fits = isinstance(out, np.ndarray) and out.shape == value.shape
    if not (fits and out.dtype == value.dtype and out.flags.c_contiguous):
        raise InvalidRequest(
            f"out: a C-contiguous array of shape {value.shape} and dtype {value.dtype}"
        )
    if not out.flags.writeable:
        raise InvalidRequest("out: it cannot be written")
    return out

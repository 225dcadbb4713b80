"""``simulate``: runs of a job whose failures are drawn, and what they leave of the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import is_number, numbers_of
from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.domains import above_zero, from_zero, whole
from phalanx_core.reliability.kernels import run_all

SEED_MAX = 2**64 - 1
RUNS_MAX = 2**31 - 1
RUN_MAX = 2**63 - 1
# Failures of a run that are expected at most: half a minute, which nothing interrupts.
FAILURES_MAX = 1e9
# Runs between two reports of progress.
REPORTED_RUNS = 64
# Two-sided 95 % of a normal distribution.
NORMAL_95 = 1.959963984540054


class Recovery(NamedTuple):
    """How long a recovery takes.

    Attributes
    ----------
    mean_s, deviation_s
        Of a normal distribution, drawn anew while it is not above 0: above 0, and from 0.
    observed_s
        Seconds of which each is as likely, instead; each at least 0.
    """

    mean_s: float = 0.0
    deviation_s: float = 0.0
    observed_s: ArrayLike | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """Runs of one job.

    Attributes
    ----------
    ettr
        Of each run, in [0, 1]: float64, shape (runs,).
    failures
        Of each run, those that break off a recovery included: int64.
    """

    ettr: NDArray[np.float64]
    failures: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Of the runs' ratios."""
        return float(self.ettr.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean; NaN of one run."""
        if self.ettr.size < 2:
            return float("nan")
        return float(self.ettr.std(ddof=1) / sqrt(self.ettr.size))

    @property
    def interval_95(self) -> tuple[float, float]:
        """Confidence interval of the mean, normal."""
        reach = NORMAL_95 * self.standard_error
        return self.mean - reach, self.mean + reach

    def __str__(self) -> str:
        reach = NORMAL_95 * self.standard_error
        return (
            f"ETTR {self.mean:.4f} ± {reach:.4f} (95 %) over {self.ettr.size} runs, "
            f"{self.failures.mean():.1f} failures each"
        )


def simulate(
    mtbf_s: float,
    recovery: Recovery | float,
    interval_s: float,
    overhead: float = 0.0,
    *,
    runs: int = 1000,
    horizon_s: float = 54 * 86_400.0,
    failures_in_recovery: bool = False,
    seed: int = 0,
    first_run: int = 0,
    progress: Callable[[int], Any] | None = None,
) -> Simulated:
    """Runs of a job up to a horizon, with exponential failures.

    Parameters
    ----------
    mtbf_s
        Mean seconds from the end of a recovery to the next failure, above 0; at least a
        1e9th of the horizon.
    recovery
        Its distribution, or seconds that each takes.
    interval_s
        Seconds between checkpoints, counted from the end of each recovery, above 0.
    overhead
        Share of the time that checkpoints take, in [0, 1).
    runs
        1 to 2 ** 31 - 1.
    horizon_s
        Seconds of each, above 0; what runs at its end is counted in full.
    failures_in_recovery
        Whether a failure may break off a recovery, which then begins again.
    seed
        0 to 2 ** 64 - 1.
    first_run
        Number of the first run: each draws from a stream of its own, by seed and number,
        so parts of a campaign can be simulated anywhere and put side by side. The last
        run's is below 2 ** 63.
    progress
        Called now and then with how many more runs are done.

    Returns
    -------
    Simulated
        The same bits for any number of threads.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    The Monte Carlo experiment of the Phalanx paper, section 8.1: of the time x up to a
    failure floor(x / τ) τ (1 - c) is kept. O(runs * horizon / MTBF),
    some 10 ns a failure on one thread.

    Examples
    --------
    >>> found = simulate(1373.3, Recovery(75.0, 10.0), 150.0, 0.007, runs=50)
    >>> round(found.mean, 2)
    0.89
    """
    horizon = above_zero("horizon_s", horizon_s)
    time = above_zero("mtbf_s", mtbf_s)
    if horizon / FAILURES_MAX > time:
        raise InvalidRequest(f"mtbf_s {mtbf_s!r}: at least 1e-9 of horizon_s")
    if not (is_number(overhead) and 0 <= overhead < 1):
        raise InvalidRequest(f"overhead {overhead!r}: in [0, 1)")
    interval = above_zero("interval_s", interval_s)
    normal, observed = _normal(recovery), _observed(recovery)
    count = whole("runs", runs, 1, RUNS_MAX)
    seed = whole("seed", seed, 0, SEED_MAX)
    first = whole("first_run", first_run, 0, RUN_MAX + 1 - count)
    numbers = np.array(
        [horizon, time, interval, *normal, float(bool(failures_in_recovery))]
    )
    kept, failures = np.empty(count), np.empty(count, np.int64)
    step = count if progress is None else REPORTED_RUNS
    for begin in range(0, count, step):
        part = slice(begin, begin + step)
        run_all(first + begin, seed, numbers, observed, kept[part], failures[part])
        if progress is not None:
            progress(kept[part].size)
    return Simulated(kept * (1 - overhead), failures)


def _normal(recovery: Recovery | float) -> tuple[float, float]:
    if not isinstance(recovery, Recovery):
        if not (is_number(recovery) and recovery >= 0):
            raise InvalidRequest(
                f"recovery {recovery!r}: seconds from 0, or a Recovery"
            )
        return float(recovery), 0.0
    if recovery.observed_s is not None:
        return 0.0, 0.0
    mean = above_zero("mean_s", recovery.mean_s)
    return mean, from_zero("deviation_s", recovery.deviation_s)


def _observed(recovery: Recovery | float) -> NDArray[np.float64]:
    if not isinstance(recovery, Recovery) or recovery.observed_s is None:
        return np.empty(0)
    found = np.atleast_1d(
        numbers_of("observed_s", recovery.observed_s, "a row of seconds")
    )
    if found.ndim != 1 or not found.size:
        raise InvalidRequest(f"observed_s of shape {found.shape}: a row of seconds")
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidRequest(f"observed_s[{at}] is {found[at]}: finite and at least 0")
    return np.ascontiguousarray(found)

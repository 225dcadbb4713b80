"""The sweep of checkpoint intervals of section 8.2 of the Phalanx paper.

The paper prints its two ends. It does not print its overheads, so that these are readings:
what is reproduced is that overheads exist that give both ends.
"""

from __future__ import annotations

from math import nan

from phalanx_core.experiments.experiment import Experiment
from phalanx_core.experiments.figure import Figure
from phalanx_core.experiments.points import Point
from phalanx_core.reliability import Recovery

RUNS = 500
GPUS = 131_072
RECOVERY = Recovery(75.0, 10.0)
SHORTEST_MIN, LONGEST_MIN = 0.5, 30.0
OVERHEAD_SHORTEST, OVERHEAD_LONGEST = 0.004, 0.05
CURVE_MIN = (0.5, 1.0, 2.5, 5.0, 7.5, 10.0, 15.0, 20.0, 25.0, 30.0)
PUBLISHED = {SHORTEST_MIN: 0.934, LONGEST_MIN: 0.436}


def overhead(interval_min: float) -> float:
    """Overhead of an interval: in proportion between the readings of the two ends.

    Notes
    -----
    At 2.5 minutes it is 0.0071; Table 3 has 0.007 there.

    Examples
    --------
    >>> overhead(0.5), overhead(30.0), round(overhead(2.5), 4)
    (0.004, 0.05, 0.0071)
    """
    share = (interval_min - SHORTEST_MIN) / (LONGEST_MIN - SHORTEST_MIN)
    return (1 - share) * OVERHEAD_SHORTEST + share * OVERHEAD_LONGEST


def point(interval_min: float) -> Point:
    """131,072 GPUs with checkpoints so many minutes apart."""
    return Point(
        f"τ = {interval_min:g} min",
        GPUS,
        60 * interval_min,
        overhead(interval_min),
        RECOVERY,
        RUNS,
        PUBLISHED.get(interval_min, nan),
    )


def curve() -> tuple[tuple[float, float], ...]:
    """Minutes between checkpoints, and the ratio by the exact form."""
    return tuple((minutes, point(minutes).theory()) for minutes in CURVE_MIN)


def figures(seed: int, processes: int) -> tuple[Figure, ...]:
    """Both ends."""
    del processes  # The runs are on threads, and take a tenth of a second.
    return tuple(
        point(minutes).figure(point(minutes).simulated(seed)) for minutes in PUBLISHED
    )


EXPERIMENT = Experiment(
    "sweep",
    "Phalanx",
    "8.2",
    "ETTR of 131,072 GPUs as checkpoints become rarer, R = 75 s",
    (
        'The overheads, "scaled to cadence", are not printed: c = 0.004 at 0.5 min and '
        "0.05 at 30 min give the two ratios; between them c is in proportion.",
        "500 runs of 54 days, as in Table 4; otherwise as table3.",
    ),
    figures,
)

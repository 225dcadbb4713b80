"""Table 4 of the Phalanx paper: ETTR against the time of a recovery, two sizes.

Every number of the table is reproduced.
"""

from __future__ import annotations

from phalanx_core.experiments.experiment import Experiment
from phalanx_core.experiments.figure import Figure
from phalanx_core.experiments.points import Point
from phalanx_core.reliability import Recovery

RUNS = 500
INTERVAL_S = 150.0
OVERHEAD = 0.007
# Seconds of a recovery to the ratios at 16,384 and 131,072 GPUs.
PUBLISHED = {
    30: (0.984, 0.920),
    75: (0.980, 0.891),
    120: (0.976, 0.864),
    300: (0.960, 0.771),
    600: (0.935, 0.654),
    900: (0.912, 0.568),
    1800: (0.847, 0.407),
}


def swept(seconds: float) -> Recovery:
    """A recovery of the sweep: its deviation is two fifteenths of its mean, as 75 s has 10."""
    return Recovery(seconds, 2 * seconds / 15)


def points() -> tuple[Point, ...]:
    """All of the table, row by row."""
    return tuple(
        Point(
            f"{gpus:,} R = {seconds:,} s",
            gpus,
            INTERVAL_S,
            OVERHEAD,
            swept(seconds),
            RUNS,
            published,
        )
        for seconds, pair in PUBLISHED.items()
        for gpus, published in zip((16_384, 131_072), pair, strict=True)
    )


def figures(seed: int, processes: int) -> tuple[Figure, ...]:
    """The table."""
    del processes  # The runs are on threads, and take half a second.
    return tuple(point.figure(point.simulated(seed)) for point in points())


EXPERIMENT = Experiment(
    "table4",
    "Phalanx",
    "8.2, Table 4",
    "ETTR as the recovery takes longer: 500 simulated runs of 54 days each, τ = 2.5 min",
    (
        "c = 0.007, as Table 3 has it at this τ.",
        "A recovery is normal with deviation 2 R / 15, as 10 s are of 75 s and 120 s of "
        "900 s.",
        "Otherwise as table3.",
    ),
    figures,
)

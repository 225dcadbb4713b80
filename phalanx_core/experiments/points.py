"""One point of the renewal model: by the exact form, the paper's, and by simulated runs."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

from phalanx_core.experiments.figure import Figure
from phalanx_core.reliability import Recovery, Simulated, ettr, mtbf_s, simulate

# Half of the last digit that the paper prints.
PRINTED = 0.0005
LEAST = 0.001


class Point(NamedTuple):
    """A job and how it recovers.

    Attributes
    ----------
    name
        As the paper calls it.
    gpus
        Of the job.
    interval_s, overhead
        Of its checkpoints.
    recovery
        Normal, drawn anew while it is not above 0.
    runs
        Of 54 days each.
    published
        Mean effective training time ratio (ETTR) over the runs; NaN where none is.
    """

    name: str
    gpus: int
    interval_s: float
    overhead: float
    recovery: Recovery
    runs: int
    published: float = nan

    def theory(self, form: str = "exact") -> float:
        """By a closed form, see :func:`phalanx_core.reliability.ettr`."""
        return float(
            ettr(
                mtbf_s(self.gpus),
                self.recovery.mean_s,
                self.interval_s,
                self.overhead,
                form=form,
            )
        )

    def simulated(self, seed: int) -> Simulated:
        """By its runs."""
        return simulate(
            mtbf_s(self.gpus),
            self.recovery,
            self.interval_s,
            self.overhead,
            runs=self.runs,
            seed=seed,
        )

    def figure(self, found: Simulated) -> Figure:
        """The mean of simulated runs beside the published one.

        Notes
        -----
        Two means of as many runs are compared: three standard errors of their difference
        and the rounding of print are allowed, and no less than 0.001.
        """
        noise = 3 * sqrt(2) * found.standard_error
        return Figure(
            self.name, self.published, found.mean, max(LEAST, PRINTED + noise)
        )

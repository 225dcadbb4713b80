"""``Experiment``: how a published table or claim is measured again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.experiments.figure import Figure

SEED_MAX = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Experiment:
    """One published table, or the claims of one section.

    Attributes
    ----------
    name
        As ``phalanx reproduce`` takes it.
    paper, section
        Where it was published.
    title
        What it is about, in a line.
    reading
        How the paper is understood where it leaves something open.
    figures
        Seed and number of processes to the figures.
    """

    name: str
    paper: str
    section: str
    title: str
    reading: tuple[str, ...]
    figures: Callable[[int, int], tuple[Figure, ...]]

    def run(self, seed: int = 0, processes: int = 1) -> tuple[Figure, ...]:
        """Measure.

        Parameters
        ----------
        seed
            0 to 2 ** 64 - 1.
        processes
            Local ones, at least 1. All but times is the same for any number.

        Raises
        ------
        InvalidRequest
            If an argument is outside its domain.
        """
        if not (is_whole(seed) and seed <= SEED_MAX):
            raise InvalidRequest(f"seed {seed!r}: a whole number from 0 to {SEED_MAX}")
        if not (is_whole(processes) and processes >= 1):
            raise InvalidRequest(f"processes {processes!r}: a whole number from 1")
        return self.figures(int(seed), int(processes))

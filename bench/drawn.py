"""Rounds drawn for the benchmarks: shapes of clusters, and numbers that suit them.

Six families of jobs on GPU types of different speed, a tenth of the pairs impossible;
every round has numbers of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

IDLE = 1.1
FAMILIES = 6

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """Jobs, GPUs of each type, job sizes, and how many rounds are timed.

    Attributes
    ----------
    peers
        Names of the peers that solve such rounds as well.
    peer_rounds
        How many of the rounds these get.
    """

    jobs: int
    capacity: tuple[int, ...]
    sizes: tuple[int, ...]
    rounds: int
    peer_rounds: int = 0
    peers: tuple[str, ...] = ()


EVERY = ("cvxpy", "glpk", "highs", "cp-sat-naive", "cp-sat-tuned")
SMALL = tuple(range(1, 11))  # ten configurations a job, as in the OAK paper
LARGE = (1, 2, 4, 8, 16, 24, 32, 48, 64, 128)
SHAPES = {
    "A14": Shape(14, (12,), SMALL, 200, 40, EVERY),
    "B40": Shape(40, (12,), SMALL, 100, 20, EVERY),
    "C100": Shape(100, (256, 128, 128), LARGE, 60, 5, EVERY),
    "D1k": Shape(
        1000, (1024, 512, 512), LARGE, 20, 3, ("glpk", "highs", "cp-sat-tuned")
    ),
    "E5k": Shape(5000, (8192, 4096, 2048, 2048), LARGE, 8),
    "F10k": Shape(10000, (65536, 32768, 16384, 16384), LARGE, 5),
}


@dataclass(frozen=True)
class Round:
    """One round's numbers: utility (jobs, configurations), demand, capacity."""

    utility: NDArray[np.float64]
    demand: IntArray
    capacity: IntArray

    def value(self, choice: IntArray) -> float:
        """What an assignment is worth; -1 = the job is left out."""
        jobs = np.flatnonzero(choice >= 0)
        taken = self.utility[jobs, choice[jobs]]
        return fsum([*taken.tolist(), *[IDLE] * (choice.size - jobs.size)])

    def fits(self, choice: IntArray) -> bool:
        """Whether every job can run so, and all of them at once."""
        jobs = np.flatnonzero(choice >= 0)
        used = self.demand[choice[jobs]].sum(axis=0)
        possible = np.isfinite(self.utility[jobs, choice[jobs]]).all()
        return bool(possible and (used <= self.capacity).all())

    def gainful(self) -> tuple[IntArray, IntArray]:
        """Jobs and configurations of the pairs that can be part of a best answer."""
        possible = (self.demand <= self.capacity).all(axis=1)
        return np.nonzero((self.utility > IDLE) & possible)


def drawn(shape: Shape, rng: np.random.Generator) -> Round:
    """A round of that shape."""
    types, sizes = len(shape.capacity), np.array(shape.sizes)
    speed = rng.uniform(0.5, 2, (FAMILIES, types))
    family = rng.integers(0, FAMILIES, shape.jobs)
    power, loss = rng.uniform(0.88, 1, FAMILIES), rng.uniform(0.01, 0.2, FAMILIES)
    alone = sizes ** power[:, None] / (1 + loss[:, None] * (sizes - 1))
    goodput = (speed[:, :, None] * alone[:, None, :]).reshape(FAMILIES, -1)[family]
    goodput *= 1 + 0.03 * rng.standard_normal(goodput.shape)
    goodput /= goodput.min(axis=1, keepdims=True)
    restarts = rng.uniform(0, 1, shape.jobs)
    age = np.exp(rng.uniform(0, np.log(100), shape.jobs))
    utility = np.sqrt(goodput * restarts[:, None]) * age[:, None]
    utility[rng.random(utility.shape) < 0.1] = np.nan
    demand = np.zeros((types * sizes.size, types), dtype=np.int64)
    for kind in range(types):
        demand[kind * sizes.size : (kind + 1) * sizes.size, kind] = sizes
    return Round(utility, demand, np.array(shape.capacity))


def drawn_rounds(shape: Shape, seed: int, count: int | None = None) -> list[Round]:
    """The first rounds of a shape's stream, as many as it has where not said."""
    rng = np.random.default_rng(seed)
    return [drawn(shape, rng) for _ in range(count or shape.rounds)]

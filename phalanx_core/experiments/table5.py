"""Table 5 of the Phalanx paper: what repairs cost, beside topology-blind replacement.

Every number of the table is reproduced. The shares of preserved levels depend on which
gangs a fill happens to hold, so they are those of eight fills.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import numpy as np

from phalanx_core.errors import InvariantBroken
from phalanx_core.experiments.experiment import Experiment
from phalanx_core.experiments.figure import Figure
from phalanx_core.experiments.processes import mapped
from phalanx_core.experiments.step_cost import StepCost
from phalanx_core.experiments.testbed import (
    HOST_LEAVES,
    blind_levels,
    cluster,
    fill,
    idle_leaves,
    losses,
)

FILLS = 8
EVENTS = 2000
RANKS_MIN = 64
HOST_LEVEL = 1


class Recoveries(NamedTuple):
    """Events on one fill.

    Attributes
    ----------
    ours, blind
        Inflation of each, by Replan and by random leaves.
    ours_kept, blind_kept
        Share of them that keep the gang's level.
    """

    ours: tuple[float, ...]
    blind: tuple[float, ...]
    ours_kept: float
    blind_kept: float


def fill_seeds(seed: int) -> tuple[int, ...]:
    """Seeds of the fills: those of two seeds have none in common."""
    return tuple(range(FILLS * seed, FILLS * (seed + 1)))


def recovered(seed: int) -> Recoveries:
    """2,000 events on the fill of a seed, each on the same state.

    Raises
    ------
    InvariantBroken
        If a repair is refused although the pod has a spare.
    """
    topology, cost = cluster(), StepCost()
    filled = fill(topology, seed)
    idle = idle_leaves(filled)
    rng = Random(seed)
    ours, blind, kept = [], [], [0, 0]
    for loss in losses(filled, seed, EVENTS, RANKS_MIN):
        repair = filled.planner.replan(loss.job, failed=loss.leaves, apply=False)
        if not repair:
            raise InvariantBroken("L8", f"a repair beside a spare is refused: {repair}")
        ranks, level = filled.ranks[loss.job], repair.level_before
        before = HOST_LEVEL, level
        group, whole = blind_levels(
            topology,
            rng.sample(idle, HOST_LEAVES),
            repair.leaves,
            repair.moves[:, 0],
        )
        ours.append(cost.inflation(ranks, before, (HOST_LEVEL, repair.level_after)))
        blind.append(cost.inflation(ranks, before, (group, whole)))
        kept[0] += repair.level_after == level
        kept[1] += whole == level
    return Recoveries(tuple(ours), tuple(blind), kept[0] / EVENTS, kept[1] / EVENTS)


def figures(seed: int, processes: int) -> tuple[Figure, ...]:
    """The table, over the events of all fills."""
    found = mapped(recovered, fill_seeds(seed), processes)
    ours = [one for each in found for one in each.ours]
    blind = [one for each in found for one in each.blind]
    return (
        _inflation("Replan, median", 1.000, np.median(ours), 3),
        _inflation("Replan, p95", 3.98, np.percentile(ours, 95), 2),
        _kept("Replan, level preserved", 0.779, [one.ours_kept for one in found], 0.05),
        _inflation("blind, median", 8.89, np.median(blind), 2),
        _inflation("blind, p95", 8.98, np.percentile(blind, 95), 2),
        _kept("blind, level preserved", 0.058, [one.blind_kept for one in found], 0.02),
    )


def _inflation(name: str, published: float, found: np.floating, digits: int) -> Figure:
    """To the digits printed."""
    half = 0.5 * 10**-digits
    return Figure(name, published, float(found), half, "×", digits)


def _kept(name: str, published: float, shares: list[float], tolerance: float) -> Figure:
    return Figure(
        name,
        published,
        sum(shares) / len(shares),
        tolerance,
        "%",
        1,
        spread=(min(shares), max(shares)),
    )


EXPERIMENT = Experiment(
    "table5",
    "Phalanx",
    "8.4, Table 5",
    "Step communication after a repair over that before, and levels that are preserved",
    (
        "Fill: sizes uniform over the powers of two from 32 to 8,192, refused ones "
        "skipped, to 90 %; one spare host a pod. Eight fills of 2,000 events; the paper "
        "has one fill.",
        "Event: a uniform job of at least 64 ranks, then a uniform host of it; each on the "
        "same state.",
        "Step: 4 GB over the bandwidth of the repaired group's level, then a ring "
        "all-reduce of 17.5 GB among ranks / 8 replicas over that of the gang's; no "
        "latencies.",
        "Blind: eight uniform leaves that neither a job holds nor a spare is on.",
        "The share that Replan preserves is that of all but gangs of 256, the only ones "
        "that fill a rail group and leave it for the spare of the pod.",
    ),
    figures,
)

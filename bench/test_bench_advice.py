"""Who should leave: 700 candidates on 2,000 hosts, where a round has seconds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from phalanx_core import Advice, Gang, Planner, Topology

CANDIDATES = 700
SPEC = "pod:5 rack:25 host:16 gpu:8"

# The gang that arrives, what its room costs, and whether that is known to be the least.
ARRIVALS = {
    "rack": (Gang(128, group=8, within="rack"), 13.0, True),
    "pod": (Gang(1024, group=8, within="pod"), 310.0, True),
    "anywhere": (Gang(2048, group=8), 287.0, True),
    "single leaves": (Gang(2048), 279.0, True),
    "slices": (Gang(1024, group=8, slices=[(64, "rack")], within="pod"), 765.0, True),
}


def crowded() -> tuple[Planner, dict[Any, float]]:
    """A full cluster of jobs of every size; 700 of them may leave, at odd prices."""
    planner, rng = Planner(Topology.from_spec(SPEC)), Random(5)
    sizes = [1, 1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 24, 32, 64]
    refused = number = 0
    while refused < 20:
        ranks = rng.choice(sizes)
        group = 8 if ranks % 8 == 0 else 1
        number += 1
        refused += not planner.place(number, Gang(ranks, group=group))
    jobs = rng.sample(planner.jobs(), CANDIDATES)
    return planner, {job: rng.randint(1, 40) for job in jobs}


@pytest.mark.parametrize("where", ARRIVALS)
def test_advice_among_700_candidates(benchmark: Any, where: str) -> None:
    """The cheapest victims of a full cluster, tried on a copy."""
    planner, costs = crowded()
    gang, cost, proven = ARRIVALS[where]
    advice = planner.preempt_advice(gang, costs)
    assert isinstance(advice, Advice)
    assert (advice.cost, advice.proven) == (cost, proven)
    benchmark(planner.preempt_advice, gang, costs)

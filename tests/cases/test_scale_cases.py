"""Cases from the field, X: time does not grow with the number of equal domains."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import pytest

from phalanx_core import Gang, Misfit, MisfitCode, Planner
from tests.cases.clusters import busy, cluster, leaves_of

GANG = Gang(8, within="switch")


def _equal_switches(count: int) -> Planner:
    """Switches of eight hosts in pairs, each pair a domain as well, under one root."""
    hosts = {
        f"all/s{s}/s{s}p{h // 2}/s{s}h{h}": 1 for s in range(count) for h in range(8)
    }
    return Planner(cluster("root switch pair host", hosts))


def _one_free_switch(count: int) -> Planner:
    """As before, with the first host used under every switch but the last."""
    planner = _equal_switches(count)
    busy(planner, *(f"s{s}h0" for s in range(count - 1)))
    return planner


def test_c10_the_answer_among_6000_hosts() -> None:
    """Of 750 equal switches the first, and of the rest the only one that is whole."""
    planner = _equal_switches(750)
    assert planner.topology.leaf_count == 6000
    assert sum(map(planner.topology.domain_count, ("host", "pair", "switch"))) == 9750
    assert leaves_of(planner, planner.fits(GANG)) == [f"s0h{h}" for h in range(8)]
    planner = _one_free_switch(750)
    placement = planner.place("gang", GANG)
    assert leaves_of(planner, placement) == [f"s749h{h}" for h in range(8)]
    refused = planner.place("next", GANG)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "best s0 has 7" in refused.reason
    planner.validate()


def _median_ns(planner: Planner) -> float:
    """Time of placing and releasing the gang, or of its refusal."""
    times = []
    for _ in range(201):
        start = time.perf_counter_ns()
        if planner.place("gang", GANG):
            planner.release("gang")
        times.append(time.perf_counter_ns() - start)
    return median(times)


def _growth(planners: list[Planner]) -> float:
    """Time among the larger cluster's switches over that among the smaller one's."""
    ratios = []
    for _ in range(5):
        small, large = map(_median_ns, planners)
        ratios.append(large / small)
    return min(ratios)


@pytest.mark.parametrize("prepare", [_equal_switches, _one_free_switch])
def test_c10_eight_times_the_switches_cost_less_than_four_times(
    prepare: Callable[[int], Planner],
) -> None:
    """Place among 752 switches against 94, all of them whole or only the last."""
    assert _growth([prepare(94), prepare(752)]) < 4


def test_c10_a_refusal_does_not_ask_every_switch() -> None:
    """The same where no switch is whole and the answer is a refusal."""
    planners = [_one_free_switch(count) for count in (94, 752)]
    for planner in planners:
        busy(planner, planner.topology.names[-1])
    assert _growth(planners) < 4

"""Pieces of the testbed, on the whole cluster."""

from __future__ import annotations

import numpy as np
import pytest

from phalanx_core import Topology
from phalanx_core.experiments.testbed import (
    LEAVES,
    blind_levels,
    cluster,
    fill,
    idle_leaves,
    losses,
)


@pytest.fixture(scope="module")
def topology() -> Topology:
    """The paper's cluster."""
    return cluster()


def test_a_fill_is_its_seed(topology: Topology) -> None:
    """The same seed asks for and places the same; another does not."""
    first, again, other = (fill(topology, seed) for seed in (5, 5, 6))
    assert first.asked == again.asked != other.asked
    assert first.ranks == again.ranks
    assert first.planner.save() == again.planner.save()
    assert set(first.ranks.values()) <= set(first.asked)
    assert first.leaves == sum(first.ranks.values())


def test_idle_leaves(topology: Topology) -> None:
    """All that no job holds, but for the spare host of each of 64 pods."""
    filled = fill(topology, 0)
    idle = idle_leaves(filled)
    assert len(idle) == LEAVES - filled.leaves - 64 * 8
    kinds = {str(filled.planner.owner(leaf).kind) for leaf in idle}
    assert kinds == {"free"}
    assert not [leaf for leaf in idle if leaf % 2048 >= 2040]


def test_a_loss_is_a_host_of_its_job(topology: Topology) -> None:
    """Eight leaves of one host, all of the job's; small jobs lose none where told."""
    filled = fill(topology, 0)
    found = losses(filled, 0, 200, ranks_min=512)
    assert found == losses(filled, 0, 200, ranks_min=512)
    assert len(found) == 200
    for job, leaves in found:
        assert filled.ranks[job] >= 512
        assert leaves == list(range(leaves[0], leaves[0] + 8))
        assert leaves[0] % 8 == 0
        assert set(leaves) <= set(filled.planner.placement(job).leaves.tolist())


@pytest.mark.parametrize(
    ("chosen", "levels"),
    [
        # One host of the gang's rail group.
        (range(248, 256), (1, 2)),
        # Two hosts of that rail group.
        ([*range(240, 244), *range(248, 252)], (2, 2)),
        # One host of the next rail group, of the next pod.
        (range(256, 264), (1, 3)),
        (range(2048, 2056), (1, 4)),
        # Two pods; four ranks stay beside their gang.
        ([*range(248, 252), *range(2048, 2052)], (4, 4)),
    ],
)
def test_levels_of_a_blind_replacement(
    topology: Topology, chosen: list[int], levels: tuple[int, int]
) -> None:
    """The lowest domain of the eight new leaves, and of the gang with them."""
    leaves, lost = np.arange(32), np.arange(8, 16)
    assert blind_levels(topology, list(chosen), leaves, lost) == levels
    assert leaves.tolist() == list(range(32))


def test_a_gang_may_come_together(topology: Topology) -> None:
    """The lost host was the far one: without it the gang is on a lower level."""
    leaves = np.array([*range(8), *range(2048, 2056)])
    found = blind_levels(topology, list(range(8, 16)), leaves, np.arange(8, 16))
    assert found == (1, 2)

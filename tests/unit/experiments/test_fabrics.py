"""Irregular fabrics: what is offered, admitted and repaired."""

from __future__ import annotations

import pytest

from phalanx_core import Gang
from phalanx_core.experiments.fabrics import (
    BUDDY,
    EXACT,
    FABRICS,
    ROUNDED,
    Setting,
    admitted,
    leaf_groups,
    measured,
    rounded,
)

NVL72, POOL = 1, 2


@pytest.mark.parametrize(
    ("ranks", "host", "result"),
    [(4, 4, 4), (8, 4, 8), (12, 4, 16), (72, 4, 128), (88, 8, 128), (24, 8, 32)],
)
def test_rounding(ranks: int, host: int, result: int) -> None:
    """The next power of two of hosts."""
    assert rounded(ranks, host) == result


def test_the_pool_of_leaf_groups() -> None:
    """64 hosts of 8 in 15 groups, the last of 11 hosts."""
    topology = leaf_groups()
    assert topology.levels == ("gpu", "host", "group", "cluster")
    assert [topology.domain_count(level) for level in (1, 2, 3)] == [64, 15, 1]
    assert topology.leaves("group", "group-14").tolist() == list(range(424, 512))


@pytest.mark.parametrize("way", [EXACT, ROUNDED])
@pytest.mark.parametrize("fabric", [NVL72, POOL])
def test_what_is_admitted(fabric: int, way: str) -> None:
    """Loads add up, and rounding takes the leaves that it asks for."""
    found = admitted(Setting(fabric, "own", way), 0)
    planner, host = found.planner, FABRICS[fabric].host
    assert found.load == sum(found.ranks.values()) / planner.topology.leaf_count
    assert 0 < found.load < 1
    assert 0 <= found.refused < 1
    assert found.inflation >= 1
    for job, size in found.ranks.items():
        wanted = rounded(size, host) if way == ROUNDED else size
        assert planner.placement(job).leaves.size == wanted
    planner.validate()


def test_the_paper_s_buddy_is_one() -> None:
    """Blocks are aligned, and the planner says so."""
    found = admitted(Setting(0, "powers", BUDDY), 0)
    assert found.planner.alignment == "buddy"
    assert found.refused > 0.3


def test_a_spare_in_each_rack() -> None:
    """Keeps every level, and leaves no rack for a gang of 72."""
    kind = FABRICS[NVL72].spares.index(("rack", 1))
    found = measured((Setting(NVL72, "own", EXACT, kind), 0))
    assert found.reserved == 256 / (256 * 18)
    assert (found.kept, found.worst) == (1.0, 1.0)
    planner = admitted(Setting(NVL72, "own", EXACT, kind), 0).planner.clone()
    for job in planner.jobs():
        planner.release(job)
    assert not planner.place("whole", Gang(72, group=4, within="rack"))
    assert planner.place("less", Gang(68, group=4, within="rack"))


def test_a_measurement_is_its_seed() -> None:
    """The same again, and another with another seed."""
    setting = Setting(POOL, "own", ROUNDED)
    assert measured((setting, 3)) == measured((setting, 3)) != measured((setting, 4))

"""Cases from the field about slices and even spreading, by number."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, MisfitCode, Planner, Topology


def _blocks(sizes: dict[str, dict[str, dict[str, int]]]) -> Topology:
    """Racks of switches of hosts with so many GPUs each, in one block."""
    rows = [
        (host, switch, rack)
        for rack, switches in sizes.items()
        for switch, hosts in switches.items()
        for host, count in hosts.items()
        for _ in range(count)
    ]
    hosts, switches, racks = zip(*rows, strict=True)
    return Topology.from_labels(
        ("host", "switch", "rack", "block"),
        (hosts, switches, racks, ["b1"] * len(rows)),
    )


def test_c03_the_innermost_broken_level_decides() -> None:
    """Both workers of the lost host stay under its switch."""
    topology = _blocks(
        {
            "r1": {"s1": {"x1": 4, "x2": 4}, "s2": {"x3": 4, "x4": 8}},
            "r2": {"s3": {"x5": 4, "x6": 4}, "s4": {"x7": 4, "x8": 4}},
        }
    )
    planner = Planner(topology)
    gang = Gang(16, group=2, group_level="host", slices=[(4, "switch"), (8, "rack")])
    leaves = [
        leaf
        for host in range(8)
        for leaf in topology.leaves("host", f"x{host + 1}")[:2].tolist()
    ]
    planner.adopt("workers", gang, leaves)
    assert planner.fail(topology.leaves("host", "x3")) == ["workers"]
    repair = planner.replan("workers")
    assert repair.moves.tolist() == [[4, 8, 14], [5, 9, 15]]
    assert [topology.names[leaf] for leaf in (14, 15)] == ["x4/gpu-2", "x4/gpu-3"]
    assert sorted(repair.by_host()) == ["x1", "x2", "x4", "x5", "x6", "x7", "x8"]


@pytest.mark.parametrize("free", [0, 1])
def test_c04_a_slice_without_room_is_refused(free: int) -> None:
    """Nothing moves, the old assignment is kept, and the reason says so."""
    planner, old = _two_racks(free)
    refused = planner.replan("job")
    assert not refused
    assert refused.code is MisfitCode.REPLACEMENT
    assert refused.reason.startswith("job 'job': no replacement for rank 0")
    assert planner.placement("job").leaves.tolist() == old


def test_c04_a_slice_moves_whole_where_there_is_room() -> None:
    """The rack has none, another has two: both ranks of the slice go there."""
    planner, _ = _two_racks(2)
    assert planner.replan("job").moves.tolist() == [[0, 0, 2], [1, 1, 3]]


def _two_racks(free: int) -> tuple[Planner, list[int]]:
    topology = Topology.from_labels(
        ("host", "rack", "cluster"),
        (["x0", "x1", "y0", "y1"], ["r1", "r1", "r2", "r2"], ["c"] * 4),
    )
    planner = Planner(topology)
    planner.adopt("job", Gang(2, slices=[(2, "rack")]), [0, 1])
    planner.cordon(range(2 + free, 4))
    planner.fail([0])
    return planner, [0, 1]


def test_c11_one_slice_a_leaf_domain() -> None:
    """A thousand workers fill a hundred domains of ten exactly."""
    topology = Topology.from_spec("leaf:100 node:10")
    planner = Planner(topology)
    gang = Gang(1000, slices=[(10, "leaf")], within="cluster")
    placed = planner.place("all", gang)
    assert placed.leaves.tolist() == list(range(1000))
    planner.release("all")
    planner.cordon([7, 77])
    refused = planner.fits(Gang(990, slices=[(10, "leaf")]))
    assert refused.code is MisfitCode.GROUPS
    assert refused.reason == (
        "no cluster has 990 nodes in slices of 10 per leaf: best cluster has whole "
        "slices for 980 of its 998 available; 2 cordoned"
    )


RACK_LOSSES = (0, 1, 2, 0, 1, 2, 0, 1)


@pytest.mark.parametrize(
    ("hosts", "shares"),
    [
        (128, [16, 16, 16, 16, 16, 16, 16, 16]),
        (24, [12, 12]),
        (32, [16, 16]),
        (48, [16, 16, 16]),
        (18, [18]),
    ],
)
def test_c15_fewest_racks_evenly(hosts: int, shares: list[int]) -> None:
    """Racks of 18 hosts with 16 to 18 of them free."""
    topology = Topology.from_spec("rack:8 host:18")
    planner = Planner(topology)
    for rack, lost in enumerate(RACK_LOSSES):
        planner.cordon(topology.leaves("rack", rack)[:lost])
    placed = planner.place("job", Gang(hosts, balanced="rack"))
    racks = topology.domain_of("rack")[placed.leaves].tolist()
    assert [racks.count(rack) for rack in dict.fromkeys(racks)] == shares


def test_c16_a_segment_that_no_block_can_hold_is_refused_at_once() -> None:
    """100 blocks with 10 of 18 nodes free: no segment of 16, and it says why."""
    topology = Topology.from_spec("block:100 node:18")
    planner = Planner(topology)
    for block in range(100):
        planner.cordon(topology.leaves("block", block)[:8])
    refused = planner.fits(Gang(144, slices=[(16, "block")]))
    assert refused.code is MisfitCode.GROUPS
    assert refused.proven
    assert "in slices of 16 per block: best cluster" in refused.reason
    assert "whole slices for 0 of its 1000 available" in refused.reason
    assert [record.ranks for record in refused.records] == [0]

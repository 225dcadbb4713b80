"""Cases from the field, R: a broken gang keeps its survivors and its place."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Misfit, MisfitCode, Planner, StalePlan
from tests.cases.clusters import (
    available,
    busy,
    cluster,
    held_by,
    leaves_of,
    moves_of,
)


def test_c01_survivors_keep_their_ranks() -> None:
    """The rank of the lost host moves to the free one, and the other stays."""
    planner = Planner(cluster("rack host", {"r/n1": 1, "r/n2": 1, "r/n3": 1}))
    planner.adopt("job", Gang(2, within="rack"), ["n1", "n2"])
    assert planner.fail(["n1"]) == ["job"]
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(0, "n1", "n3")]
    assert held_by(planner, "job") == ["n3", "n2"]
    assert planner.quarantined()["job"].tolist() == [0]
    planner.validate()


def _racks_of_18(workers: int) -> Planner:
    """A gang on 500 hosts, 16 a rack and 4 in the last; 2 free hosts in every rack."""
    hosts = {
        f"c/r{rack:02}/r{rack:02}n{host:02}": workers
        for rack in range(32)
        for host in range(18)
    }
    planner = Planner(cluster("cluster rack host", hosts))
    used = [18 * rack + host for rack in range(32) for host in range(16)]
    mine, others = used[:500], used[500:]
    gang = Gang(500 * workers, group=workers, group_level="host")
    planner.adopt("job", gang, _workers(mine, workers))
    planner.adopt("other", Gang(12 * workers), _workers(others, workers))
    return planner


def _workers(hosts: list[int], workers: int) -> list[int]:
    return [host * workers + worker for host in hosts for worker in range(workers)]


def test_c02_two_failures_in_two_racks_move_two_hosts() -> None:
    """Each of two lost hosts is replaced in its own rack; 498 stay where they are."""
    planner = _racks_of_18(workers=1)
    before = held_by(planner, "job")
    planner.fail(["r03n05"])
    planner.fail(["r20n00"])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [
        (53, "r03n05", "r03n16"),
        (320, "r20n00", "r20n16"),
    ]
    after = held_by(planner, "job")
    assert sum(old == new for old, new in zip(before, after, strict=True)) == 498
    assert repair.level_before == repair.level_after
    planner.validate()


def test_c02_one_after_the_other_ends_the_same() -> None:
    """A repair after each failure gives what one repair of both gives."""
    planner = _racks_of_18(workers=1)
    moves = []
    for lost in ("r03n05", "r20n00"):
        planner.fail([lost])
        moves += moves_of(planner, planner.replan("job"))
    assert moves == [(53, "r03n05", "r03n16"), (320, "r20n00", "r20n16")]
    planner.validate()


def test_c02_hosts_of_eight_move_whole() -> None:
    """With eight workers a host the two lost groups move whole, each in its rack."""
    planner = _racks_of_18(workers=8)
    planner.fail([f"r03n05.{worker}" for worker in range(8)])
    planner.fail([f"r20n00.{worker}" for worker in range(8)])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [
        *((424 + i, f"r03n05.{i}", f"r03n16.{i}") for i in range(8)),
        *((2560 + i, f"r20n00.{i}", f"r20n16.{i}") for i in range(8)),
    ]
    planner.validate()


SWITCHES = {"s4/s0/n0": 1, "s4/s0/n1": 1, "s4/s1/n2": 1, "s4/s1/n3": 1}


def test_c07_a_repair_stays_in_the_required_domain() -> None:
    """Rank 1 comes back beside rank 0 under s1, though s0 has lower free hosts."""
    hosts = SWITCHES | {"s4/s1/n4": 1}
    planner = Planner(cluster("spine switch host", hosts))
    planner.adopt("job", Gang(2, within="switch"), ["n2", "n4"])
    planner.fail(["n4"])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(1, "n4", "n3")]
    assert planner.placement("job").domain_name == "s1"
    planner.validate()


def test_c07_no_other_switch_will_do() -> None:
    """With nothing free under s1 the repair is refused, and nothing changes."""
    planner = Planner(cluster("spine switch host", SWITCHES))
    planner.adopt("job", Gang(2, within="switch"), ["n2", "n3"])
    planner.fail(["n3"])
    before = planner.save()
    refused = planner.replan("job")
    assert isinstance(refused, Misfit)
    assert (refused.code, refused.proven) == (MisfitCode.REPLACEMENT, True)
    assert "rank 1" in refused.reason
    assert "switch s1 has 0 gpus available" in refused.reason
    assert planner.save() == before
    assert available(planner) == ["n0", "n1"]
    planner.validate()


def test_c07_a_rank_placed_alone_is_confined_by_limits() -> None:
    """An embedder that places rank by rank names the switch by a limit."""
    planner = Planner(cluster("spine switch host", SWITCHES))
    planner.adopt("rank 0", Gang(1), ["n2"])
    beside = {"switch": [0, 1]}
    assert leaves_of(planner, planner.fits(Gang(1), limits=beside)) == ["n3"]
    busy(planner, "n3")
    refused = planner.place("rank 1", Gang(1), limits=beside)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    planner.validate()


@pytest.mark.parametrize("restart", ["adopt", "save"])
def test_c09_a_rebuilt_gang_has_its_deepest_domain(restart: str) -> None:
    """After a restart a gang of D1 is in D1, not in its parent P that holds no more."""
    hosts = {"P/D1/a": 1, "P/D1/b": 1, "P/D1/c": 1, "Q/D2/d": 1, "Q/D3/e": 1}
    topology = cluster("tier2 tier1 host", hosts)
    gang = Gang(2, within="tier1")
    planner = Planner(topology)
    assert leaves_of(planner, planner.place("job", gang)) == ["a", "b"]
    if restart == "adopt":
        leaves = planner.placement("job").leaves
        planner = Planner(topology)
        planner.adopt("job", gang, leaves)
    else:
        planner = Planner.load(topology, planner.save())
    placement = planner.placement("job")
    assert (placement.level_name, placement.domain_name) == ("tier1", "D1")
    planner.fail(["b"])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(1, "b", "c")]
    assert (repair.level_before, repair.level_after) == (2, 2)
    assert held_by(planner, "job") == ["a", "c"]
    planner.validate()


def test_c09_the_parent_alone_lends_nothing() -> None:
    """A full D1 refuses the repair; the gang of the whole parent still fits later."""
    hosts = {"P/D1/a": 1, "P/D1/b": 1, "Q/D2/c": 1, "Q/D2/d": 1}
    planner = Planner(cluster("tier2 tier1 host", hosts))
    planner.adopt("job", Gang(2, within="tier1"), ["a", "b"])
    planner.fail(["b"])
    refused = planner.replan("job")
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.REPLACEMENT
    assert "tier1 D1 has 0 gpus available" in refused.reason
    planner.release("job")
    planner.heal(["b"])
    planner.fenced("job")
    placement = planner.place("again", Gang(2, within="tier2"))
    assert (placement.level_name, placement.domain_name) == ("tier1", "D1")
    assert leaves_of(planner, placement) == ["a", "b"]
    planner.validate()


def test_short_a_host_loses_two_of_eight_workers_under_load() -> None:
    """A gang on all eight keeps six; the two lost ranks move where the group allows."""
    hosts = {"r/h1": 8, "r/h2": 8}
    planner = Planner(cluster("rack host", hosts))
    planner.adopt("job", Gang(8), [f"h1.{i}" for i in range(8)])
    assert planner.fail(["h1.3", "h1.6"]) == ["job"]
    assert len(available(planner)) == 8
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(3, "h1.3", "h2.3"), (6, "h1.6", "h2.6")]
    assert planner.free_leaves("host").tolist() == [0, 6]
    planner.validate()


def test_short_a_host_loses_two_of_eight_workers_beside_free_ones() -> None:
    """A gang of four on a host of eight is filled from the host's own free workers."""
    planner = Planner(cluster("rack host", {"r/h1": 8, "r/h2": 8}))
    gang = Gang(4, group=4, group_level="host")
    planner.adopt("job", gang, ["h1.0", "h1.1", "h1.2", "h1.3"])
    planner.fail(["h1.1", "h1.7"])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(1, "h1.1", "h1.6")]
    assert held_by(planner, "job") == ["h1.0", "h1.6", "h1.2", "h1.3"]
    planner.validate()


def test_short_a_shrunk_host_under_a_full_group_moves_it_whole() -> None:
    """Six workers cannot hold a group of eight: all eight ranks move together."""
    planner = Planner(cluster("rack host", {"r/h1": 8, "r/h2": 8}))
    planner.adopt(
        "job", Gang(8, group=8, group_level="host"), [f"h1.{i}" for i in range(8)]
    )
    planner.fail(["h1.3", "h1.6"])
    repair = planner.replan("job")
    assert moves_of(planner, repair) == [(i, f"h1.{i}", f"h2.{i}") for i in range(8)]
    assert planner.quarantined()["job"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    planner.fenced("job")
    assert planner.free_leaves("host").tolist() == [6, 0]
    planner.validate()


@pytest.mark.parametrize(
    "between",
    ["fail", "suspect", "cordon", "taken", "released"],
)
def test_short_a_plan_is_checked_as_hard_as_it_was_searched(between: str) -> None:
    """A plan whose leaf became unusable is stale, and changes nothing."""
    planner = Planner(cluster("rack host", {"r/n1": 1, "r/n2": 1, "r/n3": 1}))
    planner.adopt("job", Gang(2), ["n1", "n2"])
    plan = planner.replan("job", failed=["n1"], apply=False)
    assert moves_of(planner, plan) == [(0, "n1", "n3")]
    match between:
        case "taken":
            busy(planner, "n3")
        case "released":
            planner.release("job")
        case _:
            getattr(planner, between)(["n3"])
    before = planner.save()
    with pytest.raises(StalePlan, match="job"):
        planner.apply(plan)
    assert planner.save() == before
    planner.validate()

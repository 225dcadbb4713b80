"""Cases from the field about roles that must be placed together, by number."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Misfit, MisfitCode, Planner
from tests.cases.clusters import busy, cluster, leaves_of

BLOCKS = {"b1/r1/x1": 3, "b1/r2/x2": 3, "b1/r3/x3": 8, "b2/r1/x4": 11}
LEADER = Gang(5, group=5, group_level="host")


@pytest.mark.parametrize("balanced", [None, "rack", "host"])
def test_c22_a_leader_and_workers_fit_in_one_block_only(balanced: str | None) -> None:
    """Nine GPUs are left for seven workers beside the leader on x3, none in b2."""
    planner = Planner(cluster("block rack host", BLOCKS))
    gang = Gang(parts=[LEADER, Gang(7, balanced=balanced)], prefer="block")
    placement = planner.place("service", gang)
    names = leaves_of(planner, placement)
    assert names[:5] == ["x3.0", "x3.1", "x3.2", "x3.3", "x3.4"]
    workers = [name.partition(".")[0] for name in names[5:]]
    shares = [workers.count(host) for host in ("x1", "x2", "x3", "x4")]
    assert shares == ([3, 2, 2, 0] if balanced else [3, 3, 1, 0])
    assert (placement.level_name, placement.domain_name) == ("block", "b1")
    planner.validate()


def test_c22_where_the_leader_s_host_is_short_no_block_will_do() -> None:
    """Four of x3 left: groups of five are on x4, and the workers are too many there."""
    planner = Planner(cluster("block rack host", BLOCKS))
    busy(planner, "x3.0", "x3.1", "x3.2", "x3.3")
    refused = planner.place("service", Gang(parts=[LEADER, Gang(7)], within="block"))
    assert isinstance(refused, Misfit)
    assert (refused.code, refused.proven) == (MisfitCode.CAPACITY, True)
    assert refused.reason == (
        "no block has 12 available gpus for the parts (5 gpus in groups of 5 per host; "
        "7 gpus): best b2 has 11"
    )


@pytest.mark.parametrize("order", [("b1", "b2"), ("b2", "b1")])
def test_c23_the_gangs_of_a_service_share_the_block_that_holds_them_all(
    order: tuple[str, str],
) -> None:
    """Gangs of 3, 3, 3 and 1 nodes go to the block of 18, though each fits in 9."""
    sizes = {"b1": 18, "b2": 9}
    hosts = {
        f"{block}/{block}n{at}": 1 for block in order for at in range(sizes[block])
    }
    planner = Planner(cluster("block host", hosts))
    gang = Gang(parts=[Gang(ranks) for ranks in (3, 3, 3, 1)], within="block")
    placement = planner.place("service", gang)
    assert placement.domain_name == "b1"
    assert [part.size for part in placement.parts] == [3, 3, 3, 1]
    assert len(set(leaves_of(planner, placement))) == 10
    refused = planner.place("next", gang)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    planner.validate()


def test_c19_roles_of_one_gang_count_below_one_limit() -> None:
    """Two roles of one worker each on a host with one slot: the slot limits both."""
    planner = Planner(cluster("rack host", {"r/h": 2, "r/i": 2}))
    roles = Gang(parts=[Gang(1), Gang(1)], within="host")
    refused = planner.place("both", roles, limits={"host": [1, 1]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    apart = Gang(parts=[Gang(1), Gang(1)], within="rack")
    placement = planner.place("apart", apart, limits={"host": [1, 1]})
    assert leaves_of(planner, placement) == ["h.0", "i.0"]
    planner.validate()

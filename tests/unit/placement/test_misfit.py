"""What a refusal says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phalanx_core import (
    Gang,
    InvalidRequest,
    Misfit,
    MisfitCode,
    Planner,
    Spares,
    Topology,
)

RACKS = Topology.from_spec("rack:2 host:4 gpu:2")


def crowded() -> Planner:
    """Rack 0: a job on 0-1, 2 down, 4 suspect, 5 cordoned, 7 quarantined."""
    planner = Planner(RACKS, spares=Spares("rack"))
    planner.adopt("a", Gang(2), [0, 1])
    planner.adopt("gone", Gang(1), [7])
    planner.fail([2, 7])
    planner.release("gone")
    planner.suspect([4])
    planner.cordon([5])
    return planner


def test_reason_counts_what_is_in_the_way() -> None:
    """One sentence with level, best domain and every kind of loss."""
    planner = crowded()
    planner.adopt("b", Gang(6), range(8, 14))
    refused = planner.fits(Gang(3, within="rack"))
    assert isinstance(refused, Misfit)
    assert not refused
    assert refused.code is MisfitCode.CAPACITY
    assert refused.reason == (
        "no rack has 3 available gpus: best rack-0 has 2; 2 held by jobs, "
        "1 quarantined, 1 down, 1 suspect, 1 cordoned"
    )
    assert str(refused) == refused.reason
    assert refused.proven


def test_each_code_has_its_sentence() -> None:
    """Too large, limited, too few leaves, too few whole groups, no aligned block."""
    planner = Planner(RACKS)
    told = planner.fits(Gang(9, within="rack")).reason
    assert told == "no rack could ever hold 9 gpus: best rack-0 has 8"
    told = planner.fits(Gang(4, group=4, group_level="host")).reason
    assert told == (
        "no cluster could ever hold 4 gpus in groups of 4 per host: no host holds a "
        "group of 4, best host-0 has 2"
    )
    told = planner.fits(Gang(4), limits={"cluster": [3]}).reason
    assert told == (
        "limits leave no cluster with room for 4 gpus: best cluster may take 3 of its "
        "16 available; without limits it fits"
    )
    for leaf in range(0, 16, 2):
        planner.adopt(leaf, Gang(1), [leaf])
    told = planner.fits(Gang(4, group=2)).reason
    assert told == (
        "no cluster has 4 gpus in groups of 2 per host: best cluster has whole groups "
        "for 0 of its 8 available; 8 held by jobs"
    )
    buddy = Planner(RACKS, alignment="buddy")
    buddy.adopt("x", Gang(1), [0])
    buddy.adopt("y", Gang(1), [8])
    refused = buddy.fits(Gang(8))
    assert refused.code is MisfitCode.ALIGNMENT
    assert refused.reason.startswith("no cluster has an aligned block of 8 gpus")


def test_records_go_up_the_levels() -> None:
    """One record a level from the start of the search, with names and counts."""
    refused = crowded().fits(Gang(9))
    assert refused.code is MisfitCode.CAPACITY
    assert [record.level for record in refused.records] == ["cluster"]
    record = refused.records[0]
    assert (record.domains, record.best, record.leaves) == (1, "cluster", 16)
    assert (record.available, record.owned, record.spare) == (8, 2, 2)
    told = json.loads(json.dumps(refused.to_dict()))
    assert told["code"] == "CAPACITY"
    assert told["records"][0]["quarantined"] == 1


def test_a_misfit_keeps_what_it_saw() -> None:
    """The reason is made on use, from values of the call."""
    planner = crowded()
    refused = planner.fits(Gang(9))
    planner.heal(range(16))
    planner.fenced("gone")
    planner.release("a")
    assert refused.reason == (
        "no cluster has 9 available gpus: best cluster has 8; 2 held by jobs, 2 spare, "
        "1 quarantined, 1 down, 1 suspect, 1 cordoned"
    )


def test_too_large_tells_of_the_empty_cluster() -> None:
    """Who holds what now is no part of it; whole groups are counted as such."""
    topology = Topology.from_spec("host:4 gpu:4")
    planner = Planner(topology)
    assert planner.fits(Gang(8, group=4, group_level="gpu")).reason == (
        "no cluster could ever hold 8 gpus in groups of 4 per gpu: no gpu holds a "
        "group of 4, best host-0/gpu-0 has 1"
    )
    assert planner.fits(Gang(15, group=3)).reason == (
        "no cluster could ever hold 15 gpus in groups of 3 per host: best cluster has "
        "whole groups for 12 of its 16"
    )
    uneven = Planner(Topology.from_labels(["host"], [list("aabbbb")]))
    uneven.adopt("x", Gang(4), [2, 3, 4, 5])
    assert uneven.fits(Gang(5, within="host")).reason == (
        "no host could ever hold 5 gpus: best b has 4"
    )


def test_a_level_that_no_leaf_has_is_named() -> None:
    """As the domain that confines the gang, and as that of its groups."""
    topology = Topology.from_labels(["host", "rack"], [list("aabb"), [None] * 4])
    planner = Planner(topology)
    for gang in (Gang(1, within="rack"), Gang(2, group=2, group_level="rack")):
        reason = planner.fits(gang).reason
        assert reason.startswith("no rack could ever hold")
        assert reason.endswith(": no gpu has a rack")
    assert planner.fits(Gang(5)).reason == (
        "no rack could ever hold 5 gpus: best tree without a rack has 2"
    )


def test_a_limit_above_within_is_the_one_named() -> None:
    """The domain has room by its own counts, so the sentence looks above it."""
    planner = Planner(RACKS)
    refused = planner.fits(Gang(2, within="rack", limits={"cluster": [0]}))
    assert refused.code is MisfitCode.LIMITED
    assert refused.reason == (
        "limits of cluster leave no rack with room for 2 gpus: best rack-0 has 8 "
        "available; without limits it fits"
    )
    told = planner.fits(Gang(2, within="host", limits={"rack": [1, 0]})).reason
    assert told.startswith("limits ")
    assert " leave no host with room for 2 gpus: best host-0 has 2 available" in told
    records = refused._records
    made = Misfit(
        MisfitCode.LIMITED,
        Gang(2, within="rack"),
        planner._frame,
        records,
        limited=("host", "cluster"),
    )
    assert made.reason == refused.reason


def test_limits_that_refuse_a_repair_are_told() -> None:
    """Stored ones and given ones, for ranks and for groups; not where room lacks."""
    planner = Planner(Topology.from_spec("rack:5 gpu:1"))
    planner.place("a", Gang(3), limits={"rack": [1, 1, 1, 0, 0]})
    planner.fail([0])
    reason = planner.replan("a").reason
    assert "cluster cluster has 2 gpus available; 3 held by jobs; limits" in reason
    groups = Planner(Topology.from_spec("host:3 gpu:4"))
    groups.place("b", Gang(8, group=4))
    groups.fail([0])
    reason = groups.replan("b", limits={"host": [4, 4, 0]}).reason
    assert "whole groups for 4 of its 4 gpus available; 8 held by jobs; limits" in (
        reason
    )
    groups.place("c", Gang(1))
    assert groups.replan("b").reason == (
        "job 'b': no replacement for rank 0 of groups of 4: cluster cluster has whole "
        "groups for 0 of its 3 gpus available; 9 held by jobs"
    )


def test_limits_that_keep_a_repair_from_spares_are_told() -> None:
    """A repair may use spares, so these count as room."""
    planner = Planner(RACKS, spares=Spares("rack"))
    planner.adopt("a", Gang(6, within="rack"), range(6))
    planner.fail([0])
    reason = planner.replan("a", limits={"host": [2, 2, 2, 0] + [2] * 4}).reason
    assert "rack rack-0 has 0 gpus available; 6 held by jobs, 2 spare; limits" in (
        reason
    )


def test_buddy_blocks_are_told_rounded() -> None:
    """Six available leaves are no room for five ranks, which take a block of eight."""
    planner = Planner(Topology.from_spec("host:2 gpu:4"), alignment="buddy")
    planner.adopt("x", Gang(1), [0])
    assert planner.fits(Gang(5)).reason == (
        "no cluster has an aligned block of 8 gpus: best cluster has 7; 1 held by jobs"
    )


@pytest.mark.parametrize(
    ("leaf", "told"),
    [
        (2**70, "1180591620717411303424"),
        (-(2**70), "-1180591620717411303424"),
        (np.array([2**63], np.uint64), "9223372036854775808"),
        (10**5000, "of 16610 bits"),
    ],
    ids=["big", "negative", "unsigned", "longer than Python writes"],
)
def test_a_leaf_out_of_range_is_told_as_given(leaf: object, told: str) -> None:
    """No value is shown as the one it wraps to."""
    with pytest.raises(InvalidRequest) as caught:
        Planner(RACKS).fail(leaf)
    assert str(caught.value) == (f"fail: leaf {told} does not exist; ids are 0 to 15")


def test_names_and_levels_are_told_with_their_place() -> None:
    """The call of a leaf's name, the argument of a level, the bound of a size."""
    with pytest.raises(InvalidRequest, match=r"^fail: leaf 'zz' does not exist"):
        Planner(RACKS).fail("zz")
    with pytest.raises(InvalidRequest, match=r"^limits\['pod'\]: level 'pod' does"):
        Planner(RACKS).fits(Gang(2), limits={"pod": [1]})
    with pytest.raises(InvalidRequest, match=r"^ranks of 16610 bits: between 1 and 21"):
        Gang(10**5000)


def test_leaves_outside_the_groups_domains_are_no_room() -> None:
    """Two leaves have no host: four available ones hold one group of two per host."""
    hosts = [None, None, *"aaaa"]
    topology = Topology.from_labels(["host", "rack"], [hosts, list("rrrrrr")])
    planner = Planner(topology)
    planner.adopt("x", Gang(2), [2, 3])
    assert planner.fits(Gang(4, group=2, within="rack")).reason == (
        "no rack has 4 gpus in groups of 2 per host: best r has whole groups for 2 of "
        "its 4 available; 2 held by jobs"
    )


def test_survivors_are_no_room_for_other_groups() -> None:
    """Two broken groups share a host: neither may take the survivor's leaf of the other."""
    planner = Planner(Topology.from_spec("host:1 gpu:4"))
    planner.place("a", Gang(4, group=2))
    planner.fail([1, 3])
    assert planner.replan("a").reason == (
        "job 'a': no replacement for ranks 1,3 of groups of 2: cluster cluster has 0 "
        "gpus available; 4 held by jobs"
    )

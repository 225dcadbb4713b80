"""Gangs of parts through the planner: values, errors, refusals, repairs, saves."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from phalanx_core import Gang, InvalidRequest, MisfitCode, Planner, StalePlan, Topology

RACKS = Topology.from_spec("pod:2 rack:2 host:2 gpu:4")
SERVICE = Gang(parts=(Gang(4, group=4), Gang(4, group=2)), within="rack")


def test_parts_are_part_of_a_gang_s_value() -> None:
    """Gangs and mappings are the same; ranks are numbered part after part."""
    gang = Gang(parts=[{"ranks": 4, "group": 4}, Gang(4, group=2)], within="rack")
    assert gang == SERVICE
    assert hash(gang) == hash(SERVICE)
    assert gang != Gang(parts=SERVICE.parts[::-1], within="rack")
    assert (gang.ranks, gang.part_ranks) == (8, (range(4), range(4, 8)))
    assert Gang(3).part_ranks == (range(3),)
    assert pickle.loads(pickle.dumps(gang)) == gang
    assert gang.to_dict() == {
        "within": "rack",
        "parts": [{"ranks": 4, "group": 4}, {"ranks": 4, "group": 2}],
    }
    assert Gang(**gang.to_dict()) == gang
    assert repr(gang) == (
        "Gang(within='rack', parts=(Gang(4, group=4), Gang(4, group=2)))"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "ranks None: a whole number of at least 1"),
        ({"parts": 3}, "parts 3: gangs that are placed together"),
        ({"parts": "ab"}, "parts 'ab': gangs that are placed together"),
        ({"parts": [3]}, "parts[0] 3: a Gang"),
        ({"parts": [{"ranks": 0}]}, "parts[0] {'ranks': 0}: ranks 0: between"),
        ({"parts": [{"rank": 3}]}, "parts[0] {'rank': 3}: "),
        (
            {"parts": [Gang(2), Gang(2, prefer="host")]},
            "parts[1] prefer 'host': not for a part of a gang",
        ),
        (
            {"parts": [Gang(2, aim="fill")]},
            "parts[0] aim 'fill': not for a part of a gang",
        ),
        (
            {"parts": [Gang(4, templates=(2,))]},
            "parts[0] templates (2,): not for a part of a gang",
        ),
        ({"parts": [SERVICE]}, "parts[0] parts (Gang(4, group=4), Gang(4, group=2))"),
        ({"parts": [Gang(4)], "ranks": 3}, "ranks 3: the parts have 4 in all"),
        ({"parts": [Gang(4)], "group": 2}, "group 2: beside parts, each has its own"),
        ({"parts": [Gang(4)], "aim": "fill"}, "aim 'fill': not for a gang of parts"),
        (
            {"parts": [Gang(4)], "balanced": "host"},
            "balanced 'host': beside parts, each has its own",
        ),
    ],
)
def test_a_gang_refuses_what_is_no_part(fields: dict[str, Any], message: str) -> None:
    """One exception that names part, field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        Gang(**fields)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("gang", "message"),
    [
        (
            Gang(parts=[Gang(2, within="pod")], within="rack"),
            "parts[0]: within 'pod' is above that of the whole, 'rack'",
        ),
        (
            Gang(parts=[Gang(2), Gang(2, within="gpu")]),
            "parts[1]: within 'gpu': a leaf",
        ),
        (Gang(parts=[Gang(2, within="row")]), "parts[0]: level 'row' does not exist"),
        (
            Gang(parts=[Gang(2, group=2, group_level="pod")], within="rack"),
            "parts[0]: Gang(2, group=2, group_level='pod', within='rack'): group_level",
        ),
        (Gang(parts=[Gang(1)] * 33), "parts: 33 of them, at most 32"),
        (
            Gang(parts=[Gang(2, limits={"host": [1]})]),
            "parts[0]: limits['host'] has 1 entries; the topology has 8 domains",
        ),
    ],
)
def test_a_planner_refuses_parts_that_do_not_go_with_it(
    gang: Gang, message: str
) -> None:
    """The part is named, and nothing is placed."""
    planner = Planner(RACKS)
    for call in (planner.fits, lambda one: planner.place("a", one)):
        with pytest.raises(InvalidRequest) as caught:
            call(gang)
        assert str(caught.value).startswith(message)
    assert planner.jobs() == []


def test_who_takes_no_parts_says_so() -> None:
    """Batches, buddy alignment, resizing and movable jobs."""
    planner = Planner(RACKS)
    with pytest.raises(InvalidRequest, match="takes no limits, slices, templates or p"):
        planner.place_many([8], SERVICE)
    with pytest.raises(InvalidRequest, match="knows no slices, balanced, templates or"):
        Planner(RACKS, alignment="buddy").fits(SERVICE)
    planner.place("service", SERVICE)
    with pytest.raises(InvalidRequest, match="movable: job 'service' has parts"):
        planner.defragment(Gang(16), movable=["service"])
    with pytest.raises(InvalidRequest, match="has sizes 8"):
        planner.resize("service", 4)


def test_a_placement_has_its_parts() -> None:
    """Leaves of each part, and the same by rank in every other form."""
    placed = Planner(RACKS).place("service", SERVICE)
    assert placed
    assert [part.tolist() for part in placed.parts] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert placed.to_dict()["parts"] == [4, 4]
    assert placed.level_name == "rack"
    plain = Planner(RACKS).place("plain", Gang(2))
    assert plain
    assert [part.tolist() for part in plain.parts] == [[0, 1]]
    assert "parts" not in plain.to_dict()


@pytest.mark.parametrize(
    ("parts", "code", "reason"),
    [
        (
            (Gang(5, group=5), Gang(2)),
            MisfitCode.TOO_LARGE,
            "no rack could ever hold the parts together (5 gpus in groups of 5 per host; "
            "2 gpus): parts[0]: no rack could ever hold 5 gpus in groups of 5 per host: "
            "no host holds a group of 5, best host-0 has 4",
        ),
        (
            (Gang(8, group=4), Gang(1)),
            MisfitCode.TOO_LARGE,
            "no rack could ever hold the parts together (8 gpus in groups of 4 per host; "
            "1 gpu): best rack-0 has 8 gpus",
        ),
        (
            (Gang(4, group=4), Gang(4)),
            MisfitCode.CAPACITY,
            "no rack has 8 available gpus for the parts (4 gpus in groups of 4 per host; "
            "4 gpus): best rack-0 has 7; 1 down",
        ),
        (
            (Gang(4, group=4), Gang(2, group=2), Gang(1)),
            None,
            "",
        ),
        (
            (Gang(3), Gang(4, limits={"host": [1] * 8})),
            MisfitCode.LIMITED,
            "limits leave no rack with room for the parts (3 gpus; 4 gpus): parts[1]: "
            "limits leave no rack with room for 4 gpus: best rack-0 may take 2 of its 7 "
            "available; without limits it fits",
        ),
    ],
)
def test_a_refusal_says_which_part_or_that_it_is_all_of_them(
    parts: tuple[Gang, ...], code: MisfitCode | None, reason: str
) -> None:
    """Every host pair has one dead GPU."""
    planner = Planner(RACKS)
    planner.fail([0, 8, 16, 24])
    answer = planner.fits(Gang(parts=parts, within="rack"))
    assert bool(answer) == (code is None)
    if not answer:
        assert (answer.code, answer.proven) == (code, True)
        assert answer.reason == reason


def test_parts_may_fit_alone_and_not_together() -> None:
    """Two hosts of three healthy GPUs hold a pair each, and no third one."""
    planner = Planner(RACKS)
    planner.fail(range(0, 32, 4))
    pairs = (Gang(4, group=2), Gang(2, group=2))
    for pair in pairs:
        assert planner.fits(Gang(parts=[pair], within="rack"))
    refused = planner.fits(Gang(parts=pairs, within="rack"))
    assert not refused
    assert (refused.code, refused.proven) == (MisfitCode.GROUPS, True)
    assert refused.reason == (
        "no rack has room for the parts together (4 gpus in groups of 2 per host; "
        "2 gpus in groups of 2 per host): best rack-0 has 6; 2 down"
    )


def test_no_room_for_a_dead_part_is_proven() -> None:
    """Where all its ranks are gone and nothing is free, and widening has no slices."""
    for widen in (False, True):
        planner = Planner(Topology.from_spec("rack:2 host:3 gpu:4"))
        placed = planner.place("a", Gang(parts=[Gang(4, group=4)]))
        planner.fail(placed.leaves)
        planner.cordon(range(24))
        refused = planner.replan("a", widen=widen)
        assert (refused.code, refused.proven) == (MisfitCode.REPLACEMENT, True)
        assert "(not proven)" not in str(refused)


def test_adopted_parts_keep_their_rules() -> None:
    """What each of them breaks is named by the ranks of the whole."""
    planner = Planner(RACKS)
    with pytest.raises(
        InvalidRequest, match="group of 2: ranks 4-5 lie in host-1 and h"
    ):
        planner.adopt("a", SERVICE, [0, 1, 2, 3, 5, 8, 6, 7])
    own = Gang(parts=[Gang(1), Gang(2, within="host")], within="pod")
    with pytest.raises(
        InvalidRequest, match="within host: ranks 1-2 lie in host-0 and"
    ):
        planner.adopt("a", own, [1, 0, 4])
    with pytest.raises(
        InvalidRequest, match="within rack: ranks 0-7 lie in rack-0 and"
    ):
        planner.adopt("a", SERVICE, [0, 1, 2, 3, 8, 9, 10, 11])
    assert planner.adopt("a", own, [12, 5, 6])
    planner.validate()


def test_limits_bind_a_part_and_the_whole() -> None:
    """A repair keeps to both, and a part's own are not those of the others."""
    host = np.array([4, 1, 4, 4, 4, 4, 4, 4])
    part = Gang(4, limits={"host": host})
    gang = Gang(parts=[part, Gang(2)], within="pod", limits={"rack": [5, 8, 8, 8]})
    planner = Planner(RACKS)
    placed = planner.place("a", gang)
    assert placed
    assert [part.tolist() for part in placed.parts] == [[8, 9, 10, 11], [12, 13]]
    planner.fail([8])
    repair = planner.replan("a")
    assert repair.moves.tolist() == [[0, 8, 14]]
    planner.fail([9, 10, 11])
    planner.cordon([15])
    repair = planner.replan("a")
    assert repair
    moved = repair.leaves[:4].tolist()
    assert sum(4 <= leaf < 8 for leaf in moved) <= 1
    assert sum(leaf < 8 for leaf in repair.leaves.tolist()) <= 5
    planner.validate()


def test_a_plan_is_stale_when_its_part_moved_meanwhile() -> None:
    """Two plans for one group of a part: the second would split it."""
    planner = Planner(RACKS)
    gang = Gang(parts=[Gang(4, group=2), Gang(1)], within="pod")
    planner.adopt("a", gang, [0, 1, 4, 5, 2])
    plan = planner.replan("a", failed=[0], apply=False)
    assert plan.moves.tolist() == [[0, 0, 3]]
    planner.cordon([3])
    assert planner.replan("a", failed=[1]).moves.tolist() == [[0, 0, 6], [1, 1, 7]]
    planner.uncordon([3])
    with pytest.raises(StalePlan):
        planner.apply(plan)
    planner.validate()


def test_a_saved_planner_has_its_parts() -> None:
    """Limits by index and by name come back as they were."""
    limited = Gang(2, limits={1: [1] * 8, "rack": [2] * 4})
    gang = Gang(parts=[limited, Gang(3)], limits={"pod": [8, 0]})
    planner = Planner(RACKS)
    planner.place("a", gang)
    loaded = Planner.load(RACKS, planner.save())
    assert loaded.placement("a").gang == gang
    assert loaded.save() == planner.save()
    planner.fail([0])
    loaded.fail([0])
    assert planner.replan("a").moves.tolist() == loaded.replan("a").moves.tolist()


def test_parts_stay_through_a_sync_with_their_limits() -> None:
    """A host in front of all others shifts every domain; limits go with theirs."""
    hosts = [f"h{at // 4}" for at in range(16)]
    before = Topology.from_labels(("host", "rack"), (hosts, ["r"] * 16))
    planner = Planner(before)
    part = Gang(2, limits={"host": [0, 2, 2, 2]})
    planner.place("a", Gang(parts=[part, Gang(2)], within="rack"))
    names = [before.names[leaf] for leaf in planner.placement("a").leaves]
    after = Topology.from_labels(("host", "rack"), (["new"] * 4 + hosts, ["r"] * 20))
    planner.sync(after)
    held = planner.placement("a")
    assert [after.names[leaf] for leaf in held.leaves] == names
    carried = held.gang.parts[0].limits
    assert carried is not None
    assert carried["host"].tolist() == [0, 0, 2, 2, 2]


def test_advice_makes_room_for_parts() -> None:
    """The cheapest jobs whose leaving lets both parts in, not just enough GPUs."""
    planner = Planner(RACKS)
    for at in range(8):
        planner.adopt(f"a{at}", Gang(2), [4 * at, 4 * at + 1])
    for at in range(8):
        planner.adopt(f"b{at}", Gang(1), [4 * at + 2])
    costs = {f"a{at}": 5.0 for at in range(4)} | {f"b{at}": 1.0 for at in range(4)}
    gang = Gang(parts=[Gang(4, group=4), Gang(2)], within="rack")
    advice = planner.preempt_advice(gang, costs)
    assert advice
    assert (advice.cost, advice.proven) == (7.0, True)
    assert advice.victims == ("a0", "b0", "b1")
    many = costs | {f"a{at}": 5.0 for at in range(8)}
    three = Gang(parts=[Gang(3, group=3), Gang(1)], within="rack")
    advice = planner.preempt_advice(three, many)
    assert advice
    # GPUs enough would be free without two of the b's, but no three in one host.
    assert (advice.victims, advice.cost, advice.proven) == (("a7",), 5.0, False)


def test_room_for_parts_is_cleared_by_moves() -> None:
    """Moves are proven the fewest only where GPUs alone need as many."""
    planner = Planner(Topology.from_spec("rack:1 host:3 gpu:4"))
    planner.adopt("x", Gang(1), [0])
    planner.adopt("y", Gang(1), [4])
    planner.adopt("z", Gang(1), [8])
    gang = Gang(parts=[Gang(4, group=4), Gang(3, group=3)], within="rack")
    assert not planner.fits(gang)
    plan = planner.defragment(gang)
    assert plan
    assert (plan.moved, plan.proven) == (1, True)
    planner.apply(plan)
    for job in plan.fence:
        planner.fenced(job)
    assert planner.place("a", gang)
    planner.validate()

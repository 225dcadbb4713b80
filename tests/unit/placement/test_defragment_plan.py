"""Plans of a defragmentation: what they say, how they are applied, when they are stale."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from phalanx_core import (
    DefragmentPlan,
    Gang,
    InvalidRequest,
    Planner,
    Spares,
    StalePlan,
    Topology,
)
from tests.unit.placement.crowded import HOST, moves, planned, racks


def test_one_group_makes_room_for_a_host() -> None:
    """What moves, what gets free, where the gang goes, and the words for it."""
    plan = planned(racks(), HOST)
    assert moves(plan) == {"a": [[0, 0, 6], [1, 1, 7]]}
    assert (plan.moved, plan.proven, plan.fence) == (2, True, ("a",))
    assert plan.leaves.tolist() == [0, 1]
    assert (plan.placement.level_name, plan.placement.leaves.tolist()) == (
        "host",
        [0, 1, 2, 3],
    )
    assert (plan["a"].level_before, plan["a"].level_after, plan["a"].dead) == (1, 1, 0)
    assert str(plan) == (
        "2 ranks to move: job 'a': 2 ranks move (0-1), leaves 0-1 -> 6-7, level host -> "
        "host; once 'a' is fenced: 4 ranks in host-0 (host): leaves 0-3"
    )
    assert repr(plan) == (
        "DefragmentPlan(moved=2, fence=('a',), level='host', proven=True)"
    )
    told = plan.to_dict()
    assert list(told) == [
        *("repairs", "moved", "leaves", "fence", "placement", "proven")
    ]
    assert told["repairs"][0]["moves"] == [[0, 0, 6], [1, 1, 7]]
    assert (told["leaves"], told["fence"]) == ([0, 1], ["a"])


def test_applied_at_once() -> None:
    """The same moves; such a plan cannot be applied again."""
    planner = racks()
    plan = planner.defragment(HOST, apply=True)
    assert planner.placement("a").leaves.tolist() == [6, 7]
    assert isinstance(plan, DefragmentPlan)
    with pytest.raises(StalePlan, match="it was applied when it was made"):
        planner.apply(plan)


def test_nothing_moves_where_it_fits() -> None:
    """An empty plan is true, and may be applied."""
    planner = racks()
    saved = planner.save()
    plan = planned(planner, Gang(2, group=2))
    assert plan
    assert (plan, plan.moved, plan.fence, plan.leaves.tolist()) == ({}, 0, (), [])
    assert str(plan) == "nothing moves: 2 ranks in host-0 (host): leaves 2-3"
    planner.apply(plan)
    assert planner.defragment(Gang(2, group=2), apply=True) == {}
    assert planner.save() == saved


def test_a_dead_rank_may_move_along() -> None:
    """The plan counts it, and is stale once its leaf is well again."""
    planner = Planner(Topology.from_spec("rack:2 host:3 gpu:2"))
    planner.adopt("s", Gang(2, group=2, group_level="rack"), [0, 2])
    planner.fail([2])
    wanted = Gang(2, limits={"host": [2, 0, 0, 0, 0, 0]})
    plan = planned(planner, wanted)
    assert (plan["s"].moves[:, 1].tolist(), plan["s"].dead) == ([0, 2], 1)
    stale = planner.clone()
    stale.heal([2])
    with pytest.raises(StalePlan, match="leaf 2 changed"):
        stale.apply(plan)
    planner.apply(plan)
    assert planner.broken() == []
    assert planner.fenced("s").tolist() == [0, 2]
    assert planner.place("w", wanted).leaves.tolist() == [0, 1]


CHANGES: dict[str, tuple[Callable[[Planner], object], str]] = {
    "a leaf of the block is taken": (
        lambda p: p.adopt("e", Gang(1), [3]),
        "defragment plan: leaf 3 changed since it was made",
    ),
    "a leaf of the block is cordoned": (lambda p: p.cordon([2]), "leaf 2 changed"),
    "a leaf to go to is taken": (lambda p: p.adopt("e", Gang(1), [6]), "leaf 6"),
    "a leaf to go to fails": (lambda p: p.fail([7]), "leaf 7 changed"),
    "a leaf to leave fails": (lambda p: p.fail([1]), "leaf 1 changed"),
    "the job is gone": (lambda p: p.release("a"), "leaf 0 changed"),
    "the job was placed anew": (
        lambda p: (p.release("a"), p.adopt("a", Gang(2, group=2), [0, 1])),
        "plan for job 'a': the job was placed anew since",
    ),
    "it was applied": (lambda p: p.defragment(HOST, apply=True), "leaf 0 changed"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_plan_goes_stale(what: str) -> None:
    """With whatever it uses; then nothing is changed."""
    planner = racks()
    plan = planned(planner, HOST)
    change, message = CHANGES[what]
    change(planner)
    saved = planner.save()
    with pytest.raises(StalePlan, match=message):
        planner.apply(plan)
    assert planner.save() == saved


def test_other_changes_do_not_matter() -> None:
    """Leaves that the plan does not use may come and go."""
    planner = racks()
    plan = planned(planner, HOST)
    planner.release("d")
    planner.adopt("e", Gang(1), [15])
    planner.apply(plan)
    assert planner.placement("a").leaves.tolist() == [6, 7]


def test_a_spare_that_moved_makes_a_plan_stale() -> None:
    """What it uses is as it was, and yet the gang would not fit."""
    planner = Planner(Topology.from_spec("rack:1 host:4 gpu:2"), spares=Spares("rack"))
    planner.adopt("a", Gang(1), [0])
    planner.adopt("b", Gang(1), [2])
    planner.adopt("c", Gang(2), [4, 5])
    plan = planned(planner, Gang(2, within="host"), movable=["a"])
    assert moves(plan) == {"a": [[0, 0, 3]]}
    planner.cordon([6])
    saved = planner.save()
    with pytest.raises(StalePlan, match="spares moved since"):
        planner.apply(plan)
    assert planner.save() == saved


def test_a_plan_of_another_cluster() -> None:
    """Is no plan of this one."""
    plan = planned(racks(), HOST)
    with pytest.raises(InvalidRequest, match="made on another topology"):
        Planner(Topology.from_spec("rack:2 host:3 gpu:4")).apply(plan)

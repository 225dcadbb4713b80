"""Plans are bound to the gang and the leaves they were made for."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Handle, InvalidRequest, Planner, StalePlan, Topology


def planner_of(spec: str) -> Planner:
    """A planner of a uniform cluster."""
    return Planner(Topology.from_spec(spec))


@pytest.mark.parametrize(
    "later", [Gang(4, group=4), Gang(4, within="host"), Gang(4)], ids=repr
)
def test_a_plan_is_not_for_the_next_job_of_that_name(later: Gang) -> None:
    """A key that is used again names another job; its plan is stale, nothing changes."""
    planner = planner_of("pod:2 host:4 gpu:4")
    planner.place("k", Gang(4))
    plan = planner.replan("k", failed=[0], apply=False)
    planner.release("k")
    planner.place("k", later)
    before = planner.save()
    with pytest.raises(StalePlan, match="placed anew"):
        planner.apply(plan)
    assert planner.save() == before
    planner.validate()


def test_a_plan_of_a_clone_is_for_the_same_gang() -> None:
    """A what-if on a copy gives a plan that the planner takes."""
    planner = planner_of("host:3 gpu:4")
    planner.place("k", Gang(4, group=4))
    copy = planner.clone()
    copy.fail([0])
    plan = copy.replan("k", apply=False)
    planner.fail([0])
    planner.apply(plan)
    assert planner.placement("k").leaves.tolist() == [4, 5, 6, 7]


def test_a_leaf_that_came_back_makes_the_plan_stale() -> None:
    """The job keeps a leaf that is healthy again."""
    planner = planner_of("host:2 gpu:4")
    planner.place("k", Gang(2))
    planner.fail([0])
    plan = planner.replan("k", apply=False)
    planner.heal([0])
    with pytest.raises(StalePlan, match="healthy again"):
        planner.apply(plan)
    assert planner.placement("k").leaves.tolist() == [0, 1]


def test_a_repair_that_was_applied_is_no_plan() -> None:
    """Applying it again is refused by name."""
    planner = planner_of("host:2 gpu:4")
    planner.place("k", Gang(2))
    planner.fail([0])
    repair = planner.replan("k")
    with pytest.raises(StalePlan):
        planner.apply(repair)


def test_a_drain_of_another_topology_is_refused() -> None:
    """No leaf is cordoned."""
    plan = planner_of("host:4 gpu:4").drain([0, 1], apply=False)
    planner = planner_of("rack:2 host:8 gpu:4")
    with pytest.raises(InvalidRequest, match="another topology"):
        planner.apply(plan)
    assert not planner.owner(0).cordoned


def test_a_drain_is_stale_when_another_job_took_its_leaves() -> None:
    """The newcomer is not left on cordoned leaves without a word."""
    planner = planner_of("host:4 gpu:4")
    plan = planner.drain([0, 1], apply=False)
    planner.place("n", Gang(2))
    with pytest.raises(StalePlan, match="held by other jobs"):
        planner.apply(plan)
    assert not planner.owner(0).cordoned


def test_a_handle_keeps_its_gang() -> None:
    """Groups and bounds of a batch hold for its repairs too."""
    planner = planner_of("host:3 gpu:4")
    handles, *_ = planner.place_many([8], Gang(4, group=4, within="cluster"))
    handle = Handle(int(handles[0]))
    assert planner.gang(handle) == Gang(8, 4, "host", within="cluster")
    planner.fail([1])
    repair = planner.replan(handle)
    assert repair.moves.tolist() == [[0, 0, 8], [1, 1, 9], [2, 2, 10], [3, 3, 11]]

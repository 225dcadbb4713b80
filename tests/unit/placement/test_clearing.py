"""The search behind a defragmentation, each way on its own."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.placement import clearing
from tests.unit.placement.crowded import HOST, moves, planned, racks, refused


def test_a_bounded_search_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """No work at all: neither the quick way nor the exhaustive one finds anything."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    monkeypatch.setattr(clearing, "WORK_MAX", 0)
    answer = refused(racks(), HOST)
    assert not answer.proven
    assert answer.reason.endswith("; found no moves of 4 jobs to make room")


def test_a_slice_moves_whole() -> None:
    """Two ranks of it would do, but their rack has no room for them."""
    planner = Planner(Topology.from_spec("rack:2 host:3 gpu:2"))
    sliced = Gang(4, group=2, group_level="host", slices=[(4, "rack")])
    planner.adopt("s", sliced, [0, 1, 2, 3])
    planner.adopt("x", Gang(1), [4])
    planner.adopt("y", Gang(1), [6])
    limits = {"host": [2, 2, 2, 0, 0, 0]}
    plan = planned(planner, Gang(3, within="rack"), limits=limits, movable=["s"])
    assert moves(plan) == {"s": [[0, 0, 8], [1, 1, 9], [2, 2, 10], [3, 3, 11]]}
    assert (plan.moved, plan.proven) == (4, True)
    assert plan.placement.leaves.tolist() == [0, 1, 5]


def with_a_slice(within: str | None = None) -> Planner:
    """A slice of two groups that its rack r has no other place for; q is idle."""
    rows = [list("aaabbbccddee"), list("rrrrrrrrqqqq"), list("pppppppppppp")]
    planner = Planner(Topology.from_labels(("host", "rack", "pod"), rows))
    sliced = Gang(4, group=2, group_level="host", slices=[(4, "rack")], within=within)
    planner.adopt("s", sliced, [0, 1, 6, 7])
    return planner


def test_a_dearer_plan_is_beaten() -> None:
    """The quick way moves two ranks' whole slice of four; three single ranks will do."""
    planner = with_a_slice()
    for job, leaf in zip("xyz", (3, 4, 5), strict=True):
        planner.adopt(job, Gang(1), [leaf])
    plan = planned(planner, Gang(3, within="host"))
    assert (plan.moved, plan.fence, plan.proven) == (3, ("x", "y", "z"), True)
    assert plan.placement.leaves.tolist() == [3, 4, 5]


@pytest.mark.parametrize("within", [None, "rack"])
def test_without_work_the_quick_plan_is_given(
    monkeypatch: pytest.MonkeyPatch, within: str | None
) -> None:
    """The slice goes along, or all of the job; whether fewer would do is not known."""
    monkeypatch.setattr(clearing, "WORK_MAX", 0)
    planner = with_a_slice(within)
    planner.adopt("x", Gang(3), [3, 4, 5])
    plan = planned(planner, Gang(3, within="host"), movable=["s"])
    assert (plan.moved, plan.leaves.tolist()) == (4, [0, 1, 6, 7])
    assert not plan.proven
    assert str(plan).startswith("4 ranks to move, not proven to be the fewest: job 's'")


def test_a_rack_that_is_missing_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without a rack takes no group of a rack."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    racks = ["r", "r", "q", "q", None, None]
    topology = Topology.from_labels(("host", "rack"), [list("aabbcc"), racks])
    planner = Planner(topology)
    limits = {"rack": [2, 0]}
    gang = Gang(2, group=2, group_level="rack", limits=limits)
    planner.adopt("a", gang, [0, 1])
    answer = refused(planner, Gang(2, limits={"host": [2, 0, 0]}))
    assert answer.proven


def test_leaves_that_limits_tell_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first free leaf of the host is none of the job's."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    planner = Planner(Topology.from_spec("host:2 gpu:2"))
    planner.adopt("a", Gang(1, limits={"gpu": [1, 1, 0, 1]}), [0])
    plan = planned(planner, Gang(2, limits={"host": [2, 0]}))
    assert (moves(plan), plan.proven) == ({"a": [[0, 0, 3]]}, True)


def test_one_rank_within_a_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every leaf will do."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:2"))
    planner.adopt("a", Gang(1, within="gpu"), [0])
    plan = planned(planner, Gang(2, limits={"host": [2, 0, 0, 0]}))
    assert (moves(plan), plan.proven) == ({"a": [[0, 0, 2]]}, True)


@pytest.mark.parametrize("tries", [0, 16])
def test_an_ill_leaf_that_is_left_is_no_room(
    monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    """Whichever way is taken: the cordoned host stays out of it."""
    monkeypatch.setattr(clearing, "TRIES", tries)
    planner = Planner(Topology.from_spec("host:3 gpu:2"))
    for job, leaf in (("a", 0), ("b", 2), ("c", 4)):
        planner.adopt(job, Gang(1), [leaf])
    planner.cordon([0])
    plan = planned(planner, Gang(2, within="host"), movable=["a", "b"])
    assert (moves(plan), plan.proven) == ({"b": [[0, 2, 1]]}, True)
    assert refused(planner, Gang(2, within="host"), movable=["a"]).proven


@pytest.mark.parametrize("tries", [0, 16])
def test_a_spare_that_moves_makes_room(
    monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    """Host b, idle, is the larger spare: host a is given back."""
    monkeypatch.setattr(clearing, "TRIES", tries)
    topology = Topology.from_labels(("host", "rack"), [list("aabbbcc"), ["r"] * 7])
    planner = Planner(topology, spares=Spares("rack"))
    planner.adopt("a", Gang(1), [2])
    planner.adopt("b", Gang(1), [5])
    assert planner.spares().tolist() == [0]
    plan = planned(planner, Gang(2, limits={"host": [2, 0, 0]}), movable=["a"])
    assert (moves(plan), plan.proven) == ({"a": [[0, 2, 6]]}, True)
    assert plan.placement.leaves.tolist() == [0, 1]
    planner.apply(plan)
    planner.fenced("a")
    assert planner.spares().tolist() == [1]
    assert planner.place("w", plan.gang).leaves.tolist() == [0, 1]


def test_a_slice_without_groups_is_the_unit() -> None:
    """Its other rank need not leave for the gang's sake, and goes along."""
    planner = Planner(Topology.from_spec("rack:3 host:2 gpu:1"))
    planner.adopt("s", Gang(2, slices=[(2, "rack")]), [0, 1])
    planner.adopt("x", Gang(1), [4])
    wanted = Gang(1, limits={"host": [1, 0, 0, 0, 0, 0]})
    plan = planned(planner, wanted)
    assert moves(plan) == {"s": [[0, 0, 2], [1, 1, 3]]}
    assert plan.proven


def test_one_rank_within_a_leaf_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every leaf is looked at; its limits allow none."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:2"))
    gang = Gang(1, within="gpu", limits={"host": [1, 0, 0, 0]})
    planner.adopt("a", gang, [0])
    assert refused(planner, Gang(2, limits={"host": [2, 0, 0, 0]})).proven


def test_a_group_with_an_ill_leaf_leaves_less_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may not take the block's free leaf, since one that it leaves is cordoned."""
    monkeypatch.setattr(clearing, "TRIES", 0)
    rows = [list("bbaaa"), list("rrrrr")]
    planner = Planner(Topology.from_labels(("host", "rack"), rows))
    planner.adopt("u", Gang(2, group=2, group_level="rack"), [2, 3])
    planner.cordon([3])
    plan = planned(planner, Gang(2, limits={"host": [0, 2]}))
    assert moves(plan) == {"u": [[0, 2, 0], [1, 3, 1]]}
    assert (plan.placement.leaves.tolist(), plan.proven) == ([2, 4], True)

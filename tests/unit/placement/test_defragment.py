"""Defragmentation: plans, what they keep, when they are stale; the least is a property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from phalanx_core import (
    DefragmentPlan,
    Gang,
    Handle,
    InvalidRequest,
    Misfit,
    OwnershipError,
    PhalanxError,
    Planner,
    Spares,
    StalePlan,
    Topology,
    UnknownJob,
)
from phalanx_core.placement import clearing

HOST = Gang(4, within="host")


def racks() -> Planner:
    """Two racks of two hosts of four: aa.. | bb.. || bbc. | cd.. ."""
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:4"))
    planner.adopt("a", Gang(2, group=2), [0, 1])
    planner.adopt("b", Gang(4, group=2), [4, 5, 8, 9])
    planner.adopt("c", Gang(2), [10, 12])
    planner.adopt("d", Gang(1), [13])
    return planner


def planned(planner: Planner, wanted: Gang, **options: Any) -> DefragmentPlan:
    """A plan, which must exist and change nothing."""
    saved = planner.save()
    plan = planner.defragment(wanted, **options)
    assert planner.save() == saved
    assert isinstance(plan, DefragmentPlan)
    return plan


def refused(planner: Planner, wanted: Gang, **options: Any) -> Misfit:
    """A refusal, which must change nothing."""
    saved = planner.save()
    answer = planner.defragment(wanted, **options)
    assert planner.save() == saved
    assert isinstance(answer, Misfit)
    return answer


def moves(plan: DefragmentPlan) -> dict[Any, list[list[int]]]:
    """Job to its moves."""
    return {job: repair.moves.tolist() for job, repair in plan.items()}


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


def test_the_block_exists_once_the_jobs_are_fenced() -> None:
    """Applied, its leaves are in quarantine; fenced, the gang goes where it says."""
    planner = racks()
    plan = planned(planner, HOST)
    planner.apply(plan)
    planner.validate()
    assert planner.placement("a").leaves.tolist() == [6, 7]
    assert planner.placement("b").leaves.tolist() == [4, 5, 8, 9]
    assert not planner.fits(HOST)
    assert planner.quarantined()["a"].tolist() == [0, 1]
    assert [planner.fenced(job).tolist() for job in plan.fence] == [[0, 1]]
    placed = planner.place("wanted", HOST)
    assert placed
    assert (placed.level, placed.leaves.tolist()) == (1, [0, 1, 2, 3])
    planner.validate()
    again = Planner.load(planner.topology, planner.save())
    assert again.placement("a").leaves.tolist() == [6, 7]


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


def test_only_movable_jobs_move() -> None:
    """The order in which they are named does not matter."""
    plan = planned(racks(), HOST, movable=["b"])
    assert moves(plan) == {"b": [[0, 4, 2], [1, 5, 3]]}
    for movable in (("d", "c"), {"c", "d"}, iter(["c", "d", "c"])):
        plan = planned(racks(), HOST, movable=movable)
        assert moves(plan) == {"c": [[1, 12, 11]], "d": [[0, 13, 2]]}
    assert refused(racks(), HOST, movable=()).proven


def test_no_moves_make_room() -> None:
    """The refusal says what is in the way, and who was asked."""
    answer = refused(racks(), Gang(8, within="rack"))
    assert (answer.proven, answer.code.name) == (True, "CAPACITY")
    assert answer.reason == (
        "no rack has 8 available gpus: best rack-0 has 4; 4 held by jobs; no moves of 4 "
        "jobs make room"
    )
    assert answer.gang == Gang(8, within="rack")
    answer = refused(racks(), Gang(17))
    assert (answer.proven, answer.code.name) == (True, "TOO_LARGE")


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


def test_moves_keep_within_and_limits() -> None:
    """A rack that a job may not leave, a host that takes none of it."""
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:2"))
    planner.adopt("a", Gang(2, within="rack"), [0, 2])
    planner.adopt("b", Gang(1), [3])
    wanted = Gang(2, limits={"host": [2, 0, 0, 0]})
    # Host 1 is full, so all of it leaves the rack.
    plan = planned(planner, wanted, movable=["a"])
    assert moves(plan) == {"a": [[0, 0, 4], [1, 2, 5]]}
    planner.release("b")
    assert moves(planned(planner, wanted, movable=["a"])) == {"a": [[0, 0, 3]]}
    planner.release("a")
    planner.adopt("a", Gang(2, within="rack", limits={"host": [2, 1, 1, 1]}), [0, 2])
    plan = planned(planner, wanted, movable=["a"])
    assert moves(plan) == {"a": [[0, 0, 4], [1, 2, 6]]}


def test_a_job_stays_in_its_tree() -> None:
    """Without ``within`` as well, while one of its ranks stays."""
    roots = ["x", "x", "x", "y", "y", "y"]
    planner = Planner(Topology.from_labels(("host", "pod"), [list("aabccd"), roots]))
    planner.adopt("a", Gang(2), [0, 2])
    wanted = Gang(2, within="host", limits={"pod": [2, 0]})
    plan = planned(planner, wanted)
    assert moves(plan) == {"a": [[0, 0, 3], [1, 2, 4]]}
    planner.cordon([4])
    assert moves(planned(planner, wanted)) == {"a": [[0, 0, 3], [1, 2, 5]]}
    planner.cordon([5])
    assert refused(planner, wanted).proven


def test_ill_leaves_help_nobody() -> None:
    """Neither to go to, nor as room."""
    planner = racks()
    planner.cordon([6])
    planner.suspect([1])
    plan = planned(planner, HOST)
    assert moves(plan) == {"c": [[1, 12, 11]], "d": [[0, 13, 7]]}


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


def test_spares_take_nobody() -> None:
    """The only other leaves are a spare's: no moves."""
    planner = Planner(Topology.from_spec("rack:1 host:3 gpu:2"), spares=Spares("rack"))
    planner.adopt("a", Gang(1), [0])
    planner.adopt("b", Gang(1), [2])
    assert planner.spares().tolist() == [2]
    plan = planned(planner, Gang(2, within="host"), movable=["a"])
    # Once host 0 is idle the spare is still the last host.
    assert moves(plan) == {"a": [[0, 0, 3]]}
    planner.apply(plan)
    planner.fenced("a")
    assert planner.spares().tolist() == [2]
    assert planner.place("w", plan.gang).leaves.tolist() == [0, 1]
    assert refused(planner, Gang(2, within="host")).proven


def test_the_gang_is_wanted_whole() -> None:
    """That one of its smaller sizes fits as it is does not count."""
    gang = Gang(4, group=2, within="host", templates=(2,))
    assert racks().fits(gang)
    plan = planned(racks(), gang)
    assert (plan.moved, plan.placement.gang.ranks, plan.gang.templates) == (2, 4, ())


def test_handles_move_when_they_are_named() -> None:
    """Gangs of a batch have no key; by default they stay."""
    planner = Planner(Topology.from_spec("host:2 gpu:2"))
    handles, *_ = planner.place_many([1], Gang(1))
    planner.adopt("a", Gang(1), [2])
    handle = Handle(handles[0])
    wanted = Gang(2, within="host")
    plan = planned(planner, wanted, movable=[handle])
    assert moves(plan) == {handle: [[0, 0, 3]]}
    assert plan.to_dict()["fence"] == [int(handle)]
    planner.apply(plan)
    assert planner.fenced(handle).tolist() == [0]
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


WRONG: dict[str, tuple[Callable[[Planner], object], type[PhalanxError], str]] = {
    "no gang": (
        lambda p: p.defragment(4),  # type: ignore[arg-type]
        InvalidRequest,
        "gang 4: a Gang",
    ),
    "a level that is not there": (
        lambda p: p.defragment(Gang(4, within="pod")),
        InvalidRequest,
        "level 'pod' does not exist",
    ),
    "limits of another cluster": (
        lambda p: p.defragment(HOST, limits={"rack": [1]}),
        InvalidRequest,
        r"limits\['rack'\] has 1 entries",
    ),
    "one job in the stead of a list": (
        lambda p: p.defragment(HOST, movable="a"),
        InvalidRequest,
        "movable 'a': an iterable of jobs",
    ),
    "a number in the stead of a list": (
        lambda p: p.defragment(HOST, movable=3),  # type: ignore[arg-type]
        InvalidRequest,
        "movable 3: an iterable of jobs",
    ),
    "a job that is not there": (
        lambda p: p.defragment(HOST, movable=["a", "z"]),
        UnknownJob,
        "job 'z': the planner holds no such job",
    ),
    "no key": (
        lambda p: p.defragment(HOST, movable=[1.5]),  # type: ignore[list-item]
        InvalidRequest,
        "job 1.5",
    ),
    "a handle of nobody": (
        lambda p: p.defragment(HOST, movable=[Handle(77)]),
        OwnershipError,
        "released before, or never placed",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_is_named_and_changes_nothing(what: str) -> None:
    """One exception each, with the object, the value and the rule."""
    planner = racks()
    saved = planner.save()
    call, kind, message = WRONG[what]
    with pytest.raises(kind, match=message):
        call(planner)
    assert planner.save() == saved


def test_buddy_has_none() -> None:
    """The paper's allocator never moves anybody."""
    planner = Planner(Topology.from_spec("host:2 gpu:4"), alignment="buddy")
    with pytest.raises(InvalidRequest, match="alignment 'buddy' has none"):
        planner.defragment(Gang(4))

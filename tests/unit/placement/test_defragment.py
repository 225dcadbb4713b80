"""Defragmentation: who moves, what moves keep, wrong input."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from phalanx_core import (
    Gang,
    Handle,
    InvalidRequest,
    OwnershipError,
    PhalanxError,
    Planner,
    Spares,
    Topology,
    UnknownJob,
)
from tests.unit.placement.crowded import HOST, moves, planned, racks, refused


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

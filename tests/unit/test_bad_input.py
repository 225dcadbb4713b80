"""Every bad input of the planner: one exception that says why, and no change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from phalanx_core import (
    Gang,
    Handle,
    InvalidRequest,
    OwnershipError,
    Planner,
    SaveError,
    Spares,
    StalePlan,
    Topology,
    UnknownJob,
)

TOPOLOGY = Topology.from_spec("rack:2 host:4 gpu:2")
OTHER = Topology.from_spec("rack:2 host:2 gpu:4")
MIXED = Topology.from_labels(
    ("host",), [["a", "a", "b", "b"]], types=["X", "X", "Y", "Y"]
)


def made() -> Planner:
    """Jobs "a" on leaves 0-3 and 7 on 4-5, leaf 6 in quarantine from "gone"."""
    planner = Planner(TOPOLOGY, spares=Spares("rack"))
    planner.place("a", Gang(4, group=2))
    planner.place(7, Gang(2, group=2))
    planner.adopt("gone", Gang(1), [6])
    planner.fail([6])
    planner.release("gone")
    return planner


Call = Callable[[Planner], Any]

CALLS: dict[str, tuple[Call, type[Exception], str]] = {
    "known job": (
        lambda p: p.place("a", Gang(1)),
        InvalidRequest,
        "job 'a': the planner holds it already",
    ),
    "known number": (
        lambda p: p.adopt(7, Gang(1), [8]),
        InvalidRequest,
        "job 7: the planner holds it already",
    ),
    "bool as job": (
        lambda p: p.place(True, Gang(1)),
        InvalidRequest,
        "job True: a job's key is a str or an int",
    ),
    "float as job": (
        lambda p: p.release(7.0),  # type: ignore[arg-type]
        InvalidRequest,
        "job 7.0: a job's key is a str or an int",
    ),
    "handle as job": (
        lambda p: p.place(Handle(3), Gang(1)),
        InvalidRequest,
        "job Handle(3): a handle is no job's key",
    ),
    "no gang": (
        lambda p: p.place("b", 8),  # type: ignore[arg-type]
        InvalidRequest,
        "gang 8: a Gang",
    ),
    "no gang to ask": (
        lambda p: p.fits(8),  # type: ignore[arg-type]
        InvalidRequest,
        "gang 8: a Gang",
    ),
    "zero ranks": (
        lambda p: p.place("b", Gang(0)),
        InvalidRequest,
        "ranks 0: between 1 and 2147483647",
    ),
    "negative ranks": (
        lambda p: p.place("b", Gang(-1)),
        InvalidRequest,
        "ranks -1: a whole number of at least 1",
    ),
    "half a rank": (
        lambda p: p.place("b", Gang(1.5)),  # type: ignore[arg-type]
        InvalidRequest,
        "ranks 1.5: a whole number of at least 1",
    ),
    "does not divide": (
        lambda p: p.place("b", Gang(6, group=4)),
        InvalidRequest,
        "ranks 6: not a multiple of group 4",
    ),
    "unknown aim": (
        lambda p: p.place("b", Gang(1, aim="far")),
        InvalidRequest,
        "aim 'far': one of near, fill",
    ),
    "unknown rule": (
        lambda p: p.place("b", Gang(1, rule="best")),
        InvalidRequest,
        "rule 'best': one of smallest, fullest, lowest",
    ),
    "unknown level": (
        lambda p: p.place("b", Gang(1, within="pod")),
        InvalidRequest,
        "level 'pod' does not exist; levels are gpu, host, rack, cluster",
    ),
    "level out of range": (
        lambda p: p.place("b", Gang(1, prefer=4)),
        InvalidRequest,
        "level 4 does not exist",
    ),
    "levels fall": (
        lambda p: p.place("b", Gang(4, group=2, group_level="rack", within="host")),
        InvalidRequest,
        "group_level 'rack' is above within 'host'",
    ),
    "prefer above within": (
        lambda p: p.place("b", Gang(4, within="host", prefer="rack")),
        InvalidRequest,
        "prefer 'rack' is above within 'host'",
    ),
    "limits of an unknown level": (
        lambda p: p.place("b", Gang(1), limits={"pod": [1]}),
        InvalidRequest,
        "level 'pod' does not exist",
    ),
    "limits of wrong length": (
        lambda p: p.place("b", Gang(1), limits={"rack": [1, 2, 3]}),
        InvalidRequest,
        "limits['rack'] has 3 entries; the topology has 2 domains of level 'rack'",
    ),
    "negative limit": (
        lambda p: p.place("b", Gang(1), limits={"rack": [1, -2]}),
        InvalidRequest,
        "limits['rack'][1] is -2; a limit is at least 0",
    ),
    "fractional limit": (
        lambda p: p.fits(Gang(1), limits={"rack": [1.0, 2.0]}),
        InvalidRequest,
        "limits['rack']: shape (2,) and dtype float64",
    ),
    "limits that are no mapping": (
        lambda p: p.replan("a", limits=[1, 2]),  # type: ignore[arg-type]
        InvalidRequest,
        "limits [1, 2]: a mapping of level to int array",
    ),
    "a level limited twice": (
        lambda p: p.fits(Gang(1), limits={"rack": [1, 1], 2: [1, 1]}),
        InvalidRequest,
        "limits[2]: the level is given twice",
    ),
    "unknown job": (
        lambda p: p.release("b"),
        UnknownJob,
        "job 'b': the planner holds no such job",
    ),
    "double release": (
        lambda p: p.release("gone"),
        UnknownJob,
        "job 'gone': the planner holds no such job",
    ),
    "replan of nobody": (
        lambda p: p.replan("b"),
        UnknownJob,
        "job 'b': the planner holds no such job",
    ),
    "placement of nobody": (
        lambda p: p.placement("b"),
        UnknownJob,
        "job 'b': the planner holds no such job",
    ),
    "foreign leaf failed": (
        lambda p: p.replan("a", failed=[0, 4]),
        OwnershipError,
        "replan('a'): leaf 4 is not held by the job",
    ),
    "leaf out of range": (
        lambda p: p.fail([0, 16]),
        InvalidRequest,
        "fail: leaf 16 does not exist; ids are 0 to 15",
    ),
    "negative leaf": (
        lambda p: p.heal(np.array([-1])),
        InvalidRequest,
        "heal: leaf -1 does not exist; ids are 0 to 15",
    ),
    "huge leaf": (
        lambda p: p.suspect([10**30]),
        InvalidRequest,
        f"suspect: leaf {10**30} does not exist; ids are 0 to 15",
    ),
    "leaf twice": (
        lambda p: p.cordon([8, 9, 8]),
        InvalidRequest,
        "cordon: leaf 8 is listed twice",
    ),
    "unknown name": (
        lambda p: p.drain("nobody"),
        InvalidRequest,
        "leaf 'nobody' does not exist",
    ),
    "no leaves at all": (
        lambda p: p.uncordon(None),
        InvalidRequest,
        "uncordon: None is no leaf and no list of them",
    ),
    "float leaf": (
        lambda p: p.owner(1.0),  # type: ignore[arg-type]
        InvalidRequest,
        "owner: leaf 1.0: an id or a name",
    ),
    "leaf not in quarantine": (
        lambda p: p.release_quarantine([6, 8]),
        InvalidRequest,
        "release_quarantine: leaf 8 is not in quarantine",
    ),
    "adopt a held leaf": (
        lambda p: p.adopt("b", Gang(2), [8, 3]),
        OwnershipError,
        "adopt('b'): leaf 3 is held by job 'a'",
    ),
    "adopt from quarantine": (
        lambda p: p.adopt("b", Gang(1), [6]),
        OwnershipError,
        "adopt('b'): leaf 6 is in quarantine, from job 'gone'",
    ),
    "adopt too few": (
        lambda p: p.adopt("b", Gang(2), [8]),
        InvalidRequest,
        "adopt('b'): 1 leaves for 2 ranks",
    ),
    "adopt against the group": (
        lambda p: p.adopt("b", Gang(2, group=2), [9, 10]),
        InvalidRequest,
        "adopt('b'): Gang(2, group=2): group of 2: ranks 0-1 lie in host-4 and host-5",
    ),
    "no such level": (
        lambda p: p.free_leaves("pod"),
        InvalidRequest,
        "level 'pod' does not exist",
    ),
    "apply of no plan": (
        lambda p: p.apply("plan"),  # type: ignore[arg-type]
        InvalidRequest,
        "plan 'plan': a Repair, a DrainPlan or a DefragmentPlan",
    ),
    "size in a batch": (
        lambda p: p.place_many([2, 3], Gang(2, group=2)),
        InvalidRequest,
        "place_many: ranks[1] is 3; a multiple of group 2 above 0",
    ),
    "zero in a batch": (
        lambda p: p.place_many([1, 0], Gang(1)),
        InvalidRequest,
        "place_many: ranks[1] is 0",
    ),
    "fractions in a batch": (
        lambda p: p.place_many([1.0], Gang(1)),
        InvalidRequest,
        "place_many: ranks of shape (1,) and dtype float64",
    ),
    "limits in a batch": (
        lambda p: p.place_many([1], Gang(1, limits={"rack": [1, 1]})),
        InvalidRequest,
        "place_many takes no limits",
    ),
    "a job's slot as handle": (
        lambda p: p.release_many([0]),
        OwnershipError,
        "release_many: handle 0 was released before, or never given",
    ),
    "handle of a misfit": (
        lambda p: p.release_many([-1]),
        OwnershipError,
        "release_many: handle -1 was released before, or never given",
    ),
    "handle that never was": (
        lambda p: p.placement(Handle(1 << 40)),
        OwnershipError,
        "Handle(1099511627776): released before, or never placed",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_call_raises_and_changes_nothing(name: str) -> None:
    """One exception names object, value and rule; the saved bytes stay the same."""
    call, kind, message = CALLS[name]
    planner = made()
    before = planner.save()
    with pytest.raises(kind) as caught:
        call(planner)
    assert message in str(caught.value)
    assert planner.save() == before
    planner.validate()


def test_a_handle_is_released_once() -> None:
    """A stale handle, and one that a batch lists twice, release nothing."""
    planner = made()
    handles, *_ = planner.place_many([1, 2], Gang(1))
    before = planner.save()
    with pytest.raises(OwnershipError, match="listed twice"):
        planner.release_many([handles[0], handles[1], handles[0]])
    assert planner.save() == before
    planner.release_many(handles)
    before = planner.save()
    with pytest.raises(OwnershipError, match="released before"):
        planner.release_many(handles[:1])
    assert planner.save() == before


def stale_release(planner: Planner) -> None:
    """The job is gone."""
    planner.release("a")


def stale_target(planner: Planner) -> None:
    """A leaf that the plan takes is somebody's."""
    assert planner.place("b", Gang(6))


def stale_source(planner: Planner) -> None:
    """The job left the leaf already."""
    planner.replan("a", failed=[0])


def stale_health(planner: Planner) -> None:
    """A leaf that the plan takes is down."""
    planner.fail(range(7, 16))


@pytest.mark.parametrize(
    "change", [stale_release, stale_target, stale_source, stale_health]
)
def test_stale_plan_changes_nothing(change: Callable[[Planner], None]) -> None:
    """A plan whose job or leaves changed is refused as a whole."""
    planner = made()
    plan = planner.replan("a", failed=[0], apply=False)
    assert plan
    drain = planner.drain([0], apply=False)
    change(planner)
    before = planner.save()
    for stale in (plan, drain):
        with pytest.raises(StalePlan, match="'a'"):
            planner.apply(stale)
        assert planner.save() == before


def test_a_plan_of_another_topology_is_refused() -> None:
    """Leaf numbers of another cluster mean nothing here."""
    other = Planner(OTHER)
    other.place("a", Gang(4, group=4))
    plan = other.replan("a", failed=[0], apply=False)
    planner = made()
    before = planner.save()
    with pytest.raises(InvalidRequest, match="another topology or type"):
        planner.apply(plan)
    assert planner.save() == before


def test_planner_options_are_checked() -> None:
    """Types, levels and fanouts that do not go together."""
    with pytest.raises(InvalidRequest, match="several types, name one of X, Y"):
        Planner(MIXED)
    with pytest.raises(InvalidRequest, match="type 'Z'"):
        Planner(MIXED, type="Z")
    with pytest.raises(InvalidRequest, match="alignment 'best': one of exact, buddy"):
        Planner(TOPOLOGY, alignment="best")
    with pytest.raises(InvalidRequest, match="powers of two"):
        Planner(Topology.from_spec("host:3 gpu:2"), alignment="buddy")
    with pytest.raises(InvalidRequest, match="size must be a level below per"):
        Planner(TOPOLOGY, spares=Spares("host", "host"))
    with pytest.raises(InvalidRequest, match=r"Spares.count 0"):
        Spares("rack", count=0)
    with pytest.raises(InvalidRequest, match="level 'pod' does not exist"):
        Planner(TOPOLOGY, spares=Spares("pod"))
    with pytest.raises(InvalidRequest, match="topology None: a Topology"):
        Planner(None)  # type: ignore[arg-type]


def test_leaves_of_another_type_are_refused() -> None:
    """A planner of one type knows nothing of the other's leaves."""
    planner = Planner(MIXED, type="Y")
    with pytest.raises(InvalidRequest, match=r"leaf 1 is of type 'X'; .* places 'Y'"):
        planner.fail([2, 1])
    assert planner.fits(Gang(2)).leaves.tolist() == [2, 3]


BUDDY = {
    "limits": Gang(2, limits={"rack": [1, 1]}),
    "fill": Gang(2, aim="fill"),
    "rule": Gang(2, rule="fullest"),
    "group": Gang(6, group=3, group_level="rack"),
}


@pytest.mark.parametrize("name", BUDDY)
def test_buddy_refuses_what_it_does_not_know(name: str) -> None:
    """The paper's alignment has no limits, fill, rules or odd groups."""
    planner = Planner(TOPOLOGY, alignment="buddy")
    with pytest.raises(InvalidRequest, match="alignment 'buddy'"):
        planner.place("a", BUDDY[name])
    assert planner.jobs() == []


def test_every_damaged_byte_of_a_save_is_noticed() -> None:
    """A flipped bit anywhere, and every cut, is a SaveError."""
    saved = made().save()
    step = max(1, len(saved) // 400)
    for at in range(0, len(saved), step):
        damaged = bytearray(saved)
        damaged[at] ^= 1
        with pytest.raises(SaveError):
            Planner.load(TOPOLOGY, bytes(damaged))
        with pytest.raises(SaveError):
            Planner.load(TOPOLOGY, saved[:at])
    with pytest.raises(SaveError, match="header says"):
        Planner.load(TOPOLOGY, saved + b"\0")


def test_foreign_saves_are_named() -> None:
    """Other files, other versions and other topologies are told apart."""
    saved = made().save()
    with pytest.raises(SaveError, match=r"begins with b'\{\"jobs\":'"):
        Planner.load(TOPOLOGY, b'{"jobs": []}')
    with pytest.raises(SaveError, match="version 0; this library reads 1"):
        Planner.load(TOPOLOGY, saved[:8] + b"\0" + saved[9:])
    with pytest.raises(SaveError, match="made for topology"):
        Planner.load(OTHER, saved)
    with pytest.raises(SaveError, match="str is not bytes"):
        Planner.load(TOPOLOGY, "text")  # type: ignore[arg-type]

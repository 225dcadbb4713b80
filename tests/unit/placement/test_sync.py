"""Following the cluster: hosts come, go, move, and lose GPUs under running gangs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from phalanx_core import (
    Gang,
    Handle,
    Health,
    InvalidRequest,
    OwnerKind,
    OwnershipError,
    Planner,
    SaveError,
    Spares,
    StalePlan,
    Topology,
)
from phalanx_core.topology.report import CompileReport

Hosts = dict[str, tuple[str, int]]

FOUR: Hosts = {"a": ("r", 8), "b": ("r", 8), "c": ("s", 8), "d": ("s", 8)}


def cluster(
    hosts: Hosts, tainted: Iterable[str] = (), cordoned: Iterable[str] | None = None
) -> Topology:
    """Hosts in racks; with a report where health is given."""
    rows = [
        (host, rack, at) for host, (rack, count) in hosts.items() for at in range(count)
    ]
    labels = [[host for host, _, _ in rows], [rack for _, rack, _ in rows]]
    labels.append(["c"] * len(rows))
    names = [f"{host}/{at}" for host, _, at in rows]
    made = Topology.from_labels(["host", "rack", "cluster"], labels, names=names)
    if cordoned is None and not tainted:
        return made
    report = CompileReport(
        1,
        1,
        len(hosts),
        len(rows),
        (),
        (),
        (),
        (),
        tuple(tainted),
        tuple(cordoned or ()),
    )
    return replace(made, report=report)


def gpus(host: str, count: int = 8, first: int = 0) -> list[str]:
    """Leaf names of a host."""
    return [f"{host}/{at}" for at in range(first, first + count)]


def names(planner: Planner, job: Any) -> list[str]:
    """Leaf name of each rank."""
    known = planner.topology.names
    return [known[leaf] for leaf in planner.placement(job).leaves.tolist()]


def synced(planner: Planner, topology: Topology) -> Any:
    """Sync, and check that doing it again changes nothing."""
    report = planner.sync(topology)
    planner.validate()
    saved = planner.save()
    again = planner.sync(topology)
    assert not again.changed
    assert (again.added, again.removed, again.moved, again.altered) == ({}, {}, {}, {})
    assert (again.broken, again.kept, again.held) == (
        report.broken,
        report.kept,
        report.held,
    )
    assert planner.save() == saved
    return report


def test_the_same_cluster_changes_nothing() -> None:
    """Same bytes, plans stay good."""
    planner = Planner(cluster(FOUR), spares=Spares("rack"))
    planner.place("a", Gang(4))
    planner.fail([1])
    plan = planner.replan("a", apply=False)
    saved = planner.save()
    report = planner.sync(cluster(FOUR))
    assert (report.changed, planner.save() == saved) == (False, True)
    assert str(report) == "sync: nothing changed; 1 jobs kept"
    planner.apply(plan)


def test_a_host_that_nobody_uses_goes_and_another_comes() -> None:
    """The planner's topology is the given one, and its ids."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(8, within="host"), gpus("b"))
    new = cluster({"b": ("r", 8), "c": ("s", 8), "d": ("s", 8), "e": ("t", 4)})
    report = synced(planner, new)
    assert planner.topology is new
    assert (report.added, report.removed) == ({"e": 4}, {"a": 8})
    assert (report.kept, report.broken, report.held) == (("job",), {}, ())
    assert planner.placement("job").leaves.tolist() == list(range(8))
    assert planner.free_leaves("host").tolist() == [0, 8, 8, 4]
    assert str(report).splitlines() == [
        "sync: 1 added, 1 removed; 1 jobs kept",
        "  added    e (4)",
        "  removed  a (8)",
    ]


def test_six_of_eight_gpus_are_left_under_load() -> None:
    """The lost two are still the job's, down, and a repair moves their ranks alone."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(8), gpus("a"))
    report = synced(planner, cluster(FOUR | {"a": ("r", 6)}))
    assert report.altered == {"a": ("8 -> 6 gpu",)}
    assert report.broken == {"job": "2 gpu gone (a/6, ...)"}
    assert report.held == ("a/6", "a/7")
    assert names(planner, "job") == gpus("a")
    assert planner.broken() == ["job"]
    assert planner.free_leaves() == 24
    owner = planner.owner("a/7")
    assert (owner.kind, owner.job, owner.health) == (OwnerKind.JOB, "job", Health.DOWN)
    moves = planner.replan("job").moves
    assert moves[:, 0].tolist() == [6, 7]
    assert names(planner, "job") == [*gpus("a", 6), "b/6", "b/7"]
    assert planner.quarantined()["job"].tolist() == [30, 31]
    planner.fenced("job")
    after = synced(planner, cluster(FOUR | {"a": ("r", 6)}))
    assert after.held == ()
    assert planner.topology.leaf_count == 30
    assert names(planner, "job") == [*gpus("a", 6), "b/6", "b/7"]


def test_a_host_that_flickers_breaks_nothing() -> None:
    """Gone and back before a repair: the job is whole, nobody took its place."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(16, within="rack"), [*gpus("a"), *gpus("b")])
    without = {host: where for host, where in FOUR.items() if host != "b"}
    report = synced(planner, cluster(without))
    assert report.broken == {"job": "8 gpu gone (b/0, ...)"}
    assert not planner.fits(Gang(1, limits={"rack": [1, 0]}))
    assert not planner.replan("job")
    back = synced(planner, cluster(FOUR))
    assert (back.added, back.broken, back.kept) == ({"b": 8}, {}, ("job",))
    assert planner.broken() == []
    assert planner.topology == cluster(FOUR)


def test_what_the_program_says_of_an_absent_leaf_counts_when_it_is_back() -> None:
    """A failure heard meanwhile stays; a healing heard meanwhile waits."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(3), ["a/0", "b/0", "c/0"])
    planner.suspect(["b/0", "c/0"])
    planner.sync(cluster({"d": ("s", 8)}))
    assert planner.fail(["a/0"]) == ["job"]
    assert planner.heal(["b/0", "c/0"]) == ["job"]
    assert planner.suspect(["c/0"]) == ["job"]
    assert planner.owner("b/0").health is Health.DOWN
    planner.validate()
    synced(planner, cluster(FOUR))
    healths = [planner.owner(leaf).health for leaf in ("a/0", "b/0", "c/0")]
    assert healths == [Health.DOWN, Health.UP, Health.SUSPECT]
    assert planner.broken() == ["job"]


def test_marks_of_a_free_host_wait_for_it_by_name() -> None:
    """A cordon is not lost because a list was incomplete for a minute."""
    planner = Planner(cluster(FOUR))
    planner.cordon(gpus("a"))
    planner.fail(["a/0"])
    planner.suspect(["a/1"])
    without = {host: where for host, where in FOUR.items() if host != "a"}
    report = synced(planner, cluster(without))
    assert (report.removed, report.held) == ({"a": 8}, ())
    report = synced(planner, cluster(FOUR))
    assert report.altered == {"a": ("8 gpu back with the mark it left with",)}
    assert planner.free_leaves("host").tolist() == [0, 8, 8, 8]
    assert planner.owner("a/0").health is Health.DOWN
    assert planner.owner("a/1").health is Health.SUSPECT
    assert planner.owner("a/7").cordoned


def test_marks_of_hosts_that_never_come_back_are_bounded() -> None:
    """As many are remembered as there are leaves."""
    planner = Planner(cluster({"keep": ("r", 8)}))
    for number in range(5):
        planner.sync(cluster({"keep": ("r", 8), f"h{number}": ("r", 4)}))
        planner.cordon(gpus(f"h{number}", 4))
    planner.sync(cluster({"keep": ("r", 8)}))
    assert list(planner._outside.away) == [*gpus("h3", 4), *gpus("h4", 4)]


def test_a_host_moved_out_of_the_gangs_rack_is_lost_to_it() -> None:
    """It is down and the job's until repaired; it is in its new rack when fenced."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(16, group=8, within="rack"), [*gpus("a"), *gpus("b")])
    moved = cluster(FOUR | {"b": ("s", 8), "e": ("r", 8)})
    report = synced(planner, moved)
    assert report.moved == {"b": ("r/b", "s/b")}
    assert report.broken == {"job": "8 gpu moved out of the gang's domain (b/0, ...)"}
    assert names(planner, "job") == [*gpus("a"), *gpus("b")]
    assert planner.topology.leaf_count == 40
    repair = planner.replan("job")
    assert sorted(repair.by_host()) == ["a", "e"]
    assert planner.free_leaves() == 16
    planner.fenced("job")
    report = synced(planner, moved)
    assert report.held == ()
    assert planner.topology is moved
    assert planner.free_leaves("rack").tolist() == [0, 24]


def test_a_gang_without_a_rule_moves_with_its_host() -> None:
    """Nothing is broken by a move that no constraint speaks of."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(16, group=8), [*gpus("a"), *gpus("b")])
    report = synced(planner, cluster(FOUR | {"b": ("s", 8)}))
    assert (report.moved, report.broken) == ({"b": ("r/b", "s/b")}, {})
    assert planner.placement("job").level_name == "cluster"


def test_a_rack_that_is_called_otherwise_takes_its_gangs_along() -> None:
    """Leaves are known by name, domains by their leaves."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(16, within="rack"), [*gpus("a"), *gpus("b")])
    renamed = {h: ("new" if rack == "r" else rack, n) for h, (rack, n) in FOUR.items()}
    report = synced(planner, cluster(renamed))
    assert report.broken == {}
    assert planner.placement("job").domain_name == "new"


def test_a_gang_scattered_by_a_move_keeps_its_largest_part() -> None:
    """Two of three hosts move together: the third is the one that is lost."""
    hosts = {"a": ("r", 4), "b": ("r", 4), "c": ("r", 4), "d": ("s", 4), "e": ("s", 4)}
    planner = Planner(cluster(hosts))
    leaves = [*gpus("a", 4), *gpus("b", 4), *gpus("c", 4)]
    planner.adopt("job", Gang(12, within="rack"), leaves)
    report = synced(planner, cluster(hosts | {"b": ("s", 4), "c": ("s", 4)}))
    assert report.held == tuple(gpus("a", 4))
    assert planner.replan("job").moves[:, 0].tolist() == [0, 1, 2, 3]
    assert set(planner.placement("job").by_host()) == {"b", "c", "d"}


def test_quarantine_stays_when_its_host_vanishes() -> None:
    """And is freed, and gone, when its job is fenced."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(2), ["a/0", "b/0"])
    planner.fail(["a/0"])
    planner.replan("job", limits={"host": [0, 2, 0, 0]})
    planner.heal(["a/0"])
    without = {host: where for host, where in FOUR.items() if host != "a"}
    report = synced(planner, cluster(without))
    assert report.held == ("a/0",)
    assert list(planner.quarantined()) == ["job"]
    assert synced(planner, cluster(FOUR)).held == ()
    owner = planner.owner("a/0")
    assert (owner.kind, owner.job, owner.health) == (
        OwnerKind.QUARANTINE,
        "job",
        Health.UP,
    )
    planner.sync(cluster(without))
    planner.fenced("job")
    assert synced(planner, cluster(without)).held == ()
    assert planner.topology.leaf_count == 24


def test_a_released_job_leaves_its_absent_gpus_in_quarantine() -> None:
    """Its processes may live on where the description does not look."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(8), gpus("a"))
    planner.sync(cluster({"b": ("r", 8)}))
    planner.release("job")
    assert planner.quarantined()["job"].size == 8
    assert synced(planner, cluster(FOUR)).held == ()
    assert not planner.owner("a/0").available
    planner.fenced("job")
    assert planner.owner("a/0").available


def test_health_follows_the_report() -> None:
    """What it marks is down or closed until it no longer does; calls in between win."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(2), ["a/0", "c/0"])
    planner.fail(["d/0"])
    planner.cordon(["d/1"])
    marked = cluster(FOUR, ["a/0", "b/0", "d/0"], ["c/1", "d/1"])
    report = synced(planner, marked)
    assert report.altered == {
        "a": ("1 gpu unhealthy by their source",),
        "b": ("1 gpu unhealthy by their source",),
        "d": ("1 gpu unhealthy by their source",),
        "c": ("1 gpu cordoned",),
    }
    assert report.broken == {"job": "1 gpu unhealthy by their source (a/0)"}
    assert planner.broken() == ["job"]
    planner.heal(["b/0"])
    assert planner.owner("b/0").available
    planner.sync(cluster(FOUR | {"e": ("s", 1)}))
    assert planner.owner("a/0").health is Health.DOWN
    report = synced(planner, cluster(FOUR, [], []))
    assert report.altered["a"] == ("1 gpu no longer unhealthy by their source",)
    assert planner.broken() == []
    assert planner.owner("d/0").health is Health.DOWN
    assert (planner.owner("c/1").cordoned, planner.owner("d/1").cordoned) == (
        False,
        True,
    )


def test_handles_survive() -> None:
    """Old ones are good for everything; stale ones stay stale, and are never reused."""
    planner = Planner(cluster(FOUR))
    first, *_ = planner.place_many([2], Gang(1))
    planner.release_many(first)
    handles, _, _, leaves = planner.place_many([8, 4, 4], Gang(1))
    before = [planner.topology.names[leaf] for leaf in leaves.tolist()]
    planner.place("job", Gang(8))
    report = synced(planner, cluster({"z": ("r", 8)} | FOUR))
    assert report.kept == ("job", *map(Handle, handles.tolist()))
    found = [name for h in handles.tolist() for name in names(planner, Handle(h))]
    assert found == before
    leaf = planner.placement(Handle(int(handles[1]))).leaves[0]
    assert planner.owner(int(leaf)).job == Handle(int(handles[1]))
    with pytest.raises(OwnershipError, match="released before, or never given"):
        planner.release_many(first)
    more, *_ = planner.place_many([1] * 10, Gang(1))
    assert not set(more.tolist()) & {*first.tolist(), *handles.tolist()}
    again = Planner.load(planner.topology, planner.save())
    again.validate()
    assert again.save() == planner.save()
    for one in (planner, again):
        one.release_many(np.concatenate([handles, more]))
        one.validate()
        assert one.free_leaves() == 32
        with pytest.raises(OwnershipError):
            one.release_many(handles[:1])
    third, *_ = planner.place_many([1], Gang(1))
    assert int(third[0]) not in {*more.tolist(), *handles.tolist()}


def test_a_handle_on_a_lost_host_is_reported_and_fenced_by_its_handle() -> None:
    """Release puts the absent leaves into quarantine, under the handle."""
    planner = Planner(cluster(FOUR))
    handles, *_ = planner.place_many([8], Gang(1))
    handle = Handle(int(handles[0]))
    report = synced(planner, cluster({"b": ("r", 8)}))
    assert report.broken == {handle: "8 gpu gone (a/0, ...)"}
    assert report.to_dict()["broken"] == [[int(handle), "8 gpu gone (a/0, ...)"]]
    planner.release_many(handles)
    assert list(planner.quarantined()) == [handle]
    planner.validate()
    assert planner.fenced(handle).size == 8


def test_limits_follow_their_domains() -> None:
    """By the leaves of a domain; a new domain takes nothing of the gang."""
    planner = Planner(cluster(FOUR))
    limits = {"host": [2, 0, 5, 1]}
    planner.place("job", Gang(2, limits={"rack": [9, 9]}), limits=limits)
    planner.place("own", Gang(1, limits=limits))
    new = {"e": ("r", 8), "d": ("s", 8), "a": ("r", 8), "c": ("t", 8), "b": ("t", 8)}
    synced(planner, cluster(new))
    hosts = planner.topology.domain_names("host")
    assert hosts == ("e", "a", "d", "c", "b")
    assert planner.gang("own").limits["host"].tolist() == [0, 2, 1, 5, 0]
    planner.fail(names(planner, "job"))
    assert set(planner.replan("job").by_host()) <= {"a", "c", "d"}
    kept = planner.placement("job")._limits.given
    assert {level: row.tolist() for level, row in kept.items()} == {1: [0, 2, 1, 5, 0]}


def test_plans_of_before_are_stale() -> None:
    """Repairs and drains, also when the cluster is as it was again."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(8), gpus("a"))
    planner.fail(["a/0"])
    repair = planner.replan("job", apply=False)
    drain = planner.drain(gpus("a"), apply=False)
    planner.sync(cluster(FOUR | {"e": ("s", 8)}))
    for plan in (repair, drain):
        with pytest.raises(StalePlan, match="synced since it was made"):
            planner.apply(plan)
    planner.sync(cluster(FOUR))
    for plan in (repair, drain):
        with pytest.raises(StalePlan, match="synced since it was made"):
            planner.apply(plan)
    planner.apply(planner.replan("job", apply=False))
    with pytest.raises(InvalidRequest, match="another topology"):
        planner.apply(_foreign_plan())


def _foreign_plan() -> Any:
    other = Planner(cluster({"x": ("r", 2)}))
    other.place("job", Gang(1))
    other.fail([0])
    return other.replan("job", apply=False)


def test_spares_are_refilled() -> None:
    """The spare of a rack that lost its spare host is another one; shortages are told."""
    planner = Planner(cluster(FOUR), spares=Spares("rack"))
    assert planner.topology.domain_names("host")[planner.spares()[0]] == "b"
    report = synced(planner, cluster(FOUR | {"b": ("s", 8), "e": ("r", 8)}))
    spares = [planner.topology.domain_names("host")[one] for one in planner.spares()]
    assert (spares, report.warnings) == (["e", "d"], ())
    report = synced(planner, cluster({"a": ("r", 8), "c": ("s", 8), "d": ("s", 8)}))
    assert report.warnings == (
        "rack r holds no spare: it has 1 of level 'host', no more than the 1 wanted",
    )


def test_a_save_with_kept_leaves_loads_on_either_topology() -> None:
    """On the one that was synced with, as after a restart, and on the planner's own."""
    planner = Planner(cluster(FOUR))
    planner.adopt("job", Gang(8), gpus("a"))
    planner.cordon(["d/0"])
    given = cluster({"b": ("r", 8), "c": ("s", 8)})
    planner.sync(given)
    for topology in (given, planner.topology):
        other = Planner.load(topology, planner.save())
        other.validate()
        assert other.save() == planner.save()
        assert names(other, "job") == gpus("a")
        assert not other.sync(given).changed
    with pytest.raises(SaveError, match="made for topology"):
        Planner.load(cluster(FOUR), planner.save())
    clone = planner.clone()
    clone.sync(cluster(FOUR))
    assert (planner.broken(), clone.broken()) == (["job"], [])
    assert clone.owner("d/0").cordoned


def test_two_types_of_gpu() -> None:
    """A leaf of another type by now is gone, and stays this planner's while held."""
    labels = [["a", "a", "b", "b"]]
    old = Topology.from_labels(["host"], labels, types=["X", "X", "Y", "Y"])
    planner = Planner(old, type="X")
    planner.place("job", Gang(2))
    new = Topology.from_labels(["host"], labels, types=["X", "Y", "Y", "Y"])
    report = synced(planner, new)
    assert report.broken == {"job": "1 gpu gone (a/gpu-1)"}
    assert planner.topology.types == ("X", "X", "Y", "Y")


@pytest.mark.parametrize(
    ("topology", "rule"),
    [
        (None, "a Topology"),
        (Topology.from_spec("host:2 gpu:2"), "levels"),
        (Topology.from_labels(["host"], [["a"]], types="X", nvlink="host"), "nvlink"),
        (Topology.from_labels(["host"], [["a"]], types="X"), "no such GPU type"),
    ],
)
def test_errors_change_nothing(topology: Any, rule: str) -> None:
    """One exception that names the rule."""
    planner = Planner(Topology.from_labels(["host"], [["a", "b"]]))
    planner.place("job", Gang(1))
    saved = planner.save()
    with pytest.raises(InvalidRequest, match=rule):
        planner.sync(topology)
    assert planner.save() == saved


def test_buddy_is_refused() -> None:
    """The paper's trees do not change."""
    topology = Topology.from_spec("host:2 gpu:2")
    with pytest.raises(InvalidRequest, match="alignment 'buddy'"):
        Planner(topology, alignment="buddy").sync(topology)


def test_a_step_in_between_that_loses_nothing_leaves_no_trace() -> None:
    """sync(a); sync(b) is sync(b)."""
    direct = Planner(cluster(FOUR))
    direct.adopt("job", Gang(8), gpus("a"))
    direct.cordon(["c/0"])
    stepwise = direct.clone()
    b = cluster(FOUR | {"e": ("r", 8)})
    stepwise.sync(cluster({h: w for h, w in FOUR.items() if h not in "ac"}))
    stepwise.sync(b)
    direct.sync(b)
    for one in (direct, stepwise):
        one._outside.epoch = 0
    assert stepwise.save() == direct.save()

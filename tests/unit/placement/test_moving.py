"""Where leaves are kept that are gone or no longer where their gang needs them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phalanx_core import Gang, Planner, Topology
from phalanx_core.placement.moving import most_common
from phalanx_core.placement.rebuild import Holder, Rebuild
from phalanx_core.placement.state import State
from phalanx_core.topology.report import CompileReport

Hosts = dict[str, tuple[str, str | None, int]]


def fleet(hosts: Hosts) -> Topology:
    """Host to pod, rack and GPUs."""
    rows = [
        (f"{host}{at}", host, rack, pod)
        for host, (pod, rack, count) in hosts.items()
        for at in range(count)
    ]
    names, *labels = zip(*rows, strict=True)
    return Topology.from_labels(["host", "rack", "pod"], labels, names=names)


def where(planner: Planner, leaf: str) -> list[str | None]:
    """Labels of a leaf's domains, from its host upward."""
    topology = planner.topology
    domains = [int(topology.domain_of(at)[topology.leaf(leaf)]) for at in (1, 2, 3)]
    return [
        None if domain < 0 else str(topology.labels_of(at)[domain])
        for at, domain in enumerate(domains, 1)
    ]


BEFORE: Hosts = {
    "a": ("p", "r", 2),
    "b": ("p", "r", 2),
    "c": ("p", "r", 2),
    "d": ("q", "r", 2),
}


def test_a_lost_gpu_stays_with_its_host() -> None:
    """Wherever the host is now."""
    planner = Planner(fleet(BEFORE))
    planner.adopt("job", Gang(2), ["a0", "a1"])
    planner.sync(fleet(BEFORE | {"a": ("q", "s", 1)}))
    assert where(planner, "a1") == ["a", "s", "q"]


def test_a_lost_host_stays_in_its_rack() -> None:
    """Which is where most of its leaves are, whatever it is called."""
    planner = Planner(fleet(BEFORE))
    planner.adopt("job", Gang(2), ["a0", "a1"])
    planner.sync(fleet({"b": ("p", "x", 2), "c": ("p", "x", 2), "d": ("q", "r", 2)}))
    assert where(planner, "a1") == ["a", "x", "p"]


def test_a_host_lost_with_all_around_it_keeps_its_names() -> None:
    """No leaf of its pod is left."""
    planner = Planner(fleet(BEFORE))
    planner.adopt("job", Gang(2), ["a0", "a1"])
    planner.sync(fleet({"d": ("q", "r", 2)}))
    assert where(planner, "a1") == ["a", "r", "p"]
    assert planner.replan("job").by_host() == {"d": [(0, "d0"), (1, "d1")]}


def test_what_is_gone_follows_a_gang_that_moved() -> None:
    """Its other host stands where it is now, in no rack: it is not lost."""
    planner = Planner(fleet(BEFORE))
    planner.adopt("job", Gang(4, within="pod"), ["a0", "a1", "b0", "b1"])
    after = {"b": ("q", None, 2), "c": ("p", "r", 2), "d": ("q", "r", 2)}
    report = planner.sync(fleet(after))
    assert report.held == ("a0", "a1")
    assert where(planner, "a0") == ["a", "r", "q"]
    assert where(planner, "b0") == ["b", None, "q"]
    assert planner.replan("job").by_host()["d"] == [(0, "d0"), (1, "d1")]


def test_a_leaf_kept_where_it_no_longer_is_says_nothing_of_its_rack() -> None:
    """A large lost host comes back elsewhere; the small one is still lost in rack r."""
    planner = Planner(fleet(BEFORE | {"x": ("p", "r", 8)}))
    planner.adopt("large", Gang(8), [f"x{at}" for at in range(8)])
    planner.adopt("small", Gang(2), ["a0", "a1"])
    left = {host: BEFORE[host] for host in "bcd"}
    planner.sync(fleet(left))
    planner.sync(fleet(left | {"x": ("q", "r", 8)}))
    assert where(planner, "a0") == ["a", "r", "p"]
    assert where(planner, "x0") == ["x", "r", "q"]


def test_handles_of_two_cores_are_never_the_same() -> None:
    """The new core counts slots from zero; three old gangs live, three are gone."""
    planner = Planner(fleet(BEFORE))
    old, *_ = planner.place_many([1] * 6, Gang(1))
    planner.release_many(old[:3])
    planner.sync(fleet(BEFORE | {"x": ("p", "r", 8)}))
    new, *_ = planner.place_many([1] * 6, Gang(1))
    assert not set(old.tolist()) & set(new.tolist())
    planner.release_many(np.concatenate([old[3:], new]))
    assert planner.free_leaves() == 16


def test_most_common() -> None:
    """The first of several; none of none."""
    assert most_common(np.array([3, 1, 3, 1, -1, -1, -1])) == 1
    assert most_common(np.array([-1, -1])) == -1
    assert most_common(np.array([], np.int32)) == -1


def test_a_shrunk_gang_with_limits_can_grow_again() -> None:
    """Its sizes and its limits go over to the new topology."""
    planner = Planner(fleet(BEFORE))
    gang = Gang(4, group=2, templates=(2,), limits={"host": [2, 2, 0, 0]})
    planner.adopt("job", gang.at(2), ["b0", "b1"])
    planner.sync(fleet({"x": ("p", "r", 2)} | BEFORE))
    full = planner.gang("job").full
    assert (full.ranks, full.limits["host"].tolist()) == (4, [0, 2, 2, 0, 0])
    assert set(planner.resize("job", 4).by_host()) == {"a", "b"}


def test_a_planner_takes_the_health_of_its_own_description() -> None:
    """At its start: ``sync`` with the topology it was made of."""
    made = fleet(BEFORE)
    report = CompileReport(1, 1, 4, 8, (), (), (), (), ("a0",), ("b0", "b1"))
    topology = replace(made, report=report)
    planner = Planner(topology)
    assert planner.free_leaves() == 8
    told = planner.sync(topology)
    assert (told.changed, planner.free_leaves()) == (True, 5)
    assert told.altered == {
        "a": ("1 gpu unhealthy by their source",),
        "b": ("2 gpu cordoned",),
    }
    assert not planner.sync(topology).changed


def test_a_second_pod_moves_nobody() -> None:
    """Hosts stay where they are, though their paths get a word longer."""
    planner = Planner(fleet({"a": ("p", "r", 2), "b": ("p", "s", 2)}))
    report = planner.sync(
        fleet({"a": ("p", "r", 2), "b": ("p", "s", 2), "c": ("q", "r", 2)})
    )
    assert (report.added, report.moved) == ({"c": 2}, {})
    report = planner.sync(fleet({"a": ("p", "r", 2), "b": ("q", "s", 2)}))
    assert (report.removed, report.moved) == ({"c": 2}, {"b": ("p/s/b", "q/s/b")})


def test_an_error_halfway_leaves_the_planner_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Memory that runs out while gangs are adopted, say: all is built beside."""
    planner = Planner(fleet(BEFORE))
    planner.place("one", Gang(2))
    planner.place("two", Gang(2))
    planner.fail(["d0"])
    saved, topology = planner.save(), planner.topology
    real = Rebuild._adopt

    def adopt(self: Rebuild, other: State, holder: Holder) -> bool:
        if holder.who == "two":
            raise MemoryError
        return real(self, other, holder)

    monkeypatch.setattr(Rebuild, "_adopt", adopt)
    with pytest.raises(MemoryError):
        planner.sync(fleet(BEFORE | {"x": ("p", "r", 2)}))
    assert planner.save() == saved
    assert planner.topology is topology
    planner.validate()
    assert planner.place("three", Gang(2))


def test_clusters_of_one_host_and_of_other_hosts() -> None:
    """No domain to move between; no leaf in common."""
    one = Topology.from_labels(["host"], [["a", "a"]], names=["a0", "a1"])
    planner = Planner(one)
    planner.place("job", Gang(1))
    report = planner.sync(Topology.from_labels(["host"], [["a"]], names=["a0"]))
    assert (report.moved, report.altered) == ({}, {"a": ("2 -> 1 gpu",)})
    report = planner.sync(Topology.from_labels(["host"], [["z"]], names=["z0"]))
    assert (report.added, report.removed) == ({"z": 1}, {"a": 1})
    assert (report.held, planner.topology.names) == (("a0",), ("z0", "a0"))
    planner.validate()

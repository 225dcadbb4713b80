"""Kueue's TopologyAssignment in both versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import Gang, OutputError, Placement, Planner, Spares, Topology
from phalanx_core.placement.writers import WriteOptions, kueue, write
from tests.unit.placement.writers.gangs import (
    anyhow,
    blocks,
    cluster,
    gang_on,
    in_blocks,
    where,
)
from tests.unit.placement.writers.test_slices import expanded

BOTH = ("kueue-v1beta1", "kueue-v1beta2")
RACKS = WriteOptions(
    kueue_levels=(("rack", "example.com/rack"), ("host", "kubernetes.io/hostname"))
)


def assigned(text: str) -> list[tuple[tuple[str, ...], int]]:
    """Values and Pods of each domain, of either version."""
    told = json.loads(text)
    if "domains" in told:
        assert set(told) == {"levels", "domains"}
        return [(tuple(row["values"]), row["count"]) for row in told["domains"]]
    assert set(told) == {"levels", "slices"}
    return expanded(told["slices"])


@given(st.one_of(in_blocks(), anyhow()), st.sampled_from(BOTH))
def test_pods_are_dealt_out_as_placed(placement: Placement, format: str) -> None:
    """Pods by index over domains in order are ranks on hosts, or it is refused."""
    if not blocks(placement):
        with pytest.raises(OutputError, match="Kueue numbers the Pods"):
            write(placement, format)
        return
    dealt = [
        values
        for values, count in assigned(write(placement, format))
        for _ in range(count)
    ]
    assert dealt == [(host,) for host, _ in where(placement)]
    topology = placement._frame.topology
    for (rack, host), _ in assigned(write(placement, format, options=RACKS)):
        one, other = topology.leaves("host", host)[0], topology.leaves("rack", rack)
        assert one in other


PAIR = gang_on(cluster(["n1", "n2", "n3"], 4, racks=2), [0, 1, 2, 3, 8, 9])


def test_v1beta1_text() -> None:
    """A domain a line, in rank order."""
    assert write(PAIR, "kueue-v1beta1", options=RACKS) == (
        "{\n"
        '  "levels": ["example.com/rack", "kubernetes.io/hostname"],\n'
        '  "domains": [\n'
        '    {"values": ["r0", "n1"], "count": 4},\n'
        '    {"values": ["r1", "n3"], "count": 2}\n'
        "  ]\n"
        "}\n"
    )


def test_v1beta2_text() -> None:
    """One slice; Pods of two ranks each."""
    options = WriteOptions(ranks_per_pod=2)
    assert write(PAIR, "kueue-v1beta2", options=options) == (
        "{\n"
        '  "levels": ["kubernetes.io/hostname"],\n'
        '  "slices": [\n'
        '    {"domainCount": 2, "valuesPerLevel": [{"individual": {"prefix": "n", '
        '"roots": ["1", "3"]}}], "podCounts": {"individual": [2, 1]}}\n'
        "  ]\n"
        "}\n"
    )


def test_racks_alone() -> None:
    """Where the cluster's Kueue Topology ends at the rack, Pods are told the rack."""
    options = WriteOptions(kueue_levels=(("rack", "example.com/rack"),))
    text = write(PAIR, "kueue-v1beta1", options=options)
    assert assigned(text) == [(("r0",), 4), (("r1",), 2)]


def test_repaired_ranks_keep_their_pods() -> None:
    """A spare takes the place of the lost host in the order, not at its end."""
    topology = cluster(["n1", "n2", "n3", "n4"], 2)
    planner = Planner(topology, spares=Spares(per="rack", size="host", count=1))
    planner.place("a", Gang(6, group=2))
    planner.fail(topology.leaves("host", "n1"))
    repair = planner.replan("a")
    for format in BOTH:
        told = assigned(write(repair, format))
        assert told == [(("n4",), 2), (("n2",), 2), (("n3",), 2)]


def levels(*pairs: tuple[str, str]) -> WriteOptions:
    """Options of these levels."""
    return WriteOptions(kueue_levels=pairs)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (WriteOptions(ranks_per_pod=4), "host 'n3' has 2 ranks, no multiple of ranks"),
        (levels(("pod", "x")), "kueue_levels: level 'pod' does not exist; levels are"),
        (levels(("host", "x"), ("rack", "y")), "host, rack: broadest first"),
        (levels(("rack", "x"), ("rack", "y")), "rack, rack: broadest first"),
        (levels(("gpu", "x")), "gpu: broadest first, and none is the leaf"),
    ],
)
def test_what_kueue_cannot_say(options: WriteOptions, rule: str) -> None:
    """Levels and Pods that do not go with the placement."""
    for format in BOTH:
        with pytest.raises(OutputError, match=f"'{format}': .*{rule}"):
            write(PAIR, format, options=options)


def labelled(hosts: list[Any], racks: list[Any]) -> Placement:
    """A gang on one leaf a host."""
    return gang_on(
        Topology.from_labels(["host", "rack", "all"], [hosts, racks, [0] * len(hosts)]),
        range(len(hosts)),
    )


@pytest.mark.parametrize("name", ["a b", "-a", "a" * 64, "a/b", 'a"', "a.", "é"])
def test_values_are_label_values(name: str) -> None:
    """What Kubernetes takes as a label's value, and nothing else."""
    with pytest.raises(OutputError, match="a label's value has letters"):
        write(labelled([name], ["r"]), "kueue-v1beta2")


def test_hosts_of_one_name_need_the_level_that_tells_them_apart() -> None:
    """Two racks each have a host n1."""
    placement = labelled(["n1", "n1"], ["r0", "r1"])
    rule = "host 'r1/n1' and host 'r0/n1' have the same labels n1: name more levels"
    with pytest.raises(OutputError, match=rule):
        write(placement, "kueue-v1beta1")
    text = write(placement, "kueue-v1beta1", options=RACKS)
    assert assigned(text) == [(("r0", "n1"), 1), (("r1", "n1"), 1)]


def test_a_host_without_a_rack_has_no_value() -> None:
    """A missing level is refused only where it is asked for."""
    placement = labelled(["n1", "n2"], ["r0", None])
    assert len(assigned(write(placement, "kueue-v1beta1"))) == 2
    with pytest.raises(OutputError, match="host 'n2' has no rack"):
        write(placement, "kueue-v1beta1", options=RACKS)


def test_an_object_of_etcd_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past its size the assignment is refused, and the shorter version named."""
    monkeypatch.setattr(kueue, "BYTES_MAX", 100)
    rule = r"105 bytes; an object of etcd has at most 100: use 'kueue-v1beta2'$"
    with pytest.raises(OutputError, match=rule):
        write(PAIR, "kueue-v1beta1")
    with pytest.raises(OutputError, match=r"has at most 100$"):
        write(PAIR, "kueue-v1beta2")


def test_the_host_level_has_any_name() -> None:
    """Without a level called host, the one above the leaf is it."""
    topology = Topology.from_labels(["machine"], [["m1", "m1", "m2"]])
    planner = Planner(topology)
    placement = planner.place("a", Gang(2))
    assert assigned(write(placement, "kueue-v1beta1")) == [(("m1",), 2)]

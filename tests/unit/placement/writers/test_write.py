"""The registry of formats, and what all of them refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx_core import Gang, Handle, InvalidRequest, OutputError, Planner, Topology
from phalanx_core.placement.writers import FORMATS, WriteOptions, write
from tests.unit.placement.writers.gangs import cluster, gang_on

NAMES = [
    "json",
    "kueue-v1beta1",
    "kueue-v1beta2",
    "slurm",
    "slurm-nodelist",
    "slurm-hostfile",
    "mpi-hostfile",
    "mpi-rankfile",
    "torchrun",
]
LAUNCHING = [name for name in NAMES if name != "json"]
NAMING = [name for name in LAUNCHING if not name.startswith("kueue")]
ONE = gang_on(cluster(["a"]), [0, 1])


def test_formats() -> None:
    """Their names are part of the interface."""
    assert list(FORMATS) == NAMES


@pytest.mark.parametrize("format", NAMES)
def test_same_placement_same_text(format: str) -> None:
    """Text ends in one newline and does not depend on who asks when."""
    text = write(ONE, format)
    assert text == write(ONE, format, options=WriteOptions())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("format", NAMING)
@pytest.mark.parametrize(
    "host",
    [
        "a b",
        "a,b",
        "n[1-2]",
        "a=b",
        "#a",
        "a\nb",
        "$(id)",
        "a;b",
        "-a",
        "a'",
        "+n0",
        "",
    ],
)
def test_host_names_that_would_break_a_format(format: str, host: str) -> None:
    """Refused by job, format, name and rule; nothing is quoted and hoped for."""
    placement = gang_on(cluster([host, "b"]), [0])
    if format == "slurm":
        placement = gang_on(cluster([host]), [0])
    with pytest.raises(OutputError) as refused:
        write(placement, format, "llm")
    assert str(refused.value) == (
        f"job 'llm': format {format!r}: host {host!r}: a name has letters, digits, "
        "'-', '_' and '.', begins and ends with a letter or digit, and has at most 253 "
        "signs"
    )


def test_a_host_name_has_an_end() -> None:
    """253 signs, as in DNS."""
    assert write(gang_on(cluster(["a" * 253]), [0]), "slurm-nodelist")
    with pytest.raises(OutputError, match="at most 253 signs"):
        write(gang_on(cluster(["a" * 254]), [0]), "slurm-nodelist")


@pytest.mark.parametrize("format", LAUNCHING)
def test_a_leaf_without_a_host(format: str) -> None:
    """Nobody can start a rank on it."""
    topology = Topology.from_labels(["host", "all"], [["a", None], [0, 0]])
    with pytest.raises(OutputError, match="of rank 1 has no host"):
        write(gang_on(topology, [0, 1]), format)


@pytest.mark.parametrize("format", LAUNCHING)
def test_unresolved_ranks(format: str) -> None:
    """A repair that left ranks on dead leaves is nothing to start from."""
    planner = Planner(cluster(["n1", "n2"], 2))
    planner.place("llm", Gang(3))
    planner.fail([0, 1])
    repair = planner.replan("llm", partial=True)
    with pytest.raises(OutputError) as refused:
        write(repair, format)
    assert str(refused.value) == (
        f"job 'llm': format {format!r}: rank 1 of the repair is unresolved: no healthy "
        "leaf"
    )


def test_a_gang_of_place_many() -> None:
    """A gang without a key is named by its handle."""
    planner = Planner(cluster(["a b", "c d"], 2))
    handles, *_ = planner.place_many([2], Gang(1))
    planner.fail([0])
    repair = planner.replan(Handle(handles[0]))
    assert json.loads(write(repair, "json"))["job"] == int(handles[0])
    rule = rf"job Handle\({handles[0]}\): format 'mpi-rankfile': host 'c d'"
    with pytest.raises(OutputError, match=rule):
        write(repair, "mpi-rankfile")


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ((None, "json"), "placement None: a Placement or a Repair"),
        ((ONE, "yaml"), "format 'yaml': one of json, kueue-v1beta1"),
        ((ONE, None), "format None: one of"),
        ((ONE, "json", None, {}), "options {}: a WriteOptions"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], rule: str) -> None:
    """Misuse is told apart from what a format cannot say."""
    with pytest.raises(InvalidRequest, match=rule):
        write(*arguments)


def test_a_misfit_is_no_placement() -> None:
    """The refusal itself is shown."""
    misfit = Planner(cluster(["a"])).place("llm", Gang(9))
    with pytest.raises(InvalidRequest, match=r"placement Misfit.*: a Placement or"):
        write(misfit, "json")


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"master_port": 0}, "master_port 0: a whole number from 1 to 65535"),
        ({"master_port": 65536}, "master_port 65536"),
        ({"master_port": "29500"}, "master_port '29500'"),
        ({"cores_per_gpu": True}, "cores_per_gpu True"),
        ({"ranks_per_pod": -8}, "ranks_per_pod -8"),
        ({"kueue_levels": ()}, r"kueue_levels \(\): 1 to 16 pairs"),
        ({"kueue_levels": ("host",)}, "'host' is no pair of level and label key"),
        ({"kueue_levels": (("host", ""),)}, r"\('host', ''\) is no pair"),
        ({"kueue_levels": (("rack", "x"), ("host", "x"))}, "each label key once"),
        (
            {"kueue_levels": (("rack", "kubernetes.io/hostname"), ("host", "x"))},
            "kubernetes.io/hostname only as the last",
        ),
    ],
)
def test_wrong_options(fields: dict[str, Any], rule: str) -> None:
    """Options check themselves."""
    with pytest.raises(InvalidRequest, match=rule):
        WriteOptions(**fields)


def test_a_part_is_written_alone() -> None:
    """Its hosts, ranks from 0, and what it lost; the other part does not matter."""
    planner = Planner(Topology.from_spec("rack:1 host:4 gpu:4"))
    gang = Gang(parts=[Gang(3, group=3), Gang(8, group=4)])
    placed = planner.place("svc", gang)
    texts = {
        part: write(placed, "mpi-hostfile", "svc", WriteOptions(part=part))
        for part in (None, 0, 1)
    }
    assert texts == {
        None: "host-2 slots=3\nhost-0 slots=4\nhost-1 slots=4\n",
        0: "host-2 slots=3\n",
        1: "host-0 slots=4\nhost-1 slots=4\n",
    }
    planner.fail([0, 1, 8, 12, 13, 14, 15])
    repair = planner.replan("svc", partial=True)
    assert repair.unresolved.tolist() == [3, 4]
    assert write(repair, "torchrun", "svc", WriteOptions(part=0)).startswith("host-2 N")
    with pytest.raises(OutputError, match="ranks 3-4 of the repair are unresolved"):
        write(repair, "torchrun", "svc", WriteOptions(part=1))
    told = json.loads(write(repair, "json", "svc", WriteOptions(part=1)))
    assert (told["part"], told["first_rank"], told["ranks"]) == (1, 3, 8)
    assert (told["group"], told["unresolved"], told["moves"]) == (4, [0, 1], [])
    assert json.loads(write(repair, "json", "svc"))["parts"] == [3, 8]


def test_a_part_that_is_not_there_is_refused() -> None:
    """By its number, and where the gang has no parts at all."""
    planner = Planner(Topology.from_spec("host:2 gpu:4"))
    placed = planner.place("svc", Gang(parts=[Gang(1), Gang(2)]))
    plain = planner.place("plain", Gang(1))
    for placement, have in ((placed, "2"), (plain, "no")):
        with pytest.raises(
            OutputError, match=f"part 2: the gang has {have} parts, counted from 0"
        ):
            write(placement, "json", "svc", WriteOptions(part=2))
    with pytest.raises(InvalidRequest, match="part -1: a whole number from 0 to 31"):
        WriteOptions(part=-1)

"""Workload entries as requests: models, types, memory, and names that do not exist."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from phalanx_core import Topology
from phalanx_core.cli.goodput_model import hosts_of
from phalanx_core.cli.workload_asks import GIB, check_request, memory_of, request_of
from phalanx_core.cli.workload_file import check_entry
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Planner
from phalanx_core.scheduling import JobRequest

# Two hosts of four A and one host of two B.
MIXED = Topology.from_labels(
    ("host",),
    {"host": ["h1"] * 4 + ["h2"] * 4 + ["h3"] * 2},
    types=["A"] * 8 + ["B"] * 2,
)
PLAIN = Topology.from_spec("rack:2 host:2 gpu:4")
# The doctest of scoring.goodput: 1, 2, 4, 8 and 16 GPUs on 1, 1, 1, 1 and 2 hosts.
MODEL = {
    "throughput": {
        "gradient_s": 0.05,
        "gradient_s_per_sample": 0.001,
        "host_sync_s": 0.01,
        "host_sync_s_per_gpu": 0.001,
        "network_sync_s": 0.05,
        "network_sync_s_per_gpu": 0.002,
        "overlap": 1.6,
    },
    "noise": {"variance": 4.0, "square": 1.0, "initial_batch": 128},
    "batches": {"local_least": 32, "local_most": 256, "total_most": 4096},
}


def asked(topology: Topology, type_name: str | None = None, **row: Any) -> JobRequest:
    """The request of one entry."""
    entry = check_entry("jobs.yaml", 1, {"name": "a", **row})
    return request_of(topology, "jobs.yaml", entry, type_name)


def test_a_model_tells_the_goodput_of_each_size() -> None:
    """On the fewest hosts that hold a size, as the scores say."""
    eight = Topology.from_spec("host:4 gpu:8")
    request = asked(eight, ranks=16, templates=[8, 4, 2, 1], model=MODEL)
    found = [(one.gpus, round(one.goodput)) for one in request.ways]
    assert found == [(16, 2854), (8, 2738), (4, 1868), (2, 1194), (1, 719)]


def test_a_size_without_a_batch_is_left_out() -> None:
    """256 GPUs of 32 samples at least are more than the largest batch."""
    wide = Topology.from_spec("host:32 gpu:8")
    request = asked(wide, ranks=256, templates=[128], model=MODEL)
    assert [one.gpus for one in request.ways] == [128]
    with pytest.raises(InvalidRequest) as caught:
        asked(wide, ranks=256, model=MODEL)
    text = "jobs.yaml: job 'a': model: its batches go with no size of it"
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"ranks": 4},
            "jobs.yaml: job 'a': model: goodput of 4 ranks: must be from 1e-30 to 1e+30, "
            "got 4e+30",
        ),
        (
            {"configurations": [{"ranks": 4}]},
            "jobs.yaml: job 'a': configurations[0]: model: goodput of 4 ranks: must be "
            "from 1e-30 to 1e+30, got 4e+30",
        ),
    ],
)
def test_a_goodput_that_no_sum_holds_is_named(
    row: dict[str, Any], message: str
) -> None:
    """Four GPUs of a sample in 1e-30 s each, and no batch larger than the initial one."""
    parts = dict.fromkeys(MODEL["throughput"], 0.0)
    parts |= {"gradient_s_per_sample": 1e-30, "overlap": 1.0}
    batches = {"local_least": 32, "local_most": 32, "total_most": 128}
    with pytest.raises(InvalidRequest) as caught:
        asked(PLAIN, model={**MODEL, "throughput": parts, "batches": batches}, **row)
    assert str(caught.value) == message


@pytest.mark.parametrize(("gpus", "hosts"), [(1, 1), (4, 1), (5, 2), (8, 2)])
def test_the_fewest_hosts_are_those_of_the_type(gpus: int, hosts: int) -> None:
    """The widest host of a type counts; those of other types do not."""
    assert hosts_of(MIXED, "A", gpus) == hosts
    assert hosts_of(MIXED, "B", gpus) == -(-gpus // 2)


def test_types_are_told_by_configuration_job_or_option() -> None:
    """The nearest word wins."""
    rows = [{"ranks": 2, "type": "B"}, {"ranks": 4}]
    request = asked(MIXED, type="A", configurations=rows)
    assert [one.type for one in request.ways] == ["B", "A"]
    assert asked(MIXED, "B", ranks=2).ways[0].type == "B"
    assert asked(PLAIN, ranks=2, memory_gib=2).ways[0].memory_bytes == 2 * GIB


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"ranks": 2}, "type: the cluster has A, B; the job or --type must name one"),
        (
            {"configurations": [{"ranks": 2, "type": "A"}, {"ranks": 2, "type": "C"}]},
            "configurations[1]: type 'C': ",
        ),
        (
            {"ranks": 2, "type": "A", "within": "hst"},
            "within: level 'hst' does not exist; levels are gpu, host; did "
            "you mean host?",
        ),
    ],
)
def test_names_that_do_not_exist(row: dict[str, Any], message: str) -> None:
    """One message with file, job, field and what there is."""
    with pytest.raises(InvalidRequest) as caught:
        asked(MIXED, **row)
    assert str(caught.value).startswith(f"jobs.yaml: job 'a': {message}")


def test_what_does_not_go_with_the_topology_is_refused_before() -> None:
    """A gang whose levels contradict each other is named, whatever is free."""
    entry = check_entry(
        "jobs.yaml",
        1,
        {"name": "a", "ranks": 8, "group": 4, "group_level": "rack", "within": "host"},
    )
    request = request_of(PLAIN, "jobs.yaml", entry)
    planners = {name: Planner(PLAIN, name) for name in PLAIN.type_names}
    with pytest.raises(InvalidRequest, match=r"^jobs\.yaml: job 'a': "):
        check_request(planners, "jobs.yaml", entry, request)


def test_memory_of_types() -> None:
    """A type is named in full or by a word of it, once."""
    assert memory_of(MIXED, "jobs.yaml", {"A": 80.0}) == {"A": 80 * GIB}
    with pytest.raises(InvalidRequest, match=r"^jobs\.yaml: memory_gib: "):
        memory_of(MIXED, "jobs.yaml", {"C": 1.0})
    long = Topology.from_labels(("host",), {"host": ["h"]}, types=["NVIDIA-H100"])
    with pytest.raises(InvalidRequest) as caught:
        memory_of(long, "jobs.yaml", {"H100": 1.0, "NVIDIA-H100": 2.0})
    text = (
        "jobs.yaml: memory_gib: NVIDIA-H100: names 'NVIDIA-H100', as another key does"
    )
    assert str(caught.value) == text


def test_a_model_beyond_the_doubles_warns_of_nothing() -> None:
    """Parts that take 1e30 s and batches of 2**31: one message, no warning of NumPy."""
    parts = dict.fromkeys(MODEL["throughput"], 1e30) | {"overlap": 10.0}
    noise = {"variance": 1e30, "square": 1e-30, "initial_batch": 1}
    batches = {"local_least": 1, "local_most": 2**31 - 1, "total_most": 2**31 - 1}
    model = {"throughput": parts, "noise": noise, "batches": batches}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidRequest, match=r"job 'a': model: "):
            asked(PLAIN, ranks=4, templates=[1], model=model)

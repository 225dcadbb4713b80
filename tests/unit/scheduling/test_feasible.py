"""Which configurations could ever run: by memory, by topology, by type."""

from __future__ import annotations

import numpy as np
import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import Configuration, JobRequest, Scheduler

HALVES = Topology.from_labels(
    ("host",), ([0, 0, 1, 1],), types=["A100", "A100", "H100", "H100"]
)


def test_memory_filters_and_says_why() -> None:
    """The larger needs more than a GPU has; the smaller runs."""
    scheduler = Scheduler(
        Topology.from_spec("host:2 gpu:4"), memory_bytes={"gpu": 80e9}
    )
    fat = Configuration(Gang(2), goodput=9.0, memory_bytes=100e9)
    scheduler.submit("a", fat, 0.0)
    scheduler.submit("b", JobRequest([fat, Configuration(Gang(4))]), 0.0)
    decision = scheduler.round(0.0)
    assert decision.outcome("a").reason == (
        "infeasible: 2 GPUs: 1e+11 bytes a GPU, and gpu has 8e+10"
    )
    assert decision.outcome("b").configuration == 1


def test_what_no_host_could_hold_is_infeasible_and_waits() -> None:
    """The job is taken, told why, and may be cancelled."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    scheduler.submit("a", Gang(5, within="host"), 0.0)
    outcome = scheduler.round(0.0).outcome("a")
    assert (outcome.kind.value, outcome.why.name) == ("wait", "INFEASIBLE")
    assert outcome.reason == (
        "infeasible: no host could ever hold 5 gpus: best host-0 has 4"
    )
    scheduler.cancel("a", 1.0)
    assert "a" not in scheduler


def test_a_full_or_broken_cluster_makes_nothing_infeasible() -> None:
    """What fits the empty, healthy cluster may run one day."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    scheduler.fail([0, 4])
    scheduler.submit("a", Gang(4, within="host"), 0.0)
    assert scheduler.round(0.0).outcome("a").why.name == "MISFIT"
    scheduler.heal([0])
    assert scheduler.round(1.0).outcome("a").leaves.tolist() == [0, 1, 2, 3]


def test_types_are_named_where_there_are_several() -> None:
    """Each configuration is placed on its own type."""
    scheduler = Scheduler(HALVES)
    request = JobRequest(
        [Configuration(Gang(2), 1.0, "A100"), Configuration(Gang(2), 3.0, "H100")]
    )
    scheduler.submit("a", request, 0.0)
    scheduler.submit("b", request, 0.0)
    decision = scheduler.round(0.0)
    assert [(one.job, one.type, one.leaves.tolist()) for one in decision] == [
        ("a", "H100", [2, 3]),
        ("b", "A100", [0, 1]),
    ]
    with pytest.raises(
        InvalidRequest, match=r"type None: the cluster has several, A100"
    ):
        scheduler.submit("c", Gang(2), 1.0)
    with pytest.raises(InvalidRequest, match=r"type 'B200': one of A100, H100$"):
        scheduler.submit("c", Configuration(Gang(2), type="B200"), 1.0)
    assert scheduler.jobs() == ("a", "b")


def test_goodput_is_in_units_of_the_smallest_that_may_run() -> None:
    """Infeasible ones are no unit; without normalizing it stays as told."""
    scheduler = Scheduler(Topology.from_spec("host:2 gpu:4"))
    ways = [
        Configuration(Gang(9), 1.0),
        Configuration(Gang(2), 50.0),
        Configuration(Gang(4), 75.0),
    ]
    found = scheduler._feasible.of(JobRequest(ways))
    np.testing.assert_array_equal(found.goodput, [np.nan, 1.0, 1.5])
    assert found.gpus == [9, 2, 4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1], r"^memory_bytes \[1\]: GPU type to bytes$"),
        ({"TPU": 1}, r"^memory_bytes of 'TPU': one of gpu$"),
        ({"gpu": -1}, r"^memory_bytes of 'gpu' is -1: at least 0$"),
    ],
)
def test_bad_memory(given: object, message: str) -> None:
    """The error names type, value and rule."""
    with pytest.raises(InvalidRequest, match=message):
        Scheduler(Topology.from_spec("host:2 gpu:4"), memory_bytes=given)  # type: ignore[arg-type]

"""Save and load: the same bytes, the same decisions, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx_core import Gang, Spares, Topology
from phalanx_core.errors import SaveError
from phalanx_core.scheduling import (
    Configuration,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)

TREE = Topology.from_spec("rack:2 host:3 gpu:4")
OPTIONS = SchedulerOptions(lease_s=300.0)


def busy() -> Scheduler:
    """Jobs in every state, leaves released, drained, down and in quarantine."""
    scheduler = Scheduler(
        TREE,
        {"t": 1.0, "u": 2.0},
        spares=Spares("cluster", "host"),
        options=OPTIONS,
        memory_bytes={"gpu": 80.0},
    )
    ways = [Configuration(Gang(8), 3.0, memory_bytes=90.0), Configuration(Gang(4), 1.0)]
    scheduler.submit("a", JobRequest(ways, tenant="t"), 0.0)
    scheduler.submit(7, JobRequest(Gang(4, group=2), tenant="u", priority=2), 0.0)
    scheduler.submit("c", JobRequest(Gang(8), tenant="u"), 0.0)
    scheduler.submit("d", JobRequest(Gang(100), tenant="u"), 0.5)
    scheduler.round(1.0)
    scheduler.started("a", 2.0, 5.5)
    scheduler.progress("a", 10.25)
    scheduler.checkpointed("a")
    scheduler.progress("a", 3.0)
    scheduler.cancel("c", 3.0)
    scheduler.round(61.0)
    scheduler.fail([int(scheduler.placement(7).leaves[1])])  # type: ignore[union-attr]
    scheduler.drain([int(scheduler.placement("a").leaves[0])])  # type: ignore[union-attr]
    scheduler.released("c", 70.5)
    return scheduler


def test_a_loaded_scheduler_is_the_same() -> None:
    """Bytes, questions and the next decisions."""
    scheduler = busy()
    data = scheduler.save()
    loaded = Scheduler.load(TREE, data, options=OPTIONS, memory_bytes={"gpu": 80.0})
    assert loaded.save() == data
    loaded.validate()
    assert loaded.jobs() == ("a", 7, "d")
    for job in scheduler:
        assert loaded.status(job) == scheduler.status(job)
    assert loaded.last is None
    for now in (121.0, 301.0, 361.0):
        assert loaded.round(now) == scheduler.round(now)
        assert loaded.save() == scheduler.save()


def test_only_open_schedulers_take_new_tenants_after_a_load() -> None:
    """Whether tenants come with their jobs is part of the state."""
    scheduler = Scheduler(TREE)
    loaded = Scheduler.load(TREE, scheduler.save())
    loaded.submit("a", JobRequest(Gang(1), tenant="new"), 0.0)
    assert loaded.ledger.tenants() == ("new",)


def test_when_the_first_round_is_due_survives() -> None:
    """Minus infinity has no number in JSON."""
    scheduler = Scheduler(TREE)
    loaded = Scheduler.load(TREE, scheduler.save())
    assert loaded.next_round_s() == scheduler.next_round_s() == float("-inf")


def test_a_job_that_left_leaves_nothing_behind() -> None:
    """Columns that only it had would be part of ties, and a save has none of them."""
    scheduler = Scheduler(Topology.from_spec("host:12 gpu:4"))
    scheduler.submit("wide", JobRequest([Gang(4), Gang(8)]), 0.0)
    scheduler.cancel("wide", 0.0)
    for job, ranks in enumerate((16, 20, 20)):
        scheduler.submit(job, Gang(ranks), 0.0)
    again = Scheduler.load(scheduler.topology, scheduler.save())
    assert again.round(0.0) == scheduler.round(0.0)


def test_limits_of_memory_are_saved() -> None:
    """What could not run before the restart cannot run after it, unless told so."""
    scheduler = Scheduler(TREE, memory_bytes={"gpu": 80.0})
    scheduler.submit("a", Configuration(Gang(4), memory_bytes=90.0), 0.0)
    saved = scheduler.save()
    assert Scheduler.load(TREE, saved).round(0.0).outcome("a").why == "infeasible"
    larger = Scheduler.load(TREE, saved, memory_bytes={"gpu": 96.0})
    assert larger.round(0.0).outcome("a").kind == "start"


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"body": [], "digest": ""}', b'{"body": null, "digest": 1}']
)
def test_what_is_no_save_is_refused(data: bytes) -> None:
    """Whatever JSON it is."""
    with pytest.raises(SaveError, match="these bytes are no save of a scheduler"):
        Scheduler.load(TREE, data)


def test_the_save_is_json_without_the_options() -> None:
    """A person may read it."""
    body = json.loads(busy().save())["body"]
    assert sorted(body) == [
        *("draining", "freed", "jobs", "last_round_s", "ledger", "memory"),
        *("open", "planners", "sequence", "version"),
    ]
    assert [one["job"] for one in body["jobs"]] == ["a", 7, "d"]
    assert body["freed"][0][0] == "c"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entitlement": "demand"}, "entitlement 'quota', not 'demand'"),
        ({"window_s": 7200.0}, "window_s None, not 7200.0"),
    ],
)
def test_other_rules_of_the_ledger_are_refused(
    options: dict[str, Any], message: str
) -> None:
    """Its sums would mean something else."""
    with pytest.raises(SaveError, match=message):
        Scheduler.load(TREE, busy().save(), options=SchedulerOptions(**options))


def test_another_topology_is_refused() -> None:
    """The planners' fingerprints tell."""
    with pytest.raises(SaveError):
        Scheduler.load(Topology.from_spec("rack:3 host:2 gpu:4"), busy().save())


def test_damage_is_found() -> None:
    """Any flipped digit of the body, a cut, another version, other bytes."""
    data = busy().save()
    for at in range(12, len(data) - 60, 997):
        changed = bytearray(data)
        changed[at] ^= 1
        with pytest.raises(SaveError):
            Scheduler.load(TREE, bytes(changed), options=OPTIONS)
    for other in (b"", b"[]", b"{}", data[:-5], b"\xff" * 9):
        with pytest.raises(SaveError):
            Scheduler.load(TREE, other, options=OPTIONS)
    told = json.loads(data)
    told["body"]["version"] = 99
    with pytest.raises(SaveError, match=r"of version 99, this reads 1$"):
        Scheduler.load(TREE, json.dumps(told).encode(), options=OPTIONS)

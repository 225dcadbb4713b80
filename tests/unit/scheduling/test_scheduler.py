"""The facade: what it is made of, when a round is due, and errors inside a round."""

from __future__ import annotations

import json
from typing import Any

import pytest

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import (
    EarlyEviction,
    JobRequest,
    Scheduler,
    SchedulerOptions,
    committing,
    evicting,
    owing,
    repairing,
    reserving,
    valuing,
)

TREE = Topology.from_spec("host:3 gpu:4")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"topology": "host:3 gpu:4"}, "topology 'host:3 gpu:4': a Topology"),
        ({"options": {"order": "owed"}}, "options {'order': 'owed'}: SchedulerOptions"),
        ({"tenants": ["t"]}, "tenants ['t']: a weight for each name"),
        ({"tenants": {"t": 0.0}}, "weight of tenant 't' 0.0: from"),
        ({"options": SchedulerOptions(window_s=100.0)}, "window 100.0"),
    ],
)
def test_bad_arguments(given: dict[str, Any], message: str) -> None:
    """The error names argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        Scheduler(**({"topology": TREE} | given))
    assert str(caught.value).startswith(message)


def test_tenants_are_fixed_or_come_with_their_jobs() -> None:
    """With weights told, nobody else is taken; later ones are told of."""
    scheduler = Scheduler(TREE, {"t": 2.0})
    with pytest.raises(InvalidRequest, match="job 'a': tenant 'u': one of t"):
        scheduler.submit("a", JobRequest(Gang(1), tenant="u"), 0.0)
    scheduler.set_tenant("u", 1.0, 0.0)
    scheduler.submit("a", JobRequest(Gang(1), tenant="u"), 0.0)
    assert scheduler.ledger.tenant("u").quota == 4.0


def test_a_tenant_goes_when_its_jobs_are_gone() -> None:
    """And its share is the others'."""
    scheduler = Scheduler(TREE)
    for tenant in ("t", "u"):
        scheduler.submit(tenant, JobRequest(Gang(1), tenant=tenant), 0.0)
    with pytest.raises(InvalidRequest, match="tenant 'u'"):
        scheduler.remove_tenant("u", 0.0)
    scheduler.cancel("u", 0.0)
    scheduler.remove_tenant("u", 0.0)
    assert scheduler.ledger.tenants() == ("t",)
    assert scheduler.ledger.tenant("t").quota == 12.0


def test_a_status_is_json() -> None:
    """Running or cancelled."""
    scheduler = Scheduler(TREE)
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.cancel("a", 1.0)
    told = json.loads(json.dumps(scheduler.status("a").to_dict()))
    assert (told["state"], told["cancelled"]) == ("starting", True)
    assert told["lease"] == {"start_s": 0.0, "end_s": 900.0, "renewals": 0}
    assert told["request"]["tenant"] == "default"
    assert repr(scheduler).startswith("Scheduler('")


def test_spares_are_for_repairs_alone() -> None:
    """No job starts on them, and a repair does."""
    scheduler = Scheduler(TREE, spares=Spares("cluster", "host"))
    assert scheduler.ledger.capacity == 8
    scheduler.submit("a", Gang(8), 0.0)
    scheduler.submit("b", Gang(1), 0.0)
    decision = scheduler.round(0.0)
    assert decision.outcome("a").leaves.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert decision.outcome("b").kind.value == "wait"
    scheduler.fail([5])
    assert scheduler.round(1.0).outcome("a").leaves.tolist() == [
        *(0, 1, 2, 3, 4, 9, 6, 7)
    ]


def test_shares_are_of_what_is_usable() -> None:
    """What is down counts for nobody, but for a job that holds it."""
    scheduler = Scheduler(TREE, {"t": 1.0})
    scheduler.submit("a", JobRequest(Gang(4), tenant="t"), 0.0)
    scheduler.round(0.0)
    scheduler.fail([4, 5])
    scheduler.round(1.0)
    assert scheduler.ledger.capacity == 10


def test_when_a_round_is_due() -> None:
    """At once, then by the clock; by events also after one and when a lease is over."""
    options = SchedulerOptions(lease_s=90.0, round_s=60.0, trigger="event")
    timed = SchedulerOptions(lease_s=90.0, round_s=60.0)
    by_event, by_clock = (
        Scheduler(TREE, options=options),
        Scheduler(TREE, options=timed),
    )
    for scheduler in (by_event, by_clock):
        assert scheduler.next_round_s() == float("-inf")
        scheduler.round(0.0)
        assert scheduler.next_round_s() == 60.0
        scheduler.submit("a", Gang(1), 10.0)
    assert (by_event.next_round_s(), by_clock.next_round_s()) == (float("-inf"), 60.0)
    for scheduler in (by_event, by_clock):
        scheduler.round(10.0)
        assert scheduler.next_round_s() == 70.0
        scheduler.round(70.0)
    assert (by_event.next_round_s(), by_clock.next_round_s()) == (100.0, 130.0)


def troubled(order: str) -> Scheduler:
    """Everything at once: broken, draining, stopping, overdue, over and new jobs."""
    options = SchedulerOptions(
        order=order,
        lease_s=100.0,
        waiting_bound_s=20.0,
        early_eviction=EarlyEviction(first_s=(0.0, 90.0)),
    )
    scheduler = Scheduler(Topology.from_spec("host:6 gpu:2"), options=options)
    for job in ("over", "broken", "stop", "drain"):
        scheduler.submit(job, Gang(2), 0.0)
    scheduler.round(0.0)
    scheduler.submit("late", Gang(2), 50.0)
    scheduler.round(50.0)
    scheduler.submit("overdue", Gang(8), 51.0)
    scheduler.submit("new", Gang(4), 95.0)
    for job in ("broken", "drain"):
        leaf = int(scheduler.placement(job).leaves[0])  # type: ignore[union-attr]
        (scheduler.fail if job == "broken" else scheduler.drain)([leaf])
    scheduler.cancel("stop", 99.0)
    return scheduler


UNUSED = [
    (valuing, "owed"),
    (owing, "utility"),
    (owing, "owed-then-utility"),
]


class Broke(Exception):
    """What a faulty part raises."""


@pytest.mark.parametrize("order", ["utility", "owed", "owed-then-utility"])
@pytest.mark.parametrize(
    ("place", "name"),
    [
        (repairing, "repair"),
        (repairing, "_drain"),
        (reserving, "serve_overdue"),
        (reserving, "_hold"),
        (valuing, "_leave"),
        (owing, "room_of"),
        (evicting, "evict"),
        (Planner, "fits"),
        (Planner, "replan"),
        (Planner, "drain"),
        (Planner, "place"),
        (committing.Commit, "_wait_for_leaves"),
    ],
)
def test_an_error_inside_a_round_leaves_all_as_it_was(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, order: str
) -> None:
    """Planners, records and accounts; the same round decides the same afterwards."""
    scheduler, other = troubled(order), troubled(order)
    for one in (scheduler, other):
        one.ledger.advance(100.0)
        one._count(100.0)
    before = scheduler.save()

    def broken(*given: object, **named: object) -> None:
        raise Broke

    with monkeypatch.context() as patch:
        patch.setattr(place, name, broken)
        try:
            scheduler.round(100.0)
        except Broke:
            pass
        else:  # the order has no use for that part
            assert (place, order) in UNUSED
            return
    assert scheduler.save() == before
    scheduler.validate()
    assert scheduler.round(100.0) == other.round(100.0)


def test_an_error_of_solve_leaves_all_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the second choice of a round, when leaves were given and taken on the copies."""
    scheduler = Scheduler(TREE, options=SchedulerOptions(lease_s=60.0))
    for at in range(6):
        scheduler.submit(at, Gang(2, within="host"), 0.0)
    scheduler.round(0.0)
    scheduler.submit("big", JobRequest(Gang(4, within="host"), weight=2.0), 1.0)
    scheduler.ledger.advance(60.0)
    before = scheduler.save()
    calls = []
    sound = valuing._carry_out

    def broken(*given: Any) -> Any:
        calls.append(sound(*given))
        raise Broke

    monkeypatch.setattr(valuing, "_carry_out", broken)
    with pytest.raises(Broke):
        scheduler.round(60.0)
    assert calls
    assert scheduler.save() == before


def test_what_a_hook_raises_reaches_the_caller_after_the_round() -> None:
    """The decision is there as ``last``, and done."""

    def broken(job: object, leaves: object) -> None:
        raise Broke

    scheduler = Scheduler(
        TREE, options=SchedulerOptions(lease_s=60.0), on_checkpoint=broken
    )
    scheduler.submit("a", Gang(4), 0.0)
    first = scheduler.round(0.0)
    assert scheduler.last is first
    with pytest.raises(Broke):
        scheduler.round(60.0)
    assert scheduler.last is not None
    assert scheduler.last.outcome("a").why.name == "RENEWED"
    assert scheduler.status("a").leases == 2

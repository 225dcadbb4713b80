"""The embedder beside a twin that goes second by second, and small cases by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import Topology
from phalanx_core.cli.embedder import Embedder
from phalanx_core.cli.happenings import Happening
from phalanx_core.cli.targets import Target
from phalanx_core.cli.workload_asks import request_of
from phalanx_core.cli.workload_file import Entry, check_entry
from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import (
    Decision,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)
from tests.unit.cli.slow_embedder import SlowEmbedder

TOPOLOGY = Topology.from_spec("rack:2 host:2 gpu:2")


def asked(*rows: dict[str, Any]) -> list[tuple[Entry, JobRequest]]:
    """Entries with their requests."""
    entries = [check_entry("jobs.yaml", at, row) for at, row in enumerate(rows, 1)]
    return [(entry, request_of(TOPOLOGY, "jobs.yaml", entry)) for entry in entries]


def fresh(order: str = "utility", lease_s: float = 120.0) -> Scheduler:
    """A scheduler of eight GPUs whose releases are immediate."""
    options = SchedulerOptions(
        order=order, lease_s=lease_s, round_s=60.0, releases="immediate"
    )
    return Scheduler(TOPOLOGY, options=options)


def played(
    embedder: Embedder,
    until: float,
    happened: list[Happening] | None = None,
    since: float = 0.0,
) -> list[Decision]:
    """Rounds every 60 s from one time to another, both among them."""
    decisions, left, now = [], list(happened or ()), since
    while now <= until:
        due = [one for one in left if one.at_s <= now]
        left = left[len(due) :]
        for one in embedder.play(now, due):
            getattr(embedder.scheduler, one.kind)(list(one.target.leaves))
        decision = embedder.scheduler.round(now)
        embedder.carry_out(decision)
        decisions.append(decision)
        now += 60.0
    return decisions


jobs = st.fixed_dictionaries(
    {
        "ranks": st.sampled_from([1, 2, 4, 8]),
        "tenant": st.sampled_from(["a", "b"]),
        "arrive_s": st.integers(0, 200),
        "runs_s": st.none() | st.integers(1, 250),
        "progress_s": st.integers(0, 60),
        "overhead_s": st.integers(0, 20),
        "cold_start_s": st.integers(0, 40),
        "checkpoint_s": st.integers(0, 70),
        "within": st.sampled_from([None, "host", "rack"]),
        "sizes": st.booleans(),
    }
)
happenings = st.builds(
    lambda kind, first, count, at: Happening(
        kind, Target("", tuple(range(first, min(first + count, 8)))), float(at)
    ),
    st.sampled_from(["fail", "fail", "drain", "heal"]),
    st.integers(0, 7),
    st.integers(1, 4),
    st.integers(0, 420),
)


@given(
    st.lists(jobs, min_size=1, max_size=5),
    st.lists(happenings, max_size=5),
    st.sampled_from(["utility", "owed", "owed-then-utility"]),
)
def test_it_is_its_slow_twin(
    rows: list[dict[str, Any]], happened: list[Happening], order: str
) -> None:
    """The same decisions, ends and statuses as a second at a time makes them."""
    for at, row in enumerate(rows):
        row["name"] = f"j{at}"
        if row.pop("sizes", False) and row["ranks"] > 1:
            half = row["ranks"] // 2
            row |= {"templates": [half], "goodput": {row["ranks"]: 1, half: 1}}
    happened.sort(key=lambda one: one.at_s)
    fast = Embedder(fresh(order), asked(*rows))
    decisions = played(fast, 420.0, happened)
    slow = SlowEmbedder(fresh(order), asked(*rows), happened)
    slow.run(420, 60)
    assert decisions == slow.decisions
    assert {name: one.finished_s for name, one in fast.ended.items()} == slow.finished
    assert fast.scheduler.jobs() == slow.scheduler.jobs()
    for job in fast.scheduler.jobs():
        assert fast.scheduler.status(job) == slow.scheduler.status(job)
        assert fast.played[str(job)].done_s == slow.done[str(job)]
    names = fast.scheduler.ledger.tenants()
    assert names == slow.scheduler.ledger.tenants()
    for name in names:
        mine, twin = (one.scheduler.ledger.tenant(name) for one in (fast, slow))
        assert mine == twin
    fast.scheduler.validate()


def test_a_job_ends_after_its_cold_start_and_its_work() -> None:
    """20 s of start and 30 of work end at 50 s, before the round at 60."""
    embedder = Embedder(fresh(), asked({"name": "a", "ranks": 8, "runs_s": 30}))
    decisions = played(embedder, 60.0)
    assert [one.kind.value for one in decisions[0]] == ["start"]
    assert list(decisions[1]) == []
    ended = embedder.ended["a"]
    assert (ended.finished_s, ended.had_s, ended.leases) == (50.0, 400.0, 1)
    assert embedder.finished == ["a"]


def test_a_smaller_configuration_takes_longer() -> None:
    """At half the goodput 30 s of work take 60."""
    rows = {"ranks": 16, "goodput": 4}, {"ranks": 8, "goodput": 2}
    row = {"name": "a", "configurations": list(rows), "runs_s": 30}
    embedder = Embedder(fresh(), asked(row))
    played(embedder, 120.0)
    assert embedder.ended["a"].finished_s == 80.0


def test_a_failure_takes_back_what_no_checkpoint_has() -> None:
    """Broken at 50 s with 30 s of work, repaired at 60, it starts over at 80."""
    embedder = Embedder(fresh(), asked({"name": "a", "ranks": 2, "runs_s": 40}))
    lost = Happening("fail", Target("", (0, 1)), 50.0)
    decisions = played(embedder, 120.0, [lost])
    assert [one.kind.value for one in decisions[1]] == ["move"]
    assert embedder.ended["a"].finished_s == 120.0
    assert embedder.ended["a"].lost_s == 30.0
    assert embedder.ended["a"].cold_starts == 2


def test_a_checkpoint_at_the_end_of_a_lease_is_kept() -> None:
    """Two jobs take turns by leases and neither loses anything but its starts."""
    rows = [{"name": name, "ranks": 8, "runs_s": 150} for name in "ab"]
    embedder = Embedder(fresh("owed"), asked(*rows))
    played(embedder, 540.0)
    assert {name: one.lost_s for name, one in embedder.ended.items()} == {
        "a": 0.0,
        "b": 0.0,
    }
    # 100 s of work a lease of 120: a works in the first and third lease, b in the others.
    assert embedder.ended["a"].finished_s == 310.0
    assert embedder.ended["b"].finished_s == 430.0


def test_a_failure_goes_back_to_the_end_of_the_last_lease() -> None:
    """Of 125 s of work it keeps 100, and does the rest from 200 s on."""
    embedder = Embedder(fresh(), asked({"name": "a", "ranks": 2, "runs_s": 200}))
    lost = Happening("fail", Target("", (0, 1)), 150.0)
    played(embedder, 360.0, [lost])
    assert embedder.ended["a"].lost_s == 25.0
    # 40 s to the end of the lease, its checkpoint, and 60 more.
    assert embedder.ended["a"].finished_s == 305.0


def test_a_renewed_lease_costs_its_checkpoint() -> None:
    """100 s in the first lease, and 5 s of standing still before 10 more."""
    embedder = Embedder(fresh(), asked({"name": "a", "ranks": 8, "runs_s": 110}))
    played(embedder, 180.0)
    assert embedder.ended["a"].finished_s == 135.0


def test_who_ends_leaves_before_who_comes() -> None:
    """At one time the leaves of the one are there for the other, and both are told."""
    rows = {"name": "a", "ranks": 8, "runs_s": 40}, {"name": "b", "ranks": 8}
    embedder = Embedder(fresh(), asked(rows[0], {**rows[1], "arrive_s": 60}))
    seen = []
    come = embedder._come
    embedder._come = lambda *one: (seen.append(embedder.finished[:]), come(*one))  # type: ignore[method-assign,assignment]
    played(embedder, 60.0)
    assert seen == [[], ["a"]]


def test_it_goes_on_where_it_was_saved() -> None:
    """Every cut of a run into two makes the same decisions and ends."""
    rows = [
        {"name": "a", "ranks": 8, "runs_s": 170, "tenant": "x"},
        {"name": "b", "ranks": 4, "arrive_s": 30, "runs_s": 90},
        {"name": "c", "ranks": 2, "arrive_s": 200},
    ]
    lost = Happening("fail", Target("", (0, 1)), 130.0)
    whole = Embedder(fresh("owed"), asked(*rows))
    expected = played(whole, 480.0, [lost])
    for cut in range(0, 480, 60):
        first = Embedder(fresh("owed"), asked(*rows))
        early = [lost] if cut >= 130 else []
        decisions = played(first, float(cut), early)
        again = Scheduler.load(
            TOPOLOGY, first.scheduler.save(), options=first.scheduler.options
        )
        second = Embedder(again, ())
        second.entries = dict(first.entries)
        told = first.to_dict()
        second.resume(told)
        second.expect(pair for pair in asked(*rows) if pair[0].name in told["coming"])
        late = [] if early else [lost]
        decisions += played(second, 480.0, late, since=cut + 60.0)
        assert decisions == expected
        assert second.ended == whole.ended
        assert second.to_dict() == whole.to_dict()


def test_nobody_works_while_broken() -> None:
    """A job that cannot be repaired stands still, and works on once it is healed."""
    embedder = Embedder(fresh(), asked({"name": "a", "ranks": 8, "runs_s": 100}))
    happened = [
        Happening("fail", Target("", (0,)), 30.0),
        Happening("heal", Target("", (0,)), 50.0),
    ]
    played(embedder, 180.0, happened)
    # 10 s of work before, and 90 after the leaf is back.
    assert embedder.ended["a"].finished_s == 145.0


def test_what_the_scheduler_refuses_names_file_and_job() -> None:
    """A rule that only the scheduler knows is told as those of the file are."""
    pairs = asked({"name": "a", "ranks": 2})
    scheduler = fresh()
    scheduler.submit("a", pairs[0][1], 0.0)
    with pytest.raises(InvalidRequest) as caught:
        list(Embedder(scheduler, pairs).play(0.0, []))
    assert str(caught.value).startswith("jobs.yaml: job 'a': ")

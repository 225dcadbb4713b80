"""The ledger by cases whose figures stand here, from the ASTRAEA paper or by hand."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from phalanx_core.fairness import JobState, Ledger, ratio
from phalanx_core.testing import SlowLedger
from tests.unit.fairness.histories import Teller


def counter_example(order: list[list[str]]) -> Ledger:
    """6 GPUs, a job of 6 and two of 3; rounds of ten minutes."""
    ledger = Ledger(6, {"t": 1.0})
    for job, demand in (("big", 6), ("left", 3), ("right", 3)):
        ledger.submit(job, "t", demand, 0.0)
    for at, jobs in enumerate(order):
        for job in jobs:
            ledger.start(job, at * 600.0)
        for job in jobs:
            ledger.stop(job, (at + 1) * 600.0)
    return ledger


def test_the_counter_example_of_finish_time_fairness() -> None:
    """Turns of equal time give 60, 30 and 30 GPU-minutes in twenty minutes (section 5)."""
    ledger = counter_example([["big"], ["left", "right"]])
    accounts = [ledger.job(job) for job in ("big", "left", "right")]
    assert [one.service / 60 for one in accounts] == [60.0, 30.0, 30.0]
    assert [one.entitled / 60 for one in accounts] == [40.0, 40.0, 40.0]
    assert [one.ratio for one in accounts] == [1.5, 0.75, 0.75]


def test_two_turns_of_the_small_for_one_of_the_big() -> None:
    """In thirty minutes each has 60 GPU-minutes, what it is due (checklist, item 9)."""
    ledger = counter_example([["big"], ["left", "right"], ["left", "right"]])
    assert ledger.job_ratios(["big", "left", "right"]).tolist() == [1.0, 1.0, 1.0]
    assert ledger.leased_s == 180 * 60


def test_the_walk_through_of_two_hosts() -> None:
    """16 GPUs, tenants alike: after 9,000 s A has 54,000 of 72,000 and B all (section 11)."""
    ledger = Ledger(16, {"A": 1.0, "B": 1.0})
    ledger.submit("a", "A", 6, 0.0)
    ledger.submit("b", "B", 8, 0.0)
    ledger.start("a", 0.0)
    ledger.start("b", 0.0)
    ledger.advance(9000.0)
    left, right = ledger.tenant("A"), ledger.tenant("B")
    assert (left.service, left.entitled, left.ratio) == (54_000.0, 72_000.0, 0.75)
    assert (right.service, right.entitled, right.ratio) == (72_000.0, 72_000.0, 1.0)


def test_a_demand_that_a_share_exceeds() -> None:
    """8 GPUs for two jobs: one that needs 1 is due 1, not 4 (section 6)."""
    ledger = Ledger(8, {"t": 1.0})
    ledger.submit("small", "t", 1, 0.0)
    ledger.submit("wide", "t", 8, 0.0)
    ledger.advance(10.0)
    assert ledger.job("small").entitled == 10.0
    assert ledger.job("wide").entitled == 40.0


@pytest.mark.parametrize(
    ("entitlement", "idle", "busy"), [("quota", 80.0, 80.0), ("demand", 0.0, 30.0)]
)
def test_what_a_tenant_is_due(entitlement: str, idle: float, busy: float) -> None:
    """Its quota at all times (eq. 16), or no more than it asks for (eq. 8)."""
    ledger = Ledger(16, {"idle": 2.0, "busy": 2.0}, entitlement)
    ledger.submit("j", "busy", 3, 0.0)
    ledger.advance(10.0)
    assert ledger.tenant("idle").entitled == idle
    assert ledger.tenant("busy").entitled == busy
    assert ledger.tenant("busy").entitlement == entitlement
    assert ledger.job("j").entitlement == entitlement


@pytest.mark.parametrize("how", ["finish", "fail"])
def test_an_ended_job_takes_no_part(how: str) -> None:
    """Its lease ends, its dues stand still, and the other has the whole quota."""
    ledger = Ledger(8, {"t": 1.0}, "demand")
    ledger.submit("one", "t", 8, 0.0, 3.0)
    ledger.submit("two", "t", 8, 0.0)
    ledger.start("one", 0.0)
    getattr(ledger, how)("one", 10.0)
    ledger.advance(20.0)
    one, two = ledger.job("one"), ledger.job("two")
    assert (one.service, one.entitled, one.gpus) == (80.0, 60.0, 0)
    assert one.state is JobState({"finish": "finished", "fail": "failed"}[how])
    assert two.entitled == 20.0 + 80.0
    assert ledger.tenant("t").demand == 8
    assert (ledger.tenant("t").service, ledger.leased_s) == (80.0, 80.0)
    assert ledger.jobs() == ("two",)
    assert ledger.jobs(active=False) == ("one", "two")


def test_a_lease_of_other_than_the_demand() -> None:
    """GPUs may be given; a resize gives what is asked for, or again another number."""
    ledger = Ledger(16, {"t": 1.0})
    ledger.submit("j", "t", 4, 0.0)
    ledger.start("j", 0.0, gpus=3)
    ledger.resize("j", 6, 10.0)
    ledger.resize("j", 2, 20.0, gpus=1)
    ledger.stop("j", 30.0)
    ledger.resize("j", 20, 30.0)
    ledger.advance(40.0)
    found = ledger.job("j")
    assert found.service == 30.0 + 60.0 + 10.0
    assert found.entitled == 40.0 + 60.0 + 20.0 + 160.0
    assert ledger.tenant("t").demand == 20


def test_a_weight_changes() -> None:
    """12 GPUs one to one, then two to one."""
    ledger = Ledger(12, {"t": 1.0})
    ledger.submit("one", "t", 12, 0.0)
    ledger.submit("two", "t", 12, 0.0)
    ledger.reweight("one", 2.0, 10.0)
    ledger.advance(20.0)
    assert ledger.job("one").entitled == 60.0 + 80.0
    assert ledger.job("two").entitled == 60.0 + 40.0
    assert ledger.job("one").weight == 2.0


def test_heavy_weights_leave_nothing_behind() -> None:
    """A thousand jobs of weight 1e6 come and go beside two of 1e-6, which share alike."""
    ledger = Ledger(4, {"t": 1.0})
    for job in ("one", "two"):
        ledger.submit(job, "t", 4, 0.0, 1e-6)
    for at in range(1000):
        ledger.submit(at, "t", 4, 0.0, 1e6 / (1 + at % 7))
    for at in range(1000):
        ledger.finish(at, 0.0)
    ledger.advance(10.0)
    assert ledger.job("one").entitled == pytest.approx(20.0, rel=1e-12)
    ledger.validate()


def test_small_leases_after_large_ones_keep_their_digits() -> None:
    """A thousand leases of a 64th of a second after 1e15 GPU-seconds are all there."""
    ledger = Ledger(2**31 - 1, {"t": 1.0})
    ledger.submit("wide", "t", 2**30, 0.0)
    ledger.start("wide", 0.0)
    ledger.stop("wide", 2.0**20)
    ledger.submit("slim", "t", 1, 2.0**20)
    now = 2.0**20
    for _ in range(1000):
        ledger.start("slim", now)
        ledger.stop("slim", now + 0.125 / 8)
        now += 0.125
    assert ledger.job("slim").service == 1000 / 64
    assert ledger.leased_s == 2.0**50 + 1000 / 64
    assert ledger.tenant("t").service == 2.0**50 + 1000 / 64


def test_quotas_follow_capacity_and_tenants() -> None:
    """Each change counts from its moment on, for tenants and for their jobs."""
    ledger = Ledger(16, {"a": 1.0, "b": 1.0})
    ledger.submit("j", "a", 16, 0.0)
    ledger.set_capacity(8, 10.0)
    ledger.set_tenant("c", 2.0, 20.0)
    ledger.set_tenant("a", 5.0, 30.0)
    ledger.remove_tenant("b", 40.0)
    ledger.advance(50.0)
    wanted = 80.0 + 40.0 + 20.0 + 50.0 + 10 * 8 * 5 / 7
    assert ledger.tenant("a").entitled == pytest.approx(wanted, rel=1e-15)
    assert ledger.job("j").entitled == pytest.approx(wanted, rel=1e-15)
    assert ledger.tenant("c").entitled == pytest.approx(40 + 20 + 160 / 7, rel=1e-15)
    assert ledger.tenants() == ("a", "c")
    assert ledger.capacity == 8.0


def test_a_tenant_that_comes_again_begins_anew() -> None:
    """Its sums went with it; what its jobs were given stays with them."""
    ledger = Ledger(4, {"a": 1.0, "b": 1.0})
    ledger.submit("j", "a", 2, 0.0)
    ledger.start("j", 0.0)
    ledger.finish("j", 10.0)
    ledger.remove_tenant("a", 10.0)
    ledger.set_tenant("a", 1.0, 20.0)
    ledger.advance(30.0)
    assert ledger.tenants() == ("b", "a")
    assert (ledger.tenant("a").service, ledger.tenant("a").entitled) == (0.0, 20.0)
    assert (ledger.job("j").service, ledger.job("j").entitled) == (20.0, 20.0)
    assert Ledger.load(ledger.save()).save() == ledger.save()
    ledger.validate()


def test_a_window_is_the_current_bucket_and_whole_ones_before() -> None:
    """20 s of 10 s buckets from 5 on: at 39 the buckets that began at 15, 25 and 35."""
    ledger = Ledger(4, {"t": 1.0}, window=20.0, bucket_s=10.0, start_s=5.0)
    ledger.submit("j", "t", 4, 5.0)
    ledger.start("j", 6.0, gpus=1)
    ledger.stop("j", 16.0)
    seen = []
    for now in (24.0, 35.0, 39.0, 44.0, 45.0, 1000.0):
        ledger.advance(now)
        tenant = ledger.tenant("t")
        seen.append((tenant.service, tenant.entitled / 4))
    assert seen == [
        (10.0, 19.0),
        (1.0, 20.0),
        (1.0, 24.0),
        (1.0, 29.0),
        (0.0, 20.0),
        (0.0, 25.0),
    ]
    assert ledger.job("j").service == 10.0
    assert ledger.leased_s == 10.0
    assert ledger.window == 20.0


def test_changes_within_buckets_are_exact() -> None:
    """A quota that halves in the middle of a bucket halves from there on."""
    ledger = Ledger(4, {"t": 1.0}, window=10.0, bucket_s=10.0)
    ledger.set_capacity(2, 15.0)
    ledger.advance(25.0)
    assert ledger.tenant("t").entitled == 4 * 5 + 2 * 5 + 2 * 5


def test_a_long_advance_over_empty_buckets() -> None:
    """Ten million buckets go by at once, and the last of them count."""
    ledger = Ledger(4, {"t": 1.0}, window=24.0, bucket_s=1.0)
    ledger.submit("j", "t", 2, 0.0)
    ledger.start("j", 0.0)
    ledger.advance(1e7)
    assert ledger.tenant("t").service == 48.0
    assert ledger.tenant("t").entitled == 96.0
    assert ledger.leased_s == 2e7
    ledger.validate()


def test_ratios() -> None:
    """0/0 is 0, and what was not due is infinitely much."""
    assert (ratio(0.0, 0.0), ratio(1.0, 0.0), ratio(3.0, 4.0)) == (0.0, inf, 0.75)
    ledger = Ledger(0, {"t": 1.0})
    ledger.submit("j", "t", 1, 0.0)
    assert ledger.job("j").ratio == 0.0
    ledger.start("j", 0.0)
    ledger.advance(1.0)
    assert ledger.job("j").ratio == inf
    assert ledger.job_ratios(["j"]).tolist() == [inf]
    assert ledger.tenant("t").ratio == inf


def test_tables() -> None:
    """Tenants as arrays in their order, and ratios of jobs in the order asked for."""
    ledger = Ledger(8, {"b": 3.0, "a": 1.0})
    for job, tenant in ((1, "a"), ("1", "b")):
        ledger.submit(job, tenant, 4, 0.0)
        ledger.start(job, 0.0)
    ledger.advance(10.0)
    table = ledger.tenant_table()
    assert table.names == ("b", "a")
    assert table.service.tolist() == [40.0, 40.0]
    assert table.entitled.tolist() == [60.0, 20.0]
    assert table.quota.tolist() == [6.0, 2.0]
    assert (
        table.service.dtype == table.entitled.dtype == table.quota.dtype == np.float64
    )
    assert ledger.job_ratios([1, "1", 1]).tolist() == [2.0, 1.0, 2.0]
    assert ledger.job_ratios([]).shape == (0,)
    empty = Ledger(8, {}).tenant_table()
    assert (empty.names, empty.service.shape) == ((), (0,))


def test_ended_accounts_stay_until_forgotten() -> None:
    """Then the key is free; the sums stay whole."""
    ledger = Ledger(4, {"t": 1.0})
    for job in ("one", "two", "three"):
        ledger.submit(job, "t", 1, 0.0)
        ledger.start(job, 0.0)
    ledger.finish("one", 5.0)
    ledger.fail("three", 6.0)
    assert ledger.forget("one").service == 5.0
    ledger.submit("one", "t", 1, 6.0)
    assert [account.job for account in ledger.forget_ended()] == ["three"]
    assert ledger.forget_ended() == ()
    assert ledger.jobs(active=False) == ("two", "one")
    assert ledger.leased_s == 17.0
    ledger.validate()


@pytest.mark.parametrize("kind", ["submit", "finish", "reweight", "quota", "bucket"])
def test_a_full_log_is_read(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Whatever fills it: jobs that come, go or change, quotas, or buckets."""
    terms = (8, {"t": 1.0}, "quota", 1.0 if kind == "bucket" else None)
    ledger = Ledger(*terms, bucket_s=1.0)
    slow = SlowLedger(*terms, bucket_s=1.0)
    told = Teller([ledger, slow])
    row = ledger._tenants["t"]
    told.tell("submit", "stays", "t", 8, 0.0)
    for at in range(200):
        if kind == "finish":
            told.tell("submit", at, "t", 1, 0.0)
    longest = 0
    monkeypatch.setattr("phalanx_core.fairness.books.LOG_MAX", 50)
    monkeypatch.setattr("phalanx_core.fairness.ledger.LOG_MAX", 50)
    for at in range(200):
        now = 1.0 + at
        if kind == "submit":
            told.tell("submit", at, "t", 1, now)
        elif kind == "finish":
            told.tell("finish", at, now)
        elif kind == "reweight":
            told.tell("reweight", "stays", 1.0 + at % 2, now)
        elif kind == "quota":
            told.tell("set_capacity", 8 - at % 2, now)
        else:
            told.tell("advance", now)
        longest = max(longest, len(row.spans), len(row.segments))
    assert longest <= 52
    ledger.validate()
    wanted = slow.jobs["stays"].entitled
    assert ledger.job("stays").entitled == pytest.approx(float(wanted), rel=1e-14)

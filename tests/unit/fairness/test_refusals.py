"""What a ledger refuses, by name, and that it is the same ledger after it."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from math import inf, nan
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest, InvariantBroken, SaveError, UnknownJob
from phalanx_core.fairness import Ledger


def made() -> Ledger:
    """At 7 s: "run" runs, "wait" waits, 9 is finished, "lost" failed; "idle" has no job."""
    ledger = Ledger(8, {"t": 1.0, "u": 2.0, "idle": 1.0}, "demand", 20.0, bucket_s=10.0)
    for job in ("run", "wait", 9, "lost"):
        ledger.submit(job, "t", 2, 1.0)
    ledger.start("run", 2.0)
    ledger.start(9, 3.0)
    ledger.finish(9, 5.0)
    ledger.fail("lost", 6.0)
    ledger.submit("other", "u", 3, 6.0, 2.5)
    ledger.advance(7.0)
    return ledger


Call = Callable[[Ledger], Any]

CALLS: dict[str, tuple[Call, str]] = {
    "known job": (
        lambda one: one.submit("run", "t", 1, 50.0),
        "job 'run': the ledger knows it, as running",
    ),
    "ended job again": (
        lambda one: one.submit(9, "t", 1, 50.0),
        "job 9: the ledger knows it, as finished",
    ),
    "bool as job": (
        lambda one: one.submit(True, "t", 1, 50.0),
        "job True: a job's key is a str or an int",
    ),
    "list as job": (
        lambda one: one.submit([], "t", 1, 50.0),
        r"job \[\]: a job's key is a str or an int",
    ),
    "endless job": (
        lambda one: one.submit(2**20000, "t", 1, 50.0),
        "job of 20001 bits: a number of at most 512 bits",
    ),
    "unknown tenant": (
        lambda one: one.submit("new", "v", 1, 50.0),
        "tenant 'v': the ledger has no such tenant",
    ),
    "list as tenant": (
        lambda one: one.submit("new", ["t"], 1, 50.0),
        r"tenant \['t'\]: the ledger has no such tenant",
    ),
    "no GPU": (
        lambda one: one.submit("new", "t", 0, 50.0),
        "demand 0: a whole number of GPUs from 1",
    ),
    "half a GPU": (
        lambda one: one.submit("new", "t", 1.5, 50.0),
        "demand 1.5: a whole number of GPUs from 1",
    ),
    "bool as demand": (
        lambda one: one.submit("new", "t", True, 50.0),
        "demand True: a whole number of GPUs from 1",
    ),
    "no weight": (
        lambda one: one.submit("new", "t", 1, 50.0, 0.0),
        "weight 0.0: from 1e-6 to 1e6",
    ),
    "NaN weight": (
        lambda one: one.submit("new", "t", 1, 50.0, nan),
        "weight nan: from 1e-6 to 1e6",
    ),
    "time goes back": (
        lambda one: one.submit("new", "t", 1, 6.5),
        "now 6.5: not before the last event, at 7.0",
    ),
    "NaN time": (lambda one: one.advance(nan), "now nan: finite seconds"),
    "infinite time": (lambda one: one.advance(inf), "now inf: finite seconds"),
    "word as time": (lambda one: one.advance("8"), "now '8': finite seconds"),
    "time beyond doubles": (
        lambda one: one.advance(10**400),
        "now of 1329 bits: finite",
    ),
    "start of a running job": (
        lambda one: one.start("run", 50.0),
        "job 'run': it is running, not pending",
    ),
    "start of an ended job": (
        lambda one: one.start(9, 50.0),
        "job 9: it is finished, not pending",
    ),
    "start before": (
        lambda one: one.start("wait", 6.0),
        "now 6.0: not before the last event, at 7.0",
    ),
    "start on none": (
        lambda one: one.start("wait", 50.0, 0),
        "gpus 0: a whole number of GPUs from 1",
    ),
    "stop of a pending job": (
        lambda one: one.stop("wait", 50.0),
        "job 'wait': it is pending, not running",
    ),
    "stop before": (
        lambda one: one.stop("run", 6.0),
        "now 6.0: not before the last event, at 7.0",
    ),
    "finish of a failed job": (
        lambda one: one.finish("lost", 50.0),
        "job 'lost': it is failed, not active",
    ),
    "fail of a finished job": (
        lambda one: one.fail(9, 50.0),
        "job 9: it is finished, not active",
    ),
    "finish before": (
        lambda one: one.finish("run", 6.0),
        "now 6.0: not before the last event, at 7.0",
    ),
    "resize of an ended job": (
        lambda one: one.resize(9, 1, 50.0),
        "job 9: it is finished, not active",
    ),
    "resize to none": (
        lambda one: one.resize("run", 0, 50.0),
        "demand 0: a whole number of GPUs from 1",
    ),
    "resize onto none": (
        lambda one: one.resize("run", 1, 50.0, 0),
        "gpus 0: a whole number of GPUs from 1",
    ),
    "GPUs of a pending job": (
        lambda one: one.resize("wait", 1, 50.0, 1),
        "gpus 1: job 'wait' does not run",
    ),
    "reweight of an ended job": (
        lambda one: one.reweight("lost", 1.0, 50.0),
        "job 'lost': it is failed, not active",
    ),
    "reweight to infinity": (
        lambda one: one.reweight("run", inf, 50.0),
        "weight inf: from 1e-6 to 1e6",
    ),
    "weight of a tenant": (
        lambda one: one.set_tenant("t", 0, 50.0),
        "weight 0: from 1e-6 to 1e6",
    ),
    "number as tenant": (
        lambda one: one.set_tenant(5, 1.0, 50.0),
        "tenant 5: its name is a str",
    ),
    "busy tenant removed": (
        lambda one: one.remove_tenant("t", 50.0),
        "tenant 't': it has 2 active jobs",
    ),
    "unknown tenant removed": (
        lambda one: one.remove_tenant("v", 50.0),
        "tenant 'v': the ledger has no such tenant",
    ),
    "account of no tenant": (
        lambda one: one.tenant("v"),
        "tenant 'v': the ledger has no such tenant",
    ),
    "capacity below none": (
        lambda one: one.set_capacity(-1, 50.0),
        "capacity -1: GPUs, finite and at least 0",
    ),
    "NaN capacity": (
        lambda one: one.set_capacity(nan, 50.0),
        "capacity nan: GPUs, finite and at least 0",
    ),
    "active job forgotten": (
        lambda one: one.forget("run"),
        "job 'run': it is running, and has not ended",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_refused_event_changes_nothing(name: str) -> None:
    """One InvalidRequest names object, value and rule; the saved bytes stay the same."""
    call, message = CALLS[name]
    ledger, untouched = made(), made()
    with pytest.raises(InvalidRequest, match=message):
        call(ledger)
    assert ledger.now == 7.0
    ledger.validate()
    assert ledger.save() == untouched.save()


UNKNOWN: dict[str, Call] = {
    "start": lambda one: one.start("new", 50.0),
    "stop": lambda one: one.stop("new", 50.0),
    "finish": lambda one: one.finish("new", 50.0),
    "fail": lambda one: one.fail("new", 50.0),
    "resize": lambda one: one.resize("new", 1, 50.0),
    "reweight": lambda one: one.reweight("new", 1.0, 50.0),
    "job": lambda one: one.job("new"),
    "ratios": lambda one: one.job_ratios(["run", "new"]),
    "forget": lambda one: one.forget("new"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_job_is_named(name: str) -> None:
    """UnknownJob from every event and query, and nothing changes."""
    ledger, untouched = made(), made()
    with pytest.raises(UnknownJob, match="job 'new': the ledger does not know it"):
        UNKNOWN[name](ledger)
    assert ledger.save() == untouched.save()


@pytest.mark.parametrize("job", [9.0, True, [], None])
def test_no_key_is_taken_for_another(job: Any) -> None:
    """9.0 is not job 9, and True not job 1, though a dictionary says so."""
    ledger = made()
    ledger.submit(1, "t", 1, 7.0)
    with pytest.raises(UnknownJob):
        ledger.job(job)


TERMS: dict[str, tuple[dict[str, Any], str]] = {
    "word": ({"entitlement": "fair"}, "entitlement 'fair': 'quota' or 'demand'"),
    "names alone": ({"tenants": ["t"]}, r"tenants \['t'\]: a weight for each name"),
    "number as name": ({"tenants": {1: 1.0}}, "tenant 1: its name is a str"),
    "no weight": ({"tenants": {"t": 0}}, "weight of tenant 't' 0: from 1e-6 to 1e6"),
    "capacity": ({"capacity": inf}, "capacity inf: GPUs, finite and at least 0"),
    "start": ({"start_s": nan}, "now nan: finite seconds"),
    "bucket": ({"bucket_s": 0.5}, "bucket_s 0.5: finite and at least 1 second"),
    "part of a bucket": (
        {"window": 5400.0},
        "window 5400.0: 1 to 10000 times bucket_s 3600.0, or None",
    ),
    "no window": ({"window": 0}, "window 0: 1 to 10000 times"),
    "endless window": ({"window": 3600.0 * 10_001}, "window 36003600.0: 1 to 10000"),
    "word as window": ({"window": "day"}, "window 'day': 1 to 10000 times"),
}


@pytest.mark.parametrize("name", TERMS)
def test_wrong_terms_are_named(name: str) -> None:
    """The constructor says which argument it cannot take."""
    change, message = TERMS[name]
    with pytest.raises(InvalidRequest, match=message):
        Ledger(**({"capacity": 8, "tenants": {"t": 1.0}} | change))


def broken(ledger: Ledger, name: str, value: Any) -> None:
    """Set what a path of names leads to."""
    *path, last = name.split(".")
    one: Any = ledger
    for part in path:
        one = one[part] if isinstance(one, dict) else getattr(one, part)
    if isinstance(one, dict):
        one[last] = value
    else:
        setattr(one, last, value)


@pytest.mark.parametrize(
    ("name", "value", "tag"),
    [
        ("_tenants.t.heavy", 3.0, "F1"),
        ("_tenants.t.demand", 3, "F2"),
        ("_tenants.t.service.rate", 3, "F3"),
        ("_leased.rate", 3, "F3"),
        ("_leased.high", 1.0, "F4"),
        ("_jobs.run.service.high", 1.0, "F5"),
        ("_forgotten", (1.0, 0.0), "F5"),
        ("_tenants.t.quota", 3.0, "F6"),
        ("_tenants.t.due.rate", 8.0, "F6"),
        ("_tenants.t.level", 3.0, "F6"),
        ("_jobs.wait.state", "finished", "F7"),
        ("_jobs.run.key", "walk", "F7"),
        ("_jobs.run.join", 9, "F8"),
        ("_bucket", 1, "F8"),
        ("_bucket_end", 30.0, "F8"),
        ("_tenants.t.due.since", 8.0, "F8"),
        ("_tenants.t.spans", [1.0], "F8"),
        ("_tenants.t.closed", None, "F8"),
    ],
)
def test_a_broken_invariant_is_told_by_its_tag(name: str, value: Any, tag: str) -> None:
    """Each invariant sees what it is about."""
    ledger = made()
    ledger.validate()
    broken(ledger, name, value)
    with pytest.raises(InvariantBroken, match=f"^{tag}: ") as told:
        ledger.validate()
    assert told.value.tag == tag


def test_damaged_bytes_are_refused() -> None:
    """Any bit turned, any length cut, and what is no ledger."""
    data = made().save()
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        with pytest.raises(SaveError):
            Ledger.load(bytes(changed))
    for length in range(0, len(data), 7):
        with pytest.raises(SaveError):
            Ledger.load(data[:length])
    for foreign in (b"", b"{}", b"[1]\n2\n", b"[" * 100_000, "text", None):
        with pytest.raises(SaveError):
            Ledger.load(foreign)  # type: ignore[arg-type]


def forged(change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A save whose digest is right and whose content is not."""
    head, body, _ = made().save().split(b"\n")
    told, state = json.loads(head), json.loads(body)
    change(state)
    text = json.dumps(state, separators=(",", ":")).encode()
    told["digest"] = sha256(text).hexdigest()
    return json.dumps(told).encode() + b"\n" + text + b"\n"


FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no jobs": lambda s: s["jobs"].clear(),
    "key gone": lambda s: s.pop("leased"),
    "terms gone": lambda s: s.pop("capacity"),
    "wrong terms": lambda s: s.update(capacity=-1),
    "time of none": lambda s: s.update(now=None),
    "another bucket": lambda s: s.update(bucket=3),
    "weights": lambda s: s["tenants"][0].update(heavy=[0.0, 0.0]),
    "a state of none": lambda s: s["jobs"][0].__setitem__(4, "walking"),
    "too few numbers": lambda s: s["tenants"][0].update(service=[1, 2]),
    "rows of none": lambda s: s.update(tenants=None),
    "tenant gone": lambda s: s["tenants"].pop(0),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_save_that_does_not_add_up_is_refused(name: str) -> None:
    """Right bytes of a wrong ledger are found by its invariants."""
    with pytest.raises(SaveError):
        Ledger.load(forged(FORGED[name]))


def test_a_sound_forgery_loads() -> None:
    """What the forger leaves alone is the ledger itself."""
    assert Ledger.load(forged(lambda s: None)).save() == made().save()

"""A ledger as bytes: JSON with a digest, in which doubles keep every bit."""

from __future__ import annotations

import json
from collections import deque
from hashlib import sha256
from typing import Any

from phalanx_core.errors import PhalanxError, SaveError
from phalanx_core.fairness.accounts import JobState
from phalanx_core.fairness.books import Books
from phalanx_core.fairness.invariants import validate
from phalanx_core.fairness.rows import Integral, JobRow, TenantRow
from phalanx_core.fairness.settling import settle

FORMAT = "phalanx ledger"
VERSION = 1


def saved(books: Books) -> bytes:
    """All of a ledger; its logs are read first, so that none need be kept."""
    for tenant in books._tenants.values():
        settle(tenant, books._now)
    state = {
        "capacity": books._capacity,
        "entitlement": books._entitlement,
        "buckets": books._buckets,
        "bucket_s": books._bucket_s,
        "bucket": books._bucket,
        "start_s": books._start,
        "now": books._now,
        "leased": _integral(books._leased),
        "removed": list(books._removed),
        "forgotten": list(books._forgotten),
        "tenants": [_tenant(row) for row in books._tenants.values()],
        "jobs": [_job(row) for row in books._jobs.values()],
    }
    return _bytes(state)


def restore(books: Books, data: bytes) -> None:
    """Give a new ledger the rows of a saved one.

    Raises
    ------
    SaveError
        If the bytes are damaged, of another version or no ledger's.
    """
    state = _state(data)
    try:
        _fill(books, state)
        validate(books)
    except (PhalanxError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise SaveError("the saved ledger does not add up") from error


def opening(data: bytes) -> dict[str, Any]:
    """What a ledger's constructor takes, of a saved one."""
    state = _state(data)
    try:
        size = state["bucket_s"]
        return {
            "capacity": state["capacity"],
            "tenants": {},
            "entitlement": state["entitlement"],
            "window": state["buckets"] * size if state["buckets"] else None,
            "bucket_s": size,
            "start_s": state["start_s"],
        }
    except (KeyError, TypeError) as error:
        raise SaveError("the saved ledger lacks its terms") from error


def _bytes(state: Any) -> bytes:
    body = json.dumps(state, separators=(",", ":"))
    digest = sha256(body.encode()).hexdigest()
    head = json.dumps({"format": FORMAT, "version": VERSION, "digest": digest})
    return f"{head}\n{body}\n".encode()


def _state(data: bytes) -> dict[str, Any]:
    if not isinstance(data, bytes):
        raise SaveError(f"a {type(data).__name__}: a saved ledger is bytes")
    head, _, body = data.partition(b"\n")
    try:
        told = json.loads(head)
        form, version, digest = told["format"], told["version"], told["digest"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SaveError("the saved ledger is damaged or foreign") from error
    if form != FORMAT or version != VERSION:
        raise SaveError(f"{form!r} of version {version!r}: not {FORMAT!r}, {VERSION}")
    if not body.endswith(b"\n") or sha256(body[:-1]).hexdigest() != digest:
        raise SaveError("the saved ledger is damaged: its digest is another")
    try:
        state = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise SaveError("the saved ledger is damaged or foreign") from error
    if not isinstance(state, dict):
        raise SaveError("the saved ledger is no object")
    return state


def _integral(one: Integral) -> list[float]:
    return [one.rate, one.since, one.high, one.low]


def _into(one: Integral, given: list[float]) -> None:
    one.rate, one.since, one.high, one.low = given


def _tenant(row: TenantRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "weight": row.weight,
        "heavy": [row.heavy, row.light],
        "due": _integral(row.due),
        "service": _integral(row.service),
        "closed": None if row.closed is None else [list(one) for one in row.closed],
        "past_due": list(row.past_due),
        "past_service": list(row.past_service),
    }


def _job(row: JobRow) -> list[Any]:
    service = _integral(row.service)
    due = [row.high, row.low]
    return [row.key, row.tenant.name, row.demand, row.weight, row.state, service, due]


def _fill(books: Books, state: dict[str, Any]) -> None:
    books._now = state["now"]
    books._bucket = state["bucket"]
    if books._buckets:
        books._bucket_end = books._start + (books._bucket + 1) * books._bucket_s
    _into(books._leased, state["leased"])
    books._removed = _pair(state["removed"])
    books._forgotten = _pair(state["forgotten"])
    for given in state["tenants"]:
        row = books._new_tenant(given["name"], given["weight"])
        books._tenants[row.name] = row
        row.heavy, row.light = _pair(given["heavy"])
        row.past_due = _pair(given["past_due"])
        row.past_service = _pair(given["past_service"])
        if row.closed is not None:
            closed = [_pair(one) for one in given["closed"]]
            row.closed = deque(closed, maxlen=books._buckets)
    gone: dict[str, TenantRow] = {}
    for key, name, demand, weight, told, service, due in state["jobs"]:
        tenant = books._tenants.get(name) or gone.setdefault(
            name, books._new_tenant(name, weight)
        )
        job = JobRow(key, tenant, demand, weight, books._now)
        job.state = JobState(told)
        _into(job.service, service)
        job.high, job.low = _pair(due)
        books._jobs[key] = job
        if job.state in (JobState.PENDING, JobState.RUNNING):
            tenant.jobs[key] = job
            tenant.demand += demand
    # What follows from the rest is worked out anew; then what does not takes its place.
    books._requote()
    for given in state["tenants"]:
        row = books._tenants[given["name"]]
        _into(row.due, given["due"])
        _into(row.service, given["service"])


def _pair(given: list[float]) -> tuple[float, float]:
    first, second = given
    return first, second

"""Save and load of a scheduler."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from phalanx_core.errors import PhalanxError, SaveError
from phalanx_core.fairness import Ledger
from phalanx_core.placement import Planner
from phalanx_core.scheduling.committing import Freed
from phalanx_core.scheduling.events import Events
from phalanx_core.scheduling.feasible import Feasible
from phalanx_core.scheduling.records import JobRecord

VERSION = 1


def saved(scheduler: Events) -> bytes:
    """The bytes that :func:`restore` reads."""
    body = {
        "draining": {type: list(own) for type, own in scheduler._draining.items()},
        "freed": [[one.job, one.type, one.leaves.tolist()] for one in scheduler._freed],
        "jobs": [one.to_dict() for one in scheduler._records.values()],
        "memory": scheduler._feasible.memory_bytes,
        "last_round_s": scheduler._last_round_s.hex(),
        "ledger": base64.b64encode(scheduler.ledger.save()).decode("ascii"),
        "open": scheduler._open_tenants,
        "planners": {
            type: base64.b64encode(planner.save()).decode("ascii")
            for type, planner in scheduler.planners.items()
        },
        "sequence": scheduler._sequence,
        "version": VERSION,
    }
    return json.dumps({"body": body, "digest": _digest(body)}).encode("ascii")


def restore(scheduler: Events, body: Mapping[str, Any]) -> None:
    """Fill a scheduler that was just made on the same topology.

    Raises
    ------
    SaveError
        If the bytes are damaged, of another version or another topology, or the ledger
        was kept by other rules than the scheduler's options say.
    """
    try:
        _restore(scheduler, body)
    except PhalanxError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SaveError(f"scheduler: damaged: {error!r}") from None


def _restore(scheduler: Events, body: Mapping[str, Any]) -> None:
    topology, options = scheduler.topology, scheduler.options
    kept = body["planners"]
    if sorted(kept) != sorted(scheduler.planners):
        raise SaveError(f"scheduler: saved with GPU types {', '.join(kept)}")
    planners = {
        type: Planner.load(topology, base64.b64decode(kept[type]))
        for type in scheduler.planners
    }
    ledger = Ledger.load(base64.b64decode(body["ledger"]))
    for name, wanted, found in (
        ("entitlement", options.entitlement, ledger.entitlement),
        ("window_s", options.window_s, ledger.window),
    ):
        if wanted != found:
            raise SaveError(f"scheduler: saved with {name} {found!r}, not {wanted!r}")
    scheduler.planners, scheduler.ledger = planners, ledger
    memory = scheduler._feasible.memory_bytes
    scheduler._feasible = Feasible(planners, memory, options.normalized)
    scheduler._open_tenants = bool(body["open"])
    scheduler._sequence = int(body["sequence"])
    scheduler._last_round_s = float.fromhex(body["last_round_s"])
    scheduler._draining = {
        type: dict.fromkeys(body["draining"][type]) for type in planners
    }
    scheduler._freed = [
        Freed(job, type, np.array(leaves, np.int32))
        for job, type, leaves in body["freed"]
    ]
    for told in body["jobs"]:
        record = JobRecord.from_dict(told)
        scheduler._admit(record)
        scheduler._records[record.job] = record
    scheduler._dirty = True


def read(data: bytes) -> dict[str, Any]:
    """What the bytes of :func:`saved` hold, checked as a whole.

    Raises
    ------
    SaveError
        If they are damaged, of another version or something else.
    """
    try:
        whole = json.loads(data)
        body: dict[str, Any] = whole["body"]
        digest = whole["digest"]
    except (ValueError, KeyError, TypeError, RecursionError):
        body, digest = {}, None
    if not isinstance(body, dict) or "version" not in body:
        raise SaveError("scheduler: these bytes are no save of a scheduler")
    if body.get("version") != VERSION:
        raise SaveError(
            f"scheduler: of version {body.get('version')!r}, this reads {VERSION}"
        )
    if digest != _digest(body):
        raise SaveError("scheduler: damaged: its checksum does not match")
    return body


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()

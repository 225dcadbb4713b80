"""A slow twin of the validator: whole documents, merged and compared, nothing kept apart."""

from __future__ import annotations

import json
from typing import Any

from phalanx_core.reformation import (
    FIXED,
    HARDENED,
    PRINTED,
    Action,
    Cause,
    Event,
    Job,
    Phase,
    Records,
    Refused,
    transition,
)

RULES = {"PRINTED": PRINTED, "FIXED": FIXED, "HARDENED": HARDENED}


def document(records: Records) -> dict[str, Any]:
    """Records as a first line holds them."""
    return {
        "live": hex(records.live),
        "suspect": hex(records.suspect),
        "lost": hex(records.lost),
        "failures": records.failures,
        "jobs": {
            str(index): [
                int(job.phase),
                job.epoch,
                *(hex(mask) for mask in (job.alloc, job.plan, job.sealed, job.fenced)),
                int(job.cause),
                job.base,
                job.uid,
            ]
            for index, job in enumerate(records.jobs)
        },
    }


def records_of(told: dict[str, Any]) -> Records:
    """Records of such a document."""
    jobs = [
        Job(Phase(p), e, *(int(mask, 16) for mask in masks), Cause(c), b, u)
        for p, e, *masks, c, b, u in told["jobs"].values()
    ]
    masks = {key: int(told[key], 16) for key in ("live", "suspect", "lost")}
    return Records(jobs=tuple(jobs), failures=told["failures"], **masks)


def legal(rules: str, before: dict[str, Any], line: dict[str, Any]) -> bool:
    """Whether a line is a step from a document of records, its number aside."""
    event = Event(
        Action[line["action"]],
        line.get("job", 0),
        int(line.get("leaves", "0x0"), 16),
        line.get("epoch", 0),
        line.get("uid", 0),
        line.get("manifest", 0),
    )
    answer = transition(records_of(before), event, RULES[rules])
    if isinstance(answer, Refused):
        return False
    merged = json.loads(json.dumps(before))
    for key, value in line["after"].items():
        if key == "jobs":
            merged["jobs"].update(value)
        else:
            merged[key] = value
    return bool(merged == document(answer[0]))

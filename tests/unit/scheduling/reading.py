"""Decisions as plain values, so that tests can hold them as literals."""

from __future__ import annotations

from phalanx_core.scheduling import Decision

Told = tuple[str, str | int, str, list[int]]


def told(decision: Decision) -> list[Told]:
    """Kind, job, reason's code and leaves of each action, in their order."""
    return [
        (one.kind.value, one.job, one.why.name, one.leaves.tolist()) for one in decision
    ]

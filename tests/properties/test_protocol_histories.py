"""Histories of engines in faulty worlds, judged by the validator alone."""

from __future__ import annotations

from collections import Counter

from phalanx_core.reformation import Action
from phalanx_core.verification.history import validate
from tests.properties.protocol_walk import lived

SCHEDULES = 600
FLOOR = 30
# Verdicts are withdrawn seldom there.
FLOORS = {Action.TRUST: 3}
# A proposal that comes to nothing is an engine's memory: no store, and so no history of
# one, has it. Random histories have both.
UNWRITTEN = {Action.ABORT, Action.CRASH}


def test_histories_of_engines_are_legal() -> None:
    """Every line of every schedule is a legal step, and no action that is written is rare."""
    counts: Counter[Action] = Counter()
    for seed in range(SCHEDULES):
        world = lived(seed)
        world.settle()
        lines = world.history.getvalue().splitlines(keepends=True)
        report = validate(lines)
        assert report.fault is None, f"seed {seed}: {report.fault}"
        assert report.transitions == len(lines) - 1 == world.historian.history.count
        counts.update(report.by_action)
    written = [action for action in Action if action not in UNWRITTEN]
    assert [one for one in written if counts[one] < FLOORS.get(one, FLOOR)] == []
    assert not any(counts[action] for action in UNWRITTEN)

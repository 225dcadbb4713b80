"""The search in C takes the very steps of the pure core's transitions."""

from __future__ import annotations

from collections import Counter, deque

import pytest

from phalanx_core.reformation import (
    FIXED,
    PRINTED,
    Action,
    Event,
    Phase,
    Records,
    Refused,
    Rules,
    enabled,
    started,
    transition,
)
from phalanx_core.verification import unreduced_scope
from phalanx_core.verification.unreduced import Search
from phalanx_core.verification.unreduced_scope import JobState, Scope, State, Step

NAMES = {Action.FAIL: "Fail", Action.DETECT: "Detect", Action.PLAN: "Plan"}
NAMES |= {Action.COMMIT: "Commit", Action.ABORT: "Abort", Action.SEAL: "Seal"}
NAMES |= {Action.RESTORE: "Restore"}
PHASES = {Phase.RUN: "Run", Phase.PLAN: "Plan", Phase.COMMIT: "Commit"}
PHASES |= {Phase.RESTORE: "Restore"}


def shown(records: Records) -> State:
    """Records as the search in C tells a state."""
    return State(
        records.live,
        tuple(
            JobState(PHASES[job.phase], job.epoch, job.alloc, job.plan, job.sealed)
            for job in records.jobs
        ),
    )


def steps(records: Records, rules: Rules, failures: int) -> list[tuple[Event, Records]]:
    """What transition takes from here, as long as leaves may fail."""
    found = []
    for event in enabled(records, rules):
        if event.action is Action.FAIL and records.failures == failures:
            continue
        answer = transition(records, event, rules)
        assert not isinstance(answer, Refused)
        found.append((event, answer[0]))
    return found


def told(found: list[Step]) -> Counter[tuple[str, State]]:
    """How often each step leads to each state, in C."""
    counts: Counter[tuple[str, State]] = Counter()
    for step in found:
        counts[step.action, step.after] += step.times
    return counts


@pytest.mark.parametrize(
    ("leaves", "failures", "rules", "named"),
    [
        (4, 1, PRINTED, unreduced_scope.PRINTED),
        (5, 1, PRINTED, unreduced_scope.PRINTED),
        (6, 2, PRINTED, unreduced_scope.PRINTED),
        (5, 1, FIXED, unreduced_scope.FIXED),
        (6, 2, FIXED, unreduced_scope.FIXED),
    ],
)
def test_every_state_has_the_steps_of_transition(
    leaves: int, failures: int, rules: Rules, named: unreduced_scope.Rule
) -> None:
    """From the same starts, in every state, and no state more or less."""
    search = Search(Scope(2, leaves, failures, named), liveness=False)
    while not search.done:
        search.run(1 << 20)
    states = set(search.states())
    begin = [
        started([first, second], leaves)
        for first in range(1 << leaves)
        for second in range(1 << leaves)
        if not first & second and min(first.bit_count(), second.bit_count()) > failures
    ]
    seen = {shown(records): records for records in begin}
    waiting = deque(seen)
    while waiting:
        state = waiting.popleft()
        found = steps(seen[state], rules, failures)
        counts = Counter((NAMES[event.action], shown(after)) for event, after in found)
        assert counts == told(search.successors(state))
        for _, after in found:
            key = shown(after)
            if key not in seen:
                seen[key] = after
                waiting.append(key)
    assert set(seen) == states

"""Every event in states of every kind that the hardened protocol reaches."""

from __future__ import annotations

import pytest

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Event,
    Phase,
    Records,
    Refused,
    enabled,
    step,
)
from phalanx_core.verification import hardened_model, search
from tests.unit.reformation.slow_protocol import after, as_sets

LEAVES = 5
OF_LEAVES = (Action.FAIL, Action.HEAL, Action.SUSPECT, Action.TRUST)
PLANNED = (Action.PLAN, Action.DRAIN, Action.RESIZE)


def every_event(records: Records) -> list[Event]:
    """Events of one leaf, or of any set for a plan, with the current token."""
    found = []
    for action in OF_LEAVES:
        found += [Event(action, leaves=1 << leaf) for leaf in range(LEAVES)]
    for index, job in enumerate(records.jobs):
        token = (job.epoch, job.uid)
        found.append(Event(Action.ADMIT, index, 0, 0, job.uid + 1))
        found += [Event(Action.FENCE, index, 1 << leaf) for leaf in range(LEAVES)]
        for action in PLANNED:
            masks = range(1 << LEAVES)
            found += [Event(action, index, mask, *token) for mask in masks]
        for manifest in range(job.epoch + 1):
            found.append(Event(Action.RESTORE, index, 0, *token, manifest))
            found.append(Event(Action.LOSE, index, 0, 0, 0, manifest))
        others = (
            Action.DETECT,
            Action.COMMIT,
            Action.ABORT,
            Action.CRASH,
            Action.SEAL,
            Action.RUN,
            Action.RELEASE,
        )
        found += [Event(action, index, 0, *token) for action in others]
    return found


def suspect_survivor(records: Records) -> bool:
    """Whether a job waits for repair with a leaf that lives and is suspect."""
    return any(
        job.phase == Phase.PLAN and job.alloc & records.live & records.suspect
        for job in records.jobs
    )


@pytest.mark.parametrize(
    ("scope", "every"),
    [
        ("drain and heal", 12),
        ("drain", 40),
        ("admit", 12),
        ("lose", 12),
        ("resize", 60),
    ],
)
def test_every_event(scope: str, every: int) -> None:
    """What is taken, what follows, and what is enumerated are as the slow twin says."""
    states = search(hardened_model(scope)).graph.states
    rare = [state for state in states if suspect_survivor(state.records)]
    for state in states[::every] + rare[:20]:
        records, sets = state.records, as_sets(state.records)
        taken = set()
        for event in every_event(records):
            answer, expected = step(records, event), after(sets, event)
            if isinstance(answer, Refused):
                assert expected is None, (records, event, answer)
            else:
                assert as_sets(answer) == expected, (records, event)
                taken.add(event)
        assert set(enabled(records, HARDENED, leaves=LEAVES)) == taken

"""Random walks of the hardened protocol: what is enabled, what holds, what never changes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx_core.reformation import (
    FIXED,
    HARDENED,
    PRINTED,
    Action,
    Event,
    Records,
    Refused,
    Rules,
    check,
    enabled,
    started,
    step,
    transition,
)

LEAVES = 5


def walked(
    draws: st.DataObject, rules: Rules, steps: int
) -> list[tuple[Records, Event]]:
    """States of a random walk, each with the event that was taken in it."""
    records, found = started([0b00011, 0b01100], LEAVES), []
    for _ in range(steps):
        choices = sorted(enabled(records, rules, leaves=LEAVES))
        if not choices:
            break
        event = draws.draw(st.sampled_from(choices))
        found.append((records, event))
        after = step(records, event, rules)
        assert isinstance(after, Records)
        records = after
    return found


@settings(deadline=None)
@given(st.data(), st.sampled_from([PRINTED, FIXED, HARDENED]))
def test_walks_keep_the_invariants(draws: st.DataObject, rules: Rules) -> None:
    """No walk breaks an invariant of the records, nor changes the records it came from."""
    for records, event in walked(draws, rules, 25):
        kept = Records(*records)
        answer = transition(records, event, rules)
        assert not isinstance(answer, Refused)
        check(answer[0])
        assert records == kept
        assert transition(records, event, rules) == answer


@settings(deadline=None, max_examples=25)
@given(st.data(), st.sampled_from([FIXED, HARDENED]))
def test_enabled_is_complete(draws: st.DataObject, rules: Rules) -> None:
    """Of all events of one leaf or one set, those accepted are those enumerated."""
    walk = walked(draws, rules, 12)
    records = draws.draw(st.sampled_from([records for records, _ in walk]))
    offered = set(enabled(records, rules, leaves=LEAVES))
    single = {Action.FAIL, Action.HEAL, Action.SUSPECT, Action.TRUST, Action.FENCE}
    planned = {Action.PLAN, Action.DRAIN, Action.RESIZE}
    accepted = set()
    for action in Action:
        masks: list[int] = [0]
        if action in single:
            masks = [1 << leaf for leaf in range(LEAVES)]
        elif action in planned:
            masks = list(range(1 << LEAVES))
        for index, job in enumerate(records.jobs):
            token = (job.epoch, job.uid)
            if action == Action.ADMIT:
                token = (0, job.uid + 1)
            if action <= Action.TRUST or action in (Action.FENCE, Action.LOSE):
                token = (0, 0)
            place = 0 if action <= Action.TRUST else index
            manifests = [0]
            if action in (Action.RESTORE, Action.LOSE):
                manifests = list(range(job.epoch + 1))
            for mask in masks:
                for manifest in manifests:
                    event = Event(action, place, mask, *token, manifest)
                    if not isinstance(step(records, event, rules), Refused):
                        accepted.add(event)
    assert offered == accepted

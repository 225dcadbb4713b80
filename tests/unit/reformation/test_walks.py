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
from tests.unit.reformation.slow_protocol import after, as_sets

LEAVES = 5


def chosen(draws: st.DataObject, records: Records, rules: Rules) -> Event | None:
    """An enabled event: first what, then whose and which, as plans are so many."""
    choices = sorted(enabled(records, rules, leaves=LEAVES))
    if not choices:
        return None
    action = draws.draw(st.sampled_from(sorted({event.action for event in choices})))
    same = [event for event in choices if event.action == action]
    return draws.draw(st.sampled_from(same))


def walked(
    draws: st.DataObject, rules: Rules, steps: int
) -> list[tuple[Records, Event]]:
    """States of a random walk, each with the event that was taken in it."""
    records, found = started([0b00011, 0b01100], LEAVES), []
    for _ in range(steps):
        event = chosen(draws, records, rules)
        if event is None:
            break
        found.append((records, event))
        following = step(records, event, rules)
        assert isinstance(following, Records)
        records = following
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


ANY_EVENT = st.builds(
    Event,
    st.sampled_from(Action),
    st.integers(0, 1),
    st.integers(0, (1 << LEAVES) - 1),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 2),
)


def near(draws: st.DataObject, records: Records) -> Event:
    """An event that is enabled, or any, or one with the current token."""
    kind = draws.draw(st.sampled_from(["enabled", "enabled", "current", "any"]))
    event = chosen(draws, records, HARDENED) if kind == "enabled" else None
    if event is not None:
        return event
    event = draws.draw(ANY_EVENT)
    if kind == "any":
        return event
    job = records.jobs[event.job]
    return event._replace(epoch=job.epoch, uid=job.uid)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_the_slow_twin_agrees(draws: st.DataObject) -> None:
    """Every event, allowed or not, does to the records what it does to the sets."""
    records = started([0b00011, 0b01100], LEAVES)
    state = as_sets(records)
    for _ in range(30):
        event = near(draws, records)
        answer, expected = transition(records, event), after(state, event)
        if expected is None:
            assert isinstance(answer, Refused), event
        else:
            assert not isinstance(answer, Refused), (event, answer)
            records, state = answer[0], expected
            assert as_sets(records) == state

"""The transition function is Figure 2's next-state relation: no step more, none less."""

from __future__ import annotations

import pytest

from phalanx_core.reformation import (
    PRINTED,
    Action,
    Event,
    Job,
    Phase,
    Records,
    Refused,
    enabled,
    leaves_of,
    transition,
)
from phalanx_core.verification import Model, Scope, search
from tests.unit.verification.figure2 import Figure, Move, following, initial, reachable


def figure(records: Records, leaves: int) -> Figure:
    """The records in the words of Figure 2."""
    owner = [-1] * leaves
    for index, job in enumerate(records.jobs):
        for leaf in leaves_of(job.alloc):
            assert owner[leaf] == -1
            owner[leaf] = index
    return (
        frozenset(leaves_of(records.live)),
        tuple(job.epoch for job in records.jobs),
        tuple(job.phase.name.capitalize() for job in records.jobs),
        tuple(owner),
        tuple(frozenset(leaves_of(job.sealed)) for job in records.jobs),
        tuple(frozenset(leaves_of(job.plan)) for job in records.jobs),
        records.failures,
    )


def mask(leaves: object) -> int:
    """Leaves as bits."""
    return sum(1 << leaf for leaf in leaves)  # type: ignore[attr-defined]


def records_of(state: Figure) -> Records:
    """Figure 2's state as records."""
    live, epoch, phase, alloc, sealed, plan, failed = state
    jobs = tuple(
        Job(
            Phase[phase[job].upper()],
            epoch[job],
            mask(leaf for leaf, owner in enumerate(alloc) if owner == job),
            mask(plan[job]),
            mask(sealed[job]),
        )
        for job in range(len(phase))
    )
    return Records(mask(live), jobs, failed)


def event_of(move: Move, records: Records) -> Event:
    """Figure 2's action as an event with the current token."""
    name, index, plan, witness = move
    if name == "FAIL":
        return Event(Action.FAIL, leaves=1 << index)
    epoch = records.jobs[index].epoch
    return Event(Action[name], index, mask(plan), epoch, 0, witness)


def same_steps(state: Figure, failures: int) -> None:
    """Every step of the figure is taken, with its outcome, and no other is enabled."""
    records, leaves = records_of(state), len(state[3])
    expected = set()
    for move, after in following(state, failures):
        event = event_of(move, records)
        expected.add(event)
        answer = transition(records, event, PRINTED)
        assert not isinstance(answer, Refused), (move, answer)
        assert figure(answer[0], leaves) == after
    found = set(enabled(records, PRINTED, leaves=leaves))
    if state[6] >= failures:  # the bound on failures is the scope's, not the protocol's
        found = {event for event in found if event.action != Action.FAIL}
    assert found == expected


@pytest.mark.parametrize("scope", [(2, 4, 1), (2, 5, 1), (1, 4, 3)])
def test_every_reachable_state(scope: tuple[int, int, int]) -> None:
    """On every reachable state of small scopes the two relations are equal."""
    states = reachable(*scope)
    assert len(states) == search(Model(Scope(*scope))).counts.distinct
    for state in sorted(states, key=repr):
        same_steps(state, scope[2])


def test_every_orbit_of_2_7_2() -> None:
    """On a state of each of the 759 kinds of 2/7/2 the two relations are equal."""
    states = search(Model(Scope(2, 7, 2))).graph.states
    assert len(states) == 759
    for state in states:
        same_steps(figure(state.records, 7), 2)


def test_nothing_else_is_accepted() -> None:
    """Of all events one could write for a state, only the figure's are accepted."""
    for state in search(Model(Scope(2, 4, 1))).graph.states:
        records = state.records
        steps = list(following(figure(records, 4), 9))
        expected = {event_of(move, records) for move, _ in steps}
        for action in Action:
            for job in range(2) if action > Action.TRUST else range(1):
                for leaves in range(1 << 4):
                    for manifest in range(3):
                        plain = Event(
                            action, job, leaves, records.jobs[job].epoch, 0, manifest
                        )
                        event = _relevant(plain)
                        answer = transition(records, event, PRINTED)
                        taken = not isinstance(answer, Refused)
                        several = action == Action.FAIL and leaves.bit_count() != 1
                        assert taken == (event in expected) or several


def _relevant(event: Event) -> Event:
    """The event without the fields that its action does not read."""
    leaves = event.leaves if event.action in (Action.FAIL, Action.PLAN) else 0
    manifest = event.manifest if event.action == Action.RESTORE else 0
    epoch = event.epoch if event.action != Action.FAIL else 0
    return Event(event.action, event.job, leaves, epoch, 0, manifest)


def test_initial_states() -> None:
    """The classes of initial states stand for as many as Init has."""
    for scope in [(2, 6, 2), (2, 7, 2), (3, 6, 1)]:
        starts = Model(Scope(*scope)).initial()
        assert sum(count for _, count in starts) == len(initial(*scope))
        for state, _ in starts:
            assert figure(state.records, scope[1]) in set(initial(*scope))


def test_stale_tokens_are_refused() -> None:
    """An event with another epoch than the job's is refused in every state."""
    for state in search(Model(Scope(2, 5, 1))).graph.states:
        for event in enabled(state.records, PRINTED, leaves=5):
            if event.action > Action.TRUST:
                stale = event._replace(epoch=event.epoch + 1)
                answer = transition(state.records, stale, PRINTED)
                assert answer == Refused(event.action, "token_current")

"""The hardened protocol in scopes that together use every action of it."""

from __future__ import annotations

import pytest

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Event,
    Job,
    Phase,
    Records,
    check,
)
from phalanx_core.verification import (
    SCOPES,
    Model,
    Scope,
    State,
    World,
    hardened_model,
    search,
    verdict,
)
from phalanx_core.verification.hardened import stop_real

ORBITS = {
    "repair": 386,
    "heal": 2_171,
    "drain": 5_399,
    "drain and heal": 1_195,
    "admit": 1_316,
    "resize": 5_253,
    "lose": 496,
    "crash": 690,
}


@pytest.mark.parametrize("name", SCOPES)
def test_scope_holds(name: str) -> None:
    """Every property holds in the scope, and its size is what it was."""
    graph, violations = verdict(hardened_model(name))
    assert violations == ()
    assert len(graph.states) == ORBITS[name]
    for state in graph.states:
        check(state.records)


def test_every_action_fires() -> None:
    """No action is impossible in all the scopes, which would make checking it empty."""
    fired: set[Action] = set()
    for name in SCOPES:
        fired |= set(search(hardened_model(name)).counts.by_action)
    assert fired == set(Action)


@pytest.mark.parametrize(
    ("scope", "distinct", "orbits"),
    [
        (Scope(2, 8, 3), 943_950, 582),
        (Scope(2, 9, 3), 19_680_444, 2_158),
        (Scope(3, 12, 3), 2_078_549_550, 1_793),
    ],
)
def test_three_failures(scope: Scope, distinct: int, orbits: int) -> None:
    """ESR holds where the printed protocol starves a job (F1)."""
    graph, violations = verdict(Model(scope, HARDENED))
    assert violations == ()
    assert len(graph.keys) == orbits
    assert sum(map(graph.symmetry.orbit, graph.keys)) == distinct


@pytest.mark.parametrize(("live", "holds"), [(0b11, False), (0b10, True)])
def test_a_restore_is_given_up_for_a_reason(live: int, holds: bool) -> None:
    """StopReal: a job that loads goes back to Plan when a leaf of it died, and else never."""
    loading = Job(Phase.RESTORE, 1, 0b11, 0b11, 0b01)
    before = State(Records(live, (loading,)), World(0, (0,), ()))
    waiting = loading._replace(phase=Phase.PLAN)
    after = State(Records(live, (waiting,)), World(0, (0,), ()))
    event = Event(Action.DETECT, 0, 0, 1)
    assert stop_real(hardened_model("repair"), before, event, after) is holds

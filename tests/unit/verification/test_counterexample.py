"""Counterexamples: shortest, replayed by the real transitions, and readable."""

from __future__ import annotations

import json

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import PRINTED, Refused, Rules, transition
from phalanx_core.verification import (
    ESR,
    REFORM_LIVE,
    Counterexample,
    Model,
    Scope,
    counterexample,
    mutant,
    search,
    verdict,
    violated,
)

STARVED = """\
ReformLive is violated, 12 steps from the start
  start: j1 has 4 leaves, j2 has 4 leaves, 0 free
   1 Fail(l1): l1 of j1 dies
   2 Fail(l5): l5 of j2 dies
   3 Detect(j1): j1 is seen to have lost l1, and stops
   4 Plan(j1, l4): j1 is offered l4
   5 Fail(l4): l4 of j1 dies
   6 Commit(j1): epoch 1 of j1 claims nothing and gives up l1 l2 l3
   7 Restore(j1): j1 loads the manifest of epoch 0 and runs
   8 Detect(j1): j1 is seen to have lost l4, and stops
   9 Detect(j2): j2 is seen to have lost l5, and stops
  10 Plan(j2, l2 l3 l6 l7 l8): j2 is offered l2 l3 l6 l7 l8
  11 Commit(j2): epoch 1 of j2 claims l2 l3 and gives up l5
  12 Restore(j2): j2 loads the manifest of epoch 0 and runs
  and then nothing more need happen: j1 in Plan, j2 in Run"""

CRASHING = """\
ESR is violated, 3 steps from the start
  start: j1 has 3 leaves, j2 has 3 leaves, 1 free
   1 Fail(l1): l1 of j1 dies
   2 Detect(j1): j1 is seen to have lost l1, and stops
   3 Plan(j1, l3): j1 is offered l3
  and then, again and again up to the names of leaves:
     Crash(j1): the engine forgets the plan of j1
     Plan(j1, l3): j1 is offered l3"""


def first(model: Model, property: object) -> Counterexample:
    """The counterexample of a liveness property."""
    graph = search(model).graph
    [violation] = violated(graph, [property])
    return counterexample(graph, violation)


def test_the_starved_job() -> None:
    """At three failures the printed protocol starves a job, in twelve steps (F1)."""
    model = Model(Scope(2, 8, 3, sizes=(4, 4)))
    run = first(model, REFORM_LIVE)
    assert run.story(model) == STARVED
    records = run.start.records
    for event in run.events:
        answer = transition(records, event, PRINTED)
        assert not isinstance(answer, Refused)
        records = answer[0]
    assert records == run.replay(model)[-1].records


def test_the_crash_loop() -> None:
    """A loop is told once, with the events that go round."""
    model = Model(Scope(2, 7, 2), Rules(crashes=True))
    assert first(model, ESR).story(model) == CRASHING


def test_a_step_that_is_wrong() -> None:
    """The shortest seal of a zombie in Run is the twelfth step's (m20)."""
    graph, [violation] = verdict(mutant("m20").model)
    run = counterexample(graph, violation)
    assert violation.name == "SealFence"
    assert len(run.events) == 11  # the notes count 12 states
    assert run.events[-1].action.name == "SEAL"


def test_json_both_ways() -> None:
    """A run survives being written and read, and replays to the same states."""
    model = Model(Scope(2, 7, 2), Rules(crashes=True))
    run = first(model, ESR)
    read = Counterexample.from_json(json.loads(json.dumps(run.to_json())), model)
    assert read == run
    assert read.replay(model) == run.replay(model)


def test_a_run_of_another_model() -> None:
    """Where a model refuses an event, its number and the guard are named."""
    run = first(Model(Scope(2, 8, 3, sizes=(4, 4))), REFORM_LIVE)
    pinned = Model(Scope(2, 8, 3, sizes=(4, 4)), Rules(pin_survivors=True))
    with pytest.raises(InvalidRequest, match="event 4, PLAN: refused by plan_bounds"):
        run.replay(pinned)


@pytest.mark.parametrize(
    "change",
    [
        {"events": [{"action": "FLY"}]},
        {"events": None},
        {"events": [{"action": "FAIL", "lead": 1}]},
        {"sizes": [1, 2]},
    ],
)
def test_bad_json(change: dict) -> None:
    """What is no run of the model is refused."""
    model = Model(Scope(2, 8, 3, sizes=(4, 4)))
    written = {**first(model, REFORM_LIVE).to_json(), **change}
    with pytest.raises(InvalidRequest, match="counterexample"):
        Counterexample.from_json(written, model)

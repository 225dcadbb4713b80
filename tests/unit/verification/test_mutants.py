"""Every mutant breaks the property that is there for it; the sound protocols break none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import HARDENED, Action, Refused, Rules
from phalanx_core.verification import (
    FAIR,
    MUTANTS,
    Model,
    counterexample,
    mutant,
    verdict,
)
from phalanx_core.verification.mutants import (
    HARDENED_MUTANTS,
    LOSSES,
    PRINTED_MUTANTS,
    START,
)

KILLED_BY_THE_PAPER = {
    "m01": "ReformLive",
    "m05": "RestoreReady",
    "m10": "SealBound",
    "m12": "ReformLive",
    "m17": "RunWitness",
}
CAUGHT_BY = {
    "m01": "ReformLive",
    "m02": "Footprint",
    "m03": "PlanFeasible",
    "m04": "SealFence",
    "m05": "RestoreReady",
    "m06": "Footprint",
    "m07": "Footprint",
    "m08": "RestoreRead",
    "m09": "SealLive",
    "m10": "SealBound",
    "m11": "DetectReal",
    "m12": "ReformLive",
    "m13": "EpochStep",
    "m14": "SealFence",
    "m15": "PhaseStep",
    "m16": "EpochStep",
    "m17": "RunWitness",
    "m18": "NoTheft",
    "m19": "PlanFeasible",
    "m20": "SealFence",
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name: str) -> None:
    """The property breaks, and its counterexample replays up to the breach."""
    one = mutant(name)
    graph, violations = verdict(one.model)
    found = {violation.name: violation for violation in violations}
    assert one.caught_by in found
    assert one.caught_by == CAUGHT_BY.get(name, one.caught_by)
    run = counterexample(graph, found[one.caught_by])
    assert len(run.replay(one.model)) == len(run.events) + 1
    assert one.caught_by in run.story(one.model)


@pytest.mark.parametrize("one", PRINTED_MUTANTS, ids=lambda one: one.name)
def test_what_the_paper_sees(one) -> None:
    """The paper's six properties see five of the twenty, as TLC says."""
    _, violations = verdict(one.model, paper=True)
    names = [violation.name for violation in violations]
    assert one.paper == KILLED_BY_THE_PAPER.get(one.name, "")
    assert (one.paper in names) if one.paper else names == []


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("m04", "FAIL DETECT PLAN COMMIT SEAL"),
        (
            "m20",
            "FAIL DETECT PLAN COMMIT RESTORE FAIL DETECT PLAN COMMIT RESTORE SEAL",
        ),
    ],
)
def test_the_shortest_run_of_a_zombie_that_seals(name: str, run: str) -> None:
    """In any phase: epoch 1 is sealed in its Restore. In Run alone: in Run of epoch 2."""
    graph, violations = verdict(mutant(name).model)
    [fence] = [one for one in violations if one.name == "SealFence"]
    events = counterexample(graph, fence).events
    assert [event.action.name for event in events] == run.split()
    assert events[-1].epoch == 1


@pytest.mark.parametrize("name", ["m18", "m19"])
def test_mutants_that_leave_a_job_without_leaves(name: str) -> None:
    """NonEmpty sees them as well, by the first commit: others' leaves freed, or none."""
    graph, violations = verdict(mutant(name).model)
    [empty] = [one for one in violations if one.name == "NonEmpty"]
    events = counterexample(graph, empty).events
    assert [event.action.name for event in events] == [
        "FAIL",
        "DETECT",
        "PLAN",
        "COMMIT",
    ]


def test_sound_protocols_pass() -> None:
    """What is mutated passes, with manifests that are lost and without."""
    for model in (Model(START), Model(START, LOSSES, fair=(*FAIR, Action.SEAL))):
        assert verdict(model)[1] == ()
        assert verdict(model, paper=True)[1] == ()


def test_m20_reaches_what_the_original_does() -> None:
    """The zombie that seals in Run reaches the same 16,874 states, so only steps tell."""
    original = Model(replace(START, one_start=True))
    zombie = replace(mutant("m20").model, scope=original.scope)
    for model in (original, zombie):
        graph, _ = verdict(model)
        assert sum(map(graph.symmetry.orbit, graph.keys)) == 16_874


def test_without_losses_witnesses_do_not_matter() -> None:
    """Where no manifest is lost, m08 reaches the original's states: no state tells."""
    model = replace(mutant("m08").model, rules=Rules(losses=False), fair=FAIR)
    graph, _ = verdict(model)
    sound, _ = verdict(Model(START))
    assert set(graph.keys) == set(sound.keys)


def test_every_rule_of_the_hardened_protocol_has_its_mutant() -> None:
    """Each guard that hardens is left out once; the others are no guards."""
    left_out = {one.name.removeprefix("no ") for one in HARDENED_MUTANTS}
    permissions = {"lifecycle", "losses", "crashes", "fixed_gang"}
    assert set(HARDENED.__slots__) - permissions <= left_out


def test_unknown_mutant() -> None:
    """A name that is none is refused with those that are."""
    with pytest.raises(InvalidRequest, match="mutant 'm21': one of m01, m02"):
        mutant("m21")


def test_no_mutant_is_the_protocol() -> None:
    """Every mutant differs from what it mutates in a rule or a handler."""
    for one in MUTANTS.values():
        sound = (
            HARDENED
            if one.model.rules.lifecycle
            else Rules(losses=one.model.rules.losses)
        )
        plain = Model(one.model.scope, sound)
        assert (one.model.rules, one.model.handlers) != (plain.rules, plain.handlers)
        state, _ = one.model.initial()[0]
        assert not isinstance(state, Refused)

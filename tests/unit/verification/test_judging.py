"""Models judged: which properties there are, which are chosen, what is found."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import FIXED, PRINTED, Rules
from phalanx_core.verification import (
    SCOPES,
    Model,
    Scope,
    hardened_model,
    mutant,
    verdict,
)
from phalanx_core.verification.judging import (
    PAPER,
    chosen,
    judge,
    kind_of,
    properties_of,
)

PRINTED_NAMES = (
    "TypeOK SealBound RunWitness RestoreReady Footprint NonEmpty EpochBound EpochMonotone "
    "NoTheft SealFence EpochStep CommitPlanned PlanFeasible PhaseStep DetectReal "
    "ReformLive ESR"
)


def test_the_properties_of_a_protocol() -> None:
    """Of the printed one 17, the six of the paper among them; more where it can lose."""
    every = properties_of(Model(Scope(2, 7, 2)))
    assert [one.name for one in every] == PRINTED_NAMES.split()
    assert PAPER == (
        "TypeOK",
        "SealBound",
        "RunWitness",
        "RestoreReady",
        "EpochMonotone",
        "ReformLive",
    )
    names = {one.name for one in properties_of(mutant("m09").model)}
    assert names - set(PRINTED_NAMES.split()) == {"RestoreRead", "SealLive"}
    assert {kind_of(one) for one in every} == {"state", "step", "liveness"}


def test_properties_are_chosen_by_name() -> None:
    """In the protocol's order, each once; paper is a group of them."""
    model = Model(Scope(2, 7, 2))
    assert [one.name for one in chosen(model, ("ESR", "NoTheft", "ESR"))] == [
        "NoTheft",
        "ESR",
    ]
    assert tuple(one.name for one in chosen(model, ("paper",))) == PAPER
    assert len(chosen(model, ())) == 17


@pytest.mark.parametrize(
    ("model", "name", "told"),
    [
        (Model(Scope(2, 7, 2)), "NoSuchThing", "property 'NoSuchThing': one of Commit"),
        (Model(Scope(2, 7, 2)), "NoSuchThing", "TypeOK, or paper"),
        (hardened_model("heal"), "paper", "property 'paper': one of CommitPlanned"),
        (hardened_model("heal"), "ReformLive", "property 'ReformLive': one of"),
    ],
)
def test_a_property_that_is_not_there(model: Model, name: str, told: str) -> None:
    """The message lists those that are."""
    with pytest.raises(InvalidRequest, match=told):
        chosen(model, (name,))


def test_a_judgement() -> None:
    """Counts, and whether each holds, in order; the violated ones with their runs."""
    found = judge(
        Model(Scope(2, 8, 3, sizes=(4, 4))), ("EpochBound", "ReformLive", "ESR")
    )
    assert found.verdicts == {"EpochBound": True, "ReformLive": False, "ESR": False}
    assert [one.name for one in found.violations] == ["ReformLive", "ESR"]
    assert found.counts.orbits == len(found.graph.keys)


@pytest.mark.parametrize(
    "rules", [PRINTED, FIXED, Rules(abort=False), Rules(restore_live=True)]
)
def test_it_is_what_the_parts_say(rules: Rules) -> None:
    """The same violations as the verdict that is put together by hand."""
    model = Model(Scope(2, 7, 2), rules)
    _, violations = verdict(model)
    assert {one.name for one in judge(model).violations} == {
        one.name for one in violations
    }


@pytest.mark.parametrize("name", ["heal", "admit", "lose", "crash"])
def test_the_hardened_protocol(name: str) -> None:
    """Every property holds in a scope with changes."""
    found = judge(hardened_model(name))
    assert found.violations == ()
    assert len(found.properties) == 21
    assert SCOPES[name].allowed


def test_who_looks_on_is_told() -> None:
    """Every so many orbits; the answer is the same."""
    seen: list[int] = []
    model = Model(Scope(2, 7, 2))
    watched = judge(model, seen=seen.append, every=200)
    assert seen == [200, 400, 600]
    assert watched.counts == judge(model).counts
    assert watched.verdicts == judge(model).verdicts

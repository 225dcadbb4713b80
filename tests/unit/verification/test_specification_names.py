"""Every name of the specifications in TLA+ is one of the code, or says why it is not.

What bears one name is one idea; that the steps are the same, too, is shown by
`test_store_model.py`.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import tests
from phalanx_core.reformation import (
    HARDENED,
    Action,
    Job,
    Records,
    Rules,
    changes,
    guards,
    repairs,
)
from phalanx_core.reformation.records import held_by
from phalanx_core.verification import MUTANTS, Model, Scope, World
from phalanx_core.verification import hardened as hard
from phalanx_core.verification.properties import (
    ESR,
    REFORM_LIVE,
    STRONG_INVARIANTS,
    STRONG_STEPS,
)
from tests.mutants.engine import MODEL
from tests.unit.verification.test_store_model import PAIRS
from tests.unit.verification.tla_search import disjuncts
from tests.unit.verification.tla_texts import CONFIGURATIONS, MODULES, SWITCHES

PRINTED_ACTIONS = [
    "Fail",
    "Detect",
    "Plan",
    "Commit",
    "Abort",
    "Crash",
    "Seal",
    "Restore",
]
HARDENED_TLA = MODULES["Hardened"]
# Messages that the hardened specification makes steps of: a report of workers that is on
# its way, and an old notice of a death, which only a configuration without its guard has.
MESSAGES = {"Report", "Notice"}

# Of each guard of Hardened.tla the rule that it is, and the case of a transaction in whose
# compares it is found again.
GUARDS = {
    "Pin": ("pin_survivors", "a_withdrawn_verdict_pins_the_leaf"),
    "GEpoch": ("", "commit_compares_the_epoch_record"),
    "GLeaf": ("", "commit_compares_that_claims_are_free"),
    "GLive": ("commit_live", "commit_compares_the_heartbeats"),
    "GSealPhase": ("", "seal_compares_the_phase"),
    "GSealToken": ("tokens", "seal_compares_the_token"),
    "GUid": ("uids", "commit_compares_the_epoch_record"),
    "GRun": ("", "run_compares_the_epoch_record"),
    "GDetect": ("", "detect_compares_the_epoch_record"),
    "GFence": ("fence_freed", ""),
    "GLost": ("incarnations", "fail_compares_the_owners"),
    "GSuspect": ("avoid_suspects", "commit_compares_the_verdicts"),
    "GFirst": ("repairs_first", "a_repair_that_begins_stops_what_is_no_repair"),
    "GNewest": ("newest_manifest", ""),
}
# Its other constants: a rule, a field of the scope, or what the scope allows how often.
BOUNDS: dict[str, str | Action] = {
    "Jobs": "jobs",
    "Leaves": "leaves",
    "Share": "sizes",
    "MaxFail": "failures",
    "MaxEpoch": "epochs",
    "LoadThenRun": "load_then_run",
    "MaxHeal": Action.HEAL,
    "MaxSuspect": Action.SUSPECT,
    "MaxResize": Action.RESIZE,
    "MaxRelease": Action.RELEASE,
    "MaxLose": Action.LOSE,
}
CONSTANTS_ONLY_THERE = {
    "Engine": "the core does not ask who proposed: a proposal is the job's phase COMMIT",
    "Agents": "the checker's world always has old workers that run on",
}
RULES_ONLY_HERE = {
    "detect_in_restore": "Detect has Restore among its phases",
    "restore_live": "Restore, Report and Run need a job that is not Broken",
    "drain_returns": "Abort writes nothing, and so leaves a drained job in Run",
    "lifecycle": "its actions exist; how often they happen is bounded",
    "losses": "MaxLose is how often",
    "crashes": "Crash exists: an engine may always forget",
    "abort": "Abort exists: what cannot be committed is forgotten",
    "fixed_gang": "it is off in the hardened protocol",
}
PROPERTIES_ONLY_THERE = {
    "NoForgery": "a step has no sender there; SealFence compares the event's uid here",
    "SurvivorsStay": "there is no fairness there for ESR, which breaks here without it",
}
PROPERTIES_ONLY_HERE = {
    "CommitPlanned": "it is Footprint there, of which placed is what was committed",
    "ESR": "transactions may be late for ever there, so that no liveness holds",
}
# Where the code keeps what a variable is.
VARIABLES: dict[str, tuple[type, str] | str] = {
    **{name: (Records, name) for name in ("live", "suspect", "lost")},
    **{name: (Job, name) for name in ("alloc", "fenced", "uid", "epoch", "phase")},
    **{name: (Job, name) for name in ("cause", "base", "sealed")},
    "txn": (Job, "plan"),
    "placed": (Job, "plan"),
    "spent": (World, "budget"),
    "gone": (World, "gone"),
    "zombies": (World, "zombies"),
    "reports": "messages of workers; RUN is the event of one that arrives",
    "forged": "that a commit or seal came of another uid; here an event has its own",
}
# Operators that are neither actions nor properties.
OPERATORS: dict[str, Any] = {
    **dict.fromkeys(("Init", "Next", "Spec", "store", "vars"), "TLA+ needs it"),
    **dict.fromkeys(("Job", "Leaf", "None", "Idle"), "a set or value that is counted"),
    "Start": Model.initial,
    "Assigned": "alloc of a job, whose inverse alloc is there",
    "Broken": guards.broken,
    "Claimable": held_by,
    "Trusted": guards.plan_bounds,
    "Pinned": guards.plan_bounds,
    "RepairWaits": guards.repair_waits,
    "MayClaim": guards.first_served,
    "Noticed": "what Detect believes without its guard",
    "Prepared": changes.proposed,
    "From": guards.running,
    "Wanted": guards.drain_wanted,
    "CommitGuard": guards.commit_refusal,
    "Readable": guards.readable,
    "Loaded": repairs.run,
    "Ended": Action.RELEASE,
    "Began": Action.ADMIT,
    "Committed": Action.COMMIT,
    "Chosen": Action.RESTORE,
    "Missing": hard.run_step,
    "Survivors": guards.plan_bounds,
    "Bounded": "a later epoch than Scope.epochs is not followed",
}


def test_actions() -> None:
    """Each disjunct of Next is an action, and the hardened one has every action."""
    printed = disjuncts(MODULES["Printed"])
    assert printed == PRINTED_ACTIONS
    names = {action.name.capitalize() for action in Action}
    assert set(printed) <= names
    found = disjuncts(HARDENED_TLA)
    assert len(found) == len(set(found))
    assert set(found) == names | MESSAGES


def listed(configuration: str) -> set[str]:
    """Properties that a configuration checks."""
    one = CONFIGURATIONS[configuration]
    return {*one.invariants, *one.properties}


def test_printed_properties() -> None:
    """Every property of the checker is defined, and every configuration's is one."""
    names = {one.name for one in (*STRONG_INVARIANTS, *STRONG_STEPS, REFORM_LIVE, ESR)}
    assert listed("Printed_2_7_2") == names


def test_hardened_properties() -> None:
    """Each is on both sides under one name, or it says why it is on one side only."""
    here = {one.name for one in (*hard.INVARIANTS, *hard.STEPS, hard.ESR_ALL)}
    there = listed("Hardened_heal")
    assert there - here == set(PROPERTIES_ONLY_THERE)
    assert here - there == set(PROPERTIES_ONLY_HERE)


@pytest.mark.parametrize(
    "name", [name for name in CONFIGURATIONS if name.startswith("Hardened")]
)
def test_every_configuration_checks_every_property(name: str) -> None:
    """But where survivors are not pinned, and so do not stay."""
    left_out = {"SurvivorsStay"} if name.endswith("unpinned") else set()
    assert listed(name) == listed("Hardened_heal") - left_out


def test_printed_constants() -> None:
    """A constant of Printed.tla for each rule that the printed protocol can have."""
    assert set(SWITCHES) < {field.name for field in fields(Rules)}
    constants = set(MODULES["Printed"].constants)
    assert constants == {"Job", "Leaf", "None", "MaxFail", *SWITCHES.values()}


def test_hardened_constants() -> None:
    """Each is a guard, a rule or a bound of the code; and each rule is one of them."""
    constants = set(HARDENED_TLA.constants)
    assert constants == {*GUARDS, *BOUNDS, *CONSTANTS_ONLY_THERE}
    rules = {field.name for field in fields(Rules)}
    scope = {field.name for field in fields(Scope)}
    bounds = {bound for bound in BOUNDS.values() if isinstance(bound, str)}
    assert bounds <= rules | scope
    mapped = {rule for rule, _ in GUARDS.values() if rule} | bounds & rules
    assert rules - mapped == set(RULES_ONLY_HERE)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_is_in_the_code(guard: str) -> None:
    """A rule that is on and has its mutant, a case of a transaction's compares, or both."""
    rule, case = GUARDS[guard]
    assert rule or case
    if rule:
        assert getattr(HARDENED, rule)
        assert f"no {rule}" in MUTANTS
    if guard in PAIRS:
        assert PAIRS[guard][0] == rule
    cases = Path(tests.__path__[0], "cases", "test_protocol_guards.py")
    assert not case or f"def test_{case}()" in cases.read_text("utf-8")


def test_compares_without_which_the_engine_is_wrong() -> None:
    """Those of the store-level model bear the names of its guards."""
    for fault in MODEL:
        assert fault.test.endswith(f"::test_{GUARDS[fault.name][1]}")
    without_rule = {guard for guard, (rule, _) in GUARDS.items() if not rule}
    assert without_rule <= {fault.name for fault in MODEL}


def test_hardened_variables() -> None:
    """Each is a field of records, jobs or the checker's world, or says what it is."""
    assert set(VARIABLES) == set(HARDENED_TLA.variables)
    for place in VARIABLES.values():
        if isinstance(place, tuple):
            assert place[1] in place[0]._fields  # type: ignore[attr-defined]
    kept = {place for place in VARIABLES.values() if isinstance(place, tuple)}
    assert {(Job, name) for name in Job._fields} <= kept
    # How many leaves died is spent.fail; and the jobs are the indexes of functions.
    left = {"failures", "jobs"}
    assert {(Records, name) for name in Records._fields if name not in left} <= kept


def test_hardened_operators() -> None:
    """Each is an action, a property, or has its function here."""
    named = {*disjuncts(HARDENED_TLA), *listed("Hardened_heal")}
    assert set(HARDENED_TLA.operators) - named == set(OPERATORS)

"""The specifications in TLA+: their counts are the known ones, and each guard is needed.

TLC itself runs where PHALANX_TLC_JAR names it. Everywhere else the modules are read and
searched by a small reader and search of their own, which count as TLC does.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.reformation import FIXED, PRINTED, Rules
from phalanx_core.verification import (
    REFORM_LIVE,
    Model,
    Scope,
    search,
    violated,
)
from tests import tlc_campaign
from tests.unit.verification import tla_search, tlc_run
from tests.unit.verification.tla_reader import Unreadable, read
from tests.unit.verification.tla_texts import (
    CONFIGURATIONS,
    MODULES,
    SWITCHES,
    TEMPORAL,
    TEXTS,
    module_of,
)


def counted(name: str, **changed: bool) -> tla_search.Found:
    """A configuration's states, with all but its temporal properties."""
    one = CONFIGURATIONS[name]
    steps = [each for each in one.properties if each not in TEMPORAL]
    return _counted(
        module_of(name).name,
        tuple({**one.constants, **changed}.items()),
        tuple(one.invariants),
        tuple(steps),
        one.constraint,
    )


@cache
def _counted(
    module: str,
    constants: tuple[tuple[str, Any], ...],
    invariants: tuple[str, ...],
    steps: tuple[str, ...],
    constraint: str | None,
) -> tla_search.Found:
    return tla_search.search(
        MODULES[module], dict(constants), invariants, steps, constraint
    )


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_fits_its_module(name: str) -> None:
    """Its constants are those that are declared, and what it names is defined."""
    one, module = CONFIGURATIONS[name], module_of(name)
    assert set(one.constants) == set(module.constants)
    named = {*one.invariants, *one.properties}
    named |= {extra for extra in (one.constraint, one.symmetry) if extra}
    assert named <= set(module.operators)
    for each in one.properties:
        head = module.operators[each][1]
        temporal = each in TEMPORAL or (head[1] == "[]" and head[2][0] == "step")
        assert temporal, each


# Generated, distinct, depth: what TLC is known to count in these scopes.
GOLDEN = {
    "Printed_2_6_2": (120_000, 43_070, 13),
    "Hardened_store_4": (4_995, 1_277, 16),
    "Hardened_store_5": (36_520, 9_232, 16),
    "Hardened_store_5_unpinned": (121_716, 31_060, 16),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_text_has_the_known_counts(name: str) -> None:
    """Generated, distinct and depth are TLC's, and nothing is violated."""
    found = counted(name)
    assert (found.generated, found.distinct, found.depth) == GOLDEN[name]
    assert found.violated is None


def test_transitions_by_action_are_the_known_ones() -> None:
    """Of 2/6/2, where Abort never fires (F19)."""
    assert counted("Printed_2_6_2").by_action == {
        "Fail": 8_520,
        "Detect": 6_240,
        "Plan": 25_200,
        "Commit": 25_680,
        "Abort": 0,
        "Crash": 0,
        "Seal": 40_240,
        "Restore": 14_100,
    }


@pytest.mark.parametrize(
    "rules",
    [
        PRINTED,
        FIXED,
        Rules(abort=False),
        Rules(pin_survivors=True),
        Rules(restore_live=True),
        Rules(restore_live=True, commit_live=True),
        Rules(restore_live=True, commit_live=True, detect_in_restore=True),
        Rules(fixed_gang=True),
        Rules(crashes=True),
    ],
)
@pytest.mark.parametrize("scope", [(1, 4, 2), (2, 5, 1)])
def test_the_text_and_the_checker_agree(
    rules: Rules, scope: tuple[int, int, int]
) -> None:
    """Of each switch: counts and transitions by action are those of the quotient."""
    jobs, leaves, failures = scope
    constants = {
        "Job": frozenset(f"j{index}" for index in range(jobs)),
        "Leaf": frozenset(f"l{index}" for index in range(leaves)),
        "None": "None",
        "MaxFail": failures,
        **{name: getattr(rules, rule) for rule, name in SWITCHES.items()},
    }
    found = tla_search.search(MODULES["Printed"], constants, constraint=None)
    counts = search(Model(Scope(jobs, leaves, failures), rules)).counts
    assert (found.generated, found.distinct, found.depth) == (
        counts.generated,
        counts.distinct,
        counts.depth,
    )
    assert {name: count for name, count in found.by_action.items() if count} == {
        action.name.capitalize(): count for action, count in counts.by_action.items()
    }


# Generated, distinct, depth of ours, and actions that must occur.
EXTENDED = {
    "Hardened_heal": (3_926, 1_222, 19, "Heal Fence Restore Run"),
    "Hardened_suspect": (8_553, 2_064, 19, "Suspect Trust Drain Fence"),
    "Hardened_release": (4_052, 1_350, 18, "Release Admit Fence"),
    "Hardened_resize": (3_277, 942, 16, "Resize"),
    "Hardened_lose": (3_925, 1_236, 19, "Lose"),
}


@pytest.mark.parametrize("name", EXTENDED)
def test_the_hardened_protocol_holds(name: str) -> None:
    """With each kind of change that the environment can make, and it does occur."""
    *counts, actions = EXTENDED[name]
    found = counted(name)
    assert found.violated is None
    assert [found.generated, found.distinct, found.depth] == counts
    assert all(found.by_action[action] for action in actions.split())


# The property that breaks first without a guard, and at which step.
WITHOUT = {
    "Pin": ("SurvivorsStay", 3),
    "GEpoch": ("Footprint", 6),
    "GLeaf": ("Footprint", 8),
    "GLive": ("NoDeadClaim", 5),
    "GSealPhase": ("SealFence", 5),
    "GSealToken": ("SealFence", 11),
    "GUid": ("NoForgery", 8),
    "GRun": ("RunStep", 8),
    "GDetect": ("StopReal", 6),
    "GFence": ("Exclusive", 9),
    "GLost": ("LostKnown", 2),
    "GSuspect": ("NoSuspectClaim", 5),
    "GFirst": ("RepairsFirst", 3),
    "GNewest": ("RestoreNewest", 13),
}


@pytest.mark.parametrize("guard", WITHOUT)
def test_each_guard_is_needed(guard: str) -> None:
    """Without it a property breaks at a known step; with it, in the same scope, none."""
    name = f"Hardened_without_{guard}"
    assert counted(name).violated == WITHOUT[guard]
    assert TEXTS[f"{name}.cfg"].startswith(f"\\* {WITHOUT[guard][0]} is violated.")
    assert CONFIGURATIONS[name].constants[guard] is False
    assert counted(name, **{guard: True}).violated is None


def test_a_configuration_without_each_guard() -> None:
    """There is one for every guard that the module has, Pin among them."""
    guards = [
        one for one in MODULES["Hardened"].constants if re.match(r"G[A-Z]|Pin", one)
    ]
    assert guards == list(WITHOUT)


PROPERTY_FAULTS = {
    # a property of Printed.tla, what it replaces, and a text with which it breaks
    "SealFence": ("![j] = @ \\cup {epoch[j]}]", "![j] = {epoch[j]}]"),
    "EpochStep": ("![j] = @ + 1]", "![j] = @ + 2]"),
    "PhaseStep": (
        'e < epoch[j]\n              /\\ phase\' = [phase EXCEPT ![j] = "Run"]',
        'e < epoch[j]\n              /\\ phase\' = [phase EXCEPT ![j] = "Plan"]',
    ),
    "Footprint": ("IF alloc[l] = j THEN None", "IF alloc[l] = None THEN None"),
    "PlanFeasible": ("P # {} /\\ P \\subseteq live /\\", "P # {} /\\"),
    "DetectReal": ("/\\ ~Whole(j)\n", "\n"),
}


@pytest.mark.parametrize("name", PROPERTY_FAULTS)
def test_properties_of_the_text_bite(name: str) -> None:
    """A fault in the printed text breaks the property that is about it."""
    sound, faulty = PROPERTY_FAULTS[name]
    text = TEXTS["Printed.tla"]
    assert text.count(sound) == 1
    one = CONFIGURATIONS["Printed_2_6_2"]
    constants = {**one.constants, "Leaf": frozenset("abcde"), "MaxFail": 1}
    module = read(text.replace(sound, faulty))
    invariants = [name] if name in one.invariants else []
    steps = [] if invariants else [name]
    found = tla_search.search(module, constants, invariants, steps, None)
    assert found.violated is not None
    assert found.violated[0] == name


@pytest.mark.parametrize(
    ("sound", "faulty"),
    [
        ("Whole(j) == Assigned(j) \\subseteq live", "Whole(j) == Assigned(j \\subseteq live"),
        ("Whole(j) == Assigned(j)", "Whole(j) == Owned(j)"),
        ("/\\ failures' = failures + 1", "/\\ failures' = failed + 1"),
        ("Seal(j) == /\\ phase[j]", "Plan(j) == /\\ phase[j]"),
        ("\\E e \\in sealed[j] : e < epoch[j]\n              /\\", "\\E j \\in sealed[j] : j < 1\n              /\\"),
        ("P # {} /\\ P \\subseteq live /\\", "P # {} \\/ P \\subseteq live /\\"),
        ("plan' = [plan EXCEPT ![j] = P]", "plan' = [plan EXCEPT ![j] = P"),
        ("/\\ failures = 0\n", "/\\ failures == 0\n"),
    ],
)  # fmt: skip
def test_the_reader_refuses_what_is_no_module(sound: str, faulty: str) -> None:
    """Brackets that are open, names that are not defined or twice, ambiguous lists."""
    text = TEXTS["Printed.tla"]
    assert text.count(sound) == 1
    with pytest.raises(Unreadable):
        read(text.replace(sound, faulty))


JAR = os.environ.get("PHALANX_TLC_JAR", "")
# What TLC does in half a minute each; the rest is tests.tlc_campaign's.
RUN_BY_TLC: dict[str, tuple[int, int, int] | str] = {
    **GOLDEN,
    **{name: counts[:3] for name, counts in EXTENDED.items()},
    **{f"Hardened_without_{guard}": name for guard, (name, _) in WITHOUT.items()},
    "Printed_2_7_2_symmetric": (3_093, 759, 13),
    "Printed_2_7_2_pinned": (431_270, 157_220, 13),
    "Printed_2_7_2_fixed_gang": "ReformLive",
    "Fixed_2_7_2": (445_550, 162_680, 13),
}


@pytest.mark.skipif(not JAR, reason="PHALANX_TLC_JAR names no jar of TLC")
@pytest.mark.skipif(shutil.which("java") is None, reason="there is no java")
@pytest.mark.parametrize("name", RUN_BY_TLC)
def test_tlc(name: str, tmp_path: Path) -> None:
    """TLC accepts the module, counts the same, and finds the same violated or none."""
    told = tlc_run.run(JAR, name, tmp_path)
    expected = RUN_BY_TLC[name]
    found = told.violated if isinstance(expected, str) else told[:3]
    assert found == expected, told.words


def test_tlc_is_run_on_every_configuration() -> None:
    """Here or by the campaign."""
    assert not RUN_BY_TLC.keys() & tlc_campaign.EXPECTED.keys()
    assert {*RUN_BY_TLC, *tlc_campaign.EXPECTED} == set(CONFIGURATIONS)


@pytest.mark.parametrize(
    "name", [name for name in CONFIGURATIONS if not name.startswith("Hardened")]
)
def test_what_a_printed_configuration_says_is_so(name: str) -> None:
    """Counts of the whole graph and what is violated in it, as the quotient has them."""
    constants = CONFIGURATIONS[name].constants
    rules = Rules(**{rule: constants[one] for rule, one in SWITCHES.items()})
    scope = len(constants["Job"]), len(constants["Leaf"]), constants["MaxFail"]
    report = search(Model(Scope(*scope), rules))
    counts = report.counts
    said = " ".join(re.findall(r"(?m)^\\\* (.*)$", TEXTS[f"{name}.cfg"]))
    found = re.search(r"([\d,]+) generated, ([\d,]+) distinct, depth (\d+)", said)
    assert found is not None
    sizes = tuple(int(one.replace(",", "")) for one in found.groups())
    if CONFIGURATIONS[name].symmetry:
        assert sizes[1:] == (counts.orbits, counts.depth)
    else:
        assert sizes == (counts.generated, counts.distinct, counts.depth)
    broken = bool(violated(report.graph, [REFORM_LIVE]))
    assert broken == ("ReformLive is violated" in said)
    assert broken != ("all hold" in said)
    assert ("ESR" in CONFIGURATIONS[name].properties) == (
        not broken and not CONFIGURATIONS[name].symmetry
    )

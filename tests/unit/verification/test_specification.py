"""The specifications in TLA+: their counts are the known ones, and each guard is needed.

TLC itself runs where PHALANX_TLC_JAR names it. Everywhere else the modules are read and
searched by a small reader and search of their own, which count as TLC does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.reformation import FIXED, PRINTED, Rules
from phalanx_core.verification import Model, Scope, search
from tests.unit.verification import tla_search
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
# What TLC is run on: quick scopes, and every guard that is taken away.
RUN_BY_TLC = [*GOLDEN, *EXTENDED, *(f"Hardened_without_{guard}" for guard in WITHOUT)]


@pytest.mark.skipif(not JAR, reason="PHALANX_TLC_JAR names no jar of TLC")
@pytest.mark.skipif(shutil.which("java") is None, reason="there is no java")
@pytest.mark.parametrize("name", RUN_BY_TLC)
def test_tlc(name: str, tmp_path: Path) -> None:
    """TLC accepts the module, counts the same, and finds the same violated or none."""
    for file, text in TEXTS.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    module = "Hardened" if name.startswith("Hardened") else "Printed"
    command = ["java", "-XX:+UseParallelGC", "-cp", JAR, "tlc2.TLC", "-deadlock"]
    done = subprocess.run(
        [*command, "-config", f"{name}.cfg", f"{module}.tla"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    guard = name.removeprefix("Hardened_without_")
    if guard in WITHOUT:
        assert f"{WITHOUT[guard][0]} is violated" in done.stdout, done.stdout
        return
    assert "No error has been found" in done.stdout, done.stdout
    counts = re.findall(r"(\d+) states generated, (\d+) distinct states", done.stdout)
    depth = re.search(r"depth of the complete state graph search is (\d+)", done.stdout)
    assert depth is not None
    told = (*(int(count) for count in counts[-1]), int(depth.group(1)))
    assert told == (GOLDEN.get(name) or EXTENDED[name][:3])

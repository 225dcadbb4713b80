"""Hardened.tla and the pure core take the same steps, in every state of small scopes.

The store of the specification is what the pure core calls records. What the specification
has beside it is the memory of engines, messages on their way, the environment's budget, and
the truth behind the records. One engine's proposal is the job's phase COMMIT while the job
is as it was; one that is late finds no job of its token, as `transition` refuses it. An
engine proposes one thing at a time there, and leaves fail, heal and are fenced one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import pytest

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Cause,
    Event,
    Job,
    Phase,
    Records,
    Refused,
    Rules,
    enabled,
    started,
    transition,
)
from tests.unit.verification.tla_reader import Module, read
from tests.unit.verification.tla_search import Writer, disjuncts
from tests.unit.verification.tla_texts import CONFIGURATIONS, MODULES, TEXTS

State = dict[str, Any]
Found = set[Records]

MODULE = MODULES["Hardened"]
# Steps of messages, which change no record.
MESSAGES = {"Report", "Notice"}
PROPOSALS = {"Plan", "Drain", "Resize"}
OUTCOMES = {"Commit", "Abort", "Crash"}
BUDGETS = ("Fail", "Heal", "Suspect", "Resize", "Release", "Lose")
WITH_TOKEN = (
    Action.ADMIT,
    Action.RELEASE,
    Action.DETECT,
    Action.COMMIT,
    Action.ABORT,
    Action.CRASH,
    Action.SEAL,
    Action.RUN,
)


def mask(leaves: Any) -> int:
    """A set of leaves, which count from 1 there, as a mask."""
    return sum(1 << (leaf - 1) for leaf in leaves)


def current(state: State, txn: Any) -> bool:
    """What an engine proposes is for a job that is as it was."""
    job = txn["job"]
    phase = "Run" if txn["why"] in ("Drain", "Resize") else "Plan"
    now = state["uid"][job], state["epoch"][job], state["phase"][job]
    return now == (txn["uid"], txn["epoch"], phase)


def projected(state: State, engine: str = "") -> Records:
    """The store as records, with what one engine proposes if one is named.

    A fence has no job there: all are the first one's. A job that is gone keeps its uid
    alone, and a plan that was taken is of no meaning any more.
    """
    jobs = []
    for job, phase in state["phase"].items():
        fenced = mask(state["fenced"]) if job == 1 else 0
        uid, sealed = state["uid"][job], sum(1 << one for one in state["sealed"][job])
        if phase == "Gone":
            jobs.append(Job(Phase.GONE, 0, 0, 0, sealed, fenced, uid=uid))
            continue
        alloc = mask(leaf for leaf, owner in state["alloc"].items() if owner == job)
        cause, base = Cause[state["cause"][job].upper()], state["base"][job] - 1
        now = Phase[phase.upper()], state["epoch"][job]
        jobs.append(Job(*now, alloc, 0, sealed, fenced, cause, base, uid))
    if engine and state["txn"][engine]["pc"] != "idle":
        txn = state["txn"][engine]
        cause, plan = Cause[txn["why"].upper()], mask(txn["plan"])
        at = txn["job"] - 1
        if current(state, txn):
            jobs[at] = jobs[at]._replace(phase=Phase.COMMIT, cause=cause, plan=plan)
    live, suspect, lost = (mask(state[name]) for name in ("live", "suspect", "lost"))
    return Records(live, tuple(jobs), state["spent"]["fail"], suspect, lost)


def settled(records: Records) -> Records:
    """Records as :func:`projected` has them."""
    fenced = 0
    for job in records.jobs:
        fenced |= job.fenced
    jobs = []
    for index, job in enumerate(records.jobs):
        plan = job.plan if job.phase == Phase.COMMIT else 0
        jobs.append(job._replace(fenced=0 if index else fenced, plan=plan))
    return records._replace(jobs=tuple(jobs))


def offered(records: Records, leaves: int) -> Iterator[Event]:
    """Every event of one leaf or one job, with every token, manifest and set of leaves."""
    for leaf in range(leaves):
        for action in (Action.FAIL, Action.HEAL, Action.SUSPECT, Action.TRUST):
            yield Event(action, leaves=1 << leaf)
        yield Event(Action.FENCE, leaves=1 << leaf)
    for index, job in enumerate(records.jobs):
        epochs, uids = range(job.epoch + 2), range(job.uid + 2)
        for epoch, uid in product(epochs, uids):
            for action in WITH_TOKEN:
                yield Event(action, index, 0, epoch, uid)
            for manifest in epochs:
                yield Event(Action.RESTORE, index, 0, epoch, uid, manifest)
        for manifest in epochs:
            yield Event(Action.LOSE, index, manifest=manifest)
        for plan in range(1 << leaves):
            for action in (Action.PLAN, Action.DRAIN, Action.RESIZE):
                yield Event(action, index, plan, job.epoch, job.uid)


class Core:
    """The steps of `transition` under rules; those of each state are found once."""

    def __init__(self, rules: Rules, leaves: int) -> None:
        self.rules = rules
        self.leaves = leaves
        self.known: dict[Records, dict[tuple[str, int], Found]] = {}

    def after(self, records: Records, name: str, subject: int) -> Found:
        """Records after an action of a leaf or a job, which count from 1."""
        if records not in self.known:
            self.known[records] = self._after(records)
        return self.known[records].get((name, subject), set())

    def _after(self, records: Records) -> dict[tuple[str, int], Found]:
        found: dict[tuple[str, int], Found] = {}
        taken = set()
        for event in offered(records, self.leaves):
            outcome = transition(records, event, self.rules)
            if isinstance(outcome, Refused):
                continue
            taken.add(event)
            leaf = event.action <= Action.TRUST or event.action == Action.FENCE
            subject = event.leaves.bit_length() if leaf else event.job + 1
            key = event.action.name.capitalize(), subject
            found.setdefault(key, set()).add(settled(outcome[0]))
        assert taken >= set(enabled(records, self.rules, leaves=self.leaves))
        return found


class Specification:
    """Hardened.tla under constants: its steps by action and subject."""

    def __init__(self, constants: dict[str, Any], module: Module = MODULE) -> None:
        self.constants = constants
        writer = Writer(module, constants)
        writer.starting = True
        self.starts = writer.actions(module.operators["Init"][1])
        writer.starting = False
        self.bounded = writer.function("Bounded")
        subjects = {
            "l": range(1, constants["Leaves"] + 1),
            "j": range(1, constants["Jobs"] + 1),
            "n": sorted(constants["Engine"]),
        }
        self.steps = {}
        for name in disjuncts(module):
            parameters = module.operators[name][0]
            for given in product(*(subjects[one] for one in parameters)):
                term = "name", name, [("value", one) for one in given]
                self.steps[name, *given] = writer.actions(term)

    def states(self) -> Iterator[tuple[State, dict[tuple[Any, ...], list[State]]]]:
        """Each state within the bounds once, with what follows each step from it."""
        [start] = self.starts({})
        order = MODULE.variables
        seen = {tuple(start[name] for name in order)}
        left = [start]
        while left:
            state = left.pop()
            after = {key: list(step(state)) for key, step in self.steps.items()}
            yield state, after
            for new in (one for found in after.values() for one in found):
                key = tuple(new[name] for name in order)
                if key not in seen and self.bounded(new, {}):
                    seen.add(key)
                    left.append(new)

    def spent(self, state: State, name: str) -> bool:
        """The environment may not take an action again."""
        return name in BUDGETS and (
            state["spent"][name.lower()] >= self.constants[f"Max{name}"]
        )


def compared(
    specification: Specification,
    core: Core,
    state: State,
    after: dict[tuple[Any, ...], list[State]],
) -> Iterator[tuple[str, Found, Found]]:
    """Of each action and subject the records after it: of the specification, of the core."""
    plain = projected(state)
    for (name, *given), nexts in after.items():
        there = {projected(one) for one in nexts}
        if specification.spent(state, name):
            yield name, there, set()
        elif name in MESSAGES:
            yield name, there, {plain} if nexts else set()
        elif name in PROPOSALS:
            engine, job = given
            idle = state["txn"][engine]["pc"] == "idle"
            there = {projected(one, engine) for one in nexts}
            yield name, there, core.after(plain, name, job) if idle else set()
        elif name in OUTCOMES:
            yield name, *ended(core, state, after, name, given[0])
        elif name == "Run" and not nexts:
            # The report of workers is a message there: the core's step is that and this.
            run = specification.steps[name, *given]
            told = [new for one in after["Report", *given] for new in run(one)]
            yield name, set(map(projected, told)), core.after(plain, name, given[0])
        else:
            yield name, there, core.after(plain, name, given[0])


def ended(
    core: Core,
    state: State,
    after: dict[tuple[Any, ...], list[State]],
    name: str,
    engine: str,
) -> tuple[Found, Found]:
    """The same of what becomes of a proposal.

    Crash is there for what Abort does not forget, so that both are a crash of the core.
    """
    there = {projected(one) for one in after[name, engine]}
    txn = state["txn"][engine]
    if txn["pc"] == "idle" or not current(state, txn):
        late = {projected(state)} if txn["pc"] != "idle" and name == "Abort" else set()
        return there, late
    if name == "Crash":
        there |= {projected(one) for one in after["Abort", engine]}
    return there, core.after(projected(state, engine), name, txn["job"])


def differing(
    constants: dict[str, Any], rules: Rules = HARDENED
) -> tuple[set[str], Counter[str], tuple[int, int]]:
    """Actions that differ somewhere, how often each is a step, and states and records."""
    specification = Specification(constants)
    core = Core(rules, constants["Leaves"])
    different, taken, states = set(), Counter[str](), 0
    for state, after in specification.states():
        states += 1
        for name, there, here in compared(specification, core, state, after):
            taken[name] += len(there)
            if there != here:
                different.add(name)
    return different, taken, (states, len(core.known))


def scope(name: str, **changed: int) -> dict[str, Any]:
    """Constants of a configuration, some of them changed."""
    return {**CONFIGURATIONS[f"Hardened_{name}"].constants, **changed}


SCOPES = {
    # constants; states of the specification, and records that the core steps from
    "heal": (scope("heal"), 1_222, 462),
    "suspect": (scope("suspect"), 2_064, 320),
    "release": (scope("release"), 1_350, 504),
    "resize": (scope("resize"), 942, 122),
    "lose": (scope("lose"), 1_236, 294),
    "release and lose": (scope("release", MaxLose=1, MaxEpoch=2), 2_076, 516),
    "suspect and resize": (scope("suspect", MaxResize=1, MaxEpoch=1), 11_896, 1_088),
    "suspect, resize and heal": (
        scope("heal", MaxFail=1, MaxSuspect=1, MaxResize=1, MaxEpoch=1),
        *(10_174, 2_530),
    ),
}


@cache
def searched(name: str) -> tuple[set[str], Counter[str], tuple[int, int]]:
    """What differs in a scope, which is searched once."""
    return differing(SCOPES[name][0])


@pytest.mark.parametrize("name", SCOPES)
def test_the_steps_are_the_same(name: str) -> None:
    """From every state, by action and subject; states of a configuration are TLC's."""
    different, _, counts = searched(name)
    assert different == set()
    assert counts == SCOPES[name][1:]


def test_every_action_is_compared() -> None:
    """Of all actions there are steps; Notice is of a guard that is taken away."""
    taken = Counter[str]()
    for name in ("heal", "suspect", "release and lose", "resize"):
        taken += searched(name)[1]
    assert set(taken) == set(disjuncts(MODULE)) - {"Notice"}


def test_the_start_is_the_same() -> None:
    """Jobs have the first leaves, and what is left is free."""
    [start] = Specification(scope("heal")).starts({})
    assert projected(start) == started([0b001, 0b010], leaves=3)


# A constant, the rule that is the same guard, where it matters, and the steps that differ
# if the rule alone is turned off. Of the other guards the specification lets the commit, or
# the seal, go alone, and a rule also the plan, or all that have a token.
PAIRS = {
    "Pin": (
        "pin_survivors",
        scope("heal", Leaves=5, Share=2, MaxFail=1, MaxHeal=0),
        "Plan",
    ),
    "GLive": ("commit_live", scope("heal", MaxHeal=0), "Commit Abort"),
    "GFence": ("fence_freed", scope("heal"), "Commit"),
    "GLost": ("incarnations", scope("heal", MaxFail=1), "Fail"),
    "GFirst": ("repairs_first", scope("resize"), "Resize Commit Abort"),
    "GNewest": ("newest_manifest", scope("lose", MaxLose=0), "Restore"),
}


@pytest.mark.parametrize("constant", PAIRS)
def test_a_guard_is_a_rule(constant: str) -> None:
    """Without both the steps are the same again, and without one they are not."""
    rule, constants, actions = PAIRS[constant]
    without = replace(HARDENED, **{rule: False})
    assert differing({**constants, constant: False}, without)[0] == set()
    assert differing(constants, without)[0] == set(actions.split())


FAULTS = {
    # an action, a scope, and a text of the specification replaced
    "Heal": (
        scope("heal", MaxSuspect=1, MaxFail=1),
        (
            "/\\ suspect' = suspect \\ {l} /\\ spent'",
            "/\\ UNCHANGED suspect /\\ spent'",
        ),
    ),
    "Fence": (scope("heal"), ("l \\in fenced /\\ l \\in live\n", "l \\in fenced\n")),
    "Admit": (scope("release"), ('![j] = "Admit"]', '![j] = "Repair"]')),
    "Release": (
        scope("release"),
        ("lost' = lost \\ Assigned(j) /\\", "UNCHANGED lost /\\"),
    ),
    "Detect": (scope("lose"), ('{"Run", "Restore"} /\\ Broken', '{"Run"} /\\ Broken')),
    "Run": (scope("heal"), ("(~Broken(j) /\\ Loaded(j))", "Loaded(j)")),
    "Seal": (
        scope("lose"),
        ('GSealPhase => phase[j] = "Run"', 'GSealPhase => phase[j] # "Plan"'),
    ),
    "Lose": (scope("lose"), ("sealed[j] \\ {0} :", "sealed[j] :")),
    "Drain": (
        scope("suspect", Leaves=4),
        ("Cardinality(P) = Cardinality(Assigned(j))", "P # {}"),
    ),
    "Resize": (
        scope("heal", MaxHeal=0, MaxSuspect=1, MaxResize=1, MaxEpoch=1),
        ("/\\ (P \\ Assigned(j)) \\cap suspect = {} /\\", "/\\"),
    ),
    "Plan": (
        scope("suspect"),
        ("P \\subseteq Trusted(j) /\\ MayClaim", "MayClaim"),
    ),
    "Commit": (scope("heal"), ("lost \\ (t.own \\cup t.plan)", "lost \\ t.plan")),
    "Abort": (
        scope("suspect"),
        (" /\\ Wanted(t))", ")"),
    ),
}


@pytest.mark.parametrize("action", FAULTS)
def test_a_fault_of_the_specification_is_seen(action: str) -> None:
    """A text that is wrong makes its action's steps differ."""
    constants, (sound, faulty) = FAULTS[action]
    assert TEXTS["Hardened.tla"].count(sound) == 1
    module = read(TEXTS["Hardened.tla"].replace(sound, faulty))
    specification = Specification(constants, module)
    core = Core(HARDENED, constants["Leaves"])
    assert any(
        name == action and there != here
        for state, after in specification.states()
        for name, there, here in compared(specification, core, state, after)
    )

"""Runs of the model on the engine's code: what is legal is taken alike, what is wrong is not."""

from __future__ import annotations

from collections import Counter

import pytest

from phalanx_core.reformation import (
    HARDENED,
    Action,
    Cause,
    Engine,
    EngineOptions,
    Event,
    FirstFree,
    HostAgent,
    Outcome,
    Phase,
    Records,
    Refused,
    started,
    transition,
)
from phalanx_core.reformation.changes import returned, with_job
from phalanx_core.reformation.guards import commit_refusal
from phalanx_core.verification import MUTANTS, counterexample, mutant, verdict
from phalanx_core.verification.counterexample import Counterexample
from phalanx_core.verification.engine_replay import PROPOSALS, EngineReplay
from phalanx_core.verification.model import Model
from phalanx_core.verification.random_history import random_steps
from tests.cases.judged_history import JudgedHistory

TRANSITIONS = 100_000
FLOOR = 1000
SILENT = (*PROPOSALS, Action.CRASH)


def at_once(records: Records, event: Event) -> bool:
    """A commit is possible if its proposal still is: an engine's transaction is both."""
    if event.action != Action.COMMIT:
        return True
    job = records.jobs[event.job]
    proposals = {Cause.DRAIN: Action.DRAIN, Cause.RESIZE: Action.RESIZE}
    action = proposals.get(job.cause, Action.PLAN)
    before = with_job(records, event.job, returned(job, HARDENED))
    proposal = Event(action, event.job, job.plan, job.epoch, job.uid)
    return not isinstance(transition(before, proposal), Refused)


def as_legal(event: Event, outcome: Outcome | None) -> bool:
    """Whether the engine's code took an event that is legal in the model."""
    if event.action in SILENT:
        return outcome is None
    return outcome is not None and bool(outcome) == (event.action != Action.ABORT)


def test_the_engine_takes_what_the_model_takes() -> None:
    """Of 100,000 transitions each: applied, refused as an abort is, and the same records."""
    start = started([0b111 << 3 * job for job in range(4)], 32)
    replay = EngineReplay(start, 32)
    history = JudgedHistory(replay.store, replay.layout)
    counts: Counter[str] = Counter()
    records = start
    steps = random_steps(17, TRANSITIONS, start, 32, at_once)
    for number, (event, after) in enumerate(steps, 1):
        if event.action == Action.ABORT:
            counts[f"by {commit_refusal(records, event.job, HARDENED)}"] += 1
        assert as_legal(event, outcome := replay.take(event)), (number, event, outcome)
        assert replay.view().records == replay.expected(after), (number, event)
        counts[event.action.name] += 1
        records = after
        if number % 500 == 0:
            history.poll()
            replay.store.compact(replay.view().revision)
    assert [one.name for one in Action if counts[one.name] < FLOOR] == []
    assert counts["by claims_live"] >= FLOOR
    assert sum(counts[one.name] for one in Action) == TRANSITIONS
    # Rare: something in the store had changed that the model's guards do not read.
    assert 0 < replay.retries < TRANSITIONS // 1000
    history.sound()


# Of each mutant's counterexample the step at which an engine does otherwise, and how.
ENDS = {
    "m01": (4, "plan_bounds"),
    "m02": (3, "plan_bounds"),
    "m03": (3, "plan_bounds"),
    "m04": (3, "plan_bounds"),
    "m05": (3, "plan_bounds"),
    "m06": (4, "differs"),
    "m07": (3, "plan_bounds"),
    "m08": (3, "plan_bounds"),
    "m09": (3, "plan_bounds"),
    "m10": (1, "differs"),
    "m11": (1, "broken"),
    "m12": (3, "plan_bounds"),
    "m13": (3, "plan_bounds"),
    "m14": (3, "plan_bounds"),
    "m15": (3, "plan_bounds"),
    "m16": (3, "plan_bounds"),
    "m17": (3, "plan_bounds"),
    "m18": (3, "plan_bounds"),
    "m19": (3, "plan_bounds"),
    "m20": (3, "plan_bounds"),
    "no pin_survivors": (4, "plan_bounds"),
    "no commit_live": (5, "compare"),
    "no detect_in_restore": (5, "taken"),
    "no restore_live": (6, "workers_live"),
    "no fence_freed": (2, "differs"),
    "no incarnations": (1, "differs"),
    "no avoid_suspects": (4, "plan_bounds"),
    "no drain_returns": (3, "differs"),
    "no repairs_first": (2, "first_served"),
    "no uids": (7, "token_current"),
    "no tokens": (6, "token_current"),
    "no load_then_run": (5, "taken"),
    "no newest_manifest": (12, "newest"),
    "no abort": (4, "taken"),
    "fence": (6, "leaves_live"),
    "heal": (2, "differs"),
    "admit": (2, "differs"),
    "release": (1, "differs"),
    "lose": (8, "differs"),
    "drain": (2, "differs"),
}


def ended(run: Counterexample, model: Model) -> tuple[int, str, EngineReplay]:
    """The step of a run at which the engine does otherwise, and the guard or "differs"."""
    separate = model.rules.load_then_run
    leaves = model.scope.leaves
    replay = EngineReplay(run.start.records, leaves, load_then_run=separate)
    states = run.replay(model)[1:]
    for number, (event, state) in enumerate(zip(run.events, states, strict=True), 1):
        outcome = replay.take(event)
        if not as_legal(event, outcome):
            return number, outcome.guard if outcome is not None else "silent", replay
        found, told = replay.view().records, replay.expected(state.records)
        if not separate:
            found, told = seen_in_print(found), seen_in_print(told)
        if found != told:
            return number, "differs", replay
    return len(run.events), "taken", replay


def seen_in_print(records: Records) -> object:
    """What the printed protocol has as well, whatever each calls a phase."""
    jobs = tuple((job.epoch, job.alloc, job.sealed) for job in records.jobs)
    return records.live, jobs


@pytest.mark.parametrize("name", MUTANTS)
def test_no_counterexample_is_a_run_of_the_engine(name: str) -> None:
    """It refuses a step, or the records come out otherwise, or it goes on from the end."""
    model = mutant(name).model
    graph, violations = verdict(model)
    found = {violation.name: violation for violation in violations}
    run = counterexample(graph, found[mutant(name).caught_by])
    *end, replay = ended(run, model)
    assert tuple(end) == ENDS[name]
    if end[1] == "taken":
        assert run.loop or run.stays or name == "no load_then_run"
        goes_on(replay)


def goes_on(replay: EngineReplay) -> None:
    """An engine with a planner brings every job to Run, but one that no leaf is left for."""
    layout, clock = replay.layout, replay.clock
    options = EngineOptions(lead=False)
    engine = Engine(replay.store, layout, FirstFree(shrink=True), "on", clock, options)
    for _ in range(12):
        report = engine.tick()
        for want in report.wanted:
            if want.phase == Phase.RESTORE and want.base:
                engine.loaded(want.job, (want.uid, want.epoch), want.base)
        for host in replay.view().hosts:
            agent = HostAgent(replay.store, layout, host, clock, 1.0, "on")
            for holding in agent.fences():
                agent.confirm(holding.job, (holding.uid, holding.epoch))
    for job in replay.view().jobs:
        waits = report.waiting.get(job.name) == "no_leaves"
        assert job.record.phase in (Phase.RUN, Phase.GONE) or waits, job

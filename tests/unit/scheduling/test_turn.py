"""One call at a time, each to its end."""

from __future__ import annotations

import copy
import pickle
import signal
import threading
from typing import Any

import pytest

from phalanx_core import Gang, Topology
from phalanx_core.errors import ConcurrentUse, InvariantBroken
from phalanx_core.scheduling import JobRequest, Scheduler, SchedulerOptions
from phalanx_core.scheduling.committing import Commit
from phalanx_core.scheduling.turn import uninterrupted

TREE = Topology.from_spec("host:2 gpu:4")


def waiting() -> Scheduler:
    """One job that the next round starts."""
    scheduler = Scheduler(TREE)
    scheduler.submit("a", Gang(4), 0.0)
    return scheduler


def cut(*_: object) -> None:
    """What a user's Ctrl-C raises."""
    raise KeyboardInterrupt


def test_a_round_that_is_cut_short_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planners have the job and the ledger has not: only the save from before will do."""
    scheduler = waiting()
    saved = scheduler.save()
    with monkeypatch.context() as patched:
        patched.setattr(Commit, "_started", cut)
        with pytest.raises(KeyboardInterrupt):
            scheduler.round(0.0)
    for call in (
        lambda: scheduler.round(1.0),
        lambda: scheduler.submit("b", Gang(1), 1.0),
        scheduler.save,
        scheduler.validate,
    ):
        with pytest.raises(InvariantBroken, match="R4: a round was cut short by Keyb"):
            call()
    assert Scheduler.load(TREE, saved).round(0.0).outcome("a").kind == "start"


def test_a_signal_waits_for_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its handler raises comes once the round is taken over whole."""
    scheduler = waiting()
    started = Commit._started

    def alarmed(self: Commit) -> list[Any]:
        signal.raise_signal(signal.SIGALRM)
        return started(self)

    def ring(number: int, frame: object) -> None:
        raise TimeoutError("the alarm")

    monkeypatch.setattr(Commit, "_started", alarmed)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(TimeoutError, match="the alarm"):
            scheduler.round(0.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    scheduler.validate()
    assert scheduler.last is not None
    assert scheduler.last.outcome("a").kind == "start"
    monkeypatch.undo()
    assert scheduler.round(60.0).outcome("a").kind == "keep"


def test_a_call_that_is_cut_short_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows how far it came."""
    scheduler = waiting()
    with monkeypatch.context() as patched:
        patched.setattr(scheduler.ledger, "submit", lambda *_, **__: cut())
        with pytest.raises(KeyboardInterrupt):
            scheduler.submit("b", Gang(4), 0.0)
    with pytest.raises(
        InvariantBroken, match=r"KeyboardInterrupt cut submit\(\) short"
    ):
        scheduler.round(0.0)


def test_what_is_called_is_run_on_any_thread() -> None:
    """Only the main thread has handlers of signals, so others run it themselves."""
    ran: list[str] = []

    def call() -> None:
        ran.append(threading.current_thread().name)

    assert uninterrupted(call) is None
    other = threading.Thread(target=lambda: uninterrupted(call), name="other")
    other.start()
    other.join()
    assert ran[0] != threading.main_thread().name
    assert ran[1] == "other"


def test_a_second_caller_is_refused() -> None:
    """A reward that asks for more in the middle of a round is one."""
    told: list[str] = []

    def reward(candidates: Any) -> Any:
        for call in (
            lambda: scheduler.submit("b", Gang(1), 0.0),
            lambda: scheduler.round(0.0),
            scheduler.save,
        ):
            with pytest.raises(ConcurrentUse) as caught:
                call()
            told.append(str(caught.value))
        return -candidates.ratio

    options = SchedulerOptions(order="owed", reward=reward)
    scheduler = Scheduler(TREE, options=options)
    scheduler.submit("a", JobRequest(Gang(4)), 0.0)
    scheduler.round(0.0)
    text = "scheduler: another call is still inside; one thread owns a scheduler"
    assert told == [text] * 3


def test_an_agent_may_answer_at_once() -> None:
    """When it is asked for a checkpoint the round is over."""
    options = SchedulerOptions(lease_s=60.0)
    scheduler = Scheduler(
        TREE, options=options, on_checkpoint=lambda job, _: scheduler.checkpointed(job)
    )
    scheduler.submit("a", Gang(4), 0.0)
    scheduler.round(0.0)
    scheduler.round(60.0)
    assert scheduler.status("a").checkpoints == 1


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_neither_schedulers_nor_actions_are_copied(way: Any) -> None:
    """The error says what to do."""
    scheduler = waiting()
    action = scheduler.round(0.0).actions[0]
    with pytest.raises(TypeError, match=r"use save\(\) and load\(\)"):
        way(scheduler)
    with pytest.raises(TypeError, match=r"use to_dict\(\)"):
        way(action)

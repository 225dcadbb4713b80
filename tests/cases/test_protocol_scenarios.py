"""Scenarios 1 to 17 of the protocol's list: commits and engines."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.reformation import (
    Action,
    Fate,
    FirstFree,
    Outcome,
    Phase,
    Wanted,
    client,
)
from phalanx_core.reformation.committing import commit
from phalanx_core.reformation.preparing import Prepared
from phalanx_core.reformation.stores import (
    Fault,
    FaultKind,
    Limits,
    Listed,
    Store,
)
from phalanx_core.reformation.stores.requests import check_transaction
from tests.cases.protocol_setting import (
    Crash,
    Setting,
    between,
    crashing,
    noted,
    told,
)

# Calls of an engine's link in the tick that repairs, the job's death known: it reads, then
# sends DETECT, reads, sends COMMIT, reads, sends RESTORE, reads.
COMMIT_CALL = 3
# What is left to do of two jobs, the commit of one being there.
REST = ["RESTORE applied", "COMMIT applied", "RESTORE applied"]


def broken(setting: Setting, **sizes: int) -> None:
    """Jobs run, h0 died, and an engine has noted that."""
    engine = setting.engine()
    setting.running(engine, **(sizes or {"a": 2}))
    setting.kill("h0")
    assert told((engine.step(),)) == ["FAIL applied"]  # type: ignore[arg-type]


def test_01_a_planned_leaf_dies_before_the_commit() -> None:
    """The commit fails on the heartbeat, no epoch is spent, and the next plan avoids it."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    between(engine, "prepared", lambda: setting.kill("h2"), skip=1)
    report = engine.tick()
    assert told(report.outcomes) == [
        "DETECT applied",
        "COMMIT aborted",
        "FAIL applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    assert setting.epoch("a") == 2
    assert setting.owned("a") == [1, 3]
    setting.sound()


def test_02_a_leaf_dies_before_restore_is_done() -> None:
    """The death is detected from Restore, and the job ends healthy two epochs on."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    engine.tick()
    setting.kill("h1")
    assert told(engine.tick().outcomes)[:3] == [
        "FAIL applied",
        "DETECT applied",
        "COMMIT applied",
    ]
    setting.restored(engine, "a")
    assert setting.epoch("a") == 3
    assert setting.owned("a") == [2, 3]
    setting.sound()


def test_03_a_leaf_dies_when_all_have_loaded_and_none_runs() -> None:
    """Nobody can seal before Run, and the word of the dead epoch's workers is void."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    engine.tick()
    job = setting.job("a")
    assert setting.user.loaded("a", job.token, (1, 10))
    assert setting.user.seal("a", job.token, 20, "early").guard == "running"
    setting.kill("h1")
    engine.tick()
    assert setting.job("a").loaded is None
    assert (setting.phase("a"), setting.epoch("a")) == ("RESTORE", 3)
    setting.sound()


@pytest.mark.parametrize("first", [0, 1])
def test_04_two_engines_plan_for_one_epoch(first: int) -> None:
    """Both deliver, in either order: one epoch step, and the other's is stale."""
    setting = Setting(hosts=6)
    broken(setting)
    setting.engine().step()
    engines = [setting.engine(), setting.engine()]
    early, late = engines[first], engines[1 - first]
    inner = []
    between(late, "prepared", lambda: inner.append(early.step()))
    outer = late.step()
    assert inner[0].fate is Fate.APPLIED
    assert outer is not None
    assert outer.fate is Fate.STALE
    assert setting.epoch("a") == 2
    setting.sound()


@pytest.mark.parametrize("skip", range(5))
@pytest.mark.parametrize("point", ["observed", "prepared", "answered"])
def test_05_an_engine_ends_at_any_point(point: str, skip: int) -> None:
    """A second engine finishes what the first began, wherever that ended."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    dying = setting.engine()
    crashing(dying, point, skip)
    if (point, skip) == ("prepared", 4) or (point, skip) == ("answered", 4):
        dying.tick()  # a repair has four transactions, so it does not get there
    else:
        with pytest.raises(Crash):
            dying.tick()
    second = setting.engine()
    wanted = second.tick().wanted
    assert wanted[0].ranks == (2, 1)
    setting.restored(second, "a")
    assert setting.epoch("a") == 2
    setting.sound()


@pytest.mark.parametrize(
    ("point", "skip", "phase"),
    [
        ("observed", 0, "RESTORE"),
        ("prepared", 0, "RESTORE"),
        ("answered", 0, "RUN"),
        ("observed", 1, "RUN"),
    ],
)
def test_05_an_engine_ends_around_run(point: str, skip: int, phase: str) -> None:
    """All have loaded: a second engine finds that and the job runs, in the same epoch."""
    setting = Setting(hosts=5)
    broken(setting)
    setting.engine().tick()
    assert setting.user.loaded("a", (1, 2), (1, 10))
    dying = setting.engine()
    crashing(dying, point, skip)
    with pytest.raises(Crash):
        dying.tick()
    assert setting.phase("a") == phase
    second = setting.engine()
    report = second.tick()
    assert told(report.outcomes) == (["RUN applied"] if phase == "RESTORE" else [])
    assert report.wanted == (Wanted("a", 1, 2, Phase.RUN, (2, 1), (1, 10)),)
    assert second.seal("a", (1, 2), 20, "shards")
    setting.sound()


def test_06_an_applied_commit_whose_answer_is_lost() -> None:
    """The engine finds its nonce, and goes on without a second commit."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine(Listed({COMMIT_CALL: Fault(FaultKind.LOSE_ANSWER)}))
    sent, arrived = noted(engine)
    assert told(engine.tick().outcomes) == [
        "DETECT applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    assert sent.nonces() == ["engine 2:1", "engine 2:2", "engine 2:3"]
    assert arrived.sent == sent.sent
    assert setting.epoch("a") == 2
    setting.sound()


def test_07_a_commit_that_was_lost_on_its_way() -> None:
    """The record is as it was, so the same transaction is sent again, with its nonce."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine(Listed({COMMIT_CALL: Fault(FaultKind.LOSE_REQUEST)}))
    sent, arrived = noted(engine)
    outcome = engine.tick().outcomes[1]
    assert (outcome.fate, outcome.nonce) == (Fate.APPLIED, "engine 2:2")
    assert sent.nonces() == ["engine 2:1", "engine 2:2", "engine 2:2", "engine 2:3"]
    assert sent.sent[2] == sent.sent[1]
    assert arrived.nonces() == ["engine 2:1", "engine 2:2", "engine 2:3"]
    assert setting.epoch("a") == 2
    setting.sound()


def test_08_a_commit_that_lands_after_it_was_read_back() -> None:
    """The one sent again and the late one exclude each other: one epoch step."""
    setting = Setting(hosts=5)
    broken(setting)
    delayed = Listed({COMMIT_CALL: Fault(FaultKind.DELAY, 2)})
    engine = setting.engine(delayed)
    engine.tick()
    engine.store.deliver()  # type: ignore[attr-defined]
    assert "arrives" in str(engine.store.log)  # type: ignore[attr-defined]
    assert setting.epoch("a") == 2
    setting.sound()


def test_09_one_transaction_delivered_twice() -> None:
    """The second delivery changes nothing."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine(Listed({COMMIT_CALL: Fault(FaultKind.DUPLICATE, 1)}))
    engine.tick()
    assert setting.epoch("a") == 2
    assert setting.owned("a") == [1, 2]
    setting.sound()


def racing(setting: Setting) -> None:
    """Jobs a and b have lost h0 and h2, and both plan."""
    engine = setting.engine()
    setting.running(engine, a=2, b=2)
    setting.kill("h0", "h2")
    assert told(tuple(engine.step() for _ in range(3))) == [  # type: ignore[misc]
        "FAIL applied",
        "DETECT applied",
        "DETECT applied",
    ]


@pytest.mark.parametrize("order", ["aabb", "abab", "abba", "baab", "baba", "bbaa"])
def test_10_two_jobs_race_for_one_spare(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each prepares, then delivers: the first to deliver wins, the other waits quietly."""
    setting = Setting(hosts=5)
    racing(setting)
    prepared: dict[str, Prepared] = {}

    def hold(_: Store, one: Prepared) -> Outcome:
        prepared[one.facts.name] = one
        return Outcome(Fate.UNKNOWN, one.event.action)

    monkeypatch.setattr(client, "commit", hold)
    fates = {}
    for at, job in enumerate(order):
        if job not in order[:at]:
            fates[job] = setting.engine()._planned(
                setting.view(), "ab".index(job), Action.PLAN
            )
        elif job in prepared:
            fates[job] = commit(setting.store, prepared[job])
    monkeypatch.undo()
    winner = next(job for at, job in enumerate(order) if job in order[:at])
    loser = "ba"["ab".index(winner)]
    serial = order in ("aabb", "bbaa")
    assert fates[winner].fate is Fate.APPLIED
    assert fates[loser].fate is (Fate.REFUSED if serial else Fate.ABORTED)
    assert fates[loser].guard == ("no_leaves" if serial else "compare")
    engine = setting.engine()
    sent, _ = noted(engine)
    reports = [engine.tick() for _ in range(3)]
    assert [told(one.outcomes) for one in reports] == [["RESTORE applied"], [], []]
    assert [one.waiting for one in reports] == [{loser: "no_leaves"}] * 3
    assert len(sent.sent) == 1
    assert setting.owned(winner) == {"a": [1, 4], "b": [3, 4]}[winner]
    assert (setting.phase(loser), setting.epoch(loser)) == ("PLAN", 1)
    # What lost and shrinks instead runs on.
    small = setting.engine(planner=FirstFree(shrink=True))
    small.tick()
    setting.restored(small, loser)
    assert setting.owned(loser) == {"a": [1], "b": [3]}[loser]
    setting.sound()


@pytest.mark.parametrize(
    ("stale", "outcomes"),
    [
        (0, ["COMMIT aborted", *REST]),
        (1, ["COMMIT aborted", "COMMIT aborted", *REST]),
        (2, ["COMMIT aborted", "COMMIT aborted", "COMMIT aborted"]),
        (99, ["COMMIT aborted", "COMMIT aborted", "COMMIT aborted"]),
    ],
)
def test_11_a_loser_plans_from_a_stale_read(stale: int, outcomes: list[str]) -> None:
    """It reads what is now; told what was, it loses again, three times at most a tick."""
    setting = Setting(hosts=6)
    racing(setting)
    # It reads at every other call, and loses the race between the first read and its answer.
    reads = {2 + 2 * at: Fault(FaultKind.STALE, 1) for at in range(stale)}
    engine, rival = setting.engine(Listed(reads), misses_max=3), setting.engine()
    sent, _ = noted(engine)
    between(engine, "prepared", lambda: rival._planned(setting.view(), 1, Action.PLAN))
    assert told(engine.tick().outcomes) == outcomes
    assert len(sent.sent) == len(outcomes)
    assert set(sent.read) == {0}
    assert (setting.owned("b"), setting.epoch("b")) == ([3, 4], 2)
    setting.engine().tick()
    assert (setting.owned("a"), setting.epoch("a")) == ([1, 5], 2)
    assert (setting.owned("b"), setting.epoch("b")) == ([3, 4], 2)
    setting.sound()


def test_11_an_engine_is_told_what_was_before_its_own_step() -> None:
    """What it does again finds the record moved on, and three such end the tick."""
    setting = Setting(hosts=5)
    broken(setting)
    stale = Listed({call: Fault(FaultKind.STALE, 1) for call in range(2, 40, 2)})
    engine = setting.engine(stale, misses_max=3)
    assert told(engine.tick().outcomes) == [
        "DETECT applied",
        "DETECT stale",
        "DETECT stale",
        "DETECT stale",
    ]
    assert setting.engine().tick().waiting == {}
    assert (setting.owned("a"), setting.epoch("a")) == ([1, 2], 2)
    setting.sound()


def test_12_an_abort_writes_nothing() -> None:
    """A stale engine that gives up leaves the store at the revision it was."""
    setting = Setting(hosts=6)
    broken(setting)
    setting.engine().step()
    engine = setting.engine(misses_max=1)
    between(engine, "prepared", lambda: setting.engine().tick())
    revision = []
    between_answers = engine._hook
    assert between_answers is not None

    def hook(point: str) -> None:
        between_answers(point)
        revision.append(setting.view().revision)

    engine._hook = hook
    outcomes = engine.tick().outcomes
    assert told(outcomes) == ["COMMIT stale"]
    assert revision[-1] == revision[-2]
    setting.sound()


def test_13_a_job_ends_between_plan_and_commit() -> None:
    """The commit fails, and no leaf is left behind."""
    setting = Setting(hosts=5)
    broken(setting)
    setting.engine().step()
    engine = setting.engine(misses_max=1)
    between(engine, "prepared", lambda: setting.user.release("a"))
    assert told(engine.tick().outcomes) == ["COMMIT stale"]
    assert setting.owned("a") == []
    assert setting.fenced("a") == [0, 1]
    with pytest.raises(UnknownJob):
        setting.user.release("a")
    setting.sound()


def test_14_a_name_is_used_again_while_a_commit_and_a_zombie_are_under_way() -> None:
    """Both are of another uid: the commit is stale and the seal refused (F15)."""
    setting = Setting(hosts=6)
    broken(setting)
    setting.engine().step()
    zombie = setting.job("a").token
    engine = setting.engine(misses_max=1)

    def again() -> None:
        assert setting.user.release("a", 1)
        assert setting.user.admit("a", "1")

    between(engine, "prepared", again)
    assert told(engine.tick().outcomes) == ["COMMIT stale"]
    second = setting.engine()
    second.tick()
    setting.restored(second, "a")
    assert setting.job("a").token == (2, 1)
    assert zombie == (1, 1)
    assert setting.user.seal("a", zombie, 99, "zombie").guard == "token_current"
    assert setting.user.release("a", 1).guard == "token_current"
    setting.sound()


def test_15_three_failures_in_a_row_with_shrink() -> None:
    """Survivors are pinned, so no job starves on eight leaves (F1)."""
    setting = Setting(hosts=8)
    engine = setting.engine(planner=FirstFree(shrink=True))
    setting.running(engine, a=4, b=4)
    for dead, job in (("h0", "a"), ("h4", "b"), ("h1", "a")):
        setting.kill(dead)
        engine.tick()
        setting.restored(engine, job)
    assert setting.owned("a") == [2, 3]
    assert setting.owned("b") == [5, 6, 7]
    setting.sound()


def test_16_a_transaction_longer_than_the_store_takes() -> None:
    """It is refused before it is sent; what is one block fits at any size."""
    setting = Setting(hosts=64, operations_max=12)
    engine = setting.engine()
    engine.tick()
    assert engine.admit("whole", "64")
    engine.tick()
    assert setting.owned("whole") == list(range(64))
    assert setting.user.release("whole")
    setting.confirm("whole")
    assert setting.user.suspect([f"h{at}" for at in range(0, 12, 4)], "odd")
    assert setting.user.suspect([f"h{at}" for at in range(12, 24, 4)], "odd")
    assert engine.admit("torn", "32")
    assert engine.tick().waiting == {"torn": "operations_max"}
    setting.sound()


def test_17_a_transaction_of_too_many_bytes() -> None:
    """It is refused before it is sent, and nothing was applied."""
    setting = Setting()
    engine = setting.engine()
    revision = setting.view().revision
    assert engine.admit("a", "1" * 2_000_000).guard == "bytes_max"
    assert setting.view().revision == revision
    assert engine.admit("a", "1" * 1_500_000)
    setting.sound()


def test_17_a_commit_of_too_many_bytes() -> None:
    """The job waits with that reason, or runs on as it was; the next one gets its leaves."""
    setting = Setting(hosts=2, per_host=64, request_bytes=850)
    engine = setting.engine()
    assert engine.admit("wide", "100")
    assert engine.admit("narrow", "1")
    sent, _ = noted(engine)
    report = engine.tick()
    assert report.waiting == {"wide": "bytes_max"}
    assert told(report.outcomes) == [
        "HEAL applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    assert len(sent.sent) == 3
    assert (setting.phase("wide"), setting.epoch("wide")) == ("PLAN", 0)
    assert setting.owned("wide") == []
    setting.restored(engine, "narrow")
    assert engine.resize("narrow", "100").guard == "bytes_max"
    assert (setting.phase("narrow"), setting.owned("narrow")) == ("RUN", [0])
    setting.sound()


def test_17_bytes_are_counted_as_the_store_counts_them() -> None:
    """A commit of as many bytes as the store takes is sent; of one more, it is not."""
    for limit, waiting in ((994, {"wide": "bytes_max"}), (995, {})):
        setting = Setting(hosts=2, per_host=64, request_bytes=limit)
        engine = setting.engine()
        assert engine.admit("wide", "100")
        sent, _ = noted(engine)
        assert engine.tick().waiting == waiting
        setting.sound()
    commit_sent = sent.sent[1]
    with pytest.raises(InvalidRequest, match="has 995 bytes"):
        check_transaction(*commit_sent, Limits(request_bytes=994))

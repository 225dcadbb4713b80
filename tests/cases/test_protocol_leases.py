"""Scenarios 26 to 35 of the protocol's list: leases, watches, store."""

from __future__ import annotations

import io

import pytest

from phalanx_core.errors import InvariantBroken
from phalanx_core.reformation import Action, Damping, Fate, Phase, Wanted
from phalanx_core.reformation.codec import LOG
from phalanx_core.reformation.history import Historian
from phalanx_core.reformation.reports import wanted_of
from phalanx_core.reformation.stores import (
    Compacted,
    Fault,
    FaultKind,
    FaultyStore,
    Listed,
)
from tests.cases.protocol_setting import Setting, between, link, told


def test_26_a_lease_flaps_before_the_engine_looks() -> None:
    """The host is another incarnation: its leaf was lost, and the job is repaired."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    setting.beat()
    report = engine.tick()
    assert told(report.outcomes) == [
        "FAIL applied",
        "HEAL applied",
        "DETECT applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    # The leaf may be kept, under the next epoch: its worker starts anew.
    assert setting.owned("a") == [0, 1]
    assert setting.epoch("a") == 2
    setting.sound()


def test_26_a_lease_flaps_between_plan_and_commit() -> None:
    """The plan names the old incarnation, so its commit fails."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    engine.step()
    engine.step()

    def flap() -> None:
        setting.kill("h2")
        setting.beat()

    second = setting.engine()
    between(second, "prepared", flap)
    assert told(second.tick().outcomes)[0] == "COMMIT aborted"
    setting.sound()


def test_26_a_lease_flaps_between_detect_and_commit() -> None:
    """The commit goes on without the host that is back; what ran there is fenced first."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=2)
    old = setting.view().hosts["h0"]
    setting.kill("h0")
    engine.step()
    between(engine, "prepared", setting.beat, skip=1)
    report = engine.tick()
    assert told(report.outcomes) == [
        "DETECT applied",
        "COMMIT applied",
        "HEAL applied",
        "RESTORE applied",
    ]
    assert report.wanted == (Wanted("a", 1, 2, Phase.RESTORE, (2, 1), (1, 10)),)
    assert (setting.owned("a"), setting.fenced("a")) == ([1, 2], [0])
    assert setting.view().hosts["h0"] > old
    setting.restored(engine, "a")
    # The worker on h0 may have lived through it: it seals nothing, and nobody takes its leaf.
    assert setting.user.seal("a", (1, 1), 20, "zombie").guard == "token_current"
    assert engine.admit("b", "1")
    assert engine.tick().waiting == {"b": "no_leaves"}
    assert [(one.uid, one.epoch) for one in setting.agents["h0"].fences()] == [(1, 1)]
    assert setting.confirmed("h0", "a")
    engine.tick()
    assert (setting.owned("b"), setting.fenced("a")) == ([0], [])
    setting.sound()


def test_26_a_lease_flaps_between_detect_and_plan() -> None:
    """The plan may have the leaf again: under the next epoch, loaded anew."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    engine.step()
    between(engine, "answered", setting.beat)
    report = engine.tick()
    assert told(report.outcomes) == [
        "DETECT applied",
        "HEAL applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    assert report.wanted == (Wanted("a", 1, 2, Phase.RESTORE, (0, 1), (1, 10)),)
    assert (setting.owned("a"), setting.fenced("a")) == ([0, 1], [])
    assert setting.user.seal("a", (1, 1), 20, "zombie").guard == "running"
    setting.restored(engine, "a")
    assert setting.user.seal("a", (1, 1), 20, "zombie").guard == "token_current"
    setting.sound()


def test_27_a_lease_ends_unseen_by_any_watch() -> None:
    """The next tick reads everything, so it finds what no watch told."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    for agent in list(setting.agents.values())[1:]:
        agent.beat()
    setting.clock.advance(4.0)
    for agent in list(setting.agents.values())[1:]:
        agent.beat()
    setting.clock.advance(1.0)
    assert told(engine.tick().outcomes)[:2] == ["FAIL applied", "DETECT applied"]
    setting.sound()


def test_28_another_leader_of_the_store() -> None:
    """Leases begin anew: a death is seen later, bounded by one more lease, and none falsely."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=2)
    shared = FaultyStore(setting.store)
    for agent in setting.agents.values():
        agent.store = shared
        shared._leases[agent._lease] = None
    setting.clock.advance(4.9)
    shared.change_leader(applied=False)
    setting.clock.advance(4.9)
    assert engine.tick().outcomes == ()
    for host in ("h1", "h2", "h3"):
        setting.agents[host].beat()
    setting.clock.advance(0.1)
    assert told(engine.tick().outcomes)[0] == "FAIL applied"
    assert list(setting.view().hosts) == ["h1", "h2", "h3"]
    setting.sound()


def test_29_a_mass_expiry_is_waited_for() -> None:
    """A hundred heartbeats go at once and come back: no job of them is stopped at once."""
    setting = Setting(hosts=100)
    engine = setting.engine(damping=Damping(hosts=8, wait_s=10.0), repairs_max=2)
    setting.running(engine, a=1, b=1, c=1, d=1)
    setting.kill(*setting.layout.hosts)
    assert engine.tick().outcomes == ()
    setting.clock.advance(4.0)
    assert engine.tick().outcomes == ()
    setting.beat()
    engine.tick()
    # They are other incarnations, so each job is repaired: two at a time.
    phases = [setting.phase(job) for job in "abcd"]
    assert phases == ["RESTORE", "RESTORE", "RUN", "RUN"]
    for job in "ab":
        setting.restored(engine, job)
    engine.tick()
    assert [setting.phase(job) for job in "cd"] == ["RESTORE", "RESTORE"]
    setting.sound()


def test_29_many_that_stay_away_are_dead() -> None:
    """After the wait a mass expiry is what it looks like."""
    setting = Setting(hosts=12)
    engine = setting.engine(damping=Damping(hosts=4, wait_s=10.0))
    setting.running(engine, a=2)
    setting.kill(*setting.layout.hosts[:6])
    acted = []
    for _ in range(11):
        acted.append(bool(engine.tick().outcomes))
        setting.clock.advance(1.0)
        for host in setting.layout.hosts[6:]:
            setting.agents[host].beat()
    assert acted == [False] * 10 + [True]
    assert setting.owned("a") == [6, 7]
    setting.sound()


def test_30_a_history_whose_revisions_are_compacted() -> None:
    """The watch says so by its type; a new history begins with all that there is."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    first = Historian(setting.store, setting.layout, io.StringIO())
    setting.running(engine, a=1)
    setting.history.poll()
    setting.auditor.poll()
    setting.store.compact(setting.view().revision)
    with pytest.raises(Compacted):
        first.poll()
    lines = io.StringIO()
    second = Historian(setting.store, setting.layout, lines)
    setting.kill("h0")
    engine.tick()
    assert second.poll() == 5
    assert lines.getvalue().count("\n") == 6
    setting.sound()


def test_31_a_watch_breaks_and_is_made_anew() -> None:
    """From the revision that it had reached: no transition is lost, and none told twice."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    lines = io.StringIO()
    breaking = FaultyStore(
        setting.store, Listed({2: Fault(FaultKind.BREAK), 3: Fault(FaultKind.REFUSE)})
    )
    historian = Historian(breaking, setting.layout, lines)
    setting.running(engine, a=1)
    assert [historian.poll() for _ in range(3)] == [0, 0, 7]
    setting.history.poll()
    assert lines.getvalue().splitlines(keepends=True) == setting.history.lines()
    setting.sound()


def test_31_a_watch_tells_changes_twice() -> None:
    """Each is written once, whether it comes again at once or when the watch is anew."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    lines = io.StringIO()
    repeating = Listed({call: Fault(FaultKind.REPEAT) for call in (2, 3)})
    historian = Historian(FaultyStore(setting.store, repeating), setting.layout, lines)
    setting.running(engine, a=1)
    assert historian.poll() == 7
    setting.kill("h0")
    engine.tick()
    assert historian.poll() == 5
    historian._watch = setting.store.watch(LOG, 1)
    assert historian.poll() == 0
    setting.history.poll()
    assert lines.getvalue().splitlines(keepends=True) == setting.history.lines()
    setting.sound()


def test_31_a_watch_leaves_changes_out() -> None:
    """The next transition does not follow from what was told, and that is an error (H1)."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    lines = io.StringIO()
    skipping = FaultyStore(setting.store, Listed({2: Fault(FaultKind.SKIP)}))
    historian = Historian(skipping, setting.layout, lines)
    setting.running(engine, a=1)
    assert historian.poll() == 0
    setting.kill("h0")
    engine.tick()
    with pytest.raises(InvariantBroken, match="H1: transition 1, "):
        historian.poll()
    assert lines.getvalue().count("\n") == 1
    setting.sound()


@pytest.mark.parametrize(
    ("method", "kind"), [("watch", FaultKind.REFUSE), ("poll", FaultKind.BREAK)]
)
def test_32_no_watch_is_needed(method: str, kind: FaultKind) -> None:
    """A watch that is refused or breaks keeps no engine from anything: it asks for none."""
    asked = set()

    def script(call: int, made: str) -> Fault | None:
        asked.add(made)
        return Fault(kind) if made == method else None

    setting = Setting(hosts=5)
    engine = setting.engine(script, lead=True, lead_s=60.0)
    setting.running(engine, a=2)
    setting.kill("h0")
    engine.tick()
    setting.restored(engine, "a")
    assert (setting.owned("a"), setting.epoch("a")) == ([1, 2], 2)
    assert setting.user.suspect(["h1"], "ecc")
    engine.tick()
    setting.restored(engine, "a")
    assert (setting.owned("a"), setting.epoch("a")) == ([2, 3], 3)
    assert engine.resize("a", "3")
    engine.tick()
    setting.restored(engine, "a")
    assert (setting.owned("a"), setting.epoch("a")) == ([2, 3, 4], 4)
    assert asked == {"range", "transaction", "grant", "keep_alive"}
    setting.sound()


def test_33_a_plan_from_a_lagging_member() -> None:
    """The commit's compares refuse it; whether it won is never asked of such a read."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    engine.step()
    engine.step()
    assert setting.user.suspect(["h2"], "ecc")
    late = setting.engine(Listed({0: Fault(FaultKind.STALE, 1)}), misses_max=1)
    assert told(late.tick().outcomes) == ["COMMIT aborted"]
    setting.engine().tick()
    assert setting.owned("a") == [1, 3]
    setting.sound()


@pytest.mark.parametrize(
    ("lost", "rival", "behind", "fate", "won"),
    [
        (Fault(FaultKind.LOSE_ANSWER), False, 0, Fate.APPLIED, True),
        (Fault(FaultKind.LOSE_ANSWER), False, 1, Fate.APPLIED, True),
        (Fault(FaultKind.LOSE_ANSWER), True, 0, Fate.STALE, True),
        (Fault(FaultKind.LOSE_ANSWER), True, 1, Fate.APPLIED, True),
        (Fault(FaultKind.LOSE_ANSWER), True, 2, Fate.STALE, True),
        (Fault(FaultKind.LOSE_REQUEST), False, 0, Fate.APPLIED, True),
        (Fault(FaultKind.LOSE_REQUEST), False, 1, Fate.STALE, False),
        (Fault(FaultKind.LOSE_REQUEST), True, 0, Fate.STALE, False),
        (Fault(FaultKind.LOSE_REQUEST), True, 1, Fate.STALE, False),
        (Fault(FaultKind.DELAY, 2), False, 0, Fate.APPLIED, True),
        (Fault(FaultKind.DELAY, 2), False, 1, Fate.STALE, True),
        (Fault(FaultKind.DELAY, 2), True, 1, Fate.STALE, False),
        (Fault(FaultKind.DELAY, 9), True, 1, Fate.STALE, False),
    ],
)
def test_33_a_lost_commit_is_read_back(
    lost: Fault, rival: bool, behind: int, fate: Fate, won: bool
) -> None:
    """By linearizable reads; were they behind, it would be told applied only if it was.

    Who sees its nonce has won, then or earlier; who sees the record as it was asks by the
    same transaction; who sees another record has not won for all it knows.
    """
    setting = Setting(hosts=5)
    other = setting.engine()
    setting.running(other, a=2)
    setting.kill("h0")
    other.step()
    other.step()
    asked = []

    def script(call: int, method: str) -> Fault | None:
        asked.append(method)
        if call == 2 and rival:
            other.step()  # a commit of its own, or the one after
        if call == 1:
            return lost
        return Fault(FaultKind.STALE, behind) if method == "get" else None

    engine = setting.engine(script)
    outcome = engine.step()
    link(engine).deliver()
    assert asked[:4] == ["range", "transaction", "get", "get"]
    assert outcome is not None
    assert (outcome.action, outcome.fate) == (Action.COMMIT, fate)
    setting.auditor.poll()
    assert (setting.auditor.applied_at(outcome.nonce) > 0) is won
    setting.engine().tick()
    assert (setting.epoch("a"), setting.owned("a")) == (2, [1, 2])
    setting.sound()


@pytest.mark.parametrize("first", range(8))
def test_34_the_store_is_out_of_reach(first: int) -> None:
    """From any call on, for ten calls: no exception, nothing wrong, and then it goes on."""
    setting = Setting(hosts=5)
    setting.running(setting.engine(), a=2)
    setting.kill("h0")
    refused = {call: Fault(FaultKind.REFUSE) for call in range(first, first + 10)}
    engine = setting.engine(Listed(refused))
    for _ in range(12):
        engine.tick()
    assert (setting.phase("a"), setting.epoch("a")) == ("RESTORE", 2)
    setting.restored(engine, "a")
    setting.sound()


@pytest.mark.parametrize(
    ("done", "phase", "outcomes"),
    [
        (0, "RUN", []),  # no lease to lead by
        (1, "RUN", []),  # nor the record of who leads
        (2, "RUN", ["FAIL unknown"]),
        (3, "RUN", ["DETECT unknown"]),
        (4, "PLAN", ["COMMIT unknown"]),
        (5, "RESTORE", ["RESTORE unknown"]),
        (6, "RESTORE", ["RUN unknown"]),
    ],
)
def test_34_the_store_has_no_space(done: int, phase: str, outcomes: list[str]) -> None:
    """It answers reads and refuses writes: what should run is told, a write tried a tick."""
    setting = Setting(hosts=5)
    setting.running(setting.engine(), a=2)
    setting.kill("h0")
    left = [done]

    def script(call: int, method: str) -> Fault | None:
        if method not in ("transaction", "grant"):
            return None
        left[0] -= 1
        return Fault(FaultKind.REFUSE) if left[0] < 0 else None

    engine = setting.engine(script, lead=True)
    engine.tick()
    if done == 6:
        assert setting.user.loaded("a", (1, 2), (1, 10))
    for _ in range(3):
        left[0] = 0
        report = engine.tick()
        assert told(report.outcomes) == outcomes
        assert {one.guard for one in report.outcomes} <= {"unavailable"}
        assert report.wanted == wanted_of(setting.view())
        assert report.wanted[0].phase.name == phase
        assert left == [-1]
    left[0] = 99
    engine.tick()
    if done < 6:
        setting.restored(engine, "a")
    assert (setting.phase("a"), setting.epoch("a")) == ("RUN", 2)
    assert setting.owned("a") == [1, 2]
    setting.sound()


def test_35_an_engine_pauses_for_three_leases() -> None:
    """Another leads and repairs; the late transaction bounces off the epoch record."""
    setting = Setting(hosts=6)
    paused = setting.engine(lead=True, lead_s=2.0, misses_max=1)
    setting.running(paused, a=2)
    second = setting.engine(lead=True, lead_s=2.0)
    assert not second.tick().leads
    setting.kill("h0")
    paused.step()
    paused.step()
    reports = []

    def pause() -> None:
        for _ in range(3):
            setting.clock.advance(2.0)
            for agent in list(setting.agents.values())[1:]:
                agent.beat()
        reports.append(second.tick())

    between(paused, "prepared", pause)
    assert told(paused.tick().outcomes) == ["COMMIT stale"]
    assert reports[0].leads
    assert not paused.tick().leads
    assert setting.epoch("a") == 2
    setting.sound()

"""Scenarios 26 to 42 of the protocol's list: leases, watches, drains, growth, topology."""

from __future__ import annotations

import io

import pytest

from phalanx_core.errors import SaveError
from phalanx_core.reformation import (
    Ask,
    Damping,
    Fate,
    FirstFree,
    Proposal,
)
from phalanx_core.reformation.codec import key
from phalanx_core.reformation.history import Historian
from phalanx_core.reformation.stores import (
    Compacted,
    Fault,
    FaultKind,
    FaultyStore,
    Listed,
    Put,
    Range,
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


def test_32_no_watch_is_needed() -> None:
    """An engine uses none, so none that fails can keep it from what is right."""
    setting = Setting(hosts=5)
    engine = setting.engine(Listed({}))
    setting.running(engine, a=2)

    def refused(*_: object) -> None:
        raise AssertionError("an engine asked for a watch")

    link(engine).watch = refused  # type: ignore[assignment]
    setting.kill("h0")
    assert told(engine.tick().outcomes)[-1] == "RESTORE applied"
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


def test_36_a_healthy_leaf_is_suspect() -> None:
    """With room the job moves, without it runs on where it is (F13)."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=2)
    assert setting.user.suspect(["h0"], "ecc")
    engine.tick()
    setting.restored(engine, "a")
    assert setting.owned("a") == [1, 2]
    setting.confirm("a")
    assert setting.user.suspect(["h1"], "ecc")
    report = engine.tick()
    assert report.outcomes == ()
    assert report.waiting == {"a": "no_leaves"}
    assert setting.phase("a") == "RUN"
    assert setting.user.seal("a", setting.job("a").token, 40, "still running")
    setting.sound()


@pytest.mark.parametrize("way", ["withdrawn", "target dies", "source dies"])
def test_36_a_drain_is_overtaken(way: str) -> None:
    """Each makes the commit fail; the job ran all the while, and goes on rightly."""
    setting = Setting(hosts=4)
    engine = setting.engine(misses_max=1)
    setting.running(engine, a=2)
    assert setting.user.suspect(["h0"], "ecc")
    changes = {
        "withdrawn": lambda: setting.user.trust(["h0"]),
        "target dies": lambda: setting.kill("h2"),
        "source dies": lambda: (setting.kill("h0"), setting.engine().step()),
    }
    between(engine, "prepared", changes[way])
    assert told(engine.tick().outcomes) == ["COMMIT aborted"]
    assert (setting.phase("a"), setting.epoch("a")) == ("RUN", 1)
    engine.tick()
    owned = {"withdrawn": [0, 1], "target dies": [1, 3], "source dies": [1, 2]}
    assert setting.owned("a") == owned[way]
    setting.sound()


def test_37_two_jobs_are_drained_into_one_spare() -> None:
    """One gets it; the other runs on, and is not stopped."""
    setting = Setting(hosts=3, per_host=2)
    engine = setting.engine()
    setting.running(engine, a=1, b=1, c=3)
    assert setting.owned("a") + setting.owned("b") == [0, 1]
    assert setting.user.suspect(["h0"], "ecc")
    report = engine.tick()
    assert setting.owned("a") == [5]
    assert (setting.phase("b"), setting.epoch("b")) == ("RUN", 1)
    assert report.waiting == {"b": "no_leaves"}
    setting.sound()


def test_37_a_drain_races_a_failure_for_the_spare() -> None:
    """The failure wins: a drain commits only while nobody else is broken (F14)."""
    setting = Setting(hosts=5)
    engine = setting.engine(misses_max=1)
    setting.running(engine, a=2, b=2)
    assert setting.user.suspect(["h0"], "ecc")

    def fail() -> None:
        setting.kill("h3")
        setting.engine().step()

    between(engine, "prepared", fail)
    assert told(engine.tick().outcomes) == ["COMMIT aborted"]
    report = engine.tick()
    assert setting.owned("b") == [2, 4]
    assert setting.phase("a") == "RUN"
    assert report.waiting == {"a": "no_leaves"}
    setting.sound()


@pytest.mark.parametrize("taker", ["growth", "admission"])
def test_38_a_repair_goes_before_growth_and_admission(taker: str) -> None:
    """Both aim at the last leaf; the job that failed gets it."""
    setting = Setting(hosts=4)
    engine = setting.engine(misses_max=1)
    setting.running(engine, a=2, b=1)

    def fail() -> None:
        setting.kill("h0")
        setting.engine().step()

    between(engine, "prepared", fail, skip=1 if taker == "admission" else 0)
    if taker == "growth":
        assert engine.resize("b", "2").fate is Fate.ABORTED
    else:
        assert engine.admit("c", "1")
        assert told(engine.tick().outcomes) == ["COMMIT aborted"]
    engine.tick()
    assert setting.owned("a") == [1, 3]
    if taker == "growth":
        assert engine.resize("b", "2").guard == "no_leaves"
        assert setting.phase("b") == "RUN"
    else:
        assert engine.tick().waiting == {"c": "no_leaves"}
    setting.sound()


def test_38_a_job_grows_and_shrinks() -> None:
    """Each is an epoch, and a manifest of the one before is gone on from."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    assert engine.resize("a", "4")
    engine.tick()
    setting.restored(engine, "a")
    assert setting.owned("a") == [0, 1, 2, 3]
    assert engine.resize("a", "1")
    engine.tick()
    assert setting.job("a").record.base == (1, 10)
    assert setting.owned("a") == [0]
    assert setting.fenced("a") == [1, 2, 3]
    setting.sound()


class Elsewhere:
    """Moves a job to given leaves when it may; else as the first free ones do."""

    def __init__(self, ranks: tuple[int, ...]) -> None:
        self.ranks = ranks

    def propose(self, ask: Ask) -> Proposal | None:
        """See :class:`RepairPlanner`."""
        usable = ask.must | ask.may
        if all(usable >> leaf & 1 for leaf in self.ranks):
            return Proposal(self.ranks, ask.request)
        return FirstFree().propose(ask)


def test_39_a_job_that_is_moved_fails_in_mid_move() -> None:
    """The move is a drain of where it is; a death before its commit makes it a repair."""
    setting = Setting(hosts=6)
    engine = setting.engine(planner=Elsewhere((4, 5)), misses_max=1)
    setting.running(setting.engine(), a=2)
    assert setting.user.suspect(["h0", "h1"], "defragment")

    def fail() -> None:
        setting.kill("h1")
        setting.engine().step()

    between(engine, "prepared", fail)
    assert told(engine.tick().outcomes) == ["COMMIT aborted"]
    assert told(engine.tick().outcomes) == [
        "DETECT applied",
        "COMMIT applied",
        "RESTORE applied",
    ]
    assert setting.owned("a") == [4, 5]
    setting.sound()


@pytest.mark.parametrize("spare", [True, False])
def test_40_every_leaf_of_a_job_is_dead(spare: bool) -> None:
    """With another domain it goes there; without, it waits and its leaves heal to be used."""
    setting = Setting(hosts=4 if spare else 2)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0", "h1")
    report = engine.tick()
    if spare:
        assert setting.owned("a") == [2, 3]
    else:
        assert report.waiting == {"a": "no_leaves"}
        assert setting.phase("a") == "PLAN"
        setting.beat()
        engine.tick()
        assert setting.owned("a") == [0, 1]
        assert setting.epoch("a") == 2
    setting.sound()


def test_41_a_repaired_host_comes_back() -> None:
    """It is another incarnation: nothing of the old one's is taken for its own."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=2)
    old = setting.view().hosts["h0"]
    setting.kill("h0")
    engine.tick()
    setting.restored(engine, "a")
    setting.agents["h0"] = setting.agent("h0", "repaired")
    setting.beat()
    engine.tick()
    assert setting.view().hosts["h0"] > old
    assert setting.owned("a") == [1, 2]
    assert setting.fenced("a") == [0]
    assert [one.epoch for one in setting.agents["h0"].fences()] == [1]
    assert setting.agents["h0"].confirm("a")
    assert engine.admit("b", "2")
    engine.tick()
    assert setting.owned("b") == [0, 3]
    setting.sound()


def test_42_records_of_a_later_engine() -> None:
    """An engine that meets them stands aside, and writes nothing."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=1)
    item = setting.store.get(key("epoch", "a"))
    assert item is not None
    setting.sound()
    later = item.value.replace(b'"v":1', b'"v":2')
    setting.store.transaction([], [Put(item.key, later)])
    setting.kill("h0")
    revision = setting.store.range(Range.prefix(b"")).revision
    with pytest.raises(SaveError, match="version 2"):
        engine.tick()
    assert setting.store.range(Range.prefix(b"")).revision == revision

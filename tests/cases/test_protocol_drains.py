"""Scenarios 36 to 42 of the protocol's list: drains, growth, topology."""

from __future__ import annotations

import pytest

from phalanx_core.errors import SaveError
from phalanx_core.reformation import Ask, Fate, FirstFree, Proposal
from phalanx_core.reformation.codec import key
from phalanx_core.reformation.stores import Put, Range
from tests.cases.protocol_setting import Setting, between, told


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
    assert setting.confirmed("h0", "a")
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

"""The shortest runs that each guard of a transaction prevents, transaction by transaction.

They are those of the store-level model: an engine prepares from what it saw, others act,
and the transaction arrives late.
"""

from __future__ import annotations

import pytest

from phalanx_core.reformation import (
    Action,
    Ask,
    Client,
    Engine,
    Fate,
    HostAgent,
    Proposal,
)
from phalanx_core.reformation.stores import Fault, FaultKind, FaultyStore, Listed
from tests.cases.protocol_setting import TTL_S, Setting, between, late, told


def broken(setting: Setting, **sizes: int) -> None:
    """Jobs run, and h0 died and was noted."""
    engine = setting.engine()
    setting.running(engine, **sizes)
    setting.kill("h0")
    engine.step()


def test_commit_compares_the_epoch_record() -> None:
    """GEpoch: a job that ended is not given leaves by a commit that was under way."""
    setting = Setting(hosts=5)
    broken(setting, a=2)
    setting.engine().step()
    outcome = late(setting.engine(), lambda: setting.user.release("a"))
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.STALE)
    assert setting.owned("a") == []
    setting.sound()


def test_commit_compares_that_claims_are_free() -> None:
    """GLeaf: of two jobs that plan one spare, the second commit fails."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=1, b=1)
    setting.kill("h0", "h1")
    for _ in range(3):
        engine.step()
    assert [setting.phase(job) for job in "ab"] == ["PLAN", "PLAN"]
    second = setting.engine()

    def of_b() -> object:
        view = setting.view()
        return second._planned(view, view.index["b"], Action.PLAN)

    outcome = late(setting.engine(), of_b)
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    assert (setting.owned("a"), setting.owned("b")) == ([0], [2])
    setting.sound()


def test_commit_compares_blocks_around_and_within() -> None:
    """GLeaf: a block is not free where a larger one around it, or a smaller in it, is held."""
    for first, second in ((4, 1), (1, 4)):
        setting = Setting(hosts=4)
        engine = setting.engine()
        engine.tick()
        engine.admit("a", str(first))
        engine.admit("b", str(second))
        rival = setting.engine()

        def of_b(setting: Setting = setting, rival: Engine = rival) -> object:
            return rival._planned(setting.view(), 1, Action.PLAN)

        outcome = late(engine, of_b)
        assert (outcome.job, outcome.fate) == ("a", Fate.ABORTED)
        assert setting.owned("a") == []
        setting.sound()


def test_commit_compares_the_heartbeats() -> None:
    """GLive: a host that died after the plan is not claimed, whether or not it was noted."""
    for noted in (False, True):
        setting = Setting(hosts=5)
        broken(setting, a=2)
        setting.engine().step()
        steps = [lambda s=setting: s.kill("h2")]
        if noted:
            steps.append(lambda s=setting: s.engine().step())
        outcome = late(setting.engine(), *steps)
        assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
        assert setting.epoch("a") == 1
        setting.sound()


@pytest.mark.parametrize("noted", [False, True])
def test_commit_compares_as_many_heartbeats_as_fit(noted: bool) -> None:
    """GLive: of a hundred hosts, in a transaction of 128 compares, each one."""
    setting = Setting(hosts=100)
    engine = setting.engine()
    engine.tick()
    assert setting.user.admit("a", "100")
    steps = [lambda: setting.kill("h40"), lambda: setting.engine().step()]
    outcome = late(engine, *steps[: 1 + noted])
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    setting.sound()


def many(setting: Setting) -> Engine:
    """An engine that is about to commit a job to 200 hosts."""
    engine = setting.engine()
    engine.tick()
    assert setting.user.admit("a", "200")
    return engine


def test_more_hosts_are_compared_by_block() -> None:
    """GLive: one that was noted as dead keeps the commit from being applied."""
    setting = Setting(hosts=200)
    engine = many(setting)
    outcome = late(engine, lambda: setting.kill("h40"), lambda: setting.engine().step())
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    setting.sound()


def test_a_death_among_more_hosts_that_nobody_noted() -> None:
    """It is claimed, noted next, and detected from Restore: an epoch, and nothing ran."""
    setting = Setting(hosts=200)
    engine = many(setting)
    outcome = late(engine, lambda: setting.kill("h40"))
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.APPLIED)
    assert setting.phase("a") == "RESTORE"
    report = engine.tick()
    assert told(report.outcomes) == ["FAIL applied", "DETECT applied"]
    assert report.waiting == {"a": "no_leaves"}
    setting.agents["h40"] = setting.agent("h40", "1")
    setting.beat()
    assert told(engine.tick().outcomes) == [
        *("HEAL applied", "COMMIT applied", "RESTORE applied"),
    ]
    setting.restored(engine, "a")
    assert setting.epoch("a") == 2
    setting.history.sound()


def test_commit_compares_the_verdicts() -> None:
    """F13: a host that came under a verdict after the plan is not claimed."""
    setting = Setting(hosts=5)
    broken(setting, a=2)
    setting.engine().step()
    outcome = late(setting.engine(), lambda: setting.user.suspect(["h2"], "ecc"))
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    setting.sound()


def test_a_drain_keeps_no_host_that_is_suspect_by_now() -> None:
    """F13: a drain of one host fails if another that it keeps came under a verdict."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    assert setting.user.suspect(["h0"], "ecc")
    outcome = late(setting.engine(), lambda: setting.user.suspect(["h1"], "ecc"))
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    setting.sound()


def test_seal_compares_the_phase() -> None:
    """GSealPhase: a seal that arrives while its job plans is refused."""
    setting = Setting(hosts=5)
    broken(setting, a=2)
    user = setting.user
    between(user, "prepared", lambda: setting.engine().step())
    assert user.seal("a", (1, 1), 20, "late").fate is Fate.STALE
    assert list(setting.job("a").seals) == [(0, 0), (1, 10)]
    assert user.seal("a", (1, 1), 20, "late").guard == "running"
    setting.sound()


def test_seal_compares_the_token() -> None:
    """GSealToken: a seal of epoch 1 is refused when the job runs in epoch 2."""
    setting = Setting(hosts=5)
    broken(setting, a=2)
    engine = setting.engine()
    engine.tick()
    setting.restored(engine, "a")
    assert setting.user.seal("a", (1, 1), 20, "zombie").guard == "token_current"
    assert list(setting.job("a").seals) == [(0, 0), (1, 10)]
    setting.sound()


def test_run_compares_the_epoch_record() -> None:
    """GRun: the word that epoch 2 may run arrives in epoch 3, and is void."""
    setting = Setting(hosts=6)
    broken(setting, a=2)
    setting.engine().tick()
    assert setting.user.loaded("a", (1, 2), (1, 10))

    def next_epoch() -> None:
        setting.kill("h1")
        setting.engine().tick()

    outcome = late(setting.engine(), next_epoch)
    assert (outcome.action, outcome.fate) == (Action.RUN, Fate.STALE)
    assert (setting.phase("a"), setting.epoch("a")) == ("RESTORE", 3)
    setting.sound()


def test_run_compares_that_nobody_died() -> None:
    """F3: a death that is noted after all have loaded keeps the job from running."""
    setting = Setting(hosts=6)
    broken(setting, a=2)
    setting.engine().tick()
    assert setting.user.loaded("a", (1, 2), (1, 10))

    def die() -> None:
        setting.kill("h1")
        setting.engine().step()

    outcome = late(setting.engine(), die)
    assert (outcome.action, outcome.fate) == (Action.RUN, Fate.ABORTED)
    assert setting.phase("a") == "RESTORE"
    setting.sound()


def test_detect_compares_the_epoch_record() -> None:
    """GDetect: an old detection does not send a job back that has a plan committed."""
    setting = Setting(hosts=6)
    broken(setting, a=2)

    def repair_and_break() -> None:
        second = setting.engine()
        second.tick()
        setting.restored(second, "a")
        setting.kill("h1")
        second.step()

    outcome = late(setting.engine(), repair_and_break)
    assert (outcome.action, outcome.fate) == (Action.DETECT, Fate.STALE)
    assert (setting.phase("a"), setting.epoch("a")) == ("RUN", 2)
    setting.sound()


def test_fail_compares_the_owners() -> None:
    """F12: a death that is noted while its host is claimed is lost to the new owner."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    engine.tick()
    assert setting.user.admit("a", "1")
    setting.kill("h2")
    rival = setting.engine()

    def claim() -> object:
        return rival._planned(setting.view(), 0, Action.PLAN)

    outcome = late(setting.engine(), claim)
    assert (outcome.action, outcome.fate) == (Action.FAIL, Fate.ABORTED)
    setting.sound()


def test_fail_compares_the_heartbeat() -> None:
    """F18: a host whose heartbeat is back when the death is noted is another incarnation."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    engine.tick()
    setting.kill("h2")
    outcome = late(engine, setting.beat)
    assert (outcome.action, outcome.fate) == (Action.FAIL, Fate.ABORTED)
    setting.sound()


def test_a_repair_that_begins_stops_what_is_no_repair() -> None:
    """F14: an admission that was planned before a death commits after it not at all."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.admit("b", "1")

    def die() -> None:
        setting.kill("h0")
        setting.engine().step()

    outcome = late(setting.engine(), die)
    assert (outcome.job, outcome.fate) == ("b", Fate.ABORTED)
    setting.sound()


def test_a_withdrawn_verdict_pins_the_leaf() -> None:
    """F1: a repair that gave up a suspect survivor fails when that is trusted again."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    setting.kill("h0")
    engine.step()
    engine.step()
    assert setting.user.suspect(["h1"], "ecc")

    class Leaving:
        """Gives up every leaf that it may."""

        def propose(self, ask: Ask) -> Proposal:
            """See :class:`RepairPlanner`."""
            return Proposal((2, 3), "2")

    leaving = setting.engine(planner=Leaving())
    outcome = late(leaving, lambda: setting.user.trust(["h1"]))
    assert (outcome.action, outcome.fate) == (Action.COMMIT, Fate.ABORTED)
    setting.sound()


def test_a_withdrawn_verdict_compares_its_host() -> None:
    """F12: a host that died meanwhile is not live again by the withdrawal."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    engine.tick()
    assert setting.user.suspect(["h2"], "ecc")

    def die() -> None:
        setting.kill("h2")
        engine.step()

    between(setting.user, "prepared", die)
    assert setting.user.trust(["h2"]).fate is Fate.ABORTED
    assert list(setting.view().hosts) == ["h0", "h1"]
    setting.user._hook = None
    assert setting.user.trust(["h2"])
    setting.sound()


def test_a_late_copy_of_a_verdict_does_not_outlive_its_withdrawal() -> None:
    """F13: a verdict that was sent twice is withdrawn once, and for good."""
    setting = Setting(hosts=3)
    setting.engine().tick()
    link = FaultyStore(setting.store, Listed({1: Fault(FaultKind.DUPLICATE, 9)}))
    user = Client(link, setting.layout, "operator", setting.clock)
    assert user.suspect(["h2"], "ecc")
    assert user.trust(["h2"])
    assert link.deliver() == 1
    assert setting.view().suspects == {}
    setting.sound()


def test_a_late_copy_of_a_seal_does_not_outlive_its_loss() -> None:
    """F5: a manifest that was found unreadable stays so when its seal arrives again."""
    setting = Setting(hosts=3)
    setting.running(setting.engine(), a=1)
    link = FaultyStore(setting.store, Listed({1: Fault(FaultKind.DUPLICATE, 9)}))
    worker = Client(link, setting.layout, "worker", setting.clock)
    assert worker.seal("a", (1, 1), 20, "shards")
    assert setting.user.lose("a", (1, 20))
    assert link.deliver() == 1
    assert list(setting.job("a").seals) == [(0, 0), (1, 10)]
    setting.sound()


def test_a_heartbeat_that_lands_late_is_kept_or_ended() -> None:
    """F18: the answer of a heartbeat is lost; what lands later is what is kept alive."""
    setting = Setting(hosts=1)
    setting.kill("h0")
    link = FaultyStore(setting.store, Listed({2: Fault(FaultKind.DELAY, 9)}))
    agent = HostAgent(link, setting.layout, "h0", setting.clock, TTL_S, "again")
    assert not agent.beat()
    assert agent.beat()
    link.deliver()
    for _ in range(4):
        setting.clock.advance(TTL_S - 1)
        assert agent.beat()
    assert list(setting.view().beats) == ["h0"]
    setting.sound()


def test_a_host_that_boots_within_its_lease_is_another_incarnation() -> None:
    """F12: its processes died, whether or not the heartbeat had time to end."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=1)
    agent = setting.agent("h0", "again")
    assert agent.beat()
    assert engine.tick().outcomes[0].action is Action.FAIL
    assert setting.epoch("a") == 2
    setting.sound()


def test_a_lost_manifest_compares_what_else_there_is() -> None:
    """F5: the loss of an epoch's only manifest fails if another is sealed meanwhile."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=1)
    user = setting.user
    between(user, "prepared", lambda: engine.seal("a", (1, 1), 20, "more"))
    assert user.lose("a", (1, 10)).fate is Fate.ABORTED
    assert user.lose("a", (1, 10))
    assert list(setting.job("a").seals) == [(0, 0), (1, 20)]
    setting.sound()


def test_a_lost_manifest_compares_that_its_epoch_keeps_one() -> None:
    """F5: one of two manifests is lost while the other is pruned: the first loss is late."""
    setting = Setting(hosts=4)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.seal("a", (1, 1), 20, "shards")
    setting.kill("h0")
    engine.tick()
    between(setting.user, "prepared", lambda: engine.prune("a", 1))
    assert setting.user.lose("a", (1, 20)).fate is Fate.ABORTED
    assert list(setting.job("a").seals) == [(0, 0), (1, 20)]
    setting.sound()


def test_a_fence_compares_its_blocks() -> None:
    """F11: a confirmation that arrives twice frees nothing of the next owner's."""
    setting = Setting(hosts=2)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.release("a")
    agent = setting.agents["h0"]

    def meanwhile() -> None:
        setting.user.fence("a", "h0", (1, 9))
        setting.running(engine, b=1)
        setting.user.release("b")

    between(agent, "prepared", meanwhile)
    assert agent.confirm("a", (1, 9)).fate is Fate.ABORTED
    assert setting.fenced("b") == [0]
    setting.sound()

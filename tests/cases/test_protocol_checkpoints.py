"""Scenarios 18 to 25 of the protocol's list: fences and checkpoints."""

from __future__ import annotations

import pytest

from phalanx_core.reformation import Client, Fate
from phalanx_core.reformation.codec import manifest_of, seal_key
from phalanx_core.reformation.stores import Fault, FaultKind, FaultyStore, Listed
from tests.cases.protocol_setting import Setting, between, told


def broken(setting: Setting, **sizes: int) -> None:
    """Jobs run, h0 died, and an engine has noted that."""
    engine = setting.engine()
    setting.running(engine, **(sizes or {"a": 2}))
    setting.kill("h0")
    assert told((engine.step(),)) == ["FAIL applied"]  # type: ignore[arg-type]


def test_18_a_zombie_seals_in_every_phase_of_the_next_epoch() -> None:
    """Restore, Run and Plan of epoch 2 all refuse the token of epoch 1."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    old = setting.job("a").token
    engine.tick()
    assert setting.phase("a") == "RESTORE"
    assert setting.user.seal("a", old, 50, "zombie").fate is Fate.REFUSED
    setting.restored(engine, "a")
    assert setting.user.seal("a", old, 50, "zombie").guard == "token_current"
    setting.kill("h1")
    engine.step()
    engine.step()
    assert setting.phase("a") == "PLAN"
    assert setting.user.seal("a", old, 50, "zombie").fate is Fate.REFUSED
    setting.sound()


@pytest.mark.parametrize("sealed_first", [True, False])
def test_19_a_seal_races_a_commit(sealed_first: bool) -> None:
    """Restore sees the manifest exactly if it was sealed first."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.suspect(["h0"], "ecc")
    token = setting.job("a").token
    sealed = []

    def seal() -> None:
        sealed.append(setting.user.seal("a", token, 77, "late").fate)

    between(engine, "prepared" if sealed_first else "answered", seal)
    engine.tick()
    assert sealed == [Fate.APPLIED if sealed_first else Fate.REFUSED]
    assert setting.job("a").record.base == ((1, 77) if sealed_first else (1, 10))
    setting.sound()


def test_20_a_survivor_seals_while_its_job_plans() -> None:
    """It is refused: in Plan the workers are to stop; a drain seals before it (F6)."""
    setting = Setting(hosts=5)
    broken(setting)
    token = setting.job("a").token
    setting.engine().step()
    assert setting.phase("a") == "PLAN"
    assert setting.user.seal("a", token, 11, "survivor").guard == "running"
    setting.sound()


def test_21_two_ranks_seal_one_step() -> None:
    """One manifest stands, and the other rank learns that."""
    setting = Setting()
    engine = setting.engine()
    setting.running(engine, a=1)
    first = setting.user.seal("a", (1, 1), 20, "hash 1")
    second = engine.seal("a", (1, 1), 20, "hash 2")
    assert (first.fate, second.fate) == (Fate.APPLIED, Fate.STALE)
    item = setting.store.get(seal_key("a", 1, 1, 20))
    assert item is not None
    assert manifest_of(item.value).content == "hash 1"
    setting.sound()


@pytest.mark.parametrize(
    ("lost", "base"),
    [
        ((), (1, 30)),
        (((1, 30),), (1, 20)),
        (((1, 30), (1, 20), (1, 10)), (0, 0)),
    ],
)
def test_22_manifests_cannot_be_read(
    lost: tuple[tuple[int, int], ...], base: tuple[int, int]
) -> None:
    """Restore goes on from the newest that can; without any, from the empty one (F5)."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    setting.running(engine, a=2)
    for step in (20, 30):
        assert setting.user.seal("a", (1, 1), step, "shards")
    setting.kill("h0")
    engine.tick()
    for manifest in lost:
        assert setting.job("a").record.base == manifest
        assert setting.user.lose("a", manifest)
        engine.tick()
    assert setting.job("a").record.base == base
    assert setting.user.lose("a", (0, 0)).guard == "losable"
    setting.restored(engine, "a")
    setting.sound()


def test_22_a_failure_before_the_first_checkpoint() -> None:
    """The job begins at step 0, from the manifest that its admission wrote."""
    setting = Setting(hosts=5)
    engine = setting.engine()
    engine.admit("a", "1")
    engine.tick()
    setting.restored(engine, "a")
    setting.kill("h0")
    engine.tick()
    assert setting.job("a").record.base == (0, 0)
    setting.restored(engine, "a")
    setting.sound()


def test_23_manifests_are_ordered_by_epoch_then_step() -> None:
    """After a fall-back, the larger step of an earlier epoch is not the newest (F7)."""
    setting = Setting(hosts=6)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.seal("a", (1, 1), 100, "abandoned")
    setting.kill("h0")
    engine.tick()
    assert setting.user.lose("a", (1, 100))
    setting.restored(engine, "a")
    assert setting.user.seal("a", (1, 2), 60, "shards")
    item = setting.store.get(seal_key("a", 1, 2, 60))
    assert item is not None
    assert manifest_of(item.value).parent == (1, 10)
    setting.kill("h1")
    engine.tick()
    assert setting.job("a").record.base == (2, 60)
    setting.sound()


def test_24_a_manifest_goes_while_restore_reads_it() -> None:
    """Who said that all had loaded must not run: Run needs the manifest to be there."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    engine.tick()
    job = setting.job("a")
    assert job.record.base == (1, 10)
    assert setting.user.loaded("a", job.token, (1, 10))
    between(engine, "prepared", lambda: setting.user.lose("a", (1, 10)))
    assert told(engine.tick().outcomes) == ["RUN aborted", "RESTORE applied"]
    assert setting.job("a").record.base == (0, 0)
    setting.sound()


def test_24_old_manifests_are_pruned() -> None:
    """The newest stay, and what the job loads; a prune whose witness went does nothing."""
    setting = Setting(hosts=6)
    engine = setting.engine()
    setting.running(engine, a=1)
    for step in (20, 30):
        assert setting.user.seal("a", (1, 1), step, "shards")
    setting.kill("h0")
    engine.tick()
    assert setting.job("a").record.base == (1, 30)
    setting.restored(engine, "a")
    for step in (40, 50):
        assert setting.user.seal("a", (1, 2), step, "shards")
    between(setting.user, "prepared", lambda: engine.lose("a", (2, 50)))
    assert setting.user.prune("a", 1) == 0
    setting.user._hook = None
    assert setting.user.prune("a", 1) == 2
    assert list(setting.job("a").seals) == [(0, 0), (1, 30), (2, 40)]
    assert setting.user.prune("a", 1) == 0
    with pytest.raises(ValueError, match="keep is 0"):
        setting.user.prune("a", 0)
    setting.sound()


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_24_a_prune_is_overtaken_by_a_repair(steps: int, late: bool) -> None:
    """DETECT, then COMMIT and RESTORE void it, before it arrives or after it was given up."""
    setting = Setting(hosts=5)
    broken(setting)
    engine = setting.engine()
    assert setting.user.seal("a", (1, 1), 20, "shards")
    way = FaultyStore(
        setting.store, Listed({1: Fault(FaultKind.DELAY, 9)} if late else {})
    )
    pruner = Client(way, setting.layout, "pruner", setting.clock)

    def repair() -> None:
        for _ in range(steps):
            engine.step()

    between(pruner, "answered" if late else "prepared", repair)
    assert pruner.prune("a", 1) == 0
    assert way.deliver() == late
    job = setting.job("a")
    assert list(job.seals) == [(0, 0), (1, 10), (1, 20)]
    assert job.record.phase.name == ("PLAN" if steps == 1 else "RESTORE")
    assert job.record.base == ((1, 20) if steps == 3 else None)
    # What it asked for still can be done, and the job goes on from the newest.
    assert pruner.prune("a", 1) == 1
    assert list(setting.job("a").seals) == [(0, 0), (1, 20)]
    engine.tick()
    assert setting.job("a").record.base == (1, 20)
    setting.restored(engine, "a")
    setting.sound()


def test_25_a_freed_leaf_is_claimable_when_its_agent_confirms() -> None:
    """Until then it is fenced; an agent that never answers keeps it so (F11)."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=2)
    assert setting.user.release("a")
    assert engine.admit("b", "2")
    assert engine.tick().waiting == {"b": "no_leaves"}
    assert setting.confirmed("h0", "a")
    report = engine.tick()
    assert report.waiting == {}
    assert setting.owned("b") == [0, 2]
    # A dead host confirms nothing; its next start is the proof.
    setting.kill("h1")
    engine.tick()
    assert setting.confirmed("h1", "a").guard == "leaves_live"
    setting.agents["h1"] = setting.agent("h1", "second")
    setting.beat()
    engine.tick()
    assert setting.confirmed("h1", "a")
    assert setting.fenced("a") == []
    setting.sound()


def test_a_prune_forgets_nobody_s_loading() -> None:
    """Workers that have loaded run, though an older manifest is forgotten meanwhile."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=1)
    for step in (20, 30):
        assert setting.user.seal("a", (1, 1), step, "shards")
    setting.kill("h0")
    engine.tick()
    assert setting.user.loaded("a", (1, 2), (1, 30))
    assert setting.user.prune("a", 2) == 1
    engine.tick()
    assert setting.phase("a") == "RUN"
    setting.sound()


def test_what_a_job_went_on_from_stays_told() -> None:
    """A manifest that is lost while the job runs is still the parent of its seals."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.running(engine, a=1)
    assert setting.user.seal("a", (1, 1), 20, "shards")
    setting.kill("h0")
    engine.tick()
    setting.restored(engine, "a")
    assert setting.user.lose("a", (1, 20))
    assert setting.job("a").record.base == (1, 20)
    assert setting.user.seal("a", (1, 2), 30, "shards")
    item = setting.store.get(seal_key("a", 1, 2, 30))
    assert item is not None
    assert manifest_of(item.value).parent == (1, 20)
    setting.sound()


def test_a_confirmation_is_of_what_was_looked_for() -> None:
    """F11: a leaf that is given up after the agent looked stays fenced."""
    setting = Setting(hosts=3, per_host=2)
    engine = setting.engine()
    setting.running(engine, a=3)
    for size in ("2", "3"):
        assert engine.resize("a", size)
        engine.tick()
        setting.restored(engine, "a")
    assert (setting.owned("a"), setting.fenced("a")) == ([0, 1, 3], [2])
    [found] = setting.agents["h1"].fences()
    assert (found.uid, found.epoch) == (1, 1)
    assert engine.resize("a", "2")
    assert setting.fenced("a") == [2, 3]
    assert setting.agents["h1"].confirm("a", (found.uid, found.epoch))
    assert setting.fenced("a") == [3]
    assert setting.confirmed("h1", "a")
    assert setting.fenced("a") == []
    setting.sound()

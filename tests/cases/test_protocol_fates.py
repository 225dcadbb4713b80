"""What a client is told of a transaction that was sent twice, or whose answer was lost."""

from __future__ import annotations

from phalanx_core.reformation import Action, Client, Fate
from phalanx_core.reformation.stores import Fault, FaultKind, FaultyStore, Listed
from tests.cases.protocol_setting import Setting, between, late, link


def test_a_copy_of_an_aborted_death_may_be_right_later() -> None:
    """What the network sent twice is told by its answer, at the revision of that.

    The heartbeat was back when the death arrived first, and is gone again when the copy
    does: it is applied then, as a transaction sent at that moment would be.
    """
    setting = Setting(hosts=3)
    engine = setting.engine(Listed({1: Fault(FaultKind.DUPLICATE, 99)}))
    setting.engine().tick()
    setting.kill("h2")
    outcome = late(engine, setting.beat)
    assert (outcome.action, outcome.fate) == (Action.FAIL, Fate.ABORTED)
    assert "h2" in setting.view().hosts
    assert outcome.revision == setting.view().revision
    setting.kill("h2")
    assert link(engine).deliver() == 1
    assert "h2" not in setting.view().hosts
    setting.auditor.poll()
    assert setting.auditor.applied_at(outcome.nonce) > outcome.revision
    setting.sound()


def outrun(setting: Setting) -> Client:
    """A client whose first answer is lost, and whose job ends before it reads back."""

    def script(call: int, method: str) -> Fault | None:
        if method == "get" and setting.phase("a") != "GONE":
            assert setting.user.release("a")
        return Fault(FaultKind.LOSE_ANSWER) if call == 1 else None

    link = FaultyStore(setting.store, script)
    return Client(link, setting.layout, "worker", setting.clock)


def test_a_seal_of_a_job_that_ended_before_its_answer() -> None:
    """It was applied, its manifest is gone with the job, and so it is no abort."""
    setting = Setting(hosts=3)
    setting.running(setting.engine(), a=2)
    outcome = outrun(setting).seal("a", setting.job("a").token, 20, "shards")
    assert (outcome.fate, outcome.guard) == (Fate.STALE, "no_answer")
    setting.auditor.poll()
    assert setting.auditor.applied_at(outcome.nonce) > 0
    setting.sound()


def test_an_admission_of_a_job_that_ended_before_its_answer() -> None:
    """The same of the empty manifest, which tells of an admission."""
    setting = Setting(hosts=3)
    outcome = outrun(setting).admit("a", "1")
    assert outcome.fate is Fate.STALE
    setting.auditor.poll()
    assert setting.auditor.applied_at(outcome.nonce) > 0
    setting.sound()


def test_a_loss_in_a_job_that_ended_is_stale() -> None:
    """A transition without a marker is told by the job's record."""
    setting = Setting(hosts=3)
    setting.running(setting.engine(), a=1)
    assert setting.user.seal("a", (1, 1), 20, "shards")
    other = setting.engine()
    between(setting.user, "prepared", lambda: other.release("a"))
    outcome = setting.user.lose("a", (1, 10))
    assert (outcome.action, outcome.fate) == (Action.LOSE, Fate.STALE)
    setting.sound()


def test_a_death_that_lands_after_a_commit_of_the_same_leaves() -> None:
    """It is told to the job, though the host had died under it before (F12)."""
    setting = Setting(hosts=201)
    first, second = setting.engine(), setting.engine()
    setting.running(first, a=200)
    setting.kill("h0")
    setting.engine(steps_max=2).tick()
    setting.agents["h0"] = setting.agent("h0", "1")
    setting.beat()
    setting.engine(steps_max=1).tick()
    assert setting.job("a").lost == ["h0"]

    def script(call: int, method: str) -> Fault | None:
        late = method == "transaction" and call < 3
        return (
            Fault(FaultKind.DELAY if late else FaultKind.REFUSE, 99) if call else None
        )

    second.store = FaultyStore(setting.store, script)
    commit = second.step()
    assert commit is not None
    assert (commit.action, commit.fate) == (Action.COMMIT, Fate.UNKNOWN)
    setting.kill("h0")
    between(first, "prepared", link(second).deliver)
    death = first.step()
    assert death is not None
    assert (death.action, death.fate) == (Action.FAIL, Fate.APPLIED)
    assert (setting.phase("a"), setting.epoch("a")) == ("RESTORE", 2)
    assert setting.job("a").lost == ["h0"]
    setting.engine().tick()
    assert setting.epoch("a") == 3
    setting.history.sound()

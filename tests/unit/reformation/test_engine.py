"""The engine's calls, its options and who leads: cases with literal outcomes."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.reformation import (
    Action,
    Client,
    Damping,
    Engine,
    EngineOptions,
    Fate,
    FirstFree,
    HostAgent,
    Layout,
    Proposal,
    agents,
)
from phalanx_core.reformation.stores import (
    Fault,
    FaultKind,
    FaultyStore,
    MemoryStore,
    Unavailable,
    VirtualClock,
)
from tests.cases.protocol_setting import Setting, told


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lead_s", 0.0),
        ("lead_s", float("nan")),
        ("misses_max", 0),
        ("steps_max", 1.5),
        ("repairs_max", 0),
        ("repairs_max", True),
    ],
)
def test_bad_options_are_named(name: str, value: Any) -> None:
    """The option, its value and the rule."""
    with pytest.raises(InvalidRequest, match=name):
        EngineOptions(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("hosts", -1), ("wait_s", float("inf"))])
def test_bad_damping_is_named(name: str, value: Any) -> None:
    """The field, its value and the rule."""
    with pytest.raises(InvalidRequest, match=name):
        Damping(**{name: value})
    assert Damping(wait_s=Fraction(1, 2)).wait_s == 0.5  # type: ignore[arg-type]


def test_what_nobody_has_is_named() -> None:
    """Jobs and hosts that there are none of, and names that are none."""
    setting = Setting()
    engine = setting.engine()
    for call in (
        lambda: engine.release("a"),
        lambda: engine.resize("a", "2"),
        lambda: engine.seal("a", (1, 1), 0, ""),
        lambda: engine.lose("a", (0, 0)),
        lambda: engine.loaded("a", (1, 1), (0, 0)),
        lambda: engine.fence("a", "h0", (1, 1)),
    ):
        with pytest.raises(UnknownJob, match="'a'"):
            call()
    for call in (
        lambda: engine.suspect(["h9"], "odd"),
        lambda: engine.trust(["h9"]),
        lambda: setting.agent("h9"),
        lambda: engine.admit("", "1"),
        lambda: Client(setting.store, setting.layout, "", setting.clock),
    ):
        with pytest.raises(InvalidRequest):
            call()
    setting.running(engine, a=1)
    with pytest.raises(InvalidRequest, match="step is -1"):
        engine.seal("a", (1, 1), -1, "")
    assert len(setting.view().jobs) == 1
    setting.sound()


def test_a_job_is_admitted_once() -> None:
    """A second admission of a job that is there is refused by its guard."""
    setting = Setting()
    engine = setting.engine()
    assert engine.admit("a", "1").fate is Fate.APPLIED
    again = engine.admit("a", "1")
    assert (again.fate, again.guard, again.action) == (
        Fate.REFUSED,
        "job_gone",
        Action.ADMIT,
    )
    assert not again
    setting.sound()


def test_names_of_any_characters() -> None:
    """A name is quoted wherever it is part of a key."""
    setting = Setting()
    engine = setting.engine()
    name = "team a/llama 3:7%\n\u00e9"
    setting.running(engine, **{name: 2})
    setting.kill("h0")
    engine.tick()
    assert setting.epoch(name) == 2
    assert setting.view().job(name).seals.keys() == {(0, 0), (1, 10)}
    setting.sound()


def test_one_engine_leads_at_a_time() -> None:
    """The other waits, and takes over when the lease ends; the first then stands back."""
    setting = Setting()
    first = setting.engine(lead=True, lead_s=3.0)
    second = setting.engine(lead=True, lead_s=3.0)
    leads = []
    for second_s in range(8):
        if second_s < 3 or second_s > 6:
            leads.append(("first", first.tick().leads))
        leads.append(("second", second.tick().leads))
        setting.clock.advance(1.0)
    assert leads == [
        *(("first", True), ("second", False)) * 3,
        ("second", False),
        ("second", False),
        ("second", True),
        ("second", True),
        ("first", False),
        ("second", True),
    ]
    setting.sound()


def test_a_tick_of_a_store_out_of_reach_is_empty() -> None:
    """No error passes through, and nothing is wanted of nobody."""
    clock = VirtualClock()
    store = MemoryStore(clock)
    engine = Engine(store, Layout([("h0", 1)]), FirstFree(), "e", clock)
    store.close()
    report = engine.tick()
    assert report[:-1] == (False, (), {}, None, 0, {})
    assert str(report.error) == "the store is closed"
    with pytest.raises(Unavailable):
        engine.step()


@pytest.mark.parametrize("ranks", [(9,), (-1,), (0, 0), (), (1, 2, 3)])
def test_a_planner_that_is_wrong_is_refused(ranks: tuple[int, ...]) -> None:
    """Leaves that do not exist, twice one, none, or a dead one: the job waits."""

    class Wrong:
        """Always proposes the same."""

        def propose(self, ask: object) -> Proposal:
            """See :class:`RepairPlanner`."""
            return Proposal(ranks, "1")

    setting = Setting(hosts=4)
    setting.kill("h3")
    engine = setting.engine(planner=Wrong())
    assert engine.admit("a", "1")
    assert engine.tick().waiting == {"a": "plan_bounds"}
    assert setting.owned("a") == []
    setting.sound()


@pytest.mark.parametrize("shrink", [False, True])
@pytest.mark.parametrize("request_text", ["9" * 30, "9" * 4000])
def test_a_request_for_more_than_there_is_waits(
    request_text: str, shrink: bool
) -> None:
    """However many: it is a size like any other, and costs no more."""
    setting = Setting()
    engine = setting.engine(planner=FirstFree(shrink=shrink))
    assert engine.admit("a", request_text)
    assert engine.admit("b", "2")
    assert engine.tick().waiting == {"a": "no_leaves"}
    assert setting.owned("b") == [0, 1]
    setting.sound()


@pytest.mark.parametrize("request_text", ["", "many", "0", "-3", "9" * 5000])
def test_a_request_that_is_none_keeps_nobody_waiting(request_text: str) -> None:
    """The job waits with that reason, and the next one runs."""
    setting = Setting()
    engine = setting.engine()
    assert engine.admit("a", request_text)
    assert engine.admit("b", "2")
    report = engine.tick()
    assert report.waiting == {"a": "bad_request"}
    assert setting.owned("b") == [0, 1]
    assert engine.resize("a", "1").guard == "running_whole"
    setting.restored(engine, "b")
    assert engine.resize("b", request_text).guard == "bad_request"
    setting.sound()


def test_ticks_are_bounded() -> None:
    """So many transitions in a tick, and no more."""
    setting = Setting()
    engine = setting.engine(steps_max=1)
    assert engine.admit("a", "1")
    assert [told(engine.tick().outcomes) for _ in range(4)] == [
        ["HEAL applied"],
        ["COMMIT applied"],
        ["RESTORE applied"],
        [],
    ]
    setting.sound()


def test_hosts_that_break_many_jobs_die_one_by_one() -> None:
    """Where one transaction cannot hold what two deaths break, each has its own."""
    setting = Setting(hosts=3, per_host=8, operations_max=16)
    engine = setting.engine()
    for at in range(16):
        assert engine.admit(f"j{at:02}", "1")
    engine.tick()
    setting.kill("h0", "h1")
    outcomes = told(engine.tick().outcomes)
    assert outcomes[:3] == ["FAIL applied", "FAIL applied", "DETECT applied"]
    assert len(setting.view().hosts) == 1
    setting.sound()


def test_many_hosts_come_in_parts_of_one_view() -> None:
    """A hundred returns are four transactions of as many as the store takes."""
    setting = Setting(hosts=100)
    assert told(setting.engine().tick().outcomes) == ["HEAL applied"] * 4
    assert len(setting.view().hosts) == 100
    setting.sound()


def test_an_agent_says_what_it_is_to_end() -> None:
    """Tokens that are fenced on its host, and no others."""
    setting = Setting(hosts=3)
    setting.running(setting.engine(), a=2)
    assert setting.user.release("a")
    fences = [setting.agents[h].fences() for h in setting.layout.hosts]
    assert [[(f.job, f.uid, f.epoch) for f in one] for one in fences] == [
        [("a", 1, 1)],
        [("a", 1, 1)],
        [],
    ]
    assert setting.confirmed("h0", "a")
    assert setting.fenced("a") == [1]
    assert setting.confirmed("h0", "a").guard == "leaves_fenced"
    setting.sound()


def test_an_agent_begins_anew_when_its_heartbeat_ended() -> None:
    """Under another incarnation, which is a revision of the store."""
    clock = VirtualClock()
    store = MemoryStore(clock)
    layout = Layout([("h0", 1)])
    agent = HostAgent(store, layout, "h0", clock, 2.0)
    assert agent.beat()
    clock.advance(1.9)
    assert agent.beat()
    first = agent.observe().beats["h0"].incarnation
    clock.advance(2.0)
    assert agent.beat()
    assert agent.observe().beats["h0"].incarnation > first
    store.close()
    assert not agent.beat()


def test_an_agent_that_starts_again_is_no_reboot() -> None:
    """By the kernel's boot id it goes on; with another boot it is another incarnation."""
    clock, layout = VirtualClock(), Layout([("h0", 1)])
    store = MemoryStore(clock)
    incarnations = []
    for boot in (None, None, "another"):
        agent = HostAgent(store, layout, "h0", clock, 2.0, boot)
        assert agent.beat()
        incarnations.append(agent.observe().beats["h0"].incarnation)
    assert incarnations[0] == incarnations[1] < incarnations[2]


def test_an_agent_s_options_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value and the rule; a system without a boot id needs one."""
    setting = Setting()
    made = (setting.store, setting.layout, "h0", setting.clock)
    for ttl_s in (0.0, float("nan"), "5"):
        with pytest.raises(InvalidRequest, match="ttl_s is"):
            HostAgent(*made, ttl_s)  # type: ignore[arg-type]
    monkeypatch.setattr(agents, "BOOT_ID", Path("/none"))
    with pytest.raises(InvalidRequest, match="boot is None"):
        HostAgent(*made, 5.0)
    setting.sound()


WRONG_CALLS = {
    "job is 5": lambda engine: engine.admit(5, "1"),
    "request is b'2'": lambda engine: engine.admit("b", b"2"),
    "request is None": lambda engine: engine.admit("b", None),
    "half a character": lambda engine: engine.admit("\ud800", "1"),
    "token is None": lambda engine: engine.seal("a", None, 1, ""),
    "token is (1,)": lambda engine: engine.seal("a", (1,), 1, ""),
    "token is ('1', '1')": lambda engine: engine.seal("a", ("1", "1"), 1, ""),
    "step is a int of many": lambda engine: engine.seal("a", (1, 1), 10**5000, ""),
    "step is 1" + "0" * 20: lambda engine: engine.seal("a", (1, 1), 10**20, ""),
    "content is b'x'": lambda engine: engine.seal("a", (1, 1), 1, b"x"),
    "manifest is None": lambda engine: engine.lose("a", None),
    "manifest is (1, None)": lambda engine: engine.lose("a", (1, None)),
    "base is 7": lambda engine: engine.loaded("a", (1, 1), 7),
    "uid is '1'": lambda engine: engine.release("a", "1"),
    "hosts is None": lambda engine: engine.suspect(None, "r"),
    "hosts is 'h1'": lambda engine: engine.trust("h1"),
    "reason is None": lambda engine: engine.suspect(["h2"], None),
}


@pytest.mark.parametrize("message", WRONG_CALLS)
def test_wrong_arguments_are_named(message: str) -> None:
    """One exception with the argument, its value and the rule; nothing was written."""
    setting = Setting()
    engine = setting.engine()
    setting.running(engine, a=1)
    revision = setting.view().revision
    with pytest.raises(InvalidRequest, match=re.escape(message)):
        WRONG_CALLS[message](engine)
    assert setting.view().revision == revision
    setting.sound()


def test_a_verdict_names_what_keeps_it() -> None:
    """A host that is dead, or that has a verdict already."""
    setting = Setting(hosts=3)
    engine = setting.engine()
    setting.kill("h2")
    engine.tick()
    assert engine.suspect(["h0"], "ecc")
    assert engine.suspect(["h1", "h2"], "ecc").guard == "leaves_live"
    assert engine.suspect(["h0", "h1"], "ecc").guard == "leaves_trusted"
    assert engine.trust(["h1"]).guard == "leaves_suspect"
    setting.sound()


@pytest.mark.parametrize(("life", "fate"), [(None, Fate.UNKNOWN), ("", Fate.APPLIED)])
def test_the_next_life_of_a_name_knows_its_own(life: str | None, fate: Fate) -> None:
    """What is lost is not taken for what the last life sent, as it is without lives."""
    setting = Setting(hosts=3)
    given = (setting.layout, FirstFree(), "engine", setting.clock)
    first = Engine(setting.store, *given, life=life)
    setting.running(first, a=1)
    number = int(setting.job("a").record.nonce.rpartition(":")[2])

    def script(call: int, method: str) -> Fault | None:
        lost = method == "transaction" and second._sent == number
        return Fault(FaultKind.LOSE_REQUEST) if lost else None

    second = Engine(FaultyStore(setting.store, script), *given, life=life)
    for _ in range(number - 1):
        second.trust(["h1"])
    assert second.release("a").fate is fate
    assert setting.phase("a") == "RUN"
    setting.sound()


def test_what_waits_says_why() -> None:
    """The guard in a word, and numbers in a sentence; of hosts too."""
    setting = Setting(hosts=2, per_host=20, operations_max=16)
    engine = setting.engine()
    for at in range(14):
        assert engine.admit(f"j{at:02}", "1")
    assert engine.admit("more", "30")
    report = engine.tick()
    assert report.waiting == {"more": "no_leaves"}
    assert report.details == {"more": "wants 30 leaves, and there are 26 for it"}
    setting.kill("h0")
    report = engine.tick()
    assert report.outcomes == ()
    assert report.details["host h0"] == (
        "its transaction has 18 operations, and the store takes 16 in a list: see Limits"
    )
    setting.sound()

"""The same story on every store; on SQLite also with a second replica in a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from phalanx_core.placement import Gang
from phalanx_core.reformation import (
    HARDENED,
    Ask,
    Engine,
    EngineOptions,
    FirstFree,
    HostAgent,
    Layout,
    Phase,
    Proposal,
)
from phalanx_core.reformation.guards import plan_bounds
from phalanx_core.reformation.history import records_from_dict, records_to_dict
from phalanx_core.reformation.reports import wanted_of
from phalanx_core.reformation.stores import (
    MemoryStore,
    SqliteStore,
    Store,
    VirtualClock,
)
from phalanx_core.scheduling.proposing import PlannerProposals, request_of
from phalanx_core.topology import Topology
from tests.cases.judged_history import JudgedHistory

HOSTS = [(f"h{at}", 2) for at in range(4)]
ROOT = Path(__file__).resolve().parents[3]
REPLICA = """
import sys, time
from phalanx_core.reformation import Engine, EngineOptions, FirstFree, Layout
from phalanx_core.reformation.stores import SqliteStore
layout = Layout([(f"h{at}", 2) for at in range(4)])
store = SqliteStore(sys.argv[1])
options = EngineOptions(lead=False)
engine = Engine(store, layout, FirstFree(), sys.argv[2], time.time, options)
until = time.monotonic() + float(sys.argv[3])
print("ready", flush=True)
while time.monotonic() < until:
    for one in engine.tick().outcomes:
        print(one.action.name, one.fate.value, flush=True)
    time.sleep(0.002)
"""

WORKING = """
import sys
from phalanx_core.placement import Gang
from phalanx_core.scheduling.proposing import request_of
from tests.unit.reformation.test_engine_stores import planning
engine = planning(sys.argv[1], "killed")
for at in range(10**9):
    engine.admit(f"j{at % 5}", request_of(Gang(2)))
    for want in engine.tick().wanted or ():
        if want.base is not None:
            engine.loaded(want.job, (want.uid, want.epoch), want.base)
    for want in engine.tick().wanted or ():
        engine.seal(want.job, (want.uid, want.epoch), at, "shards")
    if at > 1:
        ends = f"j{(at - 2) % 5}"
        engine.release(ends)
        for host in engine.layout.hosts:
            engine.fence(ends, host, (10**9, 0))
    print(at, flush=True)
"""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind, whose leases end by a clock that stands still."""
    clock = VirtualClock()
    made: Store = (
        MemoryStore(clock)
        if request.param == "memory"
        else SqliteStore(tmp_path / "store.db", clock)
    )
    yield made
    made.close()


def begun(store: Store, layout: Layout, name: str = "first") -> Engine:
    """An engine, and heartbeats of all hosts."""
    clock = VirtualClock()
    for host in layout.hosts:
        assert HostAgent(store, layout, host, clock, 60.0).beat()
    return Engine(store, layout, FirstFree(), name, clock, EngineOptions(lead=False))


def planning(path: str | Path, name: str) -> Engine:
    """An engine on a file, with the planner and a handle of its own."""
    proposals = PlannerProposals(Topology.from_spec("pod:2 host:4 gpu:2"))
    options = EngineOptions(lead=False)
    store = SqliteStore(path)
    return Engine(store, proposals.layout, proposals, name, time.time, options)


def proposals_of(engine: Engine) -> dict[str, Proposal | None]:
    """What an engine would propose for each job that waits for leaves now."""
    records, found = engine.observe().records, {}
    for index, job in enumerate(engine.observe().jobs):
        if job.record.phase == Phase.PLAN:
            must, may = plan_bounds(records, index, HARDENED)
            asked = (job.record.cause, job.record.request, job.record.ranks)
            found[job.name] = engine.planner.propose(Ask(job.name, *asked, must, may))
    return found


def to_run(engine: Engine, job: str) -> None:
    """A job's workers load, and it runs."""
    engine.tick()
    found = engine.observe().job(job)
    assert found.record.base is not None
    assert engine.loaded(job, found.token, found.record.base)
    engine.tick()
    assert engine.observe().job(job).record.phase == Phase.RUN


def test_a_failure_is_repaired(store: Store) -> None:
    """Admit, run, seal, lose a host, repair, restore the seal, run: and the history of it."""
    layout = Layout(HOSTS)
    engine = begun(store, layout)
    engine.observe()
    history = JudgedHistory(store, layout)
    assert engine.admit("a", "3")
    to_run(engine, "a")
    assert engine.seal("a", (1, 1), 100, "shards")
    heartbeat = store.get(b"phalanx/heartbeat/h0")
    assert heartbeat is not None
    store.revoke(heartbeat.lease)
    report = engine.tick()
    assert report.wanted[0].ranks == (3, 4, 2)
    assert report.wanted[0].base == (1, 100)
    to_run(engine, "a")
    history.sound()
    assert [json.loads(line).get("action") for line in history.lines()] == [
        None,
        *("ADMIT", "HEAL", "PLAN", "COMMIT", "RESTORE", "RUN", "SEAL"),
        *("FAIL", "DETECT", "PLAN", "COMMIT", "RESTORE", "RUN"),
    ]


def test_a_restart_knows_everything(store: Store) -> None:
    """An engine that begins finds the records, the ranks and what should run as they were."""
    layout = Layout(HOSTS)
    engine = begun(store, layout)
    engine.observe()
    history = JudgedHistory(store, layout)
    assert engine.admit("a", "3")
    assert engine.admit("b", "2")
    to_run(engine, "a")
    to_run(engine, "b")
    assert engine.suspect(["h0"], "ecc")
    assert engine.release("b")
    last = engine.tick()
    second = Engine(
        store,
        Layout(HOSTS),
        FirstFree(),
        "second",
        VirtualClock(),
        EngineOptions(lead=False),
    )
    report = second.tick()
    assert report.wanted == last.wanted
    assert report.waiting == last.waiting
    records = second.observe().records
    assert records == engine.observe().records
    assert records_from_dict(records_to_dict(records)) == records
    history.sound()


def test_replicas_in_two_processes(tmp_path: Path) -> None:
    """Both act on one file at once; each epoch step is taken once, and all jobs run."""
    path = tmp_path / "store.db"
    layout = Layout(HOSTS)
    store = SqliteStore(path)
    clock = time.time
    agents = [HostAgent(store, layout, host, clock, 60.0) for host in layout.hosts]
    for agent in agents:
        assert agent.beat()
    engine = Engine(
        store, layout, FirstFree(), "here", clock, EngineOptions(lead=False)
    )
    engine.observe()
    history = JudgedHistory(store, layout)
    other = subprocess.Popen(
        [sys.executable, "-c", REPLICA, str(path), "there", "2.5"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "ready\n"
    until = time.monotonic() + 2.0
    steps = 0
    while time.monotonic() < until:
        steps += 1
        name = f"j{steps % 3}"
        view = engine.observe()
        there = {job.name for job in view.jobs if job.record.phase != Phase.GONE}
        if name not in there:
            engine.admit(name, "2")
        elif steps % 7 == 0:
            engine.release(name)
        engine.tick()
        for want in engine.tick().wanted or ():
            if want.phase == Phase.RESTORE and want.base:
                engine.loaded(want.job, (want.uid, want.epoch), want.base)
        for agent in agents:
            for holding in agent.fences():
                agent.confirm(holding.job, (holding.uid, holding.epoch))
    # A host that boots anew is left to the other, however seldom that had its turn.
    assert HostAgent(store, layout, "h0", clock, 60.0, "again").beat()
    told_there = other.communicate(timeout=30)[0]
    assert other.returncode == 0
    history.sound()
    assert len(history.lines()) > 50
    assert "FAIL applied" in told_there
    store.close()


@pytest.mark.parametrize("rounds", [1, 4])
def test_an_engine_is_killed_at_work(tmp_path: Path, rounds: int) -> None:
    """Who opens its file next knows all that one knows who had it open, and proposes the same."""
    path = tmp_path / "store.db"
    stayed = planning(path, "stayed")
    for host in stayed.layout.hosts:
        assert HostAgent(stayed.store, stayed.layout, host, time.time, 60.0).beat()
    stayed.observe()
    history = JudgedHistory(stayed.store, stayed.layout)
    command = [sys.executable, "-c", WORKING, str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        try:
            told = [killed.stdout.readline() for _ in range(rounds)]
        finally:
            killed.kill()
    assert told == [f"{at}\n" for at in range(rounds)]
    assert killed.returncode == -signal.SIGKILL
    assert stayed.admit("next", request_of(Gang(4, within="pod")))
    begun = planning(path, "begun")
    assert begun.observe().records == stayed.observe().records
    assert wanted_of(begun.observe()) == wanted_of(stayed.observe())
    assert proposals_of(begun) == proposals_of(stayed)
    assert proposals_of(begun)["next"] is not None
    history.sound()
    report = begun.tick()
    assert report.waiting == {}
    assert report.wanted == stayed.tick().wanted
    assert begun.observe().job("next").record.phase == Phase.RESTORE
    history.sound()
    begun.store.close()
    stayed.store.close()

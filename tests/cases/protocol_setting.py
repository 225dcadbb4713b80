"""A store in memory, hosts that beat and engines, for scenarios of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from phalanx_core.reformation import (
    Client,
    Engine,
    EngineOptions,
    FirstFree,
    HostAgent,
    Layout,
    Outcome,
    Phase,
    RepairPlanner,
    View,
)
from phalanx_core.reformation.codec import LOG
from phalanx_core.reformation.observing import JobView, observe
from phalanx_core.reformation.records import leaves_of
from phalanx_core.reformation.stores import (
    FaultyStore,
    Items,
    Limits,
    Listed,
    MemoryStore,
    Put,
    Script,
    Store,
    TransactionResult,
    VirtualClock,
    Where,
)
from tests.cases.judged_history import JudgedHistory
from tests.properties.protocol_audit import Auditor

TTL_S = 5.0


class Crash(Exception):
    """The end of an engine's process."""


class Noted:
    """A store, the transactions that are sent to it, and the revisions it is asked for."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.sent: list[tuple[Sequence[Any], ...]] = []
        self.read: list[int] = []

    def transaction(self, *lists: Sequence[Any]) -> TransactionResult:
        """See :meth:`Store.transaction`."""
        self.sent.append(lists)
        return self.store.transaction(*lists)

    def range(self, where: Where, revision: int = 0) -> Items:
        """See :meth:`Store.range`."""
        self.read.append(revision)
        return self.store.range(where, revision)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def nonces(self) -> list[str]:
        """Of the transitions that were sent, in order."""
        return [
            json.loads(put.value)["nonce"]
            for _, then, *_ in self.sent
            for put in then
            if isinstance(put, Put) and put.key == LOG
        ]


class Setting:
    """So many hosts h0, h1, ... of so many leaves, all beating; nothing runs yet."""

    def __init__(
        self,
        hosts: int = 5,
        per_host: int = 1,
        operations_max: int = 128,
        request_bytes: int = 1_572_864,
    ) -> None:
        self.clock = VirtualClock()
        limits = Limits(operations_max, request_bytes)
        self.store = MemoryStore(self.clock, limits)
        self.layout = Layout([(f"h{at}", per_host) for at in range(hosts)])
        self.agents = {h: self.agent(h) for h in self.layout.hosts}
        self.beat()
        self.user = Client(self.store, self.layout, "user", self.clock)
        self.user.observe()
        self.history = JudgedHistory(self.store, self.layout)
        leaves = {h: leaves_of(self.layout.host_mask(h)) for h in self.layout.hosts}
        self.auditor = Auditor(self.store, leaves, {})
        self.count = 0

    def agent(self, host: str, boot: str = "0") -> HostAgent:
        """The agent of one start of a host."""
        return HostAgent(self.store, self.layout, host, self.clock, TTL_S, boot)

    def beat(self) -> None:
        """All heartbeats are kept."""
        for agent in self.agents.values():
            agent.beat()

    def engine(
        self,
        script: Script | None = None,
        planner: RepairPlanner | None = None,
        **options: Any,
    ) -> Engine:
        """An engine of its own name, behind a link with such faults."""
        self.count += 1
        return Engine(
            FaultyStore(self.store, script or Listed({})),
            self.layout,
            planner or FirstFree(),
            f"engine {self.count}",
            self.clock,
            EngineOptions(**{"lead": False, **options}),
            life="",
        )

    def running(self, engine: Engine, **sizes: int) -> None:
        """Jobs of such sizes are admitted and run, each with step 10 sealed."""
        for name, size in sizes.items():
            assert engine.admit(name, str(size))
            engine.tick()
            self.restored(engine, name)
            assert self.user.seal(name, self.job(name).token, 10, "shards")

    def restored(self, engine: Engine, name: str) -> None:
        """The workers of a job that restores have loaded, and it runs."""
        job = self.job(name)
        assert job.record.phase == Phase.RESTORE
        assert job.record.base is not None
        assert self.user.loaded(name, job.token, job.record.base)
        engine.tick()
        assert self.phase(name) == "RUN"

    def kill(self, *hosts: str) -> None:
        """Heartbeats end now."""
        for host in hosts:
            self.store.revoke(self.agents[host]._lease)
            self.agents[host]._lease = 0

    def confirm(self, name: str) -> None:
        """The agents of all live hosts confirm that nothing old of a job runs."""
        for host in self.view().hosts:
            self.confirmed(host, name)

    def confirmed(self, host: str, name: str) -> Outcome:
        """An agent confirms what is fenced on its host now."""
        agent = self.agents[host]
        tokens = [(f.uid, f.epoch) for f in agent.fences() if f.job == name]
        return agent.confirm(name, max(tokens, default=(0, 0)))

    def view(self) -> View:
        """What the store holds."""
        return observe(self.store, self.layout)

    def job(self, name: str) -> JobView:
        """What the store holds of a job, also of one that is gone."""
        view = self.view()
        return view.jobs[view.index[name]]

    def phase(self, name: str) -> str:
        """Name of a job's phase."""
        return self.job(name).record.phase.name

    def epoch(self, name: str) -> int:
        """A job's epoch."""
        return self.job(name).record.epoch

    def owned(self, name: str) -> list[int]:
        """Leaves that a job owns."""
        view = self.view()
        return leaves_of(view.records.jobs[view.index[name]].alloc)

    def fenced(self, name: str) -> list[int]:
        """Leaves that a job gave up, and that nobody confirmed."""
        view = self.view()
        return leaves_of(view.records.jobs[view.index[name]].fenced)

    def sound(self) -> None:
        """Every revision so far keeps the promises, and the history of it is legal."""
        self.auditor.poll()
        self.history.sound()


def link(engine: Engine) -> FaultyStore:
    """The faulty link of an engine."""
    assert isinstance(engine.store, FaultyStore)
    return engine.store


def noted(engine: Engine) -> tuple[Noted, Noted]:
    """What an engine sends from now on, and what of it arrives behind its link."""
    behind = Noted(link(engine)._store)
    link(engine)._store = behind  # type: ignore[assignment]
    before = Noted(engine.store)
    engine.store = before  # type: ignore[assignment]
    return before, behind


def between(
    engine: Client, point: str, action: Callable[[], object], skip: int = 0
) -> None:
    """Let something happen once, when an engine passes a point."""
    left = [skip + 1]

    def hook(passed: str) -> None:
        if passed == point and left[0]:
            left[0] -= 1
            if not left[0]:
                action()

    engine._hook = hook


def crashing(engine: Client, point: str, skip: int = 0) -> None:
    """An engine ends where it passes a point."""

    def crash() -> None:
        raise Crash

    between(engine, point, crash, skip)


def told(outcomes: tuple[Outcome, ...]) -> list[str]:
    """Outcomes as texts such as "COMMIT applied"."""
    return [f"{one.action.name} {one.fate.value}" for one in outcomes]


def late(engine: Engine, *others: object) -> Outcome:
    """The outcome of an engine's next step, with others in before it arrives."""

    def act() -> None:
        for other in others:
            other()  # type: ignore[operator]

    between(engine, "prepared", act)
    outcome = engine.step()
    assert outcome is not None
    return outcome

"""The planner behind the reformation engine: what it proposes, and that it keeps nothing."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Engine, EngineOptions, HostAgent, Phase
from phalanx_core.reformation.stores import MemoryStore, VirtualClock
from phalanx_core.scheduling.proposing import (
    PlannerProposals,
    gang_of,
    layout_of,
    request_of,
)
from tests.cases.judged_history import JudgedHistory

SPEC = "pod:2 host:4 gpu:2"


class Cluster:
    """A cluster of sixteen leaves, all alive, and one engine."""

    def __init__(self, spares: Spares | None = None) -> None:
        self.clock = VirtualClock()
        self.store = MemoryStore(self.clock)
        self.proposals = PlannerProposals(Topology.from_spec(SPEC), spares)
        layout = self.proposals.layout
        self.agents = {
            h: HostAgent(self.store, layout, h, self.clock, 5.0) for h in layout.hosts
        }
        for agent in self.agents.values():
            agent.beat()
        self.engine = self.started("first")
        self.engine.observe()
        self.history = JudgedHistory(self.store, layout)

    def started(self, name: str) -> Engine:
        """An engine that knows nothing but the store."""
        options = EngineOptions(lead=False)
        return Engine(
            self.store,
            self.proposals.layout,
            self.proposals,
            name,
            self.clock,
            options,
        )

    def run(self, job: str) -> tuple[int, ...]:
        """A job runs; its ranks' leaves."""
        self.engine.tick()
        found = self.engine.observe().job(job)
        assert found.record.base is not None
        assert self.engine.loaded(job, found.token, found.record.base)
        self.engine.tick()
        record = self.engine.observe().job(job).record
        assert record.phase == Phase.RUN
        return record.ranks

    def kill(self, host: str) -> None:
        """A heartbeat ends."""
        self.store.revoke(self.agents[host]._lease)
        self.agents[host]._lease = 0


def test_a_repair_is_the_planner_s() -> None:
    """The engine's repair moves what Planner.replan moves, from the same state."""
    cluster = Cluster()
    assert cluster.engine.admit("a", request_of(Gang(4, within="pod")))
    assert cluster.run("a") == (0, 1, 2, 3)
    cluster.kill("host-1")
    planner = Planner(Topology.from_spec(SPEC))
    planner.adopt("a", Gang(4, within="pod"), [0, 1, 2, 3])
    planner.replan("a", failed=[2, 3])
    assert cluster.run("a") == tuple(planner.placement("a").leaves.tolist())
    cluster.history.sound()


def test_spares_are_for_repairs() -> None:
    """An admission that needs the spare host waits; a repair takes it."""
    cluster = Cluster(Spares("pod", "host", 1))
    assert cluster.engine.admit("a", request_of(Gang(6, within="pod")))
    assert cluster.run("a") == (0, 1, 2, 3, 4, 5)
    assert cluster.engine.admit("b", request_of(Gang(8, within="pod")))
    assert cluster.engine.tick().waiting == {"b": "no_leaves"}
    cluster.kill("host-2")
    assert cluster.run("a") == (0, 1, 2, 3, 6, 7)
    cluster.history.sound()


def test_a_new_engine_proposes_the_same() -> None:
    """One that begins before the repair, planner and all, makes the repair of the first."""
    ranks = []
    for restarted in (False, True):
        cluster = Cluster(Spares("pod", "host", 1))
        assert cluster.engine.admit("a", request_of(Gang(3)))
        assert cluster.engine.admit("b", request_of(Gang(4, within="pod")))
        cluster.run("a")
        cluster.run("b")
        cluster.kill("host-0")
        if restarted:
            spares = Spares("pod", "host", 1)
            cluster.proposals = PlannerProposals(Topology.from_spec(SPEC), spares)
            cluster.engine = cluster.started("second")
        ranks.append(cluster.run("a"))
        cluster.history.sound()
    assert ranks[0] == ranks[1]
    assert not {0, 1} & set(ranks[0])


def test_templates_and_sizes() -> None:
    """A gang grows and shrinks by its templates, ranks in order."""
    cluster = Cluster()
    gang = Gang(6, group=2, templates=(4, 2))
    assert cluster.engine.admit("a", request_of(gang, 4))
    assert cluster.run("a") == (0, 1, 2, 3)
    assert cluster.engine.resize("a", request_of(gang, 6))
    assert cluster.run("a") == (0, 1, 2, 3, 4, 5)
    assert cluster.engine.resize("a", request_of(gang, 2))
    assert cluster.run("a") == (0, 1)
    assert gang_of(cluster.engine.observe().job("a").record.request) == (gang, 2)
    cluster.history.sound()


def test_a_drain_moves_what_is_suspect() -> None:
    """Ranks of a suspect host move; the others stay where they are."""
    cluster = Cluster()
    assert cluster.engine.admit("a", request_of(Gang(4)))
    cluster.run("a")
    assert cluster.engine.suspect(["host-0"], "ecc")
    ranks = cluster.run("a")
    assert ranks[2:] == (2, 3)
    assert not {0, 1} & set(ranks)
    cluster.history.sound()


def test_layouts_and_requests_that_are_none() -> None:
    """Unknown levels and texts are named."""
    with pytest.raises(InvalidRequest, match="level"):
        layout_of(Topology.from_spec(SPEC), "rack")
    gang = '{"gang": {"ranks": 4}, "ranks": %s}'
    for text in (
        *("", "{}", '{"gang": {"ranks": 0}, "ranks": 1}', "[]", "[" * 100_000),
        *(gang % ranks for ranks in ("Infinity", "1e400", "4.9", '"4"', "true", "-4")),
    ):
        with pytest.raises(InvalidRequest, match="request"):
            gang_of(text)


def test_a_refusal_is_the_planner_s() -> None:
    """What a misfit or a wrong request says is told of the job that waits."""
    cluster = Cluster()
    assert cluster.engine.admit("a", request_of(Gang(100)))
    assert cluster.engine.admit("b", request_of(Gang(2, within="rack")))
    report = cluster.engine.tick()
    assert report.waiting == {"a": "no_leaves", "b": "bad_request"}
    assert report.details["a"] == (
        "no cluster could ever hold 100 gpus: best cluster has 16"
    )
    assert "rack" in report.details["b"]
    cluster.history.sound()

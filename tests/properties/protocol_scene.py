"""Stores in which some jobs run already, made once and copied for each world."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from phalanx_core.reformation import Engine, FirstFree, HostAgent, Layout
from phalanx_core.reformation.observing import WHOLE, View, observe
from phalanx_core.reformation.reports import wanted_of
from phalanx_core.reformation.stores import (
    FaultKind,
    Items,
    MemoryStore,
    VirtualClock,
    Where,
)

TTL_S = 3.0
Token = tuple[str, int, int]


class Scene(NamedTuple):
    """A store in which some jobs run, and what runs where; worlds begin with a copy."""

    store: MemoryStore
    layout: Layout
    leaves: dict[str, list[int]]
    leases: dict[str, int]
    processes: dict[int, set[Token]]
    view: View


class QuickStore(MemoryStore):
    """A store that remembers what the last read of everything found, while it holds."""

    _read: Items | None = None

    def range(self, where: Where, revision: int = 0) -> Items:
        """See :meth:`MemoryStore.range`."""
        if where is not WHOLE or revision:
            return super().range(where, revision)
        self._settle()
        if self._read is None or self._read.revision != self._revision:
            self._read = super().range(where)
        return self._read


@cache
def scene(hosts: int, per_host: int, sizes: tuple[int, ...]) -> Scene:
    """Jobs a, b, ... of such sizes, all of them in Run with one manifest sealed."""
    clock = VirtualClock()
    store = MemoryStore(clock)
    layout = Layout([(f"h{at}", per_host) for at in range(hosts)])
    agents = {h: HostAgent(store, layout, h, clock, TTL_S) for h in layout.hosts}
    for agent in agents.values():
        agent.beat()
    engine = Engine(store, layout, FirstFree(), "scene", clock)
    for job, size in zip("abc", sizes, strict=False):
        engine.admit(job, str(size))
        engine.tick()
        engine.loaded(job, (1, 1), (0, 0))
        engine.tick()
        engine.seal(job, (1, 1), 0, "first")
    processes: dict[int, set[Token]] = {leaf: set() for leaf in range(layout.leaves)}
    for want in wanted_of(observe(store, layout)):
        for leaf in want.ranks:
            processes[leaf].add((want.job, want.uid, want.epoch))
    store.compact(store.range(b"\0").revision)
    leaves = {
        h: list(range(at * per_host, (at + 1) * per_host))
        for at, h in enumerate(layout.hosts)
    }
    leases = {host: agent._lease for host, agent in agents.items()}
    return Scene(store, layout, leaves, leases, processes, observe(store, layout))


def copied(store: MemoryStore, clock: VirtualClock) -> MemoryStore:
    """A store that begins as another is, with the clock at its beginning."""
    twin = QuickStore(clock)
    twin._revision, twin._compacted = store._revision, store._compacted
    twin._versions = {key: list(found) for key, found in store._versions.items()}
    twin._keys, twin._changes = list(store._keys), list(store._changes)
    for number, lease in store._held.items():
        twin._held[number] = type(lease)(lease.ttl_s, lease.end_s, set(lease.keys))
    twin._lease_last, twin._next_end_s = store._lease_last, store._next_end_s
    return twin


SCENES = (
    (3, 1, (2,)),
    (3, 2, (2, 2)),
    (4, 1, (2, 1)),
    (4, 1, (1, 1, 1)),
    (4, 2, (3, 2)),
    (5, 1, (2, 2)),
    (5, 2, (3, 3, 2)),
)

# What an engine's link does, as shares of its calls.
ENGINE_FAULTS = {
    FaultKind.REFUSE: 0.02,
    FaultKind.LOSE_REQUEST: 0.02,
    FaultKind.LOSE_ANSWER: 0.03,
    FaultKind.DELAY: 0.04,
    FaultKind.DUPLICATE: 0.04,
    FaultKind.STALE: 0.06,
    FaultKind.EXPIRE: 0.01,
    FaultKind.LEADER_APPLIES: 0.01,
    FaultKind.LEADER_LOSES: 0.01,
}
# Those of agents and workers have no stale reads: who starts processes needs the truth.
OTHER_FAULTS = {
    FaultKind.REFUSE: 0.02,
    FaultKind.LOSE_REQUEST: 0.02,
    FaultKind.LOSE_ANSWER: 0.02,
    FaultKind.DELAY: 0.02,
    FaultKind.DUPLICATE: 0.02,
    FaultKind.EXPIRE: 0.02,
    FaultKind.EXPIRE_ALL: 0.004,
}

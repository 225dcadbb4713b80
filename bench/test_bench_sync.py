"""Following 131,072 GPUs: nothing changed, and two hosts come and go under their gangs."""

from __future__ import annotations

from typing import Any

import numpy as np

from phalanx_core import Gang, Planner, Topology

HOSTS, GPUS, RACK, POD = 16384, 8, 32, 256
LOST = (5, 777)


def fleet(without: tuple[int, ...] = ()) -> Topology:
    """Hosts in racks in pods, by name."""
    hosts = np.repeat(np.setdiff1d(np.arange(HOSTS), without), GPUS)
    names = [f"h{host}/{at % GPUS}" for at, host in enumerate(hosts.tolist())]
    labels = [hosts, hosts // RACK, hosts // POD]
    return Topology.from_labels(["host", "rack", "pod"], labels, names=names)


def loaded(topology: Topology) -> Planner:
    """About 85 % in use, by gangs of 1 to 19 hosts."""
    planner, rng = Planner(topology), np.random.default_rng(0)
    job = 0
    while planner.free_leaves() > 20000:
        planner.place(job, Gang(GPUS * int(rng.integers(1, 20)), group=GPUS))
        job += 1
    return planner


def test_the_same_description(benchmark: Any) -> None:
    """What a watch that fires for nothing costs."""
    topology = fleet()
    planner = loaded(topology)
    assert not planner.sync(topology).changed
    benchmark(planner.sync, topology)


def test_two_hosts_go_and_come(benchmark: Any) -> None:
    """Two syncs, each builds the planner anew; every gang keeps its leaves."""
    both, fewer = fleet(), fleet(LOST)
    planner = loaded(both)
    assert len(planner.sync(fewer).held) == 2 * GPUS
    assert planner.sync(both).broken == {}

    def flicker() -> None:
        planner.sync(fewer)
        planner.sync(both)

    benchmark(flicker)

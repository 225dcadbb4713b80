"""Every short sequence of operations on eight leaves, the slow twin beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from phalanx_core import Gang, Planner, Spares, Topology
from phalanx_core.testing import Pair, SlowPlanner, SpareShape

Operation = Callable[[Pair], object]


def _place(ranks: int) -> Operation:
    gang = Gang(ranks, group=min(ranks, 2), group_level="host")

    def operation(pair: Pair) -> object:
        job = next(key for key in range(9) if key not in pair.twin.jobs)
        return pair.place(job, gang)

    return operation


def _release(pair: Pair) -> object:
    """Release the oldest job."""
    jobs = list(pair.twin.jobs)
    return pair.release(jobs[0]) if jobs else None


def _fail(pair: Pair) -> object:
    """Lose the first healthy leaf that a job holds, else the first healthy one."""
    healthy = [v for v, health in pair.twin.health.items() if health == "up"]
    held = [leaf for leaf in healthy if leaf in pair.twin.held_by]
    return pair.fail((held or healthy)[:1])


def _heal(pair: Pair) -> object:
    return pair.heal(list(range(8)))


def _replan(pair: Pair) -> object:
    """Repair the oldest broken job, in part if need be; else move a healthy one."""
    broken = pair.twin.broken()
    if broken:
        return pair.replan(broken[0], partial=True)
    jobs = list(pair.twin.jobs)
    if not jobs:
        return None
    return pair.replan(jobs[-1], failed=pair.twin.jobs[jobs[-1]].leaves[-1:])


def _release_quarantine(pair: Pair) -> object:
    return pair.release_quarantine(list(pair.twin.quarantine))


OPERATIONS: tuple[Operation, ...] = (
    _place(1),
    _place(2),
    _place(4),
    _release,
    _fail,
    _heal,
    _replan,
    _release_quarantine,
)


def _successors(pair: Pair) -> Iterator[Pair]:
    """The pair after each operation."""
    for operation in OPERATIONS:
        after = Pair(pair.planner.clone(), pair.twin.clone())
        operation(after)
        after.check()
        yield after


@pytest.mark.parametrize(("spares", "states"), [(False, 2000), (True, 900)])
def test_all_sequences_of_five_operations(spares: bool, states: int) -> None:
    """No sequence of operations parts the planner from its twin.

    Sequences that reach the same saved bytes go on as one.
    """
    topology = Topology.from_spec("rack:2 host:2 gpu:2")
    shape = SpareShape("rack", "host")
    start = Pair(
        Planner(topology, spares=Spares("rack", "host") if spares else None),
        SlowPlanner(topology, spares=shape if spares else None),
    )
    frontier = [start]
    seen = {start.planner.save()}
    for _ in range(5):
        reached = []
        for pair in frontier:
            for after in _successors(pair):
                saved = after.planner.save()
                if saved not in seen:
                    seen.add(saved)
                    reached.append(after)
        frontier = reached
    assert len(seen) >= states

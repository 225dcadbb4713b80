"""Clone, save, load, validate, and the guard against a second thread."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from phalanx_core import (
    ConcurrentUse,
    Gang,
    Handle,
    InvariantBroken,
    Planner,
    Spares,
    Topology,
    native,
)

TOPOLOGY = Topology.from_labels(
    ("host", "rack"),
    [[f"h{leaf // 3}" for leaf in range(24)], [f"r{leaf // 12}" for leaf in range(24)]],
    types=["X"] * 21 + ["Y"] * 3,
)


def busy() -> Planner:
    """Every kind of thing a state can hold."""
    planner = Planner(TOPOLOGY, type="X", spares=Spares("rack"))
    planner.place("a", Gang(6, group=3), limits={"rack": [12, 9]})
    planner.place(5, Gang(2, limits={1: [3] * 8}))
    planner.place_many([1, 2], Gang(1))
    planner.fail(planner.placement("a").leaves[:1])
    assert planner.replan("a")
    planner.fail(planner.placement(5).leaves)
    planner.suspect([2])
    planner.cordon([11])
    return planner


def facts(planner: Planner) -> list[Any]:
    """All that can be asked of a planner."""
    gangs = [(job, planner.gang(job)) for job in planner.jobs()]
    placed = [planner.placement(job).leaves.tolist() for job in planner.jobs()]
    owners = [planner.owner(leaf) for leaf in range(21)]
    fence = {job: leaves.tolist() for job, leaves in planner.quarantined().items()}
    free = planner.free_leaves("rack")
    return [gangs, placed, owners, fence, free.tolist(), planner.broken()]


def test_load_gives_the_saved_planner() -> None:
    """Same bytes, same answers, and the same decisions from then on."""
    planner = busy()
    saved = planner.save()
    loaded = Planner.load(TOPOLOGY, saved)
    assert loaded.save() == saved == planner.save()
    assert facts(loaded) == facts(planner)
    assert loaded.fail([3, 4, 5]) == planner.fail([3, 4, 5])
    for job in planner.jobs():
        ours, theirs = planner.replan(job), loaded.replan(job)
        assert bool(ours) == bool(theirs)
        assert str(ours) == str(theirs)
    assert loaded.save() == planner.save()
    loaded.validate()


def test_clone_is_independent() -> None:
    """What happens to a clone, or to its origin, stays there."""
    planner = busy()
    before = facts(planner)
    clone = planner.clone()
    assert facts(clone) == before
    assert clone.save() == planner.save()
    clone.release("a")
    clone.heal(range(21))
    handle = clone.owner(9).job
    if isinstance(handle, Handle):
        clone.release_many([handle])
    clone.validate()
    assert facts(planner) == before
    planner.validate()


def test_loaded_handles_can_be_released() -> None:
    """Gangs without a key come back with their handles."""
    planner = Planner(TOPOLOGY, type="X")
    handles, *_ = planner.place_many([3, 99, 2], Gang(1))
    assert handles[1] == -1
    loaded = Planner.load(TOPOLOGY, planner.save())
    loaded.release_many(handles[[0, 2]])
    assert loaded.free_leaves() == 21


def test_released_batches_leave_down_leaves_in_quarantine() -> None:
    """Under the name of their handle."""
    planner = Planner(TOPOLOGY, type="X")
    handles, *_ = planner.place_many(np.array([3, 3], np.uint8), Gang(3, group=3))
    (hit,) = planner.fail([13])
    planner.release_many(handles)
    told = {job: leaves.tolist() for job, leaves in planner.quarantined().items()}
    assert told == {Handle(handles[0]): [13]}
    assert planner.fenced(hit).tolist() == [13]


def test_validate_tells_tables_and_core_apart() -> None:
    """A table that lost a job, a name or a fence is told by its tag."""
    for tag, spoil in (
        ("P1", lambda p: p._names.__setitem__(0, "other")),
        ("P2", lambda p: p._names.append("nobody")),
        ("P3", lambda p: p._fence.clear()),
    ):
        planner = busy()
        planner.validate()
        spoil(planner)
        with pytest.raises(InvariantBroken) as caught:
            planner.validate()
        assert caught.value.tag == tag


def test_validate_passes_on_the_core_s_finding() -> None:
    """phx_planner_validate's "S2: ..." becomes tag and reason."""
    planner = busy()
    size = native.lib.phx_planner_core_bytes(planner._core, 0)
    assert size > 0
    native.validate(planner._core)


def test_a_second_thread_is_turned_away() -> None:
    """While one thread is inside a native call, another's call raises."""
    planner = Planner(Topology.from_spec("pod:16 host:64 gpu:8"))
    sizes = np.ones(8192, np.int64)
    gang = Gang(1)
    refused: list[BaseException] = []
    inside, done = threading.Event(), threading.Event()

    def intrude() -> None:
        inside.wait()
        while not done.is_set():
            try:
                planner.free_leaves()
            except ConcurrentUse as error:
                refused.append(error)
                return

    thread = threading.Thread(target=intrude)
    thread.start()
    inside.set()
    for _ in range(200):
        try:
            handles, *_ = planner.place_many(sizes, gang)
            planner.release_many(handles)
        except ConcurrentUse as error:
            refused.append(error)
        if refused:
            break
    done.set()
    thread.join()
    assert refused
    assert "one thread owns a planner" in str(refused[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.place("b", Gang(1)),
        lambda p: p.release("a"),
        lambda p: p.replan("a"),
        lambda p: p.fail([0]),
        lambda p: p.save(),
        lambda p: p.place_many([1], Gang(1)),
        lambda p: p.clone(),
        lambda p: p.sync(TOPOLOGY),
        lambda p: p.preempt_advice(Gang(1), {}),
    ],
)
def test_no_call_enters_a_planner_in_use(call: Any) -> None:
    """While the turn is taken every method raises, and gives nothing back."""
    planner = busy()
    with planner._inside, pytest.raises(ConcurrentUse):
        call(planner)
    assert planner.jobs() == ["a", 5]
    planner.validate()

"""Some thousands of schedules of the protocol, and what they must have met."""

from __future__ import annotations

from random import Random

from tests.properties.protocol_walk import (
    STEPS,
    WEIGHTS,
    schedules,
    too_rare,
)
from tests.properties.protocol_world import World

SCHEDULES = 1500


def test_schedules_keep_every_promise() -> None:
    """No schedule breaks a promise, all come to rest, and each kind of outcome is met."""
    seen = schedules(range(SCHEDULES))
    assert too_rare(seen, SCHEDULES) == {}


def lived(seed: int) -> World:
    """A world after its schedule, before faults stop."""
    world, rng = World(seed), Random(~seed)
    for name in rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=STEPS):
        getattr(world, name)()
    world.check()
    return world


def test_a_schedule_is_a_function_of_its_seed() -> None:
    """Two runs of one seed take the same transitions and write the same history."""
    for seed in range(20):
        worlds = [lived(seed), lived(seed)]
        one, other = (world.history.getvalue() for world in worlds)
        assert one == other
        assert worlds[0].store._revision == worlds[1].store._revision

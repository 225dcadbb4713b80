"""Some thousands of schedules of the protocol, and what they must have met."""

from __future__ import annotations

from tests.properties.protocol_walk import lived, schedules, too_rare

SCHEDULES = 2000


def test_schedules_keep_every_promise() -> None:
    """No schedule breaks a promise, all come to rest, and each kind of outcome is met."""
    seen = schedules(range(SCHEDULES))
    assert too_rare(seen, SCHEDULES) == {}


def test_a_schedule_is_a_function_of_its_seed() -> None:
    """Two runs of one seed take the same transitions and write the same history."""
    for seed in range(20):
        worlds = [lived(seed), lived(seed)]
        one, other = (world.history.getvalue() for world in worlds)
        assert one == other
        assert worlds[0].store._revision == worlds[1].store._revision

"""Batches against the same gangs one by one: the same leaves, the same states."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from phalanx_core import Gang, Planner, native
from phalanx_core.native import lib
from phalanx_core.testing import GEOMETRIES, Geometry
from tests.properties.drawing import planner_of

SLOT = (1 << 21) - 1


def _one_by_one(planner: Planner, sizes: list[int], group: int) -> list[int | None]:
    """Slots of gangs placed in turn, by the core alone; None where one is refused."""
    slots: list[int | None] = []
    for size in sizes:
        _, request, _ = planner._frame.compile(Gang(size, group=group), planner._core)
        packed = lib.phx_place(planner._core, request)
        slots.append(packed & SLOT if packed >= 0 else None)
    return slots


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda one: one.name)
def test_a_batch_is_its_gangs_in_turn(geometry: Geometry, seed: int) -> None:
    """place_many and release_many end where place and release end."""
    rng = Random(seed)
    placed = refused = 0
    most = max(8, geometry.topology.leaf_count // 8)
    for _ in range(60):
        batch, single = planner_of(geometry), planner_of(geometry)
        for _ in range(4):
            group = rng.choice((1, 1, 2))
            sizes = [group * rng.randint(1, most) for _ in range(rng.randint(1, 12))]
            handles, _, offsets, leaves = batch.place_many(sizes, Gang(group, group))
            slots = _one_by_one(single, sizes, group)
            for at, slot in enumerate(slots):
                assert (handles[at] < 0) == (slot is None)
                if slot is not None:
                    mine = leaves[offsets[at] : offsets[at + 1]]
                    words = np.empty(sizes[at], np.uint32)
                    lib.phx_gang_leaves(single._core, slot, native.words(words))
                    ids = single._frame.leaf_ids(words)
                    assert mine.tolist() == ids.tolist()
            held = [at for at, slot in enumerate(slots) if slot is not None]
            placed += len(held)
            refused += len(slots) - len(held)
            gone = rng.sample(held, rng.randint(0, len(held)))
            batch.release_many(handles[gone])
            for at in gone:
                assert lib.phx_release(single._core, slots[at]) == lib.PHX_OK
            native.validate(batch._core)
            states = native.leaf_states(batch._core, 0, batch._frame.leaf_count)
            other = native.leaf_states(single._core, 0, single._frame.leaf_count)
            assert states.tolist() == other.tolist()
    assert placed > 100
    assert refused > 5

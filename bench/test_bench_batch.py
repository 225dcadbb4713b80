"""Batches in one call, beside a buddy on sets called once a gang."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.calls import checksum, planner_of
from bench.peers import SetBuddy
from phalanx_core import Gang

COUNTS = {1024: 40, 131072: 10_000}
CHECKSUMS = {1024: "b0f70d4274bf1b60", 131072: "b76aef430206a02b"}


def orders_of(leaves: int) -> list[int]:
    """Orders of the batch's gangs."""
    return np.random.default_rng(7).integers(0, 6, COUNTS[leaves]).tolist()


@pytest.mark.parametrize("leaves", COUNTS)
def test_place_many_and_release_many(benchmark: Any, leaves: int) -> None:
    """All gangs in and out with two calls; where they went is pinned."""
    planner = planner_of(leaves)
    ranks = np.array([1 << order for order in orders_of(leaves)], np.uint32)
    gang = Gang(1)

    def both_ways() -> Any:
        placed = planner.place_many(ranks, gang)
        planner.release_many(placed[0])
        return placed

    _, _, offsets, leaves_taken = benchmark(both_ways)
    assert checksum(leaves_taken[offsets[:-1]].tolist()) == CHECKSUMS[leaves]


@pytest.mark.parametrize("leaves", COUNTS)
def test_set_buddy(benchmark: Any, leaves: int) -> None:
    """The same gangs one by one on sets."""
    buddy = SetBuddy(leaves.bit_length() - 1)
    orders = orders_of(leaves)

    def both_ways() -> None:
        firsts = [buddy.place(order) for order in orders]
        for first, order in zip(firsts, orders, strict=True):
            buddy.release(first, order)

    benchmark(both_ways)

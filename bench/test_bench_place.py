"""Place and Release one by one, on a planner at about 80 % load."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.calls import checksum, loaded
from bench.peers import SetBuddy, SortedBuddy
from phalanx_core import Gang, Planner

LEAVES = [1024, 131072]
COUNT = 40
CHECKSUMS = {1024: "9c406d9648b153de", 131072: "5024a455dc7ec874"}


def sizes(leaves: int) -> list[int]:
    """Orders of the gangs that come and go."""
    return np.random.default_rng(7).integers(0, 3, COUNT).tolist()


@pytest.mark.parametrize("leaves", LEAVES)
def test_place_and_release(benchmark: Any, leaves: int) -> None:
    """Forty gangs in and out; where the first time put them is pinned."""
    planner, _ = loaded(leaves, 1)
    gangs = [(job, Gang(1 << order)) for job, order in enumerate(sizes(leaves))]
    placed = [planner.place(job, gang) for job, gang in gangs]
    seen = checksum(int(one.leaves[0]) for one in placed)
    for job, _ in gangs:
        planner.release(job)
    assert seen == CHECKSUMS[leaves]

    def churn(planner: Planner = planner) -> None:
        for job, gang in gangs:
            planner.place(job, gang)
        for job, _ in gangs:
            planner.release(job)

    benchmark(churn)


@pytest.mark.parametrize("kind", [SetBuddy, SortedBuddy])
def test_place_and_release_of_a_peer(benchmark: Any, kind: type[SetBuddy]) -> None:
    """The same gangs on a buddy in Python."""
    buddy = kind(17)
    orders = sizes(131072)

    def churn() -> None:
        firsts = [buddy.place(order) for order in orders]
        for first, order in zip(firsts, orders, strict=True):
            buddy.release(first, order)

    benchmark(churn)

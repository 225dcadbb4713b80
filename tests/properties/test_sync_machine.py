"""The cluster changes under running gangs: each keeps its leaves, or is reported broken."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.properties.sync_walk import STEPS, SyncWalk

CHOICES = st.randoms(use_true_random=False)
WALKS, LENGTH = 240, 25


class SyncMachine(RuleBasedStateMachine):
    """Every step in any order; failures shrink."""

    walk: SyncWalk

    @initialize(rng=CHOICES)
    def start(self, rng: Random) -> None:
        """A planner on a small fleet."""
        self.walk = SyncWalk(rng)

    @rule(rng=CHOICES, names=st.lists(st.sampled_from(STEPS), min_size=1))
    def operate(self, rng: Random, names: list[str]) -> None:
        """A few steps, each of which looks at every leaf."""
        for name in names:
            self.walk.step(name, rng)


TestSyncMachine = SyncMachine.TestCase
TestSyncMachine.settings = settings(
    max_examples=30, stateful_step_count=10, deadline=None
)


@cache
def walked(seed: int) -> Counter[str]:
    """What happened in one walk."""
    rng = Random(f"sync {seed}")
    walk = SyncWalk(rng)
    for _ in range(LENGTH):
        walk.step(rng.choice(STEPS), rng)
    return walk.seen


@pytest.mark.parametrize("block", range(4))
def test_walks(block: int) -> None:
    """Long random walks, sound after each step."""
    for seed in range(block, WALKS, 4):
        walked(seed)


FLOORS = {
    "placed": 500,
    "kept": 1000,
    "gone": 150,
    "moved": 15,
    "back": 5,
    "repaired": 20,
    "not repaired": 20,
}


@pytest.mark.parametrize("what", FLOORS)
def test_enough_happens(what: str) -> None:
    """Gangs lose leaves, get them back, are moved apart and repaired, all often."""
    assert sum((walked(seed) for seed in range(WALKS)), Counter())[what] >= FLOORS[what]

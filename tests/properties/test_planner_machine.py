"""A stateful machine over the whole planner, its slow twin beside it."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from phalanx_core.testing import GEOMETRIES, Geometry
from tests.properties.walk import WEIGHTS, Walk

CHOICES = st.randoms(use_true_random=False)


class PlannerMachine(RuleBasedStateMachine):
    """Every operation in any order; validate and compare after each."""

    walk: Walk | None = None

    @initialize(geometry=st.sampled_from(GEOMETRIES))
    def start(self, geometry: Geometry) -> None:
        """A fresh planner and twin of one geometry."""
        self.walk = Walk(geometry, Random(0))

    @rule(rng=CHOICES, names=st.lists(st.sampled_from(list(WEIGHTS)), min_size=1))
    def operate(self, rng: Random, names: list[str]) -> None:
        """A few operations with choices that shrink."""
        assert self.walk is not None
        self.walk.rng = rng
        for name in names:
            self.walk.step(name)
            self.walk.pair.check()

    @rule(rng=CHOICES)
    def fill(self, rng: Random) -> None:
        """Placements until one is refused."""
        assert self.walk is not None
        self.walk.rng = rng
        for _ in range(8):
            self.walk.step("place")

    @rule(rng=CHOICES)
    def break_and_repair(self, rng: Random) -> None:
        """A failure and a repair of whatever it hit."""
        assert self.walk is not None
        self.walk.rng = rng
        self.walk.step("fail")
        self.walk.step("replan")

    @invariant()
    def equal(self) -> None:
        """The planner is sound and equals its twin."""
        if self.walk is not None:
            self.walk.pair.check()


TestPlannerMachine = PlannerMachine.TestCase
TestPlannerMachine.settings = settings(
    max_examples=40, stateful_step_count=12, deadline=None
)

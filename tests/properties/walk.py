"""A random walk over every operation of a planner beside its slow twin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from phalanx_core import Gang, Planner, Topology
from phalanx_core.testing import Geometry, Pair
from phalanx_core.testing.sizes import sizes_of
from tests.properties.drawing import (
    Limits,
    full_gang,
    planner_of,
    random_buddy_gang,
    random_gang,
    random_limits,
    twin_of,
)

# Weights are chosen so that the cluster stays nearly full and often broken.
WEIGHTS = {
    "place": 40,
    "what_if": 3,
    "release": 12,
    "fail": 10,
    "heal": 9,
    "suspect": 2,
    "cordon": 2,
    "uncordon": 4,
    "release_quarantine": 11,
    "fenced": 5,
    "replan": 18,
    "drain": 1,
    "adopt": 2,
    "clone": 1,
    "reload": 1,
}

# Now and then empty: what grows or moves whole needs room.
FULL_WEIGHTS = WEIGHTS | {"resize": 12, "lose": 20, "clear": 5}

Draw = Callable[[Random, Topology, int], Gang]


class Walk:
    """One geometry's planner and twin, and a count of every outcome.

    With ``full`` gangs have slices, are balanced, have parts or templates; they are
    resized, and repairs may widen.
    """

    def __init__(
        self,
        geometry: Geometry,
        rng: Random,
        draw: Draw = random_gang,
        full: bool = False,
    ) -> None:
        self.geometry = geometry
        self.topology = geometry.topology
        self.rng = rng
        self.draw = full_gang if full else draw
        self.full = full
        self.pair = Pair(planner_of(geometry), twin_of(geometry))
        self.buddy = geometry.alignment == "buddy"
        self.outcomes: Counter[str] = Counter()
        self.serial = 0

    def run(self, operations: int, check_every: int = 1) -> Counter[str]:
        """Take so many steps; the whole state is compared every few of them."""
        table = FULL_WEIGHTS if self.full else WEIGHTS
        names, weights = list(table), list(table.values())
        for at, name in enumerate(self.rng.choices(names, weights, k=operations)):
            self.step(name)
            if at % check_every == 0:
                self.pair.check()
        self.pair.check()
        return self.outcomes

    def step(self, name: str) -> None:
        """Take one step and count its outcome."""
        outcome = getattr(self, f"_{name}")()
        self.outcomes[f"{name} {outcome}" if outcome else name] += 1

    def _some(self, leaves: list[int], most: int) -> list[int]:
        count = min(len(leaves), self.rng.randint(1, most))
        return self.rng.sample(leaves, count)

    def _drawn(self) -> tuple[object, Limits | None]:
        if self.buddy:
            return random_buddy_gang(self.rng, self.topology), None
        most = self.rng.choice((3, 6, 12, self.topology.leaf_count))
        gang = self.draw(self.rng, self.topology, most)
        limited = self.rng.random() < 0.3
        return gang, random_limits(self.rng, self.topology) if limited else None

    def _place(self, apply: bool = True) -> str:
        gang, limits = self._drawn()
        self.serial += 1
        job = f"job-{self.serial}"
        outcome = self.pair.place(job, gang, limits, apply)
        if gang.parts and outcome == "placed":
            return "joint" if apply else outcome
        return outcome

    def _what_if(self) -> str:
        outcome = self._place(apply=False)
        self.pair.check()
        return outcome

    def _job(self, broken: bool = False) -> str | None:
        jobs = list(self.pair.twin.broken() if broken else self.pair.twin.jobs)
        return str(self.rng.choice(jobs)) if jobs else None

    def _release(self) -> str:
        job = self._job()
        if job is None:
            return "nothing"
        self.pair.release(job)
        return ""

    def _leaves(self) -> list[int]:
        """One leaf, a few, or a whole lowest domain."""
        tree = self.pair.twin.tree
        if self.rng.random() < 0.3:
            return list(self.rng.choice(tree.levels[1]).leaves)
        return self._some(tree.leaves, 3)

    def _fail(self) -> str:
        return "hit" if self.pair.fail(self._leaves()) else "idle"

    def _heal(self) -> str:
        down = [v for v, health in self.pair.twin.health.items() if health != "up"]
        self.pair.heal(self._some(down, 6) if down else self._leaves())
        return ""

    def _suspect(self) -> str:
        self.pair.suspect(self._leaves())
        return ""

    def _cordon(self) -> str:
        self.pair.cordon(self._leaves())
        return ""

    def _uncordon(self) -> str:
        closed = [v for v, shut in self.pair.twin.cordoned.items() if shut]
        self.pair.uncordon(closed or self._leaves())
        return ""

    def _release_quarantine(self) -> str:
        leaves = list(self.pair.twin.quarantine)
        if not leaves:
            return "nothing"
        self.pair.release_quarantine(self._some(leaves, 5))
        return ""

    def _fenced(self) -> str:
        jobs = list(dict.fromkeys(self.pair.twin.quarantine.values()))
        if not jobs:
            return "nothing"
        self.pair.fenced(self.rng.choice(jobs))
        return ""

    def _replan(self) -> str:
        job = self._job(broken=self.rng.random() < 0.7)
        if job is None:
            return "nothing"
        record = self.pair.twin.jobs[job]
        ranks = len(record.leaves)
        if self.buddy and len(record.held) != ranks:
            return "rounded"
        failed: list[int] = []
        if self.rng.random() < 0.5:
            failed = self._some(record.leaves, 3)
        limits: Limits | None = None
        if not self.buddy and self.rng.random() < 0.3:
            lifted = self.rng.random() < 0.3
            limits = {} if lifted else random_limits(self.rng, self.topology)
        wound = self.pair.twin.wound(job, failed, limits)
        hard = wound.needs.limited or wound.needs.chained
        if hard and len(wound.units()) > 5:
            return "too many to enumerate"
        partial = self.rng.random() < 0.6
        later = self.rng.random() < 0.2
        widen = self.full and self.rng.random() < 0.4
        outcome = self.pair.replan(job, failed, limits, partial, later, widen)
        if record.gang.parts and outcome == "repaired":
            return "rejoined"
        return outcome

    def _clear(self) -> str:
        """Most jobs end, and every leaf comes back."""
        twin = self.pair.twin
        for job in list(twin.jobs):
            if self.rng.random() < 0.8:
                self.pair.release(job)
        self.pair.release_quarantine(list(twin.quarantine))
        self.pair.heal(twin.tree.leaves)
        self.pair.uncordon(twin.tree.leaves)
        return ""

    def _lose(self) -> str:
        """A job that may shrink or widen loses leaves, and is repaired at once."""
        twin = self.pair.twin
        jobs = [
            job
            for job, held in twin.jobs.items()
            if len(sizes_of(held.gang)) > 1 or len(held.gang.slices) > 1
        ]
        if not jobs:
            return "nothing"
        job = self.rng.choice(jobs)
        failed = self._some(twin.jobs[job].leaves, self.rng.choice((1, 2, 4)))
        if self.rng.random() < 0.5:
            self.pair.fail(failed)
            failed = []
        if len(twin.wound(job, failed).units()) > 5:
            return "too many to enumerate"
        later, widen = self.rng.random() < 0.2, self.rng.random() < 0.6
        return self.pair.replan(job, failed, later=later, widen=widen)

    def _resize(self) -> str:
        twin = self.pair.twin
        jobs = [job for job, held in twin.jobs.items() if len(sizes_of(held.gang)) > 1]
        if not jobs:
            return "nothing"
        job = self.rng.choice(jobs)
        sizes = sizes_of(twin.jobs[job].gang)
        limits: Limits | None = None
        if self.rng.random() < 0.3:
            lifted = self.rng.random() < 0.3
            limits = {} if lifted else random_limits(self.rng, self.topology)
        later = self.rng.random() < 0.3
        return self.pair.resize(job, self.rng.choice(sizes), limits, later)

    def _drain(self) -> str:
        leaves = self._leaves()
        held = self.pair.twin.jobs.values()
        if self.buddy and any(len(job.held) != len(job.leaves) for job in held):
            return "rounded"
        hit = {self.pair.twin.owner(leaf) for leaf in leaves} - {None}
        for job in hit:
            if len(self.pair.twin.wound(job).units()) > 3:
                return "too many to enumerate"
        self.pair.drain(leaves, later=self.rng.random() < 0.3)
        return ""

    def _adopt(self) -> str:
        if self.buddy:
            return "skipped"
        twin = self.pair.twin
        gang = self.draw(self.rng, self.topology, 4)
        able = [v for v in twin.tree.leaves if v not in twin.held_by]
        if gang.ranks > len(able):
            return "skipped"
        self.serial += 1
        return self.pair.adopt(
            f"job-{self.serial}", gang, self.rng.sample(able, gang.ranks)
        )

    def _clone(self) -> str:
        self.pair.planner = self.pair.planner.clone()
        return ""

    def _reload(self) -> str:
        saved = self.pair.planner.save()
        self.pair.planner = Planner.load(self.topology, saved)
        if self.pair.planner.save() != saved:
            raise AssertionError("a loaded planner saves other bytes")
        return ""

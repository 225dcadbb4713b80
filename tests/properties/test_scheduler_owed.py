"""The order by what is owed beside its twin, which follows the paper in fractions."""

from __future__ import annotations

from collections import Counter
from random import Random

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import ActionKind, JobRequest, Scheduler, SchedulerOptions
from tests.properties.slow_owing import OwedJob, OwedTwin, Tie

GPUS = 8
LEASE, ROUND = 300, 60


class Pair:
    """A scheduler and the twin, told the same."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.by_demand = rng.random() < 0.5
        names = ("red", "green", "blue")[: rng.randint(2, 3)]
        self.weights = {name: rng.choice((1, 2, 5)) for name in names}
        options = SchedulerOptions(
            order="owed",
            lease_s=LEASE,
            round_s=ROUND,
            releases="immediate",
            entitlement="demand" if self.by_demand else "quota",
            waiting_bound_s=float("inf"),
        )
        self.scheduler = Scheduler(
            Topology.from_spec(f"host:1 gpu:{GPUS}"), self.weights, options=options
        )
        self.twin = OwedTwin(GPUS, self.weights, self.by_demand, LEASE)
        self.count = 0

    def submit(self, now: int) -> None:
        """A job of any size."""
        tenant = self.rng.choice(list(self.weights))
        demand, weight = self.rng.randint(1, GPUS), self.rng.choice((1, 1, 3))
        self.count += 1
        request = JobRequest(Gang(demand), tenant=tenant, weight=weight)
        self.scheduler.submit(self.count, request, now)
        self.twin.jobs[self.count] = OwedJob(tenant, demand, weight, self.count)

    def between(self, now: int) -> None:
        """Jobs come and end, and tenants' weights change."""
        self.twin.advance(now)
        while len(self.twin.jobs) < 3 or self.rng.random() < 0.4:
            self.submit(now)
        if self.rng.random() < 0.3:
            name = self.rng.choice(list(self.twin.jobs))
            self.scheduler.finish(name, now)
            del self.twin.jobs[name]
        if self.rng.random() < 0.05:
            name, weight = self.rng.choice(list(self.weights)), self.rng.choice((1, 3))
            self.scheduler.set_tenant(name, weight, now)
            self.twin.weights[name] = weight

    def round(self, now: int) -> int:
        """Both choose the same jobs; how many candidates there were."""
        self.twin.advance(now)
        open_ = [
            name
            for name, job in self.twin.jobs.items()
            if job.lease_end is None or job.lease_end <= now
        ]
        decision = self.scheduler.round(now)
        granted = self.twin.round()
        started = {action.job for action in decision.of(ActionKind.START)}
        renewed = {
            action.job
            for action in decision.of(ActionKind.KEEP)
            if action.why.name == "RENEWED"
        }
        assert started.isdisjoint(renewed)
        assert started | renewed == granted
        for name in started:
            self.scheduler.started(name)
        return len(open_)


def test_the_most_owed_get_the_leases(seed: int) -> None:
    """40 histories of 60 rounds: every grant is that of the exact accounts."""
    met: Counter[str] = Counter()
    for at in range(40):
        pair = Pair(Random(f"{seed} {at}"))
        try:
            for turn in range(60):
                pair.between(turn * ROUND + 20)
                met["candidates"] += pair.round(turn * ROUND + 60)
                met["rounds"] += 1
        except Tie:
            met["ties"] += 1
    assert met["rounds"] >= 500
    assert met["candidates"] >= 1000

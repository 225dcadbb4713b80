"""How long jobs wait on a cluster that never fails and is always full."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from phalanx_core import Gang, Topology
from phalanx_core.scheduling import (
    ActionKind,
    Configuration,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)

SPECS = ("rack:2 host:3 gpu:4", "host:4 gpu:4", "rack:3 host:2 gpu:2")
ROUND_S = 60.0


@dataclass
class Turn:
    """A job that waited longer than the bound: since when, and behind how many."""

    since_s: float
    ahead: int


@dataclass
class Load:
    """More jobs than fit, in rounds by the clock, and nothing that ever breaks.

    Attributes
    ----------
    delays
        Of each job that waited too long and started: seconds from the first round that
        saw it as such, and how many that waited longer were before it then.
    open
        Those that have not started.
    """

    rng: Random
    options: SchedulerOptions
    delays: list[tuple[float, int]] = field(default_factory=list)
    open: dict[int, Turn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.topology = Topology.from_spec(self.rng.choice(SPECS))
        self.scheduler = Scheduler(self.topology, options=self.options)
        self.count = 0

    def submit(self, now: float) -> None:
        """A job of any size up to the whole cluster, that fits it when it is empty."""
        rng, levels = self.rng, self.topology.levels
        within = rng.choice(("host", *levels[2:]))
        most = {"host": 2, levels[-1]: self.topology.leaf_count}.get(within, 4)
        ranks = rng.choice((1, 2, rng.randint(1, most), most))
        tenant = rng.choice(("red", "red", "green"))
        gang = Gang(ranks, within=within)
        way = Configuration(gang, goodput=float(rng.choice((1, 1, 5))))
        priority = rng.choice((0, 1))
        request = JobRequest(way, tenant=tenant, priority=priority)
        self.count += 1
        self.scheduler.submit(self.count, request, now)

    def run(self, rounds: int) -> None:
        """Rounds by the clock; stops are released at once, or within a round."""
        for at in range(rounds):
            now = at * ROUND_S
            while len(self.scheduler) < 3 * self.topology.leaf_count // 4:
                self.submit(now)
            self.note(now)
            decision = self.scheduler.round(now)
            for action in decision.of(ActionKind.START):
                turn = self.open.pop(int(action.job), None)
                if turn is not None:
                    self.delays.append((now - turn.since_s, turn.ahead))
                self.scheduler.started(action.job)
            later = now + self.rng.randint(1, 59)
            if self.options.releases == "reported":
                for action in decision.of(ActionKind.STOP):
                    self.scheduler.released(action.job, later)
            if self.rng.random() < 0.2:
                running = [
                    job
                    for job in self.scheduler.jobs()
                    if self.scheduler.placement(job)
                ]
                if running:
                    self.scheduler.finish(self.rng.choice(running), later)

    def note(self, now: float) -> None:
        """Who is late for the first time."""
        scheduler = self.scheduler
        late = [
            status
            for status in map(scheduler.status, scheduler.jobs())
            if status.waiting_since_s is not None
            and now - status.waiting_since_s > self.options.waiting_bound_s
        ]
        late.sort(key=lambda one: one.waiting_since_s or 0.0)
        for ahead, status in enumerate(late):
            self.open.setdefault(int(status.job), Turn(now, ahead))

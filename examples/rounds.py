"""A program that embeds ``Scheduler``: twelve simulated hours of three tenants' jobs.

``Loop`` is the part to copy: it asks for a round when one is due, carries its actions out
in their order, and tells the scheduler what became of them. ``World`` stands for all that
is outside: users, hosts that fail, agents that take their time, starts that go wrong.
Nothing reads a clock; one seed gives one run.

    python examples/rounds.py [SEED]
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from phalanx_core import Gang, Spares, Topology
from phalanx_core.scheduling import (
    Action,
    Configuration,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)

HOSTS = Path(__file__).resolve().parent / "clusters" / "h100-64"
TENANTS = {"vision": 2.0, "speech": 1.0, "search": 1.0}
OPTIONS = SchedulerOptions(
    order="owed-then-utility", lease_s=1800.0, waiting_bound_s=7200.0
)
END_S = 12 * 3600.0
GRACE_S = 900.0  # until nothing can run any more on a host that was lost


class World:
    """Users, hosts and agents; what happens later is a heap of calls."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.later: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Have something happen."""
        self.count += 1
        heapq.heappush(self.later, (self.now + seconds, self.count, call))

    def request(self) -> JobRequest:
        """What a user asks for: a gang in up to three sizes."""
        ranks = self.random.choice((8, 16, 32, 64, 128))
        gang = Gang(
            ranks,
            group=8,
            templates=tuple(size for size in (ranks // 2, ranks // 4) if size >= 8),
        )
        sizes = (gang.ranks, *gang.templates)
        power = self.random.uniform(0.6, 0.95)
        ways = Configuration.sizes(gang, {size: size**power for size in sizes})
        return JobRequest(ways, self.random.choice(tuple(TENANTS)))


class Loop:
    """Carries decisions out; the scheduler is its only memory of who is where."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.topology = Topology.read(HOSTS)
        self.scheduler = Scheduler(
            self.topology,
            TENANTS,
            spares=Spares(per="superpod", size="host", count=1),
            options=OPTIONS,
        )
        self.log: list[tuple[Any, ...]] = []
        self.left_s: dict[str, float] = {}

    def run(self, restart_at: float = END_S) -> list[tuple[Any, ...]]:
        """All of it; what was done, in order."""
        world = self.world
        world.after(0.0, self.arrive)
        world.after(600.0, self.lose_host)
        while world.now < END_S:
            due = max(world.now, self.scheduler.next_round_s())
            if world.later and world.later[0][0] <= due:
                world.now, _, call = heapq.heappop(world.later)
                call()
                continue
            world.now = due
            if world.now >= restart_at:
                self.restart()
                restart_at = END_S
            for action in self.scheduler.round(world.now):
                self.carry_out(action)
        return self.log

    def restart(self) -> None:
        """The program ends and comes back: its saved state is all that it needs."""
        saved = self.scheduler.save()
        self.scheduler = Scheduler.load(self.topology, saved, options=OPTIONS)

    def carry_out(self, action: Action) -> None:
        """One action; what it takes time for is told later."""
        job, draw = action.job, self.world.random
        if action.kind == "keep" and not action.checkpoint:
            return
        self.log.append((self.world.now, action.kind, job, action.reason))
        if action.checkpoint:
            self.scheduler.checkpointed(job, seconds=draw.uniform(2, 10))
        if action.kind == "stop":
            self.world.after(draw.uniform(5, 90), lambda: self.released(job))
        elif action.kind == "start":
            self.world.after(draw.uniform(10, 40), lambda: self.started(job))
        elif action.kind == "move":
            self.world.after(GRACE_S, lambda: self.fenced(job))

    def released(self, job: str) -> None:
        """The agent says that the job's processes are gone."""
        if job in self.scheduler and self.scheduler.status(job).state == "stopping":
            self.scheduler.released(job, self.world.now)
            # Its leaves that are down stay in quarantine until nothing can run on them.
            self.world.after(GRACE_S, lambda: self.fenced(job))

    def started(self, job: str) -> None:
        """Its ranks run, or could not be started."""
        if job not in self.scheduler or self.scheduler.status(job).state != "starting":
            return
        if self.world.random.random() < 0.03:
            self.scheduler.start_failed(job, self.world.now)
        else:
            self.scheduler.started(job, self.world.now)
            self.world.after(60.0, lambda: self.work(job))

    def work(self, job: str) -> None:
        """A minute of work; jobs end once they have done enough."""
        if job not in self.scheduler or self.scheduler.status(job).state != "running":
            return
        self.scheduler.progress(job, 60.0)
        if self.scheduler.status(job).progress_s >= self.left_s[job]:
            account = self.scheduler.finish(job, self.world.now)
            self.world.after(GRACE_S, lambda: self.fenced(job))
            self.log.append((self.world.now, "finish", job, f"{account.service:.0f}"))
        else:
            self.world.after(60.0, lambda: self.work(job))

    def fenced(self, job: str) -> None:
        """Nothing of a job runs any more on leaves that it lost."""
        self.scheduler.fenced(job)

    def arrive(self) -> None:
        """A user comes."""
        draw, job = self.world.random, f"job-{len(self.left_s)}"
        self.left_s[job] = draw.expovariate(1 / 3600.0)
        self.scheduler.submit(job, self.world.request(), self.world.now)
        self.world.after(draw.expovariate(1 / 180.0), self.arrive)

    def lose_host(self) -> None:
        """A host goes down, and comes back after a while."""
        draw = self.world.random
        host = draw.randrange(self.topology.domain_count("host"))
        leaves = self.topology.leaves("host", host)
        self.log.append(
            (self.world.now, "lost", host, f"{self.scheduler.fail(leaves)}")
        )
        self.world.after(draw.uniform(600, 5400), lambda: self.heal(leaves))
        self.world.after(draw.expovariate(1 / 2400.0), self.lose_host)

    def heal(self, leaves: Any) -> None:
        """It is back."""
        self.scheduler.heal(leaves)


def main() -> None:
    """Print what was done, counted, and the accounts at the end."""
    loop = Loop(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    log = loop.run()
    for kind, count in Counter(str(entry[1]) for entry in log).most_common():
        print(f"{count:6} {kind}")
    for name in TENANTS:
        account = loop.scheduler.ledger.tenant(name)
        print(
            f"{name}: {account.service / 3600:.0f} GPU-hours had, "
            f"{account.entitled / 3600:.0f} due, ratio {account.ratio:.2f}"
        )


if __name__ == "__main__":
    main()

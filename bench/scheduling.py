"""Whole rounds of the scheduler, beside the parts they are made of, called directly."""

from __future__ import annotations

import random
from statistics import median
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.timing import quantiles
from phalanx_core import Gang, Topology, score, solve
from phalanx_core.experiments.timing import quiet
from phalanx_core.fairness import (
    Candidates,
    TenantAccounts,
    allocate_round,
    tenant_budgets_by_type,
)
from phalanx_core.scheduling import (
    Configuration,
    Decision,
    JobRequest,
    Scheduler,
    SchedulerOptions,
)
from phalanx_core.scheduling.records import JobRecord

TENANTS = 4
ROUND_S = 60.0
# Share of the running jobs that end between two rounds, each replaced by a new one.
ENDING = 0.02

Row = dict[str, Any]


class Size(NamedTuple):
    """A cluster, its jobs, and how many rounds are measured."""

    spec: str
    jobs: int
    gpus: tuple[int, ...]
    rounds: int


SIZES = {
    "40": Size("host:3 gpu:4", 40, (1, 2, 4, 8, 12), 200),
    "1000": Size("pod:4 rail:2 host:32 gpu:8", 1000, (1, 2, 4, 8, 16, 32), 40),
    "10000": Size("pod:64 rail:8 host:32 gpu:8", 10_000, (1, 2, 4, 8, 16, 32, 64), 15),
}
ORDERS = ("utility", "owed", "owed-then-utility")


class Workload:
    """Jobs of three sizes each, that come and go between rounds.

    Every lease is over at every round, so that each round chooses for all jobs.
    """

    def __init__(self, size: Size, order: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.size = size
        self.gangs = {one: Gang(one, group=min(one, 4)) for one in size.gpus}
        options = SchedulerOptions(
            order=order, releases="immediate", lease_s=ROUND_S, round_s=ROUND_S
        )
        tenants = {f"t{at}": 1.0 + at for at in range(TENANTS)}
        topology = Topology.from_spec(size.spec)
        self.scheduler = Scheduler(topology, tenants, options=options)
        self.now, self.number = 0.0, 0
        for _ in range(size.jobs):
            self.submit()

    def submit(self) -> None:
        """A new job."""
        draw = self.random
        sizes = sorted(draw.sample(self.size.gpus, 3))
        power = draw.uniform(0.5, 0.95)
        ways = tuple(Configuration(self.gangs[one], one**power) for one in sizes)
        tenant = f"t{draw.randrange(TENANTS)}"
        self.scheduler.submit(self.number, JobRequest(ways, tenant), self.now)
        self.number += 1

    def turn_over(self, decision: Decision) -> None:
        """A round's time goes by."""
        for action in decision.of("start"):
            self.scheduler.started(action.job)
        running = [one.job for one in decision if one.kind in ("start", "keep")]
        self.now += ROUND_S
        ended = self.random.sample(running, max(1, int(len(running) * ENDING)))
        for job in ended:
            self.scheduler.finish(job, self.now)
            self.submit()


class Parts:
    """What a round needs of score, solve, fairness and placement, its data at hand."""

    def __init__(self, workload: Workload) -> None:
        scheduler = workload.scheduler
        self.scheduler, self.options = scheduler, scheduler.options
        self.jobs: list[JobRecord] = list(scheduler._records.values())
        rows = [one.row for one in self.jobs]
        self.goodput = scheduler._table.goodput[rows]
        self.demand = scheduler._table.demand[rows]
        self.current = np.array([one.configuration for one in self.jobs])
        now = workload.now
        self.waiting = np.array([one.waiting_s(now) for one in self.jobs])
        names = {name: at for at, name in enumerate(scheduler.ledger.tenants())}
        self.tenant = np.array([names[one.request.tenant] for one in self.jobs])
        self.keys = [one.job for one in self.jobs]
        self.capacity = scheduler.topology.leaf_count

    def run(self) -> None:
        """By the order of the scheduler."""
        if self.options.order == "owed":
            self._owe()
            return
        none = np.zeros(len(self.jobs))
        worth = score(
            self.goodput, none, none, 30.0, self.waiting, current=self.current
        )
        tenant = quota = None
        if self.options.order == "owed-then-utility":
            claims = np.zeros((TENANTS, 1), np.int64)
            np.add.at(claims, self.tenant, self.demand.max(axis=1))
            capacity = np.array([self.capacity])
            tenant = self.tenant
            quota = tenant_budgets_by_type(self._accounts(), claims, capacity, ROUND_S)
        answer = solve(
            np.asarray(worth, np.float64),
            self.demand[:, :, 0],
            self.capacity,
            current=self.current,
            tenant=tenant,
            quota=quota,
            gap=self.options.gap,
            effort=self.options.effort,
        )
        self._place(answer.choice)

    def _place(self, choice: NDArray[np.int32]) -> None:
        planner = next(iter(self.scheduler.planners.values())).clone()
        fresh = []
        for record, chosen in zip(self.jobs, choice.tolist(), strict=True):
            if chosen != record.configuration:
                if record.holds:
                    planner.release(record.job)
                if chosen >= 0:
                    fresh.append((record, chosen))
        for record, chosen in fresh:
            planner.place(record.job, record.request.ways[chosen].gang)

    def _accounts(self) -> TenantAccounts:
        table = self.scheduler.ledger.tenant_table()
        return TenantAccounts(table.service, table.entitled, table.quota)

    def _owe(self) -> None:
        planner = next(iter(self.scheduler.planners.values())).clone()
        for record in self.jobs:
            if record.holds:
                planner.release(record.job)
        candidates = Candidates(
            tenant=self.tenant,
            ratio=self.scheduler.ledger.job_ratios(self.keys),
            gpus=self.demand.max(axis=(1, 2)),
        )

        def place(at: int) -> int:
            record = self.jobs[at]
            for way in reversed(record.request.ways):
                if planner.place(record.job, way.gang):
                    return way.gpus
            return 0

        allocate_round(candidates, self._accounts(), ROUND_S, place)


def _row(name: str, order: str, seed: int, rounds: int) -> Row:
    size = SIZES[name]
    workload = Workload(size, order, seed)
    with quiet():
        before = perf_counter_ns()
        decision = workload.scheduler.round(workload.now)
        first = perf_counter_ns() - before
        workload.turn_over(decision)
        ours: list[float] = []
        theirs: list[float] = []
        stages: dict[str, list[float]] = {}
        for _ in range(rounds):
            workload.scheduler.ledger.advance(workload.now)
            parts = Parts(workload)
            before = perf_counter_ns()
            parts.run()
            middle = perf_counter_ns()
            decision = workload.scheduler.round(workload.now)
            ours.append(float(perf_counter_ns() - middle))
            theirs.append(float(middle - before))
            for stage, seconds in decision.times_s.items():
                stages.setdefault(stage, []).append(seconds * 1e3)
            workload.turn_over(decision)
    workload.scheduler.validate()
    told = ", ".join(f"{stage} {median(of):.3g}" for stage, of in stages.items())
    return {
        "row": f"schedule/{name}" + ("" if order == ORDERS[0] else f"/{order}"),
        "leaves": workload.scheduler.topology.leaf_count,
        "ours": quantiles([], ours),
        "peer": "its parts, called directly",
        "theirs": quantiles([], theirs),
        "stages_ms": told,
        "first_ms": first / 1e6,
    }


def measure(seed: int, *, few: bool) -> list[Row]:
    """Nanoseconds a round, by size and order; every round chooses for all jobs."""
    names = ("40",) if few else tuple(SIZES)
    return [
        _row(name, order, seed, 5 if few else SIZES[name].rounds)
        for name in names
        for order in ORDERS
    ]

"""Random histories of many tenants through a scheduler, and an embedder that watches.

Run as ``python -m tests.properties.scheduler_walk --histories 200 --seed 0``. Prints how
often each kind and reason of action was met and a digest of all decisions; exits with 1
where one was met too rarely to say that it was tested.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from random import Random
from typing import Any

from phalanx_core import Gang, Spares
from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.scheduling import (
    Decision,
    JobRequest,
    Scheduler,
    Why,
)
from tests.properties.scheduler_drawn import (
    drawn_options,
    drawn_topology,
    drawn_way,
    possible,
)
from tests.properties.scheduler_embedder import Embedder, Job

TENANTS = ("red", "green", "blue")


STEPS = 60

# How often a step is drawn; rounds come in between by the clock.
WEIGHTS = {
    "submit": 22,
    "finish": 5,
    "cancel": 4,
    "fail": 5,
    "heal": 6,
    "drain": 3,
    "released": 14,
    "started": 12,
    "start_failed": 1,
    "progress": 8,
    "checkpointed": 5,
    "fenced": 4,
    "reweight": 2,
    "set_tenant": 2,
    "misuse": 2,
    "reload": 2,
    "nothing": 5,
}

# Least count of each in a hundred histories.
FLOORS = {
    **dict.fromkeys(("stop", "release", "start", "move", "keep", "wait"), 100),
    **{
        f"{kind} {why.value}": 3
        for kind, whys in {
            "stop": (
                *(Why.LEASE_ENDED, Why.RECONFIGURED, Why.CANCELLED),
                *(Why.BROKEN, Why.DRAINED, Why.EVICTED),
            ),
            "release": (Why.RELEASED,),
            "start": (Why.CHOSEN, Why.BORROWED, Why.OVERDUE),
            "move": (Why.FAILED, Why.DRAINING),
            "keep": (Why.LEASED, Why.RENEWED, Why.RESERVED, Why.BORROWED),
            "wait": (
                *(Why.RESERVED, Why.OUTBID, Why.MISFIT, Why.HELD),
                *(Why.STOPPING, Why.INFEASIBLE),
            ),
        }.items()
        for why in whys
    },
    "cut": 3,
    "refused misuse": 50,
    "reload": 50,
    "budgets": 100,
    "nothing left": 100,
    "two types": 5,
    "spares": 5,
}


class Walk:
    """One history: a scheduler, an embedder, and what befalls them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.topology = drawn_topology(rng)
        self.options = drawn_options(rng)
        self.memory = dict.fromkeys(self.topology.type_names, 80.0)
        weights = {name: float(rng.choice((1, 1, 2))) for name in TENANTS}
        # Half the histories take whoever comes for a tenant.
        self.tenants = weights if rng.random() < 0.5 else None
        spares = Spares("cluster", "host") if rng.random() < 0.3 else None
        self.scheduler = Scheduler(
            self.topology,
            self.tenants,
            spares=spares,
            options=self.options,
            memory_bytes=self.memory,
        )
        self.embedder = Embedder(self.topology, self.options)
        self.seen = self.embedder.seen
        self.seen["two types"] += len(self.topology.type_names) > 1
        self.seen["spares"] += spares is not None
        self.digest = hashlib.blake2b(digest_size=16)
        self.count = 0

    def run(self, steps: int = STEPS) -> None:
        """So many events, and a round whenever one is due."""
        names, weights = list(WEIGHTS), list(WEIGHTS.values())
        for name in self.rng.choices(names, weights, k=steps):
            getattr(self, f"_{name}")()
            self.embedder.sound(self.scheduler)
            due = self.scheduler.next_round_s()
            if due <= self.embedder.now or self.rng.random() < 0.4:
                self.round()

    def _later(self, most: int = 40) -> int:
        now = self.embedder.now + self.rng.randint(0, most)
        self.embedder.advance(now)
        return now

    def round(self) -> Decision:
        """Decide, carry out, and look at everything."""
        now = self._later(90)
        decision = self.scheduler.round(now)
        told = json.dumps(decision.to_dict(), sort_keys=True)
        self.digest.update(told.encode())
        before = dict(self.embedder.jobs)
        self.embedder.carry_out(decision)
        self.embedder.sound(self.scheduler)
        self.seen["cut"] += len(decision.cuts)
        self._within_budgets(decision, before)
        self._evictions(decision, before)
        self._nothing_left(decision)
        if self.options.early_eviction is None:
            assert not [one for one in decision if one.why is Why.EVICTED]
        for action in decision.of("start"):
            if action.worth is not None and action.why is not Why.OVERDUE:
                assert action.worth >= self.options.idle
        return decision

    def _within_budgets(self, decision: Decision, jobs: dict[Any, Job]) -> None:
        """No choice takes a tenant beyond its budget, but where it is told BORROWED.

        What a tenant has anyway - leases that go on, jobs kept by a drain or for a
        reservation, and those that waited too long - counts first, and may alone be more
        than the budget; what is chosen then goes up to the budget and no further. An early
        eviction is no choice of the budgets.
        """
        if self.options.order != "owed-then-utility":
            assert decision.budgets is None
            return
        if decision.budgets is None or self.options.early_eviction is not None:
            return
        self.seen["budgets"] += 1
        names, types = self.scheduler.ledger.tenants(), self.topology.type_names
        chosen: Counter[tuple[str, str]] = Counter()
        anyway: Counter[tuple[str, str]] = Counter()
        for action in decision:
            if action.kind.value not in ("start", "keep", "move"):
                continue
            if action is not decision.outcome(action.job) or action.type is None:
                continue
            key = jobs[action.job].request.tenant, action.type
            if action.why in (Why.CHOSEN, Why.RENEWED):
                chosen[key] += len(action.leaves)
            elif action.why is not Why.BORROWED:
                anyway[key] += len(action.leaves)
        for at, name in enumerate(names):
            for column, type in enumerate(types):
                budget = int(decision.budgets[at, column])
                rest = max(0, budget - anyway[name, type])
                assert chosen[name, type] <= rest, (name, type, budget)

    def _nothing_left(self, decision: Decision) -> None:
        """Nobody waits who fits on what is free, held leaves and bounded cuts aside."""
        options = self.options
        by_turns = options.order == "owed" and options.pass_over == "job"
        by_worth = options.order != "owed" and not decision.cuts and not options.idle
        if options.releases == "reported" or not (by_turns or by_worth):
            return
        if any(action.why in (Why.RESERVED, Why.EVICTED) for action in decision):
            return
        self.seen["nothing left"] += 1
        for name, job in self.embedder.jobs.items():
            for at, way in enumerate(job.request.ways):
                if not job.leaves and job.possible[at]:
                    type = way.type or self.topology.type_names[0]
                    assert not self.scheduler.planners[type].fits(way.gang), name

    def _evictions(self, decision: Decision, jobs: dict[Any, Job]) -> None:
        """Only for a job of the same tenant that starts, or will on those leaves."""
        for action in decision.of("stop"):
            if action.why is not Why.EVICTED:
                continue
            other = action.reason.partition("for ")[2]
            (name,) = (one for one in jobs if repr(one) == other)
            wanted, evicted = jobs[name], jobs[action.job]
            assert wanted.request.tenant == evicted.request.tenant
            last = decision.outcome(name)
            assert last.kind.value == "start" or last.why is Why.HELD

    def _submit(self) -> None:
        rng, now = self.rng, self._later()
        request = JobRequest(
            [drawn_way(rng, self.topology) for _ in range(rng.choice((1, 1, 2, 3)))],
            tenant=rng.choice(TENANTS),
            weight=rng.choice((1.0, 1.0, 3.0)),
            priority=rng.choice((0, 0, 0, 5)),
            urgent=rng.random() < 0.1,
        )
        self.count += 1
        name = self.count if rng.random() < 0.3 else f"job-{self.count}"
        self.scheduler.submit(name, request, now)
        able = tuple(possible(self.topology, way) for way in request.ways)
        job = Job(request, self.count, able)
        job.waiting_since_s = now
        self.embedder.jobs[name] = job

    def _some(self, wanted: Any) -> Any:
        names = [name for name, job in self.embedder.jobs.items() if wanted(job)]
        return self.rng.choice(names) if names else None

    def _finish(self) -> None:
        name = self._some(lambda job: job.leaves and not job.starting)
        if name is None:
            return
        now, job = self._later(), self.embedder.jobs[name]
        account = self.scheduler.finish(name, now, failed=self.rng.random() < 0.3)
        assert abs(account.service - job.served) <= 1e-9 * max(1, job.served)
        job.cancelled = True
        self.embedder.vacate(name)

    def _cancel(self) -> None:
        name = self._some(lambda job: True)
        if name is None:
            return
        self.scheduler.cancel(name, self._later())
        job = self.embedder.jobs[name]
        job.cancelled = True
        if not job.leaves:
            del self.embedder.jobs[name]

    def _leaves(self) -> list[int]:
        if self.rng.random() < 0.2:
            row = self.topology.domain_of("host")
            host = self.rng.choice(row.tolist())
            return [leaf for leaf, own in enumerate(row.tolist()) if own == host]
        return self.rng.sample(range(self.topology.leaf_count), self.rng.randint(1, 2))

    def _hit(self, leaves: list[int]) -> list[Any]:
        hit = {self.embedder.holder.get(leaf) for leaf in leaves} - {None}
        return sorted(hit, key=lambda name: self.embedder.jobs[name].turn)  # type: ignore[index]

    def _fail(self) -> None:
        leaves = self._leaves()
        assert self.scheduler.fail(leaves) == self._hit(leaves)
        self.embedder.down.update(leaves)

    def _drain(self) -> None:
        leaves = self._leaves()
        assert self.scheduler.drain(leaves) == self._hit(leaves)
        self.embedder.shut.update(leaves)

    def _heal(self) -> None:
        bad = sorted(self.embedder.down | self.embedder.shut)
        leaves = [leaf for leaf in bad if self.rng.random() < 0.6] or self._leaves()
        assert self.scheduler.heal(leaves) == self._hit(leaves)
        self.embedder.down.difference_update(leaves)
        self.embedder.shut.difference_update(leaves)

    def _released(self) -> None:
        name = self._some(lambda job: job.stopping)
        if name is None:
            return
        self.scheduler.released(name, self._later())
        self.embedder.freed.append((name, list(self.embedder.jobs[name].leaves)))
        self.embedder.vacate(name)

    def _started(self) -> None:
        name = self._some(lambda job: job.starting and not job.stopping)
        if name is not None:
            self.scheduler.started(name, self._later(), 7.0)
            self.embedder.jobs[name].starting = False
            self.embedder.jobs[name].cold_starts += 1

    def _start_failed(self) -> None:
        name = self._some(lambda job: job.starting and not job.stopping)
        if name is not None:
            self.scheduler.start_failed(name, self._later())
            self.embedder.vacate(name, ran=False)

    def _progress(self) -> None:
        name = self._some(lambda job: job.running)
        if name is not None:
            seconds = float(self.rng.randint(0, 100))
            self.scheduler.progress(name, seconds)
            self.embedder.jobs[name].progress_s += seconds

    def _checkpointed(self) -> None:
        name = self._some(lambda job: job.leaves)
        if name is not None:
            self.scheduler.checkpointed(name)
            self.embedder.jobs[name].save()

    def _fenced(self) -> None:
        whose = list(dict.fromkeys(self.embedder.fence.values()))
        if not whose:
            return
        name = self.rng.choice(whose)
        fence = self.embedder.fence
        mine = [leaf for leaf, one in fence.items() if one == name]
        assert sorted(self.scheduler.fenced(name).tolist()) == sorted(mine)
        for leaf in mine:
            del fence[leaf]

    def _reweight(self) -> None:
        name = self._some(lambda job: True)
        if name is not None:
            self.scheduler.reweight(name, self.rng.choice((0.5, 2.0)), self._later())

    def _set_tenant(self) -> None:
        name, weight = self.rng.choice(TENANTS), self.rng.choice((0.5, 1.0, 4.0))
        self.scheduler.set_tenant(name, weight, self._later())

    def _misuse(self) -> None:
        """A call that is refused changes nothing, time aside."""
        scheduler, now = self.scheduler, self.embedder.now
        scheduler.ledger.advance(now)
        before = scheduler.save()
        pending = self._some(lambda job: not job.leaves)
        calls: list[Any] = [
            lambda: scheduler.round(now - 1),
            lambda: scheduler.submit("x", Gang(1), now - 1),
            lambda: scheduler.submit("x", "gang", now),  # type: ignore[arg-type]
            lambda: scheduler.fail([0, 0]),
            lambda: scheduler.drain([self.topology.leaf_count]),
            lambda: scheduler.finish("nobody", now),
            lambda: scheduler.cancel("nobody", now),
            lambda: scheduler.progress("nobody", 1.0),
        ]
        if pending is not None:
            calls += [
                lambda: scheduler.released(pending, now),
                lambda: scheduler.started(pending, now),
                lambda: scheduler.progress(pending, -1.0),
                lambda: scheduler.submit(pending, Gang(1), now),
                lambda: scheduler.cancel(pending, now - 1),
            ]
        call = self.rng.choice(calls)
        try:
            call()
        except (InvalidRequest, UnknownJob):
            self.seen["refused misuse"] += 1
        else:
            raise AssertionError("a misuse was taken")
        assert scheduler.save() == before

    def _reload(self) -> None:
        """A restart goes on as if it had not been: the next decision is the same."""
        before, saved = self.scheduler, self.scheduler.save()
        self.scheduler = Scheduler.load(
            self.topology, saved, options=self.options, memory_bytes=self.memory
        )
        assert self.scheduler.save() == saved
        decision = self.round()
        assert before.round(self.embedder.now) == decision
        assert before.save() == self.scheduler.save()
        self.seen["reload"] += 1

    def _nothing(self) -> None:
        self._later(300)


def history(seed: int, at: int, steps: int = STEPS) -> Walk:
    """One history from its number."""
    walk = Walk(Random(f"{seed} {at}"))
    walk.run(steps)
    return walk


def campaign(histories: int, seed: int) -> tuple[Counter[str], str]:
    """Counts of what was met, and a digest of all decisions."""
    seen: Counter[str] = Counter()
    digest = hashlib.blake2b(digest_size=16)
    for at in range(histories):
        try:
            walk = history(seed, at)
        except Exception as error:
            error.add_note(f"history {at} of seed {seed}")
            raise
        seen += walk.seen
        digest.update(walk.digest.digest())
    return seen, digest.hexdigest()


def rare(seen: Counter[str], histories: int) -> dict[str, int]:
    """What was met more rarely than it must be."""
    return {
        name: seen[name]
        for name, floor in FLOORS.items()
        if seen[name] * 100 < floor * histories
    }


def main() -> int:
    """Run it; 1 where something was met too rarely."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    seen, digest = campaign(chosen.histories, chosen.seed)
    lines = [f"{seen[name]:8d}  {name}" for name in sorted(seen)]
    short = rare(seen, chosen.histories)
    lines += [f"TOO RARE: {name}: {count}" for name, count in short.items()]
    sys.stdout.write("\n".join([*lines, f"digest {digest}", ""]))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())

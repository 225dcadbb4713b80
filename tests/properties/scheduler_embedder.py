"""An embedder that carries decisions out literally, and believes nothing else.

It knows which leaf which job has, because it put it there: it shares no code and no state
with the scheduler, whose answers it compares with its own after every event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from phalanx_core import Gang, OwnerKind, Topology
from phalanx_core.placement import Health, Owner
from phalanx_core.scheduling import (
    Action,
    ActionKind,
    Decision,
    JobRequest,
    Scheduler,
    SchedulerOptions,
    Why,
)

ORDER = list(ActionKind)


@dataclass
class Job:
    """What the embedder knows of a job."""

    request: JobRequest
    turn: int
    possible: tuple[bool, ...]
    leaves: list[int] = field(default_factory=list)
    configuration: int = -1
    stopping: bool = False
    saves: bool = False
    starting: bool = False
    cancelled: bool = False
    lease_start_s: float = 0.0
    lease_end_s: float | None = None
    renewals: int = 0
    leases: int = 0
    served: int = 0
    waiting_since_s: int = 0
    progress_s: float = 0.0
    saved_s: float = 0.0
    lost_s: float = 0.0
    checkpoints: int = 0
    cold_starts: int = 0

    def save(self) -> None:
        """A snapshot is complete."""
        self.saved_s = self.progress_s
        self.checkpoints += 1

    def lose(self) -> None:
        """Back to the last complete snapshot."""
        self.lost_s += self.progress_s - self.saved_s
        self.progress_s = self.saved_s

    @property
    def running(self) -> bool:
        """Whether it starts or runs."""
        return bool(self.leaves) and not self.stopping


class Embedder:
    """A map from leaf to job, changed by decisions and by what the program does.

    Attributes
    ----------
    seen
        How often each kind and reason of action was met, and other things.
    """

    def __init__(self, topology: Topology, options: SchedulerOptions) -> None:
        self.topology = topology
        self.options = options
        self.now = 0
        self.jobs: dict[str | int, Job] = {}
        self.holder: dict[int, str | int] = {}
        self.fence: dict[int, str | int] = {}
        self.down: set[int] = set()
        self.shut: set[int] = set()
        self.freed: list[tuple[str | int, list[int]]] = []
        self.leased = 0
        self.seen: Counter[str] = Counter()

    def advance(self, now: int) -> None:
        """GPU-seconds by this map alone."""
        for job in self.jobs.values():
            job.served += (now - self.now) * len(job.leaves)
        self.leased += (now - self.now) * len(self.holder)
        self.now = now

    def take(self, name: str | int, leaves: Sequence[int]) -> None:
        """Leaves become a job's; nobody may have them."""
        for leaf in leaves:
            assert leaf not in self.holder, f"{name!r}: leaf {leaf} is occupied"
            assert leaf not in self.fence, f"{name!r}: leaf {leaf} is quarantined"
            assert leaf not in self.down, f"{name!r}: leaf {leaf} is down"
            assert leaf not in self.shut, f"{name!r}: leaf {leaf} is closed"
            self.holder[leaf] = name

    def vacate(self, name: str | int, ran: bool = True) -> None:
        """A job's processes are gone; what is down stays out until it is fenced.

        One that never ran has waited since before its lease, which does not count.
        """
        job = self.jobs[name]
        for leaf in job.leaves:
            assert self.holder.pop(leaf) == name
            if leaf in self.down:
                self.fence[leaf] = name
        job.lose()
        job.leaves, job.configuration = [], -1
        job.stopping = job.starting = False
        job.lease_end_s, job.renewals = None, 0
        if ran:
            job.waiting_since_s = self.now
        else:
            job.leases -= 1
        if job.cancelled:
            del self.jobs[name]

    def carry_out(self, decision: Decision) -> None:
        """Each action in its order, then what must hold of all of them."""
        known = set(self.jobs)
        before = {name: list(job.leaves) for name, job in self.jobs.items()}
        ends = {name: job.lease_end_s for name, job in self.jobs.items()}
        self._ordered(decision)
        freed, self.freed = self.freed, []
        if self.options.releases == "reported":
            told = [(one.job, one.leaves.tolist()) for one in decision.of("release")]
            assert told == freed
        for action in decision:
            self.seen[f"{action.kind.value} {action.why.value}"] += 1
            self.seen[action.kind.value] += 1
            self.seen[action.why.value] += 1
            assert action.reason.startswith(action.why.value)
            getattr(self, f"_{action.kind.value}")(action)
        self._outcomes(decision, known, before)
        for action in decision:
            self._checkpoint(action, ends.get(action.job))
        for name, job in self.jobs.items():
            if job.running:
                dead = self.down.intersection(job.leaves)
                assert not dead, f"{name!r} goes on with dead ranks on {dead}"

    def _ordered(self, decision: Decision) -> None:
        """By kind, and within one by submission; moves and releases as they came."""
        kinds = [ORDER.index(action.kind) for action in decision]
        assert kinds == sorted(kinds)
        for kind in ("stop", "start", "keep", "wait"):
            turns = [self.jobs[action.job].turn for action in decision.of(kind)]
            assert turns == sorted(turns)

    def _outcomes(
        self,
        decision: Decision,
        known: set[str | int],
        before: dict[str | int, list[int]],
    ) -> None:
        """Every job has one outcome, and it is what the map says."""
        outcomes = {action.job: action for action in decision}
        missing = known - set(outcomes)
        assert not missing, f"no outcome for {missing}"
        counted = Counter(
            action.job
            for action in decision
            if action.kind not in (ActionKind.STOP, ActionKind.RELEASE, ActionKind.MOVE)
        )
        assert not [job for job, count in counted.items() if count > 1]
        for name, job in self.jobs.items():
            last = outcomes[name]
            assert last is decision.outcome(name)
            if job.stopping:
                assert last.kind in (ActionKind.STOP, ActionKind.WAIT)
            elif not job.leaves:
                assert last.kind is ActionKind.WAIT
            else:
                started = last.kind is ActionKind.START
                assert started or last.kind in (ActionKind.KEEP, ActionKind.MOVE)
                moved = [one for one in decision.of("move") if one.job == name]
                if not started and not moved:
                    assert job.leaves == before[name]

    def _checkpoint(self, action: Action, end: float | None) -> None:
        """Due exactly where a lease ends, renewed or not."""
        if action.kind is ActionKind.STOP:
            assert action.checkpoint == (action.why is not Why.BROKEN)
        elif action.kind is ActionKind.KEEP:
            assert end is not None
            assert action.checkpoint == (self.now >= end)
        else:
            assert action.checkpoint == (action.why is Why.DRAINING)

    def _stop(self, action: Action) -> None:
        job = self.jobs[action.job]
        assert job.running, f"{action.job!r} is told to stop and does not run"
        assert action.leaves.tolist() == job.leaves
        assert job.lease_end_s is not None
        over = self.now >= job.lease_end_s
        if action.why is Why.CANCELLED:
            assert job.cancelled
        elif action.why is Why.BROKEN:
            assert self.down.intersection(job.leaves)
        elif action.why is Why.EVICTED:
            self._evicted(job, over)
        else:
            assert over, f"{action.job!r} stops within its lease: {action.reason}"
            if action.why is Why.DRAINED:
                assert self.shut.intersection(job.leaves)
            else:
                assert action.why in (Why.LEASE_ENDED, Why.RECONFIGURED)
        job.stopping, job.saves, job.lease_end_s = True, action.checkpoint, None

    def _evicted(self, job: Job, over: bool) -> None:
        rule = self.options.early_eviction
        assert rule is not None
        assert not over
        assert not job.request.urgent
        age = self.now - job.lease_start_s
        if job.renewals:
            assert age < rule.renewed_s
        else:
            assert rule.first_s[0] <= age < rule.first_s[1]

    def _release(self, action: Action) -> None:
        if self.options.releases == "reported":
            return
        job = self.jobs[action.job]
        assert job.stopping
        assert action.leaves.tolist() == job.leaves
        if job.saves:
            job.save()
        self.vacate(action.job)

    def _start(self, action: Action) -> None:
        job = self.jobs[action.job]
        assert not job.leaves, f"{action.job!r} starts and has leaves"
        assert not job.cancelled
        assert job.possible[action.configuration], f"{action.job!r} can never run so"
        way = job.request.ways[action.configuration]
        leaves = action.leaves.tolist()
        self.take(action.job, leaves)
        self.whole(way.gang, leaves, action.type)
        assert action.why in (Why.CHOSEN, Why.BORROWED, Why.OVERDUE)
        if way.type is not None:
            assert action.type == way.type
        job.leaves, job.configuration, job.starting = leaves, action.configuration, True
        job.lease_start_s, job.renewals = float(self.now), 0
        job.lease_end_s = self.now + self.options.lease_s
        assert action.lease_end_s == job.lease_end_s
        job.leases += 1

    def _move(self, action: Action) -> None:
        job = self.jobs[action.job]
        assert job.running
        assert action.repair is not None
        dead = self.down.intersection(job.leaves)
        assert dead if action.why is Why.FAILED else self.shut.intersection(job.leaves)
        for rank, old, new in action.repair.moves.tolist():
            assert job.leaves[rank] == old
            self.take(action.job, [new])
            assert self.holder.pop(old) == action.job
            self.fence[old] = action.job
            job.leaves[rank] = new
        assert action.leaves.tolist() == job.leaves
        way = job.request.ways[job.configuration]
        self.whole(way.gang, job.leaves, action.type)
        assert action.lease_end_s is not None
        job.cold_starts += 1
        if action.why is Why.FAILED:
            job.lose()

    def _keep(self, action: Action) -> None:
        job = self.jobs[action.job]
        assert job.running
        assert job.lease_end_s is not None
        assert action.leaves.tolist() == job.leaves
        assert action.configuration == job.configuration
        if self.now < job.lease_end_s:
            assert action.why is Why.LEASED
            assert action.lease_end_s == job.lease_end_s
            return
        assert action.lease_end_s is not None
        assert self.now < action.lease_end_s <= self.now + self.options.lease_s
        job.lease_start_s, job.lease_end_s = float(self.now), action.lease_end_s
        job.renewals += 1
        job.leases += 1

    def _wait(self, action: Action) -> None:
        job = self.jobs[action.job]
        if job.stopping:
            assert action.why is Why.STOPPING
            assert action.leaves.tolist() == job.leaves
            return
        assert not job.leaves
        assert not action.leaves.size
        assert action.why is not Why.STOPPING
        assert (action.why is Why.INFEASIBLE) == (not any(job.possible))

    def whole(self, gang: Gang, leaves: list[int], type: str | None) -> None:
        """A gang has all its ranks, on one type, each run of them in one domain."""
        topology = self.topology
        assert len(leaves) == gang.ranks == len(set(leaves))
        assert {topology.type_names[topology.type_of[leaf]] for leaf in leaves} == {
            type
        }
        chain = [(gang.ranks, gang.within)] if gang.within else []
        chain += [(gang.group, gang.group_level or topology.levels[1])]
        for size, level in chain:
            row = np.asarray(topology.domain_of(level))[leaves]
            for at in range(0, gang.ranks, size):
                run = row[at : at + size].tolist()
                assert size == 1 or len(set(run)) == 1, f"{gang!r} is split: {leaves}"

    def sound(self, scheduler: Scheduler) -> None:
        """The scheduler's planners, ledger and records say what this map says."""
        scheduler.validate()
        scheduler.ledger.advance(self.now)
        assert set(scheduler.jobs()) == set(self.jobs)
        for planner in scheduler.planners.values():
            for leaf in np.flatnonzero(self._of_type(planner.type)).tolist():
                self._owned(planner.owner(leaf), leaf)
        for name, job in self.jobs.items():
            status = scheduler.status(name)
            assert status.configuration == job.configuration
            lease = status.lease
            assert (None if lease is None else lease.end_s) == job.lease_end_s
            assert (status.progress_s, status.lost_s) == (job.progress_s, job.lost_s)
            assert status.leases == job.leases
            assert status.checkpoints == job.checkpoints
            assert status.cold_starts == job.cold_starts
            waiting = None if job.leaves else job.waiting_since_s
            assert status.waiting_since_s == waiting
            placement = scheduler.placement(name)
            held = [] if placement is None else placement.leaves.tolist()
            assert held == job.leaves
            self._served(scheduler.ledger.job(name).service, job.served)
        self._served(scheduler.ledger.leased_s, self.leased)

    def _of_type(self, type: str) -> np.ndarray:
        return np.asarray(self.topology.type_of) == self.topology.type_names.index(type)

    def _owned(self, owner: Owner, leaf: int) -> None:
        kind, whose = owner.kind, owner.job
        if leaf in self.holder:
            assert (kind, whose) == (OwnerKind.JOB, self.holder[leaf])
        elif leaf in self.fence:
            assert (kind, whose) == (OwnerKind.QUARANTINE, self.fence[leaf])
        else:
            assert kind in (OwnerKind.FREE, OwnerKind.SPARE)
        assert (owner.health is Health.DOWN) == (leaf in self.down)
        assert owner.cordoned == (leaf in self.shut)

    def _served(self, told: float, here: int) -> None:
        assert abs(told - here) <= 1e-9 * max(1, here)

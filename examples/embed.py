"""A scheduler that embeds phalanx_core: 24 simulated hours on 64 real-shaped hosts.

``Scheduler`` is the part to copy. It holds a planner and a queue, and keeps no record of
who is where: what runs is asked of the planner, and after a restart of the cluster.
``Cluster`` stands for the world outside: pods, hosts, CPUs, refused binds, late deaths.
Nothing reads a clock; one seed gives one day.

    python examples/embed.py [SEED]
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from phalanx_core import Gang, Planner, Spares, StalePlan, Topology

HOSTS = Path(__file__).resolve().parent / "clusters" / "h100-64"
DAY_S = 24 * 3600
GRACE_S = 1800
CPUS_PER_HOST = 124

Decision = tuple[Any, ...]


@dataclass(frozen=True)
class Job:
    """What a user submits: a gang, the CPUs of each rank, and how long it runs."""

    name: str
    gang: Gang
    cpus: int
    runs_s: int


class Scheduler:
    """Admission and repair; the planner is its only memory of placements."""

    def __init__(self, topology: Topology, cluster: Cluster) -> None:
        spares = Spares(per="superpod", size="host", count=1)
        self.planner = Planner(topology, spares=spares)
        self.topology = topology
        self.cluster = cluster
        self.host_of = topology.domain_of("host")
        self.queue: list[str] = []
        self.patching: dict[str, Any] = {}  # plans whose patch is under way

    def restore(self) -> None:
        """Rebuild after a restart: adopt what runs, hear which hosts are ill."""
        for name, leaves in self.cluster.pods.items():
            self.planner.adopt(name, self.cluster.jobs[name].gang, leaves)
        self.planner.fail(self.leaves_of(self.cluster.down))
        self.planner.cordon(self.leaves_of(self.cluster.draining))
        self.planner.sync(self.cluster.described(self.topology))
        self.queue = list(self.cluster.waiting)

    def described(self) -> None:
        """The cluster's description changed: follow it, whatever it says.

        Here it marks single GPUs; hosts that come, go or move would do as well. Then ids
        are those of ``planner.topology`` from now on, so a program keeps names.
        """
        report = self.planner.sync(self.cluster.described(self.topology))
        if report.changed:
            broken = sorted(map(str, report.broken))
            self.cluster.log("sync", sorted(report.altered), broken)
            for name in broken:
                self.cluster.at(self.cluster.now + GRACE_S, "give up", name)

    def leaves_of(self, hosts: Iterable[int]) -> list[int]:
        """Leaf ids of hosts."""
        return [
            leaf for h in hosts for leaf in self.topology.leaves("host", h).tolist()
        ]

    def cpus_free(self, but: str | None = None) -> np.ndarray:
        """CPUs of each host that no job takes; ``but`` is left out of the count."""
        free = self.cluster.cpus.copy()
        for name in self.planner.jobs():
            if name != but:
                hosts = self.host_of[self.planner.placement(name).leaves]
                np.subtract.at(free, hosts, self.cluster.jobs[str(name)].cpus)
        return np.maximum(free, 0)

    def limits(self, name: str) -> dict[str, np.ndarray]:
        """Most ranks of a running job on each host, by the CPUs that others leave."""
        return {"host": self.cpus_free(but=name) // self.cluster.jobs[name].cpus}

    def admit(self) -> None:
        """Place what waits, oldest first; a refused bind gives the leaves back."""
        free = self.cpus_free()
        for name in list(self.queue):
            job = self.cluster.jobs[name]
            limits = {"host": free // job.cpus}
            placement = self.planner.place(name, job.gang, limits=limits)
            if not placement:
                self.cluster.log("wait", name, placement.code.name)
            elif self.cluster.bind(name, placement.leaves.tolist()):
                self.queue.remove(name)
                self.cluster.log("start", name, placement.leaves.tolist())
                free = self.cpus_free()
            else:
                self.planner.release(name)
                self.cluster.log("bind refused", name, placement.leaves.tolist())

    def finished(self, name: str) -> None:
        """A job ended; leaves that it lost stay out of use until fenced."""
        self.planner.release(name)
        self.patching.pop(name, None)
        self.cluster.log("finish", name)

    def mend(self) -> None:
        """Plan a repair of each broken job; it is applied when its pods are patched."""
        for name in sorted(map(str, self.planner.broken())):
            if name not in self.patching:
                self.patch(name, self.replan(name))

    def replan(self, name: str) -> Any:
        """A repair that keeps within the CPUs of today, not yet applied."""
        return self.planner.replan(name, limits=self.limits(name), apply=False)

    def patch(self, name: str, plan: Any) -> None:
        """Ask the cluster to move the pods of a plan, if there is one."""
        if not plan:
            self.cluster.log("no repair", name, plan.code.name)
            return
        self.patching[name] = plan
        self.cluster.log("plan", name, plan.moves.tolist())
        self.cluster.patch(name)

    def patched(self, name: str) -> None:
        """The cluster took the patch: commit the plan, unless the world moved on."""
        plan = self.patching.pop(name, None)
        if plan is None:
            return
        try:
            self.planner.apply(plan)
        except StalePlan:
            self.cluster.log("stale", name)
            return
        self.cluster.moved(name, plan.moves.tolist())
        self.cluster.log("repair", name, plan.moves.tolist())

    def lost(self, host: int) -> None:
        """A host fell silent."""
        hit = self.planner.fail(self.leaves_of([host]))
        self.cluster.log("lost", host, sorted(map(str, hit)))
        for name in sorted(map(str, hit)):
            self.cluster.at(self.cluster.now + GRACE_S, "give up", name)

    def healed(self, host: int) -> None:
        """A host is back; a job that still holds it goes on there."""
        self.planner.heal(self.leaves_of([host]))
        self.described()  # a host is back, the GPUs that are marked on it are not
        self.cluster.log("healed", host)

    def drain(self, host: int) -> None:
        """Empty a host for maintenance; jobs that cannot move stay, and are told.

        ``planner.drain`` does this within the limits of admission. Today's are wanted
        here, so a copy of the planner is asked what it would do without the host.
        """
        leaves = self.leaves_of([host])
        hit = sorted(map(str, self.planner.cordon(leaves)))
        self.cluster.log("drain", host, hit)
        trial = self.planner.clone()
        trial.fail(leaves)
        for name in hit:
            if name not in self.patching:
                self.patch(name, trial.replan(name, limits=self.limits(name)))

    def drained(self, host: int) -> None:
        """Maintenance is over."""
        self.planner.uncordon(self.leaves_of([host]))
        self.cluster.log("drained", host)

    def give_up(self, name: str) -> None:
        """No half gang for ever: a job still broken goes back to the queue, whole."""
        if name in map(str, self.planner.broken()):
            self.cluster.stop(name, self.host_of)
            self.finished(name)
            self.cluster.waiting[name] = None
            self.queue.append(name)
            self.cluster.log("requeue", name)

    def fenced(self, name: str) -> None:
        """The last old pod of a job is gone: what it held back is free."""
        self.planner.fenced(name)
        self.cluster.log("fenced", name)


@dataclass
class Cluster:
    """The world: pods and hosts as an API server shows them, and what happens to them."""

    seed: int
    cpus: np.ndarray  # of each host, those of pods that this scheduler starts excluded
    jobs: dict[str, Job] = field(default_factory=dict)
    waiting: dict[str, None] = field(default_factory=dict)
    pods: dict[str, list[int]] = field(default_factory=dict)  # leaf of each rank
    down: dict[int, None] = field(default_factory=dict)
    draining: dict[int, None] = field(default_factory=dict)
    marked: dict[int, None] = field(default_factory=dict)  # GPUs found unhealthy
    dying: Counter[str] = field(default_factory=Counter)  # old pods of each job
    patches: int = 0
    tries: Counter[str] = field(default_factory=Counter)
    decisions: list[Decision] = field(default_factory=list)
    now: int = 0
    agenda: list[tuple[int, int, str, Any]] = field(default_factory=list)

    def described(self, topology: Topology) -> Topology:
        """The cluster as its API server shows it now, marks included."""
        ill = tuple(topology.names[leaf] for leaf in sorted(self.marked))
        report = topology.report
        return (
            topology
            if report is None
            else replace(topology, report=replace(report, tainted=ill))
        )

    def log(self, *decision: Any) -> None:
        """Note what the scheduler decided, and when."""
        self.decisions.append((self.now, *decision))

    def at(self, time_s: int, event: str, about: Any) -> None:
        """Something will happen; events of one moment happen in the order noted."""
        number = self.tries["event"] = self.tries["event"] + 1
        heapq.heappush(self.agenda, (time_s, number, event, about))

    def luck(self, what: str, name: str) -> Random:
        """Draws that depend on what is done and how often, not on when."""
        self.tries[what + name] += 1
        return Random(f"{self.seed} {what} {name} {self.tries[what + name]}")

    def bind(self, name: str, leaves: list[int]) -> bool:
        """Start pods; one bind in twelve is refused."""
        if self.luck("bind", name).random() < 1 / 12:
            return False
        del self.waiting[name]
        self.pods[name] = leaves
        started = self.tries["bind" + name]
        self.at(self.now + self.jobs[name].runs_s, "finish", (name, started))
        return True

    def patch(self, name: str) -> None:
        """Take a patch of a job's pods; the answer comes later."""
        self.patches += 1
        wait_s = self.luck("patch", name).randint(5, 90)
        self.at(self.now + wait_s, "patched", name)

    def moved(self, name: str, moves: list[list[int]]) -> None:
        """Pods of some ranks run elsewhere now; the old ones take long to die."""
        for rank, _, leaf in moves:
            self.pods[name][rank] = leaf
        self.die(name, len(moves))

    def stop(self, name: str, host_of: np.ndarray) -> None:
        """A job's pods end; those on lost hosts cannot be asked to, sick GPUs hang."""
        leaves = self.pods.pop(name)
        hosts = host_of[leaves].tolist()
        pairs = zip(hosts, leaves, strict=True)
        if lost := sum(
            host in self.down or leaf in self.marked for host, leaf in pairs
        ):
            self.die(name, lost)

    def die(self, name: str, pods: int) -> None:
        """Old pods will be gone in one to forty minutes."""
        self.dying[name] += pods
        wait_s = self.luck("death", name).randint(60, 2400)
        self.at(self.now + wait_s, "gone", (name, pods))

    @property
    def quiet(self) -> bool:
        """Whether no old pod lingers and no patch is under way."""
        return not self.patches and not +self.dying


def workload(seed: int, cluster: Cluster, hosts: int) -> None:
    """Put a day on the cluster's agenda: arrivals, losses of hosts, drains."""
    dice = Random(f"{seed} day")
    for number in range(260):
        gang, cpus = _shape(dice)
        name = f"job-{number:03d}"
        runs_s = round(min(dice.expovariate(1 / 6000), 30000)) + 600
        cluster.jobs[name] = Job(name, gang, cpus, runs_s)
        cluster.at(dice.randrange(DAY_S), "submit", name)
    for _ in range(60):
        host, time_s = dice.randrange(hosts), dice.randrange(DAY_S)
        back_s = time_s + dice.randint(1200, 7200)
        cluster.at(time_s, "lose", (host, back_s))
        if dice.random() < 0.4:  # a shared cause takes a second one with it
            other = dice.randrange(hosts)
            cluster.at(time_s + dice.randint(1, 60), "lose", (other, back_s))
    for hour in range(24):
        for host in dice.sample(range(hosts), 4):  # CPU pods come and go
            cpus = CPUS_PER_HOST - dice.randrange(40)
            cluster.at(hour * 3600, "cpus", (host, cpus))
    for _ in range(14):
        cluster.at(dice.randrange(DAY_S), "drain", dice.randrange(hosts))
    for _ in range(25):  # bus errors, found by a health check
        cluster.at(dice.randrange(DAY_S), "mark", dice.randrange(hosts * 8))


def _shape(dice: Random) -> tuple[Gang, int]:
    kind = dice.random()
    if kind < 0.1:  # replicas of two hosts that need one leaf switch
        ranks = 16 * dice.choice([1, 2, 3, 4, 6])
        replicas = [(16, "leafgroup")]
        gang = Gang(ranks, group=8, group_level="host", slices=replicas)
        return gang, dice.choice([8, 12])
    if kind < 0.3:  # tensor parallel over whole hosts
        ranks = 8 * dice.choice([1, 2, 4, 8, 12, 16])
        gang = Gang(ranks=ranks, group=8, group_level="host", within="superpod")
        return gang, dice.choice([8, 12, 14])
    if kind < 0.6:  # half hosts
        ranks = 4 * dice.choice([1, 2, 3, 5, 8])
        gang = Gang(ranks=ranks, group=4, group_level="host", prefer="leafgroup")
        return gang, dice.choice([8, 14, 20])
    return Gang(ranks=dice.choice([1, 1, 2, 3]), aim="fill"), dice.choice([4, 16, 30])


def happen(cluster: Cluster, scheduler: Scheduler, event: str, about: Any) -> None:
    """One event of the world, told to the scheduler as a watch would tell it."""
    match event:
        case "submit":
            cluster.waiting[about] = None
            scheduler.queue.append(about)
        case "finish":
            name, started = about
            if name in cluster.pods and cluster.tries["bind" + name] == started:
                cluster.stop(name, scheduler.host_of)
                scheduler.finished(name)
        case "lose":
            host, back_s = about
            if host not in cluster.down:
                cluster.down[host] = None
                cluster.at(max(back_s, cluster.now + 60), "heal", host)
                scheduler.lost(host)
        case "heal":
            del cluster.down[about]
            scheduler.healed(about)
        case "drain":
            if about not in cluster.draining:
                cluster.draining[about] = None
                cluster.at(cluster.now + 3600, "drained", about)
                scheduler.drain(about)
        case "mark":
            if about not in cluster.marked:
                cluster.marked[about] = None
                cluster.at(cluster.now + 5400, "clear", about)
                scheduler.described()
        case "clear":
            del cluster.marked[about]
            scheduler.described()
        case "drained":
            del cluster.draining[about]
            scheduler.drained(about)
        case "patched":
            cluster.patches -= 1
            scheduler.patched(about)
        case "gone":
            name, pods = about
            cluster.dying[name] -= pods
            if not cluster.dying[name]:
                scheduler.fenced(name)
        case "give up":
            scheduler.give_up(about)
        case "cpus":
            host, cpus = about
            cluster.cpus[host] = cpus
    scheduler.mend()
    scheduler.admit()


def run(seed: int, restart_at: int | None = None) -> list[Decision]:
    """Live one day; every decision as (second, what, about what, ...).

    With ``restart_at`` the scheduler is thrown away at the first moment from that second
    on at which no old pod lingers and no patch is under way, and built anew.
    """
    topology = Topology.read(HOSTS)
    hosts = topology.domain_count("host")
    cluster = Cluster(seed, np.full(hosts, CPUS_PER_HOST))
    workload(seed, cluster, hosts)
    scheduler = Scheduler(topology, cluster)
    while cluster.agenda and cluster.agenda[0][0] < DAY_S:
        if restart_at is not None and cluster.now >= restart_at and cluster.quiet:
            scheduler, restart_at = Scheduler(topology, cluster), None
            scheduler.restore()
        cluster.now, _, event, about = heapq.heappop(cluster.agenda)
        happen(cluster, scheduler, event, about)
    scheduler.planner.validate()
    if restart_at is not None:
        raise RuntimeError(f"seed {seed}: no quiet moment after second {restart_at}")
    return cluster.decisions


def main() -> None:
    """Print what a day came to."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    decisions = run(seed)
    counts = Counter(decision[1] for decision in decisions)
    print(f"24 hours of seed {seed}: {len(decisions)} decisions")
    for what in sorted(counts):
        print(f"  {what:<14}{counts[what]:>6}")
    moved = [decision for decision in decisions if decision[1] == "repair"]
    ranks = sum(len(decision[3]) for decision in moved)
    print(
        f"{len(moved)} repairs moved {ranks} ranks; every other rank stayed where it was"
    )
    same = run(seed, restart_at=DAY_S // 2) == decisions
    print(
        f"restarted at noon and rebuilt by adopt: decisions {'equal' if same else 'DIFFER'}"
    )


if __name__ == "__main__":
    main()

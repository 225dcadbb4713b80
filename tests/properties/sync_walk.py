"""A planner under a changing cluster, and a plain model that watches it.

The model is a dict from job to leaf names in rank order, one from leaf name to health as
the program told it, and sets of names. It knows nothing of positions, ids or trees.
"""

from __future__ import annotations

import warnings
from collections import Counter
from random import Random
from typing import Any

from phalanx_core import Gang, Handle, Health, OwnerKind, Planner, Spares, Topology

LEVELS = ["host", "rack", "pod"]
STEPS = ("submit", "release", "tell", "repair", "fence", "change", "nothing", "reload")


class Fleet:
    """Hosts as a cluster lists them: name to (pod, rack, GPUs)."""

    def __init__(self, rng: Random) -> None:
        self.hosts: dict[str, tuple[str, str | None, int]] = {}
        self.made = 0
        for _ in range(rng.randint(3, 7)):
            self.add(rng)

    def add(self, rng: Random) -> None:
        """A host that was never there."""
        self.hosts[f"h{self.made}"] = *self.place(rng), rng.randint(1, 4)
        self.made += 1

    def place(self, rng: Random) -> tuple[str, str | None]:
        """A pod and a rack of it; some hosts lie in no rack."""
        return rng.choice("pq"), rng.choice(("r", "s", None))

    def change(self, rng: Random) -> None:
        """One thing that happens to a cluster."""
        what = rng.choice(("add", "lose", "lose", "move", "move", "gpus", "order"))
        if what == "add" or len(self.hosts) < 3:
            self.add(rng)
            return
        host = rng.choice(list(self.hosts))
        pod, rack, gpus = self.hosts[host]
        if what == "lose":
            del self.hosts[host]
        elif what == "move":
            self.hosts[host] = *self.place(rng), gpus
        elif what == "gpus":
            self.hosts[host] = pod, rack, rng.randint(1, 5)
        else:
            self.hosts[host] = self.hosts.pop(host)

    def topology(self) -> Topology:
        """What a reader would compile."""
        rows = [
            (f"{host}.{at}", host, rack, pod)
            for host, (pod, rack, gpus) in self.hosts.items()
            for at in range(gpus)
        ]
        names, *labels = zip(*rows, strict=True)
        return Topology.from_labels(LEVELS, labels, names=names)

    def names(self) -> set[str]:
        """Leaves that are there."""
        return set(self.topology().names)


class SyncWalk:
    """Gangs come, break, are repaired and go; the cluster changes; nothing vanishes.

    Attributes
    ----------
    seen
        How often things happened.
    """

    def __init__(self, rng: Random) -> None:
        """A planner on a fleet, with or without spares."""
        self.fleet = Fleet(rng)
        self.past: list[dict[str, Any]] = []
        self.there = self.fleet.names()
        spares = rng.choice((None, Spares("rack", "host")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.planner = Planner(self.fleet.topology(), spares=spares)
        self.leaves: dict[Any, list[str]] = {}
        self.gangs: dict[Any, Gang] = {}
        self.taken: dict[str, Any] = {}
        self.health: dict[str, Health] = {}
        self.cordoned: set[str] = set()
        self.broken: dict[Any, str] = {}
        self.elsewhere: set[str] = set()
        self.count = 0
        self.seen: Counter[str] = Counter()

    def step(self, name: str, rng: Random) -> None:
        """One of ``STEPS``, and a look at everything."""
        getattr(self, name)(rng)
        self.sound()

    def name(self, leaf: int) -> str:
        """Name of a leaf id of now."""
        return self.planner.topology.names[leaf]

    def submit(self, rng: Random) -> None:
        """Some gangs of any shape, by key or by handle."""
        for _ in range(rng.randint(1, 4)):
            group = rng.choice((1, 1, 2, 3))
            within = rng.choice((None, "host", "rack", "pod"))
            gang = Gang(group * rng.randint(1, 3), group, "host", within=within)
            if rng.random() < 0.3:
                handles, _, _, leaves = self.planner.place_many([gang.ranks], gang)
                job: Any = Handle(int(handles[0]))
                placed = leaves.tolist() if handles[0] >= 0 else None
            else:
                job, self.count = self.count, self.count + 1
                answer = self.planner.place(job, gang)
                placed = answer.leaves.tolist() if answer else None
            if placed is not None:
                assert job not in self.leaves
                self.leaves[job] = [self.name(leaf) for leaf in placed]
                self.gangs[job] = gang
                self.seen["placed"] += 1

    def release(self, rng: Random) -> None:
        """A job ends; its down leaves are taken from it."""
        if not self.leaves:
            return
        job = rng.choice(list(self.leaves))
        down = [name for name in self.leaves[job] if self.is_down(name)]
        if isinstance(job, Handle):
            self.planner.release_many([int(job)])
        else:
            self.planner.release(job)
        self.taken |= dict.fromkeys(down, job)
        del self.leaves[job], self.gangs[job]
        self.broken.pop(job, None)

    def is_down(self, name: str) -> bool:
        """As the planner should see it."""
        absent = name not in self.there or name in self.elsewhere
        return absent or self.health.get(name) is Health.DOWN

    def tell(self, rng: Random) -> None:
        """The program speaks of some leaf's health, there or not."""
        names = self.planner.topology.names
        name = rng.choice(names)
        what = rng.choice(("fail", "fail", "suspect", "heal", "cordon", "uncordon"))
        getattr(self.planner, what)([name])
        if what == "fail":
            self.health[name] = Health.DOWN
        elif what == "heal":
            self.health.pop(name, None)
        elif what == "suspect" and self.health.get(name) is not Health.DOWN:
            self.health[name] = Health.SUSPECT
        elif what == "cordon":
            self.cordoned.add(name)
        elif what == "uncordon":
            self.cordoned.discard(name)

    def repair(self, rng: Random) -> None:
        """Jobs that have a dead rank, the survivors stay."""
        for job in self.planner.broken():
            dead = [
                rank for rank, one in enumerate(self.leaves[job]) if self.is_down(one)
            ]
            assert dead
            repair = self.planner.replan(job)
            if not repair:
                self.seen["not repaired"] += 1
                continue
            self.seen["repaired"] += 1
            after = [self.name(leaf) for leaf in repair.leaves.tolist()]
            for before, now in zip(self.leaves[job], after, strict=True):
                if before != now:
                    self.taken[before] = job
            assert all(self.leaves[job][rank] != after[rank] for rank in dead)
            self.leaves[job] = after

    def fence(self, rng: Random) -> None:
        """The old processes of somebody are gone."""
        if self.taken:
            job = rng.choice(list(self.taken.values()))
            freed = {self.name(leaf) for leaf in self.planner.fenced(job).tolist()}
            assert freed == {name for name, whose in self.taken.items() if whose == job}
            for name in freed:
                del self.taken[name]

    def change(self, rng: Random) -> None:
        """The cluster changes, or is again as it was, and the planner hears of it."""
        self.past.append(dict(self.fleet.hosts))
        if rng.random() < 0.25:
            self.fleet.hosts = dict(rng.choice(self.past))
        else:
            for _ in range(rng.randint(1, 3)):
                self.fleet.change(rng)
        self.sync()

    def nothing(self, rng: Random) -> None:
        """The same description again; who was released since may leave for good."""
        self.sync()

    def reload(self, rng: Random) -> None:
        """A restart: the state is read again beside the description of now."""
        saved = self.planner.save()
        topology = rng.choice((self.fleet.topology(), self.planner.topology))
        self.planner = Planner.load(topology, saved)
        assert self.planner.save() == saved

    def sync(self) -> None:
        """Hear of the cluster as it is, twice."""
        topology = self.fleet.topology()
        before = self.there
        self.there = set(topology.names)
        report = self.planner.sync(topology)
        saved = self.planner.save()
        again = self.planner.sync(topology)
        assert not again.changed
        assert self.planner.save() == saved
        assert [again.added, again.removed, again.moved, again.altered] == [{}] * 4
        assert (again.broken, again.held) == (report.broken, report.held)
        assert len(report.kept) + len(report.broken) == len(self.leaves)
        assert {*report.kept, *report.broken} == set(self.leaves)
        self.broken = dict(report.broken)
        self.elsewhere = set(report.held) & self.there
        self.check_held(set(report.held), before)

    def check_held(self, held: set[str], before: set[str]) -> None:
        """Who is broken, and what is kept, is what a plain look at names says."""
        owned = {name for names in self.leaves.values() for name in names}
        assert held - self.there == (owned | set(self.taken)) - self.there
        assert self.elsewhere <= owned
        for job, names in self.leaves.items():
            gone = [name for name in names if name not in self.there]
            moved = [name for name in names if name in self.elsewhere]
            assert (job in self.broken) == bool(gone or moved)
            self.seen["gone"] += bool(gone)
            self.seen["moved"] += bool(moved)
            self.seen["kept"] += not gone and not moved
            if moved:
                assert not self.stands(job, self.fleet.topology(), names)
        back = (self.there - before) & owned
        self.seen["back"] += bool(back)
        if not held:
            assert self.planner.topology == self.fleet.topology()

    def stands(self, job: Any, topology: Topology, names: list[str]) -> bool:
        """Whether the gang keeps its rules on these leaves, those not there aside."""
        gang = self.gangs[job]
        for size, level in ((gang.group, "host"), (gang.ranks, gang.within)):
            if level is None or (level == "host" and size == 1):
                continue
            row = topology.domain_of(level)
            for at in range(0, gang.ranks, size):
                part = [name for name in names[at : at + size] if name in self.there]
                domains = {int(row[topology.leaf(name)]) for name in part}
                if len(domains) > 1 or -1 in domains:
                    return False
        if gang.within is None and gang.ranks > 1:
            pods = {
                int(topology.domain_of("pod")[topology.leaf(n)])
                for n in names
                if n in self.there
            }
            return len(pods) <= 1
        return True

    def sound(self) -> None:
        """Every leaf has the owner and health that the model says; none is lost."""
        planner = self.planner
        planner.validate()
        names = planner.topology.names
        for job, leaves in self.leaves.items():
            now = planner.placement(job).leaves.tolist()
            assert [names[leaf] for leaf in now] == leaves
        holders = {name: job for job, held in self.leaves.items() for name in held}
        assert set(names) >= {*holders, *self.taken, *self.there}
        for name in names:
            owner = planner.owner(name)
            if name in holders:
                assert (owner.kind, owner.job) == (OwnerKind.JOB, holders[name])
            elif name in self.taken:
                assert (owner.kind, owner.job) == (
                    OwnerKind.QUARANTINE,
                    self.taken[name],
                )
            else:
                assert owner.kind in (OwnerKind.FREE, OwnerKind.SPARE)
            assert owner.cordoned == (name in self.cordoned)
            if self.is_down(name):
                assert owner.health is Health.DOWN
            else:
                assert owner.health is self.health.get(name, Health.UP)

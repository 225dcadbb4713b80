"""``Fleet``: one planner a GPU type, under the names that a person uses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from phalanx_core.cli import asks, results
from phalanx_core.cli.following import drawn, followed
from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.cli.marks import Letters, marks_of
from phalanx_core.cli.mending import mended
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.state_file import State
from phalanx_core.cli.targets import Target
from phalanx_core.errors import InvalidRequest, SaveError
from phalanx_core.placement import Misfit, Placement, Planner, Repair, SyncReport
from phalanx_core.topology import Topology

# Why jobs are broken before anything is placed, by kind of event.
BROKEN_BY = {"resume": "broken jobs", "sync": "cluster files"}


class Fleet:
    """Jobs and planners of one cluster.

    Parameters
    ----------
    topology
        The cluster.
    spares
        "PER:SIZE:COUNT" or None.
    alignment
        "exact" or "buddy".

    Attributes
    ----------
    given
        The cluster as its files describe it.
    topology
        The same, and beside it leaves that jobs hold and the files no longer have.

    Raises
    ------
    InvalidRequest
        If an option is wrong; the message names it.
    """

    def __init__(self, topology: Topology, spares: str | None, alignment: str) -> None:
        self.given = topology
        self.topology = topology
        self.spares = spares
        self.alignment = alignment
        self.specs: dict[str, JobSpec] = {}
        self.letters = Letters()
        self._told: list[str] = []
        held = asks.spares_of(topology, spares)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they are told as notes
                self.planners = {
                    name: Planner(topology, name, held, alignment)
                    for name in topology.type_names
                }
        except InvalidRequest as error:
            raise InvalidRequest(f"--alignment {alignment}: {error}") from None

    def resume(self, path: str, state: State, planners: dict[str, Planner]) -> None:
        """Take over the jobs of a state file, and the planners loaded from it.

        Raises
        ------
        SaveError
            If the two do not belong together.
        """
        self.planners |= planners
        for spec in state.jobs:
            self.specs[spec.name] = spec
            self.letters.give(spec.name)
        held = sorted(str(job) for p in self.planners.values() for job in p.jobs())
        if held != sorted(self.specs):
            raise SaveError(f"{path}: its table of jobs and its planners disagree")

    def follow(self) -> dict[str, SyncReport]:
        """Bring every planner to the given cluster; what that changed, by GPU type.

        Raises
        ------
        InvalidRequest
            If jobs run on a GPU type that the cluster has no more.
        """
        for name in [one for one in self.planners if one not in self.given.type_names]:
            if jobs := ", ".join(map(repr, self.planners[name].jobs())):
                raise InvalidRequest(
                    f"GPU type {name!r} is on no leaf of the cluster any more, and the "
                    f"state has jobs on it: --release {jobs}"
                )
            del self.planners[name]
        found = {name: followed(p, self.given) for name, p in self.planners.items()}
        self.topology = drawn(self.given, self.planners, found)
        return found

    def notes(self) -> list[str]:
        """What a person should know beside the results, a sentence each."""
        report = self.given.report
        states = {
            "down": report.tainted if report else (),
            "cordoned": report.cordoned if report else (),
        }
        ill = [
            f"{len(names)} leaves are {state} by their source"
            for state, names in states.items()
            if names
        ]
        short = (
            text for planner in self.planners.values() for text in planner.warnings
        )
        return [*ill, *short, *self._told]

    def state(self) -> State:
        """What a later run needs to go on."""
        return State(
            topology=self.given,
            spares=self.spares,
            alignment=self.alignment,
            jobs=tuple(self.specs.values()),
            planners={name: p.save() for name, p in self.planners.items()},
        )

    def check(self, where: str, spec: JobSpec, type_name: str | None) -> None:
        """Refuse what could not be placed however empty the cluster; places nothing.

        A job of the state is as it was when it was placed: the domains that it names
        may have gone since.

        Raises
        ------
        InvalidRequest
            Naming file, job, field and rule.
        """
        job = f"{where}: job {spec.name!r}"
        kept = self.specs.get(spec.name)
        if kept is not None and kept != spec:
            raise InvalidRequest(
                f"{job}: the state holds a job of that name that asks for something "
                "else; --release it or choose another name"
            )
        if kept is None:
            planner = self.planners[asks.type_of(self.given, job, spec, type_name)]
            gang = asks.gang_of(planner.topology, job, spec)
            try:
                planner.fits(gang)
            except InvalidRequest as error:
                raise InvalidRequest(f"{job}: {error}") from None

    def place(self, where: str, spec: JobSpec, type_name: str | None) -> results.Placed:
        """Place a job that was checked, or find it placed; the answer in names."""
        job = f"{where}: job {spec.name!r}"
        kept = spec.name in self.specs
        placement: Placement | Misfit
        if kept:
            planner = self._planner_of("--state", spec.name)
            placement = planner.placement(spec.name)
        else:
            planner = self.planners[asks.type_of(self.given, job, spec, type_name)]
            gang = asks.gang_of(planner.topology, job, spec)
            placement = planner.place(spec.name, gang)
        if isinstance(placement, Misfit):
            return results.Placed(spec, "refused", planner.type, misfit=placement)
        self.specs[spec.name] = spec
        self.letters.give(spec.name)
        leaves = self._shown(planner, placement.leaves.tolist())
        return results.Placed(
            spec,
            "kept" if kept else "placed",
            planner.type,
            level=placement.level_name,
            domain=placement.domain_name,
            hosts=tuple(results.host_ranks(self.topology, leaves)),
            groups=self._groups(spec, leaves),
        )

    def _groups(
        self, spec: JobSpec, leaves: list[int]
    ) -> tuple[results.GroupRanks, ...]:
        """Groups of a job, or of its parts one after the other, with their domains."""
        found: list[results.GroupRanks] = []
        first = 0
        for part in spec.parts or (spec,):
            level = asks.group_level_of(self.topology, part)
            found += results.group_ranks(
                self.topology,
                leaves,
                part.group,
                level,
                range(first, first + part.ranks),
            )
            first += part.ranks
        return tuple(found)

    def layouts(self) -> dict[str, Placement]:
        """Where each job is that lost no leaf, or had all it lost repaired."""
        found: dict[str, Placement] = {}
        for planner in self.planners.values():
            broken = set(planner.broken())
            whole = (job for job in planner.jobs() if job not in broken)
            found |= {str(job): planner.placement(job) for job in whole}
        return found

    def heal(self, target: Target) -> None:
        """Leaves are well and open to work again, whatever their source says now."""
        for planner, leaves in self._by_planner(target.leaves):
            planner.heal(leaves)
            planner.uncordon(leaves)
        report = self.given.report
        ill = {*report.tainted, *report.cordoned} if report else frozenset()
        names = [self.topology.names[leaf] for leaf in target.leaves]
        if count := sum(name in ill for name in names):
            self._told.append(
                f"--heal {target.text}: {count} leaves are still down or cordoned by "
                "their source, which the next run follows"
            )

    def release(self, job: str) -> None:
        """A job of the state ends."""
        self._planner_of("--release", job).release(job)
        del self.specs[job]
        self.letters.drop(job)

    def fenced(self, job: str) -> None:
        """The old pods of a job are gone, be it placed or released."""
        freed = [planner.fenced(job).size for planner in self.planners.values()]
        if not any(freed):
            self._planner_of("--fenced", job)

    def fail(self, target: Target) -> results.Event:
        """Lose leaves, and repair every job that held one."""
        shown = list(self.marks())
        hit: list[str] = []
        for planner, leaves in self._by_planner(target.leaves):
            hit += map(str, planner.fail(leaves))
        return self._event("fail", target, self._mend_all(shown, hit))

    def drain(self, target: Target) -> results.Event:
        """Close leaves to work, and move every job away that can."""
        shown = list(self.marks())
        hit = [
            self._mended(str(job), answer, shown)
            for planner, leaves in self._by_planner(target.leaves)
            for job, answer in planner.drain(leaves).items()
        ]
        return self._event("drain", target, hit)

    def broken(self) -> list[str]:
        """Jobs that owe a repair, in order of the planners."""
        return [str(job) for p in self.planners.values() for job in p.broken()]

    def mend(self, kind: str, jobs: Sequence[str]) -> results.Event | None:
        """Repair those of some jobs that are broken; None where none is."""
        owed = [job for job in self.broken() if job in jobs]
        if not owed:
            return None
        hit = self._mend_all(list(self.marks()), owed)
        return self._event(kind, Target(BROKEN_BY[kind], ()), hit)

    def marks(self) -> str:
        """One character a leaf, by leaf id."""
        return marks_of(self.topology, self.planners, self.letters, self._own)

    def _mend_all(self, shown: list[str], jobs: Sequence[str]) -> list[results.Mended]:
        order = {name: at for at, name in enumerate(self.specs)}
        return [
            self._mended(job, self._replan(job), shown)
            for job in sorted(jobs, key=lambda name: order[name])
        ]

    def _replan(self, job: str) -> Repair | Misfit:
        """Repair a job under the limits it asks for, on the domains that are there."""
        planner, spec = self._planner_of("--fail", job), self.specs[job]
        if not spec.limits:
            return planner.replan(job)
        here = planner.topology
        limits = {
            level: {
                name: cap
                for name, cap in caps.items()
                if name == "*" or _has(here, level, name)
            }
            for level, caps in spec.limits.items()
        }
        asked = JobSpec(job, spec.ranks, limits=limits)
        gang = asks.gang_of(here, f"job {job!r}", asked)
        return planner.replan(job, limits=gang.limits)

    def _mended(
        self, job: str, answer: Repair | Misfit, shown: list[str]
    ) -> results.Mended:
        """A repair in names; ``shown`` are the marks last drawn, and are brought on."""
        if isinstance(answer, Misfit):
            return results.Mended(job, "refused", misfit=answer)
        planner = self._planner_of("--fail", job)
        moves = []
        for rank, *ends in answer.moves.tolist():
            old, new = self._shown(planner, ends)
            moves.append((rank, old, new))
        now = self.marks()
        told = mended(self.topology, job, answer, moves, "".join(shown), now)
        for _, *ends in moves:
            for leaf in ends:
                shown[leaf] = now[leaf]
        return told

    def _event(
        self, kind: str, target: Target, hit: Sequence[results.Mended]
    ) -> results.Event:
        names = tuple(self.topology.names[leaf] for leaf in target.leaves)
        return results.Event(kind, target.text, names, tuple(hit))

    def _by_planner(self, leaves: Sequence[int]) -> Iterator[tuple[Planner, list[int]]]:
        for code, name in enumerate(self.topology.type_names):
            of_type = [leaf for leaf in leaves if self.topology.type_of[leaf] == code]
            if of_type:
                planner = self.planners[name]
                yield planner, self._own(planner, of_type)

    def _own(self, planner: Planner, leaves: list[int]) -> list[int]:
        """Ids of leaves in a planner's topology, which may lack what others hold."""
        return _translated(self.topology, planner.topology, leaves)

    def _shown(self, planner: Planner, leaves: list[int]) -> list[int]:
        """Ids of a planner's leaves in the topology that is shown."""
        return _translated(planner.topology, self.topology, leaves)

    def _planner_of(self, option: str, job: str) -> Planner:
        for planner in self.planners.values():
            if job in planner.jobs():
                return planner
        near = did_you_mean(job, self.specs)
        raise InvalidRequest(f"{option} {job!r}: the state holds no such job{near}")


def _has(topology: Topology, level: str, name: str) -> bool:
    try:
        topology.domain_index(level, name)
    except InvalidRequest:
        return False
    return True


def _translated(source: Topology, target: Topology, leaves: list[int]) -> list[int]:
    if source is target:
        return leaves
    return [target.leaf(source.names[leaf]) for leaf in leaves]

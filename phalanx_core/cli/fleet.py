"""``Fleet``: one planner a GPU type, under the names that a person uses."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from phalanx_core.cli import asks, results
from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.cli.marks import Letters, changes, mark_of
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.state_file import State
from phalanx_core.cli.targets import Target
from phalanx_core.errors import InvalidRequest, PhalanxError, SaveError
from phalanx_core.placement import Gang, Misfit, Placement, Planner, Repair
from phalanx_core.topology import Topology


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

    Raises
    ------
    InvalidRequest
        If an option is wrong; the message names it.
    """

    def __init__(self, topology: Topology, spares: str | None, alignment: str) -> None:
        self.topology = topology
        self.spares = spares
        self.alignment = alignment
        self.specs: dict[str, JobSpec] = {}
        self.letters = Letters()
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
        report = topology.report
        for planner, leaves in self._named(report.tainted if report else ()):
            planner.fail(leaves)
        for planner, leaves in self._named(report.cordoned if report else ()):
            planner.cordon(leaves)

    def resume(self, path: str, state: State) -> None:
        """Take over planners and jobs of a state file.

        Raises
        ------
        SaveError
            If the file belongs to another topology or to other options.
        """
        if state.topology != self.topology.fingerprint.hex():
            raise SaveError(
                f"{path}: was saved for another topology (fingerprint "
                f"{state.topology}, this cluster's is {self.topology.fingerprint.hex()})"
            )
        if sorted(state.planners) != sorted(self.planners):
            raise SaveError(f"{path}: was saved for other GPU types")
        for name, saved in state.planners.items():
            try:
                self.planners[name] = Planner.load(self.topology, saved)
            except PhalanxError as error:
                raise SaveError(f"{path}: {error}") from None
        for spec in state.jobs:
            self.specs[spec.name] = spec
            self.letters.give(spec.name)
        held = sorted(str(job) for p in self.planners.values() for job in p.jobs())
        if held != sorted(self.specs):
            raise SaveError(f"{path}: its table of jobs and its planners disagree")

    def notes(self) -> list[str]:
        """What a person should know beside the results, a sentence each."""
        report = self.topology.report
        states = {
            "down": report.tainted if report else (),
            "cordoned": report.cordoned if report else (),
        }
        ill = [
            f"{len(names)} leaves are {state} by their source"
            for state, names in states.items()
            if names
        ]
        return [*ill, *(text for p in self.planners.values() for text in p.warnings)]

    def state(self) -> State:
        """What a later run needs to go on."""
        return State(
            topology=self.topology.fingerprint.hex(),
            spares=self.spares,
            alignment=self.alignment,
            jobs=tuple(self.specs.values()),
            planners={name: p.save() for name, p in self.planners.items()},
        )

    def check(self, where: str, spec: JobSpec, type_name: str | None) -> Gang:
        """Gang of a spec, checked whole; places nothing.

        Raises
        ------
        InvalidRequest
            Naming file, job, field and rule.
        """
        job = f"{where}: job {spec.name!r}"
        gang = asks.gang_of(self.topology, job, spec)
        planner = self.planners[asks.type_of(self.topology, job, spec, type_name)]
        kept = self.specs.get(spec.name)
        if kept is not None and kept != spec:
            raise InvalidRequest(
                f"{job}: the state holds a job of that name that asks for something "
                "else; --release it or choose another name"
            )
        if kept is None:
            try:
                planner.fits(gang)
            except InvalidRequest as error:
                raise InvalidRequest(f"{job}: {error}") from None
        return gang

    def place(self, where: str, spec: JobSpec, type_name: str | None) -> results.Placed:
        """Place a job, or find it placed; the answer in names."""
        job = f"{where}: job {spec.name!r}"
        gang = self.check(where, spec, type_name)
        kind = asks.type_of(self.topology, job, spec, type_name)
        planner = self.planners[kind]
        kept = spec.name in self.specs
        placement = (
            planner.placement(spec.name) if kept else planner.place(spec.name, gang)
        )
        if isinstance(placement, Misfit):
            return results.Placed(spec, "refused", kind, misfit=placement)
        self.specs[spec.name] = spec
        self.letters.give(spec.name)
        leaves = placement.leaves.tolist()
        return results.Placed(
            spec,
            "kept" if kept else "placed",
            kind,
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
        """Leaves are well and open to work again."""
        for planner, leaves in self._by_planner(target.leaves):
            planner.heal(leaves)
            planner.uncordon(leaves)

    def release(self, job: str) -> None:
        """A job of the state ends."""
        self._planner_of("--release", job).release(job)
        del self.specs[job]
        self.letters.drop(job)

    def fenced(self, job: str) -> None:
        """The old pods of a job are gone."""
        self._planner_of("--fenced", job).fenced(job)

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

    def mend(self) -> results.Event | None:
        """Try again the repairs that a run before was refused."""
        owed = [str(job) for p in self.planners.values() for job in p.broken()]
        if not owed:
            return None
        hit = self._mend_all(list(self.marks()), owed)
        return self._event("resume", Target("broken jobs", ()), hit)

    def marks(self) -> str:
        """One character a leaf, by leaf id."""
        row = [""] * self.topology.leaf_count
        for name, planner in self.planners.items():
            code = self.topology.type_names.index(name)
            for leaf in np.flatnonzero(self.topology.type_of == code).tolist():
                row[leaf] = mark_of(planner.owner(leaf), self.letters)
        return "".join(row)

    def _mend_all(self, shown: list[str], jobs: Sequence[str]) -> list[results.Mended]:
        order = {name: at for at, name in enumerate(self.specs)}
        return [
            self._mended(job, self._planner_of("--fail", job).replan(job), shown)
            for job in sorted(jobs, key=lambda name: order[name])
        ]

    def _mended(
        self, job: str, answer: Repair | Misfit, shown: list[str]
    ) -> results.Mended:
        """A repair in names; ``shown`` are the marks last drawn, and are brought on."""
        if isinstance(answer, Misfit):
            return results.Mended(job, "refused", misfit=answer)
        names, levels = self.topology.names, self.topology.levels
        moves = answer.moves.tolist()
        touched = [old for _, old, _ in moves] + [new for _, _, new in moves]
        now = self.marks()
        rows = tuple(changes(self.topology, touched, "".join(shown), now))
        for leaf in touched:
            shown[leaf] = now[leaf]
        return results.Mended(
            job,
            "repaired",
            moves=tuple((rank, names[old], names[new]) for rank, old, new in moves),
            level_before=levels[answer.level_before],
            level_after=levels[answer.level_after],
            spares_used=answer.spares_used,
            changes=rows,
        )

    def _event(
        self, kind: str, target: Target, hit: Sequence[results.Mended]
    ) -> results.Event:
        names = tuple(self.topology.names[leaf] for leaf in target.leaves)
        return results.Event(kind, target.text, names, tuple(hit))

    def _named(self, names: Sequence[str]) -> Iterator[tuple[Planner, list[int]]]:
        return self._by_planner(sorted(map(self.topology.leaf, names)))

    def _by_planner(self, leaves: Sequence[int]) -> Iterator[tuple[Planner, list[int]]]:
        for code, name in enumerate(self.topology.type_names):
            of_type = [leaf for leaf in leaves if self.topology.type_of[leaf] == code]
            if of_type:
                yield self.planners[name], of_type

    def _planner_of(self, option: str, job: str) -> Planner:
        for planner in self.planners.values():
            if job in planner.jobs():
                return planner
        near = did_you_mean(job, self.specs)
        raise InvalidRequest(f"{option} {job!r}: the state holds no such job{near}")

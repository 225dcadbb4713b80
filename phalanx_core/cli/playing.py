"""``Playing``: round after round, each told in the names a person uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from phalanx_core.cli.happenings import Happening
from phalanx_core.cli.marks import Letters, marks_of
from phalanx_core.cli.mending import mended
from phalanx_core.cli.progress import StepsBar
from phalanx_core.cli.results import Event, Mended
from phalanx_core.cli.round_results import RoundTold, job_rows, tenant_rows
from phalanx_core.cli.workload_state import SavedRun
from phalanx_core.cli.worths import worths
from phalanx_core.scheduling import ActionKind, Decision, JobStatus, Why
from phalanx_core.scheduling.feasible import Feasible

if TYPE_CHECKING:
    from phalanx_core.cli.schedule_setup import Setup


class Playing:
    """A run: the embedder, and what is told of it.

    Attributes
    ----------
    letters
        Of the jobs that hold leaves, for pictures.
    times_s
        Stage to wall seconds of all rounds.
    """

    def __init__(self, setup: Setup) -> None:
        self.embedder = setup.embedder
        self.options = setup.options
        self.times_s: dict[str, float] = {}
        self._feasible = Feasible(
            self.embedder.scheduler.planners, setup.memory, setup.options.normalized
        )
        saved = setup.saved
        self.letters = Letters(None if saved is None else saved.letters)
        self._number = 0 if saved is None else saved.rounds
        self._waited = {} if saved is None else dict(saved.waited)
        self._letter()

    def rounds(
        self, times: Sequence[float], happened: Sequence[Happening], *, draw: bool
    ) -> list[RoundTold]:
        """Play until the last of some times, a round at each.

        Parameters
        ----------
        draw
            Whether the last round and those after a happening are drawn.
        """
        told: list[RoundTold] = []
        left = list(happened)
        with StepsBar(len(times)) as bar:
            for now in times:
                bar(f"{now:g} s")
                due = [one for one in left if one.at_s <= now]
                left = left[len(due) :]
                struck = self._play(now, due)
                drawn = draw and (len(told) + 1 == len(times) or bool(due))
                one = self._round(now, struck, draw=drawn)
                told.append(_changes(one) if told else one)
        return told

    def _play(
        self, now: float, due: Sequence[Happening]
    ) -> list[tuple[Happening, list[str], str]]:
        """Everything before a round; what was struck, whom it hit, and marks then."""
        scheduler = self.embedder.scheduler
        struck = []
        for one in self.embedder.play(now, due):
            marks = self._marks()
            leaves = list(one.target.leaves)
            hit = list(map(str, getattr(scheduler, one.kind)(leaves)))
            struck.append((one, [] if one.kind == "heal" else hit, marks))
        return struck

    def _round(
        self, now: float, struck: list[tuple[Happening, list[str], str]], *, draw: bool
    ) -> RoundTold:
        embedder, scheduler = self.embedder, self.embedder.scheduler
        before: dict[str, JobStatus] = {
            str(job): scheduler.status(job) for job in scheduler.jobs()
        }
        worth = self._worths(list(before.values()), now)
        decision = scheduler.round(now)
        embedder.carry_out(decision)
        for stage, seconds in decision.times_s.items():
            self.times_s[stage] = self.times_s.get(stage, 0.0) + seconds
        self._letter()
        marks = self._marks() if draw or struck else ""
        self._number += 1
        told = RoundTold(
            number=self._number,
            now_s=now,
            arrived=tuple(embedder.arrived),
            finished=tuple(embedder.finished),
            events=tuple(self._event(decision, one, marks) for one in struck),
            tenants=tenant_rows(scheduler.ledger),
            jobs=tuple(
                replace(row, letter=self.letters.of(row.name)) if row.hosts else row
                for row in job_rows(embedder, decision, before, self._waited, worth)
            ),
            others=0,
            objective=decision.objective,
            marks=marks if draw else None,
        )
        embedder.arrived.clear()
        embedder.finished.clear()
        return told

    def _worths(
        self, jobs: list[JobStatus], now: float
    ) -> dict[str, list[float]] | None:
        if self.options.order == "owed":
            return None
        found = worths(jobs, now, self._feasible, self.options)
        return {name: row.tolist() for name, row in found.items()}

    def _event(
        self, decision: Decision, struck: tuple[Happening, list[str], str], marks: str
    ) -> Event:
        """What a happening hit, and what the round after it made of that."""
        one, hit, before = struck
        topology = self.embedder.scheduler.topology
        names = tuple(topology.names[leaf] for leaf in one.target.leaves)
        rows = tuple(
            row
            for job in hit
            if (row := self._mended(decision, job, before, marks)) is not None
        )
        return Event(one.kind, f"{one.target.text}@{one.at_s:g}", names, rows)

    def _mended(
        self, decision: Decision, job: str, before: str, after: str
    ) -> Mended | None:
        """The repair of a job; None where it needs none any more."""
        topology = self.embedder.scheduler.topology
        own = [one for one in decision if str(one.job) == job]
        moved = next((one.repair for one in own if one.repair is not None), None)
        if moved is not None:
            moves = [(rank, old, new) for rank, old, new in moved.moves.tolist()]
            return mended(topology, job, moved, moves, before, after)
        kept = own[-1:] if own[-1].kind is ActionKind.KEEP else []
        for action in (*own[:1], *kept):
            stopped = action.kind is ActionKind.STOP and action.why in _LEAVING
            if action.misfit is not None and (stopped or action in kept):
                anew = own[-1].kind is ActionKind.START
                status = "restarted" if anew else "refused"
                return Mended(job, status, misfit=action.misfit)
        return None

    def _letter(self) -> None:
        """A letter for each job that holds leaves; who lost them gives its own back."""
        scheduler = self.embedder.scheduler
        holding = [str(job) for job in scheduler.jobs() if scheduler.placement(job)]
        kept = frozenset(holding)
        for name in self.embedder.entries:
            if name not in kept:
                self.letters.drop(name)
        for name in holding:
            self.letters.give(name)

    def _marks(self) -> str:
        scheduler = self.embedder.scheduler
        return marks_of(scheduler.topology, scheduler.planners, self.letters)

    def saved(self, setup: Setup) -> SavedRun:
        """What a later run needs to go on."""
        embedder = self.embedder
        return SavedRun(
            scheduler=embedder.scheduler.save(),
            embedder=embedder.to_dict(),
            entries=tuple(embedder.entries.values()),
            options=setup.bound,
            rounds=self._number,
            ill=setup.ill,
            waited=dict(self._waited),
            letters=self.letters.to_dict(),
        )


_LEAVING = (Why.BROKEN, Why.DRAINED)


def _changes(told: RoundTold) -> RoundTold:
    """A round without the jobs that just go on, or wait as before."""
    rows = tuple(row for row in told.jobs if row.changed)
    return replace(told, jobs=rows, others=len(told.jobs) - len(rows))

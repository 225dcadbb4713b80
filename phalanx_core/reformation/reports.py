"""How an engine behaves, and what it tells of a tick."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.committing import Outcome
from phalanx_core.reformation.detector import Damping
from phalanx_core.reformation.observing import View
from phalanx_core.reformation.records import Phase
from phalanx_core.reformation.stores import StoreError


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How an engine behaves; safety depends on none of it.

    Attributes
    ----------
    lead
        Whether one engine at a time acts, the one that holds a lease of the store.
    lead_s
        Seconds of that lease.
    misses_max
        Transitions in one tick that may come to nothing before it ends: no hot loop.
    steps_max
        Transitions in one tick.
    repairs_max
        Jobs that are under repair at once; others wait in Run to be detected. None = all.
    damping
        See :class:`~phalanx_core.reformation.detector.Damping`.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.
    """

    lead: bool = True
    lead_s: float = 10.0
    misses_max: int = 3
    steps_max: int = 1000
    repairs_max: int | None = None
    damping: Damping = field(default_factory=Damping)

    def __post_init__(self) -> None:
        if not is_number(self.lead_s) or self.lead_s <= 0:
            raise InvalidRequest(f"lead_s is {self.lead_s!r}: seconds above 0")
        for name in ("misses_max", "steps_max", "repairs_max"):
            value = getattr(self, name)
            none = value is None and name == "repairs_max"
            if not none and (not is_whole(value) or value < 1):
                raise InvalidRequest(f"{name} is {value!r}: a whole number from 1")


class Wanted(NamedTuple):
    """What should run for a job, whoever was to start it before.

    Attributes
    ----------
    job, uid, epoch
        Token of its workers: no others may run.
    phase
        Restore: start them, have them load ``base``, then call ``loaded``. Run: they run.
        Plan: stop all of them.
    ranks
        The leaf of each rank.
    base
        Epoch and step of the manifest, None where none is chosen yet.
    """

    job: str
    uid: int
    epoch: int
    phase: Phase
    ranks: tuple[int, ...]
    base: tuple[int, int] | None


class Report(NamedTuple):
    """What a tick did.

    Attributes
    ----------
    leads
        Whether this engine acts.
    outcomes
        Of its transitions, in order.
    waiting
        Jobs that want something, and the guard or word that says what they wait for.
    wanted
        What should run, job by job; the state, not what changed. None = not known, since
        the store could not be read: what runs, runs on.
    revision
        Of the last observation, 0 = the store could not be read.
    details
        Of jobs that wait, by name, and of hosts whose death or return cannot be noted: a
        sentence where the word alone does not say why.
    error
        What the store answered last instead of a result, None = it answered.
    """

    leads: bool
    outcomes: tuple[Outcome, ...]
    waiting: dict[str, str]
    wanted: tuple[Wanted, ...] | None
    revision: int
    details: dict[str, str]
    error: StoreError | None


def wanted_of(view: View) -> tuple[Wanted, ...]:
    """What should run, by a view; jobs that are gone have nothing."""
    return tuple(
        Wanted(
            job.name,
            job.record.uid,
            job.record.epoch,
            job.record.phase,
            job.record.ranks,
            job.record.base,
        )
        for job in view.jobs
        if job.record.phase != Phase.GONE
    )

"""What the unreduced search tells: how far it is, its verdict, counts, counterexamples."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from phalanx_core.verification.unreduced_scope import Scope, Step

STAGES = ("states", "components", "jobs", "done")


class Verdict(enum.Enum):
    """What a search ended with."""

    HOLDS = "holds"
    """Every property holds in the whole scope."""
    VIOLATED = "violated"
    """A counterexample was found."""
    OUT_OF_ROOM = "out of room"
    """The bound on memory, 2^32 states or 1,024 levels were met first: nothing is said of
    what was not reached."""
    STOPPED = "stopped"
    """The callback stopped it: nothing is said of what was not reached."""


class Progress(NamedTuple):
    """How far a search is.

    Attributes
    ----------
    stage
        Of :data:`STAGES`: states are found, then components are.
    expanded, distinct
        States that the stage is through with, and those there are so far.
    per_second
        Expanded states a second since the last look.
    """

    stage: str
    expanded: int
    distinct: int
    per_second: float


@dataclass(frozen=True)
class Counterexample:
    """A shortest run that violates a property.

    Attributes
    ----------
    property
        Its name.
    job
        Whose reformation never ends, for ReformLive; else None.
    steps
        The first is Init.
    loop
        States that the run then goes round for ever, 1 = it stays in the last one; 0 where
        the last step itself is wrong.
    """

    property: str
    job: int | None
    steps: tuple[Step, ...]
    loop: int

    def __str__(self) -> str:
        who = "" if self.job is None else f" of job {self.job}"
        end = {0: "", 1: "\n  ... and nothing more"}
        lines = [f"  {at:2} {step}" for at, step in enumerate(self.steps, 1)]
        rest = end.get(self.loop, f"\n  ... and round {self.loop} states for ever")
        return f"{self.property}{who} is violated:\n" + "\n".join(lines) + rest


@dataclass(frozen=True)
class Exploration:
    """What was found in a scope, counted as TLC counts.

    Attributes
    ----------
    scope
        As given.
    verdict
        See :class:`Verdict`.
    initial, generated, distinct, depth
        Initial states; states with repetition; states; levels, the first being the
        initial ones.
    steps
        Generated states by action, Init among them.
    components, largest, endless
        Strongly connected components, the most states of one, and those that a run may
        stay in for ever; 0 without liveness.
    bytes_peak
        Of all arrays of the search.
    counterexamples
        One a violated property, of ReformLive one a job.
    """

    scope: Scope
    verdict: Verdict
    initial: int
    generated: int
    distinct: int
    depth: int
    steps: Mapping[str, int]
    components: int
    largest: int
    endless: int
    bytes_peak: int
    counterexamples: tuple[Counterexample, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """Names of the properties that have a counterexample."""
        return tuple(dict.fromkeys(one.property for one in self.counterexamples))

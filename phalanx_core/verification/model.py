"""``Model``: the protocol in a small world, as an initial states and next-state relation.

The transitions are those of :mod:`phalanx_core.reformation`. What the protocol cannot
see, the world keeps: which workers are really dead, and where old ones still run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import NamedTuple

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import (
    HANDLERS,
    PRINTED,
    Action,
    Event,
    Records,
    Refused,
    Rules,
    started,
)
from phalanx_core.reformation.enabling import Choices, candidates
from phalanx_core.reformation.transition import Handler

Candidates = Callable[[Records, Rules, Choices], Iterator[tuple[Event, int]]]
ACTIONS = len(Action)


class World(NamedTuple):
    """What is true, whether or not the records say so.

    Attributes
    ----------
    gone
        Mask of owned leaves whose worker died since their job's last commit.
    zombies
        One mask a job: leaves on which workers of an earlier token may still run.
    budget
        One number an action: how often the environment may still take it; -1 = ever.
    """

    gone: int
    zombies: tuple[int, ...]
    budget: tuple[int, ...]


class State(NamedTuple):
    """Records and world; the printed protocol's model has no world."""

    records: Records
    world: World | None = None


@dataclass(frozen=True)
class Scope:
    """Bounds of a model.

    Attributes
    ----------
    jobs, leaves
        How many.
    failures
        Leaves that die at most (the paper's MaxFail).
    sizes
        Leaves of each job at the start; None for every allocation that gives each job at
        least ``failures + 1``, as printed. 0 is an index without a job.
    one_start
        Whether ``sizes`` mean the one allocation that gives the first leaves to the first
        job, and so on, and not every allocation of these sizes. What is violated is the
        same; counts are those of one start, and the quotient is larger.
    epochs
        States with a later epoch are not followed; None where nothing needs it.
    allowed
        Pairs of an environment's action and how often it may be taken; others of them
        never happen. Without effect unless the rules have a lifecycle.

    Raises
    ------
    InvalidRequest
        If a number is no whole number, or the sizes do not fit the scope.

    Examples
    --------
    >>> Scope(2, 7, 2).allocations()
    [((3, 3), 140), ((3, 4), 35), ((4, 3), 35)]
    """

    jobs: int
    leaves: int
    failures: int
    sizes: tuple[int, ...] | None = None
    one_start: bool = False
    epochs: int | None = None
    allowed: tuple[tuple[Action, int], ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("jobs", 1), ("leaves", 1), ("failures", 0)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise InvalidRequest(
                    f"{name} is {value!r}: a whole number from {least}"
                )
        if self.sizes is not None and (
            len(self.sizes) != self.jobs
            or sum(self.sizes) > self.leaves
            or min(self.sizes) < 0
        ):
            raise InvalidRequest(
                f"sizes {self.sizes}: one a job, {self.jobs}, of {self.leaves} leaves"
            )

    def allocations(self) -> list[tuple[tuple[int, ...], int]]:
        """Initial sizes of the jobs, and how many allocations have them."""
        if self.sizes is not None and self.one_start:
            return [(self.sizes, 1)]
        found: list[tuple[tuple[int, ...], int, int]] = [((), self.leaves, 1)]
        for job in range(self.jobs):
            found = [
                ((*sizes, size), left - size, count * comb(left, size))
                for sizes, left, count in found
                for size in self._sizes(job, left)
            ]
        return [(sizes, count) for sizes, _, count in found]

    def _sizes(self, job: int, left: int) -> Iterable[int]:
        """Leaves that a job may have at the start."""
        if self.sizes is not None:
            return (self.sizes[job],)
        return range(self.failures + 1, left + 1)


ENVIRONMENT = (
    Action.HEAL,
    Action.SUSPECT,
    Action.TRUST,
    Action.ADMIT,
    Action.CRASH,
    Action.RESIZE,
    Action.RELEASE,
    Action.LOSE,
)
"""Actions, beside FAIL, that happen to the protocol; the others are its own."""

FAIR = (
    Action.DETECT,
    Action.PLAN,
    Action.COMMIT,
    Action.ABORT,
    Action.RESTORE,
    Action.RUN,
    Action.FENCE,
)
"""Actions that happen once they stay possible; the first five as printed (A3)."""


@dataclass(frozen=True)
class Model:
    """The protocol under rules, within a scope.

    Attributes
    ----------
    scope, rules
        Bounds and guards.
    handlers
        Transitions by the action's number; mutants have others.
    offers
        Events to try; a mutant that accepts more must be offered more.
    fair
        Actions with weak fairness, for each job.

    Examples
    --------
    >>> model = Model(Scope(1, 2, 1))
    >>> state, _ = model.initial()[0]
    >>> after = model.step(state, Event(Action.FAIL, leaves=1))
    >>> bin(after.records.live)
    '0b10'
    >>> model.step(after, Event(Action.FAIL, leaves=2)).guard
    'failures'
    """

    scope: Scope
    rules: Rules = PRINTED
    handlers: Sequence[Handler] = field(default=HANDLERS, repr=False)
    offers: Candidates = field(default=candidates, repr=False)
    fair: tuple[Action, ...] = FAIR

    def initial(self) -> list[tuple[State, int]]:
        """One initial state of each kind, and how many there are of it."""
        found = []
        for sizes, count in self.scope.allocations():
            allocs, first = [], 0
            for size in sizes:
                allocs.append(((1 << size) - 1) << first)
                first += size
            found.append(
                (State(started(allocs, self.scope.leaves), self._world()), count)
            )
        return found

    def _world(self) -> World | None:
        if not self.rules.lifecycle:
            return None
        allowed = dict(self.scope.allowed)
        budget = (
            allowed.get(action, 0) if action in ENVIRONMENT else -1 for action in Action
        )
        return World(0, (0,) * self.scope.jobs, tuple(budget))

    def events(self, state: State, choices: Choices) -> Iterator[tuple[Event, int]]:
        """Events to try in a state, and how many each stands for."""
        return self.offers(state.records, self.rules, choices)

    def step(self, state: State, event: Event) -> State | Refused:
        """State after an event, or the guard or bound that refuses it."""
        records, world = state
        action = event.action
        if action == Action.FAIL and records.failures >= self.scope.failures:
            return Refused(action, "failures")
        if world is not None and not world.budget[action]:
            return Refused(action, "budget")
        after = self.handlers[action](records, event, self.rules)
        if type(after) is Refused:
            return after
        assert isinstance(after, Records)
        if world is None:
            return State(after)
        return State(after, turned(world, records, event, after))


def turned(world: World, before: Records, event: Event, after: Records) -> World:
    """The world after a transition that the records took."""
    gone, zombies, budget = world
    action, index = event.action, event.job
    if budget[action] > 0:
        budget = (*budget[:action], budget[action] - 1, *budget[action + 1 :])
    if action == Action.FAIL:
        for job in before.jobs:
            gone |= event.leaves & job.alloc
    elif action in (Action.COMMIT, Action.RELEASE):
        old, new = before.jobs[index].alloc, after.jobs[index].alloc
        gone &= ~(old | new)
        zombies = _with(zombies, index, zombies[index] | old & ~new)
    elif action == Action.FENCE:
        ended = event.leaves & before.live  # a dead leaf's agent ends nothing
        zombies = _with(zombies, index, zombies[index] & ~ended)
    return World(gone, zombies, budget)


def _with(masks: tuple[int, ...], index: int, mask: int) -> tuple[int, ...]:
    return (*masks[:index], mask, *masks[index + 1 :])

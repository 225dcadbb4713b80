"""``Counterexample``: a shortest run that breaks a property, to read and to replay."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Action, Event, Refused
from phalanx_core.reformation.enabling import EveryLeaf
from phalanx_core.verification.model import Model, State
from phalanx_core.verification.quotient import Graph, Violation
from phalanx_core.verification.story import told


@dataclass(frozen=True)
class Counterexample:
    """A run of a model, with the leaves told apart.

    Attributes
    ----------
    property
        Name of what it breaks.
    start
        Initial state.
    events
        What happens, in order; the last of them, or the state after it, is the breach.
    loop
        For liveness: what may happen for ever after, up to a permutation of leaves.
    stays
        For liveness: whether the run stays where it is for ever, or in a loop.

    Examples
    --------
    Without Abort, a job whose spare another job took waits for ever (Section 6.5).

    >>> from phalanx_core.reformation import Rules
    >>> from phalanx_core.verification import (
    ...     REFORM_LIVE, Model, Scope, counterexample, search, violated
    ... )
    >>> graph = search(Model(Scope(2, 5, 2, sizes=(2, 2)), Rules(abort=False))).graph
    >>> [violation] = violated(graph, [REFORM_LIVE])
    >>> print(counterexample(graph, violation).story(graph.model))
    ReformLive is violated, 8 steps from the start
      start: j1 has 2 leaves, j2 has 2 leaves, 1 free
       1 Fail(l1): l1 of j1 dies
       2 Fail(l3): l3 of j2 dies
       3 Detect(j1): j1 is seen to have lost l1, and stops
       4 Plan(j1, l5): j1 is offered l5
       5 Detect(j2): j2 is seen to have lost l3, and stops
       6 Plan(j2, l5): j2 is offered l5
       7 Commit(j2): epoch 1 of j2 claims l5 and gives up l3 l4
       8 Restore(j2): j2 loads the manifest of epoch 0 and runs
      and then nothing more need happen: j1 in Commit, j2 in Run
    """

    property: str
    start: State
    events: tuple[Event, ...]
    loop: tuple[Event, ...] = ()
    stays: bool = False

    def replay(self, model: Model) -> list[State]:
        """States that the run goes through, the start first.

        Raises
        ------
        InvalidRequest
            If the model refuses an event; names its number and the guard.
        """
        states = [self.start]
        for number, event in enumerate(self.events, 1):
            after = model.step(states[-1], event)
            if isinstance(after, Refused):
                raise InvalidRequest(
                    f"event {number}, {event.action.name}: refused by {after.guard}"
                )
            states.append(after)
        return states

    def story(self, model: Model) -> str:
        """The run as numbered lines, ``1 Fail(l3): leaf l3 of j1 dies``."""
        states = self.replay(model)
        lines = [
            f"{self.property} is violated, {len(self.events)} steps from the start"
        ]
        lines.append(f"  start: {_allocation(self.start)}")
        for number, event in enumerate(self.events, 1):
            before, after = states[number - 1], states[number]
            lines.append(f"  {number:2} {told(before.records, event, after.records)}")
        if self.loop:
            lines.append("  and then, again and again up to the names of leaves:")
            state = states[-1]
            for event in self.loop:
                following = model.step(state, event)
                assert isinstance(following, State)
                lines.append(f"     {told(state.records, event, following.records)}")
                state = following
        elif self.stays:
            phases = (
                f"j{index} in {job.phase.name.capitalize()}"
                for index, job in enumerate(states[-1].records.jobs, 1)
            )
            lines.append(f"  and then nothing more need happen: {', '.join(phases)}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The run as numbers and names that :meth:`from_json` reads back."""
        return {
            "property": self.property,
            "events": [_written(event) for event in self.events],
            "loop": [_written(event) for event in self.loop],
            "stays": self.stays,
            "sizes": [job.alloc for job in self.start.records.jobs],
        }

    @classmethod
    def from_json(cls, written: Mapping[str, Any], model: Model) -> Counterexample:
        """A run that :meth:`to_json` wrote, of the same model.

        Raises
        ------
        InvalidRequest
            If a field is missing or no such start exists.
        """
        try:
            allocs = tuple(written["sizes"])
            events = tuple(_read(one) for one in written["events"])
            loop = tuple(_read(one) for one in written["loop"])
            name, stays = str(written["property"]), bool(written["stays"])
        except (KeyError, TypeError) as fault:
            raise InvalidRequest(
                f"counterexample: {fault} is missing or wrong"
            ) from None
        for start, _ in model.initial():
            if tuple(job.alloc for job in start.records.jobs) == allocs:
                return cls(name, start, events, loop, stays)
        raise InvalidRequest(f"counterexample: no initial state has leaves {allocs}")


def _written(event: Event) -> dict[str, Any]:
    return {**event._asdict(), "action": event.action.name}


def _read(written: Mapping[str, Any]) -> Event:
    return Event(**{**written, "action": Action[written["action"]]})


def _allocation(state: State) -> str:
    jobs = (
        f"j{index} has {job.alloc.bit_count()} leaves"
        for index, job in enumerate(state.records.jobs, 1)
    )
    free = state.records.live
    for job in state.records.jobs:
        free &= ~job.alloc
    return f"{', '.join(jobs)}, {free.bit_count()} free"


def counterexample(graph: Graph, violation: Violation) -> Counterexample:
    """The run of a violation, its leaves told apart.

    Parameters
    ----------
    graph, violation
        A search, and what it, or the liveness check on it, found.

    Notes
    -----
    The quotient's path says only which kinds of leaves are chosen; in each state an event
    is looked for that leads to the next kind of state, and there always is one. O(path ·
    events of a state).
    """
    keys = [graph.keys[at] for at in violation.path]
    symmetry, model = graph.symmetry, graph.model
    start = next(s for s, _ in model.initial() if symmetry.key(s) == keys[0])
    state, events = start, []
    for at, key in zip(violation.path[1:], keys[1:], strict=True):
        state, event = _followed(graph, state, graph.parents[at][1], key)
        events.append(event)
    if violation.event is not None:
        before = graph.states[violation.path[-1]]
        after = model.step(before, violation.event)
        assert isinstance(after, State)
        state, event = _followed(graph, state, violation.event, symmetry.key(after))
        events.append(event)
    loop = []
    for at, like in _cycle(graph, violation):
        state, event = _followed(graph, state, like, graph.keys[at])
        loop.append(event)
    stays = bool(violation.loop)
    return Counterexample(violation.name, start, tuple(events), tuple(loop), stays)


def _followed(
    graph: Graph, state: State, like: Event | None, key: tuple[Any, ...]
) -> tuple[State, Event]:
    """A state with that key, by an event of that kind."""
    for event, _ in graph.model.events(state, EveryLeaf(graph.symmetry.leaves)):
        if like is not None and event[:2] + event[3:] != like[:2] + like[3:]:
            continue
        after = graph.model.step(state, event)
        if isinstance(after, State) and graph.symmetry.key(after) == key:
            return after, event
    raise AssertionError("the quotient has a step that no state of the orbit has")


def _cycle(graph: Graph, violation: Violation) -> list[tuple[int, Event | None]]:
    """A shortest way round within the violation's component; empty if it has none."""
    within = set(violation.loop)
    if not within:
        return []
    start = violation.path[-1]
    reached: dict[int, tuple[int, int]] = {}
    work = deque([start])
    while work:
        at = work.popleft()
        for label, to in graph.edges[at]:
            if to in within and to not in reached:
                reached[to] = (at, label)
                work.append(to)
    if start not in reached:
        return []
    way: list[tuple[int, Event | None]] = []
    at = start
    while not way or at != start:
        before, label = reached[at]
        way.append((at, _labelled(graph, before, label, at)))
        at = before
    return way[::-1]


def _labelled(graph: Graph, before: int, label: int, to: int) -> Event:
    """The event of an edge, worked out again."""
    state, key = graph.states[before], graph.keys[before]
    jobs = graph.symmetry.jobs
    for event, _ in graph.model.events(state, graph.symmetry.choices(key)):
        if event.action * jobs + event.job == label:
            after = graph.model.step(state, event)
            if isinstance(after, State) and graph.symmetry.key(after) == graph.keys[to]:
                return event
    raise AssertionError("the graph has an edge that no event makes")


def stories(graph: Graph, violations: Sequence[Violation]) -> str:
    """All violations of a search as readable text, one after the other."""
    return "\n".join(
        counterexample(graph, violation).story(graph.model) for violation in violations
    )

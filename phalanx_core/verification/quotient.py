"""``search``: breadth first through the states, one for all that permutations make of it.

The counts are those of the whole state space, as the sums of the orbits' sizes, and are
counted as TLC counts: initial states are generated, a seal that changes nothing is a
transition, and Restore is one transition for each manifest that can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import permutations

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Action, Event, Refused
from phalanx_core.verification.model import Model, State
from phalanx_core.verification.properties import Invariant, StepProperty
from phalanx_core.verification.symmetry import Key, Symmetry

Edge = tuple[int, int]


@dataclass
class Graph:
    """The quotient: states, how each was first reached, and what leads where.

    Attributes
    ----------
    model, symmetry
        What was searched.
    keys, states
        Of each state, in the order in which they were found.
    parents
        State from which each was first reached, and by which event; -1 at the start.
    edges
        Of each state, pairs of a label and the state it leads to; steps that change
        nothing are left out. A label is ``action * jobs + job``.
    cut
        Of each state, labels of steps that lead beyond the scope's epochs.
    """

    model: Model
    symmetry: Symmetry
    keys: list[Key] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    parents: list[tuple[int, Event | None]] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)
    cut: list[list[int]] = field(default_factory=list)

    def path(self, state: int) -> list[int]:
        """States on a shortest way from the start to this one, it included."""
        found = [state]
        while self.parents[found[-1]][0] >= 0:
            found.append(self.parents[found[-1]][0])
        return found[::-1]


@dataclass(frozen=True)
class Violation:
    """A property that does not hold.

    Attributes
    ----------
    name
        The property's.
    path
        States of the graph on a shortest way to it.
    event
        The transition that breaks it, from the last state; None where that state does.
    loop
        For liveness: states of the component in which a run may stay; else empty.
    """

    name: str
    path: tuple[int, ...]
    event: Event | None = None
    loop: tuple[int, ...] = ()


@dataclass(frozen=True)
class Counts:
    """Size of a state space.

    Attributes
    ----------
    init, generated, distinct, depth
        As TLC reports them; depth counts states, not steps.
    orbits
        Distinct states up to permutations of leaves.
    by_action
        Transitions of each action that occurs.
    """

    init: int
    generated: int
    distinct: int
    depth: int
    orbits: int
    by_action: dict[Action, int]


@dataclass(frozen=True)
class Report:
    """Outcome of a search: counts, the graph, and what was violated, first found first."""

    counts: Counts
    graph: Graph
    violations: tuple[Violation, ...]


class _Search:
    """One search under way."""

    def __init__(
        self,
        model: Model,
        invariants: Sequence[Invariant],
        steps: Sequence[StepProperty],
        states_max: int,
    ) -> None:
        self.graph = Graph(model, Symmetry(model))
        self.invariants = list(invariants)
        self.steps = list(steps)
        self.states_max = states_max
        self.index: dict[Key, int] = {}
        self.violations: list[Violation] = []
        self.by_action: Counter[Action] = Counter()
        self.distinct = self.init = 0

    def found(self, key: Key, parent: int, event: Event | None) -> int:
        """Index of a state, which is entered if it is new."""
        at = self.index.get(key)
        if at is not None:
            return at
        graph = self.graph
        at = self.index[key] = len(graph.keys)
        if at >= self.states_max:
            raise InvalidRequest(
                f"{graph.model.scope}: more than states_max, {self.states_max}, orbits"
            )
        graph.keys.append(key)
        state = graph.symmetry.state(key)
        graph.states.append(state)
        graph.parents.append((parent, event))
        self.distinct += graph.symmetry.orbit(key)
        for one in [i for i in self.invariants if not i.holds(graph.model, state)]:
            self.invariants.remove(one)
            self.violations.append(Violation(one.name, tuple(graph.path(at))))
        return at

    def expand(self, at: int) -> None:
        """Follow every transition of one state."""
        graph, symmetry = self.graph, self.graph.symmetry
        model, state, key = graph.model, graph.states[at], graph.keys[at]
        size, jobs, epochs = symmetry.orbit(key), symmetry.jobs, model.scope.epochs
        edges: list[Edge] = []
        cut: list[int] = []
        for event, count in model.events(state, symmetry.choices(key)):
            after = model.step(state, event)
            if type(after) is Refused:
                continue
            assert type(after) is State
            self.by_action[event.action] += size * count
            for one in self.steps:
                if not one.holds(model, state, event, after):
                    self.steps = [left for left in self.steps if left is not one]
                    path = tuple(graph.path(at))
                    self.violations.append(Violation(one.name, path, event))
            if after == state:
                continue
            label = event.action * jobs + event.job
            if epochs is not None and any(
                job.epoch > epochs for job in after.records.jobs
            ):
                self.beyond(at, event, after)
                cut.append(label)
                continue
            edges.append((label, self.found(symmetry.key(after), at, event)))
        graph.edges.append(edges)
        graph.cut.append(cut)

    def beyond(self, at: int, event: Event, after: State) -> None:
        """Check the invariants of a state that is not followed."""
        graph = self.graph
        for one in [i for i in self.invariants if not i.holds(graph.model, after)]:
            self.invariants.remove(one)
            path = tuple(graph.path(at))
            self.violations.append(Violation(one.name, path, event))


def job_orbits(graph: Graph) -> int:
    """States of a quotient up to permutations of jobs as well.

    Jobs may be permuted to count states, and not to check liveness: fairness is of each
    job. O(states · jobs!).

    Raises
    ------
    InvalidRequest
        If the model has a lifecycle, or one start only.

    Examples
    --------
    >>> from phalanx_core.verification import Model, Scope, search
    >>> job_orbits(search(Model(Scope(2, 7, 2))).graph)
    387
    """
    symmetry = graph.symmetry
    if symmetry.extended or graph.model.scope.one_start:
        raise InvalidRequest("job_orbits: of printed protocols without one start")
    return len(
        {
            min(
                symmetry.key(State(state.records._replace(jobs=jobs)))
                for jobs in permutations(state.records.jobs)
            )
            for state in graph.states
        }
    )


def search(
    model: Model,
    invariants: Sequence[Invariant] = (),
    steps: Sequence[StepProperty] = (),
    states_max: int = 1_000_000,
) -> Report:
    """Every state of a model, up to permutations of leaves, with its counts.

    Parameters
    ----------
    model
        What to search.
    invariants, steps
        Properties of states and of transitions; the first violation of each is kept, and
        the search goes on.
    states_max
        States of the quotient to hold at most.

    Returns
    -------
    See :class:`Report`. Liveness is checked on its graph, by
    :func:`phalanx_core.verification.liveness.violated`.

    Raises
    ------
    InvalidRequest
        If the quotient has more states than ``states_max``.

    Notes
    -----
    O(transitions of the quotient · leaves log leaves) time, O(transitions) memory.

    Examples
    --------
    The smallest scope in which two jobs contend (Phalanx, Table 2).

    >>> from phalanx_core.verification import Model, Scope, search
    >>> counts = search(Model(Scope(jobs=2, leaves=7, failures=2))).counts
    >>> counts.generated, counts.distinct, counts.depth, counts.orbits
    (3146990, 834050, 13, 759)
    """
    one = _Search(model, invariants, steps, states_max)
    for state, count in model.initial():
        one.init += count
        one.found(one.graph.symmetry.key(state), -1, None)
    at = depth = level = 0
    while at < len(one.graph.keys):
        if at == level:  # all states of one level are found when its first is expanded
            level = len(one.graph.keys)
            depth += 1
        one.expand(at)
        at += 1
    counts = Counts(
        one.init,
        one.init + sum(one.by_action.values()),
        one.distinct,
        depth,
        len(one.graph.keys),
        {action: one.by_action[action] for action in Action if one.by_action[action]},
    )
    return Report(counts, one.graph, tuple(one.violations))

"""Liveness against its definition: fair lassos, looked for one set of states at a time."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx_core.reformation import Action
from phalanx_core.verification import Graph, Model, Scope
from phalanx_core.verification.liveness import components, fair_components
from phalanx_core.verification.symmetry import Symmetry

MODEL = Model(Scope(1, 2, 0), fair=(Action.DETECT, Action.PLAN))
LABELS = (Action.DETECT, Action.PLAN, Action.SEAL)  # the last is not fair


def reach(successors: list[set[int]], start: int, within: set[int]) -> set[int]:
    """States that one reaches in one step or more without leaving a set."""
    found: set[int] = set()
    work = [start]
    while work:
        for to in successors[work.pop()]:
            if to in within and to not in found:
                found.add(to)
                work.append(to)
    return found


def stays(graph: Graph, within: set[int]) -> bool:
    """Whether a fair run can visit exactly these states for ever: the definition."""
    successors = [{to for _, to in edges} for edges in graph.edges]
    connected = all(within <= reach(successors, at, within) | {at} for at in within)
    return connected and all(
        any(
            action not in [label for label, _ in graph.edges[at]] + graph.cut[at]
            for at in within
        )
        or any(
            label == action and to in within
            for at in within
            for label, to in graph.edges[at]
        )
        for action in MODEL.fair
    )


def subsets(states: list[int]) -> list[set[int]]:
    """Sets of states that are not empty."""
    return [
        set(chosen)
        for size in range(1, len(states) + 1)
        for chosen in combinations(states, size)
    ]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph of up to five states with a few labelled steps."""
    count = draw(st.integers(1, 5))
    state = st.integers(0, count - 1)
    edge = st.tuples(st.sampled_from(LABELS), state)
    graph = Graph(MODEL, Symmetry(MODEL))
    for _ in range(count):
        graph.edges.append(draw(st.lists(edge, max_size=4)))
        graph.cut.append(draw(st.lists(st.sampled_from(LABELS), max_size=1)))
    return graph


@settings(deadline=None, max_examples=300)
@given(graphs(), st.data())
def test_fair_components_are_where_a_fair_run_can_stay(
    graph: Graph, draws: st.DataObject
) -> None:
    """A state is in a fair component exactly if some fair set of states holds it."""
    count = len(graph.edges)
    members = draws.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    inside = [at for at in range(count) if members[at]]
    expected: set[int] = set()
    for within in subsets(inside):
        if stays(graph, within):
            expected |= within
    found = fair_components(graph, members)
    assert set().union(*found) == expected
    assert sum(map(len, found)) == len(set().union(*found))


@settings(deadline=None, max_examples=200)
@given(graphs())
def test_components_are_mutual_reach(graph: Graph) -> None:
    """Two states are in one component exactly if each reaches the other."""
    successors = [[to for _, to in edges] for edges in graph.edges]
    every = set(range(len(successors)))
    reached = [
        reach([set(to) for to in successors], at, every) | {at} for at in sorted(every)
    ]
    of_state = {}
    for index, component in enumerate(components(successors, [True] * len(every))):
        of_state.update(dict.fromkeys(component, index))
    assert set(of_state) == every
    for one in every:
        for other in every:
            mutual = other in reached[one] and one in reached[other]
            assert (of_state[one] == of_state[other]) == mutual


def test_components_do_not_recurse() -> None:
    """A chain of a hundred thousand states needs no stack of Python's."""
    count = 100_000
    successors = [[at + 1] for at in range(count - 1)] + [[0]]
    assert len(components(successors, [True] * count)) == 1

"""``violated``: liveness under weak fairness, by strongly connected components.

A run that stays in a set of states for ever visits, from some time on, all states of some
strongly connected set again and again. It is fair if each fair action is taken there or
is impossible in one of its states. For weak fairness it is enough to look at maximal
components: a larger one only makes that easier. A single state counts, as every
specification allows a run to stutter.

Permutations of leaves change neither a job's phase nor which of its actions is possible,
so the quotient answers for the whole state space. Permutations of jobs would not do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phalanx_core.verification.properties import Recurs, Settles
from phalanx_core.verification.quotient import Graph, Violation


def components(
    successors: Sequence[Sequence[int]], members: Sequence[bool]
) -> list[list[int]]:
    """Maximal strongly connected components of the states that are members.

    Parameters
    ----------
    successors
        Of each state, the states it leads to.
    members
        Of each state, whether it and its transitions count.

    Returns
    -------
    Components, states that are alone in theirs included.

    Notes
    -----
    Tarjan's algorithm with a stack of its own: O(states + transitions), no recursion.

    Examples
    --------
    >>> components([[1], [0, 2], []], [True, True, True])
    [[2], [1, 0]]
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    inside = [False] * len(successors)
    found: list[list[int]] = []
    for root, member in enumerate(members):
        if not member or root in order:
            continue
        work = [(root, iter(successors[root]))]
        order[root] = low[root] = len(order)
        waiting.append(root)
        inside[root] = True
        while work:
            at, rest = work[-1]
            for to in rest:
                if not members[to]:
                    continue
                if to not in order:
                    order[to] = low[to] = len(order)
                    waiting.append(to)
                    inside[to] = True
                    work.append((to, iter(successors[to])))
                    break
                if inside[to]:
                    low[at] = min(low[at], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == order[at]:
                    found.append(_popped(waiting, inside, at))
    return found


def _popped(waiting: list[int], inside: list[bool], root: int) -> list[int]:
    """The component that ends at its root, taken off the stack."""
    component = []
    while True:
        at = waiting.pop()
        inside[at] = False
        component.append(at)
        if at == root:
            return component


def fair_components(graph: Graph, members: Sequence[bool]) -> list[list[int]]:
    """Components in which a fair run can stay for ever."""
    jobs = graph.symmetry.jobs
    fair = {action * jobs + job for action in graph.model.fair for job in range(jobs)}
    successors = [[to for _, to in edges] for edges in graph.edges]
    found = []
    for component in components(successors, members):
        within = set(component)
        always = set(fair)
        taken = set()
        for at in component:
            possible = {label for label, _ in graph.edges[at]}
            always &= possible.union(graph.cut[at])
            taken |= {label for label, to in graph.edges[at] if to in within}
        if always <= taken:
            found.append(component)
    return found


def violated(
    graph: Graph, properties: Sequence[Recurs | Settles]
) -> tuple[Violation, ...]:
    """The liveness properties that some fair run breaks, each with a shortest way.

    Parameters
    ----------
    graph
        A whole quotient, as :func:`~phalanx_core.verification.quotient.search` makes it.
    properties
        What to check. Of one that is for each job the first job's violation counts.

    Returns
    -------
    One violation a property that does not hold; ``loop`` is the component in which the
    run stays, and ``path`` leads to its nearest state that is not a goal.

    Examples
    --------
    The printed protocol does not survive three failures.

    >>> from phalanx_core.verification import Model, Scope, search
    >>> from phalanx_core.verification import ESR, REFORM_LIVE
    >>> graph = search(Model(Scope(2, 8, 3, sizes=(4, 4)))).graph
    >>> [violation.name for violation in violated(graph, [REFORM_LIVE, ESR])]
    ['ReformLive', 'ESR']
    """
    found = []
    for one in properties:
        if isinstance(one, Settles):
            violation = _unsettled(graph, one)
        else:
            violation = _starved(graph, one)
        if violation is not None:
            found.append(violation)
    return tuple(found)


def _unsettled(graph: Graph, one: Settles) -> Violation | None:
    """A fair component that holds a state that is not a goal."""
    bad = [not one.goal(graph.model, state) for state in graph.states]
    everywhere = [True] * len(bad)
    return _nearest(
        graph, one.name, fair_components(graph, everywhere), bad.__getitem__
    )


def _starved(graph: Graph, one: Recurs) -> Violation | None:
    """A fair component of states that are no goal of some job."""
    for job in range(graph.symmetry.jobs):
        bad = [not one.goal(graph.model, state, job) for state in graph.states]
        violation = _nearest(
            graph, one.name, fair_components(graph, bad), bad.__getitem__
        )
        if violation is not None:
            return violation
    return None


def _nearest(
    graph: Graph, name: str, loops: list[list[int]], bad: Callable[[int], bool]
) -> Violation | None:
    """The violation whose state was found first, and so is nearest to the start."""
    reached = [(min(filter(bad, loop)), loop) for loop in loops if any(map(bad, loop))]
    if not reached:
        return None
    state, loop = min(reached)
    return Violation(name, tuple(graph.path(state)), None, tuple(sorted(loop)))

"""Figure 2 of the Phalanx paper as sets and functions, line by line: the slow twin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from phalanx_core.verification.unreduced_scope import JobState, Rule, Scope, State

FAIR = ("Detect", "Plan", "Commit", "Abort", "Restore")
Leaves = frozenset[int]


class Model(NamedTuple):
    """The variables of the specification; failCount is its own here."""

    live: Leaves
    epoch: tuple[int, ...]
    phase: tuple[str, ...]
    alloc: tuple[int | None, ...]
    sealed: tuple[frozenset[int], ...]
    plan: tuple[Leaves, ...]
    failed: int


Move = tuple[str, int | None, Leaves, Model]


def mask(members: frozenset[int]) -> int:
    """A bit a member."""
    return sum(1 << member for member in members)


def owned(state: Model, job: int) -> Leaves:
    """``Assigned(j)``."""
    return frozenset(at for at, owner in enumerate(state.alloc) if owner == job)


def put(row: tuple, job: int, value: object) -> tuple:
    """``[row EXCEPT ![job] = value]``."""
    return (*row[:job], value, *row[job + 1 :])


def subsets(members: Leaves) -> Iterator[Leaves]:
    """``SUBSET members``."""
    for size in range(len(members) + 1):
        yield from map(frozenset, combinations(sorted(members), size))


def initial(scope: Scope) -> list[Model]:
    """``Init``."""
    jobs = range(scope.jobs)
    found = []
    for alloc in product((None, *jobs), repeat=scope.leaves):
        if all(alloc.count(job) >= scope.failures + 1 for job in jobs):
            found.append(
                Model(
                    frozenset(range(scope.leaves)),
                    (0,) * scope.jobs,
                    ("Run",) * scope.jobs,
                    alloc,
                    (frozenset({0}),) * scope.jobs,
                    (frozenset(),) * scope.jobs,
                    0,
                )
            )
    return found


def plans(state: Model, job: int, rules: Rule, leaves: int) -> Iterator[Move]:
    """``Plan(j)``, once for every feasible subset."""
    own = owned(state, job)
    for plan in subsets(frozenset(range(leaves))):
        feasible = (
            plan != frozenset()
            and plan <= state.live
            and all(state.alloc[leaf] in (None, job) for leaf in plan)
        )
        if Rule.PINNED in rules:
            feasible = feasible and own & state.live <= plan
        if Rule.FIXED_SIZE in rules:
            feasible = feasible and len(plan) == len(own)
        if feasible:
            after = state._replace(
                plan=put(state.plan, job, plan), phase=put(state.phase, job, "Commit")
            )
            yield "Plan", job, plan, after


def commits(state: Model, job: int, rules: Rule) -> Iterator[Move]:
    """``Commit(j)``, ``Abort(j)`` and the fall of an engine."""
    plan = state.plan[job]
    barred = frozenset(leaf for leaf in plan if state.alloc[leaf] not in (None, job))
    if Rule.LIVE_COMMIT in rules:
        barred |= plan - state.live
    back = state._replace(phase=put(state.phase, job, "Plan"))
    if not barred:
        alloc = tuple(
            job if leaf in plan else None if owner == job else owner
            for leaf, owner in enumerate(state.alloc)
        )
        after = state._replace(
            alloc=alloc,
            epoch=put(state.epoch, job, state.epoch[job] + 1),
            phase=put(state.phase, job, "Restore"),
        )
        yield "Commit", job, plan, after
    elif Rule.NO_ABORT not in rules:
        yield "Abort", job, barred, back
    if Rule.CRASH in rules:
        yield "Crash", job, frozenset(), back


def moves(state: Model, scope: Scope) -> Iterator[Move]:
    """``Next``, one by one as TLC makes them."""
    rules, none = scope.rules, frozenset[int]()
    if state.failed < scope.failures:
        for leaf in state.live:
            gone = frozenset({leaf})
            after = state._replace(live=state.live - gone, failed=state.failed + 1)
            yield "Fail", None, gone, after
    for job, phase in enumerate(state.phase):
        dead = owned(state, job) - state.live
        early = Rule.DETECT_RESTORE in rules and phase == "Restore"
        if (phase == "Run" or early) and dead:
            after = state._replace(phase=put(state.phase, job, "Plan"))
            yield "Detect", job, dead, after
        if phase == "Plan":
            yield from plans(state, job, rules, scope.leaves)
        if phase == "Commit":
            yield from commits(state, job, rules)
        if phase == "Run":
            seals = state.sealed[job] | {state.epoch[job]}
            after = state._replace(sealed=put(state.sealed, job, seals))
            yield "Seal", job, none, after
        if phase == "Restore" and not (Rule.LIVE_RESTORE in rules and dead):
            after = state._replace(phase=put(state.phase, job, "Run"))
            for epoch in state.sealed[job]:
                if epoch < state.epoch[job]:
                    yield "Restore", job, none, after


def shown(state: Model) -> State:
    """A state as the library shows it."""
    return State(
        mask(state.live),
        tuple(
            JobState(
                state.phase[job],
                state.epoch[job],
                mask(owned(state, job)),
                mask(state.plan[job]),
                mask(state.sealed[job]),
            )
            for job in range(len(state.phase))
        ),
    )


class Graph:
    """All reachable states level by level, and every move from each.

    Attributes
    ----------
    moves
        Of each state, in the order in which states were found.
    generated, depth
        As TLC counts them.
    """

    def __init__(self, scope: Scope, first: list[Model]) -> None:
        self.scope = scope
        self.moves: dict[Model, list[Move]] = {}
        self.generated, self.depth = len(first), 0
        level = list(dict.fromkeys(first))
        while level:
            self.depth += 1
            following: dict[Model, None] = {}
            for state in level:
                found = list(moves(state, scope))
                self.moves[state] = found
                self.generated += len(found)
                following.update((move[3], None) for move in found)
            level = [state for state in following if state not in self.moves]

    def _endless(self, kept: list[Model]) -> list[list[Model]]:
        """Components of some states, and the moves between them, a run may stay in."""
        place = {state: at for at, state in enumerate(kept)}
        arcs = [
            (place[state], place[after])
            for state in kept
            for *_, after in self.moves[state]
            if after in place
        ]
        ends = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
        weights = np.ones(ends.shape[1])
        graph = coo_array((weights, (ends[0], ends[1])), shape=(len(kept), len(kept)))
        count, label = connected_components(graph.tocsr(), connection="strong")
        members: list[list[Model]] = [[] for _ in range(count)]
        for state in kept:
            members[label[place[state]]].append(state)
        return [group for group in members if self._is_fair(set(group))]

    def _is_fair(self, group: set[Model]) -> bool:
        """Whether no fair action is owed by a run that goes round all of them."""
        for job, action in product(range(self.scope.jobs), FAIR):
            taken = [
                [move for move in self.moves[state] if move[:2] == (action, job)]
                for state in group
            ]
            inside = any(move[3] in group for row in taken for move in row)
            if all(taken) and not inside:
                return False
        return True

    def endless(self) -> int:
        """Components of all states that a run may stay in for ever."""
        return len(self._endless(list(self.moves)))

    def _is_healthy(self, state: Model) -> bool:
        return all(
            phase == "Run" and owned(state, job) and owned(state, job) <= state.live
            for job, phase in enumerate(state.phase)
        )

    def esr_holds(self) -> bool:
        """``<>[] Healthy``."""
        groups = self._endless(list(self.moves))
        return all(self._is_healthy(state) for group in groups for state in group)

    def reforms(self, job: int) -> bool:
        """``(phase[j] # "Run") ~> (phase[j] = "Run")``."""
        return not self._endless([s for s in self.moves if s.phase[job] != "Run"])

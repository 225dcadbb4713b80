"""Keys, orbits and choices of the quotient against permutations that are tried one by one."""

from __future__ import annotations

from itertools import permutations

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import HARDENED, PRINTED, Action, Refused, leaves_of
from phalanx_core.reformation.enabling import EveryLeaf
from phalanx_core.verification import Model, Scope, State, World, job_orbits, search
from phalanx_core.verification.symmetry import Symmetry

MODELS = [
    Model(Scope(2, 4, 1), PRINTED),
    Model(Scope(2, 4, 1, sizes=(2, 1), one_start=True), PRINTED),
    Model(Scope(2, 4, 1, sizes=(2, 1), allowed=((Action.HEAL, 1),)), HARDENED),
    Model(Scope(2, 4, 1, sizes=(2, 0), allowed=((Action.ADMIT, 1),)), HARDENED),
]


def permuted(state: State, order: tuple[int, ...]) -> State:
    """The state with leaf ``l`` renamed ``order[l]``."""

    def moved(mask: int) -> int:
        return sum(1 << order[leaf] for leaf in leaves_of(mask))

    records, world = state
    jobs = tuple(
        job._replace(
            alloc=moved(job.alloc), plan=moved(job.plan), fenced=moved(job.fenced)
        )
        for job in records.jobs
    )
    records = records._replace(
        live=moved(records.live),
        jobs=jobs,
        suspect=moved(records.suspect),
        lost=moved(records.lost),
    )
    if world is None:
        return State(records)
    zombies = tuple(map(moved, world.zombies))
    return State(records, World(moved(world.gone), zombies, world.budget))


def orders(model: Model) -> list[tuple[int, ...]]:
    """Permutations of leaves that keep the start, where there is one."""
    every = list(permutations(range(model.scope.leaves)))
    if not model.scope.one_start:
        return every
    start, _ = model.initial()[0]
    return [order for order in every if permuted(start, order) == start]


@pytest.mark.parametrize("model", MODELS)
def test_keys_are_orbits(model: Model) -> None:
    """States have one key exactly if a permutation makes one the other."""
    symmetry, seen = Symmetry(model), set()
    for state in search(model).graph.states:
        orbit = {permuted(state, order) for order in orders(model)}
        keys = {symmetry.key(one) for one in orbit}
        assert len(keys) == 1
        [key] = keys
        assert symmetry.orbit(key) == len(orbit)
        assert symmetry.state(key) in orbit
        assert key not in seen
        seen.add(key)


@pytest.mark.parametrize("model", MODELS)
def test_choices_stand_for_all(model: Model) -> None:
    """Successors with their numbers are as many as those with every leaf told apart."""
    graph = search(model).graph
    symmetry = graph.symmetry
    for state, key in zip(graph.states, graph.keys, strict=True):
        counted: dict[tuple, int] = {}
        for choices, found in ((symmetry.choices(key), 1), (EveryLeaf(4), -1)):
            for event, count in model.events(state, choices):
                after = model.step(state, event)
                if not isinstance(after, Refused):
                    kind = (event.action, event.job, symmetry.key(after))
                    counted[kind] = counted.get(kind, 0) + found * count
        assert set(counted.values()) <= {0}


@pytest.mark.parametrize("model", MODELS)
def test_counts_are_those_of_every_state(model: Model) -> None:
    """Distinct and generated states and the depth are those of a search of all states."""
    found = {state for state, _ in model.initial()}
    found = {permuted(state, order) for state in found for order in orders(model)}
    generated, depth, level = len(found), 0, sorted(found, key=repr)
    while level:
        depth += 1
        following = []
        for state in level:
            for event, _ in model.events(state, EveryLeaf(4)):
                after = model.step(state, event)
                if isinstance(after, State):
                    generated += 1
                    if after not in found:
                        found.add(after)
                        following.append(after)
        level = following
    counts = search(model).counts
    assert (counts.generated, counts.distinct) == (generated, len(found))
    assert counts.depth == depth


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"jobs": 0}, "jobs is 0: a whole number from 1"),
        ({"leaves": 1.5}, "leaves is 1.5"),
        ({"failures": -1}, "failures is -1"),
        ({"sizes": (3, 3)}, "sizes"),  # more than there are
        ({"sizes": (3,)}, "sizes"),  # not one a job
        ({"sizes": (-1, 2)}, "sizes"),
    ],
)
def test_bad_scopes(given: dict, rule: str) -> None:
    """A scope that cannot be is refused with what is wrong."""
    with pytest.raises(InvalidRequest, match=rule):
        Scope(**{"jobs": 2, "leaves": 5, "failures": 1, **given})


def test_a_search_that_is_too_large() -> None:
    """A search ends when it has more states than it may hold."""
    with pytest.raises(InvalidRequest, match="more than states_max, 758, orbits"):
        search(Model(Scope(2, 7, 2)), states_max=758)
    assert search(Model(Scope(2, 7, 2)), states_max=759).counts.orbits == 759


def test_jobs_are_permuted_only_in_printed_protocols() -> None:
    """Counting up to jobs is refused where it would not mean anything."""
    with pytest.raises(InvalidRequest, match="job_orbits"):
        job_orbits(search(MODELS[1]).graph)

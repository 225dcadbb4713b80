"""Figure 2 of the Phalanx paper over explicit sets, and nothing of the package."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import combinations, product

# live, epochs, phases, owner of each leaf (-1 = None), sealed, plans, failures
Set = frozenset[int]
Figure = tuple[Set, tuple, tuple, tuple, tuple, tuple, int]
# name, job or leaf, plan, witness
Move = tuple[str, int, Set, int]


def initial(jobs: int, leaves: int, failures: int) -> list[Figure]:
    """Init."""
    return [
        (
            frozenset(range(leaves)),
            (0,) * jobs,
            ("Run",) * jobs,
            owner,
            (frozenset([0]),) * jobs,
            (frozenset(),) * jobs,
            0,
        )
        for owner in product(range(-1, jobs), repeat=leaves)
        if all(owner.count(job) >= failures + 1 for job in range(jobs))
    ]


def subsets(leaves: Set) -> Iterator[Set]:
    """SUBSET."""
    for size in range(len(leaves) + 1):
        yield from map(frozenset, combinations(sorted(leaves), size))


def put(values: tuple, job: int, value: object) -> tuple:
    """[f EXCEPT ![job] = value]."""
    return (*values[:job], value, *values[job + 1 :])


def following(state: Figure, failures: int) -> Iterator[tuple[Move, Figure]]:
    """Next: every action with its parameters, and the state after it."""
    live, epoch, phase, alloc, sealed, plan, failed = state
    nothing: Set = frozenset()
    everything = range(len(alloc))
    if failed < failures:
        for leaf in live:
            after = (live - {leaf}, epoch, phase, alloc, sealed, plan, failed + 1)
            yield ("FAIL", leaf, nothing, 0), after
    for job in range(len(phase)):
        if phase[job] == "Run":
            if any(alloc[leaf] == job and leaf not in live for leaf in everything):
                told = put(phase, job, "Plan")
                after = (live, epoch, told, alloc, sealed, plan, failed)
                yield ("DETECT", job, nothing, 0), after
            kept = put(sealed, job, sealed[job] | {epoch[job]})
            after = (live, epoch, phase, alloc, kept, plan, failed)
            yield ("SEAL", job, nothing, 0), after
        if phase[job] == "Plan":
            told = put(phase, job, "Commit")
            for chosen in subsets(frozenset(everything)):
                if chosen and chosen <= live and claimable(alloc, job, chosen):
                    offered = put(plan, job, chosen)
                    after = (live, epoch, told, alloc, sealed, offered, failed)
                    yield ("PLAN", job, chosen, 0), after
        if phase[job] == "Commit":
            if claimable(alloc, job, plan[job]):
                taken = tuple(
                    job
                    if leaf in plan[job]
                    else -1
                    if alloc[leaf] == job
                    else alloc[leaf]
                    for leaf in everything
                )
                later = put(epoch, job, epoch[job] + 1)
                told = put(phase, job, "Restore")
                after = (live, later, told, taken, sealed, plan, failed)
                yield ("COMMIT", job, nothing, 0), after
            else:
                told = put(phase, job, "Plan")
                after = (live, epoch, told, alloc, sealed, plan, failed)
                yield ("ABORT", job, nothing, 0), after
        if phase[job] == "Restore":
            for witness in sealed[job]:
                if witness < epoch[job]:
                    told = put(phase, job, "Run")
                    after = (live, epoch, told, alloc, sealed, plan, failed)
                    yield ("RESTORE", job, nothing, witness), after


def claimable(alloc: tuple, job: int, plan: Set) -> bool:
    """CommitGuard."""
    return all(alloc[leaf] in (-1, job) for leaf in plan)


def reachable(jobs: int, leaves: int, failures: int) -> set[Figure]:
    """Every state that Spec reaches."""
    found = set(initial(jobs, leaves, failures))
    work = deque(found)
    while work:
        for _, after in following(work.popleft(), failures):
            if after not in found:
                found.add(after)
                work.append(after)
    return found

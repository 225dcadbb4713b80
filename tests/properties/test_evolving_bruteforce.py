"""``evolve`` on small rounds, with every assignment there is as the judge."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np

from phalanx_core.assignment import AssignmentProblem, evolve, held_places
from phalanx_core.assignment.problem import ChosenArray

Front = dict[int, int]


def _drawn(rng: Random) -> tuple[AssignmentProblem, ChosenArray]:
    """Ties, holes, demands of nothing and of too much; some jobs hold what is gone."""
    jobs, configurations, rows = rng.randint(3, 5), rng.randint(1, 4), rng.randint(1, 3)
    shape = (jobs, configurations)
    worth = np.array(
        [
            rng.choice((rng.randint(0, 6), rng.uniform(0, 6)))
            for _ in range(jobs * configurations)
        ],
        float,
    )
    worth[[rng.random() < 0.15 for _ in worth]] = np.nan
    wanted = np.array([rng.randint(0, 4) for _ in range(worth.size * rows)])
    capacity = [rng.randint(1, 2 * jobs) for _ in range(rows)]
    current = [rng.randint(-1, configurations - 1) for _ in range(jobs)]
    problem = AssignmentProblem.of(
        worth.reshape(shape),
        wanted.reshape(*shape, rows),
        capacity,
        rng.choice((0.0, 1.1)),
    )
    return problem, held_places(problem, current)


def _best(problem: AssignmentProblem, held: ChosenArray) -> Front:
    """Most worth with so many changes or fewer, by looking at every assignment."""
    counts = np.diff(problem.first).tolist()
    found: Front = {}
    for places in product(*(range(-1, count) for count in counts)):
        chosen = np.array(places, np.int32)
        if (problem.used(chosen) <= problem.capacity).all():
            changes = int((chosen != held).sum())
            found[changes] = max(found.get(changes, -1), problem.total(chosen))
    best, most = {}, -1
    for changes in sorted(found):
        if found[changes] > most:
            best[changes] = most = found[changes]
    return best


def test_nothing_beats_every_assignment(seed: int) -> None:
    """No point is above the true front, none of a seed is lost, and nearly all are met."""
    rng = Random(seed)
    there = met = 0
    for turn in range(250):
        problem, held = _drawn(rng)
        best = _best(problem, held)
        found = evolve(problem, [], held, seed=turn, population=24, generations=16)
        front = dict(zip(found.changes.tolist(), found.totals.tolist(), strict=True))
        for changes, total in front.items():
            assert total <= max(
                most for least, most in best.items() if least <= changes
            )
        seeds = list(found.front)
        again = evolve(problem, seeds, held, seed=turn + 1, population=2, generations=3)
        assert again.totals[0] >= found.totals[0]
        there += len(best)
        met += sum(front.get(changes) == most for changes, most in best.items())
    assert there >= 400
    assert met >= 0.97 * there, (there, met)

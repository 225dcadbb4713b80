"""Rounds in whole numbers, beside a slow twin that is written from what is promised."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import frexp, isnan
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.assignment import AssignmentProblem
from phalanx_core.assignment.demands import Demands
from phalanx_core.assignment.table import ALL_BITS, JOB_BITS
from tests.properties.rounds_drawn import Drawn, drawn


def _kept(round_: Drawn, job: int, held: list[int]) -> list[tuple[int, Fraction]]:
    """Configurations that an answer may take, and their net worth."""
    if round_.stay[job] >= 0:
        return []
    left = round_.limits - round_.used(round_.stay)
    found = []
    for at, worth in enumerate(round_.worth[job].tolist()):
        fits = (round_.full[job, at] <= left).all()
        if not isnan(worth) and worth - round_.idle >= 0 and fits:
            # Once rounded, as the difference of two doubles is.
            found.append((at, Fraction(worth - round_.idle)))
    return found


def _shift(nets: list[list[Fraction]], bits: int) -> int:
    """The most bits behind the point within both limits; sums as doubles have them."""
    best = all_ = 0.0
    for row in nets:
        best += float(max(row, default=Fraction(0)))
        for one in row:
            all_ += float(one)
    if best == 0:
        return bits
    by_job = min(JOB_BITS + bits, ALL_BITS) - bits - frexp(best)[1]
    return min(by_job, ALL_BITS - bits - frexp(all_)[1]) + bits


def _even(number: Fraction) -> int:
    """Rounded, halves to the even neighbour."""
    return round(number)


def _built(round_: Drawn) -> AssignmentProblem:
    options = round_.options
    stay = round_.stay.astype(np.int32)
    held = options.get("current")
    return AssignmentProblem.of(
        round_.worth,
        round_.demand,
        round_.capacity,
        round_.idle,
        keys=options.get("keys"),
        fixed=stay if "fixed" in options else None,
        held=None if held is None else held.astype(np.int32),
        tenant=options.get("tenant"),
        quota=options.get("quota"),
    )


def test_a_round_in_whole_numbers_is_its_slow_twin(seed: int) -> None:
    """Order, kept choices, values, shift, held bits and demands, of 400 rounds."""
    met = 0
    for at in range(400):
        round_ = drawn(Random(f"built/{seed}/{at}"), jobs_max=20)
        if (round_.used(round_.stay) > round_.limits).any():
            continue
        problem = _built(round_)
        jobs = range(round_.worth.shape[0])
        current = round_.options.get("current")
        held = [-1] * len(jobs) if current is None else current.tolist()
        order = problem.order.tolist()
        if "keys" in round_.options:
            keys = round_.options["keys"].tolist()
            assert order == sorted(jobs, key=keys.__getitem__)
        assert sorted(order) == list(jobs)
        kept = [_kept(round_, job, held) for job in order]
        bits = 0 if current is None else len(jobs).bit_length()
        # In the caller's order, in which the sums of doubles are added up.
        by_job: list[list[Fraction]] = [[] for _ in jobs]
        for job, row in zip(order, kept, strict=True):
            by_job[job] = [net for _, net in row]
        shift = _shift(by_job, bits)
        assert problem.shift == shift
        assert np.diff(problem.first).tolist() == [len(row) for row in kept]
        values = [
            _even(net * Fraction(2) ** (shift - bits)) * 2**bits + (one == held[job])
            for job, row in zip(order, kept, strict=True)
            for one, net in row
        ]
        assert problem.value.tolist() == values
        assert sum(values) < 2**62
        taken = [one for row in kept for one, _ in row]
        assert problem.configurations_of(np.arange(len(taken))).tolist() == taken
        wants = [
            round_.full[job, one].tolist()
            for job, row in zip(order, kept, strict=True)
            for one, _ in row
        ]
        assert problem.wants(np.arange(len(taken))).tolist() == wants
        left = round_.limits - round_.used(round_.stay)
        assert problem.capacity.tolist() == left.tolist()
        met += bool(taken)
        _check_alone(problem)
    assert met >= 200


def _check_alone(problem: AssignmentProblem) -> None:
    """What a job takes alone: the most valuable of its choices, the first of equals."""
    for job, (begin, end) in enumerate(
        zip(problem.first[:-1].tolist(), problem.first[1:].tolist(), strict=True)
    ):
        values = problem.value[begin:end]
        best = int(values.argmax()) if values.size else -1
        assert problem.alone[job] == best


def test_equal_rows_stand_as_they_came_and_others_wherever_they_came(
    seed: int,
) -> None:
    """Without keys the order is one of rows, whatever the order of jobs."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        kinds = rng.integers(0, 4, (6, 3)).astype(float)
        kinds[rng.random(kinds.shape) < 0.2] = np.nan
        kinds[rng.random(kinds.shape) < 0.1] = -0.0
        worth = kinds[rng.integers(0, 6, 15)]
        shuffle = rng.permutation(15)
        first = AssignmentProblem.of(worth, [1, 2, 3], 9).order
        second = AssignmentProblem.of(worth[shuffle], [1, 2, 3], 9).order
        np.testing.assert_array_equal(worth[first], worth[shuffle][second])
        for order, rows in ((first, worth), (second, worth[shuffle])):
            for one, other in pairwise(order):
                if np.array_equal(rows[one], rows[other], equal_nan=True):
                    assert one < other


@pytest.mark.parametrize(
    ("demand", "tenant", "quota", "groups", "group"),
    [
        ([1, 2], None, None, 1, None),
        ([[1, 2], [3, 4], [1, 2]], None, None, 3, [0, 1, 2]),
        ([1, 2], [1, 0, 1], [[5], [-1]], 2, [1, 0, 1]),
        ([[1, 2], [3, 4], [1, 2]], [1, 0, 1], [[5], [-1]], 3, [0, 1, 2]),
        ([1, 2], [0, 0, 0], [[-1]], 1, [0, 0, 0]),
    ],
)
def test_groups_are_jobs_or_tenants(
    demand: Any, tenant: Any, quota: Any, groups: int, group: Any
) -> None:
    """Who has the same demands is of one group; a limit is a row of its tenant alone."""
    made = Demands.of(demand, (3, 2), 9, tenant, quota)
    assert made.groups == groups
    assert (None if made.group is None else made.group.tolist()) == group
    limits = [] if quota is None else [row[0] for row in quota if row[0] >= 0]
    assert made.capacity.tolist() == [9, *limits]
    full = np.broadcast_to(np.asarray(demand), (3, 2))
    of = [0] * 3 if group is None else group
    for job in range(3):
        rows = made.rows[of[job] * 2 : of[job] * 2 + 2].T.tolist()
        mine = [full[job].tolist()]
        if limits:
            mine.append(full[job].tolist() if tenant[job] == 0 else [0, 0])
        assert rows == mine

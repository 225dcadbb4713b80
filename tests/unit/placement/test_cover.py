"""The knapsack under advice: against every choice, and where its table is too large."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from phalanx_core.placement import cover as module
from phalanx_core.placement.cover import Option, cover, lower_bound, undominated

Groups = list[list[Option]]


def drawn(seed: int) -> tuple[Groups, int]:
    """A few groups of a few options, and a need that may be too much."""
    rng = Random(f"cover {seed}")
    scale = rng.choice((1, 1, 4))
    groups = [
        [
            Option(
                scale * rng.randint(1, 5), float(rng.randint(1, 9)), (10 * at + number,)
            )
            for number in range(rng.randint(0, 3))
        ]
        for at in range(rng.randint(1, 5))
    ]
    return groups, rng.randint(1, 12 * scale)


def least(groups: Groups, need: int) -> float | None:
    """The least cost of any choice that covers the need."""
    choices = product(*([None, *group] for group in groups))
    costs = [
        sum(one.cost for one in choice if one)
        for choice in choices
        if sum(one.units for one in choice if one) >= need
    ]
    return min(costs, default=None)


def paid(groups: Groups, members: tuple[int, ...]) -> tuple[int, float]:
    """Units and cost of a choice; at most one option a group."""
    chosen = [one for group in groups for one in group if one.members[0] in members]
    assert len({one.members[0] // 10 for one in chosen}) == len(chosen) == len(members)
    return sum(one.units for one in chosen), sum(one.cost for one in chosen)


def test_no_choice_is_cheaper() -> None:
    """Exact on every case, and the bound is never above it."""
    covered = 0
    for seed in range(400):
        groups, need = drawn(seed)
        best, found = least(groups, need), cover(groups, need)
        assert (found is None) == (best is None)
        bound = lower_bound(groups, need)
        if found is None or best is None:
            assert bound == float("inf")
            continue
        covered += 1
        units, cost = paid(groups, found[0])
        assert (units >= need, cost, found[1]) == (True, best, True)
        assert bound <= best + 1e-9
    assert covered >= 150


def test_a_table_that_is_too_large_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Then the best rates are taken until the need is covered, if it can be."""
    monkeypatch.setattr(module, "CELLS_MAX", 0)
    for seed in range(200):
        groups, need = drawn(seed)
        best, found = least(groups, need), cover(groups, need)
        assert (found is None) == (best is None)
        if found is not None and best is not None:
            units, cost = paid(groups, found[0])
            assert (units >= need, cost >= best, found[1]) == (True, True, False)


def test_undominated() -> None:
    """Dearer ones that give no more are dropped; what is beyond the need is cut."""
    rows = [
        Option(9, 4.0, (0,)),
        Option(2, 1.0, (1,)),
        Option(2, 1.0, (2,)),
        Option(1, 1.0, (3,)),
        Option(7, 5.0, (4,)),
    ]
    assert undominated(rows, 6) == [Option(2, 1.0, (1,)), Option(6, 4.0, (0,))]

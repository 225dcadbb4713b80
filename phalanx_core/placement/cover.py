"""The cheapest choice, at most one option a group, that covers a need: exact."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from typing import NamedTuple

import numpy as np

# Units times groups that the exact table may have.
CELLS_MAX = 20_000_000


class Option(NamedTuple):
    """What a group gives if it gives this.

    Attributes
    ----------
    units
        Of the need, at least 1.
    cost
        Above 0.
    members
        What is chosen.
    """

    units: int
    cost: float
    members: tuple[int, ...]


def undominated(options: Sequence[Option], need: int) -> list[Option]:
    """Options that no other gives more or as much than for as little or less.

    Units beyond the need are as good as the need.

    Examples
    --------
    >>> rows = [Option(2, 3.0, (0,)), Option(3, 3.0, (1,)), Option(1, 1.0, (2,))]
    >>> [option.members for option in undominated(rows, 9)]
    [(2,), (1,)]
    """
    best: list[Option] = []
    ranked = sorted(options, key=lambda one: (one.cost, -one.units, one.members))
    for option in ranked:
        units = min(option.units, need)
        if units > (best[-1].units if best else 0):
            best.append(option._replace(units=units))
    return best


def lower_bound(groups: Sequence[Sequence[Option]], need: int) -> float:
    """No choice costs less; infinite where none covers the need.

    Every group gives up to its most, at the best rate among its options.
    """
    rates = sorted(
        (min(o.cost / o.units for o in group), max(o.units for o in group))
        for group in groups
        if group
    )
    cost, left = 0.0, need
    for rate, most in rates:
        if left <= most:
            return cost + rate * left
        cost, left = cost + rate * most, left - most
    return inf if left > 0 else cost


def cover(
    groups: Sequence[Sequence[Option]], need: int
) -> tuple[tuple[int, ...], bool] | None:
    """Members of the cheapest choice, ascending, and whether that is proven.

    Parameters
    ----------
    groups
        Options of each group; of equal choices the first groups are left out last.
    need
        Units to cover, at least 1.

    Returns
    -------
    None where all groups together give too little.

    Notes
    -----
    O(options * need) time, O(groups * need) memory up to ``CELLS_MAX``; beyond, by the
    best rates first, which is not proven.

    Examples
    --------
    >>> cover([[Option(3, 5.0, (0,))], [Option(2, 2.0, (1,))], [Option(2, 2.5, (2,))]], 4)
    ((1, 2), True)
    """
    used = [group for group in groups if group]
    if sum(max(option.units for option in group) for group in used) < need:
        return None
    scale = int(np.gcd.reduce([o.units for group in used for o in group]))
    need = -(-need // scale)
    if need * len(used) > CELLS_MAX:
        return _by_rate(used, need * scale), False
    table = np.full(need + 1, inf)
    table[0] = 0.0
    chosen = np.zeros((len(used), need + 1), np.int16)
    for at, group in enumerate(used):
        best = table.copy()
        for number, option in enumerate(group, 1):
            units = min(option.units // scale, need)
            paid = np.empty_like(table)
            paid[:units] = table[0]
            paid[units:] = table[: need + 1 - units]
            paid += option.cost
            better = paid < best
            best[better] = paid[better]
            chosen[at][better] = number
        table = best
    members: list[int] = []
    left = need
    for at in range(len(used) - 1, -1, -1):
        number = int(chosen[at][left])
        if number:
            option = used[at][number - 1]
            members += option.members
            left = max(0, left - option.units // scale)
    return tuple(sorted(members)), not isinf(table[need])


def _by_rate(groups: Sequence[Sequence[Option]], need: int) -> tuple[int, ...]:
    """The best rates first; each group by its own best rate, then by its most."""
    most = [max(group, key=lambda o: (o.units, -o.cost)) for group in groups]
    members: list[int] = []
    for option in sorted(most, key=lambda o: (o.cost / o.units, o.members)):
        if need <= 0:
            break
        members += option.members
        need -= option.units
    return tuple(sorted(members))

"""Whether a balanced gang lies in the fewest domains, evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from phalanx_core.testing.counting import capacities, lowest_level
from phalanx_core.testing.needs import Needs
from phalanx_core.testing.slow_tree import SlowTree, Vertex


def water_filled(total: int, capacities: Sequence[int]) -> list[int]:
    """Sorted shares of a total: unit by unit to the smallest share that has room.

    Raises
    ------
    ValueError
        If the capacities do not hold the total.

    Examples
    --------
    >>> water_filled(8, [18, 18, 3]), water_filled(24, [18, 6])
    ([2, 3, 3], [6, 18])
    """
    shares = [0] * len(capacities)
    for _ in range(total):
        open_ = [at for at, most in enumerate(capacities) if shares[at] < most]
        shares[min(open_, key=shares.__getitem__)] += 1
    return sorted(shares)


def fewest(total: int, capacities: Collection[int]) -> list[int] | None:
    """The largest capacities, as few as hold a total; None = all of them do not.

    Examples
    --------
    >>> fewest(24, [6, 18, 18]), fewest(5, [2, 2])
    ([18, 18], None)
    """
    largest = sorted(capacities, reverse=True)
    for count in range(1, len(largest) + 1):
        if sum(largest[:count]) >= total:
            return largest[:count]
    return None


def balanced_shares(
    tree: SlowTree, needs: Needs, usable: Collection[int], top: Vertex
) -> list[int] | None:
    """Sorted shares that a balanced gang must have below a vertex.

    Parameters
    ----------
    tree, needs
        The cluster, and a gang without parts that names ``balanced``.
    usable
        Leaf ids that may be taken.
    top
        The vertex that holds the gang.

    Returns
    -------
    Ranks in each domain used, smallest first. None where only legality is promised:
    something binds between the levels, or a leaf that could serve has no domain there.
    """
    level = needs.balanced
    if level is None or level >= top.level or _binds(needs, level, top.level):
        return None
    most = capacities(tree, needs, usable, level)
    inside = {v: most[v] for v in most if v.leaves[0] in top.leaves and most[v]}
    unit = max((size for size, at in needs.chain if at <= level), default=1)
    held = fewest(needs.ranks, inside.values())
    if held is None or not all(vertex.real for vertex in inside):
        return None
    shares = water_filled(needs.ranks // unit, [count // unit for count in held])
    return [share * unit for share in shares]


def _binds(needs: Needs, level: int, top: int) -> bool:
    """Whether chain sizes or limits bind strictly between two levels."""
    named = {at for _, at in needs.chain} | set(needs.limits)
    return any(level < at < top for at in named)


def broken_balance(
    tree: SlowTree, needs: Needs, leaves: Sequence[int], usable: Collection[int]
) -> list[str]:
    """Whether a legal placement is not spread as ``balanced`` promises.

    Parameters
    ----------
    tree, needs
        The cluster and the gang.
    leaves
        Leaf ids in rank order.
    usable
        Leaf ids that could be taken, ``leaves`` among them.

    Returns
    -------
    One sentence, or nothing where it is as promised or nothing is promised.
    """
    if needs.balanced is None or needs.parts:
        return []
    best = lowest_level(tree, needs, usable)
    if best is None:
        return ["the gang does not fit at all"]
    top = tree.above(max(best, needs.prefer or 0), leaves[0])
    promised = balanced_shares(tree, needs, usable, top)
    spread = Counter(tree.above(needs.balanced, leaf) for leaf in leaves)
    shares = sorted(spread.values())
    if promised is not None and shares != promised:
        return [f"shares {shares} of level {needs.balanced}, {promised} promised"]
    return []

"""Whether an answer worth more than so much exists: prices, then a recurrence over jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from phalanx_core.assignment.exact import Option, Sheet

# Passes over all options that lower a bound.
PASSES = 60


class Verdict(NamedTuple):
    """What became of a claim.

    Attributes
    ----------
    bound
        No answer has a higher score: by prices.
    better
        Score of an answer above the claim, None where none was found.
    finished
        Whether every answer above it was looked for.
    """

    bound: int
    better: int | None
    finished: bool


class Level(NamedTuple):
    """A bound by prices, what they leave unsold, and the prices."""

    bound: int
    unsold: list[int]
    prices: list[int]


def judged(sheet: Sheet, limit: int, prices: Sequence[int], states: int) -> Verdict:
    """Prove that no answer has a score above a limit, or find one.

    Parameters
    ----------
    prices
        To start from, at least 0.
    states
        Most of them that the recurrence meets.

    Notes
    -----
    At prices p a job loses by an option what it lacks to the job's best beyond its price,
    and an answer's score is the bound less all losses and the price of what it leaves. So
    each job in turn makes of every state, what is left of each row and the highest bound
    that leaves that, new ones, as long as they are above the limit.
    O(options * rows) a pass over prices; O(states * options of a job).
    """
    left = sheet.left()
    if any(has < 0 for has in left):
        return Verdict(limit, None, True)  # nothing fits
    free = sheet.open()
    base = sum(
        sheet.options[job][must].score
        for job, must in enumerate(sheet.fixed)
        if must is not None and must in sheet.options[job]
    )
    level = _lowered(free, left, limit - base, prices)
    bound = level.bound + base
    if bound <= limit:
        return Verdict(bound, None, True)
    better, finished = _searched(free, left, level, limit - base, states)
    return Verdict(bound, None if better is None else better + base, finished)


def _asked(free: list[list[Option]], left: Sequence[int], prices: list[int]) -> Level:
    """Every job takes what is worth most beyond its price."""
    bound = _cost(prices, left)
    unsold = list(left)
    for options in free:
        taken = max(options, key=lambda one: one.score - _cost(prices, one.wants))
        bound += taken.score - _cost(prices, taken.wants)
        unsold = [has - want for has, want in zip(unsold, taken.wants, strict=True)]
    return Level(bound, unsold, prices)


def _cost(prices: Sequence[int], wants: Sequence[int]) -> int:
    return sum(price * want for price, want in zip(prices, wants, strict=True))


def _lowered(
    free: list[list[Option]], left: Sequence[int], limit: int, prices: Sequence[int]
) -> Level:
    """The lowest bound of some steps along what is short or unsold (Polyak's)."""
    here = best = _asked(free, left, list(prices))
    for _ in range(PASSES):
        # A price of 0 is not lowered for what is unsold.
        off = [
            0 if price == 0 and more > 0 else more
            for price, more in zip(here.prices, here.unsold, strict=True)
        ]
        square = sum(more * more for more in off)
        if best.bound <= limit or square == 0:
            break
        step = here.bound - limit
        moved = [
            max(0, price - step * more // square)
            for price, more in zip(here.prices, off, strict=True)
        ]
        here = _asked(free, left, moved)
        best = min(best, here, key=lambda one: one.bound)
    return best


def _searched(
    free: list[list[Option]], left: Sequence[int], level: Level, limit: int, states: int
) -> tuple[int | None, bool]:
    """The highest score above a limit, None = there is none; whether all was met."""
    # Each row has its bits in a word, and one above them that a shortage clears.
    width = max(left, default=0).bit_length() + 1
    guards = sum(1 << (width * row + width - 1) for row in range(len(left)))
    here = {_packed(left, width) + guards: level.bound}
    met = 0
    for losses in _losses(free, level, limit, width):
        after: dict[int, int] = {}
        for word, bound in here.items():
            for loss, wants in losses:
                if bound - loss <= limit:
                    break
                rest = word - wants
                if rest & guards == guards and after.get(rest, limit) < bound - loss:
                    after[rest] = bound - loss
        met += len(after)
        if met > states:
            return None, False
        here = after
    mask = (1 << (width - 1)) - 1
    scores = (
        bound
        - sum(
            price * (word >> (width * row) & mask)
            for row, price in enumerate(level.prices)
        )
        for word, bound in here.items()
    )
    best = max(scores, default=limit)
    return (best if best > limit else None), True


def _losses(
    free: list[list[Option]], level: Level, limit: int, width: int
) -> list[list[tuple[int, int]]]:
    """What options of each job lose, and want; the jobs with the least choice first."""
    found = []
    for options in free:
        worth = [one.score - _cost(level.prices, one.wants) for one in options]
        pairs = sorted(
            (max(worth) - here, _packed(one.wants, width))
            for here, one in zip(worth, options, strict=True)
        )
        found.append([pair for pair in pairs if level.bound - pair[0] > limit])
    return sorted(found, key=lambda pairs: (len(pairs) > 1, -pairs[-1][0]))


def _packed(amounts: Sequence[int], width: int) -> int:
    return sum(amount << (width * row) for row, amount in enumerate(amounts))

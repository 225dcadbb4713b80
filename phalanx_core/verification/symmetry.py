"""``Symmetry``: which states differ only by a permutation of leaves, and how many.

A leaf is a column of bits: live, owned by job 0, planned for job 0, and so on. Leaves
with equal columns are interchangeable, so the sorted columns stand for all states that a
permutation makes of one (protocol-level symmetry; exact, no search for a permutation).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from math import comb, factorial
from sys import byteorder
from typing import Any

from phalanx_core.reformation import Job, Records, leaves_of
from phalanx_core.verification.model import Model, Scope, State, World

Key = tuple[Any, ...]
WIDTHS = (8, 16, 32, 64)


class Symmetry:
    """Keys of the states of one model.

    Parameters
    ----------
    model
        Where its scope has one start, only leaves of the same first owner are alike.

    Notes
    -----
    A key costs O(leaves log leaves) in C code; making a state of a key O(leaves · bits).
    """

    def __init__(self, model: Model) -> None:
        scope = model.scope
        self.jobs = scope.jobs
        self.leaves = scope.leaves
        self.extended = model.rules.lifecycle
        self.bits = 1 + 2 * scope.jobs + ((3 + 2 * scope.jobs) if self.extended else 0)
        self.groups = _groups(scope)
        colours = (len(self.groups) - 1).bit_length()
        self.width = next(w for w in WIDTHS if w >= self.bits + colours)
        self.colour = sum(
            colour << (self.width * leaf + self.bits)
            for leaf, colour in enumerate(
                colour for colour, size in enumerate(self.groups) for _ in range(size)
            )
        )
        self.spread = _Spread(self.width)

    def key(self, state: State) -> Key:
        """What equals for two states if a permutation of leaves makes one the other."""
        records, world = state
        spread = self.spread
        live, jobs, failures, suspect, lost = records
        word = self.colour | spread[live]
        at = 1
        scalars: list[Any] = [failures]
        for phase, epoch, alloc, plan, sealed, fenced, cause, base, uid in jobs:
            word |= spread[alloc] << at | spread[plan] << (at + 1)
            at += 2
            scalars += (phase, epoch, sealed)
            if world is not None:
                word |= spread[fenced] << at
                at += 1
                scalars += (cause, base, uid)
        if world is not None:
            gone, zombies, budget = world
            word |= spread[suspect] << at | spread[lost] << (at + 1)
            word |= spread[gone] << (at + 2)
            at += 3
            for mask in zombies:
                word |= spread[mask] << at
                at += 1
            scalars.append(budget)
        octets = word.to_bytes(self.leaves * self.width // 8, byteorder)
        if self.width == 8:
            return (bytes(sorted(octets)), *scalars)
        words = memoryview(octets)
        if self.width == 16:
            return (tuple(sorted(words.cast("H"))), *scalars)
        columns = words.cast("I" if self.width == 32 else "Q")
        return (tuple(sorted(columns)), *scalars)

    def state(self, key: Key) -> State:
        """The state whose leaves stand in the key's order."""
        columns, failures, *scalars = key
        masks = [0] * self.bits
        for leaf, column in enumerate(columns):
            column &= (1 << self.bits) - 1
            while column:
                low = column & -column
                masks[low.bit_length() - 1] |= 1 << leaf
                column ^= low
        if not self.extended:
            plain = []
            for job in range(self.jobs):
                phase, epoch, sealed = scalars[3 * job : 3 * job + 3]
                alloc, plan = masks[1 + 2 * job : 3 + 2 * job]
                plain.append(Job(phase, epoch, alloc, plan, sealed))
            return State(Records(masks[0], tuple(plain), failures))
        jobs = tuple(self._job(masks, scalars, j) for j in range(self.jobs))
        suspect, lost, gone, *zombies = masks[1 + 3 * self.jobs :]
        records = Records(masks[0], jobs, failures, suspect, lost)
        return State(records, World(gone, tuple(zombies), scalars[-1]))

    def _job(self, masks: list[int], scalars: list[Any], job: int) -> Job:
        phase, epoch, sealed, cause, base, uid = scalars[6 * job : 6 * job + 6]
        alloc, plan, fenced = masks[1 + 3 * job : 4 + 3 * job]
        return Job(phase, epoch, alloc, plan, sealed, fenced, cause, base, uid)

    def orbit(self, key: Key) -> int:
        """States that permutations make of this one: product of multinomials."""
        count = 1
        for size in self.groups:
            count *= factorial(size)
        for _, equal in groupby(key[0]):
            count //= factorial(len(list(equal)))
        return count

    def choices(self, key: Key) -> KindsOfLeaves:
        """One choice of leaves of each kind, in the state that the key stands for."""
        kinds, leaf = [], 0
        for _, equal in groupby(key[0]):
            size = len(list(equal))
            kinds.append((((1 << size) - 1) << leaf, leaf, size))
            leaf += size
        return KindsOfLeaves(kinds)


class _Spread(dict[int, int]):
    """Masks with their bits at a distance of one column, worked out when first asked."""

    def __init__(self, width: int) -> None:
        self.width = width

    def __missing__(self, mask: int) -> int:
        """The mask, spread, and kept."""
        spread = sum(1 << (self.width * leaf) for leaf in leaves_of(mask))
        self[mask] = spread
        return spread


def _groups(scope: Scope) -> list[int]:
    """Sizes of the sets of leaves that may be permuted, in the order of leaves."""
    if scope.sizes is None or not scope.one_start:
        return [scope.leaves]
    left = scope.leaves - sum(scope.sizes)
    return [size for size in (*scope.sizes, left) if size]


class KindsOfLeaves:
    """Choices of leaves up to permutations of equal ones.

    Parameters
    ----------
    kinds
        Mask, first leaf and number of each set of equal leaves.

    Examples
    --------
    Of three equal leaves, none, one, two or all are chosen, in 1, 3, 3 and 1 ways.

    >>> KindsOfLeaves([(0b111, 0, 3)]).subsets(0, 0b111)
    [(0, 1), (1, 3), (3, 3), (7, 1)]
    """

    def __init__(self, kinds: list[tuple[int, int, int]]) -> None:
        self.kinds = kinds
        self.everything = 0
        for whole, _, _ in kinds:
            self.everything |= whole

    def singles(self, mask: int) -> Iterable[tuple[int, int]]:
        """One leaf of each kind within a mask, and how many there are."""
        return [(1 << first, size) for whole, first, size in self.kinds if whole & mask]

    def subsets(self, must: int, may: int) -> list[tuple[int, int]]:
        """Sets between two masks by how many they have of each kind; with their number."""
        found = [(must, 1)]
        for whole, first, size in self.kinds:
            if whole & may:
                some = [
                    (((1 << taken) - 1) << first, comb(size, taken))
                    for taken in range(size + 1)
                ]
                found = [(m | s, n * c) for m, n in found for s, c in some]
        return found

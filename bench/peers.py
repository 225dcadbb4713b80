"""Small allocators in Python that the planner is measured beside.

They place aligned blocks of a power of two and know no owners, domains or health.
"""

from __future__ import annotations

import numpy as np
from sortedcontainers import SortedSet


class SetBuddy:
    """A buddy allocator on plain sets: 20 lines, fast, and in no particular order."""

    def __init__(self, order_max: int) -> None:
        self.free: list[set[int]] = [set() for _ in range(order_max + 1)]
        self.free[order_max].add(0)

    def place(self, order: int) -> int | None:
        """First leaf of a block of ``2**order`` leaves, or None."""
        free = self.free
        for found in range(order, len(free)):
            if free[found]:
                first = free[found].pop()
                while found > order:
                    found -= 1
                    free[found].add(first + (1 << found))
                return first
        return None

    def release(self, first: int, order: int) -> None:
        """Give a block back and join it with its free neighbours."""
        free = self.free
        while (other := first ^ (1 << order)) in free[order]:
            free[order].remove(other)
            first &= ~(1 << order)
            order += 1
        free[order].add(first)


class SortedBuddy(SetBuddy):
    """The same on sortedcontainers, which takes the lowest address every time."""

    def __init__(self, order_max: int) -> None:
        self.free = [SortedSet() for _ in range(order_max + 1)]
        self.free[order_max].add(0)

    def place(self, order: int) -> int | None:
        """First leaf of the lowest block of ``2**order`` leaves, or None."""
        free = self.free
        for found in range(order, len(free)):
            if free[found]:
                first = free[found].pop(0)
                while found > order:
                    found -= 1
                    free[found].add(first + (1 << found))
                return first
        return None


class NumpyScan:
    """One bool a leaf, scanned for an aligned free block at every call."""

    def __init__(self, order_max: int) -> None:
        self.free = np.ones(1 << order_max, bool)

    def place(self, order: int) -> int | None:
        """First leaf of the lowest block of ``2**order`` leaves, or None."""
        whole = self.free.reshape(-1, 1 << order).all(axis=1)
        at = int(whole.argmax())
        if not whole[at]:
            return None
        first = at << order
        self.free[first : first + (1 << order)] = False
        return first

    def release(self, first: int, order: int) -> None:
        """Give a block back."""
        self.free[first : first + (1 << order)] = True

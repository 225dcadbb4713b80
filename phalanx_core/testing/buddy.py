"""The paper's rounding, by definition: aligned blocks of a power of two of leaves.

Only for equal fanouts that are powers of two, where an aligned block is a run of
positions that starts at a multiple of its size.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from phalanx_core.testing.needs import Needs
from phalanx_core.testing.slow_tree import SlowTree


def held(ranks: int) -> int:
    """Leaves that a gang of so many ranks holds: the next power of two.

    Examples
    --------
    >>> held(5), held(8)
    (8, 8)
    """
    return 1 << (ranks - 1).bit_length()


def free_blocks(tree: SlowTree, usable: Collection[int], size: int) -> list[list[int]]:
    """Aligned blocks of so many leaves, inside one tree, that are wholly usable."""
    starts = range(0, len(tree.leaves) - size + 1, size)
    blocks = [tree.leaves[start : start + size] for start in starts]
    return [
        block
        for block in blocks
        if all(leaf in usable for leaf in block)
        and tree.above(tree.depth, block[0]) is tree.above(tree.depth, block[-1])
    ]


def fits(tree: SlowTree, needs: Needs, usable: Collection[int], pieces: int) -> bool:
    """Whether aligned blocks for the gang exist inside one domain that may hold it."""
    size = held(needs.ranks) // pieces
    if needs.group > len(tree.levels[needs.group_level][0].leaves):
        return False
    for root in needs.roots(tree):
        inside = set(root.leaves)
        blocks = free_blocks(tree, usable, size)
        if sum(inside.issuperset(block) for block in blocks) >= pieces:
            return True
    return False


def block_leaves(tree: SlowTree, needs: Needs, leaves: Sequence[int]) -> list[int]:
    """All leaves of the aligned block whose first ranks these are."""
    size = held(needs.ranks)
    start = tree.position[leaves[0]]
    return tree.leaves[start : start + size]


def broken_blocks(
    tree: SlowTree, needs: Needs, leaves: Sequence[int], pieces: int
) -> list[str]:
    """Whether the ranks do not fill aligned blocks in address order."""
    size = held(needs.ranks) // pieces
    for at in range(0, needs.ranks, size):
        first = tree.position[leaves[at]]
        count = min(size, needs.ranks - at)
        run = [tree.position[leaf] for leaf in leaves[at : at + count]]
        if first % size or run != list(range(first, first + count)):
            return [f"ranks from {at} are not an aligned block of {size}"]
    return []


def broken_held(
    tree: SlowTree,
    needs: Needs,
    leaves: Sequence[int],
    taken: Sequence[int],
    pieces: int,
) -> list[str]:
    """Whether what a gang holds is not the aligned blocks around its ranks."""
    size = held(needs.ranks) // pieces
    blocks = {tree.position[leaf] // size for leaf in taken}
    if len(taken) != held(needs.ranks) or len(blocks) != pieces:
        return [f"{len(taken)} leaves held in {len(blocks)} blocks, not {pieces}"]
    outside = [leaf for leaf in leaves if leaf not in taken]
    return [f"ranks on leaves {outside} it does not hold"] if outside else []

"""What makes a placement or a repair legal, one sentence for every broken rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from phalanx_core.testing.counting import Needs
from phalanx_core.testing.slow_tree import SlowTree


def broken_shape(tree: SlowTree, needs: Needs, leaves: Sequence[int]) -> list[str]:
    """Rules of the chain that leaves in rank order break, whoever holds them.

    Parameters
    ----------
    tree, needs
        The cluster, and the gang resolved against it.
    leaves
        Leaf ids in rank order.

    Returns
    -------
    One sentence a broken rule; empty = legal. O(leaves * levels).
    """
    unknown = [leaf for leaf in leaves if leaf not in tree.position]
    if unknown:
        return [f"leaves {unknown} are not of this tree"]
    broken = []
    if len(leaves) != needs.ranks:
        broken.append(f"{len(leaves)} leaves for {needs.ranks} ranks")
    if len(set(leaves)) != len(leaves):
        broken.append("a leaf is used twice")
    if needs.group > 1:
        for start in range(0, len(leaves), needs.group):
            group = leaves[start : start + needs.group]
            tops = {id(tree.above(needs.group_level, leaf)): leaf for leaf in group}
            if len(tops) > 1:
                broken.append(f"ranks from {start} span two group domains")
            if not tree.above(needs.group_level, group[0]).real:
                broken.append(f"ranks from {start} have no group domain")
    top = tree.depth if needs.within is None else needs.within
    if len({id(tree.above(top, leaf)) for leaf in leaves}) > 1:
        broken.append(f"the gang spans two domains of level {top}")
    if needs.within is not None and not tree.above(needs.within, leaves[0]).real:
        broken.append(f"the gang has no domain of level {needs.within}")
    return broken


def broken_limits(
    tree: SlowTree, needs: Needs, leaves: Sequence[int], stay: Collection[int] = ()
) -> list[str]:
    """Limits that leaves exceed; ranks on ``stay`` were there before."""
    broken = []
    for level, row in needs.limits.items():
        found = Counter(tree.above(level, leaf) for leaf in leaves)
        stays = Counter(tree.above(level, leaf) for leaf in stay)
        for vertex, count in found.items():
            if vertex.real and count > max(row[vertex.domain], stays[vertex]):
                broken.append(
                    f"level {level} domain {vertex.domain}: {count} leaves, "
                    f"limit {row[vertex.domain]}, {stays[vertex]} stay"
                )
    return broken


def broken_placement(
    tree: SlowTree, needs: Needs, leaves: Sequence[int], available: Collection[int]
) -> list[str]:
    """Rules that a new placement breaks, availability and rank order included."""
    broken = broken_shape(tree, needs, leaves)
    if broken:
        return broken
    taken = [leaf for leaf in leaves if leaf not in available]
    if taken:
        broken.append(f"leaves {taken} are not available")
    at = [tree.position[leaf] for leaf in leaves]
    if at != sorted(at):
        broken.append("ranks are not in address order")
    return broken + broken_limits(tree, needs, leaves)

"""What makes a placement or a repair legal, one sentence for every broken rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from phalanx_core.testing.needs import Chain, Needs
from phalanx_core.testing.slow_tree import SlowTree


def broken_shape(tree: SlowTree, needs: Needs, leaves: Sequence[int]) -> list[str]:
    """Rules of the chain that leaves in rank order break, whoever holds them.

    Parameters
    ----------
    tree, needs
        The cluster, and the gang resolved against it.
    leaves
        Leaf ids in rank order, part after part.

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
    ranked = dict(enumerate(leaves))
    for first, part in needs.members():
        chain = part.full_chain if needs.parts else part.chain
        ranks = range(first, first + part.ranks)
        broken += broken_runs(tree, chain, ranks, ranked)
    top = tree.depth if needs.within is None else needs.within
    if len({id(tree.above(top, leaf)) for leaf in leaves}) > 1:
        broken.append(f"the gang spans two domains of level {top}")
    if needs.within is not None and not tree.above(needs.within, leaves[0]).real:
        broken.append(f"the gang has no domain of level {needs.within}")
    return broken


def broken_runs(
    tree: SlowTree, chain: Chain, ranks: range, ranked: Mapping[int, int]
) -> list[str]:
    """Runs of ranks that span two domains of their level, or have none.

    Parameters
    ----------
    tree, chain
        The cluster, and (size, level) entries.
    ranks
        All ranks that the chain binds; runs are counted from the first.
    ranked
        Leaf id of each rank that has one.
    """
    broken = []
    for size, level in chain:
        for start in range(ranks.start, ranks.stop, size):
            run = [ranked[r] for r in range(start, start + size) if r in ranked]
            tops = {id(tree.above(level, leaf)) for leaf in run}
            if len(tops) > 1:
                broken.append(f"ranks {start}+{size} span two domains of level {level}")
            if any(not tree.above(level, leaf).real for leaf in run):
                broken.append(f"ranks {start}+{size} have no domain of level {level}")
    return broken


def broken_limits(
    tree: SlowTree,
    needs: Needs,
    leaves: Sequence[int],
    stay: Collection[int] = (),
    lost: Collection[int] = (),
) -> list[str]:
    """Limits that leaves exceed.

    Parameters
    ----------
    tree, needs, leaves
        The gang, ``leaves`` in rank order.
    stay
        Ranks that were there before: limits bind what is added.
    lost
        Ranks that have no leaf now and are not counted.
    """
    broken = _over(tree, needs.limits, leaves, range(needs.ranks), (stay, lost))
    for first, part in needs.members() if needs.parts else ():
        ranks = range(first, first + part.ranks)
        broken += _over(tree, part.limits, leaves, ranks, (stay, lost))
    return broken


def _over(
    tree: SlowTree,
    limits: Mapping[int, Sequence[int]],
    leaves: Sequence[int],
    ranks: range,
    apart: tuple[Collection[int], Collection[int]],
) -> list[str]:
    """Limits that the leaves of some ranks exceed."""
    stay, lost = apart
    broken = []
    for level, row in limits.items():
        found = Counter(tree.above(level, leaves[r]) for r in ranks if r not in lost)
        stays = Counter(tree.above(level, leaves[r]) for r in ranks if r in stay)
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
    for first, part in needs.members():
        at = [tree.position[leaf] for leaf in leaves[first : first + part.ranks]]
        if at != sorted(at):
            broken.append("ranks are not in address order")
    return broken + broken_limits(tree, needs, leaves)

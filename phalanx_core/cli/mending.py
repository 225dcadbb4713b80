"""A repair in the names a person uses."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx_core.cli.marks import changes
from phalanx_core.cli.results import Mended
from phalanx_core.placement import Repair
from phalanx_core.topology import Topology


def mended(
    topology: Topology,
    job: str,
    repair: Repair,
    moves: Sequence[tuple[int, int, int]],
    before: str,
    after: str,
) -> Mended:
    """A repair that was made.

    Parameters
    ----------
    topology
        That is shown.
    moves
        Rank, leaf before and leaf after, as ids of that topology.
    before, after
        Marks of all leaves.
    """
    names, levels = topology.names, topology.levels
    touched = [old for _, old, _ in moves] + [new for _, _, new in moves]
    return Mended(
        job,
        "repaired",
        moves=tuple((rank, names[old], names[new]) for rank, old, new in moves),
        level_before=levels[repair.level_before],
        level_after=levels[repair.level_after],
        spares_used=repair.spares_used,
        changes=tuple(changes(topology, touched, before, after)),
    )

"""What makes a repair legal and no worse than it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from phalanx_core.testing.repairing import Unit, Wound
from phalanx_core.testing.rules import broken_limits, broken_shape
from phalanx_core.testing.slow_tree import Vertex


class RepairLike(Protocol):
    """The fields of a repair that the twin reads."""

    @property
    def moves(self) -> NDArray[Any]:
        """Integers, shape (n, 3): rank, leaf left, leaf taken."""

    @property
    def level_before(self) -> int:
        """Level that confined the gang."""

    @property
    def level_after(self) -> int:
        """Level that confines it after the repair."""

    @property
    def spares_used(self) -> int:
        """Spares that the repair opens."""


def broken_repair(
    wound: Wound, repair: RepairLike, spares: Sequence[Vertex], partial: bool
) -> list[str]:
    """Rules that a repair breaks, one sentence each; empty = legal.

    Parameters
    ----------
    wound
        The gang before the repair.
    repair
        A planner's answer.
    spares
        Spare vertices before the repair.
    partial
        Whether broken groups may be left as they are.
    """
    moves = {rank: (old, new) for rank, old, new in repair.moves.tolist()}
    broken = _bad_moves(wound, repair, moves)
    if broken:
        return broken
    leaves = [moves[r][1] if r in moves else v for r, v in enumerate(wound.leaves)]
    units = wound.units()
    whole: list[Unit] = []
    left: list[Unit] = []
    for unit in units:
        broken += _bad_unit(wound, unit, moves, partial, whole, left)
    broken += broken_shape(wound.tree, wound.needs, leaves)
    lost = {rank for unit in left for rank in unit.dead}
    now = [leaf for rank, leaf in enumerate(leaves) if rank not in lost]
    stay = [v for r, v in enumerate(wound.leaves) if r not in moves and r not in lost]
    broken += broken_limits(wound.tree, wound.needs, now, stay)
    if not broken:
        broken += _bad_report(wound, repair, moves, leaves, spares)
        broken += _not_least(wound, units, whole, left, leaves)
    return broken


def _bad_moves(
    wound: Wound, repair: RepairLike, moves: dict[int, tuple[int, int]]
) -> list[str]:
    """Moves that do not start where the rank is, or end where nothing is free."""
    broken = []
    touched = {rank for unit in wound.units() for rank in unit.ranks}
    if len(moves) != len(repair.moves):
        broken.append("a rank moves twice")
    for rank, (old, new) in moves.items():
        if rank not in touched:
            broken.append(f"rank {rank} moves though its group is whole")
        elif wound.leaves[rank] != old:
            broken.append(f"rank {rank} is on leaf {wound.leaves[rank]}, not {old}")
        if new not in wound.usable:
            broken.append(f"rank {rank} moves to leaf {new}, neither free nor spare")
    if len({new for _, new in moves.values()}) != len(moves):
        broken.append("two ranks move to one leaf")
    return broken


def _bad_unit(
    wound: Wound,
    unit: Unit,
    moves: dict[int, tuple[int, int]],
    partial: bool,
    whole: list[Unit],
    left: list[Unit],
) -> list[str]:
    """A unit is filled at home, moves whole, or is left out; sorts it into lists."""
    moved = [rank for rank in unit.ranks if rank in moves]
    if not moved:
        left.append(unit)
        return [] if partial else [f"ranks {unit.dead} are left without a leaf"]
    new = [moves[rank][1] for rank in moved]
    level = wound.needs.group_level
    at_home = all(wound.tree.above(level, leaf) is unit.home for leaf in new)
    if not at_home:
        whole.append(unit)
    expected = unit.dead if at_home else unit.ranks
    broken = []
    if tuple(moved) != expected:
        broken.append(f"ranks {moved} move where {list(expected)} should")
    places = [wound.tree.position[leaf] for leaf in new]
    if places != sorted(places):
        broken.append(f"ranks {moved} do not keep their order")
    return broken


def _bad_report(
    wound: Wound,
    repair: RepairLike,
    moves: dict[int, tuple[int, int]],
    leaves: list[int],
    spares: Sequence[Vertex],
) -> list[str]:
    """Levels and spares that a repair tells wrong."""
    taken = {new for _, new in moves.values()}
    opened = sum(any(leaf in taken for leaf in vertex.leaves) for vertex in spares)
    told = (repair.level_before, repair.level_after, repair.spares_used)
    found = (
        wound.tree.span_level(list(wound.leaves)),
        wound.tree.span_level(leaves),
        opened,
    )
    if told != found:
        return [f"levels before, after and spares {told} should be {found}"]
    return []


def _not_least(
    wound: Wound,
    units: Sequence[Unit],
    whole: Sequence[Unit],
    left: Sequence[Unit],
    leaves: list[int],
) -> list[str]:
    """Repairs that move more groups, or one group further, than they have to."""
    if wound.needs.limits or left:
        return []
    fewest = min((moved for moved, _ in wound.outcomes()), default=len(units))
    if len(whole) > fewest:
        return [f"{len(whole)} groups move where {fewest} would do"]
    if len(units) == len(whole) == 1 and len(wound.dead) < wound.needs.ranks:
        return _too_far(wound, units[0], leaves)
    return []


def _too_far(wound: Wound, unit: Unit, leaves: list[int]) -> list[str]:
    """Proposition 2: one broken group goes no further than the nearest room for it."""
    tree, level = wound.tree, wound.needs.group_level
    rooms = [
        vertex
        for vertex in tree.levels[level]
        if (vertex.real or wound.needs.group == 1)
        and sum(leaf in wound.usable for leaf in vertex.leaves) >= wound.needs.group
    ]
    home = wound.leaves[unit.ranks[0]]
    nearest = min(
        (tree.span_level([home, vertex.leaves[0]]) for vertex in rooms), default=0
    )
    gone = tree.span_level([home, leaves[unit.ranks[0]]])
    if gone > nearest:
        return [f"a group moves to level {gone} though level {nearest} has room"]
    return []

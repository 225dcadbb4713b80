"""What makes a repair legal and no worse than it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from phalanx_core.testing.lots import Adding, Lots
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
    wound: Wound,
    repair: RepairLike,
    spares: Sequence[Vertex],
    partial: bool,
    least: bool = True,
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
        Whether broken units may be left as they are.
    least
        Whether no more may move than has to.
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
        broken += _bad_unit(wound, unit, moves, whole, left)
        broken += _needless(wound, unit, moves) if least else []
    if not partial:
        broken += [f"ranks {unit.dead} are left without a leaf" for unit in left]
    broken += broken_shape(wound.tree, wound.needs, leaves)
    broken += broken_homes(wound, leaves)
    lost = {rank for unit in left for rank in unit.dead}
    stay = {r for r in range(len(leaves)) if r not in moves} - lost
    broken += broken_limits(wound.tree, wound.needs, leaves, stay, lost)
    if not broken:
        broken += _bad_report(wound, repair, moves, leaves, spares)
        broken += _not_least(wound, units, whole, left, leaves) if least else []
    return broken


def broken_homes(wound: Wound, leaves: Sequence[int]) -> list[str]:
    """Parts and gangs that leave the domain where a rank of theirs lives."""
    tree, needs = wound.tree, wound.needs
    runs: dict[tuple[range, int], None] = {}
    if not wound.lost_all:
        top = tree.depth if needs.within is None else needs.within
        runs[range(needs.ranks), top] = None
    for unit in wound.units():
        held = [(run, level) for run, level, held in wound.enclosing(unit) if held]
        runs |= dict.fromkeys(held)
    broken = []
    for run, level in runs:
        old, new = wound.leaves[run.start], leaves[run.start]
        if tree.above(level, old) is not tree.above(level, new):
            broken.append(
                f"ranks {run.start}+{len(run)} leave their level {level} domain"
            )
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
            broken.append(f"rank {rank} moves though its unit is whole")
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
    whole: list[Unit],
    left: list[Unit],
) -> list[str]:
    """A unit stays at home, moves whole, or is left out; sorts it into lists."""
    moved = [rank for rank in unit.ranks if rank in moves]
    if not moved:
        left.append(unit)
        return []
    if _inside(wound, moves, moved, unit.home):
        return _bad_stay(wound, unit, moves, moved)
    whole.append(unit)
    return _bad_run(wound, moves, moved, unit.ranks)


def _bad_stay(
    wound: Wound, unit: Unit, moves: dict[int, tuple[int, int]], moved: list[int]
) -> list[str]:
    """In a unit at home each broken group is filled, or moves whole if it must."""
    touched = {rank for group in unit.groups for rank in group.ranks}
    broken = [f"rank {r} moves inside its unit" for r in moved if r not in touched]
    for group in unit.groups:
        mine = [rank for rank in group.ranks if rank in moves]
        stays = bool(mine) and _inside(wound, moves, mine, group.home)
        broken += _bad_run(wound, moves, mine, group.dead if stays else group.ranks)
    return broken


def _needless(wound: Wound, unit: Unit, moves: dict[int, tuple[int, int]]) -> list[str]:
    """Groups of a unit at home that move whole with room enough at their side."""
    mine = [rank for rank in unit.ranks if rank in moves]
    if not mine or wound.needs.limited or not _inside(wound, moves, mine, unit.home):
        return []
    used = {new for _, new in moves.values()}
    broken = []
    for group in unit.groups:
        mine = [rank for rank in group.ranks if rank in moves]
        left = [v for v in group.home.leaves if v in wound.usable and v not in used]
        stays = bool(mine) and _inside(wound, moves, mine, group.home)
        if not stays and len(left) >= len(group.dead):
            broken.append(f"ranks {mine} move though leaves {left} are at their side")
    return broken


def _inside(
    wound: Wound,
    moves: dict[int, tuple[int, int]],
    ranks: Sequence[int],
    home: Vertex,
) -> bool:
    """Whether ranks that move end inside a vertex."""
    tops = (wound.tree.above(home.level, moves[rank][1]) for rank in ranks)
    return all(top is home for top in tops)


def _bad_run(
    wound: Wound,
    moves: dict[int, tuple[int, int]],
    moved: list[int],
    expected: Sequence[int],
) -> list[str]:
    """Ranks of one run that move, against those that should, and their order."""
    broken = []
    if moved != list(expected):
        broken.append(f"ranks {moved} move where {list(expected)} should")
    places = [wound.tree.position[moves[rank][1]] for rank in moved]
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
    """Repairs that move more units, or one unit further, than they have to."""
    # Where several parts are broken the fewest are looked for, not promised.
    if wound.needs.limited or left or len({unit.part for unit in units}) > 1:
        return []
    fewest = min((moved for moved, _ in wound.outcomes()), default=len(units))
    if len(whole) > fewest:
        return [f"{len(whole)} units move where {fewest} would do"]
    if len(units) == len(whole) == 1 and not wound.lost_all:
        return _too_far(wound, units[0], leaves)
    return []


def _too_far(wound: Wound, unit: Unit, leaves: list[int]) -> list[str]:
    """Proposition 2: one broken unit goes no further than the nearest room for it."""
    tree = wound.tree
    part = list(wound.needs.members())[unit.part][1]
    size, level = part.unit
    chain = tuple((n, at) for n, at in part.chain if n <= size and at <= level)
    sets = Adding(tree, [Lots(size, chain, unit.part)], wound.usable)
    rooms = [vertex for vertex in tree.levels[level] if sets.holds_all(vertex)]
    home = wound.leaves[unit.ranks[0]]
    nearest = min(
        (tree.span_level([home, vertex.leaves[0]]) for vertex in rooms), default=0
    )
    gone = tree.span_level([home, leaves[unit.ranks[0]]])
    if gone > nearest:
        return [f"a unit moves to level {gone} though level {nearest} has room"]
    return []

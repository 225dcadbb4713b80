"""``Repair``: which ranks of a broken gang move, and where to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core.native import MOVE, REPAIR
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.misfit import Misfit, plural
from phalanx_core.placement.results import (
    Placement,
    by_host,
    positions_of,
    spans,
)

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import IntArray, VertexLimits

HEAD_SIZE = REPAIR.itemsize
_DEAD, _BEFORE, _AFTER, _SPARES = 2, 4, 5, 6
CHAIN_MAX = 16


@dataclass(slots=True)
class Resized:
    """How a gang changes its size.

    Attributes
    ----------
    gang
        At its size afterwards.
    kept
        Ranks that stay, by their numbers before: int32, ascending.
    more
        The ranks that are new, as a gang of their own; None where it shrinks.
    runs
        Their leaves, as the core's runs.
    lost
        How many of the ranks that end had lost their leaf.
    """

    gang: Gang
    kept: IntArray
    more: Gang | None = None
    runs: bytes = b""
    lost: int = 0

    def positions(self, before: IntArray) -> IntArray:
        """Of all ranks afterwards, from those before."""
        stay = before[self.kept]
        if self.more is None:
            return stay
        added = positions_of(0, self.more.ranks, self.runs)
        return np.concatenate([stay, added]).astype(np.int32)


@dataclass(slots=True)
class Rest:
    """What most repairs do not have: leaves given as failed, ranks left over, a size."""

    failed: bytes = b""
    unresolved: IntArray = field(default_factory=lambda: np.empty(0, np.int32))
    reason: str = ""
    resized: Resized | None = None


class Repair:
    """A repair done or planned; truthy, even where nothing had to move.

    Parts are expanded on use from values of the moment it was made.

    Attributes
    ----------
    job
        Whom it repairs.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> planner = Planner(Topology.from_spec("host:3 gpu:2"))
    >>> _ = planner.place("a", Gang(4, group=2)), planner.fail([3])
    >>> repair = planner.replan("a")
    >>> repair.moves.tolist(), repair.leaves.tolist()
    ([[2, 2, 4], [3, 3, 5]], [0, 1, 4, 5])
    """

    __slots__ = (
        "_before",
        "_depth",
        "_limits",
        "_reply",
        "_rest",
        "_slot",
        "_token",
        "job",
    )

    # No __init__: the hot path fills the slots in place, at half the cost of a call.
    job: Job | Handle
    _slot: int
    _limits: VertexLimits | None  # of the job
    _reply: bytes  # phx_repair and its moves
    # Where the gang was: reading that from the core would cost more than the repair, so
    # repairs of a job lean on the one before, at most CHAIN_MAX of them.
    _before: Placement | Repair
    _depth: int
    _token: int  # the core's handle of the gang it was made for; plans only
    _rest: Rest | None

    @property
    def _resized(self) -> Resized | None:
        return None if self._rest is None else self._rest.resized

    @property
    def gang(self) -> Gang:
        """What the job asked for, at its size afterwards."""
        resized = self._resized
        return self._before.gang if resized is None else resized.gang

    @property
    def template(self) -> int:
        """Ranks that it has afterwards, one of the gang's sizes."""
        return self.gang.ranks

    @property
    def reason(self) -> str:
        """Why ranks were left unresolved, else ""."""
        return "" if self._rest is None else self._rest.reason

    @property
    def _frame(self) -> Frame:
        return self._before._frame

    def _head(self, field: int) -> int:
        return int.from_bytes(self._reply[4 * field : 4 * field + 4], "little")

    @property
    def moves(self) -> IntArray:
        """Rank, leaf it leaves, leaf it takes, by rank: int32, shape (n, 3).

        Ranks are numbered as before. A rank that is new leaves -1.
        """
        moves = expanded(core_moves(self._reply))
        moves[:, 1] = self._frame.leaf_ids(moves[:, 1])
        moves[:, 2] = self._frame.leaf_ids(moves[:, 2])
        resized = self._resized
        if resized is None or resized.more is None:
            return moves
        more = np.full((resized.more.ranks, 3), -1, np.int32)
        more[:, 0] = np.arange(resized.gang.ranks - len(more), resized.gang.ranks)
        added = positions_of(0, len(more), resized.runs)
        more[:, 2] = self._frame.leaf_ids(added)
        return np.concatenate([moves, more])

    @property
    def leaves(self) -> IntArray:
        """Leaf ids in rank order once applied: int32, shape (ranks,).

        An unresolved rank is still on the leaf it lost.
        """
        return self._frame.leaf_ids(self._positions())

    def _positions(self) -> IntArray:
        moves = expanded(core_moves(self._reply))
        positions = self._before._positions()
        positions[moves[:, 0]] = moves[:, 2]
        resized = self._resized
        return positions if resized is None else resized.positions(positions)

    @property
    def kept(self) -> IntArray:
        """``kept[new] = old`` rank: int32, -1 for a rank that is new.

        Only a gang that shrinks numbers its ranks anew.
        """
        resized = self._resized
        if resized is None:
            return np.arange(self.gang.ranks, dtype=np.int32)
        new = np.full(resized.gang.ranks - resized.kept.size, -1, np.int32)
        return np.concatenate([resized.kept, new])

    @property
    def level_before(self) -> int:
        """Index of the lowest level that held the gang."""
        return self._head(_BEFORE)

    @property
    def level_after(self) -> int:
        """Index of the lowest level that holds it afterwards."""
        if self._resized is None:
            return self._head(_AFTER)
        positions = self._positions()
        return self._frame.level_of(int(positions.min()), int(positions.max()))

    @property
    def dead(self) -> int:
        """Ranks that had lost their leaf."""
        return self._head(_DEAD)

    @property
    def spares_used(self) -> int:
        """Spare domains opened."""
        return self._head(_SPARES)

    @property
    def unresolved(self) -> IntArray:
        """Ranks left without a healthy leaf (``partial=True``): int32."""
        if self._rest is None:
            return np.empty(0, np.int32)
        return self._rest.unresolved.copy()

    def by_host(self) -> dict[str, list[tuple[int, str]]]:
        """Host name to its (rank, leaf name) pairs once applied."""
        return by_host(self._frame, self.leaves)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        levels = self._frame.topology.levels
        return {
            "job": int(self.job) if isinstance(self.job, Handle) else self.job,
            "moves": self.moves.tolist(),
            "leaves": self.leaves.tolist(),
            "level_before": levels[self.level_before],
            "level_after": levels[self.level_after],
            "spares_used": self.spares_used,
            "unresolved": self.unresolved.tolist(),
            "reason": self.reason,
            **({} if self._resized is None else {"kept": self.kept.tolist()}),
        }

    def __str__(self) -> str:
        moves = self.moves
        levels = self._frame.topology.levels
        resized = self._resized
        if resized is not None and resized.more is not None:
            return (
                f"job {self.job!r}: grows to {plural(self.template, 'rank')}, the new "
                f"ones on leaves {spans(moves[:, 2])}, level "
                f"{levels[self.level_before]} -> {levels[self.level_after]}"
            )
        if not len(moves):
            text = f"job {self.job!r}: nothing moves"
        else:
            text = (
                f"job {self.job!r}: {plural(len(moves), 'rank')} "
                f"move{'s' if len(moves) == 1 else ''} "
                f"({spans(moves[:, 0])}), leaves {spans(moves[:, 1])} -> "
                f"{spans(moves[:, 2])}, level {levels[self.level_before]} -> "
                f"{levels[self.level_after]}"
            )
        if resized is not None:
            gone = np.setdiff1d(np.arange(self._before.gang.ranks), resized.kept)
            text += f"; shrinks to {self.template}: ranks {spans(gone)} end"
        if self.spares_used:
            text += f", {plural(self.spares_used, 'spare')} used"
        if self.reason:
            text += f"; ranks {spans(self.unresolved)} unresolved: {self.reason}"
        return text

    def __repr__(self) -> str:
        return (
            f"Repair(job={self.job!r}, moves={len(self.moves)}, "
            f"spares_used={self.spares_used}, unresolved={self.unresolved.tolist()})"
        )


class DrainPlan(dict[Job | Handle, Repair | Misfit]):
    """What a drain does to each job it hits, in order of the leaves.

    Attributes
    ----------
    leaves
        int32 leaf ids that are cordoned.
    """

    def __init__(self, leaves: IntArray, frame: Frame) -> None:
        super().__init__()
        self.leaves = leaves
        self._frame = frame
        self._hit: list[Job | Handle] = []

    @property
    def complete(self) -> bool:
        """Whether every job can leave."""
        return all(self.values())


def core_moves(reply: bytes) -> bytes:
    """The moves of an answer of phx_replan, without what lies behind them."""
    count = int.from_bytes(reply[:4], "little")
    return reply[HEAD_SIZE : HEAD_SIZE + MOVE.itemsize * count]


def expanded(moves: bytes) -> IntArray:
    """Runs of moves as one row a rank, by rank: int32, shape (n, 3)."""
    table = np.frombuffer(moves, MOVE)
    count = table["count"].astype(np.int64)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    columns = [
        np.repeat(table[name].astype(np.int64), count) + within
        for name in ("rank", "from", "to")
    ]
    rows = np.stack(columns, axis=1).astype(np.int32)
    return rows[np.argsort(rows[:, 0], kind="stable")]

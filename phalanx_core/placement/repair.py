"""``Repair``: which ranks of a broken gang move, and where to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core.native import MOVE
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.misfit import Misfit, plural
from phalanx_core.placement.results import Placement, by_host, spans

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import IntArray, VertexLimits

# phx_repair in front, its moves behind.
HEAD_SIZE = 32
_DEAD, _BEFORE, _AFTER, _SPARES = 2, 4, 5, 6
CHAIN_MAX = 16


@dataclass(slots=True)
class Rest:
    """What most repairs do not have: leaves given as failed, ranks left over."""

    failed: bytes
    unresolved: IntArray
    reason: str = ""


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
    def gang(self) -> Gang:
        """What the job asked for."""
        return self._before.gang

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
        """Rank, leaf it leaves, leaf it takes, by rank: int32, shape (n, 3)."""
        moves = expanded(core_moves(self._reply))
        moves[:, 1] = self._frame.leaf_ids(moves[:, 1])
        moves[:, 2] = self._frame.leaf_ids(moves[:, 2])
        return moves

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
        return positions

    @property
    def kept(self) -> IntArray:
        """``kept[new] = old`` rank: int32; repairs in place renumber nobody."""
        return np.arange(self.gang.ranks, dtype=np.int32)

    @property
    def level_before(self) -> int:
        """Index of the lowest level that held the gang."""
        return self._head(_BEFORE)

    @property
    def level_after(self) -> int:
        """Index of the lowest level that holds it afterwards."""
        return self._head(_AFTER)

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
        }

    def __str__(self) -> str:
        moves = self.moves
        levels = self._frame.topology.levels
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

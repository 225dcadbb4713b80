"""``Repair``: which ranks of a broken gang move, and where to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phalanx_core.native import MOVE
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.misfit import Misfit, plural
from phalanx_core.placement.results import by_host, positions_of, spans

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import IntArray

# phx_repair in front, its moves behind.
HEAD_SIZE = 32
_DEAD, _BEFORE, _AFTER, _SPARES = 2, 4, 5, 6


class Repair:
    """A repair done or planned; truthy, even where nothing had to move.

    Parts are expanded on use from values of the moment it was made.

    Attributes
    ----------
    job, gang
        Whom it repairs.
    reason
        Why ranks were left unresolved, else "".

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
        "_failed",
        "_frame",
        "_reply",
        "_unresolved",
        "gang",
        "job",
        "reason",
    )

    def __init__(
        self,
        job: Job | Handle,
        gang: Gang,
        frame: Frame,
        reply: bytes,
        before: tuple[int, bytes | None],
    ) -> None:
        self.job = job
        self.gang = gang
        self._frame = frame
        self._reply = reply
        self._before = before
        self._failed = b""
        self._unresolved: IntArray | None = None
        self.reason = ""

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
        moves = expanded(core_moves(self._reply))
        positions = positions_of(self._before[0], self.gang.ranks, self._before[1])
        positions[moves[:, 0]] = moves[:, 2]
        return self._frame.leaf_ids(positions)

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
        if self._unresolved is None:
            return np.empty(0, np.int32)
        return self._unresolved.copy()

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
        if self._unresolved is not None and self._unresolved.size:
            text += f"; ranks {spans(self._unresolved)} unresolved: {self.reason}"
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

    def __init__(self, leaves: IntArray) -> None:
        super().__init__()
        self.leaves = leaves

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

"""What a planner answers: where a gang is, and who holds a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.native import RUN
from phalanx_core.placement.keys import Handle, Job

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang
    from phalanx_core.placement.limits import IntArray, VertexLimits

# Fields of the word that phx_place returns.
SLOT = (1 << 21) - 1
FIRST_SHIFT = 21
LEVEL_SHIFT = 42
MANY = 1 << 47


class OwnerKind(StrEnum):
    """Who may use a leaf."""

    FREE = "free"
    JOB = "job"
    SPARE = "spare"
    QUARANTINE = "quarantine"


class Health(StrEnum):
    """What is known of a leaf's health."""

    UP = "up"
    SUSPECT = "suspect"
    DOWN = "down"


KINDS = tuple(OwnerKind)
HEALTHS = tuple(Health)


@dataclass(frozen=True, slots=True)
class Owner:
    """State of one leaf.

    Attributes
    ----------
    kind
        Free, of a job, a spare or in quarantine.
    job
        Who holds it, or for quarantine from whom it was taken; a :class:`Handle` for
        a gang without a key.
    health
        Up, suspect or down.
    cordoned
        Whether it is closed to new work.
    """

    kind: OwnerKind
    job: Job | Handle | None
    health: Health
    cordoned: bool

    @property
    def available(self) -> bool:
        """Whether Place may use it: free, up and not cordoned."""
        free = self.kind is OwnerKind.FREE
        return free and self.health is Health.UP and not self.cordoned


@dataclass(frozen=True, slots=True)
class Block:
    """Leaves consecutive in address order.

    Attributes
    ----------
    leaves
        int32 leaf ids.
    level
        Index of the lowest level whose domain holds them.
    """

    leaves: tuple[int, ...]
    level: int

    def __len__(self) -> int:
        return len(self.leaves)


def positions_of(packed: int, ranks: int, runs: bytes | None) -> IntArray:
    """Positions of a gang's ranks from copied values: int32, shape (ranks,)."""
    if runs is None:
        first = (packed >> FIRST_SHIFT) & SLOT
        return np.arange(first, first + ranks, dtype=np.int32)
    table = np.frombuffer(runs, RUN)
    count = table["count"].astype(np.int64)
    # Each run's start, less the ranks before it, plus the rank is the position.
    start = table["first"].astype(np.int64) - (np.cumsum(count) - count)
    spread = np.repeat(start, count)
    return (spread + np.arange(spread.size))[:ranks].astype(np.int32)


class Placement:
    """Where a gang is; truthy. Parts are expanded on use from values of that moment.

    Attributes
    ----------
    gang
        What was asked for, at the size that was placed.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> placed = Planner(Topology.from_spec("host:2 gpu:4")).place("a", Gang(3))
    >>> print(placed)
    3 ranks in host-0 (host): leaves 0-2
    """

    __slots__ = ("_frame", "_limits", "_packed", "_runs", "_slot", "gang")

    # No __init__: the hot path fills the slots in place, at half the cost of a call.
    _packed: int
    _slot: int  # kept apart, as masking a word of 48 bits costs as much as a call
    gang: Gang
    _frame: Frame
    _runs: bytes | None
    _limits: VertexLimits | None  # that it was placed under

    @property
    def leaves(self) -> IntArray:
        """Leaf ids in rank order: int32, shape (ranks,)."""
        return self._frame.leaf_ids(self._positions())

    def _positions(self) -> IntArray:
        return positions_of(self._packed, self.gang.ranks, self._runs)

    @property
    def parts(self) -> tuple[IntArray, ...]:
        """Leaf ids of each part in rank order; of a gang without parts all of them."""
        leaves = self.leaves
        return tuple(leaves[part.start : part.stop] for part in self.gang.part_ranks)

    @property
    def template(self) -> int:
        """Ranks that were placed: the gang's, or one of its templates."""
        return self.gang.ranks

    @property
    def level(self) -> int:
        """Index of the lowest level whose domain holds all ranks; 0 for one leaf."""
        return (self._packed >> LEVEL_SHIFT) & 31

    @property
    def level_name(self) -> str:
        """Name of that level."""
        return self._frame.topology.levels[self.level]

    @property
    def domain_name(self) -> str | None:
        """Name of the domain that holds all ranks."""
        vertex = self._frame.vertex_at(self.level, int(self._positions()[0]))
        return self._frame.vertex_name(self.level, vertex)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Runs of leaves consecutive in address order, in rank order."""
        return blocks_of(self._frame, self._positions())

    def by_host(self) -> dict[str, list[tuple[int, str]]]:
        """Host name to its (rank, leaf name) pairs; hosts in order of rank.

        A leaf without a host is listed under its own name.
        """
        return by_host(self._frame, self.leaves)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; ``parts`` is there for a gang of parts, ranks of each."""
        parts = [part.ranks for part in self.gang.parts]
        return {
            "ranks": self.gang.ranks,
            **({"parts": parts} if parts else {}),
            "level": self.level_name,
            "domain": self.domain_name,
            "leaves": self.leaves.tolist(),
            "hosts": {
                host: [[rank, name] for rank, name in ranks]
                for host, ranks in self.by_host().items()
            },
        }

    def __str__(self) -> str:
        ranks = self.gang.ranks
        return (
            f"{ranks} rank{'s' if ranks != 1 else ''} in {self.domain_name} "
            f"({self.level_name}): leaves {spans(self.leaves)}"
        )

    def __repr__(self) -> str:
        return (
            f"Placement(ranks={self.gang.ranks}, level={self.level_name!r}, "
            f"leaves={spans(self.leaves)!r})"
        )


def placed(
    packed: int,
    gang: Gang,
    frame: Frame,
    runs: bytes | None,
    limits: VertexLimits | None = None,
) -> Placement:
    """A placement from the core's word and, where it says so, copied runs."""
    placement = Placement()
    placement._packed = packed
    placement._slot = packed & SLOT
    placement.gang = gang
    placement._frame = frame
    placement._runs = runs
    placement._limits = limits
    return placement


@dataclass(slots=True)
class Moved:
    """A planner's entry for a gang whose leaves by now only the core knows."""

    _slot: int
    gang: Gang
    _limits: VertexLimits | None = None


def blocks_of(frame: Frame, positions: IntArray) -> tuple[Block, ...]:
    """Positions in rank order, cut where they are not consecutive."""
    cuts = np.flatnonzero(np.diff(positions) != 1) + 1
    return tuple(
        Block(
            tuple(frame.leaf_ids(run).tolist()),
            frame.level_of(int(run[0]), int(run[-1])),
        )
        for run in np.split(positions, cuts)
    )


def by_host(frame: Frame, leaves: IntArray) -> dict[str, list[tuple[int, str]]]:
    """Host name to its (rank, leaf name) pairs."""
    topology = frame.topology
    level = topology.levels.index("host") if "host" in topology.levels else 1
    hosts = topology.domain_of(level)[leaves].tolist()
    names = topology.names
    labels = topology.domain_names(level)
    found: dict[str, list[tuple[int, str]]] = {}
    for rank, (leaf, host) in enumerate(zip(leaves.tolist(), hosts, strict=True)):
        name = names[leaf] if host < 0 else labels[host]
        found.setdefault(name, []).append((rank, names[leaf]))
    return found


def spans(numbers: NDArray[Any], most: int = 6) -> str:
    """Numbers folded as "0-7,12,16-23"; beyond ``most`` runs the rest is counted.

    Examples
    --------
    >>> spans(np.array([0, 1, 2, 3, 8, 10, 11]))
    '0-3,8,10-11'
    """
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [run for run in np.split(numbers, cuts) if run.size]
    words = [
        f"{run[0]}-{run[-1]}" if run.size > 1 else f"{run[0]}" for run in runs[:most]
    ]
    left = sum(run.size for run in runs[most:])
    return ",".join(words) + (f" and {left} more" if left else "")

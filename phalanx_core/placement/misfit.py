"""``Misfit``: why something cannot be placed or repaired now."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phalanx_core.native import NONE, RECORD
from phalanx_core.placement.rooms import rooms

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang


class MisfitCode(IntEnum):
    """Kind of refusal; the first that holds, in this order.

    Attributes
    ----------
    TOO_LARGE
        Would not fit in the empty, healthy cluster either.
    LIMITED
        Would fit now without the limits.
    CAPACITY
        No domain has that many available leaves.
    GROUPS
        Enough leaves, not enough whole groups.
    ALIGNMENT
        Enough whole groups, no aligned block (``alignment="buddy"``).
    REPLACEMENT
        A broken unit of a job has no replacement.
    """

    TOO_LARGE = 0
    LIMITED = 1
    CAPACITY = 2
    GROUPS = 3
    ALIGNMENT = 4
    REPLACEMENT = 5


@dataclass(frozen=True, slots=True)
class LevelRecord:
    """What one level could give at best, in leaves.

    Attributes
    ----------
    level
        The level's name.
    domains
        Domains of that level.
    best
        The domain that could hold most ranks, None where there is none.
    ranks, available, leaves
        Ranks it could hold, available leaves in it, all leaves in it.
    owned, spare, quarantined
        Leaves of it held by jobs, as spares, in quarantine.
    down, suspect, cordoned
        Leaves of it that nobody holds and that are ill.
    """

    level: str
    domains: int
    best: str | None
    ranks: int
    available: int
    leaves: int
    owned: int
    spare: int
    quarantined: int
    down: int
    suspect: int
    cordoned: int

    def losses(self) -> str:
        """What keeps its other leaves from being available: "8 held by jobs, 1 down"."""
        words = {
            "held by jobs": self.owned,
            "spare": self.spare,
            "quarantined": self.quarantined,
            "down": self.down,
            "suspect": self.suspect,
            "cordoned": self.cordoned,
        }
        return ", ".join(f"{count} {word}" for word, count in words.items() if count)


class Misfit:
    """A refusal; falsy. Its parts are expanded on use from values of that moment.

    Attributes
    ----------
    code
        A :class:`MisfitCode`.
    proven
        False where a bounded search gave up: a solution may exist.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> refused = Planner(Topology.from_spec("host:2 gpu:4")).fits(Gang(5, within="host"))
    >>> bool(refused), refused.code.name
    (False, 'TOO_LARGE')
    """

    __slots__ = (
        "_frame",
        "_limited",
        "_reason",
        "_records",
        "code",
        "gang",
        "proven",
    )

    def __init__(
        self,
        code: MisfitCode,
        gang: Gang,
        frame: Frame,
        records: bytes,
        *,
        reason: str | None = None,
        proven: bool = True,
        limited: tuple[str, ...] = (),
    ) -> None:
        self.code = code
        self.gang = gang
        self.proven = proven
        self._frame = frame
        self._records = records
        self._reason = reason
        self._limited = limited

    def __bool__(self) -> Literal[False]:
        return False

    @property
    def records(self) -> tuple[LevelRecord, ...]:
        """One record a level, from the start of the search upward."""
        rows = np.frombuffer(self._records, RECORD).tolist()
        return tuple(self._record(*row) for row in rows)

    def _record(self, level: int, domains: int, best: int, *counts: int) -> LevelRecord:
        name = None if best == NONE else self._frame.vertex_name(level, best)
        return LevelRecord(self._frame.topology.levels[level], domains, name, *counts)

    @property
    def reason(self) -> str:
        """One sentence: what was sought, the best there is, and what is in its way."""
        if self._reason is None:
            self._reason = _sentence(
                self.code, self.gang, self._frame, self.records, self._limited
            )
        return self._reason

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "code": self.code.name,
            "reason": self.reason,
            "proven": self.proven,
            "records": [asdict(record) for record in self.records],
        }

    def __str__(self) -> str:
        return self.reason if self.proven else f"{self.reason} (not proven)"

    def __repr__(self) -> str:
        return f"Misfit({self.code.name}, {self.reason!r})"


def _sentence(
    code: MisfitCode,
    gang: Gang,
    frame: Frame,
    records: tuple[LevelRecord, ...],
    limited: tuple[str, ...],
) -> str:
    if code is MisfitCode.TOO_LARGE or not records:
        return _too_large(gang, frame)
    unit = frame.topology.levels[0]
    top = records[-1]
    wanted = asked(gang, frame)
    best = f"best {top.best or f'tree without a {top.level}'}"
    if code is MisfitCode.LIMITED:
        return _limited(gang, frame, top, limited, f"room for {wanted}: {best}")
    losses = top.losses()
    losses = f"; {losses}" if losses else ""
    # Leaves outside every domain of the groups are available, and none of theirs.
    outside = gang.ranks <= top.available and top.ranks < gang.ranks
    if code is MisfitCode.GROUPS or (
        code is MisfitCode.CAPACITY and frame.chain(gang) and outside
    ):
        return (
            f"no {top.level} has {wanted}: {best} has {whole(gang)} for "
            f"{top.ranks} of its {top.available} available{losses}"
        )
    rounded = frame.alignment == "buddy" and top.available >= gang.ranks
    if code is MisfitCode.ALIGNMENT or rounded:
        # Buddy blocks are rounded up, so this is what was really sought.
        held = 1 << (gang.ranks - 1).bit_length()
        wanted = f"an aligned block of {plural(held, unit)}{_units(gang, frame)}"
    else:
        wanted = wanted.replace(" ", " available ", 1)
    return f"no {top.level} has {wanted}: {best} has {top.available}{losses}"


def _too_large(gang: Gang, frame: Frame) -> str:
    """What the empty cluster lacks, whoever holds its leaves now."""
    levels, real = frame.topology.levels, frame.tree.real
    _, within, _ = frame.levels(gang)
    chain = frame.chain(gang)
    level = len(levels) - 1 if within is None else within
    told = (
        f"no {levels[level]} could ever hold {plural(gang.ranks, levels[0])}"
        f"{_units(gang, frame)}"
    )
    for asked in (within, *(at for _, at in chain)):
        if asked is not None and not (real[asked] >= 0).any():
            return f"{told}: no {levels[0]} has a {levels[asked]}"
    usable = np.ones(frame.leaf_count, np.int64)
    for entry, (size, at) in enumerate(chain):
        sizes = np.where(real[at] < 0, 0, rooms(frame, at, usable, chain[:entry]))
        best = int(sizes.argmax())
        if sizes[best] < size:
            kind = "group" if entry == 0 and gang.group > 1 else "slice"
            return (
                f"{told}: no {levels[at]} holds a {kind} of {size}, "
                f"best {frame.vertex_name(at, best)} has {sizes[best]}"
            )
    ranks = rooms(frame, level, usable, chain)
    if within is not None:
        ranks[real[level] < 0] = -1
    best = int(ranks.argmax())
    name = frame.vertex_name(level, best) or f"tree without a {levels[level]}"
    leaves = int(rooms(frame, level, usable)[best])
    part = f"{whole(gang)} for {ranks[best]} of its " if chain else ""
    return f"{told}: best {name} has {part}{leaves}"


def _limited(
    gang: Gang, frame: Frame, top: LevelRecord, limited: tuple[str, ...], what: str
) -> str:
    if top.ranks < gang.ranks:
        return (
            f"limits leave no {top.level} with {what} may take {top.ranks} of its "
            f"{top.available} available; without limits it fits"
        )
    # The counts of a level know the limits below it alone.
    levels = frame.topology.levels
    above = levels[levels.index(top.level) + 1 :]
    named = [level for level in above if level in limited or len(above) == 1]
    where = f"of {' and '.join(named)}" if named else f"above {top.level}"
    return (
        f"limits {where} leave no {top.level} with {what} has {top.available} "
        f"available; without limits it fits"
    )


def _units(gang: Gang, frame: Frame) -> str:
    """What binds, as " in groups of 8 per host and slices of 64 per rack", or nothing."""
    levels = frame.topology.levels
    told = []
    if gang.group > 1:
        told.append(f"groups of {gang.group} per {levels[frame.levels(gang)[0]]}")
    told += [
        f"slices of {size} per {levels[level]}" for size, level in frame.slices(gang)
    ]
    return f" in {' and '.join(told)}" if told else ""


def asked(gang: Gang, frame: Frame) -> str:
    """What a gang wants: "16 gpus in groups of 8 per host"."""
    return f"{plural(gang.ranks, frame.topology.levels[0])}{_units(gang, frame)}"


def whole(gang: Gang) -> str:
    """What must be whole in a domain: "whole groups", or "whole slices" if any."""
    return "whole slices" if gang.slices else "whole groups"


def plural(count: int, unit: str) -> str:
    """A count with its unit: "1 gpu", "2 gpus"."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"

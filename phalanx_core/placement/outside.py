"""What the cluster's own description says of leaves, kept apart from what calls said.

Two parties speak of a leaf's health: the program, by ``fail`` and its like, and the
topology, by what it lists and marks. The core knows one health, the worse of both; this
table remembers the program's word where the topology's overrides it, so that the leaf has
it again when the topology has nothing more to say.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from phalanx_core.native import lib
from phalanx_core.topology import Topology
from phalanx_core.topology.keeping import KeptLeaf, kept_leaf

if TYPE_CHECKING:
    from phalanx_core.placement.results import Moved

UP, SUSPECT, DOWN = int(lib.PHX_UP), int(lib.PHX_SUSPECT), int(lib.PHX_DOWN)
GONE, ELSEWHERE, TAINTED = "gone", "elsewhere", "tainted"
_EPOCH_SHIFT, _EPOCHS = 48, 1 << 15


class Barred(NamedTuple):
    """Why the topology keeps a leaf down, and what the program says of its health."""

    why: str
    word: int


@dataclass(slots=True)
class Outside:
    """Tables of one planner; leaves are positions, except where they have no place.

    Attributes
    ----------
    base
        Fingerprint of the last sync's topology; None where the planner's own is that one.
    kept
        Leaves the planner's topology has beside it, or elsewhere than it.
    barred
        Leaves that are down by the topology's word.
    shut
        Leaves that are cordoned by the topology's word alone.
    away
        Health and cordon of leaves that left with a mark, by name, oldest first.
    handles
        Gangs of ``place_many`` from before a sync, by handle.
    epoch
        Which sync the core's handles are of: bits 48 to 62 of a handle.
    past
        Topologies that plans may still be of.
    """

    base: bytes | None = None
    kept: tuple[KeptLeaf, ...] = ()
    barred: dict[int, Barred] = field(default_factory=dict)
    shut: dict[int, None] = field(default_factory=dict)
    away: dict[str, tuple[int, bool]] = field(default_factory=dict)
    handles: dict[int, Moved] = field(default_factory=dict)
    epoch: int = 0
    past: weakref.WeakSet[Topology] = field(default_factory=weakref.WeakSet)

    @property
    def salt(self) -> int:
        """What a handle of the core lacks."""
        return self.epoch << _EPOCH_SHIFT

    def next_epoch(self) -> int:
        """One that no living handle is of; handles of the last 2**15 differ."""
        used = {handle >> _EPOCH_SHIFT for handle in self.handles}
        epoch = self.epoch + 1
        while epoch % _EPOCHS in used:
            epoch += 1
        return epoch % _EPOCHS

    def copy(self) -> Outside:
        """Tables of their own."""
        return Outside(
            self.base,
            self.kept,
            dict(self.barred),
            dict(self.shut),
            dict(self.away),
            dict(self.handles),
            self.epoch,
            weakref.WeakSet(self.past),
        )

    def heard(self, change: int, positions: Iterable[int]) -> list[int]:
        """Note the program's word; those of the positions the core may change too."""
        return [at for at in positions if self._heard(change, at)]

    def _heard(self, change: int, at: int) -> bool:
        barred = self.barred.get(at)
        if change in (lib.PHX_CORDON, lib.PHX_UNCORDON):
            self.shut.pop(at, None)
        elif barred is not None and change == lib.PHX_HEAL:
            if barred.why == TAINTED:
                del self.barred[at]
                return True
            # A leaf that is not there cannot be healed; when it is back, it is up.
            self.barred[at] = Barred(barred.why, UP)
            return False
        elif barred is not None and not (
            change == lib.PHX_DOUBT and barred.word == DOWN
        ):
            word = DOWN if change == lib.PHX_FAIL else SUSPECT
            self.barred[at] = Barred(barred.why, word)
        return True

    def to_table(self) -> dict[str, Any] | None:
        """As JSON values, the handles' gangs left out; None where there is nothing."""
        if self == Outside(past=self.past):
            return None
        return {
            "away": [[name, *marks] for name, marks in self.away.items()],
            "barred": [[at, *one] for at, one in sorted(self.barred.items())],
            "base": None if self.base is None else self.base.hex(),
            "epoch": self.epoch,
            "kept": [one.to_row() for one in self.kept],
            "shut": sorted(self.shut),
        }

    def read(self, table: dict[str, Any]) -> None:
        """Fill from :meth:`to_table`'s value, except ``handles``."""
        base = table["base"]
        self.base = None if base is None else bytes.fromhex(base)
        self.kept = tuple(kept_leaf(row) for row in table["kept"])
        for at, why, word in table["barred"]:
            if why not in (GONE, ELSEWHERE, TAINTED) or word not in (UP, SUSPECT, DOWN):
                raise ValueError(f"leaf {at} is barred as {why!r}, {word!r}")
            self.barred[int(at)] = Barred(why, word)
        self.shut = {int(at): None for at in table["shut"]}
        self.away = {
            str(name): (int(health), bool(cordoned))
            for name, health, cordoned in table["away"]
        }
        self.epoch = int(table["epoch"]) % _EPOCHS

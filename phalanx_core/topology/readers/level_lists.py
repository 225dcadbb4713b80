"""Lists of label keys that name the levels, and which of several is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.label_families import (
    HOSTNAME,
    RESERVED,
    level_names,
)

if TYPE_CHECKING:
    from phalanx_core.topology.readers.inventory import Inventory


@dataclass(frozen=True)
class LevelList:
    """Label keys of one Topology object, broadest first, with the names it gives."""

    group: str
    name: str
    where: str
    keys: tuple[str, ...]
    aliases: tuple[str | None, ...]

    @property
    def full_name(self) -> str:
        """Name with the API group, which tells Kueue's from KAI's."""
        return f"{self.group}/{self.name}"

    def named(self) -> tuple[list[tuple[str, str]], str]:
        """(label key, level name) pairs above the host, and the host level's name.

        An alias names its level; an unaliased key is shortened where that is unique.
        """
        given = dict(zip(self.keys, self.aliases, strict=True))
        used = {k: a for k, a in given.items() if a is not None and a not in RESERVED}
        short = dict(level_names(self.keys, taken=used.values()))
        rows = [(k, used.get(k) or short[k]) for k in self.keys if k != HOSTNAME]
        return rows, used.get(HOSTNAME, "host")

    def reserved(self) -> list[str]:
        """Aliases that cannot name their level, since another level has that name."""
        own = {HOSTNAME: "host"}
        return [
            alias
            for key, alias in zip(self.keys, self.aliases, strict=True)
            if alias in RESERVED and own.get(key) != alias
        ]


def choose(inventory: Inventory) -> LevelList | None:
    """The list that names the levels: the one asked for, else the only one.

    Raises
    ------
    TopologyError
        If several could, or the one asked for is not in the files.
    """
    lists = sorted(inventory.level_lists, key=lambda row: row.full_name)
    wanted = inventory.options.topology
    found = lists
    if wanted is not None:
        found = [row for row in lists if wanted in (row.name, row.full_name)]
        if not found:
            there = ", ".join(row.full_name for row in lists) or "none"
            raise TopologyError(
                f"topology {wanted!r}: no Topology object has this name; the files "
                f"hold {there}"
            )
    elif inventory.options.label_keys is not None:
        found = []
        _leave_out(inventory, lists, "the label keys of the call name the levels")
    if len(found) > 1:
        names = ", ".join(f"{row.full_name} ({row.where})" for row in found)
        raise TopologyError(
            f"{len(found)} Topology objects could name the levels: {names}: "
            "topology= (--topology) must choose one"
        )
    others = [row for row in lists if row not in found]
    if found:
        _leave_out(inventory, others, f"{found[0].full_name} was chosen")
    return found[0] if found else None


def _leave_out(inventory: Inventory, lists: Sequence[LevelList], why: str) -> None:
    for row in lists:
        inventory.leave_out("Topology object", why, row.full_name)

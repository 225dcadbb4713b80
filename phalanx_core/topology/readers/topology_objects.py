"""``kind: Topology`` of Kueue and KAI: an ordered list of label keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phalanx_core.topology.readers.inventory import Reader
from phalanx_core.topology.readers.label_families import HOSTNAME
from phalanx_core.topology.readers.label_levels import assign_levels
from phalanx_core.topology.readers.level_lists import LevelList

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Inventory, Texts

LEVELS_MAX = 16
KEY_LENGTH_MAX = 316
_PART = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_KEY = re.compile(
    rf"(?:{_PART}(?:\.{_PART})*/)?[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?", re.A
)


class TopologyObjects(Reader):
    """Reader of one API group's ``kind: Topology``."""

    def __init__(
        self, group: str, versions: Sequence[str], *, has_aliases: bool
    ) -> None:
        self.group = group
        self.versions = tuple(versions)
        self.has_aliases = has_aliases

    def claims(self, document: Document) -> bool:
        """An object of kind Topology of this API group, whatever its version."""
        if document.kind != "Topology":
            return False
        version = document.body.get("apiVersion")
        return isinstance(version, str) and version.split("/")[0] == self.group

    def trim(self, document: Document, texts: Texts) -> None:
        """Keep version and levels."""
        document.cut("apiVersion", "spec")

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Check the objects; which of them names the levels is decided at the end."""
        made: dict[str, LevelList] = {}
        for document in documents:
            row = self._list(document)
            before = made.setdefault(row.name, row)
            if (before.keys, before.aliases) != (row.keys, row.aliases):
                rule = f"another Topology of this name has other levels: {before.where}"
                raise document.refuse("metadata.name", rule)
        inventory.level_lists += made.values()
        inventory.close_with(assign_levels)

    def _list(self, document: Document) -> LevelList:
        version = document.body["apiVersion"]
        if version not in [f"{self.group}/{known}" for known in self.versions]:
            known = ", ".join(self.versions)
            rule = f"must be {self.group} with one of {known}, got {version!r}"
            raise document.refuse("apiVersion", rule)
        metadata = document.body.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str) or not name or not name.isprintable():
            rule = f"must be a printable text, got {name!r}"
            raise document.refuse("metadata.name", rule)
        spec = document.body.get("spec")
        levels = spec.get("levels") if isinstance(spec, dict) else None
        if not isinstance(levels, list) or not 1 <= len(levels) <= LEVELS_MAX:
            rule = f"must be a list of 1 to {LEVELS_MAX} levels, broadest first"
            raise document.refuse("spec.levels", rule)
        keys = [_key(document, row, at, "nodeLabel") for at, row in enumerate(levels)]
        _check_keys(document, keys)
        aliases: list[str | None] = [None] * len(keys)
        if self.has_aliases:
            aliases = _aliases(document, levels, keys)
        return LevelList(self.group, name, document.where, tuple(keys), tuple(aliases))


def _key(document: Document, level: Any, at: int, field: str) -> str:
    path = f"spec.levels[{at}]"
    if not isinstance(level, dict):
        raise document.refuse(path, "must be a mapping")
    key = level.get(field)
    if not isinstance(key, str) or len(key) > KEY_LENGTH_MAX or not _KEY.fullmatch(key):
        rule = f"must be a label key of at most {KEY_LENGTH_MAX} characters"
        raise document.refuse(f"{path}.{field}", f"{rule}, got {key!r}")
    return key


def _check_keys(document: Document, keys: list[str]) -> None:
    for at, key in enumerate(keys):
        path = f"spec.levels[{at}].nodeLabel"
        if key in keys[:at]:
            raise document.refuse(path, f"must be unique, {key} occurs twice")
        if key == HOSTNAME and at + 1 < len(keys):
            raise document.refuse(path, f"{HOSTNAME} may only be the last level")


def _aliases(
    document: Document, levels: list[Any], keys: list[str]
) -> list[str | None]:
    aliases: list[str | None] = []
    for at, level in enumerate(levels):
        # An empty alias is how its API writes that there is none.
        if level.get("alias") in (None, ""):
            aliases.append(None)
            continue
        alias = _key(document, level, at, "alias")
        path = f"spec.levels[{at}].alias"
        if alias in aliases:
            raise document.refuse(path, f"must be unique, {alias} occurs twice")
        if alias in keys:
            raise document.refuse(path, f"{alias} is the nodeLabel of a level")
        aliases.append(alias)
    return aliases

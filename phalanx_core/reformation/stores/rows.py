"""Rows of a ``SqliteStore``: how items and changes are asked for and written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from phalanx_core.reformation.stores.answers import Item
from phalanx_core.reformation.stores.operations import Put, Where

ITEM = "key, value, create_revision, mod_revision, version, lease"
CHANGE = "key, value, create_revision, revision, version, lease"


class Changes:
    """What one transaction changes, at one revision.

    Parameters
    ----------
    sql
        Runs a statement in the open transaction.
    revision
        That all of it bears.

    Attributes
    ----------
    count
        Changes so far.
    """

    def __init__(self, sql: Callable[..., sqlite3.Cursor], revision: int) -> None:
        self._sql = sql
        self._revision = revision
        self.count = 0

    def put(self, put: Put, before: Item | None) -> None:
        """Write a key over what was there."""
        created = before.create_revision if before else self._revision
        version = before.version + 1 if before else 1
        item = (put.key, put.value, created, self._revision, version, int(put.lease))
        self._sql(f"REPLACE INTO items ({ITEM}) VALUES (?, ?, ?, ?, ?, ?)", item)
        self._note(item)

    def delete(self, key: bytes) -> None:
        """Delete a key that is there."""
        self._sql("DELETE FROM items WHERE key = ?", (key,))
        self._note((key, b"", 0, self._revision, 0, 0))

    def _note(self, row: tuple[bytes, bytes, int, int, int, int]) -> None:
        self._sql(
            f"INSERT INTO changes (place, {CHANGE}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.count, *row),
        )
        self.count += 1


def condition(where: Where) -> tuple[str, tuple[bytes, ...]]:
    """SQL that holds of the keys that are meant, and its values.

    Examples
    --------
    >>> condition(b"a")
    ('key = ?', (b'a',))
    """
    if isinstance(where, bytes):
        return "key = ?", (where,)
    if where.end is None:
        return "key >= ?", (where.start,)
    return "key >= ? AND key < ?", (where.start, where.end)

"""The file of a ``SqliteStore``: its tables, and how one is opened."""

from __future__ import annotations

import sqlite3
import time
from os import PathLike

from phalanx_core.errors import ConcurrentUse, PhalanxError, SaveError
from phalanx_core.reformation.stores.errors import Unavailable

# "PhxS" in the file's header, so that no other program's file is taken for a store.
APPLICATION = 0x50687853
VERSION = 1
# A missing table is SQLITE_ERROR, of which the statements here give no other cause.
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
# Seconds between two tries to open a file that others are making.
AGAIN_S = 0.005

# The store's revision is the last one of `changes`: compaction never takes it away. A row
# of `changes` below the compacted revision is the last of its key, kept for reads.
TABLES = """
CREATE TABLE IF NOT EXISTS items (
    key BLOB NOT NULL PRIMARY KEY, value BLOB NOT NULL, create_revision INTEGER NOT NULL,
    mod_revision INTEGER NOT NULL, version INTEGER NOT NULL, lease INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_by_lease ON items (lease) WHERE lease > 0;
CREATE TABLE IF NOT EXISTS changes (
    revision INTEGER NOT NULL, place INTEGER NOT NULL, key BLOB NOT NULL,
    value BLOB NOT NULL, create_revision INTEGER NOT NULL, version INTEGER NOT NULL,
    lease INTEGER NOT NULL, PRIMARY KEY (revision, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS leases (
    number INTEGER PRIMARY KEY AUTOINCREMENT, ttl_s REAL NOT NULL, end_s REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS leases_by_end ON leases (end_s);
CREATE TABLE IF NOT EXISTS compacted (
    one INTEGER PRIMARY KEY CHECK (one = 1), revision INTEGER NOT NULL
);
INSERT OR IGNORE INTO compacted VALUES (1, 0);
"""


def opened(path: str | PathLike[str], busy_s: float) -> sqlite3.Connection:
    """A connection to the store in a file, which is made where there is none.

    Parameters
    ----------
    path
        Of the file; SQLite keeps two more beside it while it is open.
    busy_s
        Seconds to wait for another process's transaction.

    Raises
    ------
    SaveError
        If the file is no store, or one of another version; it is left as it was.
    Unavailable
        If it cannot be opened, or stays locked.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     connection = opened(pathlib.Path(folder) / "store.db", 1.0)
    ...     print(connection.execute("PRAGMA journal_mode").fetchone()[0])
    ...     connection.close()
    wal
    """
    until = time.monotonic() + busy_s
    while True:
        try:
            return _connected(path, busy_s)
        except sqlite3.OperationalError as error:
            # SQLite does not wait itself for a file that others are making.
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= until:
                raise Unavailable(f"{path}: cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            raise SaveError(f"{path}: no SQLite file: {error}") from error
        time.sleep(AGAIN_S)


def fault_of(path: str | bytes, error: sqlite3.Error) -> PhalanxError:
    """What an error of SQLite means where nothing was applied."""
    if isinstance(error, sqlite3.ProgrammingError):
        return ConcurrentUse(f"{path!s}: a store is one thread's: {error}")
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
        return SaveError(f"{path!s}: damaged: {error}")
    return Unavailable(f"{path!s}: {error}; nothing was changed")


def _connected(path: str | PathLike[str], busy_s: float) -> sqlite3.Connection:
    """A connection that has checked the file, or made it."""
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None)
    try:
        _check(connection, path)
        # Every commit reaches the disk before it is answered; readers never wait.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        _make(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: str | PathLike[str]) -> None:
    """The file is empty or a store of this version, or SaveError."""
    # One state of the file: another process may be making the store.
    connection.execute("BEGIN")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute("ROLLBACK")
    if application == APPLICATION:
        if version != VERSION:
            raise SaveError(
                f"{path}: a store of version {version}: this program reads {VERSION}"
            )
        return
    if application or version or tables:
        raise SaveError(f"{path}: another program's SQLite file, not a store")


def _make(connection: sqlite3.Connection) -> None:
    """Make the tables that are missing, all or none."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == APPLICATION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

"""``SqliteStore``: the durable store in one file, for engines on one machine."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores.answers import (
    Change,
    Item,
    Items,
    Lease,
    Response,
    TransactionResult,
)
from phalanx_core.reformation.stores.errors import (
    Ambiguous,
    Compacted,
    Unavailable,
    UnknownLease,
)
from phalanx_core.reformation.stores.operations import (
    Compare,
    Delete,
    Operation,
    Put,
    Where,
)
from phalanx_core.reformation.stores.requests import (
    EMBEDDED,
    Limits,
    check_key,
    check_lease,
    check_revision,
    check_transaction,
    check_ttl,
    check_where,
    holds,
)
from phalanx_core.reformation.stores.rows import CHANGE, ITEM, Changes, condition
from phalanx_core.reformation.stores.schema import fault_of, opened


class SqliteStore:
    """A :class:`~phalanx_core.reformation.stores.protocol.Store` in an SQLite file.

    Parameters
    ----------
    path
        Of the file, on a local disk; it is made where there is none.
    now
        The clock by which leases end, in seconds; one for all processes that use the file.
    limits
        The most that one request may hold.
    busy_s
        Seconds that a request waits while another process writes.
    poll_s
        Seconds between two looks of a watch that waits.

    Raises
    ------
    SaveError
        If the file is no store, or one of another version; it is left as it was. From
        every method if it is damaged.
    ConcurrentUse
        From every method, in another thread than the one that opened it.
    Unavailable
        If it cannot be opened; from every method also if it stays locked for ``busy_s``.

    Notes
    -----
    What was answered is on the disk (write-ahead log, full synchronisation). Any number of
    processes may have the file open; a store object belongs to one thread of one
    process. Leases that are over end at the next call of any process. Revisions pile up
    until :meth:`compact`; a read of the past is O(changes kept), everything else
    O(log(keys) + what is read).

    A wall clock that is set forward ends leases early, all at once; one that is set back
    keeps them alive longer.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from phalanx_core.reformation.stores import Put, absent
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "store.db"
    >>> store = SqliteStore(path)
    >>> store.transaction([absent(b"epoch/a")], [Put(b"epoch/a", b"0")]).revision
    2
    >>> store.close()
    >>> store = SqliteStore(path)
    >>> store.get(b"epoch/a").value
    b'0'
    >>> store.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        now: Callable[[], float] = time.time,
        limits: Limits | None = None,
        *,
        busy_s: float = 5.0,
        poll_s: float = 0.01,
    ) -> None:
        if not isinstance(path, (str, PathLike)):
            raise InvalidRequest(f"path is {path!r}: it must be that of a file")
        for name, seconds in (("busy_s", busy_s), ("poll_s", poll_s)):
            if not is_number(seconds) or not 0 <= seconds < 1e6:
                raise InvalidRequest(f"{name} is {seconds!r}: seconds from 0")
        self.path = fspath(path)
        self.limits = limits or EMBEDDED
        self._now = now
        self._poll_s = poll_s
        self._connection = opened(path, busy_s)
        self._sql = self._connection.execute
        self._closed = False

    def get(self, key: bytes) -> Item | None:
        """See :meth:`Store.get`."""
        check_key(key)
        with self._reading():
            return next(self._found(key), None)

    def range(self, where: Where, revision: int = 0) -> Items:
        """See :meth:`Store.range`."""
        check_where(where)
        revision = check_revision(revision)
        with self._reading():
            reached = self._revision()
            if not revision:
                return Items(reached, tuple(self._found(where)))
            self._check_kept(revision)
            _check_reached(revision, reached)
            meant, ends = condition(where)
            # SQLite takes the other columns from the row that has the maximum.
            rows = self._sql(
                "SELECT key, value, create_revision, max(revision), version, lease "
                f"FROM changes WHERE {meant} AND revision <= ? GROUP BY key",
                (*ends, revision),
            )
            items = map(Item._make, rows)
            return Items(revision, tuple(item for item in items if item.version))

    def transaction(
        self,
        compares: Sequence[Compare],
        then: Sequence[Operation],
        otherwise: Sequence[Operation] = (),
    ) -> TransactionResult:
        """See :meth:`Store.transaction`."""
        check_transaction(compares, then, otherwise, self.limits)
        with self._writing():
            succeeded = all(holds(one, self._found(one.where)) for one in compares)
            branch = then if succeeded else otherwise
            for operation in branch:
                if isinstance(operation, Put) and operation.lease:
                    self._ttl_of(int(operation.lease))
            revision = self._revision()
            changes = Changes(self._sql, revision + 1)
            responses = tuple([self._applied(one, changes) for one in branch])
            return TransactionResult(
                succeeded, revision + bool(changes.count), responses
            )

    def grant(self, ttl_s: float) -> Lease:
        """See :meth:`Store.grant`."""
        ttl_s = check_ttl(ttl_s)
        with self._writing():
            made = self._sql(
                "INSERT INTO leases (ttl_s, end_s) VALUES (?, ?)",
                (ttl_s, self._now() + ttl_s),
            )
            return Lease(int(made.lastrowid or 0), ttl_s)

    def keep_alive(self, lease: int) -> float:
        """See :meth:`Store.keep_alive`."""
        lease = check_lease(lease)
        with self._writing():
            ttl_s = self._ttl_of(lease)
            self._sql(
                "UPDATE leases SET end_s = ? WHERE number = ?",
                (self._now() + ttl_s, lease),
            )
            return ttl_s

    def revoke(self, lease: int) -> None:
        """See :meth:`Store.revoke`."""
        lease = check_lease(lease)
        with self._writing():
            self._ttl_of(lease)
            self._end(lease)

    def watch(self, where: Where, revision: int = 0) -> SqliteWatch:
        """See :meth:`Store.watch`."""
        check_where(where)
        revision = check_revision(revision)
        with self._reading():
            if revision:
                self._check_kept(revision)
            return SqliteWatch(self, where, revision or self._revision() + 1)

    def compact(self, revision: int) -> None:
        """See :meth:`Store.compact`."""
        revision = check_revision(revision)
        with self._writing():
            before = self._compacted()
            if revision <= before:
                raise Compacted(revision, before)
            _check_reached(revision, self._revision())
            self._sql("UPDATE compacted SET revision = ?", (revision,))
            self._sql(
                "DELETE FROM changes WHERE revision < ?1 AND (version = 0 OR "
                "(key, revision) NOT IN (SELECT key, max(revision) FROM changes "
                "WHERE revision <= ?1 GROUP BY key))",
                (revision,),
            )

    def close(self) -> None:
        """See :meth:`Store.close`."""
        self._closed = True
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that no other process writes in; leases that are over end first."""
        self._begin("BEGIN IMMEDIATE")
        try:
            over = self._sql(
                "SELECT number FROM leases WHERE end_s <= ? ORDER BY end_s, number",
                (self._now(),),
            )
            ended = [number for (number,) in over.fetchall()]
            for number in ended:
                self._end(number)
            if ended:
                # What follows may be refused, and these are over all the same.
                self._commit()
                self._begin("BEGIN IMMEDIATE")
            yield
        except BaseException as error:
            self._undo()
            if isinstance(error, sqlite3.Error):
                raise fault_of(self.path, error) from error
            raise
        self._commit()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """All that is read is of one revision, after leases that are over have ended."""
        self._begin("BEGIN")
        try:
            over = "SELECT 1 FROM leases WHERE end_s <= ? LIMIT 1"
            if self._sql(over, (self._now(),)).fetchone():
                self._undo()
                self._end_over()
                self._begin("BEGIN")
            yield
        except sqlite3.Error as error:
            raise fault_of(self.path, error) from error
        finally:
            self._undo()

    def _end_over(self) -> None:
        """End leases that are over, for a read: which ends nothing of its caller's."""
        try:
            with self._writing():
                pass
        except Ambiguous as error:
            raise Unavailable(str(error)) from error

    def _begin(self, statement: str) -> None:
        if self._closed:
            raise Unavailable(f"{self.path}: the store is closed")
        try:
            self._sql(statement)
        except sqlite3.Error as error:
            raise fault_of(self.path, error) from error

    def _commit(self) -> None:
        try:
            self._sql("COMMIT")
        except sqlite3.Error as error:
            # After an error of the disk the log may hold the commit or not.
            self._undo()
            raise Ambiguous(f"{self.path}: {error} in a commit") from error

    def _undo(self) -> None:
        if self._connection.in_transaction:
            try:
                self._sql("ROLLBACK")
            except sqlite3.Error as error:
                raise Unavailable(f"{self.path}: {error}; undone") from error

    def _revision(self) -> int:
        return self._sql("SELECT max(revision) FROM changes").fetchone()[0] or 1

    def _compacted(self) -> int:
        return int(self._sql("SELECT revision FROM compacted").fetchone()[0])

    def _check_kept(self, revision: int) -> None:
        if revision < (compacted := self._compacted()):
            raise Compacted(revision, compacted)

    def _found(self, where: Where) -> Iterator[Item]:
        """Items as they are now, in order of their keys."""
        meant, ends = condition(where)
        query = f"SELECT {ITEM} FROM items WHERE {meant} ORDER BY key"
        return map(Item._make, self._sql(query, ends))

    def _ttl_of(self, lease: int) -> float:
        query = "SELECT ttl_s FROM leases WHERE number = ?"
        if (row := self._sql(query, (lease,)).fetchone()) is None:
            raise UnknownLease(f"lease {lease} has ended, or never was")
        return float(row[0])

    def _end(self, lease: int) -> None:
        """Delete a lease and its keys."""
        query = "SELECT key FROM items WHERE lease = ? AND lease > 0 ORDER BY key"
        keys = [key for (key,) in self._sql(query, (lease,)).fetchall()]
        changes = Changes(self._sql, self._revision() + 1)
        for key in keys:
            changes.delete(key)
        self._sql("DELETE FROM leases WHERE number = ?", (lease,))

    def _applied(self, operation: Operation, changes: Changes) -> Response:
        if isinstance(operation, Put):
            changes.put(operation, next(self._found(operation.key), None))
            return Response()
        found = tuple(self._found(operation.where))
        if not isinstance(operation, Delete):
            return Response(found)
        for item in found:
            changes.delete(item.key)
        return Response(deleted=len(found))

    def _changes_since(self, where: Where, revision: int) -> tuple[int, list[Change]]:
        """The store's revision, and what a watch has yet to be told."""
        with self._reading():
            self._check_kept(revision)
            meant, ends = condition(where)
            rows = self._sql(
                f"SELECT {CHANGE} FROM changes WHERE revision >= ? AND {meant} "
                "ORDER BY revision, place",
                (revision, *ends),
            )
            items = map(Item._make, rows)
            found = [Change(not item.version, item) for item in items]
            return self._revision(), found


class SqliteWatch:
    """A watch of a :class:`SqliteStore`: it looks for revisions that it has not told."""

    def __init__(self, store: SqliteStore, where: Where, revision: int) -> None:
        self._store = store
        self._where = where
        self._revision = revision
        self._closed = False

    @property
    def revision(self) -> int:
        """See :attr:`Watch.revision`."""
        return self._revision

    def poll(self, wait_s: float = 0.0) -> tuple[Change, ...]:
        """See :meth:`Watch.poll`."""
        until = time.monotonic() + wait_s
        while True:
            if self._closed:
                raise Unavailable("the watch is closed")
            reached, found = self._store._changes_since(self._where, self._revision)
            self._revision = max(self._revision, reached + 1)
            left = until - time.monotonic()
            if found or left <= 0:
                return tuple(found)
            time.sleep(min(left, self._store._poll_s))

    def close(self) -> None:
        """See :meth:`Watch.close`."""
        self._closed = True


def _check_reached(revision: int, reached: int) -> None:
    if revision > reached:
        raise InvalidRequest(f"revision is {revision}: the store has reached {reached}")

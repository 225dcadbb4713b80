"""``MemoryStore``: the linearizable reference, which the other stores must equal."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
    covers,
    holds,
)


@dataclass(slots=True)
class _Held:
    """A lease: its seconds, when it ends, and the keys that end with it."""

    ttl_s: float
    end_s: float
    keys: set[bytes] = field(default_factory=set)


class MemoryStore:
    """A :class:`~phalanx_core.reformation.stores.protocol.Store` in memory.

    Parameters
    ----------
    now
        The clock, in seconds; leases end by it. It must not go back.
    limits
        The most that one request may hold.

    Notes
    -----
    Leases that are over end when the store is next called, first those that were over
    first, each at a revision of its own where it had keys. One thread at a time.

    With K keys (deleted ones count until they are compacted) and C changes kept: a
    compare, put or read of a key is O(1), a range O(log K + what lies in it), a new key
    O(K) moved by one place, a poll O(log C + changes since the last one).

    Examples
    --------
    >>> from phalanx_core.reformation.stores import Put, Read, VirtualClock, absent
    >>> store = MemoryStore(VirtualClock())
    >>> claim = [absent(b"alloc/0")], [Put(b"alloc/0", b"a")], [Read(b"alloc/0")]
    >>> store.transaction(*claim)
    TransactionResult(succeeded=True, revision=2, responses=(Response(items=(), deleted=0),))
    >>> lost = store.transaction(*claim)
    >>> lost.succeeded, lost.revision, lost.responses[0].item.value
    (False, 2, b'a')

    A heartbeat is a key with a lease:

    >>> clock = VirtualClock()
    >>> store = MemoryStore(clock)
    >>> lease = store.grant(10.0)
    >>> watch = store.watch(b"heartbeat/h1")
    >>> _ = store.transaction([], [Put(b"heartbeat/h1", b"", lease.number)])
    >>> clock.advance(10.0)
    >>> [(change.deleted, change.revision) for change in watch.poll()]
    [(False, 2), (True, 3)]
    """

    def __init__(self, now: Callable[[], float], limits: Limits | None = None) -> None:
        self.limits = limits or EMBEDDED
        self._now = now
        self._revision = 1
        self._compacted = 0
        # Of each key every kept version, a deletion as an item of version 0; their order.
        self._versions: dict[bytes, list[Item]] = {}
        self._keys: list[bytes] = []
        self._changes: list[Change] = []
        self._held: dict[int, _Held] = {}
        self._lease_last = 0
        self._next_end_s = float("inf")
        self._closed = False

    def get(self, key: bytes) -> Item | None:
        """See :meth:`Store.get`."""
        check_key(key)
        self._settle()
        return self._newest(key)

    def range(self, where: Where, revision: int = 0) -> Items:
        """See :meth:`Store.range`."""
        check_where(where)
        revision = check_revision(revision)
        self._settle()
        if not revision:
            return Items(self._revision, self._found(where))
        self._check_kept(revision)
        if revision > self._revision:
            raise InvalidRequest(
                f"revision is {revision}: the store has reached {self._revision}"
            )
        kept = (_at(self._versions[key], revision) for key in self._matching(where))
        return Items(revision, tuple(item for item in kept if item and item.version))

    def transaction(
        self,
        compares: Sequence[Compare],
        then: Sequence[Operation],
        otherwise: Sequence[Operation] = (),
    ) -> TransactionResult:
        """See :meth:`Store.transaction`."""
        check_transaction(compares, then, otherwise, self.limits)
        self._settle()
        succeeded = all(holds(one, self._found(one.where)) for one in compares)
        branch = then if succeeded else otherwise
        for operation in branch:
            if isinstance(operation, Put) and operation.lease:
                self._lease_of(operation.lease)
        revision, before = self._revision + 1, len(self._changes)
        responses = tuple([self._applied(one, revision) for one in branch])
        if len(self._changes) > before:
            self._revision = revision
        return TransactionResult(succeeded, self._revision, responses)

    def grant(self, ttl_s: float) -> Lease:
        """See :meth:`Store.grant`."""
        ttl_s = check_ttl(ttl_s)
        self._settle()
        self._lease_last += 1
        end_s = self._now() + ttl_s
        self._held[self._lease_last] = _Held(ttl_s, end_s)
        self._next_end_s = min(self._next_end_s, end_s)
        return Lease(self._lease_last, ttl_s)

    def keep_alive(self, lease: int) -> float:
        """See :meth:`Store.keep_alive`."""
        lease = check_lease(lease)
        self._settle()
        held = self._lease_of(lease)
        held.end_s = self._now() + held.ttl_s
        return held.ttl_s

    def revoke(self, lease: int) -> None:
        """See :meth:`Store.revoke`."""
        lease = check_lease(lease)
        self._settle()
        self._lease_of(lease)
        self._end(lease)

    def watch(self, where: Where, revision: int = 0) -> MemoryWatch:
        """See :meth:`Store.watch`."""
        check_where(where)
        revision = check_revision(revision)
        self._settle()
        if revision:
            self._check_kept(revision)
        return MemoryWatch(self, where, revision or self._revision + 1)

    def compact(self, revision: int) -> None:
        """See :meth:`Store.compact`."""
        revision = check_revision(revision)
        self._settle()
        if revision <= self._compacted:
            raise Compacted(revision, self._compacted)
        if revision > self._revision:
            raise InvalidRequest(
                f"revision is {revision}: the store has reached {self._revision}"
            )
        self._compacted = revision
        del self._changes[: self._first_change(revision)]
        for key in list(self._keys):
            versions = self._versions[key]
            last = _place(versions, revision)
            if last < 0:  # all of it is later
                continue
            # A deletion of before tells nothing that a missing key does not.
            del versions[: last + (not versions[last].version)]
        self._keys = [key for key in self._keys if self._versions[key]]
        self._versions = {key: self._versions[key] for key in self._keys}

    def close(self) -> None:
        """See :meth:`Store.close`."""
        self._closed = True

    def _settle(self) -> None:
        """End every lease that is over."""
        if self._closed:
            raise Unavailable("the store is closed")
        now = self._now()
        if now < self._next_end_s:
            return
        over = sorted((h.end_s, n) for n, h in self._held.items() if h.end_s <= now)
        for _, number in over:
            self._end(number)
        ends = (held.end_s for held in self._held.values())
        self._next_end_s = min(ends, default=float("inf"))

    def _end(self, lease: int) -> None:
        """Delete a lease and its keys."""
        keys = sorted(self._held.pop(lease).keys)
        for key in keys:
            self._delete(key, self._revision + 1)
        self._revision += bool(keys)

    def _lease_of(self, lease: int) -> _Held:
        try:
            return self._held[lease]
        except KeyError:
            raise UnknownLease(f"lease {lease} has ended, or never was") from None

    def _check_kept(self, revision: int) -> None:
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)

    def _matching(self, where: Where) -> Sequence[bytes]:
        """Keys that are meant and have a version, in order."""
        if isinstance(where, bytes):
            return (where,) if where in self._versions else ()
        first = bisect_left(self._keys, where.start)
        last = None if where.end is None else bisect_left(self._keys, where.end, first)
        return self._keys[first:last]

    def _newest(self, key: bytes) -> Item | None:
        """A key as it is now, None where there is none."""
        versions = self._versions.get(key)
        return versions[-1] if versions and versions[-1].version else None

    def _found(self, where: Where) -> tuple[Item, ...]:
        """Items as they are now, in order of their keys."""
        if isinstance(where, bytes):
            item = self._newest(where)
            return (item,) if item else ()
        newest = [self._versions[key][-1] for key in self._matching(where)]
        return tuple([item for item in newest if item.version])

    def _applied(self, operation: Operation, revision: int) -> Response:
        if isinstance(operation, Put):
            self._put(operation, revision)
            return Response()
        found = self._found(operation.where)
        if not isinstance(operation, Delete):
            return Response(found)
        for item in found:
            self._delete(item.key, revision)
        return Response(deleted=len(found))

    def _put(self, put: Put, revision: int) -> None:
        before = self._newest(put.key)
        created = before.create_revision if before else revision
        version = before.version + 1 if before else 1
        if before and before.lease:
            self._held[before.lease].keys.discard(put.key)
        if put.lease:
            self._held[put.lease].keys.add(put.key)
        self._keep(Item(put.key, put.value, created, revision, version, put.lease))

    def _delete(self, key: bytes, revision: int) -> None:
        lease = self._versions[key][-1].lease
        if lease in self._held:
            self._held[lease].keys.discard(key)
        self._keep(Item(key, b"", 0, revision, 0))

    def _keep(self, item: Item) -> None:
        """Append a version and the change that made it."""
        if item.key not in self._versions:
            self._versions[item.key] = []
            insort(self._keys, item.key)
        self._versions[item.key].append(item)
        self._changes.append(Change(not item.version, item))

    def _first_change(self, revision: int) -> int:
        return bisect_left(self._changes, revision, key=lambda one: one.revision)

    def _changes_since(self, where: Where, revision: int) -> tuple[Change, ...]:
        """What a watch that has seen all below a revision has yet to be told."""
        self._settle()
        self._check_kept(revision)
        if revision > self._revision:
            return ()
        changes = self._changes
        return tuple(
            changes[at]
            for at in range(self._first_change(revision), len(changes))
            if covers(where, changes[at].item.key)
        )


class MemoryWatch:
    """A watch of a :class:`MemoryStore`; its polls never wait."""

    def __init__(self, store: MemoryStore, where: Where, revision: int) -> None:
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
        if self._closed:
            raise Unavailable("the watch is closed")
        found = self._store._changes_since(self._where, self._revision)
        self._revision = max(self._revision, self._store._revision + 1)
        return found

    def close(self) -> None:
        """See :meth:`Watch.close`."""
        self._closed = True


def _place(versions: Sequence[Item], revision: int) -> int:
    """Place of the last version at or before a revision, -1 = none."""
    after = revision + 1
    return bisect_left(versions, after, key=lambda item: item.mod_revision) - 1


def _at(versions: Sequence[Item], revision: int) -> Item | None:
    last = _place(versions, revision)
    return versions[last] if last >= 0 else None

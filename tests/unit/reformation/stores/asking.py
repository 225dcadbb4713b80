"""Short ways to ask a store, for tests."""

from __future__ import annotations

from phalanx_core.reformation.stores import (
    Change,
    Compare,
    Delete,
    Operation,
    Put,
    Range,
    Read,
    Store,
    Where,
)

ALL = Range.prefix(b"")
PUT, DELETED = False, True


def put(store: Store, key: bytes, value: bytes = b"", lease: int = 0) -> int:
    """Put a key; the revision."""
    return store.transaction([], [Put(key, value, lease)]).revision


def delete(store: Store, where: Where) -> int:
    """Delete keys; how many there were."""
    return store.transaction([], [Delete(where)]).responses[0].deleted


def revision_of(store: Store) -> int:
    """The store's revision."""
    return store.range(b"none").revision


def keys_of(store: Store, where: Where = ALL, revision: int = 0) -> list[bytes]:
    """Keys in a range, in the store's order."""
    return [item.key for item in store.range(where, revision).items]


def decides(store: Store, *compares: Compare) -> bool:
    """Whether compares hold, in a transaction that only reads."""
    return store.transaction(compares, [Read(b"none")]).succeeded


def told(changes: tuple[Change, ...], base: int) -> list[tuple[bool, bytes, int]]:
    """Of each change: deleted or not, key, and revision counted from a base."""
    return [(one.deleted, one.item.key, one.revision - base) for one in changes]


def both(*operations: Operation) -> tuple[list[Operation], list[Operation]]:
    """The same operations for both branches."""
    return list(operations), list(operations)

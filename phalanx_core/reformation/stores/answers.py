"""What stores answer: items, changes and leases with the revisions they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Item(NamedTuple):
    """A key as one revision left it.

    Attributes
    ----------
    key, value
        Bytes; a key has at least one.
    create_revision
        Revision of the put that made the key; 0 of a deletion.
    mod_revision
        Revision of the last change.
    version
        Puts since the key was made, from 1; 0 of a deletion.
    lease
        Number of the lease that the key ends with, 0 = none.
    """

    key: bytes
    value: bytes
    create_revision: int
    mod_revision: int
    version: int
    lease: int = 0


class Response(NamedTuple):
    """What one operation answers.

    Attributes
    ----------
    items
        What a read found, in order of the keys.
    deleted
        Keys that a deletion removed.
    """

    items: tuple[Item, ...] = ()
    deleted: int = 0

    @property
    def item(self) -> Item | None:
        """The first item of a read, None where it found nothing."""
        return self.items[0] if self.items else None


class TransactionResult(NamedTuple):
    """What a transaction did.

    Attributes
    ----------
    succeeded
        Whether every compare held; then ``then`` was applied, else ``otherwise``.
    revision
        Of the store after it; all its changes bear this one.
    responses
        One for each operation of the branch that was applied.
    """

    succeeded: bool
    revision: int
    responses: tuple[Response, ...]


class Items(NamedTuple):
    """Items in order of their keys, all of one revision of the store.

    Attributes
    ----------
    revision
        The store's: a watch from the next one misses nothing and repeats nothing.
    items
        What was found.
    """

    revision: int
    items: tuple[Item, ...]

    @property
    def item(self) -> Item | None:
        """The first item, None where nothing was found."""
        return self.items[0] if self.items else None


class Change(NamedTuple):
    """A put or a deletion as watches tell it.

    Attributes
    ----------
    deleted
        Whether the key is gone; then the item has no value, and version 0.
    item
        The key as the change left it; its ``mod_revision`` is the change's.
    """

    deleted: bool
    item: Item

    @property
    def revision(self) -> int:
        """Of the store, when it happened."""
        return self.item.mod_revision


class Lease(NamedTuple):
    """Keys put with it are deleted when it ends (not a lease of GPU time).

    Attributes
    ----------
    number
        Never 0, never used again.
    ttl_s
        Seconds until it ends unless it is kept alive; at least what was asked.
    """

    number: int
    ttl_s: float


def whole_revisions(changes: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    """Changes revision by revision.

    Examples
    --------
    >>> item = Item(b"a", b"", 2, 2, 1)
    >>> later = item._replace(key=b"b", mod_revision=3)
    >>> changes = [Change(False, one) for one in (item, later)]
    >>> [len(part) for part in whole_revisions(changes)]
    [1, 1]
    """
    begin = 0
    for at in range(1, len(changes) + 1):
        if at == len(changes) or changes[at].revision != changes[begin].revision:
            yield tuple(changes[begin:at])
            begin = at

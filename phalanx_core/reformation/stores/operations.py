"""What a transaction is made of: compares and operations on keys and ranges."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeAlias


class Range(NamedTuple):
    """Keys from ``start``, below ``end``; None = to the last key there is.

    Examples
    --------
    >>> Range.prefix(b"alloc/")
    Range(start=b'alloc/', end=b'alloc0')
    >>> b"alloc/7" in Range.prefix(b"alloc/"), b"alloc" in Range.prefix(b"alloc/")
    (True, False)
    """

    start: bytes
    end: bytes | None

    @classmethod
    def prefix(cls, start: bytes) -> Range:
        """Every key that begins with ``start``; with b"", every key."""
        kept = start.rstrip(b"\xff")
        return cls(start, kept[:-1] + bytes([kept[-1] + 1]) if kept else None)

    def __contains__(self, key: object) -> bool:
        """Whether a key lies in it."""
        return (
            isinstance(key, bytes)
            and key >= self.start
            and (self.end is None or key < self.end)
        )


Where: TypeAlias = bytes | Range


class Field(Enum):
    """What of a key a compare reads."""

    # By identity, as they compare: Enum's own is a call of Python for each compare.
    __hash__ = object.__hash__

    VERSION = "version"
    CREATE = "create_revision"
    MOD = "mod_revision"
    VALUE = "value"


class Relation(Enum):
    """How the field stands to the compare's value."""

    __hash__ = object.__hash__

    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    GREATER = ">"


class Compare(NamedTuple):
    """A condition of a transaction, on one key or on every key of a range.

    Attributes
    ----------
    where
        A key, or a :class:`Range`: the compare holds if it does for every key in it.
    field, relation
        What is read, and how it must stand to ``value``.
    value
        Bytes for :attr:`Field.VALUE`, else a whole number from 0.

    Notes
    -----
    Where there is no key, version and revisions are 0, and a compare of values fails
    whatever its relation: as in etcd.
    """

    where: Where
    field: Field
    relation: Relation
    value: int | bytes


def absent(where: Where) -> Compare:
    """No such key, or no key in the range.

    Examples
    --------
    >>> absent(Range.prefix(b"alloc/0/")).field
    <Field.VERSION: 'version'>
    """
    return Compare(where, Field.VERSION, Relation.EQUAL, 0)


def present(where: Where) -> Compare:
    """The key is there; of a range, at least one key is."""
    return Compare(where, Field.VERSION, Relation.GREATER, 0)


def value_is(where: Where, value: bytes) -> Compare:
    """The key has this value; a missing key has none."""
    return Compare(where, Field.VALUE, Relation.EQUAL, value)


def version_is(where: Where, version: int) -> Compare:
    """The key has been put so often since it was made."""
    return Compare(where, Field.VERSION, Relation.EQUAL, version)


def created_at(where: Where, revision: int) -> Compare:
    """The key was made at this revision, and not deleted since."""
    return Compare(where, Field.CREATE, Relation.EQUAL, revision)


def modified_at(where: Where, revision: int) -> Compare:
    """The key was last changed at this revision; 0 = there is none."""
    return Compare(where, Field.MOD, Relation.EQUAL, revision)


class Put(NamedTuple):
    """Write a key; it ends with the lease, or stays where that is 0."""

    key: bytes
    value: bytes
    lease: int = 0


class Delete(NamedTuple):
    """Delete a key, or every key of a range."""

    where: Where


class Read(NamedTuple):
    """Read a key, or every key of a range, as the operations before it left them."""

    where: Where


Operation: TypeAlias = Put | Delete | Read

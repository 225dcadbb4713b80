"""Checks of what a store is asked, and how compares are read; all stores share them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from operator import eq, gt, lt, ne
from typing import Any

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores.answers import (
    Item,
)
from phalanx_core.reformation.stores.operations import (
    Compare,
    Delete,
    Field,
    Operation,
    Put,
    Range,
    Read,
    Relation,
    Where,
)

RELATIONS = {
    Relation.EQUAL: eq,
    Relation.NOT_EQUAL: ne,
    Relation.LESS: lt,
    Relation.GREATER: gt,
}
PLACES = {field: Item._fields.index(field.value) for field in Field}
TTL_S_MAX = 9e9
REVISION_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one request may hold; etcd's defaults.

    Attributes
    ----------
    operations
        Of each list of a transaction: compares, ``then``, ``otherwise``.
    request_bytes
        Of the keys and values of all three lists.

    Raises
    ------
    InvalidRequest
        If one is no whole number from 1.

    Examples
    --------
    >>> Limits().operations, Limits().request_bytes
    (128, 1572864)
    """

    operations: int = 128
    request_bytes: int = 3 * 2**19

    def __post_init__(self) -> None:
        for name in ("operations", "request_bytes"):
            value = getattr(self, name)
            if not is_whole(value) or value < 1:
                raise InvalidRequest(
                    f"{name} is {value!r}: it must be a whole number from 1"
                )


EMBEDDED = Limits(operations=1 << 16, request_bytes=1 << 28)
"""Of stores that no network and no server's setting limits."""


def check_key(key: Any, name: str = "key") -> int:
    """Bytes of a key, or InvalidRequest."""
    if not isinstance(key, bytes):
        raise InvalidRequest(f"{name} is {key!r}: it must be bytes")
    if not key:
        raise InvalidRequest(f"{name} is b'': a key has at least one byte")
    return len(key)


def check_where(where: Any, name: str = "where") -> int:
    """Bytes of a key or of a range's ends, or InvalidRequest."""
    if isinstance(where, bytes):
        return check_key(where, name)
    if not isinstance(where, Range):
        raise InvalidRequest(f"{name} is {where!r}: it must be bytes or a Range")
    start, end = where
    if not isinstance(start, bytes) or not (end is None or isinstance(end, bytes)):
        raise InvalidRequest(f"{name} is {where!r}: its ends must be bytes")
    return len(start) + (0 if end is None else len(end))


def check_revision(revision: Any) -> int:
    """A whole number from 0, or InvalidRequest."""
    if not is_whole(revision) or revision > REVISION_MAX:
        raise InvalidRequest(
            f"revision is {revision!r}: it must be a whole number from 0"
        )
    return int(revision)


def check_ttl(ttl_s: Any) -> float:
    """Seconds above 0, or InvalidRequest."""
    number = isinstance(ttl_s, Real) and not isinstance(ttl_s, bool)
    if not number or not isfinite(ttl_s) or not 0 < ttl_s <= TTL_S_MAX:
        raise InvalidRequest(
            f"ttl_s is {ttl_s!r}: it must be a number of seconds above 0"
        )
    return float(ttl_s)


def check_lease(lease: Any) -> int:
    """A whole number, or InvalidRequest; whether there is such a lease is not asked."""
    if not is_whole(lease) or lease > REVISION_MAX:
        raise InvalidRequest(f"lease is {lease!r}: it must be a whole number from 0")
    return int(lease)


# Below, names are made where something is refused: they cost more than all the checks.
def _check_compare(compare: Any, at: int) -> int:
    if not isinstance(compare, Compare):
        raise InvalidRequest(f"compares[{at}] is {compare!r}: it must be a Compare")
    where, field, relation, value = compare
    if isinstance(where, bytes) and where:
        size = len(where)
    else:
        size = check_where(where, f"compares[{at}].where")
    if not isinstance(field, Field) or not isinstance(relation, Relation):
        raise InvalidRequest(
            f"compares[{at}] is {compare!r}: it needs a Field and a Relation"
        )
    if field is Field.VALUE:
        if not isinstance(value, bytes):
            raise InvalidRequest(f"compares[{at}].value is {value!r}: it must be bytes")
        return size + len(value)
    if not is_whole(value):
        raise InvalidRequest(
            f"compares[{at}].value is {value!r}: it must be a whole number from 0"
        )
    return size


def _check_operation(operation: Any, name: str, at: int) -> int:
    if isinstance(operation, Put):
        key, value, lease = operation
        size = len(key) if isinstance(key, bytes) and key else 0
        size = size or check_key(key, f"{name}[{at}].key")
        if not isinstance(value, bytes):
            raise InvalidRequest(f"{name}[{at}].value is {value!r}: it must be bytes")
        if lease or type(lease) is not int:
            check_lease(lease)
        return size + len(value)
    if not isinstance(operation, (Delete, Read)):
        raise InvalidRequest(
            f"{name}[{at}] is {operation!r}: it must be Put, Delete or Read"
        )
    return check_where(operation.where, f"{name}[{at}].where")


def _check_written_once(operations: Sequence[Operation], name: str) -> None:
    """No key is put twice, or put and deleted: which one holds would be left open."""
    puts = [one.key for one in operations if isinstance(one, Put)]
    once = set(puts)
    if len(once) < len(puts):
        twice = next(key for key in puts if puts.count(key) > 1)
        raise InvalidRequest(f"{name} puts {twice!r} twice: a list writes a key once")
    for one in operations:
        if not isinstance(one, Delete):
            continue
        if isinstance(one.where, bytes) and one.where not in once:
            continue
        both = next((key for key in puts if covers(one.where, key)), None)
        if both is not None:
            raise InvalidRequest(
                f"{name} puts and deletes {both!r}: a list writes a key once"
            )


def check_transaction(
    compares: Sequence[Compare],
    then: Sequence[Operation],
    otherwise: Sequence[Operation],
    limits: Limits,
) -> None:
    """Every rule and limit of a transaction.

    Raises
    ------
    InvalidRequest
        If one is broken; it names list, place, value and rule.

    Notes
    -----
    O(bytes), and O(puts) for each deletion of a range.

    Examples
    --------
    >>> check_transaction([], [Put(b"a", b"")] * 2, [], Limits())
    Traceback (most recent call last):
    phalanx_core.errors.InvalidRequest: then puts b'a' twice: a list writes a key once
    """
    size = 0
    named = (("compares", compares), ("then", then), ("otherwise", otherwise))
    for name, given in named:
        if not isinstance(given, (list, tuple)):
            raise InvalidRequest(f"{name} is {given!r}: it must be a list or a tuple")
        if len(given) > limits.operations:
            raise InvalidRequest(
                f"{name} has {len(given)} entries: "
                f"the limit is {limits.operations} operations a list"
            )
    for at, compare in enumerate(compares):
        size += _check_compare(compare, at)
    for name, operations in named[1:]:
        for at, operation in enumerate(operations):
            size += _check_operation(operation, name, at)
        _check_written_once(operations, name)
    if size > limits.request_bytes:
        raise InvalidRequest(
            f"the request has {size} bytes of keys and values: "
            f"the limit is {limits.request_bytes}"
        )


def holds(compare: Compare, items: Iterable[Item]) -> bool:
    """Whether a compare holds of what was found at its key or in its range.

    Examples
    --------
    >>> holds(Compare(b"a", Field.VERSION, Relation.EQUAL, 0), [])
    True
    """
    relation, place = RELATIONS[compare.relation], PLACES[compare.field]
    found = False
    for item in items:
        if not relation(item[place], compare.value):
            return False
        found = True
    if found:
        return True
    return compare.field is not Field.VALUE and bool(relation(0, compare.value))


def covers(where: Where, key: bytes) -> bool:
    """Whether a key is meant."""
    return key == where if isinstance(where, bytes) else key in where

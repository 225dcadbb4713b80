"""The conformance suite: a store's test class derives from it and makes the store.

A back end without a clock of ours overrides ``clock`` with an object whose ``advance``
waits. Revisions are counted from what a test finds, so a server may be used again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import (
    Compare,
    Delete,
    Field,
    Limits,
    Put,
    Range,
    Read,
    Relation,
    Store,
    Unavailable,
    VirtualClock,
    Watch,
    absent,
)
from tests.unit.reformation.stores.asking import ALL, keys_of, put, revision_of
from tests.unit.reformation.stores.conformance_leases import Leases
from tests.unit.reformation.stores.conformance_transactions import Transactions
from tests.unit.reformation.stores.conformance_watches import Watches

EQUAL = Relation.EQUAL
# What is asked, and what the refusal says.
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"compares": [absent(b"")]}, r"compares\[0\].where is b''"),
    ({"compares": [absent("a")]}, r"compares\[0\].where is 'a'"),
    ({"compares": [absent(Range("a", None))]}, r"ends must be bytes"),
    ({"compares": [b"a"]}, r"compares\[0\] is b'a': it must be a Compare"),
    (
        {"compares": [Compare(b"a", Field.VALUE, EQUAL, 1)]},
        r"compares\[0\].value is 1: it must be bytes",
    ),
    (
        {"compares": [Compare(b"a", Field.MOD, EQUAL, b"1")]},
        r"compares\[0\].value is b'1': it must be a whole number from 0",
    ),
    (
        {"compares": [Compare(b"a", Field.MOD, EQUAL, -1)]},
        r"compares\[0\].value is -1: it must be a whole number from 0",
    ),
    (
        {"compares": [Compare(b"a", "version", EQUAL, 1)]},
        r"it needs a Field and a Relation",
    ),
    ({"then": [Put(b"", b"")]}, r"then\[0\].key is b''"),
    ({"then": [Put(Range(b"a", b"b"), b"")]}, r"then\[0\].key is Range"),
    ({"then": [Put(b"a", "x")]}, r"then\[0\].value is 'x': it must be bytes"),
    ({"then": [Put(b"a", b"", -1)]}, r"lease is -1"),
    ({"then": [Read(b"a"), Read(None)]}, r"then\[1\].where is None"),
    (
        {"then": [absent(b"a")]},
        r"then\[0\] is Compare.*: it must be Put, Delete or Read",
    ),
    ({"then": Put(b"a", b"")}, r"then\[0\] is b'a'"),
    ({"otherwise": None}, r"otherwise is None: it must be a list or a tuple"),
    ({"then": [Put(b"a", b""), Put(b"a", b"")]}, r"then puts b'a' twice"),
    (
        {"otherwise": [Delete(ALL), Put(b"a", b"")]},
        r"otherwise puts and deletes b'a'",
    ),
    ({"then": [Put(b"a", b""), Delete(b"a")]}, r"then puts and deletes b'a'"),
]


class StoreConformance(Transactions, Watches, Leases):
    """All that a store must do."""

    @abstractmethod
    def made(self, clock: VirtualClock, folder: Path, limits: Limits) -> Store:
        """A new store, empty."""

    @pytest.fixture
    def clock(self) -> VirtualClock:
        """The clock that leases end by."""
        return VirtualClock(1000.0)

    @pytest.fixture
    def store(self, clock: VirtualClock, tmp_path: Path) -> Iterator[Store]:
        """A store of etcd's limits."""
        store = self.made(clock, tmp_path, Limits())
        yield store
        store.close()

    @pytest.fixture
    def small(self, clock: VirtualClock, tmp_path: Path) -> Iterator[Store]:
        """A store of three operations a list, and 100 bytes a request."""
        folder = tmp_path / "small"
        folder.mkdir()
        store = self.made(clock, folder, Limits(3, 100))
        yield store
        store.close()

    def test_it_has_the_interface(self, store: Store) -> None:
        """A store and its watches have every method of the protocol."""
        assert isinstance(store, Store)
        assert isinstance(store.watch(b"a"), Watch)

    @pytest.mark.parametrize(("asked", "rule"), WRONG)
    def test_wrong_transactions_are_refused(
        self, store: Store, asked: dict[str, Any], rule: str
    ) -> None:
        """A refusal names list, place, value and rule, and nothing is applied."""
        base = revision_of(store)
        lists = {"compares": [], "then": [Put(b"x", b"")], "otherwise": []} | asked
        with pytest.raises(InvalidRequest, match=rule):
            store.transaction(**lists)
        assert store.range(ALL) == (base, ())

    @pytest.mark.parametrize("key", [b"", "a", None, 1])
    def test_wrong_keys_are_refused(self, store: Store, key: Any) -> None:
        """A key has at least one byte."""
        for call in (store.get, store.range, store.watch):
            with pytest.raises(InvalidRequest, match="is "):
                call(key)

    @pytest.mark.parametrize("revision", [-1, 1.5, "1", None, True, 2**63])
    def test_wrong_revisions_are_refused(self, store: Store, revision: Any) -> None:
        """A revision is a whole number from 0."""
        for call in (store.range, store.watch):
            with pytest.raises(InvalidRequest, match="revision is"):
                call(b"a", revision)
        with pytest.raises(InvalidRequest, match="revision is"):
            store.compact(revision)

    def test_get_takes_one_key(self, store: Store) -> None:
        """A range is refused where one key is asked for."""
        with pytest.raises(InvalidRequest, match="key is Range"):
            store.get(ALL)  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["compares", "then", "otherwise"])
    def test_operations_are_limited_by_list(self, small: Store, name: str) -> None:
        """Each list may have so many entries, whatever the others have."""
        entries: list[Any] = [absent(b"%d" % at) for at in range(4)]
        if name != "compares":
            entries = [Put(b"%d" % at, b"") for at in range(4)]
        lists: dict[str, Any] = {"compares": [], "then": [], "otherwise": []}
        with pytest.raises(
            InvalidRequest, match=rf"{name} has 4 entries: the limit is 3"
        ):
            small.transaction(**(lists | {name: entries}))
        small.transaction(**(lists | {name: entries[:3]}))

    def test_all_lists_may_be_full(self, small: Store) -> None:
        """The limit is of a list, not of their sum."""
        puts = [Put(b"%d" % at, b"") for at in range(3)]
        assert small.transaction([absent(b"a")] * 3, puts, puts).succeeded

    def test_bytes_are_limited_by_request(self, small: Store) -> None:
        """Keys and values of all three lists count, to the last byte."""
        compare = Compare(b"abcd", Field.VALUE, EQUAL, b"x" * 16)
        half = [Put(b"k", b"v" * 39)]
        assert not small.transaction([compare], half, half).succeeded
        over = [Put(b"k", b"v" * 40)]
        with pytest.raises(InvalidRequest, match=r"has 101 bytes .*: the limit is 100"):
            small.transaction([compare], over, half)
        assert keys_of(small) == [b"k"]

    def test_the_limits_can_be_asked(self, store: Store, small: Store) -> None:
        """Who builds a transaction can see how large it may be."""
        assert store.limits == Limits(128, 1_572_864)
        assert small.limits == Limits(3, 100)

    def test_a_block_commit_is_one_small_transaction(self, store: Store) -> None:
        """Seven compares and three operations commit a gang, and the loser is told."""
        put(store, b"alloc/0/0", b"a 1")
        for host in (b"h1", b"h2"):
            put(store, b"heartbeat/" + host)
        put(store, b"epoch/a", b"1 plan")
        compares = [
            Compare(b"epoch/a", Field.VALUE, EQUAL, b"1 plan"),
            Compare(b"alloc/0/0", Field.VALUE, EQUAL, b"a 1"),
            absent(Range.prefix(b"alloc/1/0/")),
            absent(b"alloc/1/0"),
            absent(b"alloc/1"),
            Compare(b"heartbeat/h1", Field.VERSION, Relation.GREATER, 0),
            Compare(b"heartbeat/h2", Field.VERSION, Relation.GREATER, 0),
        ]
        then = [Delete(b"alloc/0/0"), Put(b"alloc/1/0", b"a 2"), Put(b"epoch/a", b"2")]
        won = store.transaction(compares, then, [Read(b"epoch/a")])
        assert won.succeeded
        assert keys_of(store, Range.prefix(b"alloc/")) == [b"alloc/1/0"]
        again = store.transaction(compares, then, [Read(b"epoch/a")])
        assert not again.succeeded
        assert again.responses[0].item.value == b"2"
        assert again.responses[0].item.mod_revision == won.revision

    def test_a_closed_store_is_out_of_reach(self, store: Store) -> None:
        """After close every call says that nothing was applied."""
        lease = store.grant(10.0).number
        watch = store.watch(ALL)
        store.close()
        calls = (
            lambda: store.get(b"a"),
            lambda: store.range(ALL),
            lambda: put(store, b"a"),
            lambda: store.grant(1.0),
            lambda: store.keep_alive(lease),
            lambda: store.revoke(lease),
            lambda: store.watch(ALL),
            lambda: store.compact(1),
            watch.poll,
        )
        for call in calls:
            with pytest.raises(Unavailable):
                call()
        store.close()

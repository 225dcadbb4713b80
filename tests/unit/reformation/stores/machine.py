"""A machine of random calls that compares a store with the slow twin after each."""

from __future__ import annotations

from abc import abstractmethod
from itertools import groupby
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from phalanx_core.reformation.stores import (
    Compacted,
    Compare,
    Delete,
    Field,
    Put,
    Range,
    Read,
    Relation,
    Store,
    UnknownLease,
    VirtualClock,
    Watch,
)
from tests.unit.reformation.stores.slow_store import SlowStore

KEYS = st.sampled_from([b"a", b"a/1", b"a/2", b"a/3", b"b", b"b\xff"])
RANGES = st.sampled_from(
    [
        Range.prefix(b""),
        Range.prefix(b"a/"),
        Range.prefix(b"b"),
        Range(b"a/2", b"b"),
        Range(b"b", None),
        Range(b"b", b"a"),
    ]
)
WHERE = KEYS | RANGES
VALUES = st.sampled_from([b"", b"x", b"y"])
SMALL = st.integers(0, 3)


def compares() -> st.SearchStrategy[Any]:
    """Compares of small numbers, or of values; revisions are set by the rule."""
    relation = st.sampled_from(Relation)
    value = st.builds(Compare, WHERE, st.just(Field.VALUE), relation, VALUES)
    fields = st.sampled_from([Field.VERSION, Field.CREATE, Field.MOD])
    return value | st.builds(Compare, WHERE, fields, relation, SMALL)


def operations() -> st.SearchStrategy[Any]:
    """Lists of operations that write no key twice; a lease is a place in the list of all."""
    put = st.builds(Put, KEYS, VALUES, SMALL)
    other = st.builds(Delete, WHERE) | st.builds(Read, WHERE)
    return st.lists(put | other, max_size=4).filter(writes_once)


def writes_once(operations: list[Any]) -> bool:
    """Whether no key is put twice, or put and deleted."""
    puts = [one.key for one in operations if isinstance(one, Put)]
    gone = [one.where for one in operations if isinstance(one, Delete)]
    return len(set(puts)) == len(puts) and not any(
        key == where if isinstance(where, bytes) else key in where
        for key in puts
        for where in gone
    )


class StoreMachine(RuleBasedStateMachine):
    """Every call is made of the store and of the twin, and answers are compared."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock(100.0)
        self.store = self.made()
        self.twin = SlowStore(self.clock)
        self.granted = [0]
        self.watches: list[tuple[Watch, Any, int]] = []

    @abstractmethod
    def made(self) -> Store:
        """A new store on the machine's clock."""

    def leased(self, operations: list[Any]) -> list[Any]:
        """Operations with places turned into leases, ended ones among them."""
        return [
            one._replace(lease=self.granted[one.lease % len(self.granted)])
            if isinstance(one, Put)
            else one
            for one in operations
        ]

    @rule(
        conditions=st.lists(compares(), max_size=2),
        then=operations(),
        other=operations(),
    )
    def transact(
        self, conditions: list[Any], then: list[Any], other: list[Any]
    ) -> None:
        """Both branch alike, answer alike, or refuse alike."""
        near = self.twin.revision
        conditions = [
            one._replace(value=max(0, near - one.value))
            if one.field in (Field.CREATE, Field.MOD)
            else one
            for one in conditions
        ]
        asked = conditions, self.leased(then), self.leased(other)
        self.twin.expire()
        wanted = self.twin.transaction(*asked)
        try:
            result = self.store.transaction(*asked)
        except UnknownLease:
            assert wanted is None
            return
        assert wanted is not None
        assert (result.succeeded, result.revision) == wanted[:2]
        answers = [
            answer if isinstance(answer, int) else (answer,) for answer in wanted[2]
        ]
        told = [
            one.deleted if isinstance(wants, int) else (one.items,)
            for one, wants in zip(result.responses, answers, strict=True)
        ]
        assert told == answers

    @rule(ttl_s=st.sampled_from([1.0, 2.0, 5.0]))
    def grant(self, ttl_s: float) -> None:
        """A lease that both know by the store's number."""
        self.twin.expire()
        lease = self.store.grant(ttl_s)
        assert lease.number not in self.granted
        self.granted.append(lease.number)
        self.twin.leases[lease.number] = (ttl_s, self.clock() + ttl_s)

    @rule(place=st.integers(0, 9), revoked=st.booleans())
    def touch(self, place: int, revoked: bool) -> None:
        """A lease kept alive or revoked, or unknown to both."""
        number = self.granted[place % len(self.granted)]
        self.twin.expire()
        known = self.twin.leases.get(number)
        try:
            if revoked:
                self.store.revoke(number)
            else:
                self.store.keep_alive(number)
        except UnknownLease:
            assert known is None
            return
        assert known is not None
        if revoked:
            self.twin.revoke(number)
        else:
            self.twin.leases[number] = (known[0], self.clock() + known[0])

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def wait(self, seconds: float) -> None:
        """Time passes; nobody calls."""
        self.clock.advance(seconds)

    @rule(where=WHERE, back=st.integers(0, 6))
    def read_the_past(self, where: Any, back: int) -> None:
        """A revision of before is as it was, or compacted for both."""
        self.twin.expire()
        revision = max(1, self.twin.revision - back)
        try:
            items = self.store.range(where, revision)
        except Compacted:
            assert revision < self.twin.kept
            return
        assert revision >= self.twin.kept
        assert items == (revision, self.twin.read(where, revision))

    @rule(where=WHERE, back=st.integers(-2, 4))
    def watch(self, where: Any, back: int) -> None:
        """A watch from the past, from now on or from the future."""
        self.twin.expire()
        revision = max(1, self.twin.revision + 1 - back)
        try:
            watch = self.store.watch(where, revision if back else 0)
        except Compacted:
            assert revision < self.twin.kept
            return
        assert revision >= self.twin.kept
        self.watches.append((watch, where, revision))

    @precondition(lambda self: self.watches)
    @rule(place=st.integers(0, 9), again=st.booleans())
    def poll(self, place: int, again: bool) -> None:
        """What is told is what the states differ in; a resumed watch goes on alike."""
        at = place % len(self.watches)
        watch, where, since = self.watches[at]
        self.twin.expire()
        if again and since >= self.twin.kept:
            watch.close()
            watch = self.store.watch(where, since)
        try:
            changes = watch.poll()
        except Compacted:
            assert since < self.twin.kept
            del self.watches[at]
            return
        assert since >= self.twin.kept
        revisions = [change.revision for change in changes]
        assert revisions == sorted(revisions)
        told = [
            (one.revision, one.item.key, None if one.deleted else one.item)
            for one in changes
        ]
        parts = groupby(told, key=lambda one: one[0])
        by_key = [one for _, part in parts for one in sorted(part, key=lambda o: o[1])]
        assert by_key == self.twin.changes(where, since)
        assert watch.revision == max(since, self.twin.revision + 1)
        self.watches[at] = (watch, where, watch.revision)

    @rule(back=st.integers(0, 3))
    def compact(self, back: int) -> None:
        """The past is forgotten by both, or was."""
        self.twin.expire()
        revision = max(1, self.twin.revision - back)
        try:
            self.store.compact(revision)
        except Compacted:
            assert revision <= self.twin.kept
            return
        assert revision > self.twin.kept
        self.twin.kept = revision

    @invariant()
    def all_of_it_is_equal(self) -> None:
        """Revision, items and their order."""
        self.twin.expire()
        everything = Range.prefix(b"")
        now = self.store.range(everything)
        assert now == (self.twin.revision, self.twin.read(everything))

    def teardown(self) -> None:
        """Let go of the store."""
        self.store.close()

"""What every store's watches and compactions must do; see ``conformance``."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import (
    Change,
    Compacted,
    Delete,
    Item,
    Put,
    Range,
    Store,
    Unavailable,
    whole_revisions,
)
from tests.unit.reformation.stores.asking import (
    ALL,
    DELETED,
    PUT,
    delete,
    keys_of,
    put,
    revision_of,
    told,
)


class Watches:
    """Watches: ordered, unique, atomic, bookmarkable, reliable, resumable."""

    def test_a_watch_tells_what_comes(self, store: Store) -> None:
        """From now on, puts and deletions with the item as they left it."""
        put(store, b"a", b"before")
        base = revision_of(store)
        watch = store.watch(b"a")
        assert watch.poll() == ()
        put(store, b"a", b"x")
        delete(store, b"a")
        assert watch.poll() == (
            Change(False, Item(b"a", b"x", base, base + 1, 2, 0)),
            Change(True, Item(b"a", b"", 0, base + 2, 0, 0)),
        )
        assert watch.poll() == ()

    def test_a_watch_tells_of_its_keys_alone(self, store: Store) -> None:
        """A key or a range is told, what lies beside it is not."""
        base = revision_of(store)
        one, family = store.watch(b"a/1"), store.watch(Range.prefix(b"a/"))
        for key in (b"a", b"a/1", b"a/2", b"a0", b"b"):
            put(store, key)
        assert told(one.poll(), base) == [(PUT, b"a/1", 2)]
        assert told(family.poll(), base) == [(PUT, b"a/1", 2), (PUT, b"a/2", 3)]

    def test_order_is_of_revisions_then_of_operations(self, store: Store) -> None:
        """Changes of one transaction come in its order, and stay together."""
        base = revision_of(store)
        watch = store.watch(ALL)
        store.transaction([], [Put(b"z", b""), Put(b"a", b"")])
        store.transaction(
            [], [Put(b"m", b""), Delete(Range(b"a", b"b")), Put(b"y", b"")]
        )
        changes = watch.poll()
        assert told(changes, base) == [
            (PUT, b"z", 1),
            (PUT, b"a", 1),
            (PUT, b"m", 2),
            (DELETED, b"a", 2),
            (PUT, b"y", 2),
        ]
        assert [len(part) for part in whole_revisions(changes)] == [2, 3]

    def test_a_watch_begins_in_the_past(self, store: Store) -> None:
        """From a revision all of it and what followed is told, and nothing before."""
        base = revision_of(store)
        for at in range(4):
            put(store, b"a", b"%d" % at)
        values = [one.item.value for one in store.watch(b"a", base + 2).poll()]
        assert values == [b"1", b"2", b"3"]

    def test_a_watch_begins_in_the_future(self, store: Store) -> None:
        """From a revision to come nothing before it is told."""
        base = revision_of(store)
        watch = store.watch(b"a", base + 3)
        put(store, b"a")
        put(store, b"a")
        assert watch.poll() == ()
        assert watch.revision == base + 3
        put(store, b"a")
        assert told(watch.poll(), base) == [(PUT, b"a", 3)]

    def test_a_list_and_a_watch_miss_and_repeat_nothing(self, store: Store) -> None:
        """Read all, then watch from the next revision: each change is in one of them."""
        put(store, b"a")
        read = store.range(ALL)
        put(store, b"b")
        watch = store.watch(ALL, read.revision + 1)
        put(store, b"c")
        assert [item.key for item in read.items] == [b"a"]
        assert [one.item.key for one in watch.poll()] == [b"b", b"c"]

    def test_a_watch_is_resumed_where_it_ended(self, store: Store) -> None:
        """A new watch from the bookmark of another goes on without a gap."""
        base = revision_of(store)
        first = store.watch(b"a")
        put(store, b"a")
        assert told(first.poll(), base) == [(PUT, b"a", 1)]
        put(store, b"b")
        assert first.poll() == ()
        assert first.revision == base + 3
        first.close()
        put(store, b"a")
        second = store.watch(b"a", first.revision)
        assert told(second.poll(), base) == [(PUT, b"a", 3)]

    def test_watches_do_not_share_their_places(self, store: Store) -> None:
        """What one was told, another of the same keys is told too."""
        base = revision_of(store)
        one, two = store.watch(ALL), store.watch(ALL)
        put(store, b"a")
        assert told(one.poll(), base) == [(PUT, b"a", 1)]
        put(store, b"b")
        assert told(two.poll(), base) == [(PUT, b"a", 1), (PUT, b"b", 2)]
        assert told(one.poll(), base) == [(PUT, b"b", 2)]

    def test_a_closed_watch_is_over(self, store: Store) -> None:
        """It tells nothing more, and says so."""
        watch = store.watch(ALL)
        watch.close()
        with pytest.raises(Unavailable):
            watch.poll()

    def test_a_failed_branch_is_not_told(self, store: Store) -> None:
        """What was not applied is no change."""
        watch = store.watch(ALL)
        put(store, b"a")
        with pytest.raises(InvalidRequest):
            store.transaction([], [Put(b"b", b""), Put(b"b", b"")])
        assert [one.item.key for one in watch.poll()] == [b"a"]

    def test_compaction_forgets_the_past_alone(self, store: Store) -> None:
        """Below the compacted revision nothing is read; at and after it all is."""
        base = revision_of(store)
        put(store, b"a", b"1")
        put(store, b"b", b"1")
        put(store, b"a", b"2")
        delete(store, b"b")
        put(store, b"c")
        store.compact(base + 3)
        with pytest.raises(Compacted):
            store.range(ALL, base + 2)
        assert keys_of(store, ALL, base + 3) == [b"a", b"b"]
        assert store.range(b"a", base + 4).item.value == b"2"
        assert keys_of(store, ALL, base + 4) == [b"a"]
        assert keys_of(store) == [b"a", b"c"]
        assert store.get(b"a") == Item(b"a", b"2", base + 1, base + 3, 2, 0)

    def test_compaction_keeps_all_that_is_later(self, store: Store) -> None:
        """Of a key that was made after the compacted revision, too."""
        base = put(store, b"x")
        put(store, b"a", b"1")
        put(store, b"a", b"2")
        store.compact(base)
        assert store.range(b"a", base + 1).item.value == b"1"
        assert store.range(b"a", base + 2).item.value == b"2"
        assert keys_of(store, ALL, base) == [b"x"]

    def test_compaction_of_everything_keeps_what_is_there(self, store: Store) -> None:
        """Compacted to the last revision, a store has its keys and counts on."""
        put(store, b"a")
        put(store, b"b")
        delete(store, b"b")
        last = revision_of(store)
        store.compact(last)
        assert revision_of(store) == last
        assert keys_of(store) == [b"a"]
        assert put(store, b"b") == last + 1
        assert store.get(b"b").version == 1

    def test_a_deletion_at_the_compacted_revision_is_told(self, store: Store) -> None:
        """A watch may begin at the compacted revision and is told all of it."""
        base = revision_of(store)
        put(store, b"a")
        delete(store, b"a")
        store.compact(base + 2)
        assert told(store.watch(ALL, base + 2).poll(), base) == [(DELETED, b"a", 2)]

    def test_a_watch_from_a_compacted_revision_is_refused(self, store: Store) -> None:
        """The error tells from where one can watch."""
        base = revision_of(store)
        for _ in range(3):
            put(store, b"a")
        store.compact(base + 2)
        with pytest.raises(Compacted) as error:
            store.watch(ALL, base + 1).poll()
        assert error.value.revision == base + 2
        assert len(store.watch(ALL, error.value.revision).poll()) == 2

    def test_compaction_under_a_watch_is_told(self, store: Store) -> None:
        """A watch that had yet to tell what was compacted ends; it hides nothing."""
        base = revision_of(store)
        late, ready = store.watch(ALL), store.watch(ALL)
        put(store, b"a")
        put(store, b"a")
        ready.poll()
        store.compact(base + 2)
        put(store, b"b")
        assert told(ready.poll(), base) == [(PUT, b"b", 3)]
        with pytest.raises(Compacted) as error:
            late.poll()
        assert (error.value.asked, error.value.revision) == (base + 1, base + 2)

    def test_compacting_again_or_ahead_is_refused(self, store: Store) -> None:
        """Compaction goes forward, and not further than the store."""
        base = revision_of(store)
        put(store, b"a")
        put(store, b"a")
        store.compact(base + 1)
        for revision in (base, base + 1):
            with pytest.raises(Compacted):
                store.compact(revision)
        with pytest.raises(InvalidRequest, match="has reached"):
            store.compact(base + 3)
        assert keys_of(store, ALL, base + 1) == [b"a"]

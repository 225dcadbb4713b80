"""What every store's reads and transactions must do; see ``conformance``."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import (
    Compare,
    Delete,
    Field,
    Item,
    Put,
    Range,
    Read,
    Relation,
    Store,
    UnknownLease,
    absent,
    created_at,
    modified_at,
    present,
    value_is,
    version_is,
)
from tests.unit.reformation.stores.asking import (
    ALL,
    decides,
    delete,
    keys_of,
    put,
    revision_of,
)

EQUAL, NOT_EQUAL = Relation.EQUAL, Relation.NOT_EQUAL
LESS, GREATER = Relation.LESS, Relation.GREATER
# Of a key put at revisions base + 1 and base + 2, with value b"m": what holds of a field
# and a number. Revisions are counted from the base.
NUMBERS = [
    (Field.VERSION, EQUAL, 2, True),
    (Field.VERSION, EQUAL, 1, False),
    (Field.VERSION, NOT_EQUAL, 2, False),
    (Field.VERSION, NOT_EQUAL, 0, True),
    (Field.VERSION, LESS, 3, True),
    (Field.VERSION, LESS, 2, False),
    (Field.VERSION, GREATER, 1, True),
    (Field.VERSION, GREATER, 2, False),
    (Field.CREATE, EQUAL, 1, True),
    (Field.CREATE, EQUAL, 2, False),
    (Field.CREATE, NOT_EQUAL, 2, True),
    (Field.CREATE, LESS, 2, True),
    (Field.CREATE, GREATER, 1, False),
    (Field.MOD, EQUAL, 2, True),
    (Field.MOD, EQUAL, 1, False),
    (Field.MOD, NOT_EQUAL, 2, False),
    (Field.MOD, LESS, 2, False),
    (Field.MOD, GREATER, 1, True),
]
VALUES = [
    (EQUAL, b"m", True),
    (EQUAL, b"", False),
    (NOT_EQUAL, b"n", True),
    (NOT_EQUAL, b"m", False),
    (LESS, b"n", True),
    (LESS, b"m", False),
    (GREATER, b"lzz", True),
    (GREATER, b"m\0", False),
]


class Transactions:
    """Reads, compares and branches."""

    def test_a_store_begins_empty(self, store: Store) -> None:
        """There is no key, and the first change is one revision on."""
        before = revision_of(store)
        assert store.range(ALL).items == ()
        assert store.get(b"a") is None
        assert put(store, b"a") == before + 1

    def test_an_item_tells_its_life(self, store: Store) -> None:
        """Versions count puts since the key was made, and a deletion ends its life."""
        base = revision_of(store)
        put(store, b"a", b"1")
        put(store, b"a", b"2")
        put(store, b"b")
        assert store.get(b"a") == Item(b"a", b"2", base + 1, base + 2, 2, 0)
        assert delete(store, b"a") == 1
        assert store.get(b"a") is None
        put(store, b"a", b"3")
        assert store.get(b"a") == Item(b"a", b"3", base + 5, base + 5, 1, 0)

    def test_ranges_are_half_open_and_in_order(self, store: Store) -> None:
        """A range has its start and not its end, by the bytes of the keys."""
        for key in (b"b", b"a", b"c", b"a\0", b"a\xff", b"B"):
            put(store, key)
        assert keys_of(store) == [b"B", b"a", b"a\0", b"a\xff", b"b", b"c"]
        assert keys_of(store, Range(b"a", b"b")) == [b"a", b"a\0", b"a\xff"]
        assert keys_of(store, Range(b"b", None)) == [b"b", b"c"]
        assert keys_of(store, Range.prefix(b"a\xff")) == [b"a\xff"]
        assert keys_of(store, Range(b"c", b"a")) == []
        assert keys_of(store, b"a") == [b"a"]

    def test_a_range_bears_the_revision_it_is_of(self, store: Store) -> None:
        """What is read now bears the store's revision, of the past the one asked for."""
        put(store, b"a", b"1")
        second = put(store, b"b", b"2")
        last = put(store, b"a", b"3")
        assert store.range(b"none").revision == last
        then = store.range(ALL, second)
        assert then.revision == second
        assert [item.value for item in then.items] == [b"1", b"2"]

    def test_the_past_stays(self, store: Store) -> None:
        """A read of an earlier revision tells what was there, deleted since or not."""
        base = revision_of(store)
        put(store, b"a")
        put(store, b"b")
        delete(store, b"a")
        put(store, b"a", b"again")
        told = [keys_of(store, ALL, base + at) for at in range(1, 5)]
        assert told == [[b"a"], [b"a", b"b"], [b"b"], [b"a", b"b"]]
        assert store.range(b"a", base + 4).item.version == 1
        assert store.range(b"a", base + 3).item is None

    def test_the_future_is_refused(self, store: Store) -> None:
        """A revision that the store has not reached cannot be read."""
        base = revision_of(store)
        with pytest.raises(InvalidRequest, match=f"the store has reached {base}"):
            store.range(ALL, base + 1)

    @pytest.mark.parametrize(("field", "relation", "number", "holds"), NUMBERS)
    def test_compares_of_numbers(
        self, store: Store, field: Field, relation: Relation, number: int, holds: bool
    ) -> None:
        """Version and both revisions are compared as whole numbers."""
        base = 0 if field is Field.VERSION else revision_of(store)
        put(store, b"a", b"k")
        put(store, b"a", b"m")
        assert decides(store, Compare(b"a", field, relation, base + number)) is holds

    @pytest.mark.parametrize(("relation", "value", "holds"), VALUES)
    def test_compares_of_values(
        self, store: Store, relation: Relation, value: bytes, holds: bool
    ) -> None:
        """Values are compared byte by byte."""
        put(store, b"a", b"m")
        assert decides(store, Compare(b"a", Field.VALUE, relation, value)) is holds

    @pytest.mark.parametrize("where", [b"a", Range.prefix(b"a")])
    def test_compares_of_what_is_not_there(
        self, store: Store, where: bytes | Range
    ) -> None:
        """A missing key has version and revisions 0, and a value that nothing equals."""
        put(store, b"b")
        for field in (Field.VERSION, Field.CREATE, Field.MOD):
            assert decides(store, Compare(where, field, EQUAL, 0))
            assert decides(store, Compare(where, field, LESS, 1))
            assert not decides(store, Compare(where, field, GREATER, 0))
            assert not decides(store, Compare(where, field, NOT_EQUAL, 0))
        for relation in Relation:
            assert not decides(store, Compare(where, Field.VALUE, relation, b""))

    def test_a_deleted_key_is_not_there(self, store: Store) -> None:
        """Deleted and never made compare alike."""
        base = put(store, b"a")
        delete(store, b"a")
        assert decides(store, absent(b"a"))
        assert not decides(store, present(b"a"))
        assert not decides(store, modified_at(b"a", base))

    def test_a_range_compare_speaks_of_every_key(self, store: Store) -> None:
        """One key in the range that breaks the rule breaks the compare."""
        family = Range.prefix(b"alloc/0/")
        assert decides(store, absent(family))
        put(store, b"alloc/0", b"x")
        put(store, b"alloc/00", b"x")
        assert decides(store, absent(family))
        first = put(store, b"alloc/0/1", b"x")
        put(store, b"alloc/0/2", b"x")
        assert not decides(store, absent(family))
        assert decides(store, present(family))
        assert decides(store, value_is(family, b"x"))
        assert not decides(store, created_at(family, first))
        put(store, b"alloc/0/2", b"y")
        assert not decides(store, value_is(family, b"x"))
        assert decides(store, Compare(family, Field.VERSION, LESS, 3))
        assert not decides(store, version_is(family, 1))

    def test_every_compare_must_hold(self, store: Store) -> None:
        """One that fails, wherever it stands, sends the transaction the other way."""
        put(store, b"a", b"1")
        yes, no = value_is(b"a", b"1"), value_is(b"a", b"2")
        assert decides(store, yes, yes)
        assert decides(store)
        assert not decides(store, no, yes)
        assert not decides(store, yes, no)

    def test_each_branch_does_all_and_the_other_nothing(self, store: Store) -> None:
        """Puts, deletions and reads are done in both branches, by what the compares say."""
        put(store, b"old", b"1")
        then = [Put(b"a", b"x"), Delete(b"old"), Read(b"a")]
        other = [Put(b"b", b"y"), Read(ALL), Delete(b"a")]
        base = revision_of(store)
        won = store.transaction([absent(b"a")], then, other)
        assert (won.succeeded, won.revision) == (True, base + 1)
        assert [answer.deleted for answer in won.responses] == [0, 1, 0]
        assert won.responses[2].item == Item(b"a", b"x", base + 1, base + 1, 1, 0)
        lost = store.transaction([absent(b"a")], then, other)
        assert (lost.succeeded, lost.revision) == (False, base + 2)
        assert [item.key for item in lost.responses[1].items] == [b"a", b"b"]
        assert lost.responses[2].deleted == 1
        assert keys_of(store) == [b"b"]

    def test_what_changes_nothing_is_no_revision(self, store: Store) -> None:
        """Reads, and deletions that find nothing, leave the revision as it is."""
        base = put(store, b"a")
        empty = store.transaction([], [])
        assert (empty.succeeded, empty.revision, empty.responses) == (True, base, ())
        assert store.transaction([], [Read(b"a")]).revision == base
        assert store.transaction([], [Delete(b"b")]).revision == base
        assert store.transaction([absent(b"a")], [Put(b"b", b"")]).revision == base
        assert put(store, b"a") == base + 1

    def test_all_changes_bear_one_revision(self, store: Store) -> None:
        """However many keys a transaction writes, it is one revision."""
        operations = [Put(b"a%d" % at, b"") for at in range(10)]
        base = revision_of(store)
        assert store.transaction([], operations).revision == base + 1
        assert {item.mod_revision for item in store.range(ALL).items} == {base + 1}
        assert store.transaction([], [Delete(ALL)]).revision == base + 2

    def test_reads_see_what_was_written_before_them(self, store: Store) -> None:
        """Within a list, a read comes after the operations before it and no others."""
        put(store, b"a", b"old")
        answer = store.transaction(
            [], [Read(b"a"), Put(b"a", b"new"), Read(b"a"), Put(b"b", b""), Read(b"b")]
        )
        values = [
            response.item and response.item.value for response in answer.responses
        ]
        assert values == [b"old", None, b"new", None, b""]

    def test_deletions_see_what_was_deleted_before(self, store: Store) -> None:
        """A key is deleted, and counted, once."""
        put(store, b"a")
        put(store, b"b")
        answer = store.transaction([], [Delete(b"a"), Delete(ALL)])
        assert [one.deleted for one in answer.responses] == [1, 1]

    def test_a_refused_transaction_leaves_all_as_it_was(self, store: Store) -> None:
        """A put with a lease that is none is refused with all that stands before it."""
        base = put(store, b"a", b"1")
        with pytest.raises(UnknownLease):
            store.transaction([], [Put(b"a", b"2"), Delete(b"a1"), Put(b"b", b"", 999)])
        assert store.range(ALL) == (base, (Item(b"a", b"1", base, base, 1, 0),))

    def test_leases_of_the_other_branch_do_not_matter(self, store: Store) -> None:
        """Only the branch that is taken needs its leases."""
        wrong = [Put(b"b", b"", 999)]
        assert (
            store.transaction([present(b"a")], wrong, [Put(b"a", b"")]).succeeded
            is False
        )
        assert keys_of(store) == [b"a"]

    def test_empty_and_odd_bytes_are_kept(self, store: Store) -> None:
        """Keys and values are bytes, whatever they are."""
        odd = bytes(range(256))
        put(store, b"\0", b"")
        put(store, odd, odd)
        put(store, b"\xff\xff", b"\0")
        found = {item.key: item.value for item in store.range(ALL).items}
        assert found == {b"\0": b"", odd: odd, b"\xff\xff": b"\0"}

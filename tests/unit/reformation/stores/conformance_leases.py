"""What every store's leases must do; see ``conformance``."""

from __future__ import annotations

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import (
    Put,
    Store,
    UnknownLease,
    VirtualClock,
    absent,
    present,
)
from tests.unit.reformation.stores.asking import (
    ALL,
    DELETED,
    PUT,
    decides,
    delete,
    keys_of,
    put,
    revision_of,
    told,
)


class Leases:
    """Leases: keys that end with them."""

    def test_numbers_of_numpy_are_numbers(self, store: Store) -> None:
        """A lease's number may come from an array."""
        number = np.int64(store.grant(5.0).number)
        assert store.keep_alive(number) == 5.0
        assert store.transaction([], [Put(b"k", b"", number)]).succeeded
        assert store.get(b"k").lease == number
        store.revoke(number)
        assert store.get(b"k") is None

    def test_leases_have_numbers_of_their_own(self, store: Store) -> None:
        """No lease is 0 or like another, and each has the seconds asked for."""
        leases = [store.grant(5.0) for _ in range(3)]
        store.revoke(leases[2].number)
        leases.append(store.grant(7.5))
        assert len({lease.number for lease in leases} | {0}) == 5
        assert [lease.ttl_s >= 5 for lease in leases] == [True] * 4

    def test_granting_is_no_revision(self, store: Store) -> None:
        """Neither is keeping alive, nor the end of a lease without keys."""
        base = revision_of(store)
        lease = store.grant(5.0).number
        store.keep_alive(lease)
        store.revoke(lease)
        assert revision_of(store) == base

    def test_keys_end_with_their_lease(self, store: Store, clock: VirtualClock) -> None:
        """At its end the keys are gone, all at one revision; others stay."""
        lease = store.grant(10.0)
        put(store, b"b", b"", lease.number)
        put(store, b"a", b"", lease.number)
        base = put(store, b"c")
        assert store.get(b"a").lease == lease.number
        watch = store.watch(ALL)
        clock.advance(lease.ttl_s - 0.25)
        assert keys_of(store) == [b"a", b"b", b"c"]
        clock.advance(0.25)
        assert keys_of(store) == [b"c"]
        assert told(watch.poll(), base) == [(DELETED, b"a", 1), (DELETED, b"b", 1)]

    def test_a_compare_sees_that_a_lease_is_over(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """A claim that needs a heartbeat is refused once its time is over."""
        put(store, b"heartbeat/h", b"", store.grant(10.0).number)
        assert decides(store, present(b"heartbeat/h"))
        clock.advance(10.0)
        claim = store.transaction([present(b"heartbeat/h")], [Put(b"alloc", b"")])
        assert not claim.succeeded
        assert keys_of(store) == []

    def test_a_watch_alone_sees_that_a_lease_is_over(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """Who only polls is told; nobody needs to touch the store first."""
        base = put(store, b"a", b"", store.grant(10.0).number)
        watch = store.watch(ALL)
        clock.advance(10.0)
        assert told(watch.poll(), base) == [(DELETED, b"a", 1)]

    def test_a_lease_kept_alive_goes_on(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """Each keep-alive starts its seconds anew, from then on."""
        lease = store.grant(10.0)
        put(store, b"a", b"", lease.number)
        for _ in range(3):
            clock.advance(9.0)
            assert store.keep_alive(lease.number) == lease.ttl_s
        clock.advance(9.5)
        assert keys_of(store) == [b"a"]
        clock.advance(0.5)
        assert keys_of(store) == []

    def test_a_lease_that_is_over_cannot_be_kept_alive(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """Nor revoked, nor put with: it ended when its time did."""
        lease = store.grant(10.0).number
        clock.advance(10.0)
        for call in (store.keep_alive, store.revoke):
            with pytest.raises(UnknownLease, match=f"lease {lease}"):
                call(lease)
        with pytest.raises(UnknownLease):
            put(store, b"a", b"", lease)

    def test_leases_end_in_the_order_of_their_ends(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """Found over together, each is a revision, the first to end first."""
        late, soon = store.grant(20.0).number, store.grant(10.0).number
        put(store, b"late", b"", late)
        base = put(store, b"soon", b"", soon)
        watch = store.watch(ALL)
        clock.advance(30.0)
        assert told(watch.poll(), base) == [
            (DELETED, b"soon", 1),
            (DELETED, b"late", 2),
        ]

    def test_a_put_gives_a_key_another_lease(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """A key ends with the lease it was last put with; without one it stays."""
        first, second = store.grant(10.0).number, store.grant(20.0).number
        for key in (b"moved", b"freed"):
            put(store, key, b"", first)
        put(store, b"moved", b"", second)
        put(store, b"freed")
        clock.advance(10.0)
        assert keys_of(store) == [b"freed", b"moved"]
        clock.advance(10.0)
        assert keys_of(store) == [b"freed"]

    def test_a_key_made_anew_has_no_lease_of_old(
        self, store: Store, clock: VirtualClock
    ) -> None:
        """A lease takes no key that was deleted and made again without it."""
        lease = store.grant(10.0).number
        put(store, b"a", b"", lease)
        delete(store, b"a")
        put(store, b"a", b"new")
        clock.advance(10.0)
        assert store.get(b"a").value == b"new"

    def test_revoking_ends_keys_at_once(self, store: Store) -> None:
        """A revoked lease takes its keys, at one revision, and is gone."""
        lease, other = store.grant(10.0).number, store.grant(10.0).number
        put(store, b"a", b"", lease)
        put(store, b"b", b"", lease)
        base = put(store, b"c", b"", other)
        store.revoke(lease)
        assert store.range(ALL).revision == base + 1
        assert keys_of(store) == [b"c"]
        with pytest.raises(UnknownLease):
            store.revoke(lease)

    def test_many_leases_end_at_once(self, store: Store, clock: VirtualClock) -> None:
        """Mass expiry takes every key and nothing else."""
        for at in range(20):
            put(store, b"heartbeat/%02d" % at, b"", store.grant(10.0).number)
        put(store, b"epoch/a")
        base = revision_of(store)
        clock.advance(10.0)
        assert decides(store, absent(b"heartbeat/07"))
        assert keys_of(store) == [b"epoch/a"]
        assert revision_of(store) == base + 20

    def test_the_past_of_a_lease_stays(self, store: Store, clock: VirtualClock) -> None:
        """A read of before its end still tells the key and the lease."""
        lease = store.grant(10.0).number
        base = put(store, b"a", b"", lease)
        watch = store.watch(ALL, base)
        clock.advance(10.0)
        assert keys_of(store) == []
        assert store.range(b"a", base).item.lease == lease
        assert told(watch.poll(), base) == [(PUT, b"a", 0), (DELETED, b"a", 1)]

    @pytest.mark.parametrize("ttl_s", [0, -1, float("nan"), float("inf"), "5", True])
    def test_a_lease_needs_seconds(self, store: Store, ttl_s: object) -> None:
        """Seconds are a finite number above 0."""
        with pytest.raises(InvalidRequest, match="ttl_s is"):
            store.grant(ttl_s)  # type: ignore[arg-type]

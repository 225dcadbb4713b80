"""``FaultyStore``: a store with faults on command, listed or drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores.answers import (
    Change,
    Item,
    Items,
    Lease,
    TransactionResult,
)
from phalanx_core.reformation.stores.errors import (
    Ambiguous,
    Compacted,
    StoreError,
    Unavailable,
    UnknownLease,
)
from phalanx_core.reformation.stores.operations import Compare, Operation, Where
from phalanx_core.reformation.stores.protocol import Store, Watch
from phalanx_core.reformation.stores.requests import (
    Limits,
    check_key,
    check_lease,
    check_revision,
    check_transaction,
    check_ttl,
    check_where,
)
from phalanx_core.reformation.stores.scripts import Fault, FaultKind, Script, fits

Answer = TypeVar("Answer")
ANY = b"\0"  # a key that nobody reads, asked for its answer's revision


class Happening(NamedTuple):
    """What a faulty store did beside what it was asked.

    Attributes
    ----------
    call
        Number of the call, from 0; of something done by hand, of the next call.
    method
        The call, or "by hand".
    what
        One phrase.
    """

    call: int
    method: str
    what: str


class _Sent(NamedTuple):
    """A request under way, and the number of the call before which it arrives."""

    due: int
    what: str
    request: Callable[[], object]


class FaultyStore:
    """A :class:`~phalanx_core.reformation.stores.protocol.Store` that fails as it is told.

    Parameters
    ----------
    store
        The one that is asked; several faulty stores, each the link of one engine, may
        share it.
    script
        From a call's number and method to its fault, or None. See
        :class:`~phalanx_core.reformation.stores.scripts.Listed` and
        :class:`~phalanx_core.reformation.stores.scripts.Seeded`.

    Attributes
    ----------
    calls
        Calls so far: every method but ``close``, and polls of watches.
    log
        What was done beside the calls, in order; equal for equal scripts and calls.

    Raises
    ------
    InvalidRequest
        From a call, if its listed fault is none of its method; nothing was applied.

    Notes
    -----
    A wrong argument is refused before any fault. Leases are ended and restarted by
    number: those that were granted through this object.

    Examples
    --------
    The commit is applied and its answer lost; the record tells whose it is:

    >>> from phalanx_core.reformation.stores import *
    >>> script = Listed({0: Fault(FaultKind.LOSE_ANSWER)})
    >>> store = FaultyStore(MemoryStore(VirtualClock()), script)
    >>> try:
    ...     _ = store.transaction([absent(b"epoch/a")], [Put(b"epoch/a", b"nonce 7")])
    ... except Ambiguous:
    ...     print(store.get(b"epoch/a").value)
    b'nonce 7'
    >>> store.log
    [Happening(call=0, method='transaction', what='answer lost')]
    """

    def __init__(self, store: Store, script: Script | None = None) -> None:
        self.calls = 0
        self.log: list[Happening] = []
        self._store = store
        self._script = script
        self._under_way: list[_Sent] = []
        self._leases: dict[int, None] = {}

    @property
    def limits(self) -> Limits:
        """See :attr:`Store.limits`."""
        return self._store.limits

    def get(self, key: bytes) -> Item | None:
        """See :meth:`Store.get`."""
        check_key(key)
        return self._read("get", key, 0).item

    def range(self, where: Where, revision: int = 0) -> Items:
        """See :meth:`Store.range`."""
        check_where(where)
        check_revision(revision)
        return self._read("range", where, revision)

    def transaction(
        self,
        compares: Sequence[Compare],
        then: Sequence[Operation],
        otherwise: Sequence[Operation] = (),
    ) -> TransactionResult:
        """See :meth:`Store.transaction`."""
        check_transaction(compares, then, otherwise, self.limits)
        # What is under way is not changed by who sent it.
        lists = tuple(compares), tuple(then), tuple(otherwise)
        return self._write("transaction", partial(self._store.transaction, *lists))

    def grant(self, ttl_s: float) -> Lease:
        """See :meth:`Store.grant`."""
        check_ttl(ttl_s)
        return self._write("grant", partial(self._granted, ttl_s))

    def keep_alive(self, lease: int) -> float:
        """See :meth:`Store.keep_alive`."""
        check_lease(lease)
        return self._write("keep_alive", partial(self._store.keep_alive, lease))

    def revoke(self, lease: int) -> None:
        """See :meth:`Store.revoke`."""
        check_lease(lease)
        self._write("revoke", partial(self._store.revoke, lease))
        self._leases.pop(lease, None)

    def watch(self, where: Where, revision: int = 0) -> FaultyWatch:
        """See :meth:`Store.watch`."""
        check_where(where)
        check_revision(revision)
        self._fault("watch")
        return FaultyWatch(self, self._store.watch(where, revision))

    def compact(self, revision: int) -> None:
        """See :meth:`Store.compact`."""
        check_revision(revision)
        self._write("compact", partial(self._store.compact, revision))

    def close(self) -> None:
        """See :meth:`Store.close`; what is under way is lost."""
        self._under_way.clear()
        self._store.close()

    def deliver(self, count: int | None = None) -> int:
        """Let requests that are under way arrive now, the first to be due first.

        Parameters
        ----------
        count
            How many at most; None = all.

        Returns
        -------
        How many did.
        """
        ready = sorted(self._under_way, key=lambda sent: sent.due)[:count]
        for sent in ready:
            self._arrive(sent, "by hand")
        return len(ready)

    def lose(self) -> int:
        """Forget requests that are under way; how many there were."""
        lost = len(self._under_way)
        for sent in self._under_way:
            self._note("by hand", f"{sent.what} never arrives")
        self._under_way.clear()
        return lost

    def expire(self, lease: int) -> None:
        """End a lease as if its time were over."""
        self._expire("by hand", lease)

    def expire_all(self) -> None:
        """End every lease, as after a store's overload."""
        for lease in list(self._leases):
            self._expire("by hand", lease)

    def change_leader(self, *, applied: bool) -> None:
        """Another server leads: leases start anew, and what is under way arrives or not.

        Parameters
        ----------
        applied
            Whether requests that are under way arrive.
        """
        self._change_leader("by hand", applied)

    def _granted(self, ttl_s: float) -> Lease:
        lease = self._store.grant(ttl_s)
        self._leases[lease.number] = None
        return lease

    def _note(self, method: str, what: str) -> None:
        call = self.calls if method == "by hand" else self.calls - 1
        self.log.append(Happening(call, method, what))

    def _arrive(self, sent: _Sent, method: str) -> None:
        self._under_way.remove(sent)
        try:
            sent.request()
            self._note(method, f"{sent.what} arrives")
        except (StoreError, InvalidRequest) as error:
            self._note(method, f"{sent.what} arrives: {type(error).__name__}")

    def _expire(self, method: str, lease: int) -> None:
        self._leases.pop(lease, None)
        try:
            self._store.revoke(lease)
            self._note(method, f"lease {lease} expires")
        except UnknownLease:
            self._note(method, f"lease {lease} had ended")

    def _change_leader(self, method: str, applied: bool) -> None:
        self._note(method, "another leader")
        for sent in sorted(self._under_way, key=lambda sent: sent.due):
            if applied:
                self._arrive(sent, method)
            else:
                self._note(method, f"{sent.what} never arrives")
        self._under_way.clear()
        for lease in list(self._leases):
            try:
                self._store.keep_alive(lease)
            except UnknownLease:
                del self._leases[lease]

    def _fault(self, method: str) -> Fault | None:
        """Count a call, do what comes before it, and return what is left to its method."""
        call = self.calls
        fault = self._script(call, method) if self._script else None
        if fault and not fits(fault.kind, method):
            raise InvalidRequest(
                f"fault of call {call}: {fault.kind} is none of {method}"
            )
        self.calls += 1
        if self._under_way:
            due = [sent for sent in self._under_way if sent.due <= call]
            for sent in sorted(due, key=lambda sent: sent.due):
                self._arrive(sent, method)
        if fault is None:
            return None
        if fault.kind is FaultKind.REFUSE:
            self._note(method, "refused")
            raise Unavailable("the store cannot be reached")
        if fault.kind is FaultKind.COMPACT:
            self._compact(method)
            return None
        if fault.kind is FaultKind.EXPIRE:
            if leases := list(self._leases):
                self._expire(method, leases[fault.amount % len(leases)])
            return None
        if fault.kind is FaultKind.EXPIRE_ALL:
            for lease in list(self._leases):
                self._expire(method, lease)
            return None
        return fault

    def _compact(self, method: str) -> None:
        revision = self._store.range(ANY).revision
        try:
            self._store.compact(revision)
            self._note(method, f"compacted to {revision}")
        except Compacted:
            self._note(method, f"was compacted to {revision}")

    def _write(self, method: str, request: Callable[[], Answer]) -> Answer:
        """Send a request that may change something, with the call's fault."""
        fault = self._fault(method)
        if fault is None:
            return request()
        what, kind = f"{method} of call {self.calls - 1}", fault.kind
        sent = _Sent(self.calls + fault.amount, what, request)
        if kind is FaultKind.DUPLICATE:
            answer = request()
            self._under_way.append(sent)
            self._note(method, "sent twice")
            return answer
        if kind is FaultKind.LOSE_ANSWER:
            # An error is an answer too, and lost as well.
            with suppress(StoreError):
                request()
            self._note(method, "answer lost")
        elif kind is FaultKind.LOSE_REQUEST:
            self._note(method, "request lost")
        elif kind is FaultKind.DELAY:
            self._under_way.append(sent)
            self._note(method, f"delayed by {fault.amount} calls")
        else:
            self._under_way.append(sent)
            self._change_leader(method, kind is FaultKind.LEADER_APPLIES)
        raise Ambiguous(f"no answer to {what}")

    def _read(self, method: str, where: Where, revision: int) -> Items:
        fault = self._fault(method)
        if fault is None:
            return self._store.range(where, revision)
        if fault.kind is not FaultKind.STALE:
            self._change_leader(method, fault.kind is FaultKind.LEADER_APPLIES)
            raise Unavailable("another leader while it was read")
        now = self._store.range(where, revision)
        if revision:
            return now
        older = max(1, now.revision - fault.amount)
        try:
            answer = self._store.range(where, older)
        except Compacted as error:
            answer = self._store.range(where, error.revision)
        self._note(method, f"read at {answer.revision} instead of {now.revision}")
        return answer


class FaultyWatch:
    """A watch through a :class:`FaultyStore`: it may break, skip or repeat."""

    def __init__(self, store: FaultyStore, watch: Watch) -> None:
        self._store = store
        self._watch = watch
        self._broken = False

    @property
    def revision(self) -> int:
        """See :attr:`Watch.revision`."""
        return self._watch.revision

    def poll(self, wait_s: float = 0.0) -> tuple[Change, ...]:
        """See :meth:`Watch.poll`."""
        if self._broken:
            raise Unavailable("the watch is broken: make another from its revision")
        fault = self._store._fault("poll")
        kind = fault.kind if fault else None
        if kind is FaultKind.BREAK:
            self._broken = True
            self._store._note("poll", f"broken at {self.revision}")
            raise Unavailable("the watch is broken: make another from its revision")
        if kind in (FaultKind.LEADER_APPLIES, FaultKind.LEADER_LOSES):
            self._store._change_leader("poll", kind is FaultKind.LEADER_APPLIES)
        found = self._watch.poll(wait_s)
        if kind is FaultKind.SKIP:
            self._store._note("poll", f"{len(found)} changes skipped")
            return ()
        if kind is FaultKind.REPEAT:
            self._store._note("poll", f"{len(found)} changes repeated")
            return found + found
        return found

    def close(self) -> None:
        """See :meth:`Watch.close`."""
        self._watch.close()

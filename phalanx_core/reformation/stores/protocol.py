"""``Store``: what the protocol needs of a linearizable store, shaped as etcd v3 is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from phalanx_core.reformation.stores.answers import (
    Change,
    Item,
    Items,
    Lease,
    TransactionResult,
)
from phalanx_core.reformation.stores.operations import Compare, Operation, Where
from phalanx_core.reformation.stores.requests import Limits


@runtime_checkable
class Watch(Protocol):
    """Changes of some keys, whole revisions in order, each once."""

    @property
    def revision(self) -> int:
        """Every change below it was handed out; a new watch from it resumes this one."""
        ...

    def poll(self, wait_s: float = 0.0) -> tuple[Change, ...]:
        """Changes since the last poll; empty where there is none.

        Parameters
        ----------
        wait_s
            Seconds to wait for the first one. A store of virtual time never waits.

        Raises
        ------
        Compacted
            If changes were compacted before they were handed out; the watch has ended.
        Unavailable
            If the store is out of reach; make a new watch from :attr:`revision`.
        """
        ...

    def close(self) -> None:
        """End it; a later poll raises Unavailable."""
        ...


@runtime_checkable
class Store(Protocol):
    """A linearizable store of keys in order, with revisions.

    Every transaction that changes something is one revision. A store starts at revision
    1. Nothing is ever sent again by the store itself: a request that raises
    :class:`~phalanx_core.reformation.stores.errors.Ambiguous` is its caller's to resolve.

    Raises
    ------
    InvalidRequest
        From every method, if an argument breaks a rule or a limit; nothing was applied.
    Unavailable
        From every method: nothing was applied.
    Ambiguous
        From every method that writes: it may have been applied, or may be later.
    """

    @property
    def limits(self) -> Limits:
        """The most that one request may hold."""
        ...

    def get(self, key: bytes) -> Item | None:
        """The key now, None where there is none (linearizable)."""
        ...

    def range(self, where: Where, revision: int = 0) -> Items:
        """Every key of a range, or one key, at one revision.

        Parameters
        ----------
        where
            A key or a range.
        revision
            Of the past; 0 = now (linearizable).

        Raises
        ------
        Compacted
            If that revision is no longer kept.
        """
        ...

    def transaction(
        self,
        compares: Sequence[Compare],
        then: Sequence[Operation],
        otherwise: Sequence[Operation] = (),
    ) -> TransactionResult:
        """Apply one of two lists of operations, all at one revision.

        Parameters
        ----------
        compares
            Conditions, all of which must hold for ``then``; without any it is applied.
        then, otherwise
            Operations in order; a list writes no key twice.

        Raises
        ------
        UnknownLease
            If the branch puts with a lease that has ended; nothing was applied.
        """
        ...

    def grant(self, ttl_s: float) -> Lease:
        """A new lease of at least so many seconds."""
        ...

    def keep_alive(self, lease: int) -> float:
        """Start the lease's seconds anew; how many it has.

        Raises
        ------
        UnknownLease
            If it has ended.
        """
        ...

    def revoke(self, lease: int) -> None:
        """End a lease now: its keys are deleted, all at one revision.

        Raises
        ------
        UnknownLease
            If it has ended already.
        """
        ...

    def watch(self, where: Where, revision: int = 0) -> Watch:
        """Changes of a key or a range.

        Parameters
        ----------
        where
            A key or a range.
        revision
            The first one told, also one to come; 0 = the next.

        Raises
        ------
        Compacted
            If that revision is no longer kept.
        """
        ...

    def compact(self, revision: int) -> None:
        """Forget what was before a revision; it can still be read and watched from.

        Raises
        ------
        Compacted
            If that was done already, up to here or further.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections; later calls raise Unavailable."""
        ...

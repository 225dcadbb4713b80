"""Errors of stores: each says whether the request may have been applied."""

from __future__ import annotations

from phalanx_core.errors import PhalanxError


class StoreError(PhalanxError):
    """Base of what a store answers instead of a result."""


class Unavailable(StoreError):
    """The store did not take the request: nothing of it was or will be applied."""


class Ambiguous(StoreError):
    """The answer was lost: the request was applied, or not, or will be later.

    Who gets it reads the records back before doing anything else; a nonce in what was
    written tells its own write from another's.
    """


class UnknownLease(StoreError):
    """The lease has expired, was revoked, or was never granted; nothing was applied."""


class Compacted(StoreError):
    """The revision asked for is no longer kept; read all, then watch from there.

    Parameters
    ----------
    asked
        The revision that was asked for.
    revision
        The oldest one that can still be read, and watched from.

    Examples
    --------
    >>> print(Compacted(3, 9))
    revision 3 is compacted: the oldest kept is 9
    """

    def __init__(self, asked: int, revision: int) -> None:
        super().__init__(
            f"revision {asked} is compacted: the oldest kept is {revision}"
        )
        self.asked = asked
        self.revision = revision

    def __reduce__(self) -> tuple[type[Compacted], tuple[int, int]]:
        return Compacted, (self.asked, self.revision)

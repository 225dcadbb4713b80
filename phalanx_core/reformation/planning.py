"""``RepairPlanner``: what the engine asks of whoever knows where a gang fits."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.records import Cause, leaves_of


class Ask(NamedTuple):
    """A job that needs leaves.

    Attributes
    ----------
    job
        Its name.
    cause
        Why it needs them.
    request
        What it wants; a text that the embedder wrote and the planner reads.
    ranks
        Leaves of its ranks as they were last, in order; empty for a new job.
    must, may
        Masks: leaves that the proposal has to have, and those that it may have besides.
    """

    job: str
    cause: Cause
    request: str
    ranks: tuple[int, ...]
    must: int
    may: int

    @property
    def lost(self) -> tuple[int, ...]:
        """Ranks whose leaf it may not keep.

        Examples
        --------
        >>> Ask("a", Cause.REPAIR, "3", (4, 5, 6), must=0b1010000, may=1).lost
        (1,)
        """
        usable = self.must | self.may
        ranks = enumerate(self.ranks)
        return tuple(rank for rank, leaf in ranks if not usable >> leaf & 1)


class Proposal(NamedTuple):
    """Leaves for a job.

    Attributes
    ----------
    ranks
        The leaf of each rank, in order.
    request
        What is wanted from now on: that of the ask, or a smaller one after a shrink.
    """

    ranks: tuple[int, ...]
    request: str


class RepairPlanner(Protocol):
    """Proposes leaves; it decides nothing, and may be wrong: the commit tells."""

    def propose(self, ask: Ask) -> Proposal | str | None:
        """Leaves for a job; None if it has to wait, or why it has to, in a sentence.

        A proposal that breaks ``must`` and ``may`` is refused, so the job waits; so it
        does if this raises InvalidRequest.
        """
        ...


def mask_of(ranks: tuple[int, ...]) -> int:
    """Mask of ranks' leaves.

    Raises
    ------
    InvalidRequest
        If two ranks have one leaf.

    Examples
    --------
    >>> bin(mask_of((4, 0)))
    '0b10001'
    """
    mask = 0
    for leaf in ranks:
        if mask >> leaf & 1:
            raise InvalidRequest(f"ranks: two have leaf {leaf}")
        mask |= 1 << leaf
    return mask


def _number(request: str) -> int:
    try:
        wanted = int(request)
    except ValueError:
        wanted = 0
    if wanted < 1:
        raise InvalidRequest(f"request {request!r}: a number of leaves from 1")
    return wanted


class FirstFree:
    """The simplest planner: a request is a number of leaves, and the first free ones do.

    Ranks keep their leaves where they can.

    Parameters
    ----------
    shrink
        Whether a repair that finds too few leaves goes on with those that there are.

    Examples
    --------
    >>> ask = Ask("a", Cause.REPAIR, "3", (4, 5, 6), must=0b1010000, may=0b10)
    >>> FirstFree().propose(ask)
    Proposal(ranks=(4, 1, 6), request='3')
    >>> FirstFree().propose(ask._replace(may=0))
    'wants 3 leaves, and there are 2 for it'
    >>> FirstFree(shrink=True).propose(ask._replace(may=0))
    Proposal(ranks=(4, 6), request='3')
    """

    def __init__(self, *, shrink: bool = False) -> None:
        self.shrink = shrink

    def propose(self, ask: Ask) -> Proposal | str:
        """See :meth:`RepairPlanner.propose`."""
        # A drain leaves leaves behind that it might keep, and changes no size.
        draining = ask.cause == Cause.DRAIN
        usable = ask.must if draining else ask.must | ask.may
        wanted = len(ask.ranks) if draining else _number(ask.request)
        # One more than there are is as good as any number of them.
        there = (ask.must | ask.may).bit_count()
        wanted = min(wanted, len(ask.ranks) + there + 1)
        ranks = ask.ranks[:wanted]
        kept = [leaf if usable >> leaf & 1 else -1 for leaf in ranks]
        kept += [-1] * (wanted - len(kept))
        left = ask.must | ask.may
        for leaf in kept:
            if leaf >= 0:
                left &= ~(1 << leaf)
        spare = iter(leaves_of(left))
        ranks = tuple(leaf if leaf >= 0 else next(spare, -1) for leaf in kept)
        if -1 in ranks:
            ranks = tuple(leaf for leaf in ranks if leaf >= 0)
            if not ranks or not self.shrink or ask.cause != Cause.REPAIR:
                return f"wants {ask.request:.40} leaves, and there are {there} for it"
        return Proposal(ranks, ask.request)

"""Scripts of a ``FaultyStore``: which call meets which fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from random import Random
from typing import NamedTuple, TypeAlias

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest


class FaultKind(Enum):
    """What can happen to a call, and to whose.

    ``amount`` of the :class:`Fault` is named where a kind uses it.
    """

    REFUSE = "refuse"
    """Any call: it raises Unavailable; nothing is applied."""
    LOSE_REQUEST = "lose request"
    """A write: it raises Ambiguous; nothing is applied, now or later."""
    LOSE_ANSWER = "lose answer"
    """A write: it is applied and raises Ambiguous."""
    DELAY = "delay"
    """A write: it raises Ambiguous, and is applied after ``amount`` more calls."""
    DUPLICATE = "duplicate"
    """A write but grant: it is applied and answered, and once more after ``amount`` calls."""
    STALE = "stale"
    """get, range: answered as of ``amount`` revisions ago."""
    BREAK = "break"
    """poll: it raises Unavailable, and so does each later one; no change is lost."""
    SKIP = "skip"
    """poll: changes are lost without a sign, as of a faulty server."""
    REPEAT = "repeat"
    """poll: changes are told twice."""
    COMPACT = "compact"
    """Any call: before it, all revisions but the last are compacted."""
    EXPIRE = "expire"
    """Any call: before it, a lease ends: the ``amount``-th granted, counted around."""
    EXPIRE_ALL = "expire all"
    """Any call: before it, every lease ends."""
    LEADER_APPLIES = "leader applies"
    """Any call but watch: leases start anew, requests under way arrive, a write among
    them is applied and raises Ambiguous, a read raises Unavailable."""
    LEADER_LOSES = "leader loses"
    """The same, but that requests under way never arrive."""


READS = frozenset({"get", "range"})
WRITES = frozenset({"transaction", "grant", "keep_alive", "revoke", "compact"})
POLLS = frozenset({"poll"})
METHODS = READS | WRITES | POLLS | {"watch"}
# Of each kind, the methods that it may happen to.
FITTING = {
    FaultKind.LOSE_REQUEST: WRITES,
    FaultKind.LOSE_ANSWER: WRITES,
    FaultKind.DELAY: WRITES,
    FaultKind.DUPLICATE: WRITES - {"grant"},
    FaultKind.STALE: READS,
    FaultKind.BREAK: POLLS,
    FaultKind.SKIP: POLLS,
    FaultKind.REPEAT: POLLS,
    FaultKind.LEADER_APPLIES: METHODS - {"watch"},
    FaultKind.LEADER_LOSES: METHODS - {"watch"},
}


class Fault(NamedTuple):
    """One fault.

    Attributes
    ----------
    kind
        What happens.
    amount
        Calls, revisions or a place, as the kind says; at least 0.
    """

    kind: FaultKind
    amount: int = 0


Script: TypeAlias = Callable[[int, str], Fault | None]


def fits(kind: FaultKind, method: str) -> bool:
    """Whether a kind of fault can happen to a method of a store.

    Examples
    --------
    >>> fits(FaultKind.STALE, "get"), fits(FaultKind.STALE, "transaction")
    (True, False)
    """
    return method in FITTING.get(kind, METHODS)


class Listed:
    """Faults by the number of the call.

    Parameters
    ----------
    faults
        From calls, counted from 0, to faults.

    Raises
    ------
    InvalidRequest
        If a call is no whole number, or a fault none.

    Examples
    --------
    >>> script = Listed({2: Fault(FaultKind.REFUSE)})
    >>> script(1, "get"), script(2, "get").kind.value
    (None, 'refuse')
    """

    def __init__(self, faults: Mapping[int, Fault]) -> None:
        for call, fault in faults.items():
            if not is_whole(call):
                raise InvalidRequest(f"call {call!r}: a whole number from 0")
            if not isinstance(fault, Fault) or not is_whole(fault.amount):
                raise InvalidRequest(
                    f"faults[{call}] is {fault!r}: a Fault whose amount is at least 0"
                )
        self.faults = dict(faults)

    def __call__(self, call: int, method: str) -> Fault | None:
        """The fault of a call, None = none."""
        return self.faults.get(call)


class Seeded:
    """Faults drawn for each call, the same for the same seed and calls.

    Parameters
    ----------
    seed
        Of the draws.
    rates
        Of each kind, the share of calls that meet it, from 0; together at most 1. A kind
        that a call's method cannot meet leaves the call alone.
    amount_max
        Amounts are drawn from 0 to this.
    calls
        How many calls may meet a fault; later ones meet none. None = all.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Examples
    --------
    >>> script = Seeded(7, {FaultKind.REFUSE: 0.5}, calls=100)
    >>> drawn = [script(call, "get") for call in range(200)]
    >>> sum(fault is not None for fault in drawn[:100]), drawn[100:].count(None)
    (54, 100)
    """

    def __init__(
        self,
        seed: int,
        rates: Mapping[FaultKind, float],
        amount_max: int = 4,
        calls: int | None = None,
    ) -> None:
        for kind, rate in rates.items():
            if not isinstance(kind, FaultKind) or not is_number(rate) or rate < 0:
                raise InvalidRequest(f"rates[{kind!r}] is {rate!r}: a share from 0")
        if sum(rates.values()) > 1 + 1e-9:
            raise InvalidRequest(
                f"rates add up to {sum(rates.values())}: they may to 1 at most"
            )
        if not is_whole(amount_max):
            raise InvalidRequest(f"amount_max is {amount_max!r}: a whole number from 0")
        # In the order of the kinds, so that a caller's order changes nothing.
        self.rates = [(kind, rates[kind]) for kind in FaultKind if kind in rates]
        self.total = sum(rates.values())
        self.amount_max = amount_max
        self.calls = calls
        self._random = Random(seed)

    def __call__(self, call: int, method: str) -> Fault | None:
        """The fault of a call, None = none."""
        drawn, amount = self._random.random(), self._random.random()
        if drawn >= self.total or (self.calls is not None and call >= self.calls):
            return None
        for kind, rate in self.rates:
            if drawn < rate:
                fault = Fault(kind, int(amount * (self.amount_max + 1)))
                return fault if fits(kind, method) else None
            drawn -= rate
        return None

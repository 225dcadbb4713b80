"""``commit``: sends a prepared transaction, and finds out what became of it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from phalanx_core.errors import SaveError
from phalanx_core.reformation import codec
from phalanx_core.reformation.events import Action, Effect
from phalanx_core.reformation.preparing import Prepared
from phalanx_core.reformation.stores import (
    Ambiguous,
    Item,
    Store,
    TransactionResult,
    Unavailable,
)

RESENDS_MAX = 2
"""How often a transaction is sent again whose record is still as it was observed."""


class Fate(Enum):
    """What became of a transition."""

    APPLIED = "applied"
    """It is in the store; also if an earlier sending of the same was."""
    REFUSED = "refused"
    """The pure core did not take it; nothing was sent."""
    ABORTED = "aborted"
    """At ``revision`` a compare failed, the job's record was as it was observed, and nothing
    of this was in the store: a plan that lost a race, a host that died. A copy that the
    network made may be applied later, if all compares hold by then; observe anew."""
    STALE = "stale"
    """The job's record was moved on since it was observed: by another engine, or by an
    earlier sending of this, which the history tells apart. Observe anew."""
    UNKNOWN = "unknown"
    """The store gave no answer: it may be applied, also later. Observe anew."""


class Outcome(NamedTuple):
    """What became of a transition, and why.

    Attributes
    ----------
    fate
        See :class:`Fate`.
    action
        Which transition.
    job
        Name of the job, "" if it is of hosts.
    guard
        What refused it, "" if nothing did.
    revision
        Of the store that it was applied at, or seen not to be; 0 = not known.
    effects
        What is to be done, if it was applied.
    nonce
        Of its transaction, as the store's log has it.
    """

    fate: Fate
    action: Action
    job: str = ""
    guard: str = ""
    revision: int = 0
    effects: tuple[Effect, ...] = ()
    nonce: str = ""

    def __bool__(self) -> bool:
        """Whether it was applied."""
        return self.fate is Fate.APPLIED


def commit(store: Store, prepared: Prepared) -> Outcome:
    """Send a transaction; of an answer that is lost, read back what became of it.

    Parameters
    ----------
    store
        Where to.
    prepared
        What.

    Returns
    -------
    What became of it; never an error of the store.

    Notes
    -----
    It is sent again only if the answer was lost, the record of its job was then read, and
    was as before: with the same nonce and the same compares, so that of all sendings, late
    ones too, one is applied at most. Where no record tells (transitions of hosts), it is
    not sent again: the next observation shows what there is to do.
    """
    for _ in range(RESENDS_MAX + 1):
        try:
            result = store.transaction(
                prepared.compares, prepared.then, prepared.otherwise
            )
        except Unavailable:
            return _outcome(prepared, Fate.UNKNOWN, "unavailable")
        except Ambiguous:
            fate = _read_back(store, prepared)
            if fate is None:
                continue
            return _outcome(prepared, fate, "" if fate is Fate.APPLIED else "no_answer")
        return _answered(prepared, result)
    return _outcome(prepared, Fate.UNKNOWN, "no_answer")


def _answered(prepared: Prepared, result: TransactionResult) -> Outcome:
    revision = result.revision
    if result.succeeded:
        return _outcome(prepared, Fate.APPLIED, "", revision)
    found = result.responses[0].item if result.responses else None
    if _mine(prepared, found):
        return _outcome(prepared, Fate.APPLIED, "", revision)
    if (found.mod_revision if found else 0) != prepared.found:
        return _outcome(prepared, Fate.STALE, "record_moved", revision)
    return _outcome(prepared, Fate.ABORTED, "compare", revision)


def _read_back(store: Store, prepared: Prepared) -> Fate | None:
    """What a linearizable read tells of a lost answer; None = not applied so far."""
    if not prepared.marker:
        return Fate.UNKNOWN
    try:
        found = store.get(prepared.marker)
    except Unavailable:
        return Fate.UNKNOWN
    if _mine(prepared, found):
        return Fate.APPLIED
    if (found.mod_revision if found else 0) != prepared.found:
        return Fate.STALE
    return None


def _mine(prepared: Prepared, found: Item | None) -> bool:
    """Whether this very transaction wrote what was found at its marker."""
    if found is None:
        return False
    try:
        value = codec.unpacked(found.value, "a marker")
    except SaveError:  # of a later version, so written by another
        return False
    return bool(value.get("nonce") == prepared.facts.nonce)


def _outcome(prepared: Prepared, fate: Fate, guard: str, revision: int = 0) -> Outcome:
    event = prepared.event
    effects = prepared.effects if fate is Fate.APPLIED else ()
    facts = prepared.facts
    return Outcome(
        fate, event.action, facts.name, guard, revision, effects, facts.nonce
    )

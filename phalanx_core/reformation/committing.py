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
    detail
        Why, in a sentence, where the guard alone does not say it.
    """

    fate: Fate
    action: Action
    job: str = ""
    guard: str = ""
    revision: int = 0
    effects: tuple[Effect, ...] = ()
    nonce: str = ""
    detail: str = ""

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
    found = [response.item for response in result.responses]
    fate = _told(prepared, found[0], found[-1]) if found else None
    if fate is Fate.APPLIED:
        return _outcome(prepared, Fate.APPLIED, "", revision)
    if fate is Fate.STALE:
        return _outcome(prepared, Fate.STALE, "record_moved", revision)
    return _outcome(prepared, Fate.ABORTED, "compare", revision)


def _read_back(store: Store, prepared: Prepared) -> Fate | None:
    """What linearizable reads tell of a lost answer; None = not applied so far."""
    if not prepared.marker:
        return Fate.UNKNOWN
    try:
        # In this order: a record that is as it was then was so when the marker was read.
        marker = store.get(prepared.marker)
        return _told(prepared, marker, store.get(prepared.record))
    except Unavailable:
        return Fate.UNKNOWN


def _told(prepared: Prepared, marker: Item | None, record: Item | None) -> Fate | None:
    """What a marker and a job's record tell; None = not applied so far.

    A marker that is not there tells nothing once the record moved on: a release deletes
    what a seal or an admission wrote.
    """
    if prepared.marker and _mine(prepared, marker):
        return Fate.APPLIED
    if prepared.marker and _revision(marker) != prepared.marked:
        return Fate.STALE
    return Fate.STALE if _revision(record) != prepared.recorded else None


def _revision(item: Item | None) -> int:
    return item.mod_revision if item else 0


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

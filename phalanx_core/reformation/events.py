"""``Event``: what can happen to the records, and ``Effect``: what is to be done about it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Action(IntEnum):
    """Kinds of transitions; the specifications use the same names."""

    FAIL = 0  #: leaves lose their heartbeat
    HEAL = 1  #: leaves have one again, or join
    SUSPECT = 2  #: a verdict is passed on leaves that still live
    TRUST = 3  #: the verdict is withdrawn
    ADMIT = 4  #: a job comes, with an empty manifest of epoch 0
    DETECT = 5  #: a job is seen to have lost leaves
    PLAN = 6  #: leaves are proposed to a job that waits
    COMMIT = (
        7  #: the proposal is taken: one transaction gives, takes, and ends the epoch
    )
    ABORT = 8  #: the proposal cannot be taken any more
    CRASH = 9  #: the engine restarts, and what it proposed is forgotten
    SEAL = 10  #: a manifest of the epoch is complete
    RESTORE = 11  #: a manifest to load is chosen
    RUN = 12  #: all workers have loaded it
    DRAIN = 13  #: leaves are proposed to a running job in place of suspect ones
    RESIZE = 14  #: more or fewer leaves are proposed to a running job
    RELEASE = 15  #: a job ends
    FENCE = 16  #: nothing of an old epoch runs on these leaves any more
    LOSE = 17  #: a manifest can no longer be read


class Effect(IntEnum):
    """What an engine does when a transition was taken, in this order."""

    WRITE_ALLOC = 0  #: owners of leaves, in the transaction of the event
    WRITE_EPOCH = 1  #: the record of the job's epoch and phase, in the same
    WRITE_SEAL = 2  #: a record of a manifest, created once
    STOP = 3  #: end the workers of the token before this event
    FENCE_FREED = (
        4  #: have the agents of given-up leaves confirm that nothing runs there
    )
    START = 5  #: start workers with the new token on the leaves that are owned now
    LOAD = 6  #: have them load the manifest of ``base``


class Event(NamedTuple):
    """One thing that happens.

    Attributes
    ----------
    action
        What.
    job
        Index of the job; 0 where none is concerned.
    leaves
        Mask of leaves: those that die, heal, are suspected or fenced, or the proposal.
    epoch, uid
        Token of the sender: the epoch and the job that it believes to be current.
    manifest
        Epoch of the manifest that is restored or lost.

    Examples
    --------
    >>> Event(Action.FAIL, leaves=0b100).action.name
    'FAIL'
    """

    action: Action
    job: int = 0
    leaves: int = 0
    epoch: int = 0
    uid: int = 0
    manifest: int = 0


class Refused(NamedTuple):
    """A transition that was not taken; the records are what they were.

    Attributes
    ----------
    action
        What was wanted.
    guard
        Name of the guard that does not hold; docs/protocol.md has all of them.
    detail
        A sentence with numbers, where the name alone does not say why.
    """

    action: Action
    guard: str
    detail: str = ""


EFFECTS: tuple[tuple[Effect, ...], ...] = (
    (),
    (),
    (),
    (),
    (Effect.WRITE_EPOCH, Effect.WRITE_SEAL),
    (Effect.WRITE_EPOCH, Effect.STOP),
    (),
    (
        Effect.WRITE_ALLOC,
        Effect.WRITE_EPOCH,
        Effect.STOP,
        Effect.FENCE_FREED,
        Effect.START,
    ),
    (),
    (),
    (Effect.WRITE_SEAL,),
    (Effect.WRITE_EPOCH, Effect.LOAD),
    (Effect.WRITE_EPOCH,),
    (),
    (),
    (Effect.WRITE_ALLOC, Effect.WRITE_EPOCH, Effect.STOP, Effect.FENCE_FREED),
    (Effect.WRITE_ALLOC,),
    (),
)
"""Effects of each action, by its number. Plan, abort, crash, drain and resize have none:
what is proposed is the engine's memory, and an abort must not write (F9)."""

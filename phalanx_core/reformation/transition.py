"""``transition``: the one way in which the records change (RRP, Phalanx, Figure 2).

RRP is the Rank Reformation Protocol. :func:`step` is the hot path of the model checker;
engine and simulator call :func:`transition`, which checks the event and adds what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.reformation import leaves, lifecycle, repairs
from phalanx_core.reformation.events import EFFECTS, Action, Effect, Event, Refused
from phalanx_core.reformation.records import Records
from phalanx_core.reformation.rules import HARDENED, Rules

Handler = Callable[[Records, Event, Rules], Records | Refused]

HANDLERS: tuple[Handler, ...] = (
    leaves.fail,
    leaves.heal,
    leaves.suspect,
    leaves.trust,
    lifecycle.admit,
    repairs.detect,
    repairs.plan,
    repairs.commit,
    repairs.abort,
    repairs.crash,
    repairs.seal,
    repairs.restore,
    repairs.run,
    lifecycle.drain,
    lifecycle.resize,
    lifecycle.release,
    leaves.fence,
    lifecycle.lose,
)
"""Handler of each action, by its number."""


def step(
    records: Records,
    event: Event,
    rules: Rules = HARDENED,
    handlers: Sequence[Handler] = HANDLERS,
) -> Records | Refused:
    """Records after an event, or the guard that refuses it; the event is not checked.

    Parameters
    ----------
    records, event, rules
        As for :func:`transition`.
    handlers
        One an action; a mutant of the protocol has others.

    Notes
    -----
    O(jobs), in a few operations on integers of one bit a leaf.
    """
    return handlers[event.action](records, event, rules)


def transition(
    records: Records, event: Event, rules: Rules = HARDENED
) -> tuple[Records, tuple[Effect, ...]] | Refused:
    """Records after an event and what is to be done, or the guard that refuses it.

    Parameters
    ----------
    records
        The state.
    event
        What happens.
    rules
        :data:`HARDENED`, :data:`FIXED`, :data:`PRINTED`, or rules of your own.

    Returns
    -------
    The new records and the effects in order; or a :class:`Refused`, an ordinary outcome
    that changes nothing: two engines race, and one is late.

    Raises
    ------
    UnknownJob
        If there is no job of that index; an admission may add the next one.
    InvalidRequest
        If leaves, epoch, uid or manifest is negative.

    Notes
    -----
    O(jobs). No I/O, no clock; equal arguments give equal results.

    Examples
    --------
    A leaf of job 0 dies; the free leaf 2 is planned in its place and committed.

    >>> from phalanx_core.reformation import Action, Event, started
    >>> records = started([0b011], leaves=3)
    >>> for event in (
    ...     Event(Action.FAIL, leaves=0b001),
    ...     Event(Action.DETECT),
    ...     Event(Action.PLAN, leaves=0b110),
    ...     Event(Action.COMMIT),
    ... ):
    ...     records, effects = transition(records, event)
    >>> job = records.jobs[0]
    >>> job.phase.name, job.epoch, bin(job.alloc), bin(job.fenced)
    ('RESTORE', 1, '0b110', '0b1')
    >>> [effect.name for effect in effects]
    ['WRITE_ALLOC', 'WRITE_EPOCH', 'STOP', 'FENCE_FREED', 'START']
    >>> transition(records, Event(Action.SEAL, epoch=0)).guard
    'running'
    """
    action, index, mask, epoch, uid, manifest = event
    known = len(records.jobs) + (action == Action.ADMIT)
    if not 0 <= index < max(known, 1):
        raise UnknownJob(f"job {index}: there are {len(records.jobs)}")
    if action > Action.TRUST and index >= known:
        raise UnknownJob(f"job {index}: there are {len(records.jobs)}")
    if mask < 0 or epoch < 0 or uid < 0 or manifest < 0:
        raise InvalidRequest(f"{event}: leaves, epoch, uid and manifest are from 0")
    after = HANDLERS[action](records, event, rules)
    if type(after) is Refused:
        return after
    return after, EFFECTS[action]  # type: ignore[return-value]

"""``enabled``: every event that the rules accept next, as the model checkers need it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from phalanx_core.reformation import guards
from phalanx_core.reformation.events import Action, Event, Refused
from phalanx_core.reformation.guards import (
    COMMIT,
    DRAIN,
    GONE,
    PLAN,
    RESTORE,
    RUN,
    commit_refusal,
)
from phalanx_core.reformation.records import Job, Records, leaves_of
from phalanx_core.reformation.rules import HARDENED, Rules
from phalanx_core.reformation.transition import step


class Choices(Protocol):
    """How leaves are chosen: each set, or one of each kind of set with their number."""

    everything: int  #: mask of the leaves there are

    def singles(self, mask: int) -> Iterable[tuple[int, int]]:
        """Sets of one leaf within a mask, and how many each stands for."""

    def subsets(self, must: int, may: int) -> Iterable[tuple[int, int]]:
        """Sets between two masks, and how many each stands for."""


class EveryLeaf:
    """Choices that tell all leaves apart.

    Parameters
    ----------
    leaves
        How many there are.

    Examples
    --------
    >>> [mask for mask, _ in EveryLeaf(3).subsets(0b100, 0b011)]
    [7, 6, 5, 4]
    """

    def __init__(self, leaves: int) -> None:
        self.everything = (1 << leaves) - 1

    def singles(self, mask: int) -> Iterator[tuple[int, int]]:
        """Each leaf of a mask."""
        return ((1 << leaf, 1) for leaf in leaves_of(mask))

    def subsets(self, must: int, may: int) -> Iterator[tuple[int, int]]:
        """Each set that holds ``must`` and at most ``may`` besides; 2^leaves of them."""
        chosen = may
        while True:
            yield must | chosen, 1
            if not chosen:
                return
            chosen = (chosen - 1) & may


def enabled(
    records: Records, rules: Rules = HARDENED, *, leaves: int | None = None
) -> Iterator[Event]:
    """Every event that :func:`~phalanx_core.reformation.step` accepts now.

    Parameters
    ----------
    records, rules
        The state and its protocol.
    leaves
        How many there are; by default, up to the last one that the records name. A dead
        leaf that no record names can come back only where this says that it is there.

    Yields
    ------
    Events, in a fixed order. Leaves fail, heal, come under a verdict and are fenced one
    at a time, though the protocol takes sets; a plan comes once a set of leaves,
    exponentially many. An admission is offered for names that the records have.

    Examples
    --------
    >>> from phalanx_core.reformation import PRINTED, started
    >>> [event.action.name for event in enabled(started([0b01, 0b10], 2), PRINTED)]
    ['FAIL', 'FAIL', 'SEAL', 'SEAL']
    """
    if leaves is None:
        named = records.live | records.suspect | records.lost
        for job in records.jobs:
            named |= job.alloc | job.plan | job.fenced
        leaves = named.bit_length()
    for event, _ in candidates(records, rules, EveryLeaf(leaves)):
        if type(step(records, event, rules)) is not Refused:
            yield event


def candidates(
    records: Records, rules: Rules, choices: Choices
) -> Iterator[tuple[Event, int]]:
    """Events among which are all that the rules accept, and how many each stands for."""
    live = records.live
    for leaf, count in choices.singles(live):
        yield Event(Action.FAIL, leaves=leaf), count
    if rules.lifecycle:
        yield from _of_leaves(records, choices)
    for index, job in enumerate(records.jobs):
        phase = job.phase
        if phase == RUN:
            yield from _running(records, index, rules, choices)
        elif phase == PLAN:
            must, may = guards.plan_bounds(records, index, rules)
            for plan, count in choices.subsets(must, may):
                yield Event(Action.PLAN, index, plan, job.epoch, job.uid), count
        elif phase == COMMIT:
            yield from _proposing(records, index, rules)
        elif phase == RESTORE:
            yield from _restoring(records, index, rules)
        if rules.lifecycle:
            yield from _of_lifecycle(index, job, choices)
        if rules.losses and job.sealed > 1:
            for manifest in leaves_of(job.sealed & ~1):
                yield Event(Action.LOSE, index, manifest=manifest), 1


def _of_leaves(records: Records, choices: Choices) -> Iterator[tuple[Event, int]]:
    """Events of leaves beside their death."""
    for leaf, count in choices.singles(choices.everything & ~records.live):
        yield Event(Action.HEAL, leaves=leaf), count
    for leaf, count in choices.singles(records.live & ~records.suspect):
        yield Event(Action.SUSPECT, leaves=leaf), count
    for leaf, count in choices.singles(records.suspect):
        yield Event(Action.TRUST, leaves=leaf), count


def tokens(job: Job, rules: Rules) -> Iterator[tuple[int, int]]:
    """Tokens, as (epoch, uid), that workers of this job or an earlier one may present."""
    earlier = () if rules.tokens else range(job.epoch)
    for epoch in (*earlier, job.epoch):
        yield epoch, job.uid
        if not rules.uids:
            for uid in range(job.uid):
                yield epoch, uid


def _seals(index: int, job: Job, rules: Rules) -> Iterator[tuple[Event, int]]:
    for epoch, uid in tokens(job, rules):
        yield Event(Action.SEAL, index, 0, epoch, uid), 1


def _running(
    records: Records, index: int, rules: Rules, choices: Choices
) -> Iterator[tuple[Event, int]]:
    job = records.jobs[index]
    _, epoch, alloc, *_, uid = job
    yield from _seals(index, job, rules)
    if guards.broken(records, job):
        yield Event(Action.DETECT, index, 0, epoch, uid), 1
    elif rules.lifecycle:
        if alloc & records.suspect:
            for plan, count in choices.subsets(*guards.drain_bounds(records, index)):
                if guards.same_size(job, plan):
                    yield Event(Action.DRAIN, index, plan, epoch, uid), count
        for plan, count in choices.subsets(*guards.resize_bounds(records, index)):
            if plan != alloc:
                yield Event(Action.RESIZE, index, plan, epoch, uid), count
        for plan, count in choices.subsets(0, alloc):
            if plan not in (0, alloc):
                yield Event(Action.RESIZE, index, plan, epoch, uid), count


def _proposing(
    records: Records, index: int, rules: Rules
) -> Iterator[tuple[Event, int]]:
    job = records.jobs[index]
    action = Action.ABORT if commit_refusal(records, index, rules) else Action.COMMIT
    yield Event(action, index, 0, job.epoch, job.uid), 1
    if rules.crashes:
        yield Event(Action.CRASH, index, 0, job.epoch, job.uid), 1
    if job.cause >= DRAIN:
        yield from _seals(index, job, rules)


def _restoring(
    records: Records, index: int, rules: Rules
) -> Iterator[tuple[Event, int]]:
    job = records.jobs[index]
    if rules.detect_in_restore and guards.broken(records, job):
        yield Event(Action.DETECT, index, 0, job.epoch, job.uid), 1
    for manifest in leaves_of(job.sealed & ((1 << job.epoch) - 1)):
        yield Event(Action.RESTORE, index, 0, job.epoch, job.uid, manifest), 1
    if job.base >= 0:
        for epoch, uid in tokens(job, rules):
            yield Event(Action.RUN, index, 0, epoch, uid), 1


def _of_lifecycle(
    index: int, job: Job, choices: Choices
) -> Iterator[tuple[Event, int]]:
    if job.phase == GONE:
        yield Event(Action.ADMIT, index, uid=job.uid + 1), 1
    else:
        yield Event(Action.RELEASE, index, 0, job.epoch, job.uid), 1
    if job.fenced:
        for leaf, count in choices.singles(job.fenced):
            yield Event(Action.FENCE, index, leaf), count

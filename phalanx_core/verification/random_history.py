"""``random_history``: legal histories in which every action, rare ones too, is common.

A random engine mostly seals: 79 % of its transitions, and of 100,000 some 50 aborts. Here
the rarest action that is possible is the most likely one, leaves die under plans, and
jobs plan the same free leaves (Phalanx, Section 8.5, with a floor for each action).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from phalanx_core.checks import is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import (
    HARDENED,
    Action,
    Event,
    Phase,
    Records,
    Refused,
    free,
    guards,
    leaves_of,
    started,
    transition,
)
from phalanx_core.reformation.history import History

# More dead leaves at once, or suspect ones, leave too little to plan with.
DEAD_MAX = 0.3
SUSPECT_MAX = 0.15
LEAVES_MAX = 8
# Late epochs make long masks and show nothing new, so their jobs end.
EPOCHS_MAX = 400
# What makes much else impossible for a while is less likely than the rest.
SHARES = {
    Action.FAIL: 0.7,
    Action.HEAL: 0.7,
    Action.SUSPECT: 0.5,
    Action.TRUST: 0.3,
    Action.CRASH: 0.4,
    Action.RELEASE: 0.2,
    Action.DETECT: 2.0,
}


class Draw(NamedTuple):
    """What draws, and the mask of all leaves."""

    random: Random
    every: int


Maker = Callable[[Records, Draw], Event | None]


def random_history(
    seed: int, transitions: int = 100_000, jobs: int = 4, leaves: int = 32
) -> Iterator[str]:
    """Lines of a legal history under the hardened rules.

    Parameters
    ----------
    seed
        Equal seeds give equal lines.
    transitions
        Lines after the first.
    jobs, leaves
        Jobs, which start on three leaves each, and leaves.

    Yields
    ------
    NDJSON as :mod:`phalanx_core.verification.history` has it, each line with its newline.

    Raises
    ------
    InvalidRequest
        If there are no jobs, or fewer than four leaves a job.

    Notes
    -----
    O(jobs + leaves) a line.

    Examples
    --------
    >>> lines = list(random_history(seed=7, transitions=3))
    >>> len(lines), lines[0][:37]
    (4, '{"phalanx_history":1,"rules":"HARDENE')
    """
    start = _start(jobs, leaves)
    history = History(start, leaves, [f"job {index}" for index in range(jobs)])
    yield history.header()
    steps = random_steps(seed, transitions, start, leaves)
    for number, (event, _) in enumerate(steps, 1):
        yield history.line(event, float(number))


def random_steps(
    seed: int,
    transitions: int,
    start: Records,
    leaves: int,
    further: Callable[[Records, Event], bool] = lambda records, event: True,
) -> Iterator[tuple[Event, Records]]:
    """Events and the records after them, as :func:`random_history` writes them.

    ``further`` says of each whether it may happen where the rules allow it.
    """
    draw = Draw(Random(seed), (1 << leaves) - 1)
    counts = {action: 1 / SHARES.get(action, 1.0) for action in Action}
    records = start
    for _ in range(transitions):
        order = sorted(Action, key=lambda one: draw.random.random() * counts[one])
        for action in order:
            event = MAKERS[action](records, draw)
            if event is None or not further(records, event):
                continue
            answer = transition(records, event, HARDENED)
            if not isinstance(answer, Refused):
                counts[action] += 1 / SHARES.get(action, 1.0)
                records = answer[0]
                yield event, records
                break


def _start(jobs: int, leaves: int) -> Records:
    if not is_whole(jobs) or not is_whole(leaves) or not 4 <= 4 * jobs <= leaves:
        raise InvalidRequest(
            f"{jobs!r} jobs on {leaves!r} leaves: from one job, and four leaves each"
        )
    return started([0b111 << 3 * job for job in range(jobs)], leaves)


def _one(draw: Draw, mask: int) -> int:
    """One leaf of a mask; none of none."""
    return 1 << draw.random.choice(leaves_of(mask)) if mask else 0


def _some(draw: Draw, mask: int, most: int) -> int:
    """Up to so many leaves, low ones mostly, so that plans meet."""
    found = leaves_of(mask)[: most + 2]
    taken = draw.random.sample(found, min(len(found), draw.random.randint(0, most)))
    return sum(1 << leaf for leaf in taken)


def _in(records: Records, draw: Draw, *phases: Phase) -> int | None:
    """A job in one of the phases."""
    found = [i for i, job in enumerate(records.jobs) if job.phase in phases]
    return draw.random.choice(found) if found else None


def _fail(records: Records, draw: Draw) -> Event | None:
    """A leaf of a plan, of a job, or any."""
    live, jobs, *_ = records
    if (draw.every & ~live).bit_count() > DEAD_MAX * draw.every.bit_count():
        return None
    planned = owned = 0
    for job in jobs:
        owned |= job.alloc
        if job.phase == Phase.COMMIT:
            planned |= job.plan
    under = planned if draw.random.random() < 0.7 else owned
    return Event(Action.FAIL, leaves=_one(draw, under & live or live))


def _heal(records: Records, draw: Draw) -> Event | None:
    return Event(Action.HEAL, leaves=_one(draw, draw.every & ~records.live))


def _suspect(records: Records, draw: Draw) -> Event | None:
    """A leaf of a running job mostly, so that there is something to drain."""
    if records.suspect.bit_count() > SUSPECT_MAX * draw.every.bit_count():
        return None
    trusted = records.live & ~records.suspect
    owned = 0
    for job in records.jobs:
        owned |= job.alloc if job.phase == Phase.RUN else 0
    under = owned if draw.random.random() < 0.7 else trusted
    return Event(Action.SUSPECT, leaves=_one(draw, under & trusted or trusted))


def _trust(records: Records, draw: Draw) -> Event | None:
    return Event(Action.TRUST, leaves=_one(draw, records.suspect))


def _admit(records: Records, draw: Draw) -> Event | None:
    index = _in(records, draw, Phase.GONE)
    if index is None:
        return None
    return Event(Action.ADMIT, index, uid=records.jobs[index].uid + 1)


def _token(action: Action, *phases: Phase) -> Maker:
    """A maker of events of which the job and its token are all."""

    def made(records: Records, draw: Draw) -> Event | None:
        index = _in(records, draw, *phases)
        if index is None:
            return None
        return Event(
            action, index, 0, records.jobs[index].epoch, records.jobs[index].uid
        )

    return made


def _plan(records: Records, draw: Draw) -> Event | None:
    index = _in(records, draw, Phase.PLAN)
    if index is None:
        return None
    must, may = guards.plan_bounds(records, index, HARDENED)
    room = max(LEAVES_MAX - must.bit_count(), 0)
    plan = must | _some(draw, may, min(room, 4))
    job = records.jobs[index]
    return Event(Action.PLAN, index, plan, job.epoch, job.uid)


def _restore(records: Records, draw: Draw) -> Event | None:
    index = _in(records, draw, Phase.RESTORE)
    if index is None:
        return None
    job = records.jobs[index]
    newest = (job.sealed & ((1 << job.epoch) - 1)).bit_length() - 1
    return Event(Action.RESTORE, index, 0, job.epoch, job.uid, max(newest, 0))


def _drain(records: Records, draw: Draw) -> Event | None:
    found = [
        index
        for index, job in enumerate(records.jobs)
        if job.phase == Phase.RUN and job.alloc & records.suspect
    ]
    if not found:
        return None
    index = draw.random.choice(found)
    job = records.jobs[index]
    must, may = guards.drain_bounds(records, index)
    missing = job.alloc.bit_count() - must.bit_count()
    come = leaves_of(may)[:missing]
    plan = must | sum(1 << leaf for leaf in come)
    return Event(Action.DRAIN, index, plan, job.epoch, job.uid)


def _resize(records: Records, draw: Draw) -> Event | None:
    index = _in(records, draw, Phase.RUN)
    if index is None:
        return None
    job = records.jobs[index]
    if draw.random.random() < 0.5 and job.alloc.bit_count() < LEAVES_MAX:
        plan = job.alloc | _some(draw, free(records) & ~records.suspect, 2)
    else:
        plan = job.alloc & ~_one(draw, job.alloc)
    return Event(Action.RESIZE, index, plan, job.epoch, job.uid)


def _release(records: Records, draw: Draw) -> Event | None:
    index = draw.random.randrange(len(records.jobs))
    job = records.jobs[index]
    late = [i for i, one in enumerate(records.jobs) if one.epoch > EPOCHS_MAX]
    if late:
        index, job = late[0], records.jobs[late[0]]
    return Event(Action.RELEASE, index, 0, job.epoch, job.uid)


def _fence(records: Records, draw: Draw) -> Event | None:
    found = [i for i, job in enumerate(records.jobs) if job.fenced & records.live]
    if not found:
        return None
    index = draw.random.choice(found)
    leaf = _one(draw, records.jobs[index].fenced & records.live)
    return Event(Action.FENCE, index, leaf)


def _lose(records: Records, draw: Draw) -> Event | None:
    found = [i for i, job in enumerate(records.jobs) if job.sealed > 1]
    if not found:
        return None
    index = draw.random.choice(found)
    manifest = draw.random.choice(leaves_of(records.jobs[index].sealed & ~1))
    return Event(Action.LOSE, index, manifest=manifest)


MAKERS: dict[Action, Maker] = {
    Action.FAIL: _fail,
    Action.HEAL: _heal,
    Action.SUSPECT: _suspect,
    Action.TRUST: _trust,
    Action.ADMIT: _admit,
    Action.DETECT: _token(Action.DETECT, Phase.RUN, Phase.RESTORE),
    Action.PLAN: _plan,
    Action.COMMIT: _token(Action.COMMIT, Phase.COMMIT),
    Action.ABORT: _token(Action.ABORT, Phase.COMMIT),
    Action.CRASH: _token(Action.CRASH, Phase.COMMIT),
    Action.SEAL: _token(Action.SEAL, Phase.RUN, Phase.COMMIT),
    Action.RESTORE: _restore,
    Action.RUN: _token(Action.RUN, Phase.RESTORE),
    Action.DRAIN: _drain,
    Action.RESIZE: _resize,
    Action.RELEASE: _release,
    Action.FENCE: _fence,
    Action.LOSE: _lose,
}

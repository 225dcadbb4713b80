"""``Records``: what the protocol knows of leaves and jobs, as sets of leaves in integers.

Bit ``l`` of a mask stands for leaf ``l``. A leaf of the protocol is any unit that is given
as a whole; the engine maps blocks to it, the model checker counts from 0.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from phalanx_core.errors import InvariantBroken


class Phase(IntEnum):
    """Where a job stands in its reformation (Phalanx, Section 6.1)."""

    GONE = 0  #: the job does not exist: not yet admitted, or released
    RUN = 1  #: its workers run
    PLAN = 2  #: it waits for leaves; nothing of it runs
    COMMIT = 3  #: leaves are proposed; the engine alone knows this, no store does
    RESTORE = 4  #: it owns its leaves, and loads a manifest


class Cause(IntEnum):
    """Why a plan is made; decides where an abort leads and who goes first."""

    REPAIR = 0  #: a leaf died
    ADMIT = 1  #: the job is new
    DRAIN = 2  #: a leaf is suspect, and the job still runs
    RESIZE = 3  #: the job grows or shrinks, and still runs


class Job(NamedTuple):
    """Records of one job.

    Attributes
    ----------
    phase
        Where it stands.
    epoch
        Commits so far.
    alloc
        Mask of the leaves it owns.
    plan
        Mask of the leaves that were proposed last.
    sealed
        Mask of epochs, bit ``e`` set where a manifest of epoch ``e`` can be read.
    fenced
        Mask of leaves it gave up, on which something of it may still run.
    cause
        Why it plans.
    base
        Epoch of the manifest it loads or has loaded; -1 where none is chosen.
    uid
        Tells apart the jobs that had this index, and so this name.
    """

    phase: Phase
    epoch: int
    alloc: int
    plan: int
    sealed: int
    fenced: int = 0
    cause: Cause = Cause.REPAIR
    base: int = -1
    uid: int = 0


class Records(NamedTuple):
    """State of the protocol; immutable.

    Attributes
    ----------
    live
        Mask of the leaves whose heartbeat is kept.
    jobs
        One :class:`Job` an index; an index stands for a job's name.
    failures
        Leaves that died so far.
    suspect
        Mask of the leaves with a verdict against them.
    lost
        Mask of owned leaves that died under their owner. A leaf that heals stays lost to
        the job until the job commits again, for the worker on it is gone.

    Examples
    --------
    >>> records = started([0b0011, 0b1100], leaves=5)
    >>> bin(records.live), records.jobs[1].phase.name
    ('0b11111', 'RUN')
    """

    live: int
    jobs: tuple[Job, ...]
    failures: int = 0
    suspect: int = 0
    lost: int = 0


def started(allocs: list[int], leaves: int) -> Records:
    """Records in which every job runs at epoch 0 with its first manifest sealed.

    Parameters
    ----------
    allocs
        Mask of the leaves of each job; 0 for an index without a job.
    leaves
        Leaves there are, all live.

    Returns
    -------
    The initial state of the paper's Figure 2 for this allocation.
    """
    gone = Job(Phase.GONE, 0, 0, 0, 0)
    jobs = (Job(Phase.RUN, 0, alloc, 0, 1) if alloc else gone for alloc in allocs)
    return Records((1 << leaves) - 1, tuple(jobs))


def held_by(records: Records, job: int) -> int:
    """Mask of the leaves that this job may not claim: others own them, or a fence does."""
    held = 0
    for index, one in enumerate(records.jobs):
        held |= one.fenced if index == job else one.alloc | one.fenced
    return held


def free(records: Records) -> int:
    """Mask of the live leaves that nobody owns and no fence holds."""
    held = 0
    for one in records.jobs:
        held |= one.alloc | one.fenced
    return records.live & ~held


def leaves_of(mask: int) -> list[int]:
    """Indexes of a mask's leaves, ascending.

    Examples
    --------
    >>> leaves_of(0b10110)
    [1, 2, 4]
    """
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def check(records: Records) -> None:
    """Check what holds in every state that transitions lead to.

    Raises
    ------
    InvariantBroken
        R1 if two jobs own a leaf, R2 if a leaf is owned and fenced, R3 if a job that is
        gone owns or plans leaves, R4 if a manifest is of an epoch to come, R5 if a leaf
        that nobody owns is lost.
    """
    owned = fenced = 0
    for index, job in enumerate(records.jobs):
        if owned & job.alloc:
            raise InvariantBroken("R1", f"a leaf of job {index} is another's as well")
        owned |= job.alloc
        fenced |= job.fenced
        if job.phase is Phase.GONE and job.alloc | job.plan:
            raise InvariantBroken("R3", f"job {index} is gone and has leaves")
        if job.sealed >> (job.epoch + 1):
            raise InvariantBroken("R4", f"job {index} sealed an epoch to come")
    if owned & fenced:
        raise InvariantBroken("R2", f"leaves {leaves_of(owned & fenced)} are fenced")
    if records.lost & ~owned:
        raise InvariantBroken("R5", "a leaf that nobody owns is lost")

"""``WhatIf``: copies of the planners on which a round is tried out before it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from phalanx_core.placement import Gang, Misfit, OwnerKind, Placement, Planner
from phalanx_core.placement.keys import Job
from phalanx_core.placement.limits import IntArray
from phalanx_core.scheduling.records import JobRecord


class Given(NamedTuple):
    """What a job gave up: enough to take it back."""

    type: str
    gang: Gang
    leaves: IntArray


class WhatIf:
    """Copies of planners, made when they are first changed.

    Nothing happens to the planners themselves before :meth:`accept`, so whatever goes
    wrong in between leaves them as they were.
    """

    def __init__(self, planners: Mapping[str, Planner]) -> None:
        self._planners = planners
        self._copies: dict[str, Planner] = {}
        # Jobs whose leaves are free on the copies.
        self.given: dict[Job, Given] = {}
        # Those of whose leaves somebody has taken one: who starts stays for the round.
        self._taken: set[Job] = set()

    def of(self, type: str) -> Planner:
        """The copy of a type, to be changed."""
        copy = self._copies.get(type)
        if copy is None:
            copy = self._copies[type] = self._planners[type].clone()
        return copy

    def read(self, type: str) -> Planner:
        """The copy if there is one, else the planner: only to be asked."""
        return self._copies.get(type) or self._planners[type]

    def free(self, type: str) -> int:
        """Available leaves."""
        leaves = self.read(type).free_leaves()
        return int(leaves)

    def give(self, record: JobRecord) -> None:
        """Free the leaves of a job that holds some."""
        planner = self.of(record.type)
        placement = planner.placement(record.job)
        self.given[record.job] = Given(record.type, placement.gang, placement.leaves)
        planner.release(record.job)

    def is_intact(self, job: Job) -> bool:
        """Whether all that a job gave up could be taken back."""
        if job in self._taken:
            return False
        given = self.given[job]
        intact = bool(self.read(given.type).unheld(given.leaves).all())
        if not intact:
            self._taken.add(job)
        return intact

    def lose(self, job: Job) -> None:
        """A leaf that a job gave up is known to be somebody else's."""
        self._taken.add(job)

    def take_back(self, job: Job) -> bool:
        """Undo :meth:`give` where nobody has taken a leaf since; whether it was so."""
        if not self.is_intact(job):
            return False
        given = self.given.pop(job)
        self.of(given.type).adopt(job, given.gang, given.leaves)
        return True

    def restore(self, job: Job) -> None:
        """Undo :meth:`give` of a job whose leaves nobody may have taken, lost or not."""
        given = self.given.pop(job)
        planner = self.of(given.type)
        fenced = [
            leaf
            for leaf in given.leaves.tolist()
            if planner.owner(leaf).kind is OwnerKind.QUARANTINE
        ]
        if fenced:
            planner.release_quarantine(fenced)
        planner.adopt(job, given.gang, given.leaves)

    def place(self, job: Job, type: str, gang: Gang) -> Placement | Misfit:
        """Place on the copy."""
        return self.of(type).place(job, gang)

    def withdraw(self, job: Job, type: str) -> None:
        """Undo :meth:`place`, at the end of a round."""
        self.of(type).release(job)

    def accept(self) -> None:
        """Make it so."""
        for type, copy in self._copies.items():
            self._planners[type].accept(copy)
        self._copies = {}

"""Questions about a scheduler's state; none changes it."""

from __future__ import annotations

from collections.abc import Iterator

from phalanx_core.errors import InvalidRequest, InvariantBroken
from phalanx_core.placement import Advice, Gang, Misfit, Placement
from phalanx_core.placement.keys import Job
from phalanx_core.scheduling.events import Events
from phalanx_core.scheduling.records import JobRecord, JobState, JobStatus
from phalanx_core.scheduling.round import is_running


class Queries(Events):
    """The part of a scheduler that answers; see :class:`Scheduler`."""

    def preempt_advice(
        self, gang: Gang, priority: int, type: str | None = None
    ) -> Advice | Misfit:
        """The cheapest jobs of a lower priority whose leaving makes a gang fit.

        Parameters
        ----------
        gang
            What is to fit.
        priority
            Jobs of this priority or a higher one are not asked.
        type
            GPU type, where there are several.

        Returns
        -------
        As ``Planner.preempt_advice``: what a leaving costs is the GPU time that is lost
        with it, since the job's last checkpoint and by its restart, in GPU-seconds.

        Raises
        ------
        InvalidRequest
            If the type does not exist, or the gang does not go with the topology.
        """
        if type is None and len(self.planners) > 1:
            names = ", ".join(self.planners)
            raise InvalidRequest(f"type None: the cluster has several, {names}")
        name = next(iter(self.planners)) if type is None else type
        if name not in self.planners:
            names = ", ".join(self.planners)
            raise InvalidRequest(f"type {type!r}: one of {names}")
        costs = {
            one.job: _loss(one)
            for one in self._records.values()
            if is_running(one) and one.type == name and one.request.priority < priority
        }
        return self.planners[name].preempt_advice(gang, costs)

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in order of submission."""
        return tuple(self._records)

    def __contains__(self, job: object) -> bool:
        return job in self._records

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._records)

    def status(self, job: Job) -> JobStatus:
        """A job as it stands.

        Raises
        ------
        UnknownJob
            If the scheduler does not know it.
        """
        return self._known(job).status(self.ledger.now)

    def placement(self, job: Job) -> Placement | None:
        """Where a job is, None where it has no leaves.

        Raises
        ------
        UnknownJob
            If the scheduler does not know it.
        """
        record = self._known(job)
        return self.planners[record.type].placement(job) if record.holds else None

    def validate(self) -> None:
        """Recompute every invariant of planners, ledger and records.

        Raises
        ------
        InvariantBroken
            Naming the first that does not hold: a bug; or R4 after a call that was cut
            short half-way.
        """
        self._check_whole()
        for planner in self.planners.values():
            planner.validate()
        self.ledger.validate()
        held: dict[Job, str] = {}
        for type, planner in self.planners.items():
            for job in planner.jobs():
                if job in held or job not in self._records:
                    raise InvariantBroken("R1", f"job {job!r} is in no single planner")
                held[job] = type
        for job, record in self._records.items():
            if record.holds != (job in held):
                raise InvariantBroken("R1", f"job {job!r} is {record.state}")
            if record.holds != (record.state is not JobState.PENDING):
                raise InvariantBroken("R1", f"job {job!r} is {record.state}")
            if record.holds:
                ranks = self.planners[record.type].placement(job).leaves.size
                if ranks != record.gpus or held[job] != record.type:
                    raise InvariantBroken("R2", f"job {job!r} holds {ranks} leaves")
            if is_running(record) != (record.lease is not None):
                raise InvariantBroken("R3", f"job {job!r}: lease {record.lease}")
        self._validate_ledger()

    def _validate_ledger(self) -> None:
        if self.ledger.jobs() != tuple(self._records):
            raise InvariantBroken("R5", "the ledger has other jobs")
        gpus = dict.fromkeys(self.ledger.tenants(), 0)
        for record in self._records.values():
            if record.holds:
                gpus[record.request.tenant] += record.gpus
        for name, held in gpus.items():
            leased = self.ledger.tenant(name).gpus
            if leased != held:
                raise InvariantBroken(
                    "R5", f"tenant {name!r} has {held} leaves and leases of {leased}"
                )


def _loss(record: JobRecord) -> float:
    lost = record.progress_s - record.saved_s
    return max(record.gpus * (lost + record.request.restart_s), 1e-9)

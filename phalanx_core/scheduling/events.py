"""``Events``: all that a scheduler is told between rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest, UnknownJob
from phalanx_core.fairness import JobAccount, Ledger
from phalanx_core.placement import Gang
from phalanx_core.placement.keys import Job, checked_job
from phalanx_core.placement.limits import IntArray
from phalanx_core.scheduling.committing import Freed
from phalanx_core.scheduling.feasible import Feasible
from phalanx_core.scheduling.leaves import LeafEvents
from phalanx_core.scheduling.options import SchedulerOptions
from phalanx_core.scheduling.records import JobRecord, JobState
from phalanx_core.scheduling.request import SECONDS_MAX, Configuration, JobRequest
from phalanx_core.scheduling.table import ChoiceTable
from phalanx_core.scheduling.turn import alone

CheckpointHook = Callable[[Job, IntArray], None]


class Events(LeafEvents):
    """The part of a scheduler that hears of jobs and leaves; see :class:`Scheduler`."""

    options: SchedulerOptions
    ledger: Ledger
    _table: ChoiceTable
    _feasible: Feasible
    _freed: list[Freed]
    _open_tenants: bool
    _sequence: int
    _last_round_s: float

    @alone
    def submit(
        self, job: Job, request: JobRequest | Configuration | Gang, now: float
    ) -> None:
        """A new job, pending until a round gives it leaves.

        Parameters
        ----------
        job
            A key that the scheduler does not know, str or int.
        request
            What it asks for; a gang or configuration alone stands for a request of it.
        now
            Seconds, not before the last event.

        Raises
        ------
        InvalidRequest
            If the key is in use, the tenant is unknown, a GPU type does not exist, a
            gang does not go with the topology, or time runs backward.

        Notes
        -----
        A job none of whose configurations could ever run here is taken, and waits with
        that reason, so that its user is told why.
        """
        if isinstance(request, (Gang, Configuration)):
            request = JobRequest((request,))
        if not isinstance(request, JobRequest):
            raise InvalidRequest(f"request {request!r}: a JobRequest")
        if checked_job(job) in self._records:
            raise InvalidRequest(f"job {job!r}: the scheduler knows it already")
        record = JobRecord(job, request, self._sequence)
        self._admit(record)
        try:
            self._enter(record, now)
        except BaseException:
            self._table.remove(record.row)
            raise
        record.submitted_s = record.waiting_since_s = self.ledger.now
        self._records[job] = record
        self._sequence += 1
        self._dirty = True

    def _admit(self, record: JobRecord) -> None:
        """Fill what follows from the request and the cluster."""
        found = self._feasible.of(record.request)
        record.types, record.shapes = found.types, found.shapes
        record.infeasible, record.choices = found.why, found.choices
        record.row = self._table.add(
            found.goodput, found.gpus, found.columns, found.shapes
        )
        if record.holds:
            record.take(record.configuration)

    def _enter(self, record: JobRecord, now: float) -> None:
        request, ledger = record.request, self.ledger
        known = ledger.tenants()
        new = self._open_tenants and request.tenant not in known
        if not new and request.tenant not in known:
            told = ", ".join(known) or "none is there, see set_tenant"
            raise InvalidRequest(
                f"job {record.job!r}: tenant {request.tenant!r}: one of {told}"
            )
        if new:
            ledger.set_tenant(request.tenant, 1.0, now)
        try:
            ledger.submit(
                record.job, request.tenant, request.gpus, now, weight=request.weight
            )
        except BaseException:
            if new:
                ledger.remove_tenant(request.tenant, ledger.now)
            raise

    @alone
    def cancel(self, job: Job, now: float) -> None:
        """A job's user ends it: one without leaves is gone, another stops next round.

        Raises
        ------
        UnknownJob
            If the scheduler does not know it.
        InvalidRequest
            If time runs backward.
        """
        record = self._known(job)
        self.ledger.advance(now)
        if record.holds:
            record.closed = True
        else:
            self._drop(record, now, failed=False)
        self._dirty = True

    @alone
    def finish(self, job: Job, now: float, failed: bool = False) -> JobAccount:
        """A job ended by itself; its processes are gone and its leaves free.

        Parameters
        ----------
        failed
            Whether it failed rather than completed; its account says so.

        Returns
        -------
        Its account in the ledger, for the last time.

        Raises
        ------
        UnknownJob, InvalidRequest
            As for :meth:`cancel`.
        """
        record = self._known(job)
        self.ledger.advance(now)
        if record.holds:
            self.planners[record.type].release(job)
        account = self._drop(record, now, failed)
        self._dirty = True
        return account

    @alone
    def released(self, job: Job, now: float | None = None) -> None:
        """A stopped job's processes are gone: its leaves are free.

        What it did since its last complete checkpoint is lost.

        Parameters
        ----------
        now
            Seconds; None: the time of the last event.

        Raises
        ------
        UnknownJob
            If the scheduler does not know it.
        InvalidRequest
            If it was not told to stop, or time runs backward.
        """
        record = self._in(job, JobState.STOPPING)
        self.ledger.advance(self.ledger.now if now is None else now)
        planner = self.planners[record.type]
        leaves = planner.placement(job).leaves
        planner.release(job)
        self._freed.append(Freed(job, record.type, leaves))
        self._vacate(record, self.ledger.now)
        self._dirty = True

    @alone
    def started(
        self, job: Job, now: float | None = None, cold_start_s: float | None = None
    ) -> None:
        """A job that was told to start runs.

        Parameters
        ----------
        now
            Seconds; None: the time of the last event.
        cold_start_s
            What its start cost; None: as its request says.

        Raises
        ------
        UnknownJob, InvalidRequest
            As for :meth:`released`, for a job that is starting.
        """
        record = self._in(job, JobState.STARTING)
        cost = record.request.cold_start_s if cold_start_s is None else cold_start_s
        cost = _seconds("cold_start_s", cost)
        self.ledger.advance(self.ledger.now if now is None else now)
        record.state = JobState.RUNNING
        record.begin(cost)

    @alone
    def start_failed(self, job: Job, now: float | None = None) -> None:
        """A job could not be started, and nothing of it runs: it waits again.

        Leaves that are to blame are told of by :meth:`fail`.

        Raises
        ------
        UnknownJob, InvalidRequest
            As for :meth:`started`.
        """
        record = self._in(job, JobState.STARTING)
        self.ledger.advance(self.ledger.now if now is None else now)
        self.planners[record.type].release(job)
        since = record.waiting_since_s
        if record.lease is not None:  # the lease that it never used does not count
            record.leases -= 1
            record.waited_s -= record.lease.start_s - since
        self._vacate(record, self.ledger.now)
        if not record.closed:
            record.waiting_since_s = since
        self._dirty = True

    @alone
    def progress(self, job: Job, seconds: float) -> None:
        """A job did so many more seconds of useful work.

        Raises
        ------
        UnknownJob
            If the scheduler does not know it.
        InvalidRequest
            If they are no number from 0.
        """
        record = self._known(job)
        record.progress_s += _seconds("progress", seconds)

    @alone
    def checkpointed(self, job: Job, seconds: float | None = None) -> None:
        """A snapshot of a job is complete: it holds all progress told so far.

        Parameters
        ----------
        seconds
            What it cost; None: as its request says.

        Raises
        ------
        UnknownJob, InvalidRequest
            As for :meth:`progress`.
        """
        record = self._known(job)
        cost = record.request.checkpoint_s if seconds is None else seconds
        record.save(_seconds("checkpoint", cost))

    @alone
    def reweight(self, job: Job, weight: float, now: float) -> None:
        """A job has another share within its tenant from now on.

        Raises
        ------
        UnknownJob, InvalidRequest
            As the ledger does.
        """
        self._known(job)
        self.ledger.reweight(job, weight, now)

    @alone
    def set_tenant(self, tenant: str, weight: float, now: float) -> None:
        """A tenant is there, with this weight from now on.

        Raises
        ------
        InvalidRequest
            As the ledger does.
        """
        self.ledger.set_tenant(tenant, weight, now)
        self._dirty = True

    @alone
    def remove_tenant(self, tenant: str, now: float) -> None:
        """A tenant is no more, and its share the others'; its account is forgotten.

        Raises
        ------
        InvalidRequest
            If it has jobs, or is not there.
        """
        self.ledger.remove_tenant(tenant, now)
        self._dirty = True

    def _known(self, job: Job) -> JobRecord:
        record = self._records.get(checked_job(job))
        if record is None:
            raise UnknownJob(f"job {job!r}: the scheduler does not know it")
        return record

    def _in(self, job: Job, state: JobState) -> JobRecord:
        record = self._known(job)
        if record.state is not state:
            raise InvalidRequest(f"job {job!r} is {record.state}, not {state}")
        return record

    def _vacate(self, record: JobRecord, now: float) -> None:
        """The leaves of a job are free: it waits, or leaves with them."""
        self.ledger.stop(record.job, now)
        record.lose()
        record.leave()
        record.state = JobState.PENDING
        record.lease = record.stop = None
        record.waiting_since_s = now
        if record.closed:
            self._drop(record, now, failed=False)

    def _drop(self, record: JobRecord, now: float, failed: bool) -> JobAccount:
        """Forget a job whose leaves are free."""
        end = self.ledger.fail if failed else self.ledger.finish
        end(record.job, now)
        self._table.remove(record.row)
        del self._records[record.job]
        return self.ledger.forget(record.job)


def _seconds(name: str, value: Any) -> float:
    if not (is_number(value) and 0 <= float(value) <= SECONDS_MAX):
        raise InvalidRequest(f"{name} {value!r}: seconds, from 0 to {SECONDS_MAX:g}")
    return float(value)

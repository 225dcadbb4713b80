"""``Ledger``: who was given GPU time, and who was due it (LTGF, ASTRAEA's accounts)."""

from __future__ import annotations

from phalanx_core.checks import shown
from phalanx_core.errors import InvalidRequest, SaveError
from phalanx_core.fairness.accounts import Job, JobAccount, JobState
from phalanx_core.fairness.books import LOG_MAX, Books
from phalanx_core.fairness.changes import (
    TIME_MAX,
    active_row,
    capacity_of,
    count_of,
    new_job,
    pending_row,
    row_of,
    running_row,
    tenant_name,
    tenant_of,
    time_of,
    weight_of,
)
from phalanx_core.fairness.invariants import validate
from phalanx_core.fairness.rows import JobRow, added
from phalanx_core.fairness.saving import opening, restore, saved
from phalanx_core.fairness.settling import settle

PENDING, RUNNING = JobState.PENDING, JobState.RUNNING


class Ledger(Books):
    """Long-term GPU-time fairness (LTGF), one event at a time.

    Parameters
    ----------
    capacity
        GPUs of the cluster, at least 0.
    tenants
        A weight for each name, from 1e-6 to 1e6; in their order.
    entitlement
        What a tenant is due at every moment: "quota", its quota even while it has no
        work (eq. 16 of the paper, which its experiments use: what it lends it may claim
        later); "demand", min(demand of its active jobs, quota) (eq. 8).
    window
        Seconds that tenants' sums reach back, a multiple of ``bucket_s``: they count the
        current bucket and as many whole ones before it as the window has. None: all
        since the start. Jobs always count from their submission.
    bucket_s
        Seconds of a bucket, at least 1; buckets begin at ``start_s``.
    start_s
        Time before the first event, seconds.

    Raises
    ------
    InvalidRequest
        From the constructor and every event, if a value is outside its domain, a time
        lies before the last event, or a job is in another state; nothing was changed.
    UnknownJob
        From every event, if the ledger does not know the job.

    Notes
    -----
    Every event takes ``now``, its time in seconds, not before the last event's.

    A job is active from submission to its end, pending or running. A quota is capacity x
    weight over the weights of all tenants. A job is due, at every moment while it is
    active, min(demand, fair share of its tenant x its weight / weights of the tenant's
    active jobs). Ratios are service over that; see :func:`ratio`. Leases are not checked
    against the capacity, nor GPUs against the demand.

    Ended jobs keep their accounts, and their keys, until :meth:`forget`.

    An event is O(1): it is noted in its tenant's log (set_capacity, set_tenant and
    remove_tenant in all logs). What jobs are due is worked out from the logs when one
    asks for a job, or when a log is full; a log of more than some 400,000 products of
    jobs and changes by a compiled kernel, whose first use loads Numba.

    The ASTRAEA paper, sections 4 to 6 (job and tenant LTGF) and its eq. 16.

    Examples
    --------
    Two tenants of one weight share 16 GPUs; A's job of 8 waits for a quarter of an hour:

    >>> ledger = Ledger(16, {"A": 1.0, "B": 1.0})
    >>> ledger.submit("a1", "A", 8, 0.0)
    >>> ledger.start("a1", 900.0)
    >>> ledger.advance(3600.0)
    >>> ledger.job("a1").ratio, ledger.tenant("A").service, ledger.tenant("B").entitled
    (0.75, 21600.0, 28800.0)
    """

    def submit(
        self, job: Job, tenant: str, demand: int, now: float, weight: float = 1.0
    ) -> None:
        """A new job, pending.

        Parameters
        ----------
        job
            A key that the ledger does not know.
        tenant
            Whose it is.
        demand
            GPUs that it asks for, a whole number from 1.
        now
            Seconds.
        weight
            Of its share among its tenant's active jobs, from 1e-6 to 1e6.
        """
        now = self._time(now)
        new_job(self._jobs, job)
        home = tenant_of(self._tenants, tenant)
        demand = count_of("demand", demand)
        weight = weight_of("weight", weight)
        self._move(now)
        row = JobRow(job, home, demand, weight, now)
        row.join = home.log(now)
        self._jobs[job] = home.jobs[job] = row
        home.demand += demand
        home.weigh(weight)
        home.share(now)
        if row.join >= LOG_MAX:
            settle(home, now)

    def start(self, job: Job, now: float, gpus: int | None = None) -> None:
        """A pending job runs: its lease begins.

        Parameters
        ----------
        job, now
            Its key, and seconds.
        gpus
            GPUs that it holds, a whole number from 1; None: as many as it asks for.
        """
        now = self._time(now)
        row = pending_row(self._jobs, job)
        gpus = row.demand if gpus is None else count_of("gpus", gpus)
        self._move(now)
        row.state = RUNNING
        self._lease(row, now, gpus)

    def stop(self, job: Job, now: float) -> None:
        """A running job is pending again: its lease ended, or it was preempted."""
        now = self._time(now)
        row = running_row(self._jobs, job)
        self._move(now)
        row.state = PENDING
        self._lease(row, now, 0)

    def finish(self, job: Job, now: float) -> None:
        """An active job is complete; if it runs, its lease ends. Its account stays."""
        self._end(job, now, JobState.FINISHED)

    def fail(self, job: Job, now: float) -> None:
        """An active job is given up; if it runs, its lease ends. Its account stays."""
        self._end(job, now, JobState.FAILED)

    def resize(
        self, job: Job, demand: int, now: float, gpus: int | None = None
    ) -> None:
        """An active job asks for another number of GPUs.

        Parameters
        ----------
        job, now
            Its key, and seconds.
        demand
            GPUs that it asks for, a whole number from 1.
        gpus
            GPUs that a running one holds from now on; None: as many as it asks for. A
            pending one takes none.
        """
        now = self._time(now)
        row = active_row(self._jobs, job)
        demand = count_of("demand", demand)
        running = row.state is RUNNING
        if gpus is None:
            gpus = demand
        elif not running:
            raise InvalidRequest(f"gpus {shown(gpus)}: job {shown(job)} does not run")
        else:
            gpus = count_of("gpus", gpus)
        self._move(now)
        self._reshape(row, now, demand, row.weight)
        if running:
            self._lease(row, now, gpus)

    def reweight(self, job: Job, weight: float, now: float) -> None:
        """An active job has another weight among its tenant's."""
        now = self._time(now)
        row = active_row(self._jobs, job)
        weight = weight_of("weight", weight)
        self._move(now)
        self._reshape(row, now, row.demand, weight)

    def set_tenant(self, tenant: str, weight: float, now: float) -> None:
        """Add a tenant, last in order, or give one another weight; all quotas change."""
        now = self._time(now)
        name = tenant_name(tenant)
        weight = weight_of("weight", weight)
        self._move(now)
        if name in self._tenants:
            self._tenants[name].weight = weight
        else:
            self._tenants[name] = self._new_tenant(name, weight)
        self._requote()

    def remove_tenant(self, tenant: str, now: float) -> None:
        """A tenant without active jobs is gone, its sums with it; all quotas change."""
        now = self._time(now)
        row = tenant_of(self._tenants, tenant)
        if row.jobs:
            raise InvalidRequest(
                f"tenant {tenant!r}: it has {len(row.jobs)} active jobs"
            )
        self._move(now)
        settle(row, now)
        self._removed = added(*self._removed, row.lifetime_service(now))
        del self._tenants[tenant]
        self._requote()

    def set_capacity(self, capacity: float, now: float) -> None:
        """The cluster has so many GPUs from now on; all quotas change."""
        now = self._time(now)
        capacity = capacity_of(capacity)
        self._move(now)
        self._capacity = capacity
        self._requote()

    def advance(self, now: float) -> None:
        """Nothing happens up to this time; answers are as of then. O(1) without a window."""
        self._move(self._time(now))

    def forget(self, job: Job) -> JobAccount:
        """Free the row and the key of an ended job.

        Returns
        -------
        JobAccount
            Its last one.

        Raises
        ------
        UnknownJob, InvalidRequest
            If the ledger does not know it, or it has not ended.
        """
        row = row_of(self._jobs, job)
        if job in row.tenant.jobs:
            raise InvalidRequest(
                f"job {shown(job)}: it is {row.state}, and has not ended"
            )
        settle(row.tenant, self._now)
        return self._forget(row)

    def forget_ended(self) -> tuple[JobAccount, ...]:
        """As :meth:`forget` of every ended job, in order of submission."""
        rows = [row for row in self._jobs.values() if row.key not in row.tenant.jobs]
        for tenant in dict.fromkeys([row.tenant for row in rows]):
            settle(tenant, self._now)
        return tuple([self._forget(row) for row in rows])

    def save(self) -> bytes:
        """The whole ledger; the same for the same history of calls.

        Notes
        -----
        Reads all logs, as :meth:`job_ratios` does, so a loaded ledger goes on bit for bit
        as this one.
        """
        return saved(self)

    @classmethod
    def load(cls, data: bytes) -> Ledger:
        """The ledger that :meth:`save` made these bytes of.

        Raises
        ------
        SaveError
            If they are damaged, of another version or no ledger's.

        Examples
        --------
        >>> ledger = Ledger(8, {"A": 1.0})
        >>> Ledger.load(ledger.save()).tenant("A").quota
        8.0
        """
        terms = opening(data)
        try:
            ledger = cls(**terms)
        except InvalidRequest as error:
            raise SaveError(f"the saved ledger's terms: {error}") from error
        restore(ledger, data)
        return ledger

    def validate(self) -> None:
        """Work out anew what must hold of all rows; O(jobs + tenants + logs).

        Raises
        ------
        InvariantBroken
            With a tag, F1 to F8, of :mod:`phalanx_core.fairness.invariants`.
        """
        validate(self)

    def _forget(self, row: JobRow) -> JobAccount:
        account = self._account(row)
        self._forgotten = added(*self._forgotten, account.service)
        del self._jobs[row.key]
        return account

    def _time(self, now: float) -> float:
        if type(now) is float and self._now <= now <= TIME_MAX:
            return now
        return time_of(now, self._now)

    def _move(self, now: float) -> None:
        """Take a checked time for the present."""
        if now >= self._bucket_end:
            self._roll(now)
        self._now = now

    def _lease(self, row: JobRow, now: float, gpus: int) -> None:
        """A job holds so many GPUs from now on."""
        more = gpus - row.service.rate
        row.service.step(now, gpus)
        service = row.tenant.service
        service.step(now, service.rate + more)
        self._leased.step(now, self._leased.rate + more)

    def _end(self, job: Job, now: float, state: JobState) -> None:
        now = self._time(now)
        row = active_row(self._jobs, job)
        self._move(now)
        if row.state is RUNNING:
            self._lease(row, now, 0)
        row.state = state
        home = row.tenant
        leave = home.log(now)
        if row.join < leave:
            home.segments.append((row, row.join, leave, row.demand, row.weight))
        row.join = 0
        del home.jobs[job]
        home.demand -= row.demand
        home.weigh(-row.weight)
        home.share(now)
        if len(home.segments) >= LOG_MAX:
            settle(home, now)

    def _reshape(self, row: JobRow, now: float, demand: int, weight: float) -> None:
        """An active job's stay with one demand and weight ends, and another begins."""
        home = row.tenant
        leave = home.log(now)
        if row.join < leave:
            home.segments.append((row, row.join, leave, row.demand, row.weight))
        row.join = leave
        home.demand += demand - row.demand
        home.weigh(-row.weight)
        home.weigh(weight)
        row.demand, row.weight = demand, weight
        home.share(now)
        if len(home.segments) >= LOG_MAX:
            settle(home, now)

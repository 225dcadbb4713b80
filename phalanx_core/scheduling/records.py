"""What the scheduler knows of one job, and how its embedder sees it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from phalanx_core.placement.keys import Job
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.lease import Lease
from phalanx_core.scheduling.request import JobRequest


class JobState(StrEnum):
    """Where a job is between its submission and its end."""

    PENDING = "pending"  #: it has no leaves
    STARTING = "starting"  #: it was told to start, and has not said that it did
    RUNNING = "running"  #: it runs
    STOPPING = "stopping"  #: it was told to stop, and its leaves are not released


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as it stands; a copy of that moment.

    Attributes
    ----------
    state
        Pending, starting, running or stopping.
    configuration
        Index of the one whose leaves it has, -1 without any.
    lease
        Its present lease, or None.
    submitted_s
        When it was submitted.
    waiting_since_s
        Since when it has no leaves, or None.
    waited_s
        Seconds without leaves so far, by the last that the scheduler heard of the time.
    progress_s
        Useful seconds so far that were not lost.
    lost_s
        Useful seconds that failures and stops lost, since no checkpoint had them.
    checkpoints, checkpoint_cost_s
        Checkpoints reported, and seconds they cost.
    cold_starts, cold_start_cost_s
        Starts and repairs that began from a checkpoint, and seconds they cost.
    leases
        Leases it had, renewed ones among them.
    cancelled
        Whether its user ended it, so that it leaves with its leaves.
    """

    job: Job
    request: JobRequest
    state: JobState
    configuration: int
    lease: Lease | None
    submitted_s: float
    waiting_since_s: float | None
    waited_s: float
    progress_s: float
    lost_s: float
    checkpoints: int
    checkpoint_cost_s: float
    cold_starts: int
    cold_start_cost_s: float
    leases: int
    cancelled: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        lease = self.lease
        return told | {
            "request": self.request.to_dict(),
            "state": self.state.value,
            "lease": None if lease is None else asdict(lease),
        }


class JobRecord:
    """A job's row in the scheduler's tables.

    Invariants, checked by ``Scheduler.validate``:
      R1  it holds leaves in exactly one planner if its state says so, else in none
      R2  those leaves are as many as its configuration's ranks
      R3  it has a lease if it starts or runs
      R4  no call was cut short half-way
      R5  the ledger has the same jobs, and each tenant's leases are its jobs' leaves
    """

    __slots__ = (
        "checkpoint_cost_s",
        "checkpoints",
        "choices",
        "closed",
        "cold_start_cost_s",
        "cold_starts",
        "configuration",
        "gpus",
        "infeasible",
        "job",
        "lease",
        "leases",
        "lost_s",
        "progress_s",
        "request",
        "row",
        "saved_s",
        "sequence",
        "shapes",
        "state",
        "stop",
        "stop_s",
        "submitted_s",
        "type",
        "types",
        "waited_s",
        "waiting_since_s",
    )

    def __init__(self, job: Job, request: JobRequest, sequence: int) -> None:
        self.job = job
        self.request = request
        self.sequence = sequence
        self.row = -1
        self.types: tuple[str, ...] = ()
        # Of each configuration a number that equal gangs on one type share.
        self.shapes: tuple[int, ...] = ()
        # Configurations that can run here, the one of most goodput first.
        self.choices: tuple[int, ...] = ()
        # Of each configuration why it can never run here, or None.
        self.infeasible: tuple[str | None, ...] = ()
        self.state = JobState.PENDING
        self.configuration = -1
        # GPU type and number of its leaves, kept since every stage of a round adds up.
        self.type = ""
        self.gpus = 0
        self.lease: Lease | None = None
        self.submitted_s = 0.0
        self.waiting_since_s = 0.0
        self.waited_s = 0.0
        self.progress_s = 0.0
        self.saved_s = 0.0
        self.lost_s = 0.0
        self.checkpoints = 0
        self.checkpoint_cost_s = 0.0
        self.cold_starts = 0
        self.cold_start_cost_s = 0.0
        self.leases = 0
        self.stop: Why | None = None
        self.stop_s = 0.0
        # Whether it leaves the scheduler with its leaves.
        self.closed = False

    def take(self, configuration: int) -> None:
        """It has the leaves of this configuration."""
        self.configuration = configuration
        self.type = self.types[configuration]
        self.gpus = self.request.ways[configuration].gpus

    def leave(self) -> None:
        """It has no leaves."""
        self.configuration, self.gpus = -1, 0

    @property
    def lease_end_s(self) -> float | None:
        """When its lease ends, None without one."""
        return None if self.lease is None else self.lease.end_s

    @property
    def holds(self) -> bool:
        """Whether it has leaves."""
        return self.configuration >= 0

    def waiting_s(self, now: float) -> float:
        """Seconds since it last had leaves; 0 while it has some."""
        return 0.0 if self.holds else now - self.waiting_since_s

    def total_waiting_s(self, now: float) -> float:
        """All seconds without leaves."""
        return self.waited_s + self.waiting_s(now)

    def save(self, cost_s: float) -> None:
        """A snapshot with all progress so far is complete."""
        self.saved_s = self.progress_s
        self.checkpoints += 1
        self.checkpoint_cost_s += cost_s

    def begin(self, cost_s: float) -> None:
        """It goes on from a checkpoint, on leaves that it did not have."""
        self.cold_starts += 1
        self.cold_start_cost_s += cost_s

    def lose(self) -> None:
        """Go back to the last complete snapshot: what came after is lost."""
        self.lost_s += self.progress_s - self.saved_s
        self.progress_s = self.saved_s

    def status(self, now: float) -> JobStatus:
        """As its embedder sees it."""
        return JobStatus(
            job=self.job,
            request=self.request,
            state=self.state,
            configuration=self.configuration,
            lease=self.lease,
            submitted_s=self.submitted_s,
            waiting_since_s=None if self.holds else self.waiting_since_s,
            waited_s=self.total_waiting_s(now),
            progress_s=self.progress_s,
            lost_s=self.lost_s,
            checkpoints=self.checkpoints,
            checkpoint_cost_s=self.checkpoint_cost_s,
            cold_starts=self.cold_starts,
            cold_start_cost_s=self.cold_start_cost_s,
            leases=self.leases,
            cancelled=self.closed,
        )

    def to_dict(self) -> dict[str, Any]:
        """What a save keeps: all but what follows from the request and the cluster."""
        told = {name: getattr(self, name) for name in _SAVED}
        lease = self.lease
        told["lease"] = lease and [lease.start_s, lease.end_s, lease.renewals]
        told["request"] = self.request.to_dict()
        return told

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> JobRecord:
        """Back from :meth:`to_dict`."""
        request = JobRequest.from_dict(told["request"])
        record = cls(told["job"], request, told["sequence"])
        for name in _SAVED:
            setattr(record, name, told[name])
        record.state = JobState(told["state"])
        record.stop = None if told["stop"] is None else Why(told["stop"])
        record.lease = None if told["lease"] is None else Lease(*told["lease"])
        return record


_KEPT_APART = (
    "request",
    "lease",
    "row",
    "type",
    "types",
    "gpus",
    "shapes",
    "choices",
    "infeasible",
)
_SAVED = tuple(name for name in JobRecord.__slots__ if name not in _KEPT_APART)

"""Scheduling: ledgers, scores, assignments and placements composed into rounds."""

from phalanx_core.scheduling.decision import Action, ActionKind, Cut, Decision, Why
from phalanx_core.scheduling.lease import Lease
from phalanx_core.scheduling.oak import OakRound, oak
from phalanx_core.scheduling.options import EarlyEviction, SchedulerOptions
from phalanx_core.scheduling.proposing import PlannerProposals, layout_of, request_of
from phalanx_core.scheduling.records import JobState, JobStatus
from phalanx_core.scheduling.request import Configuration, JobRequest
from phalanx_core.scheduling.scheduler import Scheduler

__all__ = [
    "Action",
    "ActionKind",
    "Configuration",
    "Cut",
    "Decision",
    "EarlyEviction",
    "JobRequest",
    "JobState",
    "JobStatus",
    "Lease",
    "OakRound",
    "PlannerProposals",
    "Scheduler",
    "SchedulerOptions",
    "Why",
    "layout_of",
    "oak",
    "request_of",
]

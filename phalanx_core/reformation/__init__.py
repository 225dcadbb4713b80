"""Reformation: the Rank Reformation Protocol (RRP), every change of who owns which leaf."""

from phalanx_core.reformation.enabling import enabled
from phalanx_core.reformation.events import EFFECTS, Action, Effect, Event, Refused
from phalanx_core.reformation.records import (
    Cause,
    Job,
    Phase,
    Records,
    check,
    free,
    leaves_of,
    started,
)
from phalanx_core.reformation.rules import FIXED, HARDENED, PRINTED, Rules
from phalanx_core.reformation.transition import HANDLERS, step, transition

__all__ = [
    "EFFECTS",
    "FIXED",
    "HANDLERS",
    "HARDENED",
    "PRINTED",
    "Action",
    "Cause",
    "Effect",
    "Event",
    "Job",
    "Phase",
    "Records",
    "Refused",
    "Rules",
    "check",
    "enabled",
    "free",
    "leaves_of",
    "started",
    "step",
    "transition",
]

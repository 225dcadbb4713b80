"""Reformation: the Rank Reformation Protocol (RRP), every change of who owns which leaf."""

from phalanx_core.reformation.agents import HostAgent
from phalanx_core.reformation.client import Client
from phalanx_core.reformation.committing import Fate, Outcome
from phalanx_core.reformation.detector import Damping
from phalanx_core.reformation.enabling import enabled
from phalanx_core.reformation.engine import Engine
from phalanx_core.reformation.events import EFFECTS, Action, Effect, Event, Refused
from phalanx_core.reformation.layout import Layout
from phalanx_core.reformation.observing import View
from phalanx_core.reformation.planning import Ask, FirstFree, Proposal, RepairPlanner
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
from phalanx_core.reformation.reports import EngineOptions, Report, Wanted
from phalanx_core.reformation.rules import FIXED, HARDENED, PRINTED, Rules
from phalanx_core.reformation.transition import HANDLERS, step, transition

__all__ = [
    "EFFECTS",
    "FIXED",
    "HANDLERS",
    "HARDENED",
    "PRINTED",
    "Action",
    "Ask",
    "Cause",
    "Client",
    "Damping",
    "Effect",
    "Engine",
    "EngineOptions",
    "Event",
    "Fate",
    "FirstFree",
    "HostAgent",
    "Job",
    "Layout",
    "Outcome",
    "Phase",
    "Proposal",
    "Records",
    "Refused",
    "RepairPlanner",
    "Report",
    "Rules",
    "View",
    "Wanted",
    "check",
    "enabled",
    "free",
    "leaves_of",
    "started",
    "step",
    "transition",
]

"""Verification: the reformation protocol checked by exhaustive search of its states."""

from phalanx_core.verification.liveness import violated
from phalanx_core.verification.model import Model, Scope, State, World
from phalanx_core.verification.properties import (
    ESR,
    PAPER_INVARIANTS,
    PAPER_STEPS,
    REFORM_LIVE,
    STRONG_INVARIANTS,
    STRONG_STEPS,
)
from phalanx_core.verification.quotient import (
    Counts,
    Graph,
    Report,
    Violation,
    job_orbits,
    search,
)

__all__ = [
    "ESR",
    "PAPER_INVARIANTS",
    "PAPER_STEPS",
    "REFORM_LIVE",
    "STRONG_INVARIANTS",
    "STRONG_STEPS",
    "Counts",
    "Graph",
    "Model",
    "Report",
    "Scope",
    "State",
    "Violation",
    "World",
    "job_orbits",
    "search",
    "violated",
]

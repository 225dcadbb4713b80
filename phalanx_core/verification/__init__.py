"""Verification: the reformation protocol checked by exhaustive search of its states."""

from phalanx_core.verification.counterexample import Counterexample, counterexample
from phalanx_core.verification.hardened import SCOPES, hardened_model
from phalanx_core.verification.liveness import violated
from phalanx_core.verification.model import FAIR, Model, Scope, State, World
from phalanx_core.verification.mutants import MUTANTS, Mutant, mutant, verdict
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
from phalanx_core.verification.story import told

__all__ = [
    "ESR",
    "FAIR",
    "MUTANTS",
    "PAPER_INVARIANTS",
    "PAPER_STEPS",
    "REFORM_LIVE",
    "SCOPES",
    "STRONG_INVARIANTS",
    "STRONG_STEPS",
    "Counterexample",
    "Counts",
    "Graph",
    "Model",
    "Mutant",
    "Report",
    "Scope",
    "State",
    "Violation",
    "World",
    "counterexample",
    "hardened_model",
    "job_orbits",
    "mutant",
    "search",
    "told",
    "verdict",
    "violated",
]

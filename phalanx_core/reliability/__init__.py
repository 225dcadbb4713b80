"""Reliability: what failures cost a training run, and what buys it back."""

from phalanx_core.reliability.advice import Advice, Fleet, Remedy, SpareLevel, advise
from phalanx_core.reliability.budget import RecoveryBudget
from phalanx_core.reliability.intervals import BestInterval, best_interval
from phalanx_core.reliability.renewal import (
    ettr,
    interval_for,
    mtbf_s,
    recovery_for,
)
from phalanx_core.reliability.simulation import Recovery, Simulated, simulate
from phalanx_core.reliability.spares import (
    Sparing,
    hosts_under_repair,
    simulated_probability,
    spare_probabilities,
    spare_probability,
    spares_for,
)

__all__ = [
    "Advice",
    "BestInterval",
    "Fleet",
    "Recovery",
    "RecoveryBudget",
    "Remedy",
    "Simulated",
    "SpareLevel",
    "Sparing",
    "advise",
    "best_interval",
    "ettr",
    "hosts_under_repair",
    "interval_for",
    "mtbf_s",
    "recovery_for",
    "simulate",
    "simulated_probability",
    "spare_probabilities",
    "spare_probability",
    "spares_for",
]

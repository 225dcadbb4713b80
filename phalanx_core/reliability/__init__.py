"""Reliability: what failures cost a training run, and what buys it back."""

from phalanx_core.reliability.renewal import (
    ettr,
    interval_for,
    mtbf_s,
    recovery_for,
)
from phalanx_core.reliability.simulation import Recovery, Simulated, simulate

__all__ = [
    "Recovery",
    "Simulated",
    "ettr",
    "interval_for",
    "mtbf_s",
    "recovery_for",
    "simulate",
]

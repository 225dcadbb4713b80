"""Scoring: what a configuration of a job is worth this round."""

from phalanx_core.scoring.configurations import Configuration, configurations
from phalanx_core.scoring.fitting import Profile, fit_throughput
from phalanx_core.scoring.goodput import Batches, Goodput, Noise, goodput
from phalanx_core.scoring.restarts import RESTART_S, restart_penalty_s
from phalanx_core.scoring.throughput import ScalingTable, Throughput
from phalanx_core.scoring.utility import score

__all__ = [
    "RESTART_S",
    "Batches",
    "Configuration",
    "Goodput",
    "Noise",
    "Profile",
    "ScalingTable",
    "Throughput",
    "configurations",
    "fit_throughput",
    "goodput",
    "restart_penalty_s",
    "score",
]

"""Experiments: published tables and claims, measured again."""

from phalanx_core.experiments.experiment import Experiment
from phalanx_core.experiments.figure import CANNOT, DIFFERS, MATCHES, Figure
from phalanx_core.experiments.registry import EXPERIMENTS

__all__ = [
    "CANNOT",
    "DIFFERS",
    "EXPERIMENTS",
    "MATCHES",
    "Experiment",
    "Figure",
]

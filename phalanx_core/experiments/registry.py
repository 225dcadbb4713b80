"""Every experiment by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from phalanx_core.experiments import crossover, latency, sweep, table3, table4, table5
from phalanx_core.experiments.experiment import Experiment

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        module.EXPERIMENT.name: module.EXPERIMENT
        for module in (table3, table4, table5, latency, sweep, crossover)
    }
)

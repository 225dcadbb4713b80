"""Slow twins for tests: they enumerate where planner and ledger compute."""

from phalanx_core.testing.brute import brute_force_placements, brute_force_repairs
from phalanx_core.testing.geometries import (
    GEOMETRIES,
    Geometry,
    SpareShape,
    nested_topology,
    random_topology,
    shuffled,
)
from phalanx_core.testing.judging import Difference
from phalanx_core.testing.pair import Pair, compare
from phalanx_core.testing.piecewise import piecewise_entitlements
from phalanx_core.testing.slow_ledger import SlowLedger, slow_entitlements
from phalanx_core.testing.slow_planner import SlowPlanner
from phalanx_core.testing.slow_tree import SlowTree

__all__ = [
    "GEOMETRIES",
    "Difference",
    "Geometry",
    "Pair",
    "SlowLedger",
    "SlowPlanner",
    "SlowTree",
    "SpareShape",
    "brute_force_placements",
    "brute_force_repairs",
    "compare",
    "nested_topology",
    "piecewise_entitlements",
    "random_topology",
    "shuffled",
    "slow_entitlements",
]

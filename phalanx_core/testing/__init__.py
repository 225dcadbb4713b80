"""A slow twin of the planner for tests: it enumerates where the planner computes."""

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
from phalanx_core.testing.slow_planner import SlowPlanner
from phalanx_core.testing.slow_tree import SlowTree

__all__ = [
    "GEOMETRIES",
    "Difference",
    "Geometry",
    "Pair",
    "SlowPlanner",
    "SlowTree",
    "SpareShape",
    "brute_force_placements",
    "brute_force_repairs",
    "compare",
    "nested_topology",
    "random_topology",
    "shuffled",
]

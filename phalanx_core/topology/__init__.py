"""The compiled view of a cluster: levels, domains and leaves."""

from phalanx_core.topology.picture import picture
from phalanx_core.topology.report import CompileReport, LeftOut, LevelSummary
from phalanx_core.topology.topology import Topology
from phalanx_core.topology.tree import DomainTree, build_tree

__all__ = [
    "CompileReport",
    "DomainTree",
    "LeftOut",
    "LevelSummary",
    "Topology",
    "build_tree",
    "picture",
]

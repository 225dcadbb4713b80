"""Kueue's ``Topology``: label keys of Nodes, broadest first."""

from __future__ import annotations

from phalanx_core.topology.readers.topology_objects import TopologyObjects

READER = TopologyObjects(
    "kueue.x-k8s.io", ("v1alpha1", "v1beta1", "v1beta2"), has_aliases=False
)

"""KAI's ``Topology``: as Kueue's, and a level may have an alias, which names it."""

from __future__ import annotations

from phalanx_core.topology.readers.topology_objects import TopologyObjects

READER = TopologyObjects("kai.scheduler", ("v1alpha1",), has_aliases=True)

"""``json``: everything, for programs of one's own."""

from __future__ import annotations

from typing import Any

from phalanx_core.placement.keys import Handle
from phalanx_core.placement.repair import Repair
from phalanx_core.placement.writers.json_text import json_text
from phalanx_core.placement.writers.layout import Layout
from phalanx_core.placement.writers.options import WriteOptions


def write_document(layout: Layout, options: WriteOptions) -> str:
    """One JSON object; ``docs/outputs.md`` has its fields."""
    placement, topology, leaves = layout.placement, layout.topology, layout.leaves
    level = placement.level_after if isinstance(placement, Repair) else placement.level
    domain = int(topology.domain_of(level)[leaves[0]])
    job = int(layout.job) if isinstance(layout.job, Handle) else layout.job
    told: dict[str, Any] = {
        "job": job,
        "ranks": len(leaves),
        "group": placement.gang.group,
        "level": topology.levels[level],
        "domain": None if domain < 0 else topology.domain_name(level, domain),
        "hosts": _hosts(layout),
    }
    if isinstance(placement, Repair):
        names = topology.names
        told["moves"] = [
            {"rank": rank, "from": names[old], "to": names[new]}
            for rank, old, new in placement.moves.tolist()
        ]
        told["spares_used"] = placement.spares_used
        told["unresolved"] = placement.unresolved.tolist()
    return json_text(told)


def _hosts(layout: Layout) -> list[dict[str, Any]]:
    topology, level = layout.topology, layout.host_level
    domains = topology.domain_of(level)[list(layout.leaves)].tolist()
    rows: dict[int, dict[str, Any]] = {}
    for rank, (leaf, domain) in enumerate(zip(layout.leaves, domains, strict=True)):
        if domain not in rows:
            host = None if domain < 0 else topology.domain_name(level, domain)
            rows[domain] = {"host": host, "ranks": [], "leaves": []}
        rows[domain]["ranks"].append(rank)
        rows[domain]["leaves"].append(topology.names[leaf])
    return list(rows.values())

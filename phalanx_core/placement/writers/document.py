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
    gang, ranks = placement.gang, layout.ranks
    job = int(layout.job) if isinstance(layout.job, Handle) else layout.job
    told: dict[str, Any] = {
        "job": job,
        "ranks": len(leaves),
        "group": gang.group if layout.part is None else gang.parts[layout.part].group,
        **_parts(layout),
        "level": topology.levels[level],
        "domain": None if domain < 0 else topology.domain_name(level, domain),
        "hosts": _hosts(layout),
    }
    if isinstance(placement, Repair):
        names = topology.names
        told["moves"] = [
            {"rank": rank - ranks.start, "from": names[old], "to": names[new]}
            for rank, old, new in placement.moves.tolist()
            if rank in ranks
        ]
        told["spares_used"] = placement.spares_used
        told["unresolved"] = [
            rank - ranks.start
            for rank in placement.unresolved.tolist()
            if rank in ranks
        ]
    return json_text(told)


def _parts(layout: Layout) -> dict[str, Any]:
    """Ranks of each part of a gang of parts, or which of them this is."""
    gang = layout.placement.gang
    if layout.part is not None:
        return {"part": layout.part, "first_rank": layout.ranks.start}
    return {"parts": [part.ranks for part in gang.parts]} if gang.parts else {}


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

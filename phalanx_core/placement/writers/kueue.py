"""``kueue-v1beta1`` and ``kueue-v1beta2``: Kueue's TopologyAssignment."""

from __future__ import annotations

import json
import re
from typing import Any

from phalanx_core.errors import InvalidRequest
from phalanx_core.placement.writers.json_text import json_text
from phalanx_core.placement.writers.layout import Layout
from phalanx_core.placement.writers.options import WriteOptions
from phalanx_core.placement.writers.slices import Domain, slices_of

# A value of a Kubernetes label.
LABEL_VALUE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
LABEL_VALUE_MAX = 63
# What etcd stores in one object, the Workload that carries the assignment.
BYTES_MAX = 1_572_864


def write_v1beta1(layout: Layout, options: WriteOptions) -> str:
    """``levels`` and one entry of ``domains`` for each domain of the lowest level."""
    domains = [
        {"values": list(domain.values), "count": domain.count}
        for domain in _domains(layout, options)
    ]
    return _document(layout, options, "domains", domains)


def write_v1beta2(layout: Layout, options: WriteOptions) -> str:
    """``levels`` and ``slices``, what values have in common written once."""
    slices = slices_of(_domains(layout, options))
    return _document(layout, options, "slices", slices)


def _document(
    layout: Layout, options: WriteOptions, field: str, rows: list[dict[str, Any]]
) -> str:
    keys = [key for _, key in options.kueue_levels]
    told = {"levels": keys, field: rows}
    size = len(json.dumps(told, separators=(",", ":")))
    if size > BYTES_MAX:
        other = ": use 'kueue-v1beta2'" if field == "domains" else ""
        layout.refuse(f"{size} bytes; an object of etcd has at most {BYTES_MAX}{other}")
    return json_text(told)


def _domains(layout: Layout, options: WriteOptions) -> list[Domain]:
    """Domains in rank order; Kueue deals its Pods out in the order of the list."""
    indexes = _level_indexes(layout, options)
    lowest = indexes[-1]
    shares = layout.shares(lowest)
    layout.require_blocks(
        shares, lowest, "Kueue numbers the Pods of one domain after the other"
    )
    names = layout.topology.levels
    rows = []
    seen: dict[tuple[str, ...], str] = {}
    for share in shares:
        where = f"{names[lowest]} {layout.topology.domain_name(lowest, share.domain)!r}"
        values = tuple(
            _value(layout, level, share.leaves[0], where) for level in indexes
        )
        if values in seen:
            layout.refuse(
                f"{where} and {seen[values]} have the same labels "
                f"{', '.join(values)}: name more levels in kueue_levels"
            )
        seen[values] = where
        count, rest = divmod(len(share.ranks), options.ranks_per_pod)
        if rest:
            layout.refuse(
                f"{where} has {len(share.ranks)} ranks, no multiple of "
                f"ranks_per_pod {options.ranks_per_pod}"
            )
        rows.append(Domain(values, count))
    return rows


def _level_indexes(layout: Layout, options: WriteOptions) -> list[int]:
    topology = layout.topology
    indexes = []
    for level, _ in options.kueue_levels:
        name = level
        if level == "host" and "host" not in topology.levels:
            name = topology.levels[layout.host_level]
        try:
            indexes.append(topology.level_index(name))
        except InvalidRequest as error:
            layout.refuse(f"kueue_levels: {error}")
    if 0 in indexes or indexes != sorted(set(indexes), reverse=True):
        told = ", ".join(level for level, _ in options.kueue_levels)
        layout.refuse(f"kueue_levels: {told}: broadest first, and none is the leaf")
    return indexes


def _value(layout: Layout, level: int, leaf: int, where: str) -> str:
    topology = layout.topology
    domain = int(topology.domain_of(level)[leaf])
    if domain < 0:
        layout.refuse(f"{where} has no {topology.levels[level]}")
    value = str(topology.labels_of(level)[domain])
    if len(value) > LABEL_VALUE_MAX or not LABEL_VALUE.fullmatch(value):
        layout.refuse(
            f"{topology.levels[level]} {value!r}: a label's value has letters, digits, "
            f"'-', '_' and '.', begins and ends with a letter or digit, and has at most "
            f"{LABEL_VALUE_MAX} signs"
        )
    return value

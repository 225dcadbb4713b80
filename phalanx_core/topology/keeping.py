"""A topology with leaves that its source no longer has, or has elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology.topology import Topology


class KeptLeaf(NamedTuple):
    """A leaf to keep, and where.

    Attributes
    ----------
    name
        Of the leaf; one that the topology has is put here instead.
    rail
        Its NIC rail, used where the topology has rails.
    anchor
        Leaf id whose domains it shares from ``level`` upward, -1 for none.
    level
        Level index; without an anchor the number of levels.
    labels
        Its labels at levels 1 to ``level`` - 1, None for no domain.
    """

    name: str
    rail: int
    anchor: int
    level: int
    labels: tuple[Hashable, ...]

    def to_row(self) -> list[Any]:
        """As a JSON value; a label that JSON has no word for becomes a text."""
        plain = [
            one if one is None or type(one) in (str, int) else str(one)
            for one in self.labels
        ]
        return [self.name, self.rail, self.anchor, self.level, plain]


def kept_leaf(row: Sequence[Any]) -> KeptLeaf:
    """A leaf from :meth:`KeptLeaf.to_row`.

    Raises
    ------
    ValueError, TypeError
        If the row is not of that form.
    """
    name, rail, anchor, level, labels = row
    if not isinstance(name, str) or len(labels) != level - 1:
        raise ValueError(f"leaf {name!r}: {len(labels)} labels below level {level}")
    return KeptLeaf(name, int(rail), int(anchor), int(level), tuple(labels))


def with_kept(topology: Topology, kept: Sequence[KeptLeaf], type: str) -> Topology:
    """The topology with more leaves behind its own, which keep their ids.

    Domain ids stay where no new domain stands in the middle of a level: a lost host
    stands at the end of its rack.

    Parameters
    ----------
    kept
        Leaves to add, or to put elsewhere; none gives the topology itself.
    type
        GPU type of those leaves.

    Raises
    ------
    InvalidRequest
        If an anchor is no leaf of the topology.
    TopologyError
        If there are too many leaves.

    Notes
    -----
    O(leaves * levels).

    Examples
    --------
    >>> topology = Topology.from_spec("rack:2 host:1 gpu:2")
    >>> lost = KeptLeaf("h9/gpu-0", 0, anchor=0, level=2, labels=("h9",))
    >>> more = with_kept(topology, [lost], "gpu")
    >>> more.describe(), more.leaves("rack", "rack-0").tolist()
    ('rack:2 host:1..2 gpu:1..2', [0, 1, 4])
    """
    if not kept:
        return topology
    depth = len(topology.levels)
    rows = [
        _labels(topology, level, range(topology.leaf_count))
        for level in range(1, depth)
    ]
    names, types = list(topology.names), list(topology.types)
    had = topology.nic_rails
    rails = [0] * len(names) if had is None else had.tolist()
    place = {name: leaf for leaf, name in enumerate(names)}
    for one in kept:
        if not -1 <= one.anchor < topology.leaf_count or not 1 <= one.level <= depth:
            raise InvalidRequest(
                f"leaf {one.name!r}: no leaf {one.anchor} to be beside"
            )
        leaf = place.setdefault(one.name, len(names))
        if leaf == len(names):
            names.append("")
            types.append("")
            rails.append(0)
            for row in rows:
                row.append(None)
        names[leaf], types[leaf], rails[leaf] = one.name, type, one.rail
        for level in range(1, depth):
            if level < one.level:
                rows[level - 1][leaf] = one.labels[level - 1]
            else:
                rows[level - 1][leaf] = _labels(topology, level, [one.anchor])[0]
    return replace(
        _compiled(topology, rows, names, types, rails), report=topology.report
    )


def settled(made: Topology, kept: Sequence[KeptLeaf]) -> tuple[KeptLeaf, ...]:
    """The same leaves by id, each described by the lowest domain it shares with others.

    Parameters
    ----------
    made
        What :func:`with_kept` made of ``kept``. Equal ones settle equally, whatever
        labels happened to coincide.
    """
    if not kept:
        return ()
    kept = sorted(kept, key=lambda one: made.leaf(one.name))
    mine = np.array([made.leaf(one.name) for one in kept])
    others = np.delete(np.arange(made.leaf_count), mine)
    depth = len(made.levels)
    anchors = np.full(mine.size, -1)
    levels = np.full(mine.size, depth)
    for level in range(depth - 1, 0, -1):
        row = made.domain_of(level)
        first = np.full(made.domain_count(level) + 1, made.leaf_count)
        np.minimum.at(first, row[others], others)
        first[-1] = made.leaf_count  # no domain is none to share
        found = first[row[mine]]
        shared = found < made.leaf_count
        anchors[shared], levels[shared] = found[shared], level
    labels = [_labels(made, level, mine.tolist()) for level in range(1, depth)]
    return tuple(
        KeptLeaf(one.name, one.rail, anchor, level, tuple(row[: level - 1]))
        for one, anchor, level, row in zip(
            kept,
            anchors.tolist(),
            levels.tolist(),
            zip(*labels, strict=True),
            strict=True,
        )
    )


def _labels(topology: Topology, level: int, leaves: Sequence[int]) -> list[Any]:
    """Label of each leaf at a level; None where it has no domain."""
    labels = (*topology.labels_of(level), None)
    domains = topology.domain_of(level)[np.asarray(leaves, np.int64)]
    return [labels[domain] for domain in domains.tolist()]


def _compiled(
    topology: Topology,
    rows: list[list[Any]],
    names: list[str],
    types: list[str],
    rails: list[int],
) -> Topology:
    nvlink = topology.nvlink_level
    levels = topology.levels
    return Topology.from_labels(
        levels[1:],
        rows,
        names=names,
        types=types,
        nic_rails=None if topology.nic_rails is None else np.array(rails, np.int64),
        bandwidth={
            name: rate
            for name, rate in zip(levels, topology.bandwidth, strict=True)
            if rate is not None
        },
        nvlink=None if nvlink is None else levels[nvlink],
        leaf=levels[0],
    )

"""From labels a leaf to dense domain ids: the array work behind ``Topology``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import TopologyError

IntArray = NDArray[np.int32]
_Wide = NDArray[np.int64]


class Grouping(NamedTuple):
    """What labels compile to; see :func:`group_labels`."""

    domains: tuple[IntArray, ...]
    labels: tuple[tuple[Hashable, ...], ...]
    order: IntArray


def group_labels(
    levels: Sequence[str],
    labels: Sequence[Sequence[Hashable]],
    leaf_count: int,
    rails: IntArray | None = None,
) -> Grouping:
    """Give every labelled domain a dense id in address order.

    Parameters
    ----------
    levels
        Level names from the leaf upward, without the leaf: shape (D,).
    labels
        ``labels[k]`` holds one label a leaf of ``levels[k]``; None = no domain.
    leaf_count
        Number of leaves n.
    rails
        NIC rail of each leaf, shape (n,): leaves of one lowest domain are addressed in
        this order, so that equal places in two hosts are on equal rails.

    Returns
    -------
    Grouping
        ``domains`` D int32 arrays, shape (n,), ids or -1; ``labels`` the label of each
        id; ``order`` int32, shape (n,), the leaf at each address position.

    Raises
    ------
    TopologyError
        If a label cannot be hashed, or a level has not exactly one label a leaf.

    Notes
    -----
    O(n * D) time when domains are contiguous, one sort more where they are not.

    Examples
    --------
    >>> made = group_labels(["host"], [["b", "a", "b"]], 3)
    >>> made.domains[0].tolist(), made.labels[0], made.order.tolist()
    ([0, 1, 0], ('b', 'a'), [0, 2, 1])
    """
    coded = [_codes(labels[k], leaf_count, levels[k]) for k in range(len(levels))]
    path: _Wide = np.zeros(leaf_count, dtype=np.int64)
    firsts: list[_Wide] = []
    for codes in reversed(coded):
        path, first_leaf = _dense(path * (int(codes.max()) + 2) + codes + 1)
        firsts.append(first_leaf)
    firsts.reverse()
    keys = _vertex_keys(coded, firsts)
    order = _address_order(keys, rails)
    domains = []
    names = []
    for k, codes in enumerate(coded):
        ids, starts = _ids_in_order(np.where(codes >= 0, firsts[k], -1)[order])
        domain = np.empty(leaf_count, dtype=np.int32)
        domain[order] = ids
        domains.append(domain)
        names.append(tuple(labels[k][leaf] for leaf in order[starts].tolist()))
    return Grouping(tuple(domains), tuple(names), order)


def domain_starts(in_order: IntArray) -> IntArray:
    """Address position at which each domain begins; ``in_order`` is by position."""
    return _ids_in_order(in_order.astype(np.int64))[1].astype(np.int32)


def _codes(labels: Sequence[Hashable], leaf_count: int, level: str) -> _Wide:
    if len(labels) != leaf_count:
        raise TopologyError(
            f"labels of level {level!r}: one label a leaf is needed, "
            f"got {len(labels)} for {leaf_count} leaves"
        )
    seen: dict[Hashable, int] = {None: -1}
    give = seen.setdefault
    try:
        return np.fromiter(
            (give(label, len(seen) - 1) for label in labels), np.int64, leaf_count
        )
    except TypeError as error:
        raise TopologyError(
            f"labels of level {level!r}: a label must be hashable ({error})"
        ) from None


def _dense(values: _Wide) -> tuple[_Wide, _Wide]:
    """Dense group numbers, and for each leaf the first leaf of its group."""
    change = np.flatnonzero(values[1:] != values[:-1]) + 1
    starts = np.concatenate([np.zeros(1, dtype=np.int64), change])
    lengths = np.diff(starts, append=values.size)
    _, first_run, group = np.unique(
        values[starts], return_index=True, return_inverse=True
    )
    group = group.reshape(-1)
    leaf = starts[first_run][group]
    return np.repeat(group, lengths), np.repeat(leaf, lengths)


def _vertex_keys(coded: list[_Wide], firsts: list[_Wide]) -> list[_Wide]:
    """First leaf of each leaf's vertex; a missing vertex is private to its child."""
    keys = []
    below: _Wide = np.arange(coded[0].size, dtype=np.int64)
    for codes, first in zip(coded, firsts, strict=True):
        below = np.where(codes >= 0, first, below)
        keys.append(below)
    return keys


def _address_order(keys: list[_Wide], rails: IntArray | None) -> IntArray:
    in_order = all(bool((key[1:] >= key[:-1]).all()) for key in keys)
    if rails is not None and in_order:
        lowest = keys[0]
        next_domain = lowest[1:] != lowest[:-1]
        in_order = bool((next_domain | (rails[1:] >= rails[:-1])).all())
    if in_order:
        return np.arange(keys[0].size, dtype=np.int32)
    rows = keys if rails is None else [rails.astype(np.int64), *keys]
    return np.lexsort(rows).astype(np.int32)


def _ids_in_order(group: _Wide) -> tuple[IntArray, _Wide]:
    opens = group >= 0
    opens[1:] &= group[1:] != group[:-1]
    ids = np.cumsum(opens, dtype=np.int32) - np.int32(1)
    ids[group < 0] = -1
    return ids, np.flatnonzero(opens)

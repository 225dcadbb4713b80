"""Leaves as a caller names them, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from phalanx_core.checks import shown
from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology


def checked_leaves(topology: Topology, leaves: Any, subject: str) -> NDArray[np.int64]:
    """Leaf ids of leaves given by id or name: int64.

    Parameters
    ----------
    leaves
        One id or name, an iterable of them, or an integer array; a set counts in order
        of ids.
    subject
        The call, for messages.

    Raises
    ------
    InvalidRequest
        If a leaf does not exist or is listed twice.
    """
    ids = _ids(topology, leaves, subject)
    if not ids.size:
        return ids
    if int(ids.min()) < 0 or int(ids.max()) >= topology.leaf_count:
        bad = (ids < 0) | (ids >= topology.leaf_count)
        _no_leaf(topology, int(ids[bad][0]), subject)
    if len(set(ids.tolist())) != ids.size:
        _, firsts = np.unique(ids, return_index=True)
        again = np.delete(ids, firsts)[0]
        raise InvalidRequest(f"{subject}: leaf {int(again)} is listed twice")
    return ids


def _ids(topology: Topology, leaves: Any, subject: str) -> NDArray[np.int64]:
    if isinstance(leaves, np.ndarray) and leaves.dtype.kind in "iu":
        if leaves.ndim > 1:
            raise InvalidRequest(f"{subject}: leaves of shape {leaves.shape}")
        if leaves.dtype.kind == "u" and int(leaves.max(initial=0)) >= 2**63:
            _no_leaf(topology, int(leaves.max()), subject)
        return np.atleast_1d(leaves).astype(np.int64)
    if isinstance(leaves, (str, int, np.integer)):
        leaves = (leaves,)
    if not isinstance(leaves, Iterable):
        raise InvalidRequest(f"{subject}: {leaves!r} is no leaf and no list of them")
    ids = [_id(topology, leaf, subject) for leaf in leaves]
    if isinstance(leaves, (set, frozenset)):
        ids.sort()
    return np.array(ids, np.int64)


def _id(topology: Topology, leaf: object, subject: str) -> int:
    if isinstance(leaf, str):
        try:
            return topology.leaf(leaf)
        except InvalidRequest as error:
            raise InvalidRequest(f"{subject}: {error}") from None
    if isinstance(leaf, (int, np.integer)) and not isinstance(leaf, bool):
        if abs(int(leaf)) >= 2**62:
            _no_leaf(topology, int(leaf), subject)
        return int(leaf)
    raise InvalidRequest(f"{subject}: leaf {leaf!r}: an id or a name")


def _no_leaf(topology: Topology, leaf: int, subject: str) -> NoReturn:
    raise InvalidRequest(
        f"{subject}: leaf {shown(leaf)} does not exist; ids are 0 to "
        f"{topology.leaf_count - 1}"
    )

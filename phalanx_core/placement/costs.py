"""What a byte costs at each level of a topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology

FloatArray = NDArray[np.float64]
Costs: TypeAlias = Mapping[str, float] | Sequence[float] | FloatArray


def level_costs(topology: Topology, costs: Any = None) -> FloatArray:
    """Cost of a byte at each distance: float64, shape (levels + 1,).

    Parameters
    ----------
    costs
        As for :func:`communication`.

    Returns
    -------
    By level, then for ranks that share no domain; NaN there where none is given.

    Raises
    ------
    InvalidRequest
        If a level is missing, or a cost is negative, not finite or falls.

    Examples
    --------
    >>> level_costs(Topology.from_spec("host:2 gpu:4")).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    levels = topology.levels
    prices = np.full(len(levels) + 1, np.nan)
    if costs is None:
        known = topology.bandwidth[1:]
        if all(speed is not None for speed in known):
            prices[:-1] = [0.0, *(1.0 / speed for speed in known if speed is not None)]
        else:
            prices[:] = np.arange(prices.size)
    elif isinstance(costs, Mapping):
        if set(costs) != set(levels[1:]):
            raise InvalidRequest(
                f"costs of {', '.join(map(str, costs))}: one for each of "
                f"{', '.join(levels[1:])}"
            )
        prices[:-1] = _numbers([0.0, *(costs[name] for name in levels[1:])])
    else:
        row = _numbers(costs)
        if row.shape not in ((len(levels),), (len(levels) + 1,)):
            raise InvalidRequest(
                f"costs of shape {row.shape}: {len(levels)} entries, {levels[0]} to "
                f"{levels[-1]}, or one more for ranks that share no domain"
            )
        prices[: row.size] = row
    told = prices[~np.isnan(prices)]
    if (np.diff(told) < 0).any():
        at = int(np.flatnonzero(np.diff(told) < 0)[0])
        raise InvalidRequest(
            f"costs: {told[at + 1]} after {told[at]}; a level costs no less than the "
            "one below"
        )
    return prices


def _numbers(costs: Any) -> FloatArray:
    try:
        row = np.asarray(costs)
    except ValueError:
        row = np.empty(0, object)
    if row.dtype.kind not in "iuf":
        raise InvalidRequest(f"costs {costs!r}: numbers")
    row = row.astype(np.float64)
    if not (np.isfinite(row) & (row >= 0)).all():
        raise InvalidRequest(f"costs {costs!r}: finite numbers of at least 0")
    return row

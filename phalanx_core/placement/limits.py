"""Limits: at most so many leaves of a gang in each domain of a level."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.errors import InvalidRequest
from phalanx_core.native import ffi

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

# A mapping's key type is invariant: a caller's dict[str, ...] must match as it is.
Limits: TypeAlias = (
    Mapping[str, ArrayLike] | Mapping[int, ArrayLike] | Mapping[str | int, ArrayLike]
)
IntArray: TypeAlias = NDArray[np.int32]

UNLIMITED = 2**31 - 1


def copied(limits: object) -> Mapping[str | int, IntArray]:
    """Limits with arrays of their own: int32, read-only, at most ``UNLIMITED``.

    Raises
    ------
    InvalidRequest
        If they are no mapping, or an array is not a row of integers from 0.
    """
    if not isinstance(limits, Mapping):
        raise InvalidRequest(f"limits {limits!r}: a mapping of level to int array")
    return MappingProxyType(
        {level: _copied_row(level, row) for level, row in limits.items()}
    )


def _copied_row(level: object, row: ArrayLike) -> IntArray:
    where = f"limits[{level!r}]"
    try:
        values = np.asarray(row)
    except ValueError as error:
        raise InvalidRequest(f"{where}: {error}") from None
    if values.size == 0:
        values = values.astype(np.int32)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InvalidRequest(
            f"{where}: shape {values.shape} and dtype {values.dtype}; a limit is one "
            "integer a domain"
        )
    if values.size and values.min() < 0:
        domain = int(np.argmax(values < 0))
        raise InvalidRequest(
            f"{where}[{domain}] is {values[domain]}; a limit is at least 0"
        )
    own: IntArray = np.minimum(values, UNLIMITED).astype(np.int32)
    own.setflags(write=False)
    return own


class VertexLimits:
    """Limits by vertex of the core's tree, as the core reads them.

    Attributes
    ----------
    given
        The limits by level index and domain, as they are stored and saved.
    pointer
        ``const int32_t *const *``: one row a level, NULL where there is no limit;
        itself NULL where there is none at all. It keeps its rows.
    """

    __slots__ = ("given", "pointer")

    def __init__(self, frame: Frame, limits: Mapping[Any, IntArray]) -> None:
        self.given: dict[int, IntArray] = {}
        self.pointer: Any = ffi.NULL
        rows: list[Any] = []
        if limits:
            table = ffi.new("int32_t *[]", len(frame.topology.levels))
            rows.append(table)
            whole = ffi.cast("int32_t **", table)
            self.pointer = ffi.gc(whole, lambda _: rows.clear())
        for level, row in limits.items():
            try:
                index = frame.topology.level_index(level)
            except InvalidRequest as error:
                raise InvalidRequest(f"limits[{level!r}]: {error}") from None
            count = frame.topology.domain_count(index)
            if row.size != count:
                raise InvalidRequest(
                    f"limits[{level!r}] has {row.size} entries; the topology has "
                    f"{count} domains of level {frame.topology.levels[index]!r}"
                )
            if index in self.given:
                raise InvalidRequest(f"limits[{level!r}]: the level is given twice")
            self.given[index] = row
            real = frame.tree.real[index]
            by_vertex = np.full(real.size, UNLIMITED, dtype=np.int32)
            by_vertex[real >= 0] = row[real[real >= 0]]
            kept = ffi.from_buffer("int32_t[]", by_vertex)
            self.pointer[index] = kept
            rows.append(kept)


def limited_levels(frame: Frame, pointer: Any) -> tuple[str, ...]:
    """Names of the levels that limits are given for, by :attr:`VertexLimits.pointer`.

    Parameters
    ----------
    pointer
        NULL where there are no limits.
    """
    if pointer == ffi.NULL:
        return ()
    levels = frame.topology.levels
    return tuple(name for at, name in enumerate(levels) if pointer[at] != ffi.NULL)

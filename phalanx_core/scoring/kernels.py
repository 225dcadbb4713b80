"""Compiled loops of scoring, and their twins in NumPy."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.kernel import kernel

prange: Any = range
FloatArray = NDArray[np.floating[Any]]

_TYPES = [
    f"void({t}[:, ::1], {t}[::1], {t}[::1], boolean, {t}[:, ::1])"
    for t in ("float64", "float32")
]


def multiply_plain(
    value: FloatArray, factor: FloatArray, age: FloatArray, root: bool, out: FloatArray
) -> None:
    """(value * factor), its square root if asked, times age: row by row."""
    np.multiply(value, factor[:, None], out=out)
    if root:
        np.sqrt(out, out=out)
    np.multiply(out, age[:, None], out=out)


@kernel(*_TYPES, parallel=True)
def multiply_threads(
    value: FloatArray, factor: FloatArray, age: FloatArray, root: bool, out: FloatArray
) -> None:
    """:func:`multiply_plain` in one pass over all, by all threads there are."""
    for job in prange(value.shape[0]):
        for choice in range(value.shape[1]):
            product = value[job, choice] * factor[job]
            if root:
                product = sqrt(product)
            out[job, choice] = product * age[job]

"""``ChoiceTable``: goodput and demand of all jobs as arrays, a row a job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FIRST_ROWS = 64


class ChoiceTable:
    """Rows are given out and taken back; columns are configurations.

    Parameters
    ----------
    types
        How many GPU types there are.

    Attributes
    ----------
    goodput
        NaN where there is no such configuration or it can never run: float64, shape
        (rows, configurations).
    demand
        GPUs of each type: int64, shape (rows, configurations, types).
    shape
        A number that equal gangs on one type share, -1 where there is no configuration:
        int64, shape (rows, configurations).
    """

    def __init__(self, types: int) -> None:
        self.goodput: NDArray[np.float64] = np.full((FIRST_ROWS, 1), np.nan)
        self.demand: NDArray[np.int64] = np.zeros((FIRST_ROWS, 1, types), np.int64)
        self.shape: NDArray[np.int64] = np.full((FIRST_ROWS, 1), -1)
        self._free = list(range(FIRST_ROWS - 1, -1, -1))

    def add(
        self,
        goodput: Sequence[float],
        gpus: Sequence[int],
        types: Sequence[int],
        shapes: Sequence[int],
    ) -> int:
        """A row for a job; its number.

        Parameters
        ----------
        goodput, gpus, types, shapes
            Of each configuration: goodput or NaN, GPUs, index of the type, shape.
        """
        self._grow(len(goodput))
        row = self._free.pop()
        self.goodput[row, : len(goodput)] = goodput
        self.demand[row, range(len(gpus)), types] = gpus
        self.shape[row, : len(shapes)] = shapes
        return row

    def remove(self, row: int) -> None:
        """Take a row back."""
        self.goodput[row] = np.nan
        self.demand[row] = 0
        self.shape[row] = -1
        self._free.append(row)

    def _grow(self, columns: int) -> None:
        rows, before = self.goodput.shape
        more = rows if not self._free else 0
        wider = max(0, columns - before)
        if not more and not wider:
            return
        pad = ((0, more), (0, wider))
        self.goodput = np.pad(self.goodput, pad, constant_values=np.nan)
        self.demand = np.pad(self.demand, (*pad, (0, 0)))
        self.shape = np.pad(self.shape, pad, constant_values=-1)
        self._free[:0] = range(rows + more - 1, rows - 1, -1)

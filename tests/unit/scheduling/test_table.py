"""Rows of choices: given out, taken back, and more of them than there were."""

from __future__ import annotations

import numpy as np

from phalanx_core.scheduling.table import FIRST_ROWS, ChoiceTable


def test_a_row_holds_what_was_told() -> None:
    """NaN and nothing beyond the configurations of a job."""
    table = ChoiceTable(2)
    assert table.add([1.0], [4], [1], [7]) == 0
    assert table.add([2.0, 3.0], [8, 2], [0, 1], [5, 6]) == 1
    np.testing.assert_array_equal(
        table.goodput[:3], [[1.0, np.nan], [2.0, 3.0], [np.nan, np.nan]]
    )
    assert table.demand[:2].tolist() == [[[0, 4], [0, 0]], [[8, 0], [0, 2]]]
    assert table.shape[:3].tolist() == [[7, -1], [5, 6], [-1, -1]]


def test_a_row_taken_back_is_empty_and_used_again() -> None:
    """Nothing of the job before is left in it."""
    table = ChoiceTable(1)
    table.add([1.0, 2.0], [4, 2], [0, 0], [0, 1])
    table.remove(0)
    assert np.isnan(table.goodput[0]).all()
    assert table.demand[0].tolist() == [[0], [0]]
    assert table.add([5.0], [1], [0], [3]) == 0
    assert table.shape[0].tolist() == [3, -1]


def test_rows_are_as_many_as_jobs() -> None:
    """It grows by doubling, and no row is given out twice."""
    table = ChoiceTable(1)
    rows = [table.add([1.0], [at + 1], [0], [at]) for at in range(2 * FIRST_ROWS + 1)]
    assert rows == list(range(2 * FIRST_ROWS + 1))
    assert len(table.goodput) == 4 * FIRST_ROWS
    assert table.demand[rows, 0, 0].tolist() == [at + 1 for at in rows]

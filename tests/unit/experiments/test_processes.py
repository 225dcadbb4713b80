"""Work on local processes."""

from __future__ import annotations

import math

import pytest

from phalanx_core.experiments.processes import mapped


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_results_are_in_the_order_of_the_items(processes: int) -> None:
    """However many processes there are."""
    assert mapped(math.factorial, [5, 3, 4], processes) == [120, 6, 24]


def test_what_goes_wrong_is_raised() -> None:
    """From another process as from this one."""
    for processes in (1, 2):
        with pytest.raises(ValueError, match="negative"):
            mapped(math.factorial, [1, -1], processes)

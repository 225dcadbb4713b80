"""What is no number is refused by name, wherever a round takes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from phalanx_core import InvalidRequest, score, solve
from phalanx_core.scheduling import oak

JOB = {"goodput": [[1.0, 2.0]], "progress_s": [1], "checkpoint_s": [1]}
JOB |= {"restart_s": [1], "waiting_s": [1]}
ROUND = {"utility": [[1.0, 2.0]], "demand": [1, 2], "capacity": 3, "current": [0]}
NO_NUMBERS = (
    np.array([[1j]]),
    [[1], [1, 2]],
    "x",
    [None],
    [["x"]],
    object(),
    1j,
    [1, "x"],
)
SCORE = ("fairness", "age_rate_per_s", "age_cap", "restart_floor", *JOB)
SOLVE = (
    *("idle", "keep_bonus", "prices", "fixed", "keys", "effort", "time_limit_s"),
    *("gap", "seed", *ROUND),
)


@pytest.mark.parametrize(
    ("call", "fields", "name"),
    [
        *((score, JOB, name) for name in SCORE),
        *((solve, ROUND, name) for name in SOLVE),
        *((oak, JOB | {"demand": [1, 2], "capacity": 3}, name) for name in JOB),
        (oak, JOB | {"demand": [1, 2], "capacity": 3}, "waiting_bound_s"),
    ],
)
def test_what_is_no_number_is_refused_by_name(
    call: Callable[..., Any], fields: dict[str, Any], name: str
) -> None:
    """Text, objects, complex numbers, and lists of them."""
    for value in NO_NUMBERS:
        with pytest.raises(InvalidRequest, match=name):
            call(**(fields | {name: value}))

"""Options are checked once, when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.scheduling import EarlyEviction, SchedulerOptions

BAD = [
    ({"order": "first"}, "order 'first': one of utility, owed, owed-then-utility"),
    ({"trigger": None}, "trigger None: one of timer, event"),
    ({"releases": "later"}, "releases 'later': one of reported, immediate"),
    ({"entitlement": "all"}, "entitlement 'all': one of quota, demand"),
    ({"pass_over": "all"}, "pass_over 'all': one of job, tenant"),
    ({"age": "first"}, "age 'first': one of last, total"),
    ({"lease_s": 0}, "lease_s 0: finite and above 0"),
    ({"lease_s": float("inf")}, "lease_s inf: finite and above 0"),
    ({"round_s": "1"}, "round_s '1': finite and above 0"),
    # A round longer than a lease would let every lease run over.
    ({"round_s": 1000.0}, "round_s 1000.0: at most lease_s, which is 900.0"),
    ({"waiting_bound_s": -1.0}, "waiting_bound_s -1.0: from 0, or infinite"),
    ({"reservations": -1}, "reservations -1: a whole number from 0"),
    ({"repairs": 1.5}, "repairs 1.5: a whole number from 0"),
    ({"early_eviction": True}, "early_eviction True: EarlyEviction or None"),
    ({"idle": float("nan")}, "idle nan: a finite number"),
    ({"normalized": 1}, "normalized 1: True or False"),
    ({"reward": 3}, "reward 3: a function of candidates"),
    ({"gap": -1}, "gap -1: in [0, 1)"),
    ({"gap": float("nan")}, "gap nan: in [0, 1)"),
    ({"effort": "x"}, "effort 'x': a whole number, or None"),
    ({"seed": -1}, "seed -1: a whole number to 2147483647"),
    ({"time_limit_s": -1}, "time_limit_s -1: from 0, or None"),
    ({"fairness": float("nan")}, "fairness nan: in (0, 1]"),
    # Sia's powers below 0 are to be minimised; a round takes the most.
    ({"fairness": -0.5}, "fairness -0.5: in (0, 1]"),
    ({"age_cap": 0}, "age_cap 0: from 1 to 1e50"),
    ({"age_rate_per_s": -1}, "age_rate_per_s -1: above 0"),
    ({"restart_floor": 5}, "restart_floor 5: in [0, 1]"),
]
BAD_EVICTIONS = [
    ({"for_new": 1}, "for_new 1: True or False"),
    ({"for_urgent": None}, "for_urgent None: True or False"),
    ({"first_s": (5.0, 1.0)}, "first_s (5.0, 1.0): two numbers from 0, rising"),
    ({"first_s": 5.0}, "first_s 5.0: two numbers from 0, rising"),
    ({"renewed_s": -1}, "renewed_s -1: at least 0"),
]


@pytest.mark.parametrize(("given", "message"), BAD)
def test_bad_options(given: dict[str, Any], message: str) -> None:
    """The error names option, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        SchedulerOptions(**given)
    assert str(caught.value) == message


@pytest.mark.parametrize(("given", "message"), BAD_EVICTIONS)
def test_bad_evictions(given: dict[str, Any], message: str) -> None:
    """The error names field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        EarlyEviction(**given)
    assert str(caught.value) == message


def test_defaults_are_those_of_the_paper() -> None:
    """Leases of a quarter of an hour; nobody is evicted."""
    options = SchedulerOptions()
    assert (options.lease_s, options.round_s) == (900.0, 60.0)
    assert options.early_eviction is None
    rule = EarlyEviction()
    assert (rule.first_s, rule.renewed_s) == ((120.0, 300.0), 300.0)

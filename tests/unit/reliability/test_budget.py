"""A recovery's items: the paper's, changed, and what is none."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import RecoveryBudget


def test_the_items_of_the_paper() -> None:
    """Section 8.1, the middle of each range, in the order in which they happen."""
    assert dict(RecoveryBudget.paper().items) == {
        "detect": 5.0,
        "replan": 1.0,
        "commit": 0.1,
        "start": 10.0,
        "restore": 40.0,
        "connect": 15.0,
    }
    assert RecoveryBudget.paper().total_s == pytest.approx(71.1)


def test_items_are_changed_and_added() -> None:
    """In another budget; the one that was stays as it is."""
    paper = RecoveryBudget.paper()
    found = paper.with_items(restore=30, **{"warm up": 2})
    assert list(found.items) == [*paper.items, "warm up"]
    assert found.total_s == pytest.approx(63.1)
    assert paper.total_s == pytest.approx(71.1)
    with pytest.raises(TypeError):
        paper.items["restore"] = 1.0  # type: ignore[index]


def test_it_does_not_follow_its_mapping() -> None:
    """What is changed outside stays outside."""
    given = {"all": 1.0}
    found = RecoveryBudget(given)
    given["all"] = 5.0
    assert found.total_s == 1.0
    assert RecoveryBudget({}).total_s == 0.0


def test_it_goes_to_other_processes() -> None:
    """Pickled, compared and hashed by its items."""
    found = pickle.loads(pickle.dumps(RecoveryBudget.paper()))
    assert found == RecoveryBudget.paper()
    assert hash(found) == hash(RecoveryBudget.paper())
    assert found != found.with_items(detect=6)


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ({"detect": -1}, "detect -1: finite and at least 0"),
        ({"detect": float("nan")}, "detect nan: finite and at least 0"),
        ({"a": 1, "b": "2"}, "b '2': finite and at least 0"),
        (75.0, "items 75.0: names with their seconds"),
        ({"a": 1e308, "b": 1e308}, "items {'a': 1e+308, 'b': 1e+308}: a sum that is"),
    ],
)
def test_wrong_items_are_named(items: Any, told: str) -> None:
    """One error with name, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        RecoveryBudget(items)
    assert str(caught.value).startswith(told)

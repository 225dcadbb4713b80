"""Figures: what matches, what is told, and how it is printed."""

from __future__ import annotations

from typing import Any

import pytest

from phalanx_core import InvalidRequest
from phalanx_core.experiments import EXPERIMENTS, Figure
from phalanx_core.experiments.page import because, summary


@pytest.mark.parametrize(
    ("given", "status", "unexpected"),
    [
        ({"measured": 2.5}, "matches", False),
        ({"measured": 1.5}, "matches", False),
        ({"measured": 2.6}, "differs", True),
        ({"measured": 1.4}, "differs", True),
        ({"measured": 2.6, "because": "known"}, "differs", False),
        ({"measured": 2.6, "because": "tried", "cannot": True}, "cannot", False),
        # Whoever reproduces it after all is not told that it cannot be.
        ({"measured": 2.0, "because": "tried", "cannot": True}, "matches", False),
        ({"measured": 0.0, "bound": True}, "matches", False),
        ({"measured": 2.6, "bound": True}, "differs", True),
    ],
)
def test_status(given: dict[str, Any], status: str, unexpected: bool) -> None:
    """Within the tolerance on either side, or anything below a bound."""
    figure = Figure("one", 2.0, tolerance=0.5, **given)
    assert figure.status == status
    assert figure.unexpected == unexpected
    assert figure.to_dict()["status"] == status


@pytest.mark.parametrize(
    ("figure", "published", "measured", "tolerance"),
    [
        (Figure("a", 0.891, 0.8911, 0.001), "0.891", "0.891", "0.001"),
        (Figure("a", 1410, 1388.6, 5, "s", 0), "1,410 s", "1,389 s", "5"),
        (Figure("a", 8, 8, digits=0), "8", "8", "0"),
        (
            Figure("a", 0.779, 0.795, 0.05, "%", 1, spread=(0.774, 0.84)),
            "77.9 %",
            "79.5 % (77.4..84.0)",
            "5",
        ),
        (
            Figure("a", 1.5, 0.9, 0, "µs", 1, bound=True, timing=True),
            "≤ 1.5 µs",
            "0.9 µs",
            "",
        ),
    ],
)
def test_texts(figure: Figure, published: str, measured: str, tolerance: str) -> None:
    """Digits, unit, bound and spread."""
    assert figure.published_text == published
    assert figure.measured_text == measured
    assert figure.tolerance_text == tolerance


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measured": float("nan")}, "one: measured must be finite"),
        ({"published": float("inf")}, "one: published must be finite"),
        ({"tolerance": -1.0}, "one: tolerance must be at least 0"),
        ({"cannot": True}, "one: say why it cannot be had"),
    ],
)
def test_wrong_figures(given: dict[str, Any], message: str) -> None:
    """Numbers are finite, and reasons are given."""
    with pytest.raises(InvalidRequest, match=message):
        Figure(**{"name": "one", "published": 1.0, "measured": 1.0, **given})


def test_reasons_are_of_what_does_not_match() -> None:
    """One reason is told once, with the names of its figures; times always have theirs."""
    figures = (
        Figure("a", 1.0, 2.0, because="known"),
        Figure("b", 1.0, 3.0, because="known"),
        Figure("c", 1.0, 1.0, because="of no use"),
        Figure("d", 1.0, 1.0, because="timed", timing=True),
    )
    assert because(figures) == {"known": "a; b", "timed": "d"}
    told = "3 figures (matches 1, differs 2, cannot 0) and 1 times"
    assert summary([(EXPERIMENTS["table3"], figures)]) == told


@pytest.mark.parametrize(
    ("seed", "processes", "message"),
    [
        (-1, 1, "seed -1: a whole number from 0"),
        (2**64, 1, "seed 18446744073709551616"),
        (0, 0, "processes 0: a whole number from 1"),
        (0, 1.5, "processes 1.5: a whole number from 1"),
    ],
)
def test_wrong_arguments(seed: int, processes: int, message: str) -> None:
    """Nothing is measured with what is no seed or no number of processes."""
    with pytest.raises(InvalidRequest, match=message):
        EXPERIMENTS["table3"].run(seed, processes)


def test_the_registry() -> None:
    """Names are those of the modules, and everything says where it is from."""
    assert list(EXPERIMENTS) == [
        "table3",
        "table4",
        "table5",
        "latency",
        "sweep",
        "crossover",
    ]
    for name, one in EXPERIMENTS.items():
        assert one.name == name
        assert one.paper == "Phalanx"
        assert one.section.startswith("8.")
        assert one.title
        assert one.reading

"""Panels as images."""

from __future__ import annotations

import sys

import pytest

from phalanx_core import InvalidRequest
from phalanx_core.plots import Bars, Curve, check_format, drawn

BARS = Bars("Bars", "share", ["one", "two"], [0.9, 1.3], ["a", "b"], reference=1.0)
CURVE = Curve("Curve", "minutes", "ratio", [(0, 1), (1, 0.5)], [(1, 0.4)])


@pytest.mark.parametrize(
    ("path", "begin"),
    [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("b.c/A.SVG", b"<?xml")],
)
def test_formats(path: str, begin: bytes) -> None:
    """The extension decides, in any case."""
    assert drawn(path, [BARS, CURVE]).startswith(begin)


def test_bars_begin_at_their_reference() -> None:
    """A bar reaches from 1 to its value; groups are told by colour and legend."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    BARS.draw(axes)
    spans = [(bar.get_x(), round(bar.get_width(), 6)) for bar in axes.patches]
    assert spans == [(1.0, -0.1), (1.0, 0.3)]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["one", "two"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_a_curve_and_its_points() -> None:
    """The line as given, and the points beside it."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    CURVE.draw(axes)
    line, points = axes.lines
    assert line.get_xydata().tolist() == [[0.0, 1.0], [1.0, 0.5]]
    assert points.get_xydata().tolist() == [[1.0, 0.4]]


@pytest.mark.parametrize("path", ["figure", "figure.gif", "png"])
def test_other_formats(path: str) -> None:
    """Three are known, and the message names them."""
    with pytest.raises(InvalidRequest, match=r"must end with \.pdf, \.png, \.svg"):
        check_format(path)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that has it."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InvalidRequest, match=r"install 'phalanx_core\[plots\]'"):
        drawn("a.png", [CURVE])

"""Panels one above the other, of plain values, as the bytes of an image."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phalanx_core.errors import InvalidRequest

WIDTH_INCHES = 8.0
BAR_INCHES = 0.22
CURVE_INCHES = 3.6
HEAD_INCHES = 1.0
FORMATS = ("pdf", "png", "svg")


class Bars(NamedTuple):
    """A horizontal bar for each name, the first on top, from a value that all compare to.

    Attributes
    ----------
    title, label
        Above, and of the axis.
    names, values
        Of the bars.
    groups
        Of each bar: those of a group have a colour, told in a legend.
    reference
        Where bars begin.
    """

    title: str
    label: str
    names: Sequence[str]
    values: Sequence[float]
    groups: Sequence[str]
    reference: float = 0.0

    @property
    def height(self) -> float:
        """Inches."""
        return HEAD_INCHES + BAR_INCHES * len(self.names)

    def draw(self, axes: Any) -> None:
        """On the axes of a figure."""
        for index, group in enumerate(dict.fromkeys(self.groups)):
            at = [place for place, one in enumerate(self.groups) if one == group]
            widths = [self.values[place] - self.reference for place in at]
            axes.barh(at, widths, left=self.reference, color=f"C{index}", label=group)
        axes.axvline(self.reference, color="black", linewidth=0.8)
        axes.set_yticks(range(len(self.names)), self.names, fontsize="small")
        axes.set_ylim(len(self.names) - 0.4, -0.6)
        axes.set_xlabel(self.label)
        axes.set_title(self.title)
        axes.legend(fontsize="small")


class Curve(NamedTuple):
    """A line, and published points beside it.

    Attributes
    ----------
    title, x_label, y_label
        Above, and of the axes.
    line, points
        Pairs of x and y.
    line_label, points_label
        In the legend.
    """

    title: str
    x_label: str
    y_label: str
    line: Sequence[tuple[float, float]]
    points: Sequence[tuple[float, float]]
    line_label: str = "ours"
    points_label: str = "published"

    @property
    def height(self) -> float:
        """Inches."""
        return CURVE_INCHES

    def draw(self, axes: Any) -> None:
        """On the axes of a figure."""
        axes.plot(*zip(*self.line, strict=True), label=self.line_label)
        axes.plot(*zip(*self.points, strict=True), "o", label=self.points_label)
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        axes.set_title(self.title)
        axes.legend()


def check_format(path: str) -> str:
    """The format that a file's extension names.

    Raises
    ------
    InvalidRequest
        If it is none of pdf, png and svg, or matplotlib is missing.

    Examples
    --------
    >>> check_format("out/figure.svg")
    'svg'
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InvalidRequest(f"{path!r}: must end with .{', .'.join(FORMATS)}")
    _figure_class(path)
    return kind


def drawn(path: str, panels: Sequence[Bars | Curve]) -> bytes:
    """The content of a file with these panels, at least one, in its extension's format.

    Raises
    ------
    InvalidRequest
        As :func:`check_format`.
    """
    kind = check_format(path)
    heights = [panel.height for panel in panels]
    figure = _figure_class(path)(
        figsize=(WIDTH_INCHES, sum(heights)), layout="constrained"
    )
    every = figure.subplots(len(panels), squeeze=False, height_ratios=heights)
    for panel, axes in zip(panels, every[:, 0], strict=True):
        panel.draw(axes)
    out = io.BytesIO()
    figure.savefig(out, format=kind)
    return out.getvalue()


def _figure_class(path: str) -> Any:
    """Not pyplot, which would look for a screen."""
    try:
        return importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise InvalidRequest(
            f"{path!r}: a figure needs the package matplotlib: "
            "pip install 'phalanx_core[plots]'"
        ) from None

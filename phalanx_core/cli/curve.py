"""A curve in characters over a logarithmic axis of seconds, with letters at some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor, log10

HEIGHT = 12
WIDTH_MIN, WIDTH_MAX = 40, 90
# Characters of a label on the left and of the line beside it.
MARGIN = 8
DOT = "."
# Steps between two labels, in units of a power of ten.
STEPS = (1, 2, 5, 10)


def drawn(
    ratio: Callable[[float], float],
    ends: tuple[float, float],
    marks: Mapping[str, float],
    width: int = WIDTH_MAX,
) -> str:
    """Lines that show a ratio at times between two ends.

    Parameters
    ----------
    ratio
        In [0, 1], of a time in seconds.
    ends
        The least time and the greatest, above 0.
    marks
        A letter to the time at which it stands; a later one covers an earlier.
    width
        Characters of a line, from 40; more than 90 are not used.

    Examples
    --------
    >>> print(drawn(lambda s: 1 - s / 1000, (1, 900), {"T": 50}, width=40))
     1.00 │..................
          │                  T....
     0.80 │                       ...
          │                          .
     0.60 │                           .
          │                            .
     0.40 │                             .
          │                              .
     0.20 │                               .
          │                               .
     0.00 │
          └+──+───+──+───+───+──+──+───+──+
           1  2   5  10  20  50 100    500
    """
    axis = _Axis(log10(ends[0]), log10(ends[1]), min(width, WIDTH_MAX) - MARGIN)
    values = [ratio(axis.time(at)) for at in range(axis.columns)]
    least, most, step = scale(min(values), max(values))
    height = round(HEIGHT * step / (most - least)) or 1
    height *= round((most - least) / step)

    def row_of(value: float) -> int:
        return round((most - value) / (most - least) * height)

    rows = [[" "] * axis.columns for _ in range(height + 1)]
    last = row_of(values[0])
    for at, value in enumerate(values):
        row = row_of(value)
        # A steep curve has no holes.
        for between in range(min(row, last + 1), max(row, last - 1) + 1):
            rows[between][at] = DOT
        last = row
    for letter, time in marks.items():
        at = axis.column(time)
        rows[row_of(values[at])][at] = letter
    labels = dict(_labels(least, most, step, height))
    lines = [
        f"{labels.get(at, ''):>{MARGIN - 3}} │{''.join(signs)}"
        for at, signs in enumerate(rows)
    ]
    return "\n".join(line.rstrip() for line in [*lines, *axis.lines()])


def scale(least: float, most: float) -> tuple[float, float, float]:
    """Round ends around two values, and the step between labels from end to end.

    Examples
    --------
    >>> scale(0.62, 0.89)
    (0.6, 0.9, 0.1)
    """
    spread = max(most - least, 0.01)
    power = 10.0 ** floor(log10(spread / 5))
    step = next(one * power for one in STEPS if one * power * 5 >= spread)
    low = floor(least / step + 1e-9) * step
    high = max(ceil(most / step - 1e-9) * step, low + step)
    return round(low, 9), round(high, 9), round(step, 9)


def _labels(
    least: float, most: float, step: float, height: int
) -> list[tuple[int, str]]:
    digits = max(2, -floor(log10(step)))
    count = round((most - least) / step)
    return [
        (at * height // count, f"{most - at * step:.{digits}f}")
        for at in range(count + 1)
    ]


@dataclass(frozen=True)
class _Axis:
    """Columns from one power of ten to another."""

    left: float
    right: float
    columns: int

    def time(self, column: int) -> float:
        """Seconds at a column."""
        share = column / (self.columns - 1)
        return float(10 ** (self.left + (self.right - self.left) * share))

    def column(self, time: float) -> int:
        """The column nearest to a time."""
        share = (log10(time) - self.left) / (self.right - self.left)
        return round(share * (self.columns - 1))

    def lines(self) -> tuple[str, str]:
        """The axis with its ticks, and their seconds below."""
        powers = range(floor(self.left), ceil(self.right) + 1)
        ticks = [step * 10.0**power for power in powers for step in STEPS[:3]]
        line, labels = ["─"] * self.columns, ""
        for tick in ticks:
            at = self.column(tick)
            if 0 <= at < self.columns:
                line[at] = "+"
                label = f"{tick:g}"
                room = at > len(labels) or not labels
                if room and at + len(label) <= self.columns + 1:
                    labels = labels.ljust(at) + label
        margin = " " * (MARGIN - 2)
        return f"{margin}└{''.join(line)}", f"{margin} {labels}"

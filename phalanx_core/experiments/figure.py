"""``Figure``: a number that a paper printed, beside what this library measures."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from phalanx_core.errors import InvalidRequest

MATCHES = "matches"
DIFFERS = "differs"
CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class Figure:
    """One published number and ours.

    Attributes
    ----------
    name
        What it is of, in its experiment.
    published, measured
        In ``unit``, finite.
    tolerance
        How far apart they may be, at least 0.
    unit
        "" where it is a ratio or a count; "%" where both are shares from 0 to 1.
    digits
        Behind the point, where it is printed.
    bound
        Whether the paper says "at most": ours may then be anything lower.
    because
        Why ours differs, where that is known.
    cannot
        Whether no reading that was tried gives the published number; ``because`` says
        what was tried.
    timing
        Whether it is a time of this machine, other on the next run.
    spread
        Lowest and highest of several draws, of which ``measured`` is the middle.

    Raises
    ------
    InvalidRequest
        If a number is not finite, the tolerance is below 0, or nothing says why a figure
        cannot be had.

    Examples
    --------
    >>> Figure("ETTR", 0.891, 0.8911, 0.001).status
    'matches'
    >>> Figure("ETTR", 0.891, 0.911, 0.001).unexpected
    True
    >>> Figure("median", 39.0, 2.0, unit="µs", bound=True).status
    'matches'
    """

    name: str
    published: float
    measured: float
    tolerance: float = 0.0
    unit: str = ""
    digits: int = 3
    bound: bool = False
    because: str = ""
    cannot: bool = False
    timing: bool = False
    spread: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("published", "measured", "tolerance"):
            if not isfinite(getattr(self, name)):
                raise InvalidRequest(f"{self.name}: {name} must be finite")
        if self.tolerance < 0:
            raise InvalidRequest(f"{self.name}: tolerance must be at least 0")
        if self.cannot and not self.because:
            raise InvalidRequest(f"{self.name}: say why it cannot be had")

    @property
    def status(self) -> str:
        """matches, differs or cannot."""
        away = self.measured - self.published
        if (away if self.bound else abs(away)) <= self.tolerance:
            return MATCHES
        return CANNOT if self.cannot else DIFFERS

    @property
    def unexpected(self) -> bool:
        """Whether it differs, and nothing says why."""
        return self.status == DIFFERS and not self.because

    def text(self, value: float) -> str:
        """A value as it is printed, with its unit.

        Examples
        --------
        >>> figure = Figure("kept", 0.779, 0.8, 0.05, unit="%", digits=1)
        >>> figure.text(figure.published)
        '77.9 %'
        """
        if self.unit == "%":
            return f"{100 * value:,.{self.digits}f} %"
        return f"{value:,.{self.digits}f} {self.unit}".rstrip()

    @property
    def published_text(self) -> str:
        """As the paper has it."""
        return f"{'≤ ' if self.bound else ''}{self.text(self.published)}"

    @property
    def measured_text(self) -> str:
        """Ours, with its spread."""
        if self.spread is None:
            return self.text(self.measured)
        low, high = (self.text(value).removesuffix(" %") for value in self.spread)
        return f"{self.text(self.measured)} ({low}..{high})"

    @property
    def tolerance_text(self) -> str:
        """With a digit more than the values; empty where there is none."""
        if self.tolerance == 0:
            return "" if self.timing else "0"
        scaled = 100 * self.tolerance if self.unit == "%" else self.tolerance
        return f"{scaled:.{self.digits + 1}f}".rstrip("0").removesuffix(".")

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; shares stay from 0 to 1."""
        return {
            "name": self.name,
            "published": self.published,
            "measured": self.measured,
            "tolerance": self.tolerance,
            "unit": self.unit,
            "bound": self.bound,
            "spread": None if self.spread is None else list(self.spread),
            "timing": self.timing,
            "status": self.status,
            "because": self.because,
            "unexpected": self.unexpected,
        }

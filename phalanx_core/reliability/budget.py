"""What a recovery takes, item by item: a table to edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class RecoveryBudget:
    """Seconds of each step from a failure until training goes on.

    Attributes
    ----------
    items
        Name to seconds, each finite and at least 0, in the order in which they happen.

    Raises
    ------
    InvalidRequest
        If one is not.

    Notes
    -----
    ``RecoveryBudget.paper()`` has the items of the Phalanx paper, section 8.1, which sums
    up to at most 75 s: the middle where it names a range.

    Examples
    --------
    >>> budget = RecoveryBudget.paper()
    >>> round(budget.total_s, 1)
    71.1
    >>> round(budget.with_items(restore=90.0).total_s, 1)
    121.1
    """

    items: Mapping[str, float]

    def __post_init__(self) -> None:
        for name, seconds in self.items.items():
            if not (is_number(seconds) and seconds >= 0):
                raise InvalidRequest(f"{name} {seconds!r}: seconds, finite, from 0")
        object.__setattr__(self, "items", MappingProxyType(dict(self.items)))

    @classmethod
    def paper(cls) -> RecoveryBudget:
        """The paper's."""
        return cls(
            {
                "detect": 5.0,
                "replan": 1.0,
                "commit": 0.1,
                "start": 10.0,
                "restore": 40.0,
                "connect": 15.0,
            }
        )

    @property
    def total_s(self) -> float:
        """Of all items."""
        return sum(self.items.values())

    def with_items(self, **seconds: float) -> RecoveryBudget:
        """Another budget, with some items changed or added at the end."""
        return RecoveryBudget({**self.items, **seconds})

"""What a recovery takes, item by item: a table to edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import Any

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.domains import from_zero


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
        If one is not, or they are no mapping, or their sum is not finite.

    Notes
    -----
    ``RecoveryBudget.paper()`` has the items that the Phalanx paper, section 8.1, gives for
    its 75 s: the middle where it names a range, the bound where it names one, 71.1 s in
    all.

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
        if not isinstance(self.items, Mapping):
            raise InvalidRequest(f"items {self.items!r}: names with their seconds")
        found = {name: from_zero(name, given) for name, given in self.items.items()}
        if not isfinite(sum(found.values())):
            raise InvalidRequest(f"items {found!r}: a sum that is finite")
        object.__setattr__(self, "items", MappingProxyType(found))

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a mapping cannot be pickled, and campaigns run in processes.
        return RecoveryBudget, (dict(self.items),)

    def __hash__(self) -> int:
        return hash(tuple(self.items.items()))

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
        return sum(self.items.values(), 0.0)

    def with_items(self, /, **seconds: float) -> RecoveryBudget:
        """Another budget, with some items changed or added at the end."""
        return RecoveryBudget({**self.items, **seconds})

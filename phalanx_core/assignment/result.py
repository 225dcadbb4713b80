"""``Assignment``: who gets which configuration, and how good that is known to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Assignment:
    """The answer of a round.

    Attributes
    ----------
    choice
        Configuration of each job, -1 = left out: int32, shape (jobs,).
    objective
        Utilities of what is chosen, and ``idle`` for each job left out.
    bound
        No answer has a higher objective but by the resolution: proven.
    status
        "optimal" where the bound is met, else "feasible".
    solver
        Which one had the last word.
    effort
        Work counted in steps of that solver: the same on every run.
    time_s
        Wall time; not part of equality, as it is not of the decision.
    used, capacity
        Of each row: int64, shape (rows,).
    prices
        What one GPU more of each type is worth, to start the next round from: float64,
        shape (rows,); None where none were needed.
    limited
        Whether a wall-clock limit may have shaped the answer.
    resolution
        Values are rounded to whole numbers, by this much in all jobs together at most:
        what is worth less beside the largest utilities, a bonus or ``idle`` is lost.
    certified
        Whether CP-SAT proved it as well.
    """

    choice: NDArray[np.int32]
    objective: float
    bound: float
    status: str
    solver: str
    effort: int
    used: NDArray[np.int64]
    capacity: NDArray[np.int64]
    prices: NDArray[np.float64] | None = None
    limited: bool = False
    resolution: float = 0.0
    certified: bool = False
    time_s: float = field(default=0.0, compare=False)

    @property
    def gap(self) -> float:
        """How much better another answer could be at most, as a share of the bound."""
        if self.bound <= self.objective:  # both may be infinite
            return 0.0
        missing = self.bound - self.objective
        return missing / abs(self.bound) if self.bound else missing

    def __eq__(self, other: object) -> bool:
        if type(other) is not Assignment:
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.choice.tobytes(), self.objective, self.solver))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, without the time it took."""
        return {
            "choice": self.choice.tolist(),
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "status": self.status,
            "solver": self.solver,
            "effort": self.effort,
            "used": self.used.tolist(),
            "capacity": self.capacity.tolist(),
            "prices": None if self.prices is None else self.prices.tolist(),
            "limited": self.limited,
            "resolution": self.resolution,
            "certified": self.certified,
        }

    def __str__(self) -> str:
        some = int((self.choice >= 0).sum())
        rows = ", ".join(
            f"{used} of {has}"
            for used, has in zip(
                self.used.tolist(), self.capacity.tolist(), strict=True
            )
        )
        sure = "optimal" if self.status == "optimal" else f"within {self.gap:.2g}"
        return (
            f"{some} of {self.choice.size} jobs, {rows} used, objective "
            f"{self.objective:.6g} ({sure}, {self.solver})"
        )

"""What the validator tells of a history: each step, the whole, and its first bad line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from phalanx_core.reformation import Action, Event, Records


@dataclass(frozen=True)
class HistoryFault:
    """Why a line is no part of a history.

    Attributes
    ----------
    line
        Its number, from 1.
    kind
        ``json``, ``cut``, ``header``, ``order``, ``action``, ``event``, ``guard``,
        ``after`` or ``invariant``.
    reason
        One sentence that names field, value and rule.
    """

    line: int
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class Step(NamedTuple):
    """A legal line.

    Attributes
    ----------
    number
        From 1.
    at
        When, as its writer says; None where it does not.
    before, event, after
        The transition.
    """

    number: int
    at: Any
    before: Records
    event: Event
    after: Records


@dataclass(frozen=True)
class HistoryReport:
    """What a history holds, up to its end or its first bad line.

    Attributes
    ----------
    rules
        Name of the rules; "" where the first line is bad.
    leaves, jobs
        Leaves of the first line, and jobs at the end.
    transitions
        Lines that are legal steps.
    by_action
        How often each action was taken, those that never were included.
    aborts
        Aborts by the guard that kept the plan from being committed.
    dead_plans
        Commits and aborts of a plan with a leaf that had died since it was made.
    epoch_max
        Latest epoch of a job.
    fault
        The first bad line; None where every line is a legal step.
    """

    rules: str
    leaves: int
    jobs: int
    transitions: int
    by_action: dict[Action, int]
    aborts: dict[str, int]
    dead_plans: int
    epoch_max: int
    fault: HistoryFault | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        fault = self.fault
        return {
            "rules": self.rules,
            "leaves": self.leaves,
            "jobs": self.jobs,
            "transitions": self.transitions,
            "by_action": {one.name: count for one, count in self.by_action.items()},
            "aborts": dict(sorted(self.aborts.items())),
            "dead_plans": self.dead_plans,
            "epoch_max": self.epoch_max,
            "fault": None
            if fault is None
            else {"line": fault.line, "kind": fault.kind, "reason": fault.reason},
        }

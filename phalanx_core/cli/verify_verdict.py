"""What ``phalanx verify`` found, of either search, as tables and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from phalanx_core.cli.screen import Screen


@dataclass(frozen=True)
class Verdict:
    """Counts, verdicts and counterexamples of a run.

    Attributes
    ----------
    title, scope
        What was searched: its name, and jobs, leaves and failures.
    counts, by_action
        States as TLC counts them, and transitions by action.
    properties
        Kind and verdict of each: holds, violated, or unknown where the search ended first.
    stories, runs
        A counterexample for each violated property, to read and to replay.
    """

    title: str
    scope: tuple[int, int, int]
    counts: dict[str, int]
    by_action: dict[str, int]
    properties: dict[str, tuple[str, str]]
    stories: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def violated(self) -> list[str]:
        """Names of the properties that do not hold."""
        return [
            name
            for name, (_, verdict) in self.properties.items()
            if verdict == "violated"
        ]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        jobs, leaves, failures = self.scope
        return {
            "what": self.title,
            "scope": {"jobs": jobs, "leaves": leaves, "failures": failures},
            "counts": self.counts,
            "by_action": self.by_action,
            "properties": [
                {"name": name, "kind": kind, "verdict": verdict}
                for name, (kind, verdict) in self.properties.items()
            ],
            "counterexamples": [
                {**run, "story": story.splitlines()}
                for run, story in zip(self.runs, self.stories, strict=True)
            ],
        }


def shown(screen: Screen, verdict: Verdict) -> None:
    """Add tables and stories, and print them."""
    jobs, leaves, failures = verdict.scope
    screen.text(
        f"{verdict.title}: {_many(jobs, 'job')}, {_many(leaves, 'leaf', 'leaves')}, "
        f"{_many(failures, 'failure')}",
        "bold",
    )
    counts = verdict.counts
    orbits = counts.get("orbits")
    stand = f", searched as {_many(orbits, 'orbit')}" if orbits is not None else ""
    screen.text(
        f"{counts['generated']:,} generated, {counts['distinct']:,} distinct states, "
        f"depth {counts['depth']}{stand}"
    )
    screen.text("")
    rows = [(name, f"{count:,}") for name, count in verdict.by_action.items()]
    screen.table(("action", "transitions"), rows, right="transitions")
    screen.text("")
    told = [
        (name, kind, judged.upper() if judged == "violated" else judged)
        for name, (kind, judged) in verdict.properties.items()
    ]
    screen.table(("property", "of", "verdict"), told)
    seen: dict[str, str] = {}
    for story in verdict.stories:
        head, _, run = story.partition("\n")
        screen.text("")
        if run in seen:
            screen.text(f"{head}, by the same run")
        else:
            screen.text(head)
            screen.text(run)
        seen[run] = head
    screen.text("")
    screen.text(_summary(verdict), "bold")
    screen.show()


def _summary(verdict: Verdict) -> str:
    judged = [verdict for _, verdict in verdict.properties.values()]
    if verdict.violated:
        return f"violated: {', '.join(verdict.violated)}"
    if "unknown" in judged:
        return "the search ended before it was done"
    return "it holds" if len(judged) == 1 else f"all {len(judged)} properties hold"


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"

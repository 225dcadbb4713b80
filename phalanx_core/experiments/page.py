"""Experiments and their figures as a page in Markdown: ``docs/reproduction.md``."""

from __future__ import annotations

from collections.abc import Sequence

from phalanx_core.experiments.experiment import Experiment
from phalanx_core.experiments.figure import CANNOT, DIFFERS, MATCHES, Figure

HEAD = """\
# Reproduction

Every published table and claim that this library measures again, by `phalanx reproduce --all --markdown`
(`make reproduction` writes this page). *matches*: within the tolerance, or below it where the paper says
"at most" (≤). *differs*: it does not, and why is told. *cannot*: no reading that was tried gives the number.
A count or share of several fills is followed by its lowest and highest. Times (µs) are those of one
machine, and all else is the same for a seed on any number of processes and threads.
"""

STATUSES = (MATCHES, DIFFERS, CANNOT)
Result = tuple[Experiment, tuple[Figure, ...]]


def page(results: Sequence[Result], seed: int) -> str:
    """The page.

    Parameters
    ----------
    results
        Experiments and their figures.
    seed
        That they were run with.
    """
    parts = [HEAD + f"\nSeed {seed}: {summary(results)}.\n"]
    for experiment, figures in results:
        parts += [_section(experiment, figures)]
    return "\n".join(parts)


def summary(results: Sequence[Result]) -> str:
    """How many figures have each status; times, which vary, are counted apart."""
    every = [figure for _, figures in results for figure in figures]
    lasting = [figure.status for figure in every if not figure.timing]
    counts = [f"{status} {lasting.count(status)}" for status in STATUSES]
    told = f"{len(lasting)} figures ({', '.join(counts)})"
    return f"{told} and {len(every) - len(lasting)} times"


def _section(experiment: Experiment, figures: tuple[Figure, ...]) -> str:
    lines = [
        f"## {experiment.name}: {experiment.paper} {experiment.section}",
        "",
        f"{experiment.title}.",
        "",
        "| figure | published | measured | tolerance | status |",
        "|---|---|---|---|---|",
        *(_row(figure) for figure in figures),
        "",
        "Reading:",
        "",
        *(f"- {sentence}" for sentence in experiment.reading),
    ]
    reasons = because(figures)
    if reasons:
        lines += ["", "Why:", ""]
        lines += [f"- {names}: {reason}" for reason, names in reasons.items()]
    return "\n".join(lines) + "\n"


def _row(figure: Figure) -> str:
    status = "time" if figure.timing else figure.status
    words = (
        figure.name,
        figure.published_text,
        figure.measured_text,
        figure.tolerance_text,
        status,
    )
    return f"| {' | '.join(words)} |"


def because(figures: Sequence[Figure]) -> dict[str, str]:
    """Each reason to the names of the figures that it explains; times always have theirs."""
    found: dict[str, list[str]] = {}
    for figure in figures:
        if figure.because and (figure.timing or figure.status != MATCHES):
            found.setdefault(figure.because, []).append(figure.name)
    return {reason: "; ".join(names) for reason, names in found.items()}

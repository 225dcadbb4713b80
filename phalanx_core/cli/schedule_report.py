"""Rounds as text for a person."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from phalanx_core.cli.final_results import final_rows
from phalanx_core.cli.playing import Playing
from phalanx_core.cli.report import print_event, print_picture
from phalanx_core.cli.round_results import JobRow, RoundTold, TenantRow, tenant_rows
from phalanx_core.cli.schedule_setup import Setup
from phalanx_core.cli.screen import Screen

HOUR_S = 3600.0


def print_rounds(
    screen: Screen, playing: Playing, setup: Setup, told: Sequence[RoundTold]
) -> None:
    """Every round, the first in full and later ones by what they change; then sums."""
    screen.text(f"cluster  {setup.topology}")
    for note in setup.notes:
        screen.text(f"note  {note}")
    quiet: list[RoundTold] = []
    for at, one in enumerate(told):
        if one.is_quiet and 0 < at < len(told) - 1:
            quiet.append(one)
            continue
        _print_quiet(screen, quiet)
        quiet.clear()
        _print_round(screen, setup, one)
    if len(told) > 1:
        _print_sums(screen, playing)
    stages = ", ".join(
        f"{stage} {1000 * seconds:.1f}" for stage, seconds in playing.times_s.items()
    )
    whole = 1000 * sum(playing.times_s.values())
    screen.text(f"\ndecided in {whole:.1f} ms: {stages}")


def _print_quiet(screen: Screen, quiet: Sequence[RoundTold]) -> None:
    if quiet:
        first, last = quiet[0], quiet[-1]
        which = f"round {first.number} at {first.now_s:g} s"
        if first is not last:
            which = (
                f"rounds {first.number} to {last.number}, {first.now_s:g} to "
                f"{last.now_s:g} s"
            )
        screen.text(f"\n{which}: nothing changes", "bold")


def _print_round(screen: Screen, setup: Setup, told: RoundTold) -> None:
    head = f"round {told.number} at {told.now_s:g} s"
    if told.objective:
        head += f", objective {told.objective:.4g}"
    screen.text(f"\n{head}", "bold")
    for word, names in (("came", told.arrived), ("finished", told.finished)):
        if names:
            screen.text(f"{word}  {', '.join(names)}")
    _print_tenants(screen, told.tenants)
    _print_jobs(screen, setup, told.jobs)
    if told.others:
        what = "more" if told.jobs else "jobs"
        screen.text(f"{told.others} {what} as before")
    for row in told.jobs:
        for action, why, reason in zip(row.actions, row.whys, row.reasons, strict=True):
            if reason != why:
                screen.text(f"{row.name}, {action}: {reason}")
    for event in told.events:
        print_event(screen, event)
    if told.marks is not None:
        title = f"after round {told.number}"
        print_picture(screen, setup.topology, told.marks, title)


def _print_tenants(screen: Screen, rows: Sequence[TenantRow]) -> None:
    """The most owed first."""
    screen.text("")
    screen.table(
        ("tenant", "weight", "quota", "GPUs", "had", "due", "ratio"),
        [
            (
                row.tenant,
                f"{row.weight:g}",
                f"{row.quota:.4g}",
                f"{row.gpus}",
                f"{row.had_s / HOUR_S:.2f} h",
                f"{row.due_s / HOUR_S:.2f} h",
                _ratio(row.ratio),
            )
            for row in rows
        ],
        right="weight quota GPUs had due ratio",
    )


def _print_jobs(screen: Screen, setup: Setup, rows: Sequence[JobRow]) -> None:
    if not rows:
        return
    by_worth = setup.options.order != "owed"
    several = len(setup.topology.type_names) > 1
    score = "worth" if by_worth else "ratio"
    screen.text("")
    screen.table(
        (
            "",
            "job",
            "tenant",
            "action",
            score,
            "GPUs",
            "hosts",
            "where",
            "lease",
            "why",
        ),
        [_job_row(row, by_worth, several) for row in rows],
        right="worth ratio GPUs hosts",
    )


def _job_row(row: JobRow, by_worth: bool, several: bool) -> tuple[str, ...]:
    score = _worth(row.worth) if by_worth else _ratio(row.ratio)
    why = ", ".join(row.whys)
    head = (row.letter, row.name, row.tenant, ", ".join(row.actions), score)
    if row.ranks is None:
        return (*head, "-", "-", "-", "-", why)
    gpus = f"{row.ranks} {row.type}" if several else f"{row.ranks}"
    where = f"{row.level} {row.domain}"
    lease = "-" if row.lease_end_s is None else f"to {row.lease_end_s:g} s"
    return (*head, gpus, f"{len(row.hosts)}", where, lease, why)


def _print_sums(screen: Screen, playing: Playing) -> None:
    screen.text("\nin all", "bold")
    _print_tenants(screen, tenant_rows(playing.embedder.scheduler.ledger))
    screen.text("")
    screen.table(
        ("job", "tenant", "state", "waited", "leases", "starts", "lost", "had", "due"),
        [
            (
                row.name,
                row.tenant,
                _state(row.state, row.finished_s),
                _seconds(row.waited_s),
                _count(row.leases),
                _count(row.cold_starts),
                _seconds(row.lost_s),
                _hours(row.had_s),
                _hours(row.due_s),
            )
            for row in final_rows(playing.embedder)
        ],
        right="waited leases starts lost had due",
    )


def _state(state: str, finished_s: float | None) -> str:
    return state if finished_s is None else f"{state} at {finished_s:g} s"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:g} s"


def _hours(value: float | None) -> str:
    return "-" if value is None else f"{value / HOUR_S:.2f} h"


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value}"


def _worth(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _ratio(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "-"

"""``phalanx schedule``: rounds of jobs, tenants and failures on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.cli import exits
from phalanx_core.cli.fields import SECONDS, check_bounds
from phalanx_core.cli.final_results import final_rows
from phalanx_core.cli.happenings import Happening, happenings_of, round_times
from phalanx_core.cli.playing import Playing
from phalanx_core.cli.round_results import RoundTold, tenant_rows
from phalanx_core.cli.schedule_options import checked_options
from phalanx_core.cli.schedule_report import print_rounds
from phalanx_core.cli.schedule_setup import Setup, checked_paths, set_up
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.state_lock import locked
from phalanx_core.cli.topology import Source, summary
from phalanx_core.cli.workload_file import read_workload
from phalanx_core.cli.workload_state import read_run, write_run
from phalanx_core.errors import InvalidRequest


@dataclass(frozen=True)
class Wanted:
    """The command line of one run.

    Attributes
    ----------
    options
        Fields of ``SchedulerOptions``; entitlement and window_s may be None.
    events
        Pairs of "fail", "drain" or "heal" and a target, in the order given.
    """

    paths: tuple[str, ...]
    options: dict[str, Any]
    type: str | None = None
    spares: str | None = None
    reward: str | None = None
    rounds: int | None = None
    start_s: float | None = None
    events: tuple[tuple[str, str], ...] = ()
    state: str | None = None
    gpus_per_host: int | None = None
    label_keys: tuple[str, ...] | None = None
    topology: str | None = None
    tolerate: tuple[str, ...] = ()
    as_json: bool = False


def run_schedule(wanted: Wanted) -> int:
    """Run; an exit code. Nothing is printed before all is done and saved.

    Raises
    ------
    PhalanxError
        If the input is wrong or the state file cannot be used.
    """
    checked_paths(wanted.paths, wanted.state)
    checked_options(
        {key: one for key, one in wanted.options.items() if one is not None},
        wanted.reward,
    )
    screen = Screen(wanted.as_json)
    with locked(wanted.state):
        with exits.before_saving():
            playing, setup, told = _run(wanted, screen.quiet)
        if wanted.state is not None:
            write_run(wanted.state, playing.saved(setup))
    with exits.after_saving(wanted.state):
        if wanted.as_json:
            screen.document(_document(playing, setup, told))
        else:
            print_rounds(screen, playing, setup, told)
            screen.show()
    return _code(told)


def _run(wanted: Wanted, quiet: bool) -> tuple[Playing, Setup, list[RoundTold]]:
    """Set up and play; in memory alone."""
    *clusters, jobs_path = wanted.paths
    workload = read_workload(jobs_path)
    saved = read_run(wanted.state) if wanted.state is not None else None
    source = Source(
        tuple(clusters),
        wanted.gpus_per_host,
        wanted.label_keys,
        wanted.topology,
        wanted.tolerate,
    )
    setup = set_up(wanted, source.read(), workload, saved)
    playing = Playing(setup)
    happened, times = _times(wanted, setup, playing)
    return playing, setup, playing.rounds(times, happened, draw=not quiet)


def _times(
    wanted: Wanted, setup: Setup, playing: Playing
) -> tuple[list[Happening], list[float]]:
    """What befalls the cluster, and when the rounds are."""
    now, round_s = playing.embedder.now, setup.options.round_s
    first = now + round_s if setup.saved is not None else 0.0
    if wanted.start_s is not None:
        first = wanted.start_s
        if not (now <= first < float("inf")):
            raise InvalidRequest(
                f"--start {first:g}: must be finite and at {now:g} s or later"
            )
        check_bounds(f"--start {first:g}", first, SECONDS)
    happened = happenings_of(setup.topology, wanted.events, first, round_s, now)
    return happened, round_times(happened, first, round_s, wanted.rounds)


def _document(
    playing: Playing, setup: Setup, told: Sequence[RoundTold]
) -> dict[str, Any]:
    return {
        **summary(setup.topology),
        "order": setup.options.order,
        "notes": list(setup.notes),
        "rounds": [one.to_dict() for one in told],
        "tenants": [
            row.to_dict() for row in tenant_rows(playing.embedder.scheduler.ledger)
        ],
        "jobs": [row.to_dict() for row in final_rows(playing.embedder)],
        "exit_code": _code(told),
    }


def _code(told: Sequence[RoundTold]) -> int:
    """Waiting is no refusal; never to be able to run is one, and a failed repair."""
    refused = any(row.whys[-1] == "infeasible" for one in told for row in one.jobs)
    broken = any(
        row.status == "refused"
        for one in told
        for event in one.events
        for row in event.hit
    )
    return exits.REFUSED if refused or broken else exits.DONE

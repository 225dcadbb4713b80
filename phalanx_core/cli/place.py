"""``phalanx place``: place jobs, lose or drain parts of the cluster, repair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phalanx_core.cli import exits, outputs
from phalanx_core.cli.fleet import Fleet
from phalanx_core.cli.following import loaded
from phalanx_core.cli.jobs_file import JobSpec, read_jobs
from phalanx_core.cli.report import (
    print_event,
    print_files,
    print_picture,
    print_placed,
    print_synced,
    tell_refusals,
)
from phalanx_core.cli.results import Event, Placed
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.state_file import read_state, write_state
from phalanx_core.cli.state_lock import locked
from phalanx_core.cli.targets import find_target
from phalanx_core.cli.topology import Source, summary
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import SyncReport
from phalanx_core.topology import Topology


@dataclass(frozen=True)
class Wanted:
    """The command line of one run; ``events`` are pairs of "fail" or "drain" and a target."""

    paths: tuple[str, ...]
    type: str | None = None
    spares: str | None = None
    alignment: str | None = None
    heal: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    fenced: tuple[str, ...] = ()
    events: tuple[tuple[str, str], ...] = ()
    state: str | None = None
    gpus_per_host: int | None = None
    label_keys: tuple[str, ...] | None = None
    topology: str | None = None
    tolerate: tuple[str, ...] = ()
    output: str | None = None
    output_dir: str | None = None
    output_options: tuple[str, ...] = ()
    as_json: bool = False


@dataclass(frozen=True)
class Done:
    """What became of the jobs of the file, and what events and the files did."""

    placed: list[Placed]
    events: list[Event]
    synced: dict[str, SyncReport]


def run_place(wanted: Wanted) -> int:
    """Run; an exit code. Nothing is printed before all is done and saved.

    Raises
    ------
    PhalanxError
        If the input is wrong or the state file cannot be used.
    """
    output = outputs.wanted_output(
        wanted.output, wanted.output_dir, wanted.output_options, wanted.as_json
    )
    *clusters, jobs_path = _checked_paths(wanted)
    screen = Screen(wanted.as_json or (output is not None and output.printed))
    # A reader of the output may take its time, so the lock ends with what is saved.
    with locked(wanted.state):
        with exits.before_saving():
            jobs = read_jobs(jobs_path)
            source = Source(
                tuple(clusters),
                wanted.gpus_per_host,
                wanted.label_keys,
                wanted.topology,
                wanted.tolerate,
            )
            fleet, done = _run(screen, wanted, jobs, source.read())
        told: dict[str, str] = {}
        paths: dict[str, Path] = {}
        if output is not None:
            told = outputs.texts(fleet, output, done.placed, done.events)
            paths = {} if output.printed else outputs.files(output, told)
        if wanted.state is not None:
            write_state(wanted.state, fleet.state())
        outputs.save(paths, told)
    print_files(screen, paths)
    screen.show()
    if output is not None and output.printed:
        tell_refusals(done.placed, done.events)
        screen.paste(outputs.joined(told))
    if wanted.as_json:
        screen.document(_document(fleet, done, paths))
    return _code(done)


def _run(
    screen: Screen, wanted: Wanted, jobs: tuple[JobSpec, ...], topology: Topology
) -> tuple[Fleet, Done]:
    """Resume, place, break and repair; in memory alone."""
    fleet, resumed = _fleet(topology, wanted)
    owed = fleet.broken()
    synced = fleet.follow()
    healed = [find_target(fleet.topology, "--heal", text) for text in wanted.heal]
    struck = [
        (kind, find_target(fleet.topology, f"--{kind}", text))
        for kind, text in wanted.events
    ]
    for target in healed:
        fleet.heal(target)
    for spec in jobs:
        fleet.check(wanted.paths[-1], spec, wanted.type)
    if not resumed:
        synced = {}
    print_synced(screen, synced)
    fresh = [job for job in fleet.broken() if job not in owed]
    mended = [fleet.mend("resume", owed), fleet.mend("sync", fresh)]
    events = [event for event in mended if event is not None]
    for event in events:
        print_event(screen, event)
    placed = _place(screen, fleet, wanted, jobs)
    for kind, target in struck:
        event = fleet.fail(target) if kind == "fail" else fleet.drain(target)
        events.append(event)
        print_event(screen, event)
    if struck:
        _draw(screen, fleet, "after that")
    return fleet, Done(placed, events, synced)


def _document(fleet: Fleet, done: Done, paths: Mapping[str, Path]) -> dict[str, Any]:
    return {
        **summary(fleet.given),
        "notes": fleet.notes(),
        "sync": [
            {"type": name, **report.to_dict()} for name, report in done.synced.items()
        ],
        "jobs": [row.to_dict() for row in done.placed],
        "events": [event.to_dict() for event in done.events],
        "files": {name: str(path) for name, path in paths.items()},
        "exit_code": _code(done),
    }


def _checked_paths(wanted: Wanted) -> tuple[str, ...]:
    if len(wanted.paths) < 2:
        raise InvalidRequest(
            "place needs at least two paths, a cluster file and then the jobs file, "
            f"got only {wanted.paths[0]!r}"
        )
    *clusters, jobs_path = wanted.paths
    if jobs_path == "-" and "-" in clusters:
        raise InvalidRequest(
            "-: standard input is either a cluster file or the jobs file, not both"
        )
    if wanted.state in ("", "-"):
        raise InvalidRequest(f"--state {wanted.state!r}: must name a file")
    return wanted.paths


def _place(
    screen: Screen, fleet: Fleet, wanted: Wanted, jobs: tuple[JobSpec, ...]
) -> list[Placed]:
    placed = [fleet.place(wanted.paths[-1], spec, wanted.type) for spec in jobs]
    screen.text(f"cluster  {fleet.given}")
    for note in fleet.notes():
        screen.text(f"note  {note}")
    print_placed(screen, fleet, placed)
    _draw(screen, fleet, "placed")
    return placed


def _draw(screen: Screen, fleet: Fleet, title: str) -> None:
    if not screen.quiet:
        print_picture(screen, fleet.topology, fleet.marks(), title)


def _fleet(topology: Topology, wanted: Wanted) -> tuple[Fleet, bool]:
    """The fleet, and whether it comes from a state; jobs that ended have left it."""
    state = read_state(wanted.state) if wanted.state is not None else None
    if wanted.state is None or state is None:
        for option in ("release", "fenced"):
            for job in getattr(wanted, option):
                raise InvalidRequest(
                    f"--{option} {job!r}: there is no state that holds a job; "
                    "give --state FILE of a run before"
                )
        return Fleet(topology, wanted.spares, wanted.alignment or "exact"), False
    for option in ("spares", "alignment"):
        asked, saved = getattr(wanted, option), getattr(state, option)
        if asked not in (None, saved):
            raise InvalidRequest(
                f"--{option} {asked}: {wanted.state} was made with "
                f"{saved or 'none'}; leave the option out or start a new state file"
            )
    planners = loaded(wanted.state, state, topology)
    fleet = Fleet(topology, state.spares, state.alignment)
    fleet.resume(wanted.state, state, planners)
    # Before the cluster is followed: what has ended holds no leaf that is gone.
    for job in wanted.release:
        fleet.release(job)
    for job in wanted.fenced:
        fleet.fenced(job)
    return fleet, True


def _code(done: Done) -> int:
    refused = any(row.status == "refused" for row in done.placed)
    broken = any(row.status == "refused" for event in done.events for row in event.hit)
    return exits.REFUSED if refused or broken else exits.DONE

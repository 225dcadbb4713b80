"""``phalanx place``: place jobs, lose or drain parts of the cluster, repair."""

from __future__ import annotations

from dataclasses import dataclass

from phalanx_core.cli import exits
from phalanx_core.cli.fleet import Fleet
from phalanx_core.cli.jobs_file import JobSpec, read_jobs
from phalanx_core.cli.report import print_event, print_picture, print_placed
from phalanx_core.cli.results import Event, Placed
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.state_file import read_state, write_state
from phalanx_core.cli.targets import find_target
from phalanx_core.cli.topology import summary
from phalanx_core.errors import InvalidRequest
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
    as_json: bool = False


def run_place(wanted: Wanted) -> int:
    """Run; an exit code. Nothing is printed before all is done and saved.

    Raises
    ------
    PhalanxError
        If the input is wrong or the state file cannot be used.
    """
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
    jobs = read_jobs(jobs_path)
    topology = Topology.read(
        clusters,
        wanted.gpus_per_host,
        wanted.label_keys,
        wanted.topology,
        wanted.tolerate,
    )
    fleet = _fleet(topology, wanted)
    healed = [find_target(topology, "--heal", text) for text in wanted.heal]
    struck = [
        (kind, find_target(topology, f"--{kind}", text)) for kind, text in wanted.events
    ]
    for target in healed:
        fleet.heal(target)
    for job in wanted.fenced:
        fleet.fenced(job)
    for job in wanted.release:
        fleet.release(job)
    for spec in jobs:
        fleet.check(jobs_path, spec, wanted.type)
    screen = Screen(wanted.as_json)
    resumed = fleet.mend()
    events = [] if resumed is None else [resumed]
    for event in events:
        print_event(screen, event)
    placed = _place(screen, fleet, wanted, jobs)
    for kind, target in struck:
        event = fleet.fail(target) if kind == "fail" else fleet.drain(target)
        events.append(event)
        print_event(screen, event)
    if struck:
        print_picture(screen, fleet, "after that")
    if wanted.state is not None:
        write_state(wanted.state, fleet.state())
    code = _code(placed, events)
    screen.show()
    if wanted.as_json:
        screen.document(
            {
                **summary(topology),
                "notes": fleet.notes(),
                "jobs": [row.to_dict() for row in placed],
                "events": [event.to_dict() for event in events],
                "exit_code": code,
            }
        )
    return code


def _place(
    screen: Screen, fleet: Fleet, wanted: Wanted, jobs: tuple[JobSpec, ...]
) -> list[Placed]:
    placed = [fleet.place(wanted.paths[-1], spec, wanted.type) for spec in jobs]
    screen.text(f"cluster  {fleet.topology}")
    for note in fleet.notes():
        screen.text(f"note  {note}")
    print_placed(screen, fleet, placed)
    print_picture(screen, fleet, "placed")
    return placed


def _fleet(topology: Topology, wanted: Wanted) -> Fleet:
    state = read_state(wanted.state) if wanted.state is not None else None
    if wanted.state is None or state is None:
        for option in ("release", "fenced"):
            for job in getattr(wanted, option):
                raise InvalidRequest(
                    f"--{option} {job!r}: there is no state that holds a job; "
                    "give --state FILE of a run before"
                )
        return Fleet(topology, wanted.spares, wanted.alignment or "exact")
    for option in ("spares", "alignment"):
        asked, saved = getattr(wanted, option), getattr(state, option)
        if asked not in (None, saved):
            raise InvalidRequest(
                f"--{option} {asked}: {wanted.state} was made with "
                f"{saved or 'none'}; leave the option out or start a new state file"
            )
    fleet = Fleet(topology, state.spares, state.alignment)
    fleet.resume(wanted.state, state)
    return fleet


def _code(placed: list[Placed], events: list[Event]) -> int:
    refused = any(row.status == "refused" for row in placed)
    broken = any(row.status == "refused" for event in events for row in event.hit)
    return exits.REFUSED if refused or broken else exits.DONE

"""From command line, files and state to a scheduler with its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phalanx_core.cli.asks import spares_of
from phalanx_core.cli.embedder import Embedder
from phalanx_core.cli.schedule_options import checked_options
from phalanx_core.cli.workload_asks import check_request, memory_of, request_of
from phalanx_core.cli.workload_file import Entry, Workload, check_tenant
from phalanx_core.cli.workload_state import SavedRun
from phalanx_core.errors import InvalidRequest, PhalanxError, SaveError
from phalanx_core.scheduling import JobRequest, Scheduler, SchedulerOptions
from phalanx_core.topology import Topology

if TYPE_CHECKING:
    from phalanx_core.cli.schedule import Wanted

# Options that a state is bound to, and what each is without one.
BOUND = {"spares": None, "entitlement": "quota", "window_s": None}
BUCKET_S, BUCKETS_MAX = 3600.0, 10_000
FLAGS = {"spares": "--spares", "entitlement": "--entitlement", "window_s": "--window"}


@dataclass(frozen=True)
class Setup:
    """What a run is about.

    Attributes
    ----------
    bound
        Options that the state is bound to, and whether whoever submits is a tenant.
    ill
        Leaves that the files call down, and cordoned.
    notes
        What a person should know beside the results, a sentence each.
    saved
        The state that it goes on from, or None.
    """

    topology: Topology
    embedder: Embedder
    options: SchedulerOptions
    memory: Mapping[str, float]
    bound: dict[str, Any]
    ill: dict[str, list[str]]
    notes: tuple[str, ...]
    saved: SavedRun | None


def checked_paths(paths: Sequence[str], state: str | None) -> None:
    """Refuse paths of which one cannot be what its place says.

    Raises
    ------
    InvalidRequest
        Naming the path or option.
    """
    if len(paths) < 2:
        raise InvalidRequest(
            "schedule needs at least two paths, a cluster file and then the jobs file, "
            f"got only {paths[0]!r}"
        )
    if paths[-1] == "-" and "-" in paths[:-1]:
        raise InvalidRequest(
            "-: standard input is either a cluster file or the jobs file, not both"
        )
    if state in ("", "-"):
        raise InvalidRequest(f"--state {state!r}: must name a file")


def set_up(
    wanted: Wanted, topology: Topology, workload: Workload, saved: SavedRun | None
) -> Setup:
    """A scheduler, fresh or as it was saved, and the jobs that are to come.

    Raises
    ------
    PhalanxError
        If something is wrong with the file, an option or the state.
    """
    path = wanted.paths[-1]
    bound = _bound(wanted, saved)
    bound["open"] = (
        workload.tenants is None if saved is None else bool(saved.options.get("open"))
    )
    chosen = {key: one for key, one in wanted.options.items() if one is not None}
    chosen |= {key: bound[key] for key in ("entitlement", "window_s")}
    options = checked_options(chosen, wanted.reward)
    memory = memory_of(topology, path, workload.memory_gib)
    spares = spares_of(topology, bound["spares"])
    try:
        fresh = Scheduler(
            topology,
            workload.tenants,
            spares=spares,
            options=options,
            memory_bytes=memory,
        )
    except InvalidRequest as error:
        raise _named(path, error, options.window_s) from None
    requests = {
        entry.name: request_of(topology, path, entry, wanted.type)
        for entry in workload.jobs
    }
    for entry in workload.jobs:
        check_request(fresh.planners, path, entry, requests[entry.name])
    coming = [(entry, requests[entry.name]) for entry in workload.jobs]
    if saved is None:
        embedder = Embedder(fresh, coming)
    else:
        scheduler = _loaded(wanted, topology, saved, options, memory)
        embedder = _resumed(wanted, scheduler, workload, saved, coming)
    ill = _ill(topology)
    _follow(embedder.scheduler, ill, saved.ill if saved is not None else {})
    return Setup(
        topology,
        embedder,
        options,
        memory,
        bound,
        ill,
        _notes(embedder.scheduler, ill),
        saved,
    )


def _named(
    path: str, error: InvalidRequest, window_s: float | None = None
) -> InvalidRequest:
    """An error of the constructor is about tenants or about the window."""
    text = str(error)
    if text.startswith("window") and window_s is not None:
        return InvalidRequest(
            f"--window {window_s:g}: must be a multiple of {BUCKET_S:g} s, from once to "
            f"{BUCKETS_MAX} times"
        )
    return InvalidRequest(f"{path}: tenants: {text}")


def _bound(wanted: Wanted, saved: SavedRun | None) -> dict[str, Any]:
    given = {
        "spares": wanted.spares,
        "entitlement": wanted.options.get("entitlement"),
        "window_s": wanted.options.get("window_s"),
    }
    if saved is None:
        return {key: BOUND[key] if one is None else one for key, one in given.items()}
    for key, one in given.items():
        kept = saved.options.get(key)
        if one not in (None, kept):
            raise InvalidRequest(
                f"{FLAGS[key]} {one}: {wanted.state} was made with {kept or 'none'}; "
                "leave the option out or start a new state file"
            )
    return {key: saved.options.get(key) for key in given}


def _loaded(
    wanted: Wanted,
    topology: Topology,
    saved: SavedRun,
    options: SchedulerOptions,
    memory: Mapping[str, float],
) -> Scheduler:
    try:
        return Scheduler.load(
            topology, saved.scheduler, options=options, memory_bytes=memory
        )
    except PhalanxError as error:
        raise SaveError(f"{wanted.state}: {error}") from None


def _resumed(
    wanted: Wanted,
    scheduler: Scheduler,
    workload: Workload,
    saved: SavedRun,
    coming: Sequence[tuple[Entry, JobRequest]],
) -> Embedder:
    path, known = wanted.paths[-1], {one.name: one for one in saved.entries}
    for entry, _ in coming:
        kept = known.get(entry.name)
        if kept is not None and kept != entry:
            raise InvalidRequest(
                f"{path}: job {entry.name!r}: the state holds a job of that name that "
                "asks for something else; choose another name"
            )
    embedder = Embedder(scheduler, ())
    for entry in saved.entries:
        embedder.entries[entry.name] = entry
    try:
        embedder.resume(saved.embedder)
        late = [known[name] for name in saved.embedder["coming"]]
    except (KeyError, TypeError, ValueError) as error:
        raise SaveError(f"{wanted.state}: is damaged: {error!r}") from None
    where = f"{wanted.state}"
    embedder.expect(
        (one, request_of(scheduler.topology, where, one, wanted.type)) for one in late
    )
    embedder.expect(pair for pair in coming if pair[0].name not in known)
    tenants = dict.fromkeys((*scheduler.ledger.tenants(), *(workload.tenants or {})))
    for entry, _ in coming:
        if not saved.options.get("open"):
            check_tenant(f"{path}: job {entry.name!r}", entry.tenant, tenants)
    for name, weight in (workload.tenants or {}).items():
        try:
            scheduler.set_tenant(name, weight, embedder.now)
        except InvalidRequest as error:
            raise _named(path, error) from None
    return embedder


def _ill(topology: Topology) -> dict[str, list[str]]:
    report = topology.report
    return {
        "down": sorted(report.tainted) if report else [],
        "cordoned": sorted(report.cordoned) if report else [],
    }


def _follow(
    scheduler: Scheduler, ill: dict[str, list[str]], before: dict[str, list[str]]
) -> None:
    """What the files call ill or closed is so, and no longer once they stop."""
    leaf = scheduler.topology.leaf
    now = {key: frozenset(names) for key, names in ill.items()}
    was = {key: frozenset(before.get(key, [])) for key in ill}
    ended = (was["down"] | was["cordoned"]) - (now["down"] | now["cordoned"])
    if ended:
        scheduler.heal([leaf(name) for name in sorted(ended)])
    if down := sorted(now["down"] - was["down"]):
        scheduler.fail([leaf(name) for name in down])
    if closed := sorted(now["cordoned"] - was["cordoned"]):
        scheduler.drain([leaf(name) for name in closed])


def _notes(scheduler: Scheduler, ill: dict[str, list[str]]) -> tuple[str, ...]:
    told = [
        f"{len(names)} leaves are {state} by their source"
        for state, names in ill.items()
        if names
    ]
    short = (text for one in scheduler.planners.values() for text in one.warnings)
    return (*told, *short)

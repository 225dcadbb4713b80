"""From an entry of a workload to what the scheduler takes, wrong names with near ones."""

from __future__ import annotations

from collections.abc import Mapping

from phalanx_core.cli.asks import gang_of, type_of
from phalanx_core.cli.fields import GOODPUT, check_bounds
from phalanx_core.cli.goodput_model import hosts_of
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.workload_file import Entry, WaySpec
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Planner
from phalanx_core.scheduling import Configuration, JobRequest
from phalanx_core.topology import Topology

GIB = float(1 << 30)


def request_of(
    topology: Topology, where: str, entry: Entry, type_name: str | None = None
) -> JobRequest:
    """Request of an entry; ``where`` names the file.

    Parameters
    ----------
    type_name
        GPU type of configurations that name none.

    Raises
    ------
    InvalidRequest
        If a level, domain or type does not exist, or a model can run in no size.
    """
    job = f"{where}: job {entry.name!r}"
    ways = []
    for way in entry.ways:
        made = _configuration(topology, job, way, type_name)
        if made is not None:
            ways.append(made)
    if not ways:
        raise InvalidRequest(f"{job}: model: its batches go with no size of it")
    try:
        return JobRequest(
            configurations=ways,
            tenant=entry.tenant,
            weight=entry.weight,
            demand=entry.demand,
            priority=entry.priority,
            urgent=entry.urgent,
            restart_s=entry.restart_s,
            checkpoint_s=entry.checkpoint_s,
            cold_start_s=entry.cold_start_s,
        )
    except InvalidRequest as error:
        raise InvalidRequest(f"{job}: {error}") from None


def _configuration(
    topology: Topology, job: str, way: WaySpec, type_name: str | None
) -> Configuration | None:
    """A configuration, or None where the model's batches do not go with its size."""
    where = f"{job}: {way.key}" if way.key else job
    type = type_of(topology, where, way.spec, type_name)
    gang = gang_of(topology, where, way.spec)
    worth = way.goodput
    if way.model is not None:
        worth = way.model.goodput(gang.ranks, hosts_of(topology, type, gang.ranks))
        if worth != worth:
            return None
        check_bounds(f"{where}: model: goodput of {gang.ranks} ranks", worth, GOODPUT)
    assert worth is not None
    try:
        return Configuration(gang, worth, type, way.memory_gib * GIB)
    except InvalidRequest as error:
        raise InvalidRequest(f"{where}: {error}") from None


def check_request(
    planners: Mapping[str, Planner], where: str, entry: Entry, request: JobRequest
) -> None:
    """Refuse what does not go with the topology, however empty it is.

    Raises
    ------
    InvalidRequest
        Naming file and job.
    """
    for way in request.ways:
        assert way.type is not None
        try:
            planners[way.type].fits(way.gang)
        except InvalidRequest as error:
            raise InvalidRequest(f"{where}: job {entry.name!r}: {error}") from None


def memory_of(
    topology: Topology, where: str, gib: Mapping[str, float]
) -> dict[str, float]:
    """GPU type to bytes; ``where`` names the file.

    Raises
    ------
    InvalidRequest
        If a type does not exist.
    """
    known, found = topology.type_names, {}
    for name, size in gib.items():
        try:
            type = known[topology.type_index(name)]
        except InvalidRequest as error:
            near = did_you_mean(name, known)
            raise InvalidRequest(f"{where}: memory_gib: {error}{near}") from None
        if type in found:
            rule = f"names {type!r}, as another key does"
            raise InvalidRequest(f"{where}: memory_gib: {name}: {rule}")
        found[type] = size * GIB
    return found

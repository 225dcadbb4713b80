"""The jobs file of ``phalanx schedule``: gangs with what rounds must know of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from phalanx_core.checks import is_number
from phalanx_core.cli.fields import (
    GOODPUT,
    MEMORY_GIB,
    SECONDS,
    check_keys,
    checked_list,
    flag,
    job_name,
    kind,
    mapping,
    number,
    number_meant,
    whole,
    word,
)
from phalanx_core.cli.goodput_model import ModelSpec, check_model
from phalanx_core.cli.jobs_file import KEYS as GANG_KEYS
from phalanx_core.cli.jobs_file import JobSpec, check_gang
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.yaml_file import read_yaml
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.changes import WEIGHT_MAX, WEIGHT_MIN
from phalanx_core.scheduling import JobRequest

TOP_KEYS = ("tenants", "memory_gib", "jobs")
# Of a job that lists its configurations; each may say otherwise.
SHARED_KEYS = tuple(key for key in GANG_KEYS if key not in ("name", "templates"))
WAY_KEYS = (*SHARED_KEYS, "goodput", "model", "memory_gib")
REQUEST_KEYS = ("tenant", "weight", "demand", "priority", "urgent")
COST_KEYS = ("restart_s", "checkpoint_s", "cold_start_s")
TIME_KEYS = ("arrive_s", "runs_s", "progress_s", "overhead_s")
WEIGHT = (WEIGHT_MIN, WEIGHT_MAX)
WAYS_KEYS = ("goodput", "model", "memory_gib", "configurations")
JOB_KEYS = (*GANG_KEYS, *WAYS_KEYS, *REQUEST_KEYS, *COST_KEYS, *TIME_KEYS)
DEFAULTS: dict[str, Any] = {one.name: one.default for one in fields(JobRequest)}


@dataclass(frozen=True)
class WaySpec:
    """One configuration of a job.

    Attributes
    ----------
    key
        Where the file has it, for messages; empty where it is the job itself.
    goodput
        As the file says, or None where ``model`` tells it.
    """

    key: str
    spec: JobSpec
    goodput: float | None
    model: ModelSpec | None
    memory_gib: float


@dataclass(frozen=True)
class Entry:
    """One job of the file.

    Attributes
    ----------
    ways
        Its configurations, at least one, in the order of the file.
    arrive_s
        When it is submitted.
    runs_s
        Useful seconds in its first configuration after which it ends; None: it does not.
    progress_s, overhead_s
        Useful seconds that it brings, all of them saved, and seconds that its checkpoints
        and what it lost cost it by then.
    row
        As the file has it, as JSON values.
    where
        File and name, as messages begin.
    """

    name: str
    ways: tuple[WaySpec, ...]
    tenant: str
    weight: float
    demand: int | None
    priority: int
    urgent: bool
    restart_s: float
    checkpoint_s: float
    cold_start_s: float
    arrive_s: float
    runs_s: float | None
    progress_s: float
    overhead_s: float
    row: Mapping[str, Any] = field(compare=False, repr=False)
    where: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Workload:
    """All that the file says.

    Attributes
    ----------
    tenants
        Name to weight; None: whoever has a job is a tenant of weight 1.
    memory_gib
        GPU type to memory of one GPU.
    """

    jobs: tuple[Entry, ...]
    tenants: Mapping[str, float] | None = None
    memory_gib: Mapping[str, float] = field(default_factory=dict)


def read_workload(path: str) -> Workload:
    """A list of jobs, or a mapping of tenants, memory_gib and jobs.

    Raises
    ------
    InvalidRequest
        Naming file, job, field and rule.
    """
    told = read_yaml(path)
    if not isinstance(told, dict):
        return Workload(_jobs(path, told, None))
    check_keys(path, told, TOP_KEYS)
    if "jobs" not in told:
        raise InvalidRequest(f"{path}: jobs: must be given")
    tenants = None
    if told.get("tenants") is not None:
        tenants = _numbers(path, "tenants", told["tenants"], WEIGHT)
        if not tenants:
            raise InvalidRequest(f"{path}: tenants: must not be empty")
    memory = _numbers(path, "memory_gib", told.get("memory_gib") or {}, MEMORY_GIB)
    return Workload(_jobs(path, told["jobs"], tenants), tenants, memory)


def _numbers(
    path: str, key: str, value: Any, bounds: tuple[float, float]
) -> dict[str, float]:
    made = {}
    rule = "must be a mapping of name to number"
    for name, one in mapping(path, key, value, rule).items():
        if not (isinstance(name, str) and name):
            rule = "a name must be a text (quote a number)"
            raise InvalidRequest(f"{path}: {key}: {rule}, got {kind(name)}")
        made[name] = number(
            path, f"{key}.{name}", one, above=bounds[0] > 0, bounds=bounds
        )
    return made


def _jobs(
    path: str, rows: Any, tenants: Mapping[str, float] | None
) -> tuple[Entry, ...]:
    made: dict[str, Entry] = {}
    for at, row in enumerate(checked_list(path, rows), 1):
        entry = check_entry(path, at, row)
        where = f"{path}: job {entry.name!r}"
        if entry.name in made:
            raise InvalidRequest(f"{where}: name: occurs twice")
        if tenants is not None:
            check_tenant(where, entry.tenant, tenants)
        made[entry.name] = entry
    return tuple(made.values())


def check_tenant(where: str, name: str, tenants: Collection[str]) -> None:
    """Refuse a tenant that is none of some."""
    if name not in tenants:
        near = did_you_mean(name, tenants)
        raise InvalidRequest(
            f"{where}: tenant: must be one of {', '.join(tenants)}, got {name!r}{near}"
        )


def check_entry(path: str, at: int, row: Any) -> Entry:
    """One job of the list.

    Raises
    ------
    InvalidRequest
        Naming file, job, field and rule.

    Examples
    --------
    >>> check_entry("jobs.yaml", 1, {"name": "a", "ranks": 16, "templates": [8]}).tenant
    'default'
    """
    name = job_name(path, at, row)
    where = f"{path}: job {name!r}"
    check_keys(where, row, JOB_KEYS)
    given = {key: one for key, one in row.items() if one is not None}
    seconds = {
        key: number(where, key, given.get(key, DEFAULTS.get(key, 0.0)), bounds=SECONDS)
        for key in (*COST_KEYS, "arrive_s", "progress_s", "overhead_s")
    }
    runs = given.get("runs_s")
    demand = given.get("demand")
    return Entry(
        name=name,
        ways=_ways(where, name, given),
        tenant=word(where, "tenant", given.get("tenant", DEFAULTS["tenant"])) or "",
        weight=number(
            where, "weight", given.get("weight", 1.0), above=True, bounds=WEIGHT
        ),
        demand=None if demand is None else whole(where, "demand", demand, least=1),
        priority=_priority(where, given.get("priority", 0)),
        urgent=flag(where, "urgent", given.get("urgent", False)),
        runs_s=None
        if runs is None
        else number(where, "runs_s", runs, above=True, bounds=SECONDS),
        row=_plain(row),
        where=where,
        **seconds,
    )


def _priority(where: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(
            f"{where}: priority: must be a whole number, got {kind(value)}"
        )
    return value


def _ways(where: str, name: str, row: Mapping[str, Any]) -> tuple[WaySpec, ...]:
    memory = number(where, "memory_gib", row.get("memory_gib", 0.0), bounds=MEMORY_GIB)
    told = row.get("model")
    model = None if told is None else check_model(f"{where}: model", told)
    if "configurations" not in row:
        return _sizes(where, name, row, model, memory)
    for key in ("templates", "goodput"):
        if key in row:
            rule = "not beside configurations, each is a size with a goodput"
            raise InvalidRequest(f"{where}: {key}: {rule}")
    rows = row["configurations"]
    if not isinstance(rows, list) or not rows:
        rule = "must be a list of mappings that is not empty"
        raise InvalidRequest(f"{where}: configurations: {rule}, got {kind(rows)}")
    shared = {key: row[key] for key in SHARED_KEYS if key in row}
    return tuple(
        _way(where, name, f"configurations[{at}]", one, (shared, model, memory))
        for at, one in enumerate(rows)
    )


def _way(
    where: str,
    name: str,
    key: str,
    row: Any,
    shared: tuple[Mapping[str, Any], ModelSpec | None, float],
) -> WaySpec:
    where = f"{where}: {key}"
    gang, model, memory = shared
    if not isinstance(row, dict):
        raise InvalidRequest(f"{where}: must be a mapping, got {kind(row)}")
    check_keys(where, row, WAY_KEYS)
    own = {one: row[one] for one in SHARED_KEYS if one in row}
    spec = check_gang(where, name, {**gang, **own})
    if row.get("goodput") is not None and row.get("model") is not None:
        raise InvalidRequest(f"{where}: goodput: not beside model, which tells it")
    if row.get("model") is not None:
        model = check_model(f"{where}: model", row["model"])
    if row.get("memory_gib") is not None:
        memory = number(where, "memory_gib", row["memory_gib"], bounds=MEMORY_GIB)
    goodput = None if model is not None else float(spec.ranks)
    if row.get("goodput") is not None:
        goodput = number(where, "goodput", row["goodput"], above=True, bounds=GOODPUT)
        model = None
    return WaySpec(key, spec, goodput, model, memory)


def _sizes(
    where: str,
    name: str,
    row: Mapping[str, Any],
    model: ModelSpec | None,
    memory: float,
) -> tuple[WaySpec, ...]:
    """A configuration for each size of a gang with templates."""
    gang = {key: one for key, one in row.items() if key in GANG_KEYS and key != "name"}
    spec = check_gang(where, name, gang)
    sizes = (spec.ranks, *spec.templates)
    worth: dict[int, float | None] = dict.fromkeys(sizes)
    if "goodput" in row:
        if model is not None:
            raise InvalidRequest(f"{where}: goodput: not beside model, which tells it")
        worth = dict(_goodputs(where, row["goodput"], sizes))
    elif model is None:
        worth = {size: float(size) for size in sizes}
    return tuple(
        WaySpec("", replace(spec, ranks=size, templates=()), told, model, memory)
        for size, told in worth.items()
    )


def _goodputs(where: str, value: Any, sizes: tuple[int, ...]) -> dict[int, float]:
    """Goodput of each size, in the order of sizes; one that is not named is none."""
    if len(sizes) == 1 and (is_number(value) or number_meant(value)):
        return {sizes[0]: number(where, "goodput", value, above=True, bounds=GOODPUT)}
    rule = (
        "must be a mapping of size to number where there are templates"
        if len(sizes) > 1
        else "must be a number, or a mapping of size to number"
    )
    known = ", ".join(map(str, sizes))
    found = {}
    for size, one in mapping(where, "goodput", value, rule).items():
        # JSON has no keys that are numbers.
        text = isinstance(size, str) and size.isascii() and size.isdigit()
        at = int(size) if text and len(size) <= 10 else size
        if at not in sizes or isinstance(at, bool):
            rule = f"sizes are {known}"
            raise InvalidRequest(f"{where}: goodput: {rule}, got {kind(size)}")
        if int(at) in found:
            raise InvalidRequest(f"{where}: goodput: names size {at} twice")
        found[int(at)] = number(
            where, f"goodput.{size}", one, above=True, bounds=GOODPUT
        )
    if not found:
        raise InvalidRequest(f"{where}: goodput: must name a size, {known}")
    return {size: found[size] for size in sizes if size in found}


def _plain(value: Any) -> Any:
    """Checked values as JSON has them: a key that is a number becomes a text."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value

"""The jobs file: a YAML list of gangs, checked field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from phalanx_core.cli.fields import (
    check_keys,
    checked_list,
    choice,
    job_name,
    kind,
    whole,
    word,
)
from phalanx_core.cli.yaml_file import read_yaml
from phalanx_core.errors import InvalidRequest

AIMS = ("near", "fill")
RULES = ("smallest", "fullest", "lowest")


@dataclass(frozen=True)
class SliceSpec:
    """Every run of ``size`` consecutive ranks shares one domain of a level."""

    size: int
    level: str


@dataclass(frozen=True)
class PartSpec:
    """One of several roles that are placed together; as in :class:`JobSpec`."""

    ranks: int
    group: int = 1
    group_level: str | None = None
    slices: tuple[SliceSpec, ...] = ()
    within: str | None = None
    balanced: str | None = None
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class JobSpec:
    """One job as its user asks for it; the fields are those of ``Gang``.

    Attributes
    ----------
    limits
        Level name to {domain name: most leaves of this job there}; "*" stands for all
        domains of the level that are not named.
    type
        GPU type, needed where the cluster has several.
    """

    name: str
    ranks: int
    group: int = 1
    group_level: str | None = None
    slices: tuple[SliceSpec, ...] = ()
    within: str | None = None
    prefer: str | None = None
    aim: str = "near"
    balanced: str | None = None
    templates: tuple[int, ...] = ()
    rule: str = "smallest"
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    type: str | None = None
    parts: tuple[PartSpec, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict that :func:`check_job` reads back."""
        return asdict(self)


KEYS = tuple(JobSpec.__dataclass_fields__)
PART_KEYS = tuple(PartSpec.__dataclass_fields__)
# What a job of parts may have beside them.
BESIDE_PARTS = ("name", "within", "prefer", "limits", "type", "parts")


def read_jobs(path: str) -> tuple[JobSpec, ...]:
    """Jobs of a file in file order.

    Raises
    ------
    InvalidRequest
        Naming file, job, field and rule.
    """
    rows = read_yaml(path)
    checked_list(path, rows)
    jobs: dict[str, JobSpec] = {}
    for number, row in enumerate(rows, 1):
        job = check_job(path, number, row)
        if job.name in jobs:
            raise InvalidRequest(f"{path}: job {job.name!r}: name: occurs twice")
        jobs[job.name] = job
    return tuple(jobs.values())


def check_job(path: str, number: int, row: Any) -> JobSpec:
    """One entry of the list as a spec.

    Raises
    ------
    InvalidRequest
        Naming file, job, field and rule.

    Examples
    --------
    >>> check_job("jobs.yaml", 1, {"name": "a", "ranks": 16, "group": 8}).group
    8
    """
    name = job_name(path, number, row)
    return check_gang(f"{path}: job {name!r}", name, row)


def check_gang(where: str, name: str, row: Mapping[str, Any]) -> JobSpec:
    """The gang that a mapping describes; ``where`` begins each message.

    Raises
    ------
    InvalidRequest
        Naming field and rule.
    """
    check_keys(where, row, KEYS)
    parts = _parts(where, row)
    if parts:
        row = {**row, "ranks": sum(part.ranks for part in parts)}
    chain = _chain(where, row)
    aim = choice(where, "aim", row.get("aim", AIMS[0]), AIMS)
    if chain.balanced is not None and aim != AIMS[0]:
        raise InvalidRequest(f"{where}: balanced: does not go with aim {aim}")
    unit = chain.slices or chain.group
    return JobSpec(
        **vars(chain),
        name=name,
        prefer=word(where, "prefer", row.get("prefer")),
        aim=aim,
        templates=_templates(where, row.get("templates"), chain.ranks, unit),
        rule=choice(where, "rule", row.get("rule", RULES[0]), RULES),
        type=word(where, "type", row.get("type")),
        parts=parts,
    )


def _chain(where: str, row: Mapping[str, Any]) -> PartSpec:
    """What a job and a part of one have in common."""
    if "ranks" not in row:
        raise InvalidRequest(f"{where}: ranks: must be given")
    ranks = whole(where, "ranks", row["ranks"], least=1)
    group = whole(where, "group", row.get("group", 1), least=1)
    if ranks % group:
        raise InvalidRequest(
            f"{where}: group: must divide ranks, got group {group} of {ranks} ranks"
        )
    return PartSpec(
        ranks=ranks,
        group=group,
        group_level=word(where, "group_level", row.get("group_level")),
        slices=_slices(where, row.get("slices"), group, ranks),
        within=word(where, "within", row.get("within")),
        balanced=word(where, "balanced", row.get("balanced")),
        limits=_limits(where, row.get("limits")),
    )


def _parts(where: str, row: Mapping[str, Any]) -> tuple[PartSpec, ...]:
    value = row.get("parts")
    if not value and isinstance(value, (list, tuple, type(None))):
        return ()
    if not isinstance(value, (list, tuple)):
        rule = "must be a list of mappings, one a role"
        raise InvalidRequest(f"{where}: parts: {rule}, got {kind(value)}")
    defaults = {name: one.default for name, one in JobSpec.__dataclass_fields__.items()}
    for key in row:
        # A state file names every key, those that do not go with parts at their defaults.
        if (
            key not in BESIDE_PARTS
            and key != "ranks"
            and row[key] not in (*(None, [], ()), defaults[key])
        ):
            rule = (
                "beside parts, each has its own"
                if key in PART_KEYS
                else "not for a job of parts"
            )
            raise InvalidRequest(f"{where}: {key}: {rule}")
    made = []
    for at, one in enumerate(value):
        here = f"{where}: parts[{at}]"
        if not isinstance(one, dict):
            raise InvalidRequest(f"{here}: must be a mapping, got {kind(one)}")
        check_keys(here, one, PART_KEYS)
        made.append(_chain(here, one))
    ranks = sum(part.ranks for part in made)
    if row.get("ranks", ranks) != ranks:
        raise InvalidRequest(f"{where}: ranks: the parts have {ranks} in all")
    return tuple(made)


def _slices(where: str, value: Any, group: int, ranks: int) -> tuple[SliceSpec, ...]:
    if value is None:
        return ()
    shape = "must be a list of {size, level}, innermost first"
    if not isinstance(value, (list, tuple)):
        raise InvalidRequest(f"{where}: slices: {shape}, got {kind(value)}")
    made: list[SliceSpec] = []
    inner, name = group, f"group {group}"
    for at, one in enumerate(value):
        key = f"slices[{at}]"
        if not isinstance(one, dict) or set(one) != {"size", "level"}:
            got = (
                f"keys {', '.join(map(str, one))}"
                if isinstance(one, dict)
                else kind(one)
            )
            raise InvalidRequest(f"{where}: {key}: must be {{size, level}}, got {got}")
        size = whole(where, f"{key}.size", one["size"], least=1)
        level = word(where, f"{key}.level", one["level"])
        if size % inner or level is None:
            rule = f"must be a multiple of {name}" if level else "must name a level"
            raise InvalidRequest(f"{where}: {key}: {rule}, got {size} per {level}")
        made.append(SliceSpec(size, level))
        inner, name = size, f"slice {size}"
    if ranks % inner:
        raise InvalidRequest(
            f"{where}: ranks: must be a multiple of {name}, got {ranks}"
        )
    return tuple(made)


def _templates(
    where: str, value: Any, ranks: int, outermost: tuple[SliceSpec, ...] | int
) -> tuple[int, ...]:
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        rule = "must be a list of falling numbers of ranks"
        raise InvalidRequest(f"{where}: templates: {rule}, got {kind(value)}")
    unit = outermost if isinstance(outermost, int) else outermost[-1].size
    made: list[int] = []
    for at, one in enumerate(value):
        key = f"templates[{at}]"
        size = whole(where, key, one, least=1)
        if size >= (made[-1] if made else ranks) or size % unit:
            rule = f"must fall, and be a multiple of {unit}"
            raise InvalidRequest(f"{where}: {key}: {rule}, got {size}")
        made.append(size)
    return tuple(made)


def _limits(where: str, value: Any) -> dict[str, dict[str, int]]:
    if value is None:
        return {}
    shape = "must be a mapping of level to {domain: most leaves}"
    if not isinstance(value, dict):
        raise InvalidRequest(f"{where}: limits: {shape}, got {kind(value)}")
    made: dict[str, dict[str, int]] = {}
    for level, caps in value.items():
        if not isinstance(level, str) or not isinstance(caps, dict):
            raise InvalidRequest(f"{where}: limits.{level}: {shape}, got {kind(caps)}")
        made[level] = {}
        for domain, cap in caps.items():
            if not isinstance(domain, str):
                raise InvalidRequest(
                    f"{where}: limits.{level}: domain {domain!r}: must be a text "
                    "(quote a number)"
                )
            made[level][domain] = whole(where, f"limits.{level}.{domain}", cap, least=0)
    return made

"""The jobs file: a YAML list of gangs, checked field by field."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from phalanx_core.cli.near import did_you_mean
from phalanx_core.errors import InvalidRequest

BYTES_MAX = 4 << 20
DEPTH_MAX = 8
NUMBER_MAX = (1 << 31) - 1
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
    rows = _load(path, _text(path))
    if not isinstance(rows, list):
        raise InvalidRequest(
            f"{path}: a jobs file is a list of jobs, each '- name: ...', "
            f"got {_kind(rows)}"
        )
    if not rows:
        raise InvalidRequest(f"{path}: the list holds no job")
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
    where = f"{path}: job {number}"
    if not isinstance(row, dict):
        raise InvalidRequest(f"{where}: must be a mapping, got {_kind(row)}")
    name = row.get("name")
    if not isinstance(name, str):
        raise InvalidRequest(
            f"{where}: name: must be a text (quote a number), got {_kind(name)}"
        )
    if not name or not name.isprintable():
        rule = "must be printable" if name else "must not be empty"
        raise InvalidRequest(f"{where}: name: {rule}, got {_kind(name)}")
    where = f"{path}: job {name!r}"
    _check_keys(where, row, KEYS)
    parts = _parts(where, row)
    if parts:
        row = row | {"ranks": sum(part.ranks for part in parts)}
    chain = _chain(where, row)
    aim = _choice(where, "aim", row.get("aim", AIMS[0]), AIMS)
    if chain.balanced is not None and aim != AIMS[0]:
        raise InvalidRequest(f"{where}: balanced: does not go with aim {aim}")
    unit = chain.slices or chain.group
    return JobSpec(
        **vars(chain),
        name=name,
        prefer=_word(where, "prefer", row.get("prefer")),
        aim=aim,
        templates=_templates(where, row.get("templates"), chain.ranks, unit),
        rule=_choice(where, "rule", row.get("rule", RULES[0]), RULES),
        type=_word(where, "type", row.get("type")),
        parts=parts,
    )


def _check_keys(where: str, row: Mapping[Any, Any], keys: tuple[str, ...]) -> None:
    for key in row:
        if key not in keys:
            near = did_you_mean(str(key), keys)
            known = ", ".join(keys)
            raise InvalidRequest(f"{where}: {key}: no such key; keys are {known}{near}")


def _chain(where: str, row: Mapping[str, Any]) -> PartSpec:
    """What a job and a part of one have in common."""
    if "ranks" not in row:
        raise InvalidRequest(f"{where}: ranks: must be given")
    ranks = _size(where, "ranks", row["ranks"], least=1)
    group = _size(where, "group", row.get("group", 1), least=1)
    if ranks % group:
        raise InvalidRequest(
            f"{where}: group: must divide ranks, got group {group} of {ranks} ranks"
        )
    return PartSpec(
        ranks=ranks,
        group=group,
        group_level=_word(where, "group_level", row.get("group_level")),
        slices=_slices(where, row.get("slices"), group, ranks),
        within=_word(where, "within", row.get("within")),
        balanced=_word(where, "balanced", row.get("balanced")),
        limits=_limits(where, row.get("limits")),
    )


def _parts(where: str, row: Mapping[str, Any]) -> tuple[PartSpec, ...]:
    value = row.get("parts")
    if not value and isinstance(value, (list, tuple, type(None))):
        return ()
    if not isinstance(value, (list, tuple)):
        rule = "must be a list of mappings, one a role"
        raise InvalidRequest(f"{where}: parts: {rule}, got {_kind(value)}")
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
            raise InvalidRequest(f"{here}: must be a mapping, got {_kind(one)}")
        _check_keys(here, one, PART_KEYS)
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
        raise InvalidRequest(f"{where}: slices: {shape}, got {_kind(value)}")
    made: list[SliceSpec] = []
    inner, name = group, f"group {group}"
    for at, one in enumerate(value):
        key = f"slices[{at}]"
        if not isinstance(one, dict) or set(one) != {"size", "level"}:
            got = (
                f"keys {', '.join(map(str, one))}"
                if isinstance(one, dict)
                else _kind(one)
            )
            raise InvalidRequest(f"{where}: {key}: must be {{size, level}}, got {got}")
        size = _size(where, f"{key}.size", one["size"], least=1)
        level = _word(where, f"{key}.level", one["level"])
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
        raise InvalidRequest(f"{where}: templates: {rule}, got {_kind(value)}")
    unit = outermost if isinstance(outermost, int) else outermost[-1].size
    made: list[int] = []
    for at, one in enumerate(value):
        key = f"templates[{at}]"
        size = _size(where, key, one, least=1)
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
        raise InvalidRequest(f"{where}: limits: {shape}, got {_kind(value)}")
    made: dict[str, dict[str, int]] = {}
    for level, caps in value.items():
        if not isinstance(level, str) or not isinstance(caps, dict):
            raise InvalidRequest(f"{where}: limits.{level}: {shape}, got {_kind(caps)}")
        made[level] = {}
        for domain, cap in caps.items():
            if not isinstance(domain, str):
                raise InvalidRequest(
                    f"{where}: limits.{level}: domain {domain!r}: must be a text "
                    "(quote a number)"
                )
            made[level][domain] = _size(where, f"limits.{level}.{domain}", cap, least=0)
    return made


def _size(where: str, key: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(
            f"{where}: {key}: must be a whole number, got {_kind(value)}"
        )
    if not least <= value <= NUMBER_MAX:
        raise InvalidRequest(
            f"{where}: {key}: must be from {least} to {NUMBER_MAX}, got {value}"
        )
    return value


def _word(where: str, key: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise InvalidRequest(f"{where}: {key}: must be a name, got {_kind(value)}")


def _choice(where: str, key: str, value: Any, known: tuple[str, ...]) -> str:
    if value in known:
        return str(value)
    near = did_you_mean(value, known) if isinstance(value, str) else ""
    raise InvalidRequest(
        f"{where}: {key}: must be {' or '.join(known)}, got {value!r}{near}"
    )


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _text(path: str) -> str:
    if not path:
        raise InvalidRequest("'': the path of the jobs file must not be empty")
    try:
        if Path(path).is_dir():
            raise InvalidRequest(
                f"{path}: the last argument is the jobs file, and this is a directory"
            )
        if path == "-":
            raw = sys.stdin.buffer.read(BYTES_MAX + 1)
        else:
            with open(path, "rb") as stream:
                raw = stream.read(BYTES_MAX + 1)
        if len(raw) > BYTES_MAX:
            raise InvalidRequest(f"{path}: a jobs file has at most {BYTES_MAX} bytes")
        return raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidRequest):
            raise
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InvalidRequest(f"{path}: cannot be read: {reason}") from None


def _load(path: str, text: str) -> Any:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        raise InvalidRequest(
            f"{path}: a jobs file needs the package pyyaml: "
            "pip install 'phalanx_core[cli]'"
        ) from None
    try:
        _check_events(path, yaml, text)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise InvalidRequest(f"{path}: not YAML: {place}") from None
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidRequest):
            raise
        raise InvalidRequest(f"{path}: not YAML: {error}") from None


def _check_events(path: str, yaml: Any, text: str) -> None:
    """Refuse depth, aliases and a key given twice, before anything is built."""
    open_: list[dict[str, int] | None] = []
    expects_key: list[bool] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        at_key = bool(open_) and open_[-1] is not None and expects_key[-1]
        if isinstance(event, yaml.AliasEvent):
            rule = f"line {line}: aliases (*{event.anchor}) are not read"
            raise InvalidRequest(f"{path}: {rule}")
        if isinstance(event, yaml.ScalarEvent) and at_key:
            keys = open_[-1]
            if keys is not None and keys.setdefault(event.value, line) != line:
                rule = f"line {line}: key {event.value!r} was given in line"
                raise InvalidRequest(f"{path}: {rule} {keys[event.value]} already")
        if isinstance(event, yaml.CollectionEndEvent):
            open_.pop()
            expects_key.pop()
        ended = (yaml.ScalarEvent, yaml.CollectionEndEvent)
        if isinstance(event, ended) and open_ and open_[-1] is not None:
            expects_key[-1] = not expects_key[-1]
        if isinstance(event, yaml.CollectionStartEvent):
            mapping = isinstance(event, yaml.MappingStartEvent)
            open_.append({} if mapping else None)
            expects_key.append(mapping)
            if len(open_) > DEPTH_MAX:
                raise InvalidRequest(f"{path}: nested deeper than {DEPTH_MAX}")

"""From what a person wrote to what the planner takes, each wrong name with near ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phalanx_core.cli.jobs_file import JobSpec, PartSpec
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.targets import find_domain, find_level
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Gang, Spares
from phalanx_core.topology import Topology

COUNT_MAX = 1 << 20


def gang_of(topology: Topology, job: str, spec: JobSpec) -> Gang:
    """Gang of a spec; ``job`` names file and job in messages.

    Raises
    ------
    InvalidRequest
        If a level or a domain does not exist, or a size breaks its rule.

    Examples
    --------
    >>> topology = Topology.from_spec("host:2 gpu:4")
    >>> gang_of(topology, "job 'a'", JobSpec("a", 2, limits={"host": {"host-0": 0}}))
    Gang(2, limits={'host': [0, 8]})
    """
    if spec.prefer is not None:
        find_level(topology, f"{job}: prefer", spec.prefer)
    parts = [
        _chain(topology, f"{job}: parts[{at}]", part)
        for at, part in enumerate(spec.parts)
    ]
    chain = _chain(topology, job, spec)
    try:
        return Gang(
            **chain,
            prefer=spec.prefer,
            aim=spec.aim,
            templates=spec.templates,
            rule=spec.rule,
            parts=parts,
        )
    except InvalidRequest as error:
        raise InvalidRequest(f"{job}: {error}") from None


def _chain(topology: Topology, where: str, spec: JobSpec | PartSpec) -> dict[str, Any]:
    """Fields of a gang that a job and a part of one have in common."""
    for key in ("group_level", "within", "balanced"):
        level = getattr(spec, key)
        if level is not None:
            find_level(topology, f"{where}: {key}", level)
    for at, one in enumerate(spec.slices):
        find_level(topology, f"{where}: slices[{at}].level", one.level)
    limits = {
        level: _limit_row(topology, f"{where}: limits", level, caps)
        for level, caps in spec.limits.items()
    }
    return {
        "ranks": spec.ranks,
        "group": spec.group,
        "group_level": spec.group_level,
        "slices": [(one.size, one.level) for one in spec.slices],
        "within": spec.within,
        "balanced": spec.balanced,
        "limits": limits or None,
    }


def type_of(topology: Topology, job: str, spec: JobSpec, type_name: str | None) -> str:
    """The GPU type that a job runs on: its own, else ``type_name``, else the only one.

    Raises
    ------
    InvalidRequest
        If it names no type, or none where the cluster has several.
    """
    known = topology.type_names
    name = spec.type or type_name
    if name is None and len(known) > 1:
        raise InvalidRequest(
            f"{job}: type: the cluster has {', '.join(known)}; the job or --type "
            "must name one"
        )
    if name is None:
        return known[0]
    try:
        return known[topology.type_index(name)]
    except InvalidRequest as error:
        raise InvalidRequest(f"{job}: {error}{did_you_mean(name, known)}") from None


def group_level_of(topology: Topology, spec: JobSpec | PartSpec) -> int:
    """The level at which the groups of a job, or of a part, are held together."""
    if spec.group_level is not None:
        return topology.level_index(spec.group_level)
    level = topology.nvlink_level or 1
    if spec.slices:
        level = min(level, topology.level_index(spec.slices[0].level))
    return (
        level if spec.within is None else min(level, topology.level_index(spec.within))
    )


def spares_of(topology: Topology, text: str | None) -> Spares | None:
    """Spares of "PER:SIZE:COUNT"; the count may be left out.

    Raises
    ------
    InvalidRequest
        If the form is wrong or a level does not exist.

    Examples
    --------
    >>> spares_of(Topology.from_spec("pod:2 host:4 gpu:8"), "pod:host:2")
    Spares(per='pod', size='host', count=2)
    """
    if text is None:
        return None
    words = text.split(":")
    per, size, count = (*words, "1")[:3] if len(words) in (2, 3) else ("", "", "")
    if not per or not size or not count.isascii() or not count.isdigit():
        raise InvalidRequest(
            f"--spares {text!r}: must be PER:SIZE:COUNT, such as pod:host:1"
        )
    where = f"--spares {text!r}"
    if len(count.lstrip("0")) > len(str(COUNT_MAX)) or int(count) > COUNT_MAX:
        raise InvalidRequest(f"{where}: COUNT must be at most {COUNT_MAX}, got {count}")
    find_level(topology, where, per)
    find_level(topology, where, size)
    try:
        spares = Spares(per=per, size=size, count=int(count))
        spares.resolve(topology)
    except (InvalidRequest, ValueError) as error:
        raise InvalidRequest(f"{where}: {error}") from None
    return spares


def _limit_row(
    topology: Topology, where: str, level: str, caps: Mapping[str, int]
) -> ArrayLike:
    index = find_level(topology, where, level)
    most = caps.get("*", topology.leaf_count)
    row = np.full(topology.domain_count(index), most, dtype=np.int64)
    for name, cap in caps.items():
        if name != "*":
            row[find_domain(topology, f"{where}.{level}", index, name)] = cap
    return row

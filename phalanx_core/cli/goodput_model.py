"""``model`` of a jobs file: goodput of any size, from step times and gradient noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

import numpy as np

from phalanx_core.checks import is_number
from phalanx_core.cli.fields import (
    GOODPUT,
    check_bounds,
    check_keys,
    mapping,
    number_meant,
    whole,
)
from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import Batches, Noise, Throughput, goodput
from phalanx_core.topology import Topology

Made = TypeVar("Made", Throughput, Noise, Batches)
PARTS = ("throughput", "noise", "batches")


@dataclass(frozen=True)
class ModelSpec:
    """What Pollux knows of an application on one GPU type."""

    throughput: Throughput
    noise: Noise
    batches: Batches

    def goodput(self, gpus: int, hosts: int) -> float:
        """Samples of the initial batch's worth a second; NaN where no batch will do."""
        # What leaves the doubles comes out as a goodput that is refused, or none.
        with np.errstate(all="ignore"):
            found = goodput(self.throughput, self.noise, self.batches, [gpus], [hosts])
        return float(found.samples_per_s[0])


def check_model(where: str, value: Any) -> ModelSpec:
    """The model that a mapping of throughput, noise and batches describes.

    Raises
    ------
    InvalidRequest
        Naming field and rule.
    """
    rule = f"must be a mapping of {', '.join(PARTS)}"
    head, _, key = where.rpartition(": ")
    row = mapping(head, key, value, rule)
    check_keys(where, row, PARTS)
    return ModelSpec(
        _made(where, row, "throughput", Throughput),
        _made(where, row, "noise", Noise),
        _made(where, row, "batches", Batches),
    )


def _made(
    where: str, row: Mapping[str, Any], key: str, kind: Callable[..., Made]
) -> Made:
    if row.get(key) is None:
        raise InvalidRequest(f"{where}: {key}: must be given")
    given = mapping(where, key, row[key], "must be a mapping")
    here = f"{where}.{key}"
    known = fields(kind)  # type: ignore[arg-type]
    check_keys(here, given, tuple(one.name for one in known))
    for one in known:
        if one.default is MISSING and given.get(one.name) is None:
            raise InvalidRequest(f"{here}: {one.name}: must be given")
        if kind is Batches:
            whole(here, one.name, given[one.name], least=1)
        else:
            _check_size(f"{here}: {one.name}", given.get(one.name))
    try:
        return kind(**given)
    except InvalidRequest as error:
        raise InvalidRequest(f"{here}: {error}") from None


def _check_size(where: str, value: Any) -> None:
    """Refuse what no product of the model holds; the rest its own classes check."""
    if meant := number_meant(value):
        raise InvalidRequest(f"{where}: must be a number, got {value!r}{meant}")
    if is_number(value) and value > 0:
        check_bounds(where, value, GOODPUT)


def hosts_of(topology: Topology, type: str, gpus: int) -> int:
    """The fewest hosts that could hold so many GPUs of a type.

    Examples
    --------
    >>> hosts_of(Topology.from_spec("host:4 gpu:8"), "gpu", 20)
    3
    """
    code = topology.type_index(type)
    hosts = np.asarray(topology.domain_of(1))[np.asarray(topology.type_of) == code]
    widest = int(np.bincount(hosts[hosts >= 0]).max()) if (hosts >= 0).any() else 1
    return -(-gpus // widest)

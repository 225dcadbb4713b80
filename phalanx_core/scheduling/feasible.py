"""Which configurations of a job could ever run on a cluster, and why others could not."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import NamedTuple

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Gang, Misfit, MisfitCode, Planner
from phalanx_core.scheduling.request import Configuration, JobRequest


class Found(NamedTuple):
    """A request on a cluster, each entry one a configuration.

    Attributes
    ----------
    types
        GPU type.
    columns
        Index of that type.
    gpus
        Leaves.
    shapes
        A number that equal gangs on one type share.
    goodput
        NaN where it could never run; in units of the smallest where they are normalized.
    why
        Why it could never run, or None.
    choices
        Those that could, the one of most goodput first.
    """

    types: tuple[str, ...]
    columns: list[int]
    gpus: list[int]
    shapes: tuple[int, ...]
    goodput: list[float]
    why: tuple[str | None, ...]
    choices: tuple[int, ...]


class Feasible:
    """The filter by memory and by what the topology could ever hold.

    Parameters
    ----------
    planners
        GPU type to planner.
    memory_bytes
        GPU type to memory of one GPU; a type without an entry has no limit.
    normalized
        Whether goodput counts in units of the job's smallest configuration.
    """

    def __init__(
        self,
        planners: Mapping[str, Planner],
        memory_bytes: Mapping[str, float] | None,
        normalized: bool,
    ) -> None:
        self._planners = planners
        self._columns = {type: at for at, type in enumerate(planners)}
        self.memory_bytes = _checked(memory_bytes or {}, planners)
        self._normalized = normalized
        # Type and gang to a number of their own and why it could never fit, or None.
        self._known: dict[tuple[str, Gang], tuple[int, str | None]] = {}

    def of(self, request: JobRequest) -> Found:
        """A request on this cluster.

        Raises
        ------
        InvalidRequest
            If a GPU type does not exist or must be named, or a gang does not go with
            the topology.
        """
        types = tuple(self._type(one) for one in request.ways)
        pairs = list(zip(request.ways, types, strict=True))
        rooms = [self._room(one.gang, type) for one, type in pairs]
        why = tuple(
            self._memory_why(one, type) or room
            for (one, type), (_, room) in zip(pairs, rooms, strict=True)
        )
        goodput = [
            float(one.goodput) if reason is None else nan
            for one, reason in zip(request.ways, why, strict=True)
        ]
        if self._normalized:
            least = min((one for one in goodput if one == one), default=1.0)
            goodput = [one / least for one in goodput]
        able = [at for at, reason in enumerate(why) if reason is None]
        return Found(
            types,
            [self._columns[type] for type in types],
            [one.gpus for one in request.ways],
            tuple(shape for shape, _ in rooms),
            goodput,
            why,
            tuple(sorted(able, key=lambda at: (-goodput[at], at))),
        )

    def _type(self, way: Configuration) -> str:
        names = ", ".join(self._planners)
        if way.type is None:
            if len(self._planners) > 1:
                raise InvalidRequest(
                    f"{way.gang!r}: type None: the cluster has several, {names}"
                )
            return next(iter(self._planners))
        if way.type not in self._planners:
            raise InvalidRequest(f"{way.gang!r}: type {way.type!r}: one of {names}")
        return way.type

    def _memory_why(self, way: Configuration, type: str) -> str | None:
        has = self.memory_bytes.get(type)
        if has is None or way.memory_bytes <= has:
            return None
        return (
            f"{way.gpus} GPUs: {way.memory_bytes:g} bytes a GPU, and {type} has {has:g}"
        )

    def _room(self, gang: Gang, type: str) -> tuple[int, str | None]:
        known = self._known.get((type, gang))
        if known is None:
            answer = self._planners[type].fits(gang)
            why = None
            if isinstance(answer, Misfit) and answer.code is MisfitCode.TOO_LARGE:
                why = answer.reason
            known = len(self._known), why
            self._known[type, gang] = known
        return known


def _checked(
    memory: Mapping[str, float], planners: Mapping[str, Planner]
) -> dict[str, float]:
    if not isinstance(memory, Mapping):
        raise InvalidRequest(f"memory_bytes {memory!r}: GPU type to bytes")
    for type, has in memory.items():
        if type not in planners:
            names = ", ".join(planners)
            raise InvalidRequest(f"memory_bytes of {type!r}: one of {names}")
        if not (is_number(has) and has >= 0):
            raise InvalidRequest(f"memory_bytes of {type!r} is {has!r}: at least 0")
    return {type: float(has) for type, has in memory.items()}

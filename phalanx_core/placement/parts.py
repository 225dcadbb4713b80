"""Parts of a gang as gangs of their own: which levels bind them, and their requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phalanx_core import native
from phalanx_core.errors import InvalidRequest
from phalanx_core.native import NONE, PARTS_MAX, ffi, lib
from phalanx_core.placement.gang import AIMS, RULES, Gang

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame

Chain = list[tuple[int, int]]


def members(gang: Gang) -> tuple[Gang, ...]:
    """The parts of a gang, each held by the whole's ``within`` at least; else itself.

    Examples
    --------
    >>> members(Gang(parts=(Gang(2), Gang(4, within="host")), within="rack"))
    (Gang(2, within='rack'), Gang(4, within='host'))
    """
    if not gang.parts:
        return (gang,)
    return tuple(
        Gang(**{"within": gang.within, **part.to_dict()}) for part in gang.parts
    )


def part_chains(frame: Frame, gang: Gang) -> list[Chain]:
    """Chain of each part with its own ``within`` on top, or that of the gang itself.

    Raises
    ------
    InvalidRequest
        If a part's level does not exist, falls or is above ``within``.
    """
    chains = [frame.chain(part) for part in members(gang)]
    for chain, part in zip(chains, gang.parts, strict=bool(gang.parts)):
        if part.within is not None:
            chain.append((part.ranks, frame.topology.level_index(part.within)))
    return chains


def part_requests(
    frame: Frame, gang: Gang, core: Any, limited: bool = True
) -> list[tuple[Any, Any, int]]:
    """What the core takes for each part: request, limits' pointer, own ``within``.

    Parameters
    ----------
    limited
        False: as if no part had limits.

    Raises
    ------
    InvalidRequest
        If they are many, or a part does not go with the topology or the whole.
    """
    if len(gang.parts) > PARTS_MAX:
        raise InvalidRequest(f"parts: {len(gang.parts)} of them, at most {PARTS_MAX}")
    made = []
    for at, (own, part) in enumerate(zip(gang.parts, members(gang), strict=True)):
        try:
            limits = ffi.NULL
            if limited and own.limits is not None:
                # The pointer keeps the rows it points to.
                limits = frame.limits(own.limits).pointer
            level = NONE
            if own.within is not None:
                level = frame.topology.level_index(own.within)
            made.append((_request(frame, gang, own, part, core), limits, level))
        except InvalidRequest as error:
            raise InvalidRequest(f"parts[{at}]: {error}") from None
    return made


def with_parts(
    core: Any, request: Any, parts: list[tuple[Any, Any, int]], subject: str
) -> Any:
    """The request with its parts, of :func:`part_requests`, which it keeps."""
    rows = ffi.new("phx_part[]", len(parts))
    for row, (part, limits, within) in zip(rows, parts, strict=True):
        row.request, row.limits, row.within = part[0], limits, within
    status = lib.phx_request_parts(core, request, rows, len(parts), ffi.NULL)
    native.check(status, subject)
    kept = [request, rows, *parts]
    return ffi.gc(ffi.cast("phx_request *", request), lambda _: kept.clear())


def _request(frame: Frame, gang: Gang, own: Gang, part: Gang, core: Any) -> Any:
    subject = repr(own)
    level = frame.topology.level_index
    group_level, within, _ = frame.levels(part)
    top = NONE if gang.within is None else level(gang.within)
    slices = frame.slices(part)
    if own.within is not None and within is not None:
        if within == 0:
            raise InvalidRequest(f"within {own.within!r}: a leaf")
        if top not in (NONE, max(top, within)):
            raise InvalidRequest(
                f"within {own.within!r} is above that of the whole, {gang.within!r}"
            )
        # What holds units together is a slice, and what a repair moves the innermost.
        unit = (own.group, max(group_level, 1))
        slices = [*(slices or [unit]), (own.ranks, within)]
    fields = (
        *(own.ranks, own.group, group_level, top, NONE),
        *(AIMS.index("near"), RULES.index("smallest")),
    )
    request = native.request(core, fields, subject)
    if slices:
        native.request_slices(core, request, slices, subject)
    if own.balanced is not None:
        balanced = frame.balanced_level(part, own.balanced)
        native.request_balance(core, request, balanced, subject)
    return request

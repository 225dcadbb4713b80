"""Why parts that are placed together do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.native import GAVE_UP, MISFIT, NONE, ffi
from phalanx_core.placement.limits import limited_levels
from phalanx_core.placement.misfit import Misfit, MisfitCode, asked, plural
from phalanx_core.placement.parts import members, part_chains, part_requests, with_parts
from phalanx_core.placement.rooms import below

if TYPE_CHECKING:
    from phalanx_core.placement.frame import Frame
    from phalanx_core.placement.gang import Gang


def refuse_parts(
    frame: Frame, core: Any, gang: Gang, request: Any, limits: Any, status: int
) -> Misfit:
    """The refusal of a gang of parts: what is in the way of all of them, or of one.

    Parameters
    ----------
    request, limits
        The gang's compiled, and the pointer that was placed under.
    status
        MISFIT or GAVE_UP.

    Notes
    -----
    The search is repeated without limits and on the empty cluster. O(leaves) beside it.
    """
    _, records = native.explain(core, request, limits)
    code = _code(frame, core, gang, limits)
    limited = limited_levels(frame, limits)
    refused = Misfit(
        code, gang, frame, records, proven=status != GAVE_UP, limited=limited
    )
    refused._reason = _sentence(frame, core, refused, limits)
    return refused


def _plain(frame: Frame, gang: Gang, core: Any) -> Any:
    """Request of the gang as if neither it nor its parts had limits."""
    _, within, prefer = frame.levels(gang)
    levels = [NONE if level is None else level for level in (within, prefer)]
    request = native.request(core, (gang.ranks, 1, 0, *levels, 0, 0), repr(gang))
    parts = part_requests(frame, gang, core, limited=False)
    return with_parts(core, request, parts, repr(gang))


def _empty(frame: Frame) -> Any:
    """The cluster with every leaf available."""
    return native.new_planner(frame.core_tree, (0, NONE, 0, 0))


def _code(frame: Frame, core: Any, gang: Gang, limits: Any) -> MisfitCode:
    plain = _plain(frame, gang, core)
    if native.place_limited(_empty(frame), plain, ffi.NULL, False)[0] == -MISFIT:
        return MisfitCode.TOO_LARGE
    bound = limits != ffi.NULL or any(part.limits is not None for part in gang.parts)
    if bound and native.place_limited(core, plain, ffi.NULL, False)[0] >= 0:
        return MisfitCode.LIMITED
    if _most_available(frame, core, gang) < gang.ranks:
        return MisfitCode.CAPACITY
    return MisfitCode.GROUPS


def _most_available(frame: Frame, core: Any, gang: Gang) -> int:
    """Available leaves of the domain that has most, of those that serve some part."""
    available = (native.leaf_states(core, 0, frame.leaf_count) >> 5) & 1 == 1
    _, within, _ = frame.levels(gang)
    top = len(frame.topology.levels) - 1 if within is None else within
    served = np.zeros(frame.leaf_count, np.bool_)
    for chain in part_chains(frame, gang):
        levels = {level for _, level in chain} | (
            {top} if within is not None else set()
        )
        serves = np.ones(frame.leaf_count, np.bool_)
        for level in levels:
            serves &= _lies_in(frame, level)
        served |= serves
    bounds = below(frame, top, 0, frame.tree.real[top].size)
    seen = np.concatenate([[0], np.cumsum(available & served)])
    return int(np.diff(seen[bounds]).max())


def _lies_in(frame: Frame, level: int) -> NDArray[np.bool_]:
    """Whether each position lies in a domain of a level."""
    bounds = below(frame, level, 0, frame.tree.real[level].size)
    found: NDArray[np.bool_] = np.repeat(frame.tree.real[level] >= 0, np.diff(bounds))
    return found


def _sentence(frame: Frame, core: Any, refused: Misfit, limits: Any) -> str:
    gang = refused.gang
    unit = frame.topology.levels[0]
    top = refused.records[-1]
    told = "; ".join(asked(part, frame) for part in members(gang))
    if refused.code is MisfitCode.CAPACITY:
        what = (
            f"no {top.level} has {gang.ranks} available {unit}s for the parts ({told})"
        )
    elif refused.code is MisfitCode.TOO_LARGE:
        what = f"no {top.level} could ever hold the parts together ({told})"
    elif refused.code is MisfitCode.LIMITED:
        what = f"limits leave no {top.level} with room for the parts ({told})"
    else:
        what = f"no {top.level} has room for the parts together ({told})"
    empty = refused.code is MisfitCode.TOO_LARGE
    alone = _alone(frame, _empty(frame) if empty else core, gang, limits)
    if alone:
        return f"{what}: {alone}"
    best = top.best or f"tree without a {top.level}"
    if empty:
        return f"{what}: best {best} has {plural(top.leaves, unit)}"
    losses = top.losses()
    return f"{what}: best {best} has {top.available}{f'; {losses}' if losses else ''}"


def _alone(frame: Frame, core: Any, gang: Gang, limits: Any) -> str:
    """The first part that does not even fit by itself, and why; "" where all do."""
    for at, (request, own, _) in enumerate(part_requests(frame, gang, core)):
        for rows in dict.fromkeys((own, limits)):
            if native.place_limited(core, request, rows, False)[0] == -MISFIT:
                code, records = native.explain(core, request, rows)
                part = Misfit(
                    MisfitCode(code),
                    members(gang)[at],
                    frame,
                    records,
                    limited=limited_levels(frame, rows),
                )
                return f"parts[{at}]: {part.reason}"
    return ""

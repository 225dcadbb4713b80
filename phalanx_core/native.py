"""The one door to the compiled core: statuses leave it as exceptions.

The hot calls, one planner's :class:`Calls`, are used as they are, since a Python call
around them costs as much as they do; their callers hand any status but OK and MISFIT to
:func:`failure`. Arrays cross as NumPy arrays of the exact dtype.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from phalanx_core.errors import (
    InvalidRequest,
    InvariantBroken,
    OwnershipError,
    SaveError,
    StalePlan,
    TopologyError,
)

# By name, since import-linter takes a compiled module for the package above it.
_native = import_module("phalanx_core._native")
ffi: Any = _native.ffi
lib: Any = _native.lib
Calls: Any = import_module("phalanx_core._calls").Calls

__all__ = ["MISFIT", "NONE", "OK", "Calls", "failure", "ffi", "lib"]

Words = NDArray[np.uint32]

OK: int = lib.PHX_OK
MISFIT: int = lib.PHX_MISFIT
GAVE_UP: int = lib.PHX_GAVE_UP
NO_ROOM: int = lib.PHX_NO_ROOM
NONE: int = lib.PHX_NONE
LEVELS_MAX: int = lib.PHX_LEVELS_MAX
LEAVES_MAX: int = lib.PHX_LEAVES_MAX
SLICES_MAX: int = lib.PHX_SLICES_MAX
PARTS_MAX: int = lib.PHX_PARTS_MAX

RUN = np.dtype([("first", "<u4"), ("count", "<u4")])
RUN_WORDS = struct.Struct("<II")
MOVE = np.dtype([("rank", "<u4"), ("from", "<u4"), ("to", "<u4"), ("count", "<u4")])
# What stands in front of the moves of a replan's answer.
REPAIR = np.dtype(
    [
        (field, "<u4")
        for field in (
            *("moves", "moved", "dead", "unresolved"),
            *("level_before", "level_after", "spares_used", "proven"),
        )
    ]
)
_RECORD_FIELDS = (
    *("level", "domains", "best", "ranks", "available", "leaves"),
    *("owned", "spare", "quarantined", "down", "suspect", "cordoned"),
)
RECORD = np.dtype([(field, "<u4") for field in _RECORD_FIELDS])

# What a caller should do about each refusal decides the kind of exception.
ERRORS: dict[str, tuple[type[Exception], str]] = {
    "BAD_TREE": (TopologyError, "domains do not nest, or are too many"),
    "BAD_GANG": (InvalidRequest, "sizes do not divide, or a level does not exist"),
    "BAD_LEAF": (InvalidRequest, "a leaf is outside the topology"),
    "LEAF_TWICE": (InvalidRequest, "a leaf is listed twice"),
    "STALE_HANDLE": (OwnershipError, "released before, or never placed"),
    "NOT_OWNED": (OwnershipError, "a leaf is not held by this job"),
    "NOT_FREE": (OwnershipError, "a leaf is held by somebody else"),
    "BAD_CHAIN": (InvalidRequest, "the leaves break the gang's own constraints"),
    "STALE_PLAN": (StalePlan, "a leaf of the plan changed since it was made"),
    "NO_ROOM": (InvariantBroken, "a buffer of the binding is too small"),
    "NOT_BUDDY": (
        InvalidRequest,
        "alignment 'buddy' needs equal fanouts that are powers of two",
    ),
    "BAD_SAVE": (SaveError, "the saved state is damaged or foreign"),
    "OTHER_VERSION": (SaveError, "the saved state is of another version"),
    "OTHER_TREE": (SaveError, "the saved state is of another topology"),
    "NO_MEMORY": (MemoryError, "not enough memory"),
    "BAD_SPARES": (
        InvalidRequest,
        "spares need a size level below their per level and a count of at least 1",
    ),
    "NOT_QUARANTINED": (InvalidRequest, "a leaf is not in quarantine"),
}


def failure(status: int, subject: str) -> Exception:
    """The exception for a status of the core.

    Parameters
    ----------
    status
        A ``phx_status``, or minus one; neither OK nor MISFIT.
    subject
        What the call was about, put before the rule that was broken.

    Examples
    --------
    >>> failure(lib.PHX_LEAF_TWICE, "fail([3, 3])")
    InvalidRequest('fail([3, 3]): a leaf is listed twice')
    """
    name = ffi.string(lib.phx_status_name(abs(status))).decode()
    kind, rule = ERRORS.get(name, (InvariantBroken, f"status {name}"))
    if kind is InvariantBroken:
        return InvariantBroken("native", f"{subject}: {rule}")
    return kind(f"{subject}: {rule}")


def check(status: int, subject: str) -> None:
    """Raise unless a status is OK."""
    if status != OK:
        raise failure(status, subject)


def address(pointer: Any) -> int:
    """Where a cdata points, for :class:`Calls`; the cdata must outlive its use."""
    return int(ffi.cast("uintptr_t", pointer))


class HotCalls(Protocol):
    """What ``Calls`` has, in ``bindings/calls.c``."""

    def place(self, request: int, /) -> int:
        """``phx_place`` of a request's address: the packed word, or minus a status."""

    def release(self, slot: int, /) -> int:
        """``phx_release``: the status."""

    def replan(self, slot: int, /) -> bytes | None:
        """``phx_replan``, applied: answer and moves; None for any status but OK."""


def calls(core: Any) -> HotCalls:
    """The hot calls of a planner, which keep it alive."""
    hot: HotCalls = Calls(address(core), core)
    return hot


def words(array: Words) -> Any:
    """A ``uint32_t *`` to an array's own memory, which it keeps alive."""
    return ffi.from_buffer("uint32_t[]", array)


def new_tree(first: Sequence[Words], phantom: NDArray[np.uint8] | None) -> Any:
    """A ``phx_tree`` that is freed with its last reference.

    Parameters
    ----------
    first
        For each level from 1 upward: first child of each vertex and the end.
    phantom
        One byte a vertex from level 1 upward, or None where every domain is real.
    """
    counts = np.array([first[0][-1], *(len(row) - 1 for row in first)], np.uint32)
    joined = np.concatenate(first).astype(np.uint32)
    marks = ffi.NULL if phantom is None else ffi.from_buffer("uint8_t[]", phantom)
    out = ffi.new("phx_tree **")
    status = lib.phx_tree_new(len(first), words(counts), words(joined), marks, out)
    check(status, "topology")
    return ffi.gc(out[0], lib.phx_tree_free, int(lib.phx_tree_bytes(out[0])))


def set_rails(tree: Any, rails: NDArray[np.uint8]) -> None:
    """NIC rail of each leaf, 0 to 63, before any planner of the tree is made."""
    status = lib.phx_tree_set_rails(tree, ffi.from_buffer("uint8_t[]", rails))
    check(status, "topology")


def _own(core: Any) -> Any:
    return ffi.gc(core, lib.phx_planner_free, int(lib.phx_planner_bytes(core)))


def new_planner(tree: Any, options: tuple[int, int, int, int]) -> Any:
    """A ``phx_planner`` of a tree that the caller keeps alive.

    ``options`` are alignment, and of spares the per level, size level and count.
    """
    out = ffi.new("phx_planner **")
    status = lib.phx_planner_new(tree, ffi.new("phx_options *", options), out)
    check(status, "Planner")
    return _own(out[0])


def clone(core: Any) -> Any:
    """A copy that shares the tree alone."""
    out = ffi.new("phx_planner **")
    check(lib.phx_planner_clone(core, out), "clone")
    return _own(out[0])


def save(core: Any) -> bytes:
    """The core's state with its own header and checksum."""
    size = lib.phx_planner_save_bytes(core)
    block = ffi.new("char[]", size)
    check(lib.phx_planner_save(core, block, size), "save")
    return bytes(ffi.buffer(block, size))


def load(tree: Any, saved: bytes) -> Any:
    """A core from :func:`save`'s bytes.

    Raises
    ------
    SaveError
        If the bytes are damaged, of another version or of another tree.
    """
    out = ffi.new("phx_planner **")
    block = ffi.from_buffer(saved)
    check(lib.phx_planner_load(tree, block, len(saved), out), "load")
    return _own(out[0])


def validate(core: Any) -> None:
    """Recompute every invariant.

    Raises
    ------
    InvariantBroken
        With the tag of the invariant that does not hold.
    """
    reason = ffi.new("const char **")
    if lib.phx_planner_validate(core, reason) != OK:
        tag, _, text = ffi.string(reason[0]).decode().partition(": ")
        raise InvariantBroken(tag, text)


def request(core: Any, gang: tuple[int, ...], subject: str) -> Any:
    """A gang's levels and sizes resolved against a planner: ``phx_request *``."""
    out = ffi.new("phx_request *")
    check(lib.phx_request_init(core, ffi.new("phx_gang *", gang), out), subject)
    return out


def request_slices(
    core: Any, request: Any, slices: Sequence[tuple[int, int]], subject: str
) -> None:
    """Give a request its slices: sizes and level indexes, innermost first."""
    rows = ffi.new("phx_slice[]", list(slices))
    check(lib.phx_request_slices(core, request, rows, len(slices)), subject)


def request_balance(core: Any, request: Any, level: int, subject: str) -> None:
    """Spread a request's ranks evenly over the domains of a level."""
    check(lib.phx_request_balance(core, request, level), subject)


# Not cleared, so that pages no search writes cost nothing.
_scratch = ffi.new_allocator(should_clear_after_alloc=False)


def _searching(request: Any) -> tuple[Any, Any]:
    """A request that may be placed, and what it refers to.

    One of parts is copied, since planners that share it may search at the same time.
    """
    if not request.part_count:
        return request, None
    scratch = _scratch("uint32_t[]", lib.PHX_PARTS_WORDS)
    own = ffi.new("phx_request *", request[0])
    own.scratch = scratch
    return own, (scratch, request)


def _grown(call: Callable[..., int]) -> tuple[int, bytes]:
    """A call's answer and the runs it writes, into as much room as it needs."""
    room = 64
    count = ffi.new("uint32_t *")
    while True:
        runs = ffi.new("phx_run[]", room)
        answer = call(runs, room, count)
        if abs(answer) != NO_ROOM:
            return answer, bytes(ffi.buffer(runs, 8 * count[0]))
        room = count[0]


def gang_runs(core: Any, slot: int) -> bytes:
    """Runs of leaves that a gang holds, in rank order, as :data:`RUN` records."""
    status, runs = _grown(lambda *room: lib.phx_gang_runs(core, slot, *room))
    check(status, f"slot {slot}")
    return runs


def place_limited(
    core: Any, request: Any, limits: Any, apply: bool
) -> tuple[int, bytes]:
    """``phx_place_limited``: its result, and the runs where it only asks."""
    request, _kept = _searching(request)
    call = lib.phx_place_limited
    if apply:
        return int(call(core, request, limits, 1, ffi.NULL, 0, ffi.NULL)), b""
    return _grown(lambda *room: call(core, request, limits, 0, *room))


def runs_of(table: bytes) -> Any:
    """Records of :data:`RUN` as the core takes them; NULL for none."""
    return ffi.from_buffer("phx_run[]", table) if table else ffi.NULL


def replan(
    core: Any,
    slot: int,
    request: Any,
    failed: bytes,
    limits: Any,
    *,
    flags: int,
    ranks: int,
) -> tuple[int, bytes]:
    """``phx_replan_sliced``: its status, and :data:`REPAIR` with :data:`MOVE` behind.

    ``failed`` are :data:`RUN` records, ``ranks`` those of the gang.
    """
    block = ffi.new("char[]", REPAIR.itemsize + MOVE.itemsize * ranks)
    answer = ffi.cast("phx_repair *", block)
    status = lib.phx_replan_sliced(
        core,
        slot,
        request,
        runs_of(failed),
        len(failed) // RUN.itemsize,
        limits,
        flags,
        ffi.cast("phx_move *", block + REPAIR.itemsize),
        ranks,
        answer,
    )
    moves = 0 if status else answer.moves
    return status, bytes(ffi.buffer(block, REPAIR.itemsize + MOVE.itemsize * moves))


def explain(core: Any, request: Any, limits: Any) -> tuple[int, bytes]:
    """Code of a refusal, and one :data:`RECORD` a level."""
    room = LEVELS_MAX + 1
    records = ffi.new("phx_level_record[]", room)
    count, code = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    status = lib.phx_explain(core, request, limits, records, room, count, code)
    check(status, "explain")
    return int(code[0]), bytes(ffi.buffer(records, RECORD.itemsize * count[0]))


def leaf_states(core: Any, first: int, count: int) -> Words:
    """State words of ``count`` consecutive leaves."""
    states = np.empty(count, np.uint32)
    lib.phx_leaf_states(core, first, count, words(states))
    return states


def states_of(core: Any, leaves: Words) -> Words:
    """State words of any leaves; O(leaves), whatever lies between them."""
    if leaves.size > 8:
        low = int(leaves.min())
        span = int(leaves.max()) - low + 1
        if span <= 4 * leaves.size:
            return leaf_states(core, low, span)[leaves - low]
    state = lib.phx_leaf_state
    return np.array([state(core, leaf) for leaf in leaves.tolist()], np.uint32)


def run_states(core: Any, runs: bytes) -> tuple[Words, Words]:
    """Leaves of runs, and their state words; one call a run."""
    rows = np.frombuffer(runs, RUN).tolist()
    leaves = [np.arange(first, first + count) for first, count in rows]
    states = [leaf_states(core, first, count) for first, count in rows]
    return np.concatenate(leaves).astype(np.uint32), np.concatenate(states)


def health_change(core: Any, change: int, leaves: Words, subject: str) -> Words:
    """Change the health of leaves; the slots that hold them, or NONE."""
    owners = np.empty(leaves.size, np.uint32)
    status = lib.phx_health_change(
        core, change, words(leaves), leaves.size, words(owners)
    )
    check(status, subject)
    return owners


def free_leaves(core: Any, level: int, vertex_count: int) -> NDArray[np.int32]:
    """Available leaves below each vertex of a level."""
    counts = np.empty(vertex_count, np.int32)
    lib.phx_free_leaves(core, level, ffi.from_buffer("int32_t[]", counts))
    return counts


def quarantine_release(core: Any, leaves: Words, subject: str) -> None:
    """Let leaves out of quarantine."""
    status = lib.phx_quarantine_release(core, words(leaves), leaves.size)
    check(status, subject)

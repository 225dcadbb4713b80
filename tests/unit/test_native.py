"""The binding: status names, exceptions, packed structs and the life of handles."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import numpy as np
import pytest

from phalanx_core import Gang, InvariantBroken, Planner, Topology, native
from phalanx_core.errors import InvalidRequest, OwnershipError, SaveError, StalePlan
from phalanx_core.native import ffi, lib
from phalanx_core.placement.repair import HEAD_SIZE

CSRC = Path(__file__).resolve().parents[2] / "csrc"

STATUSES = [
    "OK",
    "MISFIT",
    "BAD_TREE",
    "BAD_GANG",
    "BAD_LEAF",
    "LEAF_TWICE",
    "STALE_HANDLE",
    "NOT_OWNED",
    "NOT_FREE",
    "BAD_CHAIN",
    "STALE_PLAN",
    "NO_ROOM",
    "NOT_BUDDY",
    "BAD_SAVE",
    "OTHER_VERSION",
    "OTHER_TREE",
    "NO_MEMORY",
    "BAD_SPARES",
    "BROKEN",
    "NOT_QUARANTINED",
    "GAVE_UP",
]


def test_status_values_are_pinned() -> None:
    """phx_status_name gives each value's name; saved handles depend on neither."""
    names = [ffi.string(lib.phx_status_name(at)).decode() for at in range(21)]
    assert names == STATUSES
    assert [getattr(lib, f"PHX_{name}") for name in STATUSES] == list(range(21))
    assert ffi.string(lib.phx_status_name(21)) == b"UNKNOWN"
    assert ffi.string(lib.phx_status_name(-1)) == b"UNKNOWN"


def test_every_status_has_an_exception() -> None:
    """All but OK and MISFIT raise; what no caller can cause is InvariantBroken."""
    told = {name: type(native.failure(at, "x")) for at, name in enumerate(STATUSES)}
    assert told["LEAF_TWICE"] is InvalidRequest
    assert told["STALE_HANDLE"] is OwnershipError
    assert told["STALE_PLAN"] is StalePlan
    assert told["OTHER_TREE"] is SaveError
    assert told["NO_MEMORY"] is MemoryError
    assert told["BROKEN"] is InvariantBroken
    assert str(native.failure(-lib.PHX_BAD_LEAF, "fail")) == (
        "fail: a leaf is outside the topology"
    )


def test_records_are_as_wide_as_the_structs() -> None:
    """NumPy's view of a struct has C's size and C's fields in C's order."""
    for dtype, name in (
        (native.RUN, "phx_run"),
        (native.MOVE, "phx_move"),
        (native.RECORD, "phx_level_record"),
    ):
        fields = ffi.typeof(name).fields
        assert dtype.itemsize == ffi.sizeof(name)
        assert dtype.names == tuple(field for field, _ in fields)
    assert ffi.sizeof("phx_repair") == HEAD_SIZE


def test_core_and_tree_are_freed() -> None:
    """A planner that is dropped leaves nothing behind."""
    topology = Topology.from_spec("host:2 gpu:2")
    planner = Planner(topology)
    core = weakref.ref(planner._core)
    tree = weakref.ref(planner._frame.core_tree)
    gang = Gang(1)
    planner.place("a", gang)
    other = planner.clone()
    del planner
    gc.collect()
    assert core() is None
    assert other.placement("a").leaves.tolist() == [0]
    del other, gang
    gc.collect()
    assert tree() is None


def test_core_counts_its_bytes() -> None:
    """phx_planner_bytes, phx_planner_core_bytes and phx_tree_bytes add up."""
    planner = Planner(Topology.from_spec("pod:4 host:16 gpu:8"))
    core = planner._core
    total = lib.phx_planner_bytes(core)
    decision = lib.phx_planner_core_bytes(core, 0)
    with_hosts = lib.phx_planner_core_bytes(core, 1)
    assert 0 < decision < with_hosts < total
    assert lib.phx_tree_bytes(planner._frame.core_tree) > 0
    assert lib.phx_tree_leaf_count(planner._frame.core_tree) == 512
    assert lib.phx_tree_depth(planner._frame.core_tree) == 3
    assert lib.phx_planner_short_domains(core) == 0


def test_layout_kept_in_python_is_the_core_s() -> None:
    """phx_gang_leaves, phx_gang_runs, phx_gang_level agree with the placement."""
    planner = Planner(Topology.from_spec("host:4 gpu:4"))
    planner.place("x", Gang(3))
    placed = planner.place("a", Gang(6))
    slot = planner._jobs["a"]._slot
    leaves = np.empty(6, np.uint32)
    assert lib.phx_gang_leaves(planner._core, slot, native.words(leaves)) == lib.PHX_OK
    assert leaves.tolist() == placed.leaves.tolist() == [8, 9, 10, 11, 12, 13]
    assert lib.phx_gang_level(planner._core, slot) == placed.level == 2


def test_hot_calls_answer_as_the_core_does() -> None:
    """Calls gives phx_place's word, phx_release's status and phx_replan's answer."""
    planner = Planner(Topology.from_spec("host:3 gpu:2"))
    twin = planner.clone()
    gang = Gang(4, group=2)
    planner.place("a", gang)
    _, address, request = gang._plain
    assert address == native.address(request)
    word = lib.phx_place(twin._core, request)
    assert word & 0x1FFFFF == 0
    assert planner._calls.place(address) == -lib.PHX_MISFIT
    assert twin._calls.replan(0)[:HEAD_SIZE] == ffi.buffer(_repair(twin._core, 0))[:]
    assert twin._calls.release(0) == lib.PHX_OK
    assert twin._calls.place(address) == word
    planner.fail([3])
    reply = planner._calls.replan(0)
    assert np.frombuffer(reply[HEAD_SIZE:], native.MOVE).tolist() == [(2, 2, 4, 2)]
    planner.fail([4])
    assert planner._calls.replan(0) is None
    # The twin's own core, by hand as above: slots nobody holds are refused by status.
    assert twin._calls.release(5) == lib.PHX_STALE_HANDLE
    assert twin._calls.release(2**63) == lib.PHX_STALE_HANDLE
    assert twin._calls.replan(5) is None


def _repair(core: object, slot: int) -> object:
    repair = ffi.new("phx_repair *")
    room = ffi.new("phx_move[]", 4)
    status = lib.phx_replan(core, slot, ffi.NULL, 0, ffi.NULL, 0, room, 4, repair)
    assert status == lib.PHX_OK
    return repair


def test_hot_calls_refuse_what_is_no_number() -> None:
    """A wrong argument is an exception of Python's own, before the core is asked."""
    calls = Planner(Topology.from_spec("gpu:2"))._calls
    for bad in ("0", 1.0, None, -1, 2**64):
        for call in (calls.release, calls.replan):
            with pytest.raises((TypeError, OverflowError)):
                call(bad)
    for bad in ("0", 1.0, None):
        with pytest.raises(TypeError):
            calls.place(bad)
    with pytest.raises(ValueError, match="the request's address is 0"):
        calls.place(0)
    with pytest.raises(ValueError, match="the planner's address is 0"):
        native.Calls(0, None)
    with pytest.raises(TypeError):
        native.Calls()


def test_hot_calls_keep_the_core_alive() -> None:
    """A Calls outlives its planner without a dangling pointer."""
    planner = Planner(Topology.from_spec("host:2 gpu:2"))
    planner.place("a", Gang(1))
    calls = planner._calls
    core = weakref.ref(planner._core)
    frame = planner._frame
    del planner
    gc.collect()
    assert calls.release(0) == lib.PHX_OK
    assert core() is not None
    del calls
    gc.collect()
    assert core() is None
    assert frame.leaf_count == 4


def test_only_marked_regions_are_declared() -> None:
    """The numbers that Python uses are those of the public header."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(CSRC.glob("*.h")))
    for name in ("PHX_LEVELS_MAX", "PHX_LEAVES_MAX", "PHX_NONE"):
        (value,) = re.findall(rf"#define {name} (\d+)", text)
        assert getattr(lib, name) == int(value)

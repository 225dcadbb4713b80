"""The binding: status names, exceptions, packed structs and the life of handles."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import numpy as np

from phalanx_core import Gang, InvariantBroken, Planner, Topology, native
from phalanx_core.errors import InvalidRequest, OwnershipError, SaveError, StalePlan
from phalanx_core.native import ffi, lib

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
]


def test_status_values_are_pinned() -> None:
    """phx_status_name gives each value's name; saved handles depend on neither."""
    names = [ffi.string(lib.phx_status_name(at)).decode() for at in range(20)]
    assert names == STATUSES
    assert [getattr(lib, f"PHX_{name}") for name in STATUSES] == list(range(20))
    assert ffi.string(lib.phx_status_name(20)) == b"UNKNOWN"
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
    # phx_replan_word's block: what it answers is copied in one slice.
    offsets = dict(ffi.typeof("phx_replan_call").fields)
    assert offsets["repair"].offset == 0
    assert offsets["moves"].offset == ffi.sizeof("phx_repair") == 32


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
    slot = planner._jobs["a"]._packed & 0x1FFFFF
    leaves = np.empty(6, np.uint32)
    assert lib.phx_gang_leaves(planner._core, slot, native.words(leaves)) == lib.PHX_OK
    assert leaves.tolist() == placed.leaves.tolist() == [8, 9, 10, 11, 12, 13]
    assert lib.phx_gang_level(planner._core, slot) == placed.level == 2


def test_only_marked_regions_are_declared() -> None:
    """The numbers that Python uses are those of the public header."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(CSRC.glob("*.h")))
    for name in ("PHX_LEVELS_MAX", "PHX_LEAVES_MAX", "PHX_NONE"):
        (value,) = re.findall(rf"#define {name} (\d+)", text)
        assert getattr(lib, name) == int(value)

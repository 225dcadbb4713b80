"""What a save says of the cluster's words is checked like the rest of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from phalanx_core import Gang, Planner, SaveError, Topology
from phalanx_core.placement.outside import Outside
from phalanx_core.placement.snapshot import CHECKSUM, HEAD, MAGIC, VERSION

NAMES = ["a0", "a1", "b0", "b1"]
Table = dict[str, Any]


def changed() -> Planner:
    """Two leaves kept, one of a job and one of a handle; one mark waits for its leaf."""
    planner = Planner(
        Topology.from_labels(["host"], [["a", "a", "b", "b"]], names=NAMES)
    )
    planner.adopt("job", Gang(1), ["a0"])
    planner.adopt("filler", Gang(2), ["b0", "b1"])
    planner.place_many([1], Gang(1))
    planner.release("filler")
    planner.cordon(["b1"])
    planner.sync(Topology.from_labels(["host"], [["b"]], names=["b0"]))
    planner.sync(Topology.from_labels(["host"], [["c"]], names=["c0"]))
    return planner


def tampered(planner: Planner, change: Callable[[Table], object]) -> bytes:
    """A save with other tables and a checksum that is right."""
    data = planner.save()
    _, _, size, rest = HEAD.unpack_from(data)
    tables = json.loads(data[HEAD.size : HEAD.size + size])
    change(tables["outside"])
    text = json.dumps(tables, sort_keys=True, separators=(",", ":")).encode()
    core = data[HEAD.size + size : HEAD.size + size + rest]
    body = HEAD.pack(MAGIC, VERSION, len(text), len(core)) + text + core
    return body + CHECKSUM.pack(zlib.crc32(body))


def test_the_table_of_a_changed_planner() -> None:
    """Every part of it is in use, and a save that is only repacked loads."""
    planner = changed()
    table = planner._outside.to_table()
    assert table is not None
    assert [row[0] for row in table["kept"]] == ["a0", "a1"]
    assert table["barred"] == [[1, "gone", 0], [2, "gone", 0]]
    assert (table["away"], table["epoch"]) == ([["b1", 0, True]], 2)
    assert list(planner._outside.handles) == [2]
    given = Topology.from_labels(["host"], [["c"]], names=["c0"])
    other = Planner.load(given, tampered(planner, lambda table: None))
    assert other.save() == planner.save()
    assert Outside().to_table() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t["barred"].append([99, "gone", 0]),
        lambda t: t["barred"].append([-1, "gone", 0]),
        lambda t: t["barred"].append([0, "gone", 0]),
        lambda t: t["barred"].append([0, "lost", 0]),
        lambda t: t["barred"].append([1, "gone", 7]),
        lambda t: t["barred"].append([1]),
        lambda t: t["shut"].append(99),
        lambda t: t["shut"].append("x"),
        lambda t: t["handles"].append([5, 9999999, {"ranks": 1}]),
        lambda t: t["handles"].append([5, 0, {"ranks": 1}]),
        lambda t: t["handles"].clear(),
        lambda t: t["handles"].append([5, 0, {"ranks": -1}]),
        lambda t: t["away"].append(["x"]),
        lambda t: t["kept"][0].pop(),
        lambda t: t["kept"].pop(),
        lambda t: t["kept"][0].__setitem__(0, 7),
        lambda t: t["kept"][0].__setitem__(2, 77),
        lambda t: t.pop("epoch"),
        lambda t: t.__setitem__("base", "no hex"),
    ],
)
def test_damage_is_a_save_error(change: Callable[[Table], object]) -> None:
    """One exception, whichever part is wrong."""
    given = Topology.from_labels(["host"], [["c"]], names=["c0"])
    data = tampered(changed(), change)
    with pytest.raises(SaveError):
        Planner.load(given, data)

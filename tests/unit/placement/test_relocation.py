"""Every way to move units: each once, within the rules, and nothing left behind."""

from __future__ import annotations

from typing import Any

import numpy as np

from phalanx_core import Gang, Planner, Topology
from phalanx_core.placement.relocation import Part, Relocation, free_under
from phalanx_core.placement.sandbox import Sandbox
from phalanx_core.placement.units import Mover

ROWS = "rack:2 host:2 gpu:2"


def ways(
    gang: Gang, leaves: list[int], units: list[int], free: list[int], **options: Any
) -> list[list[int]]:
    """Leaves that the units take, of each way."""
    planner = Planner(Topology.from_spec(options.pop("spec", ROWS)))
    planner.adopt("a", gang, leaves)
    frame = planner._frame
    limits = planner._find("a")._limits
    mover = Mover(frame, "a", planner.placement("a"), limits)
    usable = np.zeros(planner.topology.leaf_count, np.bool_)
    usable[free] = True
    holds = options.pop("holds", lambda after: True)
    pool = options.pop("pool", 1)
    left = mover.positions[mover.ranks_of(units)].astype(np.int64)
    relocation = Relocation(frame, pool, usable, left, holds)
    part = Part(frame, mover, units)
    found = [part.targets.tolist() for _ in relocation.ways([part])]
    assert np.flatnonzero(relocation.free).tolist() == sorted(free)
    assert np.flatnonzero(relocation.after).tolist() == sorted([*free, *left])
    return found


def test_single_ranks_are_alike() -> None:
    """Two of one job on hosts 2 and 3: both on one, or one on each, not four ways."""
    two = Gang(2)
    assert ways(two, [0, 1], [0, 1], [4, 5, 6, 7]) == [[4, 5], [4, 6], [6, 7]]
    assert ways(two, [0, 1], [1], [4, 5, 6]) == [[4], [6]]
    assert len(ways(two, [0, 1], [0, 1], [4, 5, 6, 7], pool=0)) == 6


def test_a_group_goes_where_it_fits_whole() -> None:
    """Into one host; into any hosts of one rack where that is its level."""
    pair = Gang(2, group=2)
    assert ways(pair, [0, 1], [0], [2, 4, 6, 7]) == [[6, 7]]
    wide = Gang(2, group=2, group_level="rack")
    assert ways(wide, [0, 1], [0], [2, 4, 6, 7]) == [[6, 7], [4, 6]]


def test_what_stays_pins_the_rest() -> None:
    """A rank that stays keeps the other in its rack; both may leave together."""
    near = Gang(2, within="rack")
    assert ways(near, [0, 1], [1], [2, 4, 6]) == [[2]]
    assert ways(near, [0, 1], [0, 1], [2, 4, 6]) == [[4, 6]]
    sliced = Gang(4, group=2, group_level="host", slices=[(4, "rack")])
    free = [2, 3, 8, 9, 10, 11]
    options = {"spec": "rack:2 host:3 gpu:2"}
    assert ways(sliced, [0, 1, 4, 5], [1], free, **options) == [[2, 3]]
    both = ways(sliced, [0, 1, 4, 5], [0, 1], free, **options)
    assert both == [[8, 9, 10, 11]]


def test_limits_count_what_stays() -> None:
    """At most one rank of it on a host."""
    spread = Gang(2, limits={"host": [1, 1, 1, 1]})
    assert ways(spread, [0, 2], [0], [3, 4, 5]) == [[4]]
    assert ways(spread, [0, 2], [0, 1], [3, 4, 5, 6]) == [[3, 4], [3, 6], [4, 6]]


def test_the_condition_cuts_ways_off() -> None:
    """It sees what is available with the leaves that are left, less those taken."""

    def host_zero(after: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
        return bool(after[:2].all())

    assert ways(Gang(1), [0], [0], [1, 2], holds=host_zero) == [[2]]


def test_free_leaves_under_vertices() -> None:
    """Of some vertices of a level, in order."""
    frame = Planner(Topology.from_spec(ROWS))._frame
    free = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.bool_)
    assert free_under(frame, free, 1, range(1, 4)).tolist() == [2, 0, 1]
    assert free_under(frame, free, 2, range(2)).tolist() == [3, 1]


def test_a_sandbox_gives_a_leaf_once() -> None:
    """What one job takes is gone for the next; a refusal takes nothing."""
    planner = Planner(Topology.from_spec(ROWS))
    for job, leaves in (("a", [0, 1]), ("b", [2, 3])):
        planner.adopt(job, Gang(2, group=2), leaves)
    frame = planner._frame
    a, b = (Mover(frame, job, planner.placement(job), None) for job in ("a", "b"))
    available = np.zeros(8, np.bool_)
    available[[4, 6, 7]] = True
    sandbox = Sandbox(frame, available)
    pair = sandbox.place(Gang(2, within="host"), None)
    assert pair is not None
    assert pair.tolist() == [6, 7]
    moved = sandbox.move(a, a.ranks_of([0]))
    assert moved is not None
    assert moved.tolist() == [[0, 0, 6], [1, 1, 7]]
    assert sandbox.move(b, b.ranks_of([0])) is None
    one = sandbox.place(Gang(1), None)
    assert one is not None
    assert one.tolist() == [4]
    assert sandbox.place(Gang(2), None) is None

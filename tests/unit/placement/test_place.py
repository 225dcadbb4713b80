"""Place, fits, adopt, release and the answers they give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phalanx_core import Gang, MisfitCode, Placement, Planner, Spares, Topology

RACKS = Topology.from_spec("rack:2 host:4 gpu:2")
# Address order is first host a, then b, although the ids alternate.
MIXED_ORDER = Topology.from_labels(
    ("host",), [["a", "b", "a", "b", None]], names=["a0", "b0", "a1", "b1", "lone"]
)


def test_placement_tells_all_about_itself() -> None:
    """Leaves, level, domain, blocks, hosts, text and JSON of one placement."""
    planner = Planner(RACKS)
    planner.place("first", Gang(1))
    placed = planner.place("a", Gang(3))
    assert placed
    assert placed.leaves.dtype == np.int32
    assert placed.leaves.tolist() == [4, 5, 6]
    assert (placed.level, placed.level_name, placed.domain_name) == (
        2,
        "rack",
        "rack-0",
    )
    assert [(block.leaves, block.level) for block in placed.blocks] == [((4, 5, 6), 2)]
    assert placed.by_host() == {
        "host-2": [(0, "host-2/gpu-0"), (1, "host-2/gpu-1")],
        "host-3": [(2, "host-3/gpu-0")],
    }
    assert str(placed) == "3 ranks in rack-0 (rack): leaves 4-6"
    assert repr(placed) == "Placement(ranks=3, level='rack', leaves='4-6')"
    assert json.loads(json.dumps(placed.to_dict()))["leaves"] == [4, 5, 6]


def test_answers_do_not_follow_the_planner() -> None:
    """A placement keeps what it said, whatever happens later."""
    planner = Planner(RACKS)
    for job in range(4):
        planner.place(job, Gang(4))
    for job in (0, 2):
        planner.release(job)
    spread = planner.place("spread", Gang(8))
    assert spread
    assert [block.leaves for block in spread.blocks] == [(0, 1, 2, 3), (8, 9, 10, 11)]
    planner.release("spread")
    planner.place("b", Gang(2))
    assert spread.leaves.tolist() == [0, 1, 2, 3, 8, 9, 10, 11]


def test_fits_says_what_place_does() -> None:
    """The same leaves and level, one block or several, and no change."""
    planner = Planner(RACKS)
    planner.place("x", Gang(2))
    before = planner.save()
    for gang in (Gang(1), Gang(3), Gang(14, group=2), Gang(6, within="rack")):
        told = planner.fits(gang)
        asked = planner.place("a", gang, apply=False)
        assert planner.save() == before
        done = planner.clone().place("a", gang)
        assert all((told, asked, done))
        for one in (told, asked):
            assert one.leaves.tolist() == done.leaves.tolist()
            assert (one.level, one.domain_name) == (done.level, done.domain_name)


def test_ids_and_positions_differ() -> None:
    """Leaf ids are the topology's where its address order is another one."""
    planner = Planner(MIXED_ORDER)
    assert planner.place("a", Gang(2, group=2)).leaves.tolist() == [0, 2]
    assert planner.fail(["a1"]) == ["a"]
    assert planner.fail(np.array([3])) == []
    assert planner.free_leaves("host").tolist() == [0, 1]
    assert planner.free_leaves() == 2
    assert planner.fits(Gang(2, group=2)).code is MisfitCode.CAPACITY
    lone = planner.place("lone", Gang(1), limits={"host": [0, 0]})
    assert lone.by_host() == {"lone": [(0, "lone")]}


def test_limits_bind_at_every_level() -> None:
    """A limit of zero excludes, of one spreads; the leaf level has limits too."""
    planner = Planner(RACKS)
    host = {"host": [0, 1, 1, 1, 1, 1, 1, 1]}
    assert planner.fits(Gang(3), limits=host).leaves.tolist() == [2, 4, 6]
    leaf = {"gpu": np.arange(16) % 2}
    assert planner.fits(Gang(4), limits=leaf).leaves.tolist() == [1, 3, 5, 7]
    assert planner.fits(Gang(6), limits={"rack": [3, 3], "cluster": [6]})
    refused = planner.fits(Gang(7), limits={"rack": [3, 3]})
    assert refused.code is MisfitCode.LIMITED
    kept = Gang(3, limits=host)
    assert planner.place("a", kept).leaves.tolist() == [2, 4, 6]
    assert planner.place("b", kept, limits={}).leaves.tolist() == [8, 9, 10]


def test_adopt_takes_exactly_these() -> None:
    """Any order, ill leaves and spares included; the planner goes on from there."""
    planner = Planner(RACKS, spares=Spares("rack"))
    planner.fail([6])
    planner.cordon([7])
    placed = planner.adopt("old", Gang(3), [7, 6, 2])
    assert placed.leaves.tolist() == [7, 6, 2]
    assert planner.placement("old").leaves.tolist() == [7, 6, 2]
    assert planner.broken() == ["old"]
    planner.release("old")
    assert {job: leaves.tolist() for job, leaves in planner.quarantined().items()} == {
        "old": [6]
    }
    planner.validate()


def test_release_gives_everything_back() -> None:
    """Place and release restore the core's free space; keys may come again."""
    planner = Planner(RACKS)
    free = planner.free_leaves("host").tolist()
    for _ in range(3):
        assert planner.place("a", Gang(5))
        planner.release("a")
        assert planner.free_leaves("host").tolist() == free
    assert planner.largest_block("cluster").leaves == tuple(range(16))
    assert (len(planner), "a" in planner) == (0, False)
    planner.validate()


def test_jobs_of_the_same_look_are_two() -> None:
    """The int 1 and the text "1" are different keys; True is none."""
    planner = Planner(RACKS)
    planner.place(1, Gang(1))
    planner.place("1", Gang(2))
    assert planner.jobs() == [1, "1"]
    assert planner.gang("1") == Gang(2)
    assert (True in planner, 1 in planner) == (False, True)


def test_queries_of_a_full_cluster() -> None:
    """No block is left, every level counts zero, owners have names."""
    planner = Planner(RACKS)
    planner.place("all", Gang(16))
    assert planner.largest_block("rack") is None
    assert planner.free_leaves("rack").tolist() == [0, 0]
    owner = planner.owner(3)
    assert (owner.kind, owner.job, owner.health) == ("job", "all", "up")
    assert not owner.available
    assert repr(planner) == (
        "Planner('rack:2 host:4 gpu:2', jobs=1, available=0 of 16)"
    )


def test_buddy_rounds_up() -> None:
    """Five ranks hold eight leaves; a loss beyond the ranks breaks nobody."""
    planner = Planner(RACKS, alignment="buddy")
    placed = planner.place("a", Gang(5))
    assert isinstance(placed, Placement)
    assert placed.leaves.tolist() == [0, 1, 2, 3, 4]
    assert planner.free_leaves() == 8
    assert planner.fail([7]) == ["a"]
    assert planner.broken() == []
    planner.release("a")
    assert planner.owner(7).kind == "quarantine"
    assert planner.place("b", Gang(8, within="rack")).leaves[0] == 8
    assert planner.place("c", Gang(3)).leaves.tolist() == [0, 1, 2]
    refused = planner.place("d", Gang(3))
    assert refused.code is MisfitCode.ALIGNMENT
    assert refused.reason == (
        "no cluster has an aligned block of 4 gpus: best cluster has 3; "
        "12 held by jobs, 1 quarantined"
    )


@pytest.mark.parametrize("rule", ["smallest", "fullest", "lowest"])
@pytest.mark.parametrize("aim", ["near", "fill"])
def test_rules_and_aims_place_what_fits(rule: str, aim: str) -> None:
    """Neither decides whether a gang fits."""
    planner = Planner(RACKS)
    planner.place("x", Gang(1))
    planner.place("y", Gang(3))
    assert len(planner.place("a", Gang(12, aim=aim, rule=rule)).leaves) == 12
    planner.validate()

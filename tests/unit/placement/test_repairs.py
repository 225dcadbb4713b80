"""Replan, plans, drains, quarantine and fencing through the API."""

from __future__ import annotations

import json

import numpy as np
import pytest

from phalanx_core import (
    DrainPlan,
    Gang,
    InvalidRequest,
    Misfit,
    MisfitCode,
    Planner,
    Repair,
    Spares,
    Topology,
)

RACKS = Topology.from_spec("rack:2 host:4 gpu:4")


def training() -> Planner:
    """Job "a" of three groups of four fills hosts 0 to 2 of rack 0."""
    planner = Planner(RACKS)
    planner.place("a", Gang(12, group=4, within="rack"))
    return planner


def test_only_the_broken_group_moves() -> None:
    """A dead leaf moves its group of four to the free host; the rest stays."""
    planner = training()
    assert planner.fail([5]) == ["a"]
    assert planner.broken() == ["a"]
    repair = planner.replan("a")
    assert isinstance(repair, Repair)
    assert repair.moves.tolist() == [[4, 4, 12], [5, 5, 13], [6, 6, 14], [7, 7, 15]]
    assert repair.moves.dtype == np.int32
    assert repair.leaves.tolist() == [0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11]
    assert planner.placement("a").leaves.tolist() == repair.leaves.tolist()
    assert (repair.level_before, repair.level_after, repair.spares_used) == (2, 2, 0)
    assert (repair.dead, repair.unresolved.tolist()) == (1, [])
    assert repair.kept.tolist() == list(range(12))
    assert planner.broken() == []
    planner.validate()


def test_repair_tells_itself() -> None:
    """Text, representation and JSON of a repair."""
    planner = training()
    planner.fail([5])
    repair = planner.replan("a", apply=False)
    assert repair
    assert str(repair) == (
        "job 'a': 4 ranks move (4-7), leaves 4-7 -> 12-15, level rack -> rack"
    )
    assert repr(repair) == "Repair(job='a', moves=4, spares_used=0, unresolved=[])"
    told = json.loads(json.dumps(repair.to_dict()))
    assert told["moves"][0] == [4, 4, 12]
    assert repair.by_host()["host-3"][0] == (4, "host-3/gpu-0")


def test_a_whole_job_needs_no_moves() -> None:
    """Its repair is truthy, empty, and changes nothing, the bytes included."""
    planner = training()
    before = planner.save()
    for apply in (True, False):
        repair = planner.replan("a", apply=apply)
        assert repair
        assert repair.moves.shape == (0, 3)
        assert str(repair) == "job 'a': nothing moves"
    planner.apply(repair)
    assert planner.save() == before


def test_plan_and_apply_equal_the_repair() -> None:
    """A plan applied leaves the bytes that the repair at once leaves."""
    planner = training()
    planner.fail([5])
    other = planner.clone()
    before = planner.save()
    plan = planner.replan("a", failed=[6], apply=False)
    assert planner.save() == before
    assert isinstance(plan, Repair)
    planner.apply(plan)
    assert other.replan("a", failed=[6])
    assert planner.save() == other.save()
    assert planner.owner(6).health == "down"
    assert planner.owner(4).health == "up"


@pytest.mark.parametrize(
    ("lost", "leaves"),
    [
        ([5], [5]),
        ([9, 5], [5, 9]),
        (np.array([4, 5, 6, 7]), [4, 5, 6, 7]),
        (["host-1/gpu-1"], [5]),
        (5, [5]),
    ],
)
def test_failed_leaves_are_marked_down(lost: object, leaves: list[int]) -> None:
    """Leaves may be ids, names or an array; after the repair they are down."""
    planner = training()
    assert planner.replan("a", failed=lost, partial=True)
    down = [leaf for leaf in range(32) if planner.owner(leaf).health == "down"]
    assert down == leaves
    planner.validate()


def test_second_repair_starts_where_the_first_ended() -> None:
    """Repairs chain: each tells the leaves before and after it."""
    planner = Planner(RACKS)
    planner.place("a", Gang(4, group=2))
    for leaf in (0, 4, 2, 5):
        held = planner.placement("a").leaves.tolist()
        if leaf not in held:
            continue
        planner.fail([leaf])
        repair = planner.replan("a")
        assert repair
        assert leaf not in repair.leaves.tolist()
        assert planner.placement("a").leaves.tolist() == repair.leaves.tolist()
        planner.validate()


def test_taken_leaves_stay_away_until_fenced() -> None:
    """Quarantine outlives heal and release; fenced frees a job's, and only its."""
    planner = training()
    planner.adopt("b", Gang(1), [16])
    planner.fail([5])
    assert planner.replan("a")
    planner.heal([5])
    told = {job: leaves.tolist() for job, leaves in planner.quarantined().items()}
    assert told == {"a": [4, 5, 6, 7]}
    assert planner.owner(5).kind == "quarantine"
    assert planner.owner(5).job == "a"
    planner.release_quarantine([4])
    planner.release("a")
    assert planner.fenced("b").tolist() == []
    assert planner.fenced("a").tolist() == [5, 6, 7]
    assert planner.fenced("a").tolist() == []
    assert planner.quarantined() == {}
    assert planner.owner(5).available
    planner.validate()


def test_down_leaves_of_a_released_job_are_quarantined() -> None:
    """They stay so after they heal; the job's other leaves are free at once."""
    planner = training()
    planner.fail([5, 20])
    planner.release("a")
    assert planner.quarantined()["a"].tolist() == [5]
    assert planner.heal([5, 20]) == []
    assert planner.owner(5).kind == "quarantine"
    assert planner.owner(20).available
    assert planner.owner(4).available


def test_refused_repair_explains_itself() -> None:
    """No other host in the rack: a Misfit with ranks, domain and counts."""
    planner = training()
    planner.place("b", Gang(4, within="host"))
    planner.cordon([29])
    planner.fail([5, 6])
    before = planner.save()
    refused = planner.replan("a")
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.REPLACEMENT
    assert refused.proven
    assert refused.reason == (
        "job 'a': no replacement for ranks 5-6 of groups of 4: rack rack-0 has 0 gpus "
        "available; 16 held by jobs"
    )
    assert refused.records
    assert planner.save() == before


def test_partial_repair_names_the_rest() -> None:
    """Two of three groups lost, one host free: one is repaired, one told."""
    planner = training()
    planner.fail([1, 5, 6])
    assert not planner.replan("a")
    repair = planner.replan("a", partial=True)
    assert isinstance(repair, Repair)
    assert len(repair.moves) == 4
    assert sorted({*repair.moves[:, 0].tolist(), *repair.unresolved.tolist()}) in (
        [0, 1, 2, 3, 5, 6],
        [1, 4, 5, 6, 7],
    )
    assert "no replacement for rank" in repair.reason
    assert "unresolved" in str(repair)
    assert planner.broken() == ["a"]
    planner.validate()


def test_spare_replaces_a_host_in_place() -> None:
    """With a spare in the rack the level stays, and another host takes over."""
    planner = Planner(RACKS, spares=Spares("rack"))
    assert planner.spares().tolist() == [3, 7]
    planner.place("a", Gang(12, group=4, within="rack"))
    planner.fail([0, 1, 2, 3])
    repair = planner.replan("a")
    assert repair
    assert repair.moves[:, 2].tolist() == [12, 13, 14, 15]
    assert (repair.spares_used, repair.level_after) == (1, 2)
    assert str(repair).endswith(", 1 spare used")
    assert planner.spares().tolist() == [7]
    planner.heal([0, 1, 2, 3])
    planner.fenced("a")
    assert planner.spares().tolist() == [0, 7]


def test_stored_limits_bind_repairs() -> None:
    """Those of the call, else of the gang; a repair may be given others."""
    planner = Planner(RACKS)
    near = {"host": [4, 0, 4, 0, 0, 0, 0, 0]}
    planner.place("a", Gang(4, group=4, limits=near))
    planner.place("b", Gang(4, group=4), limits={"host": [0, 4, 0, 0, 0, 0, 0, 0]})
    planner.fail([0, 4])
    assert planner.replan("a", apply=False).leaves.tolist() == [8, 9, 10, 11]
    assert not planner.replan("b")
    lifted = planner.replan("b", limits={}, apply=False)
    assert lifted
    loaded = Planner.load(RACKS, planner.save())
    assert loaded.save() == planner.save()
    assert not loaded.replan("b")
    assert loaded.replan("a").leaves.tolist() == [8, 9, 10, 11]
    loaded.fail([8])
    assert not loaded.replan("a")


def test_drain_moves_jobs_off_and_closes_leaves() -> None:
    """Each job in order of the leaves; a job without room keeps its leaves."""
    planner = training()
    planner.place("b", Gang(16))
    before = planner.save()
    plan = planner.drain(RACKS.leaves("host", "host-1"), apply=False)
    assert planner.save() == before
    assert isinstance(plan, DrainPlan)
    assert (list(plan), plan.complete, plan.leaves.tolist()) == (
        ["a"],
        True,
        [4, 5, 6, 7],
    )
    other = planner.clone()
    planner.apply(plan)
    done = other.drain([4, 5, 6, 7])
    assert done["a"]
    assert planner.save() == other.save()
    assert all(planner.owner(leaf).cordoned for leaf in (4, 5, 6, 7))
    stuck = planner.drain([16, 0])
    assert list(stuck) == ["b", "a"]
    assert not stuck.complete
    assert planner.placement("b").leaves[0] == 16
    assert planner.owner(16).cordoned


def test_a_gang_without_key_is_repaired_by_its_handle() -> None:
    """What fail returns names it by a Handle, which replan, placement and fenced take."""
    planner = Planner(RACKS)
    handles, *_ = planner.place_many([4, 4], Gang(4, group=4))
    (hit,) = planner.fail([5])
    assert int(hit) == handles[1]
    repair = planner.replan(hit)
    assert repair
    assert planner.placement(hit).leaves.tolist() == [8, 9, 10, 11]
    assert planner.owner(8).job == hit
    assert planner.fenced(hit).tolist() == [4, 5, 6, 7]
    with pytest.raises(InvalidRequest, match="release_many takes handles"):
        planner.release(hit)
    planner.release_many(handles)
    planner.validate()


def test_large_repairs_are_told_whole() -> None:
    """More moves than the quick answer copies, and more than its buffer has."""
    single = Topology.from_spec("host:1500 gpu:2")
    planner = Planner(single)
    planner.place("a", Gang(1000))
    lost = np.arange(0, 1000, 2)
    planner.fail(lost)
    repair = planner.replan("a")
    assert repair
    assert repair.moves[:, 1].tolist() == lost.tolist()
    assert planner.placement("a").leaves.tolist() == repair.leaves.tolist()
    assert planner.fenced("a").tolist() == lost.tolist()
    planner.heal(lost)
    planner.place("b", Gang(40))
    held = planner.placement("b").leaves
    planner.fail(held[::2])
    repair = planner.replan("b")
    assert repair
    assert repair.moves[:, 1].tolist() == held[::2].tolist()
    planner.validate()


def test_repairs_keep_rails_where_the_tree_allows() -> None:
    """phx_tree_set_rails: a rank goes to a free leaf of its NIC rail."""
    rails = [0, 1, 2, 3, 3, 2, 1, 0]
    topology = Topology.from_labels(
        ("host", "rack"), [["a"] * 4 + ["b"] * 4, ["r"] * 8], nic_rails=rails
    )
    planner = Planner(topology)
    placed = planner.place("a", Gang(4))
    assert [rails[leaf] for leaf in placed.leaves] == [0, 1, 2, 3]
    planner.fail(placed.leaves[2:3])
    ((rank, left, taken),) = planner.replan("a").moves.tolist()
    assert (rank, rails[left], rails[taken]) == (2, 2, 2)


def test_many_repairs_of_one_job_each_know_their_leaves() -> None:
    """Repairs lean on the ones before; each still tells where the gang was then."""
    planner = Planner(Topology.from_spec("rack:2 host:8 gpu:2"))
    planner.place("job", Gang(4, group=2))
    seen = []
    for turn in range(40):
        lost = planner.placement("job").leaves[:2].tolist()
        planner.fail(lost)
        repair = planner.replan("job")
        assert repair.leaves.tolist() == planner.placement("job").leaves.tolist()
        assert repair.moves[:, 1].tolist() == lost
        seen.append((repair, repair.leaves.tolist(), turn))
        planner.fenced("job")
        planner.heal(lost)
    assert all(repair.leaves.tolist() == leaves for repair, leaves, _ in seen)
    planner.validate()


def test_a_spare_serves_a_gang_that_fits_below_its_level() -> None:
    """Spares are racks; the gang must lie in a host, and one of a spare is all there is."""
    pods = ["p", "p", "p", "q", "q", "q"]
    racks = ["a", "a", "b", "c", "c", "d"]
    topology = Topology.from_labels(("host", "rack", "pod"), [range(6), racks, pods])
    planner = Planner(topology, spares=Spares("pod", "rack"))
    planner.adopt("job", Gang(1, within="host"), [2])
    planner.adopt("other", Gang(1), [5])
    planner.fail([2])
    repair = planner.replan("job")
    assert repair.moves.tolist() == [[0, 2, 0]]
    assert repair.spares_used == 1
    planner.validate()
    assert [str(planner.owner(leaf).kind) for leaf in range(5)] == [
        "job",
        "free",
        "quarantine",
        "spare",
        "spare",
    ]

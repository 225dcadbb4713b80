"""Slices and even spreading through the planner: values, errors, repairs, saves."""

from __future__ import annotations

import pickle

import pytest

from phalanx_core import Gang, InvalidRequest, Planner, Spares, StalePlan, Topology

RACKS = Topology.from_spec("pod:2 rack:2 host:2 gpu:4")


def test_slices_are_part_of_a_gang_s_value() -> None:
    """Lists and tuples are the same; names and indexes are not."""
    gang = Gang(16, group=4, slices=[[8, "rack"]], balanced="rack")
    assert gang == Gang(16, group=4, slices=((8, "rack"),), balanced="rack")
    assert gang != Gang(16, group=4, slices=((8, 2),), balanced="rack")
    assert gang.slices == ((8, "rack"),)
    assert pickle.loads(pickle.dumps(gang)) == gang
    assert repr(gang) == "Gang(16, group=4, slices=[[8, 'rack']], balanced='rack')"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"slices": 3}, "slices 3: pairs (size, level), innermost first"),
        ({"slices": "8 rack"}, "slices '8 rack': pairs (size, level), innermost first"),
        ({"slices": [8]}, "slices[0] 8: a pair (size, level)"),
        ({"slices": [(8,)]}, "slices[0] (8,): a pair (size, level)"),
        ({"slices": [(8, None)]}, "slices[0] (8, None): a pair (size, level)"),
        ({"slices": [(0, "rack")]}, "slices[0] 0: between 1 and 2147483647"),
        ({"slices": [(8, -1)]}, "slices[0] level -1: a level's name or index"),
        (
            {"slices": [(6, "rack")]},
            "slices[0] of 6 ranks: not a multiple of group 4",
        ),
        (
            {"slices": [(8, "rack"), (12, "pod")]},
            "slices[1] of 12 ranks: not a multiple of slice 8",
        ),
        ({"slices": [(12, "rack")]}, "ranks 16: not a multiple of slice 12"),
        ({"balanced": True}, "balanced True: a level's name or index"),
        (
            {"balanced": "rack", "aim": "fill"},
            "balanced: aim 'fill' places each part on its own",
        ),
    ],
)
def test_a_gang_refuses_what_is_no_chain(
    fields: dict[str, object], message: str
) -> None:
    """One exception that names field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        Gang(16, group=4, **fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"slices": [(8, "row")]}, "level 'row'"),
        ({"slices": [(8, "gpu")]}, "slices[0]: level 'gpu' is a leaf"),
        (
            {"slices": [(4, "rack"), (8, "host")]},
            "slices[1]: level 'host' is below that of slices[0]",
        ),
        (
            {"slices": [(4, "host")], "group_level": "rack"},
            "slices[0]: level 'host' is below group_level 'rack'",
        ),
        (
            {"slices": [(8, "pod")], "within": "rack"},
            "slices[0]: level 'pod' is above within 'rack'",
        ),
        ({"balanced": "gpu"}, "balanced 'gpu' is a leaf or above within None"),
        (
            {"balanced": "pod", "within": "rack"},
            "balanced 'pod' is a leaf or above within 'rack'",
        ),
    ],
)
def test_a_planner_refuses_levels_that_do_not_fit(
    fields: dict[str, object], message: str
) -> None:
    """Nothing is placed, and the saved bytes stay the same."""
    planner = Planner(RACKS)
    before = planner.save()
    with pytest.raises(InvalidRequest) as caught:
        planner.place("job", Gang(16, group=4, **fields))
    assert message in str(caught.value)
    assert planner.save() == before


def test_alignment_buddy_takes_neither() -> None:
    """The paper's allocator knows blocks alone."""
    planner = Planner(RACKS, alignment="buddy")
    for gang in (Gang(8, slices=[(8, "rack")]), Gang(8, balanced="rack")):
        with pytest.raises(InvalidRequest, match="knows no slices, balanced, "):
            planner.fits(gang)


def test_of_two_slices_on_a_level_the_larger_binds() -> None:
    """The smaller lies inside it anyway."""
    planner = Planner(RACKS)
    planner.cordon([0, 4])
    placed = planner.place("job", Gang(12, slices=[(2, "rack"), (6, "rack")]))
    racks = RACKS.domain_of("rack")[placed.leaves].tolist()
    assert racks[:6] == [racks[0]] * 6
    assert racks[6:] == [racks[6]] * 6


def test_fill_takes_outermost_slices_one_by_one() -> None:
    """Each into the smallest block that holds it, whole racks left alone."""
    planner = Planner(RACKS)
    planner.place("a", Gang(4, within="host"))
    planner.place("b", Gang(2, within="host"))
    placed = planner.place("fill", Gang(4, slices=[(2, "host")], aim="fill"))
    assert placed.leaves.tolist() == [6, 7, 8, 9]


def test_a_save_keeps_slices() -> None:
    """A loaded planner repairs as the one that was saved."""
    planner = Planner(RACKS, spares=Spares(per="pod", size="host"))
    planner.place("job", Gang(16, group=4, slices=[(8, "rack")]))
    loaded = Planner.load(RACKS, planner.save())
    assert loaded.save() == planner.save()
    for one in (planner, loaded):
        one.fail([1])
        repair = one.replan("job")
        assert repair.spares_used == 1
        assert repair.moves[:, 2].tolist() == [8, 9, 10, 11, 12, 13, 14, 15]
        one.validate()


def test_a_plan_that_splits_a_slice_is_stale() -> None:
    """The same moves for a gang placed anew under the same key are not committed."""
    planner = Planner(RACKS)
    planner.place("job", Gang(8, group=4, slices=[(8, "rack")]))
    plan = planner.replan("job", failed=[0], apply=False)
    assert plan.moves[:, 2].tolist() == [8, 9, 10, 11, 12, 13, 14, 15]
    planner.release("job")
    planner.place("job", Gang(8, group=4, slices=[(8, "rack")]))
    with pytest.raises(StalePlan):
        planner.apply(plan)


def test_a_drain_moves_slices_and_their_limits_hold() -> None:
    """The rack that limits exclude is not where the slice goes."""
    planner = Planner(RACKS)
    gang = Gang(8, group=4, slices=[(8, "rack")], limits={"rack": [8, 0, 8, 8]})
    planner.place("job", gang)
    done = planner.drain(range(4))
    assert done["job"].moves[:, 2].tolist() == list(range(16, 24))
    assert planner.owner(0).cordoned
    planner.validate()


def test_partial_names_the_slice_that_is_left() -> None:
    """One slice finds a rack, the other does not."""
    planner = Planner(RACKS)
    planner.place("job", Gang(16, group=4, slices=[(8, "rack")]))
    planner.place("other", Gang(8, within="rack"))
    planner.fail([0, 8])
    repair = planner.replan("job", partial=True)
    assert repair.moves.shape == (8, 3)
    assert repair.unresolved.tolist() == [8]
    assert "in slices of 8" in repair.reason
    planner.validate()


def test_a_slice_takes_the_one_around_it_along_when_asked() -> None:
    """Pod 0 has no room for its rack's slice; the outer slice moves to pod 1 whole."""
    planner = Planner(RACKS)
    chain = [(4, "rack"), (8, "pod")]
    planner.place("job", Gang(8, group=4, slices=chain))
    planner.place("other", Gang(8, within="pod"))
    planner.fail([1])
    refused = planner.replan("job")
    assert not refused
    assert refused.proven
    plan = planner.replan("job", widen=True, apply=False)
    assert plan.moves[:, 2].tolist() == list(range(16, 24))
    planner.apply(plan)
    assert planner.placement("job").leaves.tolist() == list(range(16, 24))
    assert len(planner.quarantined()["job"]) == 8
    planner.validate()
    planner.fail([16])
    refused = planner.replan("job", widen=True, limits={"pod": [0, 4]})
    assert not refused
    assert not refused.proven


def test_widening_moves_nothing_that_may_stay() -> None:
    """Where the slice itself finds a place, the one around it stays."""
    planner = Planner(RACKS)
    planner.place("job", Gang(8, group=4, slices=[(4, "rack"), (8, "pod")]))
    planner.fail([1])
    assert planner.replan("job", widen=True).moves[:, 0].tolist() == [0, 1, 2, 3]


def test_a_partial_refusal_under_slices_claims_nothing() -> None:
    """Which slice is best left out is not tried out, and the answer says so."""
    hosts, racks = ["a", "a", "b", "b", "c", "c"], ["r"] * 6
    planner = Planner(Topology.from_labels(("host", "rack"), (hosts, racks)))
    planner.place("job", Gang(4, slices=[(2, "host"), (4, "rack")]))
    refused = planner.replan("job", failed=[1, 3], partial=True)
    assert bool(refused) or not refused.proven
    assert planner.replan("job", failed=[1, 3]).proven


def test_slices_that_lost_least_stay_in_their_domain() -> None:
    """Two leaves are left in the rack: for the two slices that lost one each."""
    topology = Topology.from_spec("rack:2 host:6 gpu:2")
    planner = Planner(topology)
    planner.adopt("job", Gang(6, slices=[(2, "rack")]), [2, 3, 5, 6, 8, 9])
    planner.fail([0, 1, 4, 7])
    planner.fail([2, 3, 5, 8])
    moves = planner.replan("job").moves.tolist()
    assert moves == [[0, 2, 12], [1, 3, 13], [2, 5, 11], [4, 8, 10]]


def test_a_lone_rank_is_at_home_wherever_its_slice_is() -> None:
    """The slice that lost most does not take the leaf beside one of its ranks."""
    topology = Topology.from_spec("pod:2 rack:2 host:2 gpu:2")
    planner = Planner(topology)
    planner.adopt("job", Gang(4, slices=[(2, "pod")]), [9, 13, 11, 15])
    planner.fail([8, 10, 14])
    planner.fail([9, 11, 13])
    moves = planner.replan("job").moves.tolist()
    assert moves == [[0, 9, 0], [1, 13, 1], [2, 11, 12]]


def test_a_slice_that_moves_as_one_goes_no_further_than_it_must() -> None:
    """The free host of its own rack is nearer than that of the other."""
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:4"))
    gang = Gang(8, group=2, slices=[(4, "host"), (4, "cluster")])
    planner.adopt("job", gang, [0, 1, 2, 3, 8, 9, 10, 11])
    planner.fail([10])
    moves = planner.replan("job").moves.tolist()
    assert moves == [[4, 8, 12], [5, 9, 13], [6, 10, 14], [7, 11, 15]]

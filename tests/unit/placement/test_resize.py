"""Gangs with templates: what is placed, what a repair drops, and resize."""

from __future__ import annotations

import pickle

import pytest

from phalanx_core import (
    Gang,
    Handle,
    InvalidRequest,
    Misfit,
    MisfitCode,
    OwnershipError,
    Planner,
    Spares,
    StalePlan,
    Topology,
    UnknownJob,
)

RACKS = Topology.from_spec("rack:4 host:4 gpu:4")
REPLICAS = Gang(32, group=4, slices=[(8, "rack")], templates=(24, 16))


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        (3, "templates 3: falling numbers of ranks"),
        ("24", "templates '24': falling numbers of ranks"),
        ((32,), "templates[0] 32: not below the one before"),
        ((16, 24), "templates[1] 24: not below the one before"),
        ((20,), "templates[0] 20: not a multiple of slice 8"),
        ((0,), "templates[0] 0: between 1 and 2147483647"),
        ((8.0,), "templates[0] 8.0: a whole number of at least 1"),
    ],
)
def test_templates_that_are_none(templates: object, message: str) -> None:
    """One exception that names field, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        Gang(32, group=4, slices=[(8, "rack")], templates=templates)
    assert str(caught.value) == message


def test_a_gang_at_another_size_is_still_the_gang() -> None:
    """Its sizes stay with it, through copies too."""
    small = REPLICAS.at(16)
    assert (small.ranks, small.templates, small.full) == (16, (), REPLICAS)
    assert small.at(24).templates == (16,)
    assert pickle.loads(pickle.dumps(small)) == small
    assert pickle.loads(pickle.dumps(small)).full == REPLICAS
    assert small != Gang(16, group=4, slices=[(8, "rack")])
    with pytest.raises(InvalidRequest, match=r"ranks 8: .* has sizes 32, 24, 16"):
        small.at(8)


def test_the_largest_template_that_fits_is_placed() -> None:
    """The refusal of a gang that fits at no size tells of its full one."""
    planner = Planner(RACKS)
    planner.place("other", Gang(40))
    placed = planner.place("job", REPLICAS)
    assert (placed.template, placed.gang.full) == (24, REPLICAS)
    assert placed.leaves.tolist() == list(range(40, 64))
    refused = planner.fits(REPLICAS)
    assert not refused
    assert refused.gang == REPLICAS
    assert planner.fits(Gang(8, templates=(4,))) is not None
    planner.validate()


def test_a_repair_drops_the_replica_that_cannot_be_repaired() -> None:
    """The ranks that stay are numbered anew in order, and keep their leaves."""
    planner = Planner(RACKS)
    planner.place("job", REPLICAS)
    planner.place("other", Gang(32))
    planner.fail([9])
    plan = planner.replan("job", apply=False)
    assert (plan.template, plan.moves.shape) == (24, (0, 3))
    assert plan.kept.tolist() == [*range(8), *range(16, 32)]
    assert plan.leaves.tolist() == plan.kept.tolist()
    assert str(plan) == ("job 'job': nothing moves; shrinks to 24: ranks 8-15 end")
    assert planner.placement("job").leaves.tolist() == list(range(32))
    planner.apply(plan)
    planner.validate()
    assert planner.placement("job").leaves.tolist() == plan.leaves.tolist()
    assert planner.placement("job").template == 24
    assert planner.quarantined()["job"].tolist() == list(range(8, 16))
    with pytest.raises(StalePlan):
        planner.apply(plan)
    # At 24 it may still shrink to 16, and no further.
    planner.fail([0])
    assert planner.replan("job").template == 16
    planner.fail([16])
    refused = planner.replan("job")
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.REPLACEMENT
    planner.validate()


def test_what_can_be_repaired_is_repaired_beside_what_is_dropped() -> None:
    """One replica has room in its rack, the other has not."""
    planner = Planner(RACKS)
    gang = Gang(24, group=4, slices=[(8, "rack")], templates=(16, 8))
    planner.adopt("job", gang, [*range(8), *range(16, 24), *range(32, 40)])
    planner.place("b", Gang(4, within="host"))
    planner.place("c", Gang(8, within="rack", limits={"rack": [0, 8, 0, 0]}))
    planner.place("d", Gang(8, within="rack", limits={"rack": [0, 0, 8, 0]}))
    planner.place("e", Gang(16, within="rack"))
    planner.fail([1, 17])
    repair = planner.replan("job")
    assert repair.moves.tolist() == [[at, at, at + 12] for at in range(4)]
    assert repair.kept.tolist() == [*range(8), *range(16, 24)]
    assert repair.leaves.tolist() == [*range(12, 16), *range(4, 8), *range(32, 40)]
    assert repair.dead == 1
    planner.validate()
    fenced = planner.fenced("job").tolist()
    assert fenced == [0, 1, 2, 3, *range(16, 24)]


def test_resize_down_and_up() -> None:
    """Broken replicas end first, then the highest; new ranks come last."""
    planner = Planner(RACKS)
    planner.place("job", REPLICAS)
    planner.fail([9])
    repair = planner.resize("job", 16)
    assert repair.kept.tolist() == [*range(8), *range(16, 24)]
    planner.validate()
    grown = planner.resize("job", 24)
    assert grown.kept.tolist() == [*range(16), *[-1] * 8]
    assert grown.moves[0].tolist() == [16, -1, 32]
    assert str(grown) == (
        "job 'job': grows to 24 ranks, the new ones on leaves 32-39, level cluster -> "
        "cluster"
    )
    assert planner.placement("job").leaves.tolist() == grown.leaves.tolist()
    assert planner.resize("job", 24).moves.shape == (0, 3)
    planner.validate()


def test_growth_that_finds_no_room_changes_nothing() -> None:
    """The refusal says what the gang's own domain has."""
    planner = Planner(RACKS)
    planner.adopt(
        "job", Gang(16, group=4, within="rack", templates=(8,)).at(8), range(8)
    )
    planner.place("other", Gang(4, within="host", rule="lowest"))
    before = planner.save()
    refused = planner.resize("job", 16)
    assert isinstance(refused, Misfit)
    assert refused.reason == (
        "job 'job': no room for 8 ranks more: rack-0 has room for 4"
    )
    assert planner.save() == before
    planner.release("other")
    forbidden = planner.resize("job", 16, limits={"rack": [12, 0, 0, 0]})
    assert forbidden.reason.endswith("which its limits forbid")
    plan = planner.resize("job", 16, apply=False)
    assert planner.place("other", Gang(4, within="host", rule="lowest"))
    with pytest.raises(StalePlan):
        planner.apply(plan)
    planner.validate()


def test_a_save_keeps_sizes() -> None:
    """A loaded planner may shrink and grow as the one that was saved."""
    planner = Planner(RACKS, spares=Spares(per="rack", size="host"))
    planner.place("job", REPLICAS)
    planner.resize("job", 16)
    planner.fenced("job")
    loaded = Planner.load(RACKS, planner.save())
    assert loaded.save() == planner.save()
    assert loaded.placement("job").gang.full == REPLICAS
    assert loaded.resize("job", 24).leaves.tolist() == (
        planner.resize("job", 24).leaves.tolist()
    )


def test_resize_refuses_by_name() -> None:
    """Unknown jobs, other sizes, handles of batches, aligned blocks."""
    planner = Planner(RACKS)
    planner.place("job", REPLICAS)
    with pytest.raises(UnknownJob, match="job 'nobody'"):
        planner.resize("nobody", 16)
    with pytest.raises(InvalidRequest, match=r"ranks 8: .* has sizes 32, 24, 16"):
        planner.resize("job", 8)
    with pytest.raises(InvalidRequest, match=r"ranks 32.0: a whole number"):
        planner.resize("job", 32.0)
    with pytest.raises(InvalidRequest, match="ranks True: a whole number"):
        planner.resize("job", True)
    with pytest.raises(
        InvalidRequest, match="knows no slices, balanced, templates or parts"
    ):
        Planner(RACKS, alignment="buddy").fits(Gang(8, templates=(4,)))
    with pytest.raises(OwnershipError, match="released before, or never placed"):
        planner.resize(Handle(77), 8)


def test_a_plan_to_end_ranks_that_were_moved_is_stale() -> None:
    """It would leave other leaves than it says."""
    planner = Planner(RACKS)
    planner.place("job", REPLICAS)
    plan = planner.resize("job", 24, apply=False)
    planner.fail([31])
    planner.replan("job")
    before = planner.save()
    with pytest.raises(StalePlan, match="'job': ranks that it ends were moved since"):
        planner.apply(plan)
    assert planner.save() == before
    # Ranks that stay may be repaired meanwhile.
    plan = planner.resize("job", 24, apply=False)
    planner.fail([0])
    assert len(planner.replan("job").moves) == 8
    planner.apply(plan)
    planner.validate()
    assert planner.placement("job").leaves[[0, 7, 8]].tolist() == [40, 47, 8]


@pytest.mark.parametrize("asked", ["replan", "resize"])
def test_a_plan_to_end_what_came_back_is_stale(asked: str) -> None:
    """The replica with a lost leaf was to end; the leaf is well again."""
    planner = Planner(RACKS)
    planner.place("job", REPLICAS)
    planner.place("other", Gang(32))
    planner.fail([9])
    if asked == "replan":
        plan = planner.replan("job", apply=False)
    else:
        plan = planner.resize("job", 24, apply=False)
    assert plan.kept.tolist() == [*range(8), *range(16, 32)]
    planner.heal([9])
    with pytest.raises(StalePlan, match="a leaf that was lost is healthy again"):
        planner.apply(plan)
    assert planner.placement("job").template == 32
    planner.fail([9])
    planner.apply(plan)
    assert planner.placement("job").template == 24
    planner.validate()

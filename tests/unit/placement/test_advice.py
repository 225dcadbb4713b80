"""Advice: its answer, its words, its errors; that it is the least is a property test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from phalanx_core import (
    Advice,
    Gang,
    Handle,
    InvalidRequest,
    Misfit,
    OwnershipError,
    Planner,
    Spares,
    Topology,
    UnknownJob,
)
from phalanx_core.placement import advice as advising
from phalanx_core.placement import victims


def four_hosts() -> Planner:
    """Two racks of two hosts of four: a | b b | c d | e."""
    planner = Planner(Topology.from_spec("rack:2 host:2 gpu:4"))
    for job, leaves in {
        "a": [0, 1, 2, 3],
        "b": [4, 5, 6, 7],
        "c": [8, 9],
        "d": [10, 11],
        "e": [12, 13, 14, 15],
    }.items():
        planner.adopt(job, Gang(len(leaves)), leaves)
    return planner


def test_two_small_jobs_are_cheaper_than_a_large_one() -> None:
    """What leaves, what it costs, where the gang goes; the planner is as it was."""
    planner = four_hosts()
    saved = planner.save()
    costs = {"e": 5, "d": 2, "c": 2.5, "a": 6, "b": 6}
    advice = planner.preempt_advice(Gang(4, group=4), costs)
    assert isinstance(advice, Advice)
    assert (advice.victims, advice.cost, advice.proven) == (("c", "d"), 4.5, True)
    assert advice.placement.leaves.tolist() == [8, 9, 10, 11]
    assert planner.save() == saved
    assert str(advice) == (
        "'c', 'd' leave (cost 4.5): 4 ranks in host-2 (host): leaves 8-11"
    )
    told = advice.to_dict()
    assert (told["victims"], told["cost"], told["proven"]) == (["c", "d"], 4.5, True)


def test_only_listed_jobs_leave() -> None:
    """A job that is not in ``costs`` is of no lower priority."""
    advice = four_hosts().preempt_advice(Gang(4, group=4), {"c": 1, "e": 9})
    assert advice.victims == ("e",)


def test_nobody_need_leave() -> None:
    """An advice without victims is true as well."""
    planner = four_hosts()
    planner.release("d")
    advice = planner.preempt_advice(Gang(2), {"a": 1})
    assert advice
    assert (advice.victims, advice.cost, advice.proven) == ((), 0.0, True)
    assert str(advice) == "nobody need leave: 2 ranks in host-2 (host): leaves 10-11"


def test_not_even_all_of_them() -> None:
    """The refusal is that of a cluster they have left."""
    refused = four_hosts().preempt_advice(Gang(8, within="rack"), {"a": 1, "c": 1})
    assert isinstance(refused, Misfit)
    assert refused.proven
    assert refused.reason == (
        "no rack has 8 available gpus: best rack-0 has 4; 4 held by jobs"
    )
    assert not four_hosts().preempt_advice(Gang(1), {})


def test_ill_leaves_of_a_victim_help_nobody() -> None:
    """Down ones go to quarantine, cordoned and suspect ones stay closed."""
    planner = four_hosts()
    planner.fail([0])
    planner.cordon([4])
    planner.suspect([12])
    costs = dict.fromkeys("abcde", 1) | {"c": 8}
    advice = planner.preempt_advice(Gang(4, group=4), costs)
    assert advice.victims == ("c", "d")
    assert not planner.preempt_advice(Gang(16), costs)


def test_limits_are_the_gangs() -> None:
    """Of the call, else of the gang; a domain that takes nothing is left alone."""
    planner = four_hosts()
    costs = {"a": 1, "b": 2, "e": 3}
    limits = {"host": [3, 4, 4, 4]}
    assert planner.preempt_advice(Gang(4, group=4), costs).victims == ("a",)
    assert planner.preempt_advice(Gang(4, group=4), costs, limits).victims == ("b",)
    gang = Gang(4, group=4, limits={"rack": [3, 9]})
    assert planner.preempt_advice(gang, costs).victims == ("e",)
    assert planner.preempt_advice(gang, costs, {"cluster": [3]}).code.name == "LIMITED"


def test_slices_need_whole_racks() -> None:
    """Each run of eight ranks empties one rack; half of two would not do."""
    planner = four_hosts()
    gang = Gang(8, group=4, slices=[(8, "rack")])
    costs = {"a": 1, "b": 9, "c": 5, "d": 5, "e": 1}
    advice = planner.preempt_advice(gang, costs)
    assert (advice.victims, advice.cost, advice.proven) == (("a", "b"), 10.0, True)


def test_the_gang_is_wanted_whole() -> None:
    """That one of its smaller sizes fits as it is does not count."""
    planner = four_hosts()
    planner.release("d")
    gang = Gang(4, group=2, within="host", templates=(2,))
    assert planner.fits(gang)
    advice = planner.preempt_advice(gang, {"c": 3, "a": 4})
    assert (advice.victims, advice.placement.gang.ranks) == (("c",), 4)


def test_of_equal_sets_the_first_is_given() -> None:
    """By domain; the order of ``costs`` does not matter."""
    costs = {"e": 1, "b": 1, "a": 1}
    for order in (costs, dict(reversed(costs.items()))):
        assert four_hosts().preempt_advice(Gang(4, group=4), order).victims == ("a",)


def test_handles_may_leave() -> None:
    """Gangs of a batch are candidates like jobs."""
    planner = Planner(Topology.from_spec("host:2 gpu:4"))
    handles, *_ = planner.place_many([4, 4], Gang(1))
    costs: dict[Any, float] = {
        Handle(handles[0]): 2.0,
        Handle(handles[1]): np.float32(1),
    }
    advice = planner.preempt_advice(Gang(4), costs)
    assert advice.victims == (Handle(handles[1]),)
    assert advice.to_dict()["victims"] == [int(handles[1])]


def test_a_spare_moves_to_the_host_that_becomes_idle() -> None:
    """With spares more than one tiny job may have to go: the answer was tried."""
    planner = Planner(Topology.from_spec("rack:1 host:3 gpu:2"), spares=Spares("rack"))
    planner.adopt("a", Gang(2), [0, 1])
    planner.adopt("b", Gang(2), [2, 3])
    planner.adopt("c", Gang(2), [4, 5])
    advice = planner.preempt_advice(Gang(2, group=2), {"a": 1, "b": 2, "c": 3})
    assert (advice.victims, advice.proven) == (("a", "b"), True)
    assert advice.placement.leaves.tolist() == [0, 1]


def test_what_was_not_looked_at_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of one host that are all different, and no leave to try every choice."""
    planner = Planner(Topology.from_spec("host:1 gpu:13"))
    for job, leaves in {"a": range(5), "b": range(5, 8), "c": range(8, 12)}.items():
        planner.adopt(job, Gang(len(leaves)), leaves)
    planner.adopt("d", Gang(1), [12])
    gang, costs = Gang(6, group=6), {"a": 10, "b": 7, "c": 7.5, "d": 6}
    advice = planner.preempt_advice(gang, costs)
    assert (advice.victims, advice.cost, advice.proven) == (("b", "c"), 14.5, True)
    monkeypatch.setattr(victims, "CHOICES_MAX", 1)
    advice = planner.preempt_advice(gang, costs)
    assert (advice.victims, advice.cost, advice.proven) == (("a", "b"), 17.0, False)
    assert str(advice).startswith(
        "'a', 'b' leave (cost 17, not proven to be the least)"
    )


def test_a_spare_that_moves_away_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job leaves one rack, its host becomes the spare, the other rack has room."""
    spares = Spares("pod", "host")
    planner = Planner(Topology.from_spec("pod:1 rack:2 host:2 gpu:2"), spares=spares)
    planner.adopt("p", Gang(2), [4, 5])
    planner.adopt("q", Gang(2), [6, 7])
    gang, costs = Gang(4, within="rack"), {"p": 5, "q": 1}
    for tried, proven in ((8, True), (0, False)):
        monkeypatch.setattr(advising, "TRIED_MAX", tried)
        advice = planner.preempt_advice(gang, costs)
        assert (advice.victims, advice.cost, advice.proven) == (("q",), 1.0, proven)
        assert advice.placement.leaves.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("cost", [0, -1, float("nan"), float("inf"), True, "3", None])
def test_a_cost_is_a_number_above_0(cost: Any) -> None:
    """One error that names the job."""
    with pytest.raises(InvalidRequest, match=r"costs\['a'\] is .*; a number above 0"):
        four_hosts().preempt_advice(Gang(4), {"a": cost})


def test_errors() -> None:
    """Unknown jobs, stale handles, no mapping, no gang, the paper's alignment."""
    planner = four_hosts()
    with pytest.raises(UnknownJob, match="'z'"):
        planner.preempt_advice(Gang(4), {"z": 1})
    with pytest.raises(OwnershipError):
        planner.preempt_advice(Gang(4), {Handle(7): 1})
    with pytest.raises(InvalidRequest, match="a mapping of job to cost"):
        planner.preempt_advice(Gang(4), ["a"])  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="gang 4: a Gang"):
        planner.preempt_advice(4, {})  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="level 'x' does not exist"):
        planner.preempt_advice(Gang(4, within="x"), {"a": 1})
    buddy = Planner(Topology.from_spec("host:2 gpu:2"), alignment="buddy")
    with pytest.raises(InvalidRequest, match="alignment 'buddy'"):
        buddy.preempt_advice(Gang(4), {})

"""Cases from the field, A and E: one ledger, and no answer from a stale memory."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, InvalidRequest, Misfit, MisfitCode, OwnerKind, Planner
from tests.cases.clusters import (
    available,
    busy,
    cluster,
    held_by,
    leaves_of,
    moves_of,
)


def test_c05_a_taken_leaf_is_not_free_until_fenced() -> None:
    """The unreachable host that a repair left is no room for the next job."""
    planner = Planner(cluster("rack host", {"r/h1": 1, "r/h2": 1, "r/h3": 1}))
    planner.adopt("gang", Gang(1), ["h1"])
    repair = planner.replan("gang", failed=["h1"])
    assert moves_of(planner, repair) == [(0, "h1", "h2")]
    assert leaves_of(planner, planner.place("first", Gang(1))) == ["h3"]
    refused = planner.place("second", Gang(1))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "1 quarantined" in refused.reason
    planner.validate()


def test_c05_healing_is_not_fencing() -> None:
    """A healthy answer of the host changes nothing; fencing its old pods does."""
    planner = Planner(cluster("rack host", {"r/h1": 1, "r/h2": 1}))
    planner.adopt("gang", Gang(1), ["h1"])
    planner.replan("gang", failed=["h1"])
    planner.heal(["h1"])
    assert planner.owner("h1").kind is OwnerKind.QUARANTINE
    assert not planner.fits(Gang(1))
    assert planner.fenced("gang").tolist() == [0]
    assert leaves_of(planner, planner.place("second", Gang(1))) == ["h1"]
    planner.validate()


def test_c05_fencing_is_not_healing() -> None:
    """A fenced leaf that is still down serves nobody, and the refusal says so."""
    planner = Planner(cluster("rack host", {"r/h1": 1, "r/h2": 1}))
    planner.adopt("gang", Gang(1), ["h1"])
    planner.replan("gang", failed=["h1"])
    planner.fenced("gang")
    refused = planner.fits(Gang(1))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "1 down" in refused.reason
    planner.heal(["h1"])
    assert leaves_of(planner, planner.fits(Gang(1))) == ["h1"]
    planner.validate()


@pytest.mark.parametrize(("away", "back"), [("cordon", "uncordon"), ("fail", "heal")])
def test_c06_a_leaf_that_comes_back_is_still_its_jobs(away: str, back: str) -> None:
    """Between loss and return a stranger of one slot never gets the gang's leaf."""
    planner = Planner(cluster("rack host", {"r/n1": 1, "r/n2": 1}))
    planner.adopt("gang", Gang(2), ["n1", "n2"])
    for change in (away, back):
        assert getattr(planner, change)(["n2"]) == ["gang"]
        refused = planner.place("stranger", Gang(1))
        assert isinstance(refused, Misfit)
        assert refused.code is MisfitCode.CAPACITY
        assert "2 held by jobs" in refused.reason
        assert held_by(planner, "gang") == ["n1", "n2"]
    assert planner.broken() == []
    planner.validate()


def test_c06_a_drain_without_room_leaves_the_gang_whole() -> None:
    """A drain that finds no other leaf refuses; the gang is whole or released whole."""
    planner = Planner(cluster("rack host", {"r/n1": 1, "r/n2": 1}))
    planner.adopt("gang", Gang(2), ["n1", "n2"])
    plan = planner.drain(["n2"])
    assert not plan.complete
    assert plan["gang"].code is MisfitCode.REPLACEMENT
    assert held_by(planner, "gang") == ["n1", "n2"]
    planner.uncordon(["n2"])
    assert not planner.place("stranger", Gang(1))
    planner.release("gang")
    assert available(planner) == ["n1", "n2"]
    planner.validate()


def test_c06_a_drain_with_room_moves_and_fences() -> None:
    """The drained leaf goes to quarantine, and the stranger waits for the fence."""
    planner = Planner(cluster("rack host", {"r/n1": 1, "r/n2": 1, "r/n3": 1}))
    planner.adopt("gang", Gang(2), ["n1", "n2"])
    plan = planner.drain(["n2"])
    assert plan.complete
    assert moves_of(planner, plan["gang"]) == [(1, "n2", "n3")]
    planner.uncordon(["n2"])
    refused = planner.place("stranger", Gang(1))
    assert isinstance(refused, Misfit)
    assert "1 quarantined" in refused.reason
    planner.fenced("gang")
    assert leaves_of(planner, planner.place("stranger", Gang(1))) == ["n2"]
    planner.validate()


def test_c21_two_views_share_one_ledger() -> None:
    """Two pools are two limits on one planner: what P holds is not Q's."""
    planner = Planner(cluster("rack host", {"r/x1": 1, "r/x2": 1}))
    both = {"host": [1, 1]}
    assert leaves_of(planner, planner.place("P", Gang(1), limits=both)) == ["x1"]
    assert leaves_of(planner, planner.place("Q", Gang(1), limits=both)) == ["x2"]
    refused = planner.place("R", Gang(1), limits=both)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "2 held by jobs" in refused.reason
    planner.validate()


def test_c21_a_pool_of_a_used_leaf_alone_is_full() -> None:
    """Q sees only x1, which P uses: refused, whether or not x2 is free."""
    planner = Planner(cluster("rack host", {"r/x1": 1, "r/x2": 1}))
    planner.place("P", Gang(1), limits={"host": [1, 0]})
    refused = planner.place("Q", Gang(1), limits={"host": [1, 0]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    assert available(planner) == ["x2"]
    planner.validate()


def test_c24_a_refusal_is_not_remembered_for_another_constraint() -> None:
    """Four in a rack do not fit; four anywhere do, asked right after."""
    hosts = {f"{rack}/{rack}n{i}": 1 for rack in ("r1", "r2") for i in range(3)}
    planner = Planner(cluster("row rack host", {f"w/{p}": n for p, n in hosts.items()}))
    refused = planner.place("J1", Gang(4, within="rack"))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.TOO_LARGE
    assert "no rack could ever hold 4 gpus" in refused.reason
    placement = planner.place("J2", Gang(4))
    assert leaves_of(planner, placement) == ["r1n0", "r1n1", "r1n2", "r2n0"]
    assert not planner.fits(Gang(4, within="rack"))
    planner.validate()


def test_c24_one_gang_object_answers_for_each_cluster() -> None:
    """A gang that was compiled for one planner is judged anew by another."""
    gang = Gang(4, within="rack")
    small = Planner(cluster("rack host", {"r1/a": 3, "r2/b": 3}))
    large = Planner(cluster("rack host", {"r1/a": 3, "r2/b": 5}))
    other = Planner(cluster("row rack host", {"w/r1/a": 3, "w/r1/b": 3}))
    for _ in range(2):
        assert not small.fits(gang)
        assert leaves_of(large, large.fits(gang)) == ["b.0", "b.1", "b.2", "b.3"]
        assert leaves_of(other, other.fits(gang)) == ["a.0", "a.1", "a.2", "b.0"]


def test_c24_limits_of_one_call_are_not_those_of_the_next() -> None:
    """The same gang object with, without and with other limits: each its own answer."""
    planner = Planner(cluster("rack host", {"r/a": 2, "r/b": 2}))
    gang = Gang(2)
    assert leaves_of(planner, planner.fits(gang, limits={"host": [0, 2]})) == [
        "b.0",
        "b.1",
    ]
    assert leaves_of(planner, planner.fits(gang)) == ["a.0", "a.1"]
    assert leaves_of(planner, planner.fits(gang, limits={"host": [1, 1]})) == [
        "a.0",
        "b.0",
    ]
    assert not planner.fits(gang, limits={"host": [0, 1]})
    assert leaves_of(planner, planner.place("job", gang)) == ["a.0", "a.1"]
    planner.validate()


def test_short_a_what_if_counts_the_slots_too() -> None:
    """Room made on a clone does not lift a limit, there or in the planner itself."""
    planner = Planner(cluster("rack host", {"r/a": 2, "r/b": 2}))
    planner.place("victim", Gang(2))
    busy(planner, "b.0", "b.1")
    slots = {"host": [1, 0]}
    trial = planner.clone()
    trial.release("victim")
    planner.release("victim")
    for one in (trial, planner):
        refused = one.place("job", Gang(2), limits=slots)
        assert isinstance(refused, Misfit)
        assert refused.code is MisfitCode.LIMITED
        assert leaves_of(one, one.place("small", Gang(1), limits=slots)) == ["a.0"]
        one.validate()


def test_short_a_host_that_moved_has_only_its_new_domain() -> None:
    """After a host moved to another clique, the old membership serves nothing."""
    old = Planner(cluster("clique host", {"c1/a": 1, "c1/b": 1, "c2/c": 1}))
    gang = Gang(2, within="clique")
    assert leaves_of(old, old.place("job", gang)) == ["a", "b"]
    new = Planner(cluster("clique host", {"c1/a": 1, "c2/b": 1, "c2/c": 1}))
    with pytest.raises(InvalidRequest, match="adopt"):
        new.adopt("job", gang, ["a", "b"])
    assert available(new) == ["a", "b", "c"]
    assert leaves_of(new, new.place("job", gang)) == ["b", "c"]
    new.validate()

"""Gang, Handle and Spares as values."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from phalanx_core import Gang, Handle, Planner, Spares, Topology


def test_gang_is_a_value() -> None:
    """Equal parameters make equal gangs, hashes and texts; used ones as well."""
    gang = Gang(16, group=8, within="rack", limits={"host": np.array([8, 0])})
    same = Gang(16, group=8, within="rack", limits={"host": [8, 0]})
    assert gang == same
    assert hash(gang) == hash(same)
    assert gang != Gang(16, group=8, within="rack", limits={"host": [8, 1]})
    assert gang != 16
    assert repr(gang) == "Gang(16, group=8, within='rack', limits={'host': [8, 0]})"


def test_gang_is_immutable() -> None:
    """Neither its fields nor its limits can be changed, nor the array it was given."""
    row = np.array([1, 2])
    gang = Gang(2, limits={"host": row})
    row[0] = 7
    assert gang.to_dict()["limits"] == {"host": [1, 2]}
    with pytest.raises(AttributeError, match=r"Gang\.ranks cannot be set"):
        gang.ranks = 3
    with pytest.raises(AttributeError, match=r"Gang\.group cannot be deleted"):
        del gang.group
    assert gang.limits is not None
    with pytest.raises(ValueError, match="read-only"):
        gang.limits["host"][0] = 3


def test_gang_survives_copies() -> None:
    """Pickle and deepcopy leave the compiled request of a planner behind."""
    gang = Gang(4, group=2, limits={1: [2, 2]})
    assert Planner(Topology.from_spec("host:2 gpu:2")).place("a", gang)
    for other in (pickle.loads(pickle.dumps(gang)), copy.deepcopy(gang)):
        assert other == gang
        assert other._compiled == (None, None, None)


def test_whole_numbers_of_numpy_are_sizes() -> None:
    """A size may come out of an array."""
    gang = Gang(np.int64(8), group=np.uint8(4))
    assert (type(gang.ranks), gang.ranks, gang.group) == (int, 8, 4)


def test_one_gang_serves_two_planners() -> None:
    """What was compiled for one topology is not used for another."""
    gang = Gang(4, group=2)
    wide = Planner(Topology.from_spec("host:4 gpu:2"))
    tall = Planner(Topology.from_spec("rack:2 host:2 gpu:4"))
    levels = [planner.fits(gang).level for planner in (wide, tall, wide, tall)]
    assert levels == [2, 1, 2, 1]


def test_handles_are_no_numbers_of_jobs() -> None:
    """A handle equals handles alone, whatever its value."""
    assert Handle(3) == Handle(3)
    assert Handle(3) != 3
    assert len({Handle(3), 3, Handle(3)}) == 2
    assert repr(Handle(3)) == "Handle(3)"


def test_domains_too_small_for_spares_are_told() -> None:
    """One sentence a domain, and one warning with the first of them."""
    topology = Topology.from_labels(
        ("host", "rack"), [["a", "a", "b", "c", "d"], ["r", "r", "r", "s", "t"]]
    )
    with pytest.warns(UserWarning, match="rack s holds no spare: .* 1 more"):
        planner = Planner(topology, spares=Spares("rack"))
    assert planner.warnings == [
        "rack s holds no spare: it has 1 of level 'host', no more than the 1 wanted",
        "rack t holds no spare: it has 1 of level 'host', no more than the 1 wanted",
    ]
    assert planner.spares().tolist() == [0]
    assert planner.free_leaves("host").tolist() == [0, 1, 1, 1]

"""Leaves that a topology no longer has, put beside those it has."""

from __future__ import annotations

import json

import pytest

from phalanx_core import InvalidRequest, Topology
from phalanx_core.topology.keeping import KeptLeaf, kept_leaf, settled, with_kept

TWO = Topology.from_labels(
    ["host", "rack"],
    [["a", "a", "b", None], ["r", "r", "s", None]],
    names=["a0", "a1", "b0", "x"],
    nic_rails=[0, 1, 0, 0],
    bandwidth={"host": 9e11},
    nvlink="host",
)


def test_none_is_the_topology_itself() -> None:
    """No copy is made."""
    assert with_kept(TWO, [], "gpu") is TWO


def test_ids_stay_and_new_leaves_come_last() -> None:
    """A leaf of a lost host of rack r, one of host b, one that lies nowhere."""
    kept = [
        KeptLeaf("z0", 3, anchor=0, level=2, labels=("z",)),
        KeptLeaf("b1", 1, anchor=2, level=1, labels=()),
        KeptLeaf("y", 0, anchor=-1, level=3, labels=(None, None)),
    ]
    made = with_kept(TWO, kept, "gpu")
    assert made.names == ("a0", "a1", "b0", "x", "z0", "b1", "y")
    assert made.domain_of("rack").tolist() == [0, 0, 1, -1, 0, 1, -1]
    assert made.domain_names("host") == ("a", "z", "b")
    assert made.domain_of("host").tolist() == [0, 0, 2, -1, 1, 2, -1]
    assert made.nic_rails is not None
    assert made.nic_rails.tolist() == [0, 1, 0, 0, 3, 1, 0]
    assert (made.bandwidth, made.nvlink_level) == (TWO.bandwidth, 1)


def test_a_leaf_it_has_is_put_elsewhere() -> None:
    """Its id stays; where it was no longer counts it."""
    made = with_kept(TWO, [KeptLeaf("a1", 1, 2, 2, ("a",))], "gpu")
    assert made.domain_of("host").tolist() == [0, 1, 2, -1]
    assert made.leaves("rack", "s").tolist() == [1, 2]


def test_settled_leaves_make_the_same() -> None:
    """A label that coincides with one that is there is its domain."""
    kept = [KeptLeaf("z0", 0, -1, 3, ("a", "r")), KeptLeaf("z1", 0, 2, 2, (None,))]
    made = with_kept(TWO, kept, "gpu")
    after = settled(made, kept)
    assert after == (KeptLeaf("z0", 0, 0, 1, ()), KeptLeaf("z1", 0, 2, 2, (None,)))
    assert with_kept(TWO, after, "gpu") == made
    assert settled(TWO, ()) == ()


def test_rows_come_back_from_json() -> None:
    """Labels that JSON knows are the same, others become texts."""
    leaf = KeptLeaf("z0", 3, 0, 4, ("z", 7, None))
    assert kept_leaf(json.loads(json.dumps(leaf.to_row()))) == leaf
    odd = KeptLeaf("z0", 3, 0, 2, (("p", 1),))
    assert kept_leaf(odd.to_row()).labels == ("('p', 1)",)
    with pytest.raises(ValueError, match="2 labels below level 2"):
        kept_leaf(["z0", 3, 0, 2, ["z", "y"]])


def test_an_anchor_must_exist() -> None:
    """One error that names the leaf."""
    with pytest.raises(InvalidRequest, match="'z0': no leaf 4 to be beside"):
        with_kept(TWO, [KeptLeaf("z0", 0, 4, 1, ())], "gpu")

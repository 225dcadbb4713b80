"""The uniform-depth tree against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.topology import Topology, build_tree
from phalanx_core.topology.tree import DomainTree


def test_uniform_tree() -> None:
    """Positions are leaves and every vertex has its fanout of children."""
    tree = build_tree(Topology.from_spec("rack:2 host:3 gpu:4"))
    assert tree.depth == 3
    assert tree.identity
    assert tree.first[0].tolist() == [0, 4, 8, 12, 16, 20, 24]
    assert tree.first[1].tolist() == [0, 3, 6]
    assert tree.first[2].tolist() == [0, 2]
    assert tree.real[1].tolist() == [0, 1, 2, 3, 4, 5]
    assert tree.first[0].dtype == np.uint32
    assert repr(tree) == "DomainTree(vertices=[24, 6, 2, 1], identity=True)"


def test_phantoms_are_private() -> None:
    """Two hosts without a rack get a vertex each; a lone leaf gets one a level."""
    topology = Topology.from_labels(
        ["host", "rack", "pod"],
        [
            ["a", "a", "b", "c", None],
            ["r", "r", None, None, None],
            ["p", "p", "p", "p", None],
        ],
    )
    tree = build_tree(topology)
    assert tree.first[0].tolist() == [0, 2, 3, 4, 5]
    assert tree.first[1].tolist() == [0, 1, 2, 3, 4]
    assert tree.first[2].tolist() == [0, 3, 4]
    assert tree.real[1].tolist() == [0, 1, 2, -1]
    assert tree.real[2].tolist() == [0, -1, -1, -1]
    assert tree.real[3].tolist() == [0, -1]


def test_rows_out_of_address_order() -> None:
    """Alternating hosts: positions differ from leaf ids."""
    tree = build_tree(Topology.from_labels(["host"], [["a", "b", "a", "b"]]))
    assert not tree.identity
    assert tree.leaf_at.tolist() == [0, 2, 1, 3]
    assert tree.position_of.tolist() == [0, 2, 1, 3]
    assert tree.real[0].tolist() == [0, 2, 1, 3]


def test_one_type_of_two() -> None:
    """Leaves of another type are no positions, their domains no vertices."""
    topology = Topology.from_labels(
        ["host", "rack"],
        [["a", "a", "b", "c"], ["r", "r", "r", "s"]],
        types=["H100", "T4", "T4", "H100"],
    )
    tree = build_tree(topology, type="H100")
    assert tree.leaf_at.tolist() == [0, 3]
    assert tree.position_of.tolist() == [0, -1, -1, 1]
    assert not tree.identity
    assert tree.real[1].tolist() == [0, 2]
    assert tree.first[1].tolist() == [0, 1, 2]
    assert len(build_tree(topology).leaf_at) == 4


LABEL = st.sampled_from([None, "x", "y", "z"])
ROWS = st.lists(st.tuples(LABEL, LABEL, LABEL), min_size=1, max_size=24)
Row = tuple[str | None, str | None, str | None]


def shares(one: Row, other: Row, level: int) -> bool:
    """Whether two leaves have the same labels from a level upward, none missing."""
    return one[level] is not None and one[level:] == other[level:]


def check_shape(tree: DomainTree, leaf_count: int) -> None:
    """Each level's edges rise strictly over all vertices of the level below."""
    below = leaf_count
    for first, real in zip(tree.first, tree.real[1:], strict=True):
        assert first[0] == 0
        assert first[-1] == below
        assert (np.diff(first.astype(np.int64)) > 0).all()
        below = len(first) - 1
        assert len(real) == below
        assert first.flags.c_contiguous
        assert real.flags.c_contiguous


@given(ROWS)
def test_distance_and_tree_follow_labels(rows: list[Row]) -> None:
    """Distance, domains and vertices equal their definition on any labels."""
    topology = Topology.from_labels(["a", "b", "c"], list(zip(*rows, strict=True)))
    tree = build_tree(topology)
    check_shape(tree, len(rows))
    assert sorted(tree.leaf_at.tolist()) == list(range(len(rows)))
    for u, one in enumerate(rows):
        for v, other in enumerate(rows):
            shared = [k + 1 for k in range(3) if shares(one, other, k)]
            expected = 0 if u == v else min(shared, default=4)
            assert topology.distance(u, v) == expected
    vertex = {leaf: position for position, leaf in enumerate(tree.leaf_at.tolist())}
    for level in range(1, 4):
        parents = np.repeat(
            np.arange(len(tree.real[level])), np.diff(tree.first[level - 1])
        )
        vertex = {leaf: int(parents[at]) for leaf, at in vertex.items()}
        for leaf, at in vertex.items():
            assert tree.real[level][at] == topology.domain_of(level)[leaf]
        phantoms = [at for at in vertex.values() if tree.real[level][at] < 0]
        children = np.diff(tree.first[level - 1].astype(np.int64))
        assert all(children[at] == 1 for at in phantoms)


@given(ROWS)
def test_domain_ids_are_dense_in_address_order(rows: list[Row]) -> None:
    """Ids of a level first appear as 0, 1, 2... along the addresses, siblings by row."""
    topology = Topology.from_labels(["a", "b", "c"], list(zip(*rows, strict=True)))
    order = topology.address_order.tolist()
    for level in range(1, 4):
        ids = [int(topology.domain_of(level)[leaf]) for leaf in order]
        seen = list(dict.fromkeys(i for i in ids if i >= 0))
        assert seen == list(range(topology.domain_count(level)))
        for domain in seen:
            leaves = topology.leaves(level, domain).tolist()
            at = ids.index(domain)
            assert leaves == order[at : at + len(leaves)]
            name = topology.domain_name(level, domain)
            assert topology.domain_index(level, name) == domain
    assert len(dict.fromkeys(topology.names)) == len(rows)

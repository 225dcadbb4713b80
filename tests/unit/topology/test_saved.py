"""Topologies as JSON values: what comes back is the same cluster."""

from __future__ import annotations

import json

import pytest

from phalanx_core import Topology, TopologyError
from phalanx_core.topology.saved import from_table, to_table

ODD = Topology.from_labels(
    ["host", "rack"],
    [["a", "a", 7, None, "a"], ["r", "r", None, None, "s"]],
    names=["a0", "a1", "7/é", "x", "s/a"],
    types=["H100", "H100", "A100", "A100", "H100"],
    nic_rails=[1, 0, 0, 0, 0],
    bandwidth={"host": 9e11},
    nvlink="host",
)


@pytest.mark.parametrize(
    "topology",
    [
        ODD,
        Topology.from_spec("pod:2 host:2 gpu:8"),
        Topology.from_spec("nvlink:2 gpu:4"),
    ],
)
def test_the_same_comes_back(topology: Topology) -> None:
    """Absent domains, labels that recur, types, rails, rates, and names made late."""
    table = json.loads(json.dumps(to_table(topology)))
    again = from_table(table)
    assert again.fingerprint == topology.fingerprint
    assert again.names == topology.names
    assert to_table(again) == table


def test_a_label_without_a_word_in_json() -> None:
    """It becomes its text, and the topology is still equal."""
    topology = Topology.from_labels(["host"], [[("r", 1), ("r", 2)]])
    table = to_table(topology)
    assert table["labels"] == [["('r', 1)", "('r', 2)"]]
    assert from_table(table) == topology


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("levels", []),
        ("labels", None),
        ("domain_of", [[0, 0, 1, 9, 1], [0, 0, -1, -1, 1]]),
        ("domain_of", [[0, 0]]),
        ("type_of", [0, 1]),
        ("names", ["twice"] * 5),
        ("rails", ["x"] * 5),
        ("nvlink", "pod"),
    ],
)
def test_other_tables_are_refused(key: str, value: object) -> None:
    """One kind of error, whatever is wrong."""
    with pytest.raises(TopologyError):
        from_table({**to_table(ODD), key: value})

"""Names on the command line."""

from __future__ import annotations

import pytest

from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.targets import find_target
from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology

HOSTS = Topology.from_spec("rack:2 host:2 gpu:2")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("host=host-1", (2, 3)),
        ("host=host-3,host-0", (0, 1, 6, 7)),
        ("rack=rack-1", (4, 5, 6, 7)),
        ("gpu=host-2/gpu-1", (5,)),
        # The same host twice is one host.
        ("host=host-1,host-1", (2, 3)),
    ],
)
def test_targets_are_leaves(text: str, leaves: tuple[int, ...]) -> None:
    """A target of any level is its leaves, ascending."""
    assert find_target(HOSTS, "--fail", text).leaves == leaves


def test_gpu_is_the_leaf_whatever_its_level_is_called() -> None:
    """A topology that calls its leaves otherwise still answers to gpu=."""
    topology = Topology.from_spec("host:2 slot:2")
    assert find_target(topology, "--fail", "gpu=host-1/slot-0").leaves == (2,)


FORM = "must be LEVEL=NAME, such as host=NAME or gpu=NAME"
BAD = [
    ("host-1", f"--fail 'host-1': {FORM}"),
    ("host=", f"--fail 'host=': {FORM}"),
    ("=host-1", f"--fail '=host-1': {FORM}"),
    ("host=a,", f"--fail 'host=a,': {FORM}"),
    (
        "hots=host-1",
        "--fail: level 'hots' does not exist; levels are gpu, host, rack, cluster; "
        "did you mean host?",
    ),
    (
        "host=hst-1",
        "--fail: level 'host' has no domain 'hst-1'; did you mean host-1 or host-3?",
    ),
    ("gpu=zebra", "--fail: leaf 'zebra' does not exist"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_wrong_targets_are_named(text: str, message: str) -> None:
    """The error names option, value and rule, and near names where there are some."""
    with pytest.raises(InvalidRequest) as caught:
        find_target(HOSTS, "--fail", text)
    assert str(caught.value) == message


def test_no_suggestion_where_nothing_is_near() -> None:
    """Silence is better than a wild guess."""
    assert did_you_mean("zebra", ["host", "rack"]) == ""

"""What adopt says of leaves that break the gang's own constraints."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, InvalidRequest, Planner, Topology

TOPOLOGY = Topology.from_labels(
    ("host", "rack", "pod"),
    (
        ["a", "a", "b", "b", "c", "c", None, None],
        ["r", "r", "r", "r", "s", "s", None, None],
        ["p", "p", "p", "p", "p", "p", "q", "q"],
    ),
)


@pytest.mark.parametrize(
    ("gang", "leaves", "rule"),
    [
        (
            Gang(2, group=2),
            [1, 2],
            "group of 2: ranks 0-1 lie in a and b, not in one host",
        ),
        (
            Gang(4, group=2),
            [0, 1, 3, 4],
            "group of 2: ranks 2-3 lie in b and c, not in one host",
        ),
        (
            Gang(2, group=2),
            [6, 7],
            "group of 2: rank 0 lies in no host",
        ),
        (
            Gang(4, slices=[(2, "rack")]),
            [0, 3, 2, 5],
            "slice of 2: ranks 2-3 lie in r and s, not in one rack",
        ),
        (
            Gang(4, group=2, slices=[(4, "rack")]),
            [0, 1, 4, 5],
            "slice of 4: ranks 0-3 lie in r and s, not in one rack",
        ),
        (
            Gang(2, within="rack"),
            [1, 4],
            "within rack: ranks 0-1 lie in r and s, not in one rack",
        ),
        (
            Gang(2, within="rack"),
            [1, 6],
            "within rack: rank 1 lies in no rack",
        ),
        (
            Gang(1, within="rack"),
            [6],
            "within rack: rank 0 lies in no rack",
        ),
        (Gang(2), [5, 6], "one tree: ranks 0-1 lie in p and q, not in one pod"),
    ],
)
def test_adopt_names_the_rule_that_breaks(
    gang: Gang, leaves: list[int], rule: str
) -> None:
    """The ranks, where they lie, and what they should share."""
    planner = Planner(TOPOLOGY)
    with pytest.raises(InvalidRequest) as caught:
        planner.adopt("job", gang, leaves)
    assert str(caught.value) == f"adopt('job'): {gang!r}: {rule}"
    assert planner.jobs() == []

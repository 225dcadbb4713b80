"""Limits as arrays: scattered over domains, levels without domains, bad rows."""

from __future__ import annotations

import numpy as np
import pytest

from phalanx_core import Gang, InvalidRequest, Planner, Topology


def two_hosts_without_racks() -> Planner:
    """Two hosts of one GPU each; no leaf has a rack."""
    labels = (["f", "g"], [None, None])
    return Planner(Topology.from_labels(("host", "rack"), labels))


@pytest.mark.parametrize("row", [[], np.zeros(0, dtype=np.int64)])
def test_a_level_without_domains_takes_an_empty_row(row: object) -> None:
    """No domain, no limit: the gang fits as if nothing were said."""
    planner = two_hosts_without_racks()
    assert planner.fits(Gang(1), limits={"rack": row})


def test_zero_excludes_a_host() -> None:
    """The first host is excluded, so the rank goes to the second."""
    planner = two_hosts_without_racks()
    placed = planner.place("job", Gang(1), limits={"host": [0, 1]})
    assert placed.leaves.tolist() == [1]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"host": [1]}, "1 entries"),  # a row too short
        ({"host": [1, -1]}, "at least 0"),  # negative
        ({"host": [0.5, 1.0]}, "integer"),  # not whole
        ({"pod": [1, 1]}, "pod"),  # no such level
        ([1, 1], "mapping"),  # no mapping
    ],
)
def test_bad_limits_name_what_is_wrong(limits: object, words: str) -> None:
    """One exception that says which row and which rule; nothing changes."""
    planner = two_hosts_without_racks()
    before = planner.save()
    with pytest.raises(InvalidRequest, match=words):
        planner.place("job", Gang(1), limits=limits)
    assert planner.save() == before


def test_rows_live_as_long_as_the_pointer_that_the_core_reads() -> None:
    """What is allocated later does not take their place."""
    planner = Planner(Topology.from_spec("host:4 gpu:4"))
    pointer = planner._frame.limits({"host": np.zeros(4, np.int32)}).pointer
    others = [np.full(4, 7, np.int32) for _ in range(16)]
    assert [pointer[1][host] for host in range(4)] == [0, 0, 0, 0]
    assert len(others) == 16

"""Folded host lists read back by ClusterShell and by the package's own reader."""

from __future__ import annotations

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.placement.writers.hostlist import fold, natural
from phalanx_core.topology.readers.hostlists import expand
from tests.unit.placement.writers.gangs import NAMES

PADDED = st.from_regex(r"n[0-9]{1,4}", fullmatch=True)


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["dgx01", "dgx02", "dgx03"], "dgx[01-03]"),
        (["dgx03", "dgx01"], "dgx[01,03]"),
        (["n8", "n9", "n10", "n11"], "n[8-11]"),
        (["n08", "n09", "n10", "n11"], "n[08-11]"),
        # A number that is padded and one that is not are two hosts.
        (["n1", "n01", "n2", "n02"], "n[1-2],n[01-02]"),
        (["n99", "n100", "n098", "n099"], "n99,n[098-100]"),
        # A zero alone is not padded.
        (["n0", "n1", "n10"], "n[0-1,10]"),
        # Only the number at the end is folded.
        (["r1-n1", "r1-n2", "r2-n1"], "r1-n[1-2],r2-n1"),
        (["n1-ib", "n2-ib"], "n1-ib,n2-ib"),
        (["login"], "login"),
        (["n5"], "n5"),
        (["7", "8"], "[7-8]"),
        # Too long for 64 bits.
        (["n1234567890123456789", "n2"], "n2,n1234567890123456789"),
        (["n2", "n2"], "n2"),
        ([], ""),
    ],
)
def test_fold(names: list[str], folded: str) -> None:
    """Ranges, padding and what stays a word."""
    assert fold(names) == folded


@given(st.lists(NAMES | PADDED, min_size=1, unique=True))
def test_fold_reads_back(names: list[str]) -> None:
    """Two readers find every name, and no other."""
    text = fold(names)
    by_shell = NodeSet(text, resolver=RESOLVER_NOGROUP)
    assert sorted(map(str, by_shell)) == sorted(names)
    assert sorted(expand(text, "here")) == sorted(names)
    assert fold(reversed(names)) == text


@given(st.lists(st.integers(0, 2000), min_size=1, unique=True))
def test_natural_is_the_order_of_numbers(numbers: list[int]) -> None:
    """Unpadded numbers sort by value."""
    names = [f"n{number}-x" for number in numbers]
    assert sorted(names, key=natural) == [f"n{number}-x" for number in sorted(numbers)]

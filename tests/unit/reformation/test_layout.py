"""Layouts: masks, blocks and hosts, beside sets of leaves worked out one by one."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Layout
from phalanx_core.reformation.layout import DIGITS
from phalanx_core.reformation.records import leaves_of


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Layouts of a few hosts, with or without radices of their own."""
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    hosts = [(f"h{at}", count) for at, count in enumerate(counts)]
    radices = draw(st.none() | st.lists(st.integers(2, 5), min_size=1, max_size=5))
    if radices is not None and prod(radices) < sum(counts):
        radices = None
    return Layout(hosts, radices)


def leaves_below(layout: Layout, path: str) -> set[int]:
    """Leaves whose own path begins with a path."""
    every = range(layout.leaves)
    return {leaf for leaf in every if layout.path_of(leaf).startswith(path)}


@given(layouts(), st.integers(0, 2**24))
def test_a_cover_is_the_mask_in_fewest_blocks(layout: Layout, drawn: int) -> None:
    """Blocks of a cover are disjoint, add up to the mask, and no two can be one."""
    mask = drawn & ((1 << layout.leaves) - 1)
    paths = layout.cover(mask)
    found = [leaf for path in paths for leaf in leaves_below(layout, path)]
    assert sorted(found) == leaves_of(mask)
    for path in paths:
        around = path[:-1]
        if path and leaves_below(layout, around) <= set(found):
            raise AssertionError(f"{path} could be {around}")


@given(layouts())
def test_paths_are_numbers_in_their_radices(layout: Layout) -> None:
    """The path of a leaf is its number, digit by digit, and its block is the leaf."""
    for leaf in range(layout.leaves):
        value = 0
        for digit, radix in zip(layout.path_of(leaf), layout.radices, strict=True):
            value = value * radix + DIGITS.index(digit)
        assert value == leaf
        assert layout.mask(layout.path_of(leaf)) == 1 << leaf


@given(layouts(), st.integers(0, 2**24))
def test_hosts_of_a_mask(layout: Layout, drawn: int) -> None:
    """They are those with a leaf in it, in order."""
    mask = drawn & ((1 << layout.leaves) - 1)
    expected = [h for h in layout.hosts if layout.host_mask(h) & mask]
    assert list(layout.hosts_of(mask)) == expected


@pytest.mark.parametrize(
    ("hosts", "radices", "why"),
    [
        ([], None, "empty"),
        ([("", 1)], None, "a name"),
        ([("a", 1), ("a", 1)], None, "twice"),
        ([("a", 0)], None, "at least 1"),
        ([("a", 9)], [2, 4], "too few"),
        ([("a", 9)], [37], "2 to 36"),
    ],
)
def test_bad_layouts(hosts: object, radices: object, why: str) -> None:
    """Each broken rule is named."""
    with pytest.raises(InvalidRequest, match=why):
        Layout(hosts, radices)  # type: ignore[arg-type]


def test_bad_paths_hosts_and_masks() -> None:
    """What a layout does not have is named."""
    layout = Layout([("a", 2), ("b", 1)])
    for call, why in (
        (lambda: layout.mask("2"), "digit 0"),
        (lambda: layout.mask("000"), "digit 2"),
        (lambda: layout.host_mask("c"), "has none"),
        (lambda: layout.host_at("01"), "no host begins"),
        (lambda: layout.cover(8), "has 3"),
        (lambda: layout.hosts_of(8), "has 3"),
    ):
        with pytest.raises(InvalidRequest, match=why):
            call()


def test_the_paper_s_cluster() -> None:
    """A gang of 8,192 leaves is one block among 131,072, or two of 4,096 cut by levels."""
    hosts = [(f"h{at}", 8) for at in range(16384)]
    mask = ((1 << 8192) - 1) << 8192
    assert Layout(hosts).cover(mask) == ("0001",)
    cut = Layout(hosts, (32, 2, 8, 32, 8))
    assert cut.cover(mask) == ("2", "3")

"""The drawn tree, character by character."""

from __future__ import annotations

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.topology import Topology, picture


def test_marks() -> None:
    """Each leaf is its mark, a leaf without one a dot."""
    topology = Topology.from_spec("rack:2 host:3 gpu:4")
    marks = {0: "A", 1: "A", 4: "x", 12: "s", 13: "s", 23: "q"}
    assert picture(topology, marks).split("\n") == [
        "cluster",
        "├─ rack-0",
        "│  host-0[AA..] host-1[x...] host-2[....]",
        "└─ rack-1",
        "   host-3[ss..] host-4[....] host-5[...q]",
    ]


def test_rows_wrap() -> None:
    """A row of hosts breaks before the width, a wide host inside its marks."""
    narrow = picture(Topology.from_spec("host:4 gpu:4"), width=30)
    assert narrow.split("\n") == [
        "cluster",
        "  host-0[....] host-1[....]",
        "  host-2[....] host-3[....]",
    ]
    wide = picture(Topology.from_spec("host:1 gpu:40"), width=30).split("\n")
    assert wide == [
        "cluster",
        "  host-0[.....................",
        "  ...................]",
    ]


def test_forest_holes_and_chains() -> None:
    """Roots stand side by side, a missing level has no line, a chain is one line."""
    topology = Topology.from_labels(
        ["host", "rack", "pod"],
        [
            ["a", "a", "b", "c", None],
            ["r", "r", None, "s", None],
            ["p", "p", "p", "q", None],
        ],
    )
    assert picture(topology).split("\n") == [
        "p",
        "├─ r",
        "│  a[..]",
        "  b[.]",
        "q / s",
        "  c[.]",
        "(no host)[.]",
    ]


def test_large_clusters_collapse() -> None:
    """Alike siblings of a large cluster are drawn once, with a count."""
    topology = Topology.from_spec("pod:64 rail:8 host:32 gpu:8")
    assert picture(topology, {70000: "A"}).split("\n") == [
        "cluster",
        "├─ pod-0 .. pod-33: 34 alike",
        "│  └─ rail-0 .. rail-7: 8 alike",
        "│     host-0 .. host-31: 32 x [........]",
        "├─ pod-34",
        "│  ├─ rail-272",
        "│  │  host-8704 .. host-8735: 32 x [........]",
        "│  ├─ rail-273",
        "│  │  host-8736 .. host-8749: 14 x [........] host-8750[A.......]",
        "│  │  host-8751 .. host-8767: 17 x [........]",
        "│  └─ rail-274 .. rail-279: 6 alike",
        "│     host-8768 .. host-8799: 32 x [........]",
        "└─ pod-35 .. pod-63: 29 alike",
        "   └─ rail-280 .. rail-287: 8 alike",
        "      host-8960 .. host-8991: 32 x [........]",
    ]


def test_collapse_is_a_choice() -> None:
    """A small cluster collapses and a large one does not, if the caller says so."""
    small = Topology.from_spec("host:4 gpu:2")
    assert picture(small, collapse=True) == "cluster\n  host-0 .. host-3: 4 x [..]"
    large = Topology.from_spec("host:200 gpu:1")
    assert "host-57[.]" in picture(large, collapse=False)


def test_address_order_is_drawn() -> None:
    """Marks are by leaf id, rows by address."""
    topology = Topology.from_labels(["host"], [["a", "b", "a"]])
    assert picture(topology, {2: "J", 1: "K"}) == "a[.J] b[K]"


@pytest.mark.parametrize(
    ("marks", "width", "words"),
    [
        ({0: "AB"}, 88, "mark 'AB' of leaf 0: must be one character"),
        ({0: ""}, 88, "must be one character"),
        ({0: "\n"}, 88, "must be one character"),
        ({9: "A"}, 88, "mark 'A': leaf 9 does not exist"),
        ({-1: "A"}, 88, "leaf -1 does not exist"),
        ({}, 19, "width must be at least 20, got 19"),
    ],
)
def test_bad_pictures(marks: dict[int, str], width: int, words: str) -> None:
    """A mark or width that breaks a rule is one InvalidRequest."""
    with pytest.raises(InvalidRequest, match=words):
        picture(Topology.from_spec("host:2 gpu:4"), marks, width)

"""Constructors and queries of ``Topology``, with values worked out by hand."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, TopologyError
from phalanx_core.topology import Topology, build_tree, spec

NVL72 = "rack:2 tray:18 gpu:4"


@pytest.fixture
def racks() -> Topology:
    """Two pods that both call a rack "r1"; rows are not in address order."""
    return Topology.from_labels(
        ["host", "rack", "pod"],
        [
            ["a", "b", "a", "c", "d"],
            ["r1", "r1", "r1", "r1", "r2"],
            ["p", "q", "p", "p", "q"],
        ],
    )


@pytest.fixture
def holes() -> Topology:
    """Leaves without a host, hosts without a rack, a pod without either."""
    return Topology.from_labels(
        ["host", "rack", "pod"],
        [
            ["a", "a", "b", "c", None, None],
            ["r", "r", None, "s", None, None],
            ["p", "p", "p", None, "p", None],
        ],
    )


def test_spec_queries() -> None:
    """A uniform cluster answers every query by arithmetic."""
    made = Topology.from_spec("pod:2 rail:3 host:4 gpu:8")
    assert made.levels == ("gpu", "host", "rail", "pod", "cluster")
    assert made.leaf_count == 192
    assert [made.domain_count(level) for level in made.levels] == [192, 24, 6, 2, 1]
    assert made.domain_of("rail")[[0, 31, 32, 191]].tolist() == [0, 0, 1, 5]
    assert made.leaves("rail", 5).tolist() == list(range(160, 192))
    assert made.leaves("host", "host-23").tolist() == list(range(184, 192))
    assert made.names[191] == "host-23/gpu-7"
    assert made.leaf("host-2/gpu-1") == 17
    assert made.domain_name("cluster", 0) == "cluster"
    assert made.nvlink_level is None
    assert made.bandwidth == (None,) * 5
    assert made.nic_rails is None
    assert made.types[5] == "gpu"
    assert made.report is None


@pytest.mark.parametrize(
    ("u", "v", "level"),
    [(7, 7, 0), (0, 7, 1), (0, 8, 2), (0, 32, 3), (0, 96, 4), (191, 0, 4)],
)
def test_spec_distance(u: int, v: int, level: int) -> None:
    """Distance is the lowest level whose domain holds both."""
    assert Topology.from_spec("pod:2 rail:3 host:4 gpu:8").distance(u, v) == level


@pytest.mark.parametrize(
    "text",
    ["host:1 gpu:1", NVL72, "pod:3 rail:5 host:7 gpu:2", "cluster:2 host:3 gpu:4"],
)
def test_describe_round_trip(text: str) -> None:
    """A uniform topology prints the text that it was made from."""
    made = Topology.from_spec(text)
    assert made.describe() == text
    assert Topology.from_spec(made.describe()) == made


def test_nvl72() -> None:
    """An NVL72 rack is 18 trays of 4: neither fanout is a power of two."""
    made = Topology.from_spec(NVL72)
    assert made.leaf_count == 144
    assert made.leaves("rack", 1)[0] == 72
    assert made.distance(71, 72) == 3
    assert str(made) == (
        "rack:2 tray:18 gpu:4 (1 cluster, 2 rack, 36 tray, 144 gpu; gpu)"
    )


def test_recurring_labels_are_scoped(racks: Topology) -> None:
    """The rack "r1" of pod p and that of pod q are two domains."""
    assert racks.domain_count("rack") == 3
    assert racks.domain_of("rack").tolist() == [0, 1, 0, 0, 2]
    assert racks.domain_names("rack") == ("p/r1", "q/r1", "r2")
    assert racks.leaves("rack", "q/r1").tolist() == [1]
    assert racks.leaves("rack", "r2").tolist() == [4]
    assert racks.distance(0, 1) == 4
    assert racks.distance(0, 3) == 2
    with pytest.raises(InvalidRequest, match="2 domains 'r1': give a path such as 'p"):
        racks.leaves("rack", "r1")


def test_address_order(racks: Topology) -> None:
    """Leaf ids are rows; addresses follow the tree, siblings as they first appear."""
    assert racks.address_order.tolist() == [0, 2, 3, 1, 4]
    assert racks.domain_of("host").tolist() == [0, 2, 0, 1, 3]
    assert racks.leaves("pod", "p").tolist() == [0, 2, 3]
    assert racks.names == ("a/gpu-0", "b/gpu-0", "a/gpu-1", "c/gpu-0", "d/gpu-0")


def test_missing_levels(holes: Topology) -> None:
    """None is no domain: it is shared by nobody and serves no query of its level."""
    assert holes.domain_of("rack").tolist() == [0, 0, -1, 1, -1, -1]
    assert holes.domain_of("host").tolist() == [0, 0, 1, 2, -1, -1]
    assert holes.domain_of("pod").tolist() == [0, 0, 0, -1, 0, -1]
    assert holes.distance(0, 2) == 3
    assert holes.distance(2, 4) == 3
    assert holes.distance(4, 5) == 4
    assert holes.leaves("pod", 0).tolist() == [0, 1, 2, 4]
    assert holes.names[4] == "p/gpu-3"
    assert holes.names[5] == "gpu-5"


def test_domains_of_missing_parents_do_not_merge() -> None:
    """Hosts of one name under no rack are one host, under two racks they are two."""
    made = Topology.from_labels(
        ["host", "rack"], [["h", "h", "h", "h"], [None, "r", None, "s"]]
    )
    assert made.domain_of("host").tolist() == [0, 1, 0, 2]
    assert made.domain_names("host") == ("-/h", "r/h", "s/h")


def test_forest() -> None:
    """Trees without a common root are at distance len(levels)."""
    made = Topology.from_labels(["host", "rack"], [["a", "b", "c"], ["r", "r", "s"]])
    assert made.distance(0, 1) == 2
    assert made.distance(0, 2) == 3 == len(made.levels)
    assert made.describe() == "rack:2 host:1..2 gpu:1"


def test_types_and_rails() -> None:
    """Types, NIC rails and bandwidth are kept a leaf and a level."""
    made = Topology.from_labels(
        {"host": 0},
        {"host": ["a", "a", "b"]},
        names=["x", "y", "z"],
        types=["NVIDIA-H100-80GB", "NVIDIA-H100-80GB", "Tesla-T4"],
        nic_rails=[0, 1, 0],
        bandwidth={"host": 900e9},
        nvlink="host",
    )
    assert made.type_names == ("NVIDIA-H100-80GB", "Tesla-T4")
    assert made.type_index("h100") == 0
    assert made.type_index("Tesla T4") == 1
    assert made.types == ("NVIDIA-H100-80GB", "NVIDIA-H100-80GB", "Tesla-T4")
    assert made.nic_rails is not None
    assert made.nic_rails.tolist() == [0, 1, 0]
    assert made.bandwidth == (None, 900e9)
    assert made.nvlink_level == 1
    assert made.leaf("z") == 2
    assert made.leaves("gpu", "z").tolist() == [2]


def test_immutable() -> None:
    """Neither fields nor arrays can be written, and a copy is equal."""
    made = Topology.from_spec(NVL72)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.levels = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        made.domain_of("rack")[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.domain_of("gpu")[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        made.leaves("rack", 0)[0] = 1
    assert pickle.loads(pickle.dumps(made)) == made


def test_fingerprint() -> None:
    """16 bytes, the same for the same cluster in any process, else different."""
    made = Topology.from_labels(["host"], [["a", "b"]])
    assert made.fingerprint.hex() == "efb944fae4f67609d54951a8ba4e0cb3"
    others = [
        Topology.from_labels(["host"], [["a", "c"]]),
        Topology.from_labels(["host"], [["a", "a"]]),
        Topology.from_labels(["rack"], [["a", "b"]]),
        Topology.from_labels(["host"], [["a", "b"]], names=["x", "y"]),
        Topology.from_labels(["host"], [["a", "b"]], types="T4"),
        Topology.from_labels(["host"], [["a", "b"]], nic_rails=[0, 1]),
        Topology.from_labels(["host"], [["a", "b"]], nvlink="host"),
    ]
    prints = [other.fingerprint for other in (made, *others)]
    assert len(dict.fromkeys(prints)) == 8
    assert made != others[0]
    assert made != "host:2"


def test_memory_is_linear() -> None:
    """Widest fanout 1,000 at four levels, 10,000 leaves: arrays stay O(leaves)."""
    leaf = np.arange(10_000)
    wide = [
        np.where(leaf < 1000, 0, leaf),
        np.where(leaf < 2000, leaf // 1000, leaf // 2) + 10_000,
        np.where(leaf < 3000, 0, leaf // 9),
        leaf // 9999,
    ]
    made = Topology.from_labels(["a", "b", "c", "d"], wide)
    tree = build_tree(made)
    widest = [int(np.diff(first.astype(np.int64)).max()) for first in tree.first]
    assert max(widest[0], 999) >= 999
    arrays = [made.address_order, made.type_of, *map(made.domain_of, range(1, 5))]
    arrays += [tree.leaf_at, tree.position_of, *tree.real]
    size = sum(array.nbytes for array in arrays)
    size += sum(array.nbytes for array in tree.first)
    assert size <= 4 * (16 * 10_000 + 10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.level_index("row"), "level 'row' does not exist; levels are gpu"),
        (lambda t: t.level_index(4), "level 4 does not exist"),
        (lambda t: t.level_index(-1), "level -1 does not exist"),
        (lambda t: t.level_index(True), "level True does not exist"),
        (lambda t: t.leaf("nobody"), "leaf 'nobody' does not exist"),
        (lambda t: t.leaf([]), r"leaf \[\] does not exist"),
        (lambda t: t.distance(0, 144), "gpu 144 does not exist: ids are 0 to 143"),
        (lambda t: t.distance(-1, 0), "gpu -1 does not exist"),
        (lambda t: t.leaves("rack", 2), "rack 2 does not exist: ids are 0 to 1"),
        (lambda t: t.leaves("rack", "rack-7"), "level 'rack' has no domain 'rack-7'"),
        (lambda t: t.type_index("H100"), "type 'H100': no such GPU type among gpu"),
        (lambda t: build_tree(t, type="T4"), "type 'T4'"),
    ],
)
def test_bad_queries(call: object, words: str) -> None:
    """A query that names nothing is one InvalidRequest that says the rule."""
    with pytest.raises(InvalidRequest, match=words):
        call(Topology.from_spec(NVL72))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "spec is empty"),
        ("gpu8", "'gpu8' must be level:fanout"),
        ("host:2 gpu:0", "fanout must be at least 1"),
        ("host:-2 gpu:8", "must be level:fanout"),
        ("host:2 host:8", "level 'host' occurs twice"),
        ("pod:99999 host:99999 gpu:8", "leaves are more than 1048576"),
        ("host:131073 gpu:8", "1048584 leaves are more than 1048576"),
        (
            " ".join(f"level-{n}:1" for n in range(16)) + " gpu:2",
            "18 levels, cluster and leaf included, are more than 17",
        ),
        ("host:9999999999 gpu:8", "must be level:fanout"),
        ("cluster:4", "a level above the leaf is needed"),
        (7, "spec must be a text"),
    ],
)
def test_bad_specs(text: str, words: str) -> None:
    """A malformed spec is one TopologyError that names the word."""
    with pytest.raises(TopologyError, match=words):
        Topology.from_spec(text)


H = [["a", "b"]]


@pytest.mark.parametrize(
    ("levels", "labels", "more", "words"),
    [
        ([], [], {}, "at least one level"),
        ("host", H, {}, "must be a sequence"),
        (["host", "host"], [*H, *H], {}, "level 'host': occurs twice"),
        (["gpu"], H, {}, "level 'gpu': occurs twice"),
        (["host"], None, {}, "labels: one sequence a level is needed, got NoneType"),
        (None, H, {}, "levels must be a sequence of at least one level name"),
        (list("abcdefghijklmnopq"), H, {}, "levels: 18, leaf included, are more than"),
        ([""], H, {}, "must be a text"),
        (["host"], [[]], {}, "an empty cluster"),
        (["host"], [*H, *H], {}, "got 2 for 1 levels"),
        (["host", "rack"], [["a", "b"], ["r"]], {}, "level 'rack': one label a leaf"),
        (["host"], [[["x"], "b"]], {}, "must be hashable"),
        (["host"], ["ab"], {}, "level 'host': must be a sequence"),
        (["host"], {"rack": ["a"]}, {}, "level 'host' is not in both"),
        (["host"], H, {"names": ["x"]}, "names: one a leaf is needed"),
        (["host"], H, {"names": ["x", "x"]}, "names: 'x' occurs twice"),
        (["host"], H, {"names": ["x", ""]}, "must be a non-empty text"),
        (["host"], H, {"types": ["x"]}, "types: one a leaf"),
        (["host"], H, {"types": ["x", 3]}, "types: 3 must be"),
        (["host"], H, {"nic_rails": [0, -1]}, "-1 must be at least 0"),
        (["host"], H, {"nic_rails": [0.5, 1]}, "one integer a leaf"),
        (["host"], H, {"bandwidth": {"row": 1.0}}, "bandwidth: no level 'row'"),
        (["host"], H, {"bandwidth": {"host": 0}}, "must be a number above 0"),
        (["host"], H, {"bandwidth": {"host": float("inf")}}, "must be a number above"),
        (["host"], H, {"nvlink": "row"}, "nvlink: no level 'row'"),
        (["host"], H, {"nvlink": "gpu"}, "nvlink: no level 'gpu'"),
    ],
)
def test_bad_labels(levels: object, labels: object, more: dict, words: str) -> None:  # type: ignore[type-arg]
    """A description that breaks a rule is one TopologyError that says which."""
    with pytest.raises(TopologyError, match=words):
        Topology.from_labels(levels, labels, **more)  # type: ignore[arg-type]


def test_bounds_are_those_of_the_core() -> None:
    """What compiles can be planned on."""
    assert (spec.LEAVES_MAX, spec.LEVELS_MAX) == (native.LEAVES_MAX, native.LEVELS_MAX)

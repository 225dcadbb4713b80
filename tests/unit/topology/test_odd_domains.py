"""Domains that differ from the usual of their level."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.topology import Topology
from phalanx_core.topology.odd_domains import OddDomains, odd_domains


def nested(racks: list[list[int]]) -> Topology:
    """GPUs a host, hosts a rack."""
    hosts = [
        f"{rack}.{host}"
        for rack, sizes in enumerate(racks)
        for host, gpus in enumerate(sizes)
        for _ in range(gpus)
    ]
    return Topology.from_labels(
        ["host", "rack"], [hosts, [name.split(".")[0] for name in hosts]]
    )


def test_a_host_that_lost_gpus() -> None:
    """A host of 6 GPUs is odd, and so is its rack by its GPUs alone."""
    found = odd_domains(nested([[8] * 4, [8, 6, 8, 8], [8] * 4, [8] * 3, [8] * 4]))
    assert found == (
        OddDomains("host", "gpu", 8, 8, 1, (("1.1", 6, 6),)),
        OddDomains("rack", "host", 4, 32, 2, (("1", 4, 30), ("3", 3, 24))),
    )
    assert str(found[0]) == "1 x host: most have 8 gpu (1.1: 6)"


def test_no_usual_shape() -> None:
    """Where no shape has more than half, or there is one domain, nothing is odd."""
    assert odd_domains(nested([[1, 2], [3, 4]])) == ()
    assert odd_domains(nested([[8, 8], [8], [8, 8, 8]])) == ()
    assert odd_domains(nested([[8]])) == ()
    assert odd_domains(Topology.from_spec("pod:3 rail:2 host:4 gpu:8")) == ()


def test_a_few_are_named() -> None:
    """Three examples in address order, the rest is counted."""
    found = odd_domains(nested([[4] * 8 + [1, 2, 3, 1, 2]]))
    assert found[0].count == 5
    assert [name for name, _, _ in found[0].examples] == ["0.8", "0.9", "0.10"]
    assert str(found[0]) == ("5 x host: most have 4 gpu (0.8: 1; 0.9: 2; 0.10: 3; ...)")


def test_leaves_without_a_domain() -> None:
    """What has no domain at a level is no odd domain of it."""
    hosts = ["a", "a", "b", "b", None, "c", "c"]
    made = Topology.from_labels(["host"], [hosts])
    assert odd_domains(made) == ()


@given(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=1))
def test_against_a_count(racks: list[list[int]]) -> None:
    """The same levels, counts and shapes as a plain count gives."""
    made = nested(racks)
    expected = {}
    rows = {
        "host": [(gpus, gpus) for sizes in racks for gpus in sizes],
        "rack": [(len(sizes), sum(sizes)) for sizes in racks],
    }
    for level, shapes in rows.items():
        for shape in set(shapes):
            odd = sum(other != shape for other in shapes)
            if odd and 2 * (len(shapes) - odd) > len(shapes):
                expected[level] = (*shape, odd)
    found = odd_domains(made)
    assert {f.level: (f.children, f.leaves, f.count) for f in found} == expected
    for row in found:
        for name, _, leaves in row.examples:
            assert len(made.leaves(row.level, name)) == leaves


def test_a_level_that_repeats_the_one_below() -> None:
    """Racks that are one switch each are odd once, as racks, and not again as switches."""
    racks = ["a"] * 2 + ["b"] * 2 + ["c"] * 2 + ["d"]
    hosts = [str(at) for at in range(7)]
    made = Topology.from_labels(["host", "rack", "switch"], [hosts, racks, racks])
    assert [str(entry) for entry in odd_domains(made)] == [
        "1 x rack: most have 2 host (d: 1)"
    ]
    # A switch whose hosts have no rack is told by no level below.
    loose = [None if rack == "d" else rack for rack in racks]
    made = Topology.from_labels(["host", "rack", "switch"], [hosts, loose, racks])
    assert [entry.level for entry in odd_domains(made)] == ["switch"]

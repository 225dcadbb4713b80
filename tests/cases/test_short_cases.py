"""The short cases: sizes, limits, health and labels at their edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from phalanx_core import (
    Gang,
    InvalidRequest,
    Misfit,
    MisfitCode,
    Planner,
    Topology,
    TopologyError,
)
from tests.cases.clusters import available, busy, cluster, leaves_of

RULES = ("smallest", "fullest", "lowest")
TWO_HOSTS = {"r/a": 2, "r/b": 2}


@pytest.mark.parametrize("sizes", [{"ranks": 0}, {"ranks": 4, "group": 0}])
def test_short_a_size_of_zero_is_an_error(sizes: dict[str, int]) -> None:
    """Zero ranks and groups of zero ranks are refused by name, and divide nothing."""
    with pytest.raises(InvalidRequest, match=r"(ranks|group) 0: between 1 and"):
        Gang(**sizes)


def test_short_a_batch_with_a_size_of_zero_places_nothing() -> None:
    """One gang of zero ranks in a batch refuses the batch."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    with pytest.raises(InvalidRequest, match=r"ranks\[1\] is 0"):
        planner.place_many([1, 0, 1], Gang(1))
    assert planner.free_leaves() == 4
    planner.validate()


def test_short_a_group_that_does_not_divide_is_an_error() -> None:
    """Five ranks in groups of two leave one over."""
    with pytest.raises(InvalidRequest, match="ranks 5: not a multiple of group 2"):
        Gang(5, group=2)
    planner = Planner(cluster("rack host", TWO_HOSTS))
    with pytest.raises(InvalidRequest, match="a multiple of group 2"):
        planner.place_many([2, 3], Gang(2, group=2))
    planner.validate()


def _fragmented() -> Planner:
    """Three racks of two hosts of four; 1 to 3 workers free on each host."""
    hosts = {f"w/r{i // 2}/h{i}": 4 for i in range(6)}
    planner = Planner(cluster("row rack host", hosts))
    for host, used in enumerate((3, 1, 2, 2, 1, 2)):
        busy(planner, *(f"h{host}.{worker}" for worker in range(used)))
    return planner


# Hosts have 1, 3 | 2, 2 | 3, 2 workers free; racks 4, 4 and 5; the row 13.
@pytest.mark.parametrize(
    ("fits", "gang"),
    [
        (True, {"ranks": 3, "within": "host"}),
        (False, {"ranks": 4, "within": "host"}),
        (True, {"ranks": 5, "within": "rack"}),
        (False, {"ranks": 6, "within": "rack"}),
        (True, {"ranks": 4, "group": 2, "within": "rack"}),
        (False, {"ranks": 6, "group": 3, "within": "rack"}),
        (True, {"ranks": 6, "group": 3}),
        (True, {"ranks": 10, "group": 2}),
        (False, {"ranks": 12, "group": 2}),
        (True, {"ranks": 13}),
        (False, {"ranks": 14}),
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_short_a_rule_never_decides_whether_it_fits(
    rule: str, fits: bool, gang: dict[str, int]
) -> None:
    """Every choice rule and both aims give the same yes or no."""
    planner = _fragmented()
    for aim in ("near", "fill"):
        wanted = Gang(**gang, group_level="host", rule=rule, aim=aim)
        assert bool(planner.fits(wanted)) is fits
        assert bool(planner.clone().place("job", wanted)) is fits
    planner.validate()


@pytest.mark.parametrize(
    "limits",
    [{"host": [2, 0]}, {"gpu": [1, 1, 0, 0]}, {"host": [2, 0], "rack": [4]}],
)
def test_short_a_down_leaf_is_never_placed_on(limits: dict[str, list[int]]) -> None:
    """Limits that point at a down host alone give a refusal and not that host."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    planner.fail(["a.0", "a.1"])
    refused = planner.place("job", Gang(1), limits=limits)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    assert available(planner) == ["b.0", "b.1"]
    planner.validate()


def test_short_a_limit_at_the_count_of_a_host_does_not_revive_it() -> None:
    """With a down host allowed beside a healthy one, only the healthy one is used."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    planner.fail(["a.0", "a.1"])
    placement = planner.place("job", Gang(2), limits={"host": [2, 2]})
    assert leaves_of(planner, placement) == ["b.0", "b.1"]
    refused = planner.place("more", Gang(1), limits={"host": [2, 2]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "2 down" in refused.reason
    planner.validate()


@pytest.mark.parametrize(
    ("level", "leaves"),
    [
        (
            "host",
            ["c.0", "c.1", "c.2"],
        ),  # the smaller rack, so that the larger stays whole
        ("rack", ["a.0", "a.1", "b.0", "b.1", "b.2"]),
        ("row", ["a.0", "a.1", "b.0", "b.1", "b.2", "c.0", "c.1", "c.2"]),
    ],
)
def test_short_required_and_preferred_may_be_one_level(
    level: str, leaves: list[str]
) -> None:
    """The same level as ``within`` and ``prefer`` is what ``within`` alone gives."""
    planner = Planner(cluster("row rack host", {"w/r/a": 2, "w/r/b": 3, "w/s/c": 3}))
    assert leaves_of(planner, planner.fits(Gang(len(leaves), within=level))) == leaves
    placement = planner.place("job", Gang(len(leaves), within=level, prefer=level))
    assert leaves_of(planner, placement) == leaves
    assert not planner.fits(Gang(9, within=level, prefer=level))
    planner.validate()


def test_short_seventeen_hosts_over_two_chassis() -> None:
    """Chassis with nine and eight free hosts hold seventeen, and not eighteen."""
    hosts = {f"all/c{c}/c{c}h{h:02}": 1 for c in range(2) for h in range(16)}
    planner = Planner(cluster("root chassis host", hosts))
    busy(planner, *(f"c0h{h:02}" for h in range(0, 14, 2)))
    busy(planner, *(f"c1h{h:02}" for h in range(8)))
    refused = planner.fits(Gang(18))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert "has 17" in refused.reason
    placement = planner.place("job", Gang(17))
    assert leaves_of(planner, placement) == [
        *("c0h01", "c0h03", "c0h05", "c0h07", "c0h09", "c0h11", "c0h13"),
        *("c0h14", "c0h15"),
        *(f"c1h{h:02}" for h in range(8, 16)),
    ]
    assert planner.free_leaves() == 0
    planner.validate()


def test_short_seventeen_hosts_in_groups_of_eight_and_nine() -> None:
    """Chassis that are of nine and of eight hosts are used to the last one."""
    hosts = {f"all/big/x{h}": 1 for h in range(9)}
    hosts |= {f"all/small/y{h}": 1 for h in range(8)}
    planner = Planner(cluster("root chassis host", hosts))
    placement = planner.place("job", Gang(17))
    assert placement.level_name == "root"
    assert planner.free_leaves("chassis").tolist() == [0, 0]
    planner.validate()


@pytest.mark.parametrize("level", ["gpu", "host", "rack"])
@pytest.mark.parametrize("aim", ["near", "fill"])
def test_short_no_selected_domain_is_a_refusal(level: str, aim: str) -> None:
    """Limits of zero everywhere are a Misfit with a reason, not a division by zero."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    limits = {level: np.zeros(planner.topology.domain_count(level), np.int64)}
    refused = planner.place("job", Gang(2, aim=aim), limits=limits)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    assert "may take 0 of its 4 available" in refused.reason
    assert [record.ranks for record in refused.records if record.level == "rack"] == [0]
    planner.validate()


@pytest.mark.parametrize("row", [[], np.zeros(0, np.int32)])
def test_short_a_level_without_domains_limits_nobody(row: object) -> None:
    """A limit has no entry where no host has a rack, and then it limits nothing."""
    planner = Planner(cluster("rack host", {"-/a": 2, "-/b": 2}))
    assert planner.topology.domain_count("rack") == 0
    placement = planner.place("job", Gang(2), limits={"rack": row})
    assert leaves_of(planner, placement) == ["a.0", "a.1"]
    assert planner.place("next", Gang(1), limits={"rack": row, "host": [1, 1]})
    planner.validate()


def test_short_no_selected_domain_refuses_a_repair_too() -> None:
    """Zero limits on a repair leave the old assignment and say so."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    planner.place("job", Gang(2))
    planner.fail(["a.1"])
    refused = planner.replan("job", limits={"host": [0, 0]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.REPLACEMENT
    assert planner.placement("job").leaves.tolist() == [0, 1]
    assert planner.replan("job").moves.tolist() == [[1, 1, 3]]
    planner.validate()


UNKNOWN_FIRST = {"-/u1": 1, "-/u2": 1, "-/u3": 1, "r1/a": 1, "r1/b": 1, "r1/c": 1}


def test_short_unknown_domains_are_no_domain() -> None:
    """Hosts without a rack never serve a gang that needs one, though listed first."""
    planner = Planner(cluster("rack host", UNKNOWN_FIRST))
    assert planner.topology.domain_count("rack") == 1
    placement = planner.place("job", Gang(3, within="rack"))
    assert leaves_of(planner, placement) == ["a", "b", "c"]
    refused = planner.place("next", Gang(2, within="rack"))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    assert available(planner) == ["u1", "u2", "u3"]
    planner.validate()


def test_short_unknown_domains_are_not_one_pool() -> None:
    """Two hosts without a rack are two trees: no gang spans them, each takes one."""
    planner = Planner(cluster("rack host", UNKNOWN_FIRST))
    busy(planner, "a", "b", "c")
    assert not planner.fits(Gang(2))
    assert not planner.fits(Gang(2, prefer="rack"))
    assert planner.topology.distance(0, 1) == 3
    assert leaves_of(planner, planner.place("job", Gang(1))) == ["u1"]
    planner.validate()


def test_short_an_unknown_host_under_a_known_root_is_alone_in_its_rack() -> None:
    """Below one root such hosts join wide gangs, and no gang of a rack."""
    hosts = {f"all/{path}": workers for path, workers in UNKNOWN_FIRST.items()}
    planner = Planner(cluster("root rack host", hosts))
    assert leaves_of(planner, planner.fits(Gang(2))) == ["a", "b"]
    placement = planner.place("job", Gang(6))
    assert placement.level_name == "root"
    assert leaves_of(planner, placement) == ["u1", "u2", "u3", "a", "b", "c"]
    planner.validate()


@pytest.mark.parametrize(
    ("gang", "reason"),
    [
        ({"ranks": 9}, "no row could ever hold 9 gpus: best w has 8"),
        (
            {"ranks": 5, "within": "rack"},
            "no rack could ever hold 5 gpus: best r1 has 4",
        ),
        (
            {"ranks": 3, "within": "host"},
            "no host could ever hold 3 gpus: best a has 2",
        ),
        (
            {"ranks": 4, "group": 4, "group_level": "host"},
            "could ever hold 4 gpus in groups of 4 per host",
        ),
        ({"ranks": 2**31 - 1}, "could ever hold 2147483647 gpus"),
        ({"ranks": 2**30, "group": 2**30}, "could ever hold 1073741824 gpus"),
    ],
)
def test_short_a_size_beyond_every_domain_is_too_large(
    gang: dict[str, int], reason: str
) -> None:
    """What no empty cluster could hold is refused as such, used or not."""
    hosts = {"w/r1/a": 2, "w/r1/b": 2, "w/r2/c": 2, "w/r2/d": 2}
    planner = Planner(cluster("row rack host", hosts))
    for job in ("first", "second"):
        refused = planner.place(job, Gang(**gang))
        assert isinstance(refused, Misfit)
        assert (refused.code, refused.proven) == (MisfitCode.TOO_LARGE, True)
        assert reason in refused.reason
        busy(planner, "a.0")
        planner.release("filler of a.0")
        planner.fail(["c.0"])
    planner.validate()


def test_short_more_ranks_than_an_int32_is_an_error() -> None:
    """The first number that no int32 holds is refused by the gang itself."""
    with pytest.raises(InvalidRequest, match="ranks 2147483648: between 1 and"):
        Gang(2**31)


@pytest.mark.parametrize(
    "row",
    [
        [2**31 - 1, 2**31 - 1],
        [2**31, 2**31],
        [2**32, 2**32],
        [2**63 - 1, 2**63 - 1],
        np.full(2, 2**64 - 1, np.uint64),
        [2**32 + 1, 2],
    ],
)
@pytest.mark.parametrize("aim", ["near", "fill"])
def test_short_large_limits_are_no_limits(row: object, aim: str) -> None:
    """Numbers near and beyond an int32 neither wrap nor add up to something small."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    limits = {"host": row, "rack": [2**31 - 1]}
    placement = planner.place("job", Gang(4, group=2, aim=aim), limits=limits)
    assert leaves_of(planner, placement) == ["a.0", "a.1", "b.0", "b.1"]
    planner.fail(["a.0"])
    assert planner.replan("job").code is MisfitCode.REPLACEMENT
    planner.validate()


def test_short_a_limit_below_zero_is_an_error() -> None:
    """The number below the smallest int32 does not come round to the largest."""
    planner = Planner(cluster("rack host", TWO_HOSTS))
    for value in (-1, -(2**31), -(2**31) - 1, -(2**63)):
        with pytest.raises(InvalidRequest, match=r"limits\['host'\]\[1\]"):
            planner.fits(Gang(1), limits={"host": [1, value]})
    planner.validate()


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_short_a_type_on_one_host_is_found_in_any_order(order: tuple[str, ...]) -> None:
    """A GPU type that one host has is placed on that host, wherever it is listed."""
    topology = Topology.from_labels(
        ["host", "rack"],
        [list(order), ["r"] * 3],
        names=list(order),
        types=["B200" if host == "b" else "H100" for host in order],
    )
    planner = Planner(topology, type="B200")
    assert leaves_of(planner, planner.place("job", Gang(1))) == ["b"]
    refused = planner.fits(Gang(1))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.CAPACITY
    planner.validate()


def test_short_an_empty_cluster_is_an_error() -> None:
    """No hosts at all are refused where the cluster is compiled."""
    with pytest.raises(TopologyError):
        Topology.from_labels(["host"], [[]])

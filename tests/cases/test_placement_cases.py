"""Cases from the field, P and B: where a gang goes, and what is left for the next."""

from __future__ import annotations

import pytest

from phalanx_core import Gang, Misfit, MisfitCode, Planner, Topology
from tests.cases.clusters import available, busy, cluster, held_by, leaves_of

RULES = ("smallest", "fullest", "lowest")

PAIR_AND_SINGLES = {"hn1/n1": 1, "hn1/n2": 1, "hn2/n3": 1, "hn3/n5": 1}


def under_root(hosts: dict[str, int]) -> dict[str, int]:
    """The same hosts below one common root."""
    return {f"all/{path}": workers for path, workers in hosts.items()}


def test_c08_a_gang_of_two_takes_the_domain_that_holds_both() -> None:
    """Distance counts before what is left over: n1 and n2, not the two odd hosts."""
    planner = Planner(cluster("root switch host", under_root(PAIR_AND_SINGLES)))
    placement = planner.place("gang", Gang(2, prefer="switch"))
    assert leaves_of(planner, placement) == ["n1", "n2"]
    assert placement.level_name == "switch"
    planner.validate()


@pytest.mark.parametrize("aim", ["near", "fill"])
@pytest.mark.parametrize("rooted", [False, True])
def test_c08_singles_take_the_small_domains(rooted: bool, aim: str) -> None:
    """Single jobs go to the switches that have one host, with or without a root."""
    hosts = under_root(PAIR_AND_SINGLES) if rooted else PAIR_AND_SINGLES
    levels = "root switch host" if rooted else "switch host"
    planner = Planner(cluster(levels, hosts))
    for job, leaf in (("first", "n3"), ("second", "n5"), ("third", "n1")):
        assert leaves_of(planner, planner.place(job, Gang(1, aim=aim))) == [leaf]
    planner.validate()


def test_c08_singles_leave_the_pair_whole_when_the_rest_is_used() -> None:
    """With a used host beside each odd one, two singles still leave n1 and n2."""
    hosts = under_root(PAIR_AND_SINGLES | {"hn2/n4": 1, "hn3/n6": 1})
    planner = Planner(cluster("root switch host", hosts))
    busy(planner, "n4", "n6")
    assert leaves_of(planner, planner.place("first", Gang(1))) == ["n3"]
    assert leaves_of(planner, planner.place("second", Gang(1))) == ["n5"]
    placement = planner.place("gang", Gang(2, prefer="switch"))
    assert leaves_of(planner, placement) == ["n1", "n2"]
    planner.validate()


@pytest.mark.parametrize("rooted", [False, True])
def test_c12_small_ranks_fill_small_hosts(rooted: bool) -> None:
    """Two ranks that do not talk take x2 and x3, and the pair still finds x1."""
    hosts = {"r/x1": 2, "r/x2": 1, "r/x3": 1}
    topology = cluster("rack host", hosts)
    if rooted:
        topology = cluster("root rack host", under_root(hosts))
    planner = Planner(topology)
    first = planner.place("A", Gang(2, aim="fill"))
    assert leaves_of(planner, first) == ["x2", "x3"]
    second = planner.place("B", Gang(2, within="host"))
    assert leaves_of(planner, second) == ["x1.0", "x1.1"]
    planner.validate()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("used", [False, True])
def test_c13_the_smallest_host_is_not_the_only_one_tried(rule: str, used: bool) -> None:
    """Two on one host go to x6, the sixth of six, whatever the rule."""
    workers = 4 if used else 1
    hosts = {f"r/x{i}": workers for i in range(1, 6)} | {"r/x6": 4 if used else 2}
    planner = Planner(cluster("rack host", hosts))
    if used:
        busy(planner, *(f"x{i}.{j}" for i in range(1, 6) for j in range(3)))
        busy(planner, "x6.0", "x6.1")
    placement = planner.place("job", Gang(2, within="host", rule=rule))
    assert placement.domain_name == "x6"
    assert leaves_of(planner, placement) == (
        ["x6.2", "x6.3"] if used else ["x6.0", "x6.1"]
    )
    planner.validate()


def _supernodes() -> Planner:
    """Eight domains of four hosts; 0, 2, 5 and 6 have two hosts free."""
    hosts = {f"all/s{s}/s{s}n{n}": 1 for s in range(8) for n in range(4)}
    planner = Planner(cluster("root super host", hosts))
    for half in (0, 2, 5, 6):
        busy(planner, f"s{half}n0", f"s{half}n2")
    return planner


def test_c14_a_gang_takes_whole_domains() -> None:
    """Sixteen that talk take the four whole domains and not eight halves."""
    planner = _supernodes()
    placement = planner.place("gang", Gang(16, prefer="super"))
    assert leaves_of(planner, placement) == [
        f"s{s}n{n}" for s in (1, 3, 4, 7) for n in range(4)
    ]
    planner.validate()


def test_c14_singles_take_the_halves_first() -> None:
    """Sixteen single jobs use up the halves, then two whole domains of the four."""
    planner = _supernodes()
    taken = [leaves_of(planner, planner.place(i, Gang(1)))[0] for i in range(16)]
    assert taken[:8] == [f"s{s}n{n}" for s in (0, 2, 5, 6) for n in (1, 3)]
    assert taken[8:] == [f"s{s}n{n}" for s in (1, 3) for n in range(4)]
    planner.validate()


def test_c14_a_job_of_ranks_that_do_not_talk_does_so_too() -> None:
    """One job of sixteen with aim "fill" is like sixteen jobs: halves first."""
    planner = _supernodes()
    placement = planner.place("job", Gang(16, aim="fill"))
    taken = leaves_of(planner, placement)
    assert sorted(taken) == [
        *("s0n1", "s0n3", "s1n0", "s1n1", "s1n2", "s1n3", "s2n1", "s2n3"),
        *("s3n0", "s3n1", "s3n2", "s3n3", "s5n1", "s5n3", "s6n1", "s6n3"),
    ]
    planner.validate()


TWO_LEAF_SWITCHES = {f"s/l{i // 8}/h{i:02}": 1 for i in range(16)}


def place_with_required(
    planner: Planner, job: str, required: list[str], least: int, most: int
) -> list[str]:
    """How an embedder asks for some hosts by name, and as many others as there are.

    The required ones are asked for alone, then the others without them, from ``most``
    down to ``least``; what both answers name is adopted as one job. Empty: no room.
    """
    hosts = planner.topology.domain_names("host")
    named = [int(host in required) for host in hosts]
    others = [1 - one for one in named]
    fixed = planner.fits(Gang(len(required)), limits={"host": named})
    if not fixed:
        return []
    for count in range(most, least - 1, -1):
        rest = planner.fits(Gang(count - len(required)), limits={"host": others})
        if rest:
            leaves = [*fixed.leaves.tolist(), *rest.leaves.tolist()]
            planner.adopt(job, Gang(count), leaves)
            return held_by(planner, job)
    return []


def test_c17_at_most_four_hosts_with_two_required() -> None:
    """Required hosts on both leaf switches: four in all, and no fill for each switch."""
    planner = Planner(cluster("spine leaf host", TWO_LEAF_SWITCHES))
    hosts = place_with_required(planner, "job", ["h03", "h12"], least=3, most=4)
    assert hosts == ["h03", "h12", "h00", "h01"]
    planner.validate()


def test_c17_three_hosts_are_enough() -> None:
    """With one other host free the job gets three."""
    planner = Planner(cluster("spine leaf host", TWO_LEAF_SWITCHES))
    free = ("h03", "h09", "h12")
    busy(planner, *(f"h{i:02}" for i in range(16) if f"h{i:02}" not in free))
    hosts = place_with_required(planner, "job", ["h03", "h12"], least=3, most=4)
    assert hosts == ["h03", "h12", "h09"]
    planner.validate()


@pytest.mark.parametrize("used", ["h12", "others"])
def test_c17_else_it_is_refused(used: str) -> None:
    """A required host in use, or no third host: no job, and nothing changed."""
    planner = Planner(cluster("spine leaf host", TWO_LEAF_SWITCHES))
    required = ["h03", "h12"]
    hosts = [f"h{i:02}" for i in range(16)]
    busy(planner, *([used] if used == "h12" else set_aside(hosts, required)))
    before = planner.save()
    assert place_with_required(planner, "job", required, least=3, most=4) == []
    assert planner.save() == before
    planner.validate()


def set_aside(hosts: list[str], required: list[str]) -> list[str]:
    """The hosts that are not required, in order."""
    return [host for host in hosts if host not in required]


@pytest.mark.parametrize(("ranks", "hosts"), [(6, 3), (8, 4)])
def test_c17_hosts_of_two_workers_are_counted_as_hosts(ranks: int, hosts: int) -> None:
    """Groups of a whole host make ranks / 2 hosts, within the allowed ones only."""
    topology = cluster("spine leaf host", dict.fromkeys(TWO_LEAF_SWITCHES, 2))
    planner = Planner(topology)
    allowed = [2 if i in (3, 5, 12, 15) else 0 for i in range(16)]
    gang = Gang(ranks, group=2, group_level="host", limits={"host": allowed})
    placement = planner.place("job", gang)
    assert list(placement.by_host()) == ["h03", "h05", "h12", "h15"][:hosts]
    refused = planner.fits(Gang(10, group=2, group_level="host"), limits=gang.limits)
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    planner.validate()


def _forest() -> Topology:
    """Two spines of sixteen hosts, and a leaf switch of eight that has no spine."""
    hosts = {f"A/a{i // 8}/a{i:02}": 1 for i in range(16)}
    hosts |= {f"B/b{i // 8}/b{i:02}": 1 for i in range(16)}
    hosts |= {f"-/c/c{i}": 1 for i in range(8)}
    return cluster("spine leaf host", hosts)


@pytest.mark.parametrize("within", [None, "spine"])
def test_c18_no_gang_spans_two_trees(within: str | None) -> None:
    """Twenty hosts are refused with the size of the largest tree; sixteen fit."""
    planner = Planner(_forest())
    refused = planner.place("job", Gang(20, within=within))
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.TOO_LARGE
    assert "no spine could ever hold 20 gpus: best A has 16" in refused.reason
    placement = planner.place("job", Gang(16, within=within))
    assert (placement.level_name, placement.domain_name) == ("spine", "A")
    assert planner.topology.distance(0, 16) == 4
    planner.validate()


def test_c18_the_lone_switch_is_a_tree_too() -> None:
    """Eight fit it exactly; with a spine required they go elsewhere."""
    planner = Planner(_forest())
    placement = planner.fits(Gang(8, within="spine"))
    assert placement.domain_name == "a0"
    placement = planner.place("job", Gang(8))
    assert (placement.level_name, placement.domain_name) == ("leaf", "c")
    assert leaves_of(planner, planner.place("next", Gang(9)))[::8] == ["a00", "a08"]
    planner.validate()


def test_c19_the_second_role_is_refused_for_want_of_a_slot() -> None:
    """Two CPUs and one slot: the slot limits, and the refusal says that limits do."""
    planner = Planner(cluster("rack host", {"r/h": 2}))
    placement = planner.place("first", Gang(1), limits={"host": [1]})
    assert leaves_of(planner, placement) == ["h.0"]
    slots_left = 1 - len(planner)
    refused = planner.place("second", Gang(1), limits={"host": [slots_left]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    assert "limits leave no rack with room for 1 gpu" in refused.reason
    assert "without limits it fits" in refused.reason
    assert available(planner) == ["h.1"]
    planner.validate()


def test_c19_both_roles_in_one_gang_are_refused_as_well() -> None:
    """Asked for together the two workers exceed the one slot in the same way."""
    planner = Planner(cluster("rack host", {"r/h": 2}))
    refused = planner.place("both", Gang(2, within="host"), limits={"host": [1]})
    assert isinstance(refused, Misfit)
    assert refused.code is MisfitCode.LIMITED
    assert len(planner) == 0
    planner.validate()


def test_c20_a_host_named_like_its_block_is_usable() -> None:
    """Ids are scoped by level: host b1 of block b1 is one host, and takes a job."""
    planner = Planner(cluster("block host", {"b1/b1": 1}))
    topology = planner.topology
    assert [topology.domain_count(level) for level in ("host", "block")] == [1, 1]
    placement = planner.place("job", Gang(1, within="block"))
    assert leaves_of(planner, placement) == ["b1"]
    assert list(placement.by_host()) == ["b1"]
    planner.validate()


def test_c20_so_is_one_named_like_another_block() -> None:
    """Host b2 of block b1 and host b1 of block b2 do not swap places."""
    planner = Planner(cluster("block host", {"b1/b2": 2, "b2/b1": 2}))
    assert planner.topology.domain_names("block") == ("b1", "b2")
    placement = planner.place("job", Gang(2), limits={"block": [0, 2]})
    assert leaves_of(planner, placement) == ["b1.0", "b1.1"]
    assert not planner.fits(Gang(4, within="block"))
    planner.validate()

"""Cases from the field in which the cluster changes, or somebody has to leave."""

from __future__ import annotations

import pytest

from phalanx_core import Advice, Gang, Misfit, MisfitCode, OwnerKind, Planner
from tests.cases.clusters import available, busy, cluster, held_by, leaves_of, moves_of

EIGHT = [f"h1.{at}" for at in range(8)]


def test_short_a_host_falls_to_six_gpus_under_load() -> None:
    """Volcano #1818: 8 fall to 6 with 8 in use. Six stay used, none is over-committed."""
    planner = Planner(cluster("rack host", {"r/h1": 8, "r/h2": 4}))
    planner.adopt("job", Gang(6), EIGHT[:6])
    planner.adopt("late", Gang(2, group=2), EIGHT[6:])
    report = planner.sync(cluster("rack host", {"r/h1": 6, "r/h2": 4}))
    assert report.altered == {"h1": ("8 -> 6 gpu",)}
    assert (report.kept, list(report.broken)) == (("job",), ["late"])
    assert available(planner) == ["h2.0", "h2.1", "h2.2", "h2.3"]
    assert moves_of(planner, planner.replan("late")) == [
        (0, "h1.6", "h2.0"),
        (1, "h1.7", "h2.1"),
    ]
    planner.fenced("late")
    planner.sync(cluster("rack host", {"r/h1": 6, "r/h2": 4}))
    assert planner.free_leaves("host").tolist() == [0, 2]
    assert planner.topology.leaf_count == 10
    planner.validate()


def test_short_a_host_moves_to_another_clique_under_a_gang() -> None:
    """dra-driver #1453: it is of its new clique alone; the gang is told, not split."""
    planner = Planner(
        cluster("clique host", {"c1/a": 1, "c1/b": 1, "c2/c": 1, "c1/d": 1})
    )
    gang = Gang(2, within="clique")
    planner.adopt("job", gang, ["a", "b"])
    after = cluster("clique host", {"c1/a": 1, "c2/b": 1, "c2/c": 1, "c1/d": 1})
    report = planner.sync(after)
    assert report.moved == {"b": ("c1/b", "c2/b")}
    assert report.broken == {"job": "1 gpu moved out of the gang's domain (b)"}
    assert not planner.fits(gang)
    assert moves_of(planner, planner.replan("job")) == [(1, "b", "d")]
    planner.fenced("job")
    planner.sync(after)
    assert leaves_of(planner, planner.place("next", gang)) == ["b", "c"]
    planner.validate()


def test_short_a_host_of_nobody_that_moves_is_where_it_is() -> None:
    """The old membership serves nothing, at once."""
    planner = Planner(cluster("clique host", {"c1/a": 1, "c1/b": 1, "c2/c": 1}))
    busy(planner, "a")
    planner.sync(cluster("clique host", {"c1/a": 1, "c2/b": 1, "c2/c": 1}))
    placement = planner.place("job", Gang(2, within="clique"))
    assert leaves_of(planner, placement) == ["b", "c"]
    planner.validate()


def test_c05_a_vanished_host_is_not_free_when_it_is_back() -> None:
    """G went to h2; h1, where its process may still run, takes nobody until fenced."""
    hosts = {"h1": 1, "h2": 1, "h3": 1}
    planner = Planner(cluster("host", hosts))
    planner.adopt("G", Gang(1), ["h1"])
    planner.sync(cluster("host", {"h2": 1, "h3": 1}))
    assert moves_of(planner, planner.replan("G")) == [(0, "h1", "h2")]
    planner.sync(cluster("host", hosts))
    assert leaves_of(planner, planner.place("x", Gang(1))) == ["h3"]
    refused = planner.place("y", Gang(1))
    assert isinstance(refused, Misfit)
    assert "1 quarantined" in refused.reason
    planner.fenced("G")
    assert leaves_of(planner, planner.place("y", Gang(1))) == ["h1"]
    planner.validate()


def test_c06_a_host_that_comes_back_is_its_gangs() -> None:
    """A stranger that waits for one slot does not get the half of a running gang."""
    hosts = {"r/n1": 1, "r/n2": 1}
    planner = Planner(cluster("rack host", hosts))
    planner.adopt("gang", Gang(2), ["n1", "n2"])
    planner.sync(cluster("rack host", {"r/n1": 1}))
    assert not planner.replan("gang")
    planner.sync(cluster("rack host", hosts))
    assert not planner.place("stranger", Gang(1))
    assert planner.broken() == []
    assert held_by(planner, "gang") == ["n1", "n2"]


def test_c09_a_gang_carried_over_has_its_deepest_domain() -> None:
    """D1 is the only child of P; the gang is in D1 before and after, and repaired in it."""
    planner = Planner(cluster("P D host", {"P/D1/a": 1, "P/D1/b": 1, "P/D1/c": 1}))
    planner.place("gang", Gang(2, within="D"))
    grown = {"P/D1/a": 1, "P/D1/b": 1, "P/D1/c": 1, "P/D2/d": 1}
    planner.sync(cluster("P D host", grown))
    assert planner.placement("gang").level_name == "D"
    planner.fail(["a"])
    assert moves_of(planner, planner.replan("gang")) == [(0, "a", "c")]


def test_c20_a_new_host_named_like_its_block_is_usable() -> None:
    """Names are scoped by level in a sync as well."""
    planner = Planner(cluster("block host", {"b1/n": 1}))
    report = planner.sync(cluster("block host", {"b1/n": 1, "b1/b1": 1}))
    assert report.added == {"b1": 1}
    assert leaves_of(planner, planner.place("job", Gang(2))) == ["n", "b1"]


def test_c24_advice_is_not_remembered_for_another_constraint() -> None:
    """Four in one rack: nobody's leaving helps; four anywhere: one does."""
    planner = Planner(cluster("root rack host", {"x/r/a": 2, "x/s/b": 2}))
    busy(planner, "a.0", "a.1", "b.0")
    costs = {"filler of a.0": 2, "filler of a.1": 2, "filler of b.0": 1}
    for _ in range(2):
        refused = planner.preempt_advice(Gang(4, within="rack"), costs)
        assert isinstance(refused, Misfit)
        assert refused.code is MisfitCode.TOO_LARGE
        advice = planner.preempt_advice(Gang(2), costs)
        assert advice.victims == ("filler of b.0",)


def test_short_advice_counts_the_slots_too() -> None:
    """Kueue #4439: GPUs that a victim frees on a host without pod slots are no room."""
    planner = Planner(cluster("rack host", {"r/a": 2, "r/b": 2}))
    planner.adopt("cheap", Gang(2), ["a.0", "a.1"])
    planner.adopt("dear", Gang(2), ["b.0", "b.1"])
    costs = {"cheap": 1, "dear": 7}
    slots = {"host": [1, 2]}
    advice = planner.preempt_advice(Gang(2, group=2), costs, limits=slots)
    assert isinstance(advice, Advice)
    assert (advice.victims, advice.proven) == (("dear",), True)
    for job in advice.victims:
        planner.release(job)
    assert leaves_of(planner, planner.place("job", Gang(2, group=2), limits=slots)) == [
        "b.0",
        "b.1",
    ]


@pytest.mark.parametrize("rule", ["smallest", "fullest", "lowest"])
@pytest.mark.parametrize("aim", ["near", "fill"])
@pytest.mark.parametrize("prefer", [None, "host", "rack"])
def test_short_who_leaves_does_not_depend_on_the_policy(
    rule: str, aim: str, prefer: str | None
) -> None:
    """flux-sched #1503: what is satisfiable, and for whom, is the same for every rule."""
    planner = Planner(cluster("root rack host", {"x/r/a": 3, "x/r/b": 2, "x/s/c": 4}))
    for job, leaves in {"p": ["a.0", "a.1"], "q": ["b.0"], "z": ["c.0", "c.3"]}.items():
        planner.adopt(job, Gang(len(leaves)), leaves)
    gang = Gang(4, group=2, within="rack", rule=rule, aim=aim, prefer=prefer)
    advice = planner.preempt_advice(gang, {"p": 3, "q": 4, "z": 5})
    assert (advice.victims, advice.cost, advice.proven) == (("z",), 5.0, True)
    advice = planner.preempt_advice(gang, {"p": 3, "q": 4})
    assert isinstance(advice, Advice)
    assert advice.victims == ("p", "q")


def test_quarantined_leaves_are_nobodys_room() -> None:
    """A victim's dead GPU is quarantined with its release, and offered to nobody."""
    planner = Planner(cluster("rack host", {"r/a": 2, "r/b": 2}))
    planner.adopt("sick", Gang(2), ["a.0", "a.1"])
    planner.adopt("well", Gang(2), ["b.0", "b.1"])
    planner.fail(["a.1"])
    costs = {"sick": 1, "well": 2}
    assert planner.preempt_advice(Gang(2), costs).victims == ("well",)
    assert planner.owner("a.1").kind is OwnerKind.JOB

"""Two related questions, one relation between the answers; random small clusters."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core import Gang, Misfit, Placement, Planner, Spares, Topology
from tests.cases.clusters import leaves_of

LEVELS = ("gpu", "host", "rack", "row")
SEEDS = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class Host:
    """A host by its labels; a rack or row of None is none."""

    name: str
    workers: int
    rack: str | None
    row: str | None


@dataclass(frozen=True)
class World:
    """Hosts, and what is wrong with which of their leaves."""

    hosts: tuple[Host, ...]
    busy: tuple[str, ...]
    down: tuple[str, ...]
    cordoned: tuple[str, ...]

    def leaves(self) -> list[tuple[str, Host]]:
        """Leaf names with their hosts, host by host."""
        return [(f"{h.name}.{i}", h) for h in self.hosts for i in range(h.workers)]

    def planner(
        self,
        rows: list[tuple[str, Host]] | None = None,
        spares: Spares | None = None,
    ) -> Planner:
        """A planner of this state, the label rows in the order given."""
        rows = self.leaves() if rows is None else rows
        topology = Topology.from_labels(
            LEVELS[1:],
            [
                [host.name for _, host in rows],
                [host.rack for _, host in rows],
                [host.row for _, host in rows],
            ],
            names=[leaf for leaf, _ in rows],
        )
        planner = Planner(topology, spares=spares)
        for leaf in self.busy:
            planner.adopt(leaf, Gang(1), [leaf])
        planner.fail(list(self.down))
        planner.cordon(list(self.cordoned))
        return planner


def world_of(rng: Random) -> World:
    """Up to three rows of racks of hosts of one to four workers, in part unusable."""
    hosts: list[Host] = []
    for row in range(rng.randint(1, 3)):
        for rack in range(rng.randint(1, 3)):
            for _ in range(rng.randint(1, 3)):
                label = None if rng.random() < 0.1 else f"r{row}{rack}"
                top = None if rng.random() < 0.1 else f"w{row}"
                host = Host(f"h{len(hosts)}", rng.randint(1, 4), label, top)
                hosts.append(host)
    world = World(tuple(hosts), (), (), ())
    kinds: dict[str, list[str]] = {"free": [], "busy": [], "down": [], "cordoned": []}
    share = rng.choice((0.1, 0.3, 0.6))
    for leaf, _ in world.leaves():
        unusable = rng.random() < share
        kinds[rng.choice(list(kinds)[1:]) if unusable else "free"].append(leaf)
    del kinds["free"]
    return replace(world, **{kind: tuple(leaves) for kind, leaves in kinds.items()})


def gang_of(rng: Random, leaf_count: int) -> Gang:
    """Any gang that asks no more than a little too much."""
    group_level = rng.randint(1, 3)
    within = rng.choice((None, *range(group_level, 4)))
    group = rng.choice((1, 1, 2, 3, 4))
    most = max(1, (leaf_count + 2) // group)
    return Gang(
        group * rng.randint(1, max(1, rng.choice((most, most // 2, most // 4)))),
        group=group,
        group_level=group_level,
        within=within,
        prefer=rng.choice((None, within)),
    )


def varied(gang: Gang, **changes: object) -> Gang:
    """The gang with some of its parameters changed."""
    return Gang(**(gang.to_dict() | changes))


def drawn(seed: int) -> tuple[Random, World, Planner, Gang]:
    """A generator, a world, its planner and a gang, of one seed."""
    rng = Random(seed)
    world = world_of(rng)
    planner = world.planner()
    return rng, world, planner, gang_of(rng, planner.topology.leaf_count)


@given(SEEDS)
def test_rule_aim_and_preference_never_change_feasibility(seed: int) -> None:
    """How to choose among the domains that fit is no part of whether one does."""
    _, _, planner, gang = drawn(seed)
    fits = bool(planner.fits(gang))
    for rule in ("smallest", "fullest", "lowest"):
        for aim in ("near", "fill"):
            for prefer in (None, 0, gang.within):
                other = varied(gang, rule=rule, aim=aim, prefer=prefer)
                assert bool(planner.fits(other)) is fits, other


@given(SEEDS)
def test_the_level_reached_does_not_depend_on_the_rule(seed: int) -> None:
    """Every rule finds the lowest level that holds the gang."""
    _, _, planner, gang = drawn(seed)
    plain = varied(gang, prefer=None)
    answers = [
        planner.fits(varied(plain, rule=rule))
        for rule in ("smallest", "fullest", "lowest")
    ]
    assert len({answer.level if answer else None for answer in answers}) == 1


@given(SEEDS)
def test_interleaved_rows_give_the_same_leaves(seed: int) -> None:
    """Rows of one host need not be listed together, as long as hosts keep their order."""
    rng, world, planner, gang = drawn(seed)
    rows = [(f"{host.name}.0", host) for host in world.hosts]
    waiting = [
        [(f"{host.name}.{i}", host) for i in range(1, host.workers)]
        for host in world.hosts
    ]
    while any(waiting):
        rows.append(rng.choice([rest for rest in waiting if rest]).pop(0))
    other = world.planner(rows)
    assert answer_of(planner, gang) == answer_of(other, gang)
    other.validate()


def answer_of(planner: Planner, gang: Gang) -> tuple[object, ...]:
    """A decision in names: level, domain and leaves, or code and reason."""
    answer = planner.fits(gang)
    if isinstance(answer, Misfit):
        return answer.code, answer.reason
    return answer.level_name, answer.domain_name, leaves_of(planner, answer)


@given(SEEDS)
def test_shuffled_rows_give_the_same_level_or_code(seed: int) -> None:
    """In any order of rows a gang fits or not, as near, or for the same reason."""
    rng, world, planner, gang = drawn(seed)
    rows = world.leaves()
    rng.shuffle(rows)
    here, there = planner.fits(gang), world.planner(rows).fits(gang)
    assert bool(here) is bool(there)
    if isinstance(here, Misfit) and isinstance(there, Misfit):
        assert here.code is there.code
    elif gang.prefer is None:
        assert isinstance(here, Placement)
        assert here.level == there.level


def kubernetes_hosts(world: World) -> list[dict[str, object]]:
    """The world's hosts as a Kubernetes API server would list them."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": host.name,
                "labels": {
                    "example.com/row": host.row or "lost",
                    "example.com/rack": host.rack or f"only-{host.name}",
                },
            },
            "status": {"allocatable": {"nvidia.com/gpu": str(host.workers)}},
        }
        for host in world.hosts
    ]


@pytest.mark.parametrize("seed", range(12))
def test_shuffled_files_give_the_same_leaves(seed: int, tmp_path: Path) -> None:
    """Whatever order a list of hosts comes in, each gang gets the same leaves."""
    rng = Random(seed)
    world = world_of(rng)
    hosts = kubernetes_hosts(world)
    answers = []
    for attempt in range(3):
        path = tmp_path / f"{attempt}.json"
        path.write_text(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": hosts})
        )
        topology = Topology.read(
            path, label_keys=["example.com/row", "example.com/rack"]
        )
        planner = Planner(topology)
        sizes = Random(seed)
        gangs = [Gang(sizes.randint(1, 6)) for _ in range(6)]
        placed = [planner.place(job, gang) for job, gang in enumerate(gangs)]
        answers.append([leaves_of(planner, p) if p else p.code for p in placed])
        rng.shuffle(hosts)
    assert answers[0] == answers[1] == answers[2]


def give_back(planner: Planner, rng: Random) -> None:
    """One change that only gives: a release, healing, uncordoning, or fencing."""
    job = rng.choice([*planner.jobs(), None])
    if job is not None:
        planner.release(job)
        planner.fenced(job)
        return
    leaf = rng.choice(planner.topology.names)
    rng.choice((planner.heal, planner.uncordon))([leaf])


@given(SEEDS)
def test_giving_back_never_makes_a_fitting_gang_unfit(seed: int) -> None:
    """Releases, healing and fencing keep each answer or better it, level included."""
    rng, _, planner, gang = drawn(seed)
    plain = varied(gang, prefer=None)
    before = planner.fits(plain)
    for _ in range(6):
        give_back(planner, rng)
        after = planner.fits(plain)
        if before:
            assert after
            assert after.level <= before.level
        before = after
    planner.validate()


@given(SEEDS)
def test_giving_back_never_makes_a_repair_impossible(seed: int) -> None:
    """A repair that could be made can still be made when others have left."""
    rng, _, planner, gang = drawn(seed)
    placement = planner.place("gang", gang)
    if not placement:
        return
    lost = rng.sample(sorted(placement.leaves.tolist()), rng.randint(1, gang.ranks))
    planner.fail(lost)
    repairable = bool(planner.replan("gang", apply=False))
    for job in planner.jobs():
        if job != "gang":
            planner.release(job)
            planner.fenced(job)
    if repairable:
        assert planner.replan("gang")
        planner.validate()


@given(SEEDS)
def test_one_more_free_host_never_makes_a_gang_unfit(seed: int) -> None:
    """A host added to any rack, or to a new one, at any place in the list."""
    rng, world, planner, gang = drawn(seed)
    plain = varied(gang, prefer=None)
    before = planner.fits(plain)
    beside = rng.choice(world.hosts)
    rack = rng.choice((beside.rack, "new"))
    more = Host("extra", rng.randint(1, 4), rack, beside.row)
    at = rng.randint(0, len(world.hosts))
    hosts = (*world.hosts[:at], more, *world.hosts[at:])
    larger = replace(world, hosts=hosts).planner()
    after = larger.fits(plain)
    if before:
        assert after
        assert after.level <= before.level
    larger.validate()


@given(SEEDS, st.sampled_from([None, 1, 2]))
def test_place_then_release_restores_the_state(seed: int, spares: int | None) -> None:
    """Gangs that came and went leave no trace but in the table of handles."""
    rng = Random(seed)
    world = world_of(rng)
    kept = None if spares is None else Spares(per="row", size="host", count=spares)
    with warnings.catch_warnings():
        # Rows of one host can never hold a spare, and say so.
        warnings.simplefilter("ignore")
        planner = world.planner(spares=kept)
    saved, seen = planner.save(), seen_in(planner)
    gangs = [gang_of(rng, planner.topology.leaf_count) for _ in range(4)]
    answers = [answer_of(planner, gang) for gang in gangs]
    jobs = [
        f"job {k}" for k, gang in enumerate(gangs) if planner.place(f"job {k}", gang)
    ]
    rng.shuffle(jobs)
    for job in jobs:
        planner.release(job)
    assert seen_in(planner) == seen
    assert [answer_of(planner, gang) for gang in gangs] == answers
    # Two checksums, two counters, and of each gang a generation and a free-list link:
    # a stale handle must stay one. All other bytes are as they were.
    pairs = zip(saved, planner.save(), strict=True)
    assert sum(old != new for old, new in pairs) <= 20 + 6 * len(jobs)
    planner.validate()


def seen_in(planner: Planner) -> list[object]:
    """The free state, the spares and the index, as queries tell them."""
    return [
        [planner.owner(leaf) for leaf in planner.topology.names],
        planner.spares().tolist(),
        [planner.free_leaves(level).tolist() for level in LEVELS],
        [planner.largest_block(level) for level in LEVELS],
        planner.jobs(),
    ]


def limited_to(planner: Planner, hosts: list[int]) -> dict[str, list[int]]:
    """A limit that excludes these hosts and no other."""
    count = planner.topology.domain_count("host")
    return {"host": [0 if host in hosts else 9 for host in range(count)]}


@given(SEEDS)
def test_a_limit_of_zero_is_like_a_cordon(seed: int) -> None:
    """Hosts under a limit of zero and cordoned ones leave the same level to a gang."""
    rng, _, planner, gang = drawn(seed)
    plain = varied(gang, prefer=None)
    count = planner.topology.domain_count("host")
    hosts = rng.sample(range(count), rng.randint(0, count))
    limited = planner.fits(plain, limits=limited_to(planner, hosts))
    for host in hosts:
        planner.cordon(planner.topology.leaves("host", host))
    cordoned = planner.fits(plain)
    assert bool(limited) is bool(cordoned)
    if isinstance(limited, Placement) and isinstance(cordoned, Placement):
        assert limited.level == cordoned.level


@given(SEEDS)
def test_a_higher_limit_never_makes_a_gang_unfit(seed: int) -> None:
    """Raising one number of random limits keeps a fit, and leaves none exceeded."""
    rng, _, planner, gang = drawn(seed)
    topology = planner.topology
    named = [level for level in LEVELS if topology.domain_count(level)]
    limits = {
        level: [rng.randint(0, 5) for _ in range(topology.domain_count(level))]
        for level in rng.sample(named, rng.randint(1, 2))
    }
    before = planner.fits(gang, limits=limits)
    if before:
        for level, row in limits.items():
            domains = topology.domain_of(level)[before.leaves].tolist()
            assert all(domains.count(d) <= row[d] for d in domains if d >= 0)
    level = rng.choice(list(limits))
    limits[level][rng.randrange(len(limits[level]))] += rng.randint(1, 4)
    after = planner.fits(gang, limits=limits)
    assert after or not before


@given(SEEDS)
def test_asking_changes_nothing(seed: int) -> None:
    """A question and a plan that is not applied leave the same bytes."""
    rng, _, planner, gang = drawn(seed)
    placement = planner.place("gang", varied(gang, prefer=None))
    before = planner.save()
    planner.fits(gang)
    planner.place("other", gang, apply=False)
    if placement:
        lost = rng.choice(placement.leaves.tolist())
        planner.replan("gang", failed=[lost], apply=False)
    planner.drain([rng.choice(planner.topology.names)], apply=False)
    assert planner.save() == before
